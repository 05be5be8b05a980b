# SPDX-License-Identifier: BSD-3-Clause
# build_info.h: version, commit, compiler and MPI library, for --version and the metadata of
# every result. Written again at each build, touched only when it changes, so
# that the commit is the one that was built.

set(COMMCOST_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
string(TOUPPER "${CMAKE_BUILD_TYPE}" _build_type)
set(_flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${_build_type}} -std=c11")
string(REGEX REPLACE "[ ]+" " " _flags "${_flags}")
string(STRIP "${_flags}" _flags)

string(REGEX REPLACE "[;\"\\]" "," _mpi_library "${COMMCOST_MPI_LIBRARY}")

set(_write_build_info
  ${CMAKE_COMMAND}
  "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
  "-DCOMMCOST_VERSION=${PROJECT_VERSION}"
  "-DCOMMCOST_COMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
  "-DCOMMCOST_COMPILER_FLAGS=${_flags}"
  "-DCOMMCOST_MPI_LIBRARY=${_mpi_library}"
  "-DCOMMCOST_MPIRUN=${COMMCOST_MPIRUN_PROGRAM}"
  "-DTEMPLATE=${PROJECT_SOURCE_DIR}/common/build_info.h.in"
  "-DRESULT=${COMMCOST_GENERATED_DIR}/build_info.h"
  -P "${PROJECT_SOURCE_DIR}/cmake/WriteBuildInfo.cmake")
execute_process(COMMAND ${_write_build_info})
add_custom_target(build_info COMMAND ${_write_build_info} VERBATIM
                  BYPRODUCTS "${COMMCOST_GENERATED_DIR}/build_info.h")
