# SPDX-License-Identifier: Apache-2.0
# MPI programs are compiled with the machine's own mpicc, outside of the flags of this project.
if(MPIJOB_EXAMPLES)
	find_program(MPICC mpicc)
	file(GLOB pi CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/pi/pi.c)
	if(MPICC AND pi)
		add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/examples/pi
			COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/examples
			COMMAND ${MPICC} -O2 -Wall -Wextra -o ${PROJECT_BINARY_DIR}/examples/pi ${pi} -lm
			DEPENDS ${pi} COMMENT "Building examples/pi with mpicc" VERBATIM)
		add_custom_target(example-pi ALL DEPENDS ${PROJECT_BINARY_DIR}/examples/pi)
	else()
		message(STATUS "examples/pi: no mpicc or no source, skipped")
	endif()
endif()
