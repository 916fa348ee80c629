# SPDX-License-Identifier: Apache-2.0
# The Python package, bindings/python. Nothing of it is part of the ordinary build.
#   python  the package in the build folder: PYTHONPATH=<build>/python; needs pycparser from PyPI
#   wheel   <build>/dist/*.whl, with libraries of its own for older systems; needs Debian's source packages and PyPI
find_package(Python3 3.9 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND AND TARGET mpijob)
	add_custom_target(python
		COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bindings/python/make-tree ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER}
		USES_TERMINAL VERBATIM)
	get_property(libraries GLOBAL PROPERTY MPIJOB_LIBRARIES)
	add_dependencies(python ${libraries})
	if(TARGET mpijob-node)
		add_dependencies(python mpijob-node)
	endif()
	add_custom_target(wheel
		COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bindings/python/make-wheel ${PROJECT_BINARY_DIR}
		USES_TERMINAL VERBATIM)
endif()
