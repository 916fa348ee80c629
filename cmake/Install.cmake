# SPDX-License-Identifier: Apache-2.0
# What is installed, and how others find it: pkg-config and find_package(mpijob).
get_property(libraries GLOBAL PROPERTY MPIJOB_LIBRARIES)
install(TARGETS ${libraries} EXPORT mpijob-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT mpijob-targets NAMESPACE mpijob:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mpijob)

file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix "${pkgconfig_to_prefix}")
set(components)
foreach(library ${libraries})
	# For programs without shared libraries, found by `pkg-config --static`.
	install(FILES $<TARGET_FILE:${library}-static> DESTINATION ${CMAKE_INSTALL_LIBDIR})
	get_target_property(headers ${library} MPIJOB_HEADERS)
	list(TRANSFORM headers REPLACE "(.+)" "include/mpijob/\\1.h")
	install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mpijob)

	get_target_property(description ${library} MPIJOB_DESCRIPTION)
	get_target_property(requires ${library} MPIJOB_USES)
	list(TRANSFORM requires APPEND " = ${PROJECT_VERSION}")
	list(JOIN requires ", " requires)
	get_target_property(packages ${library} MPIJOB_PACKAGES)
	list(JOIN packages " " packages)
	configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${library}.pc @ONLY)
	install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

	string(REGEX REPLACE "^mpijob-" "" component ${library})
	list(APPEND components ${component})
endforeach()

configure_package_config_file(cmake/mpijob-config.cmake.in ${PROJECT_BINARY_DIR}/cmake/mpijob-config.cmake
	INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mpijob)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/mpijob-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/mpijob-config.cmake ${PROJECT_BINARY_DIR}/cmake/mpijob-config-version.cmake
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mpijob)

file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.[1-8])
if(TARGET mpijob-cli)
	foreach(page ${pages})
		string(REGEX MATCH "[1-8]$" section ${page})
		install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
	endforeach()
	foreach(pair "mpijob.bash|bash-completion/completions/mpijob" "_mpijob|zsh/site-functions/_mpijob"
			"mpijob.fish|fish/vendor_completions.d/mpijob.fish")
		string(REPLACE "|" ";" pair "${pair}")
		list(GET pair 0 source)
		list(GET pair 1 destination)
		get_filename_component(folder ${destination} DIRECTORY)
		get_filename_component(name ${destination} NAME)
		if(EXISTS ${PROJECT_SOURCE_DIR}/completions/${source})
			install(FILES completions/${source} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${name})
		endif()
	endforeach()
endif()
