# SPDX-License-Identifier: BSD-3-Clause
# fortran_names.h: the names of MPI's functions in lower and upper case, by which the Fortran layer calls them. The
# preprocessor finds the names, but can't change their case.
set(_count "${PROJECT_SOURCE_DIR}/monitor/lib/count")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${_count}/functions.def" "${_count}/others.def" "${_count}/names.h" "${_count}/next_functions.h")
set(_options ${MPI_C_INCLUDE_DIRS} "${PROJECT_SOURCE_DIR}")
list(TRANSFORM _options PREPEND -I)
set(_definitions ${MPI_C_COMPILE_DEFINITIONS})
list(TRANSFORM _definitions PREPEND -D)
if(CMAKE_SYSROOT)
  list(APPEND _options "--sysroot=${CMAKE_SYSROOT}")
endif()
separate_arguments(_flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
execute_process(
  COMMAND "${CMAKE_C_COMPILER}" ${_flags} ${MPI_C_COMPILE_OPTIONS} ${_options} ${_definitions} -E -P
          "${_count}/next_functions.h"
  OUTPUT_VARIABLE _text RESULT_VARIABLE _failed)
string(REGEX MATCHALL "NEXT\\([A-Za-z_0-9]+\\)" _names "${_text}")
if(_failed OR NOT _names)
  message(FATAL_ERROR "The preprocessor doesn't find the names of MPI's functions in ${_count}/next_functions.h")
endif()
set(_lines "/* Written by monitor/fortran/names.cmake. */\n")
foreach(_name IN LISTS _names)
  string(REGEX REPLACE "NEXT\\((.*)\\)" "\\1" _name "${_name}")
  string(REGEX REPLACE "_c$" "" _plain "${_name}")
  string(TOLOWER "${_plain}" _lower)
  string(TOUPPER "${_plain}" _upper)
  string(APPEND _lines "#define LOWER_${_name} \"${_lower}\"\n#define UPPER_${_name} \"${_upper}\"\n")
endforeach()
file(CONFIGURE OUTPUT "${COMMCOST_GENERATED_DIR}/fortran_names.h" CONTENT "${_lines}" @ONLY)
