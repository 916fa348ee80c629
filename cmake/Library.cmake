# SPDX-License-Identifier: Apache-2.0
# How a library and a program of this project are put together.

# Flags that everything of ours is compiled with.
add_library(mpijob-flags INTERFACE)
target_include_directories(mpijob-flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/lib)
target_compile_options(mpijob-flags INTERFACE -Wall -Wextra -Wshadow -Wformat=2 -Wimplicit-fallthrough
	-Wstrict-prototypes -Wmissing-prototypes $<$<BOOL:${MPIJOB_WERROR}>:-Werror>)
target_link_libraries(mpijob-flags INTERFACE mpijob-hardening)

# Archives without times and user ids, whatever the machine's ar does by itself: the same sources give the same bytes.
set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> qcD <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_APPEND "<CMAKE_AR> qD <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "<CMAKE_RANLIB> -D <TARGET>")

# mpijob_small(FILE...): compile source files for size.
function(mpijob_small)
	set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
endfunction()

# The private helpers of lib/base, in every library and program. An archive: each takes only the files that it uses. Their
# symbols are hidden, so each shared library has a copy of its own. libmpijob.a holds all of them for the other archives,
# which need it anyway; so nothing is defined twice in a program that is linked statically.
file(GLOB base_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/base/*.c)
add_library(mpijob-base STATIC ${base_sources})
foreach(topic base64 clock near quantity random) # rarely called
	mpijob_small(${PROJECT_SOURCE_DIR}/lib/base/${topic}.c)
endforeach()
set_target_properties(mpijob-base PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}) # not installed
target_compile_options(mpijob-base PRIVATE -Wconversion)
target_compile_definitions(mpijob-base PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE=)
target_link_libraries(mpijob-base PRIVATE mpijob-flags)

# Smaller libraries. Calls of our own public functions need no PLT. Relative relocations take 24 bytes each, or about one bit
# when they are packed, which linker and C library must know.
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
check_linker_flag(C LINKER:-Bsymbolic-functions MPIJOB_SYMBOLIC_FUNCTIONS)
set(CMAKE_REQUIRED_LINK_OPTIONS LINKER:--fatal-warnings LINKER:-z,pack-relative-relocs)
check_c_source_compiles("#include <features.h>
#if !__GLIBC_PREREQ(2, 36)
#error
#endif
int main(void) { return 0; }" MPIJOB_PACKED_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

# Code that starts at any byte is 5 % smaller and was not slower in bench/core.
include(CheckCCompilerFlag)
set(unaligned -fno-align-functions -fno-align-jumps -fno-align-labels)
list(JOIN unaligned " " flags)
set(CMAKE_REQUIRED_FLAGS -Werror)
check_c_compiler_flag("${flags}" MPIJOB_UNALIGNED_CODE)
unset(CMAKE_REQUIRED_FLAGS)
if(MPIJOB_UNALIGNED_CODE)
	target_compile_options(mpijob-flags INTERFACE $<$<CONFIG:Release,RelWithDebInfo>:${unaligned}>)
endif()

# mpijob_library(NAME DESCRIPTION text DIRECTORIES... [SMALL...] [HEADERS...] [LINK...] [USES...] [PACKAGES...]): the shared
# library NAME with the map lib/libNAME.map, and NAME-static, the file libNAME.a, in which tests reach private functions. SMALL
# are directories and files that are compiled for size, because bench/core is as fast with them. HEADERS are the library's public
# headers; without it, mpijob.h and those that it includes. USES names other libraries of the project; the library that
# uses none holds lib/base for all archives. PACKAGES are what pkg-config adds for a static program.
function(mpijob_library name)
	cmake_parse_arguments(arg "" "DESCRIPTION" "DIRECTORIES;SMALL;HEADERS;LINK;USES;PACKAGES" ${ARGN})
	set(sources)
	foreach(directory ${arg_DIRECTORIES})
		file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/${directory}/*.c)
		list(APPEND sources ${found})
		foreach(source ${found})
			cmake_path(GET source STEM stem)
			if(directory IN_LIST arg_SMALL OR ${directory}/${stem} IN_LIST arg_SMALL)
				mpijob_small(${source})
			endif()
		endforeach()
	endforeach()
	if(NOT arg_HEADERS)
		set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/mpijob/mpijob.h)
		file(STRINGS ${PROJECT_SOURCE_DIR}/include/mpijob/mpijob.h includes REGEX "^#include <mpijob/[a-z_]+\\.h>")
		list(TRANSFORM includes REPLACE "^#include <mpijob/([a-z_]+)\\.h>" "\\1" OUTPUT_VARIABLE arg_HEADERS)
		list(APPEND arg_HEADERS mpijob)
	endif()

	# Compiled once for both.
	add_library(${name}-objects OBJECT ${sources})
	target_compile_options(${name}-objects PRIVATE -Wconversion)
	target_compile_definitions(${name}-objects PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE=)
	target_link_libraries(${name}-objects PRIVATE mpijob-flags ${arg_LINK})
	add_library(${name} SHARED $<TARGET_OBJECTS:${name}-objects>)
	add_library(${name}-static STATIC $<TARGET_OBJECTS:${name}-objects>)
	if(NOT arg_USES)
		target_sources(${name}-static PRIVATE $<TARGET_OBJECTS:mpijob-base>)
	endif()
	add_library(mpijob::${name} ALIAS ${name})
	set(map ${PROJECT_SOURCE_DIR}/lib/lib${name}.map)
	set_target_properties(${name}-static PROPERTIES OUTPUT_NAME ${name})
	set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
		LINK_DEPENDS ${map} INSTALL_RPATH "$ORIGIN")
	target_link_options(${name} PRIVATE LINKER:--version-script=${map} LINKER:--as-needed
		$<$<BOOL:${MPIJOB_SYMBOLIC_FUNCTIONS}>:LINKER:-Bsymbolic-functions>
		$<$<BOOL:${MPIJOB_PACKED_RELOCATIONS}>:LINKER:-z,pack-relative-relocs>
		$<$<NOT:$<BOOL:${MPIJOB_SANITIZE}>>:LINKER:-z,defs>)
	foreach(target ${name} ${name}-static)
		target_include_directories(${target} INTERFACE
			$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
	endforeach()
	target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:mpijob-flags> $<BUILD_INTERFACE:mpijob-base> ${arg_LINK} PUBLIC ${arg_USES})
	list(TRANSFORM arg_USES APPEND -static OUTPUT_VARIABLE uses_static)
	target_link_libraries(${name}-static PRIVATE mpijob-flags PUBLIC ${arg_LINK} ${uses_static})
	set_target_properties(${name} PROPERTIES MPIJOB_DESCRIPTION "${arg_DESCRIPTION}" MPIJOB_HEADERS "${arg_HEADERS}"
		MPIJOB_USES "${arg_USES}" MPIJOB_PACKAGES "${arg_PACKAGES}")
	set_property(GLOBAL APPEND PROPERTY MPIJOB_LIBRARIES ${name})
endfunction()

# mpijob_embed(TARGET file name): the bytes of a file as numbers of C, in a file that the target's sources can include.
function(mpijob_embed target file name)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
	file(READ ${PROJECT_SOURCE_DIR}/${file} bytes HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	string(REGEX REPLACE ",$" "\n" bytes "${bytes}")
	file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/embedded/${name} CONTENT "${bytes}" @ONLY)
	target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/embedded)
endfunction()

# mpijob_program(TARGET SOURCES folder DIRECTORY bin|libexec [NAME file] USES...)
function(mpijob_program target)
	cmake_parse_arguments(arg "" "SOURCES;DIRECTORY;NAME" "USES" ${ARGN})
	file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_SOURCES}/*.c)
	if(NOT arg_NAME)
		set(arg_NAME ${target})
	endif()
	add_executable(${target} ${sources})
	target_compile_options(${target} PRIVATE -Wconversion)
	target_compile_definitions(${target} PRIVATE _GNU_SOURCE=)
	target_link_libraries(${target} PRIVATE mpijob-flags mpijob-base ${arg_USES})
	target_link_options(${target} PRIVATE LINKER:--as-needed)
	set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_NAME} INSTALL_RPATH "${program_rpath}"
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${arg_DIRECTORY})
	if(arg_DIRECTORY STREQUAL libexec)
		install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR})
	else()
		install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	endif()
endfunction()
