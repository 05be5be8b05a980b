# SPDX-License-Identifier: BSD-3-Clause
# Finds MPI, its name, and finds the launcher that goes with it.
#
# Debian's mpicc and mpirun are alternatives that change when another MPI is
# installed, so the launcher is looked up beside the compiler wrapper and under
# the library's own name.
#
# Sets COMMCOST_MPI_NAME (mpich, openmpi, smpi or other), COMMCOST_MPI_LIBRARY (its
# name and version; empty if it can't be run here), COMMCOST_MPI_ABI (whether programs are built for the standard's
# ABI) and COMMCOST_MPIRUN (a list: the launcher and the flags it needs to run on any
# machine, root included).

# commcost_mpi_of_folder(): refuses another MPI library than the one that the build folder was begun with, since CMake
# keeps all that it found out about that one. A library is known by its wrapper, the file that the wrapper's name leads to
# (alternatives and modules change that), the wrapper's options, and MPI_HOME.
function(commcost_mpi_of_folder)
  if(NOT MPI_C_COMPILER)
    return()
  endif()
  get_filename_component(_file "${MPI_C_COMPILER}" REALPATH)
  set(_asked "${MPI_C_COMPILER}" "${_file}" "${MPI_C_COMPILER_FLAGS}" "${MPI_HOME}")
  if(NOT DEFINED COMMCOST_MPI_OF_FOLDER)
    if(IS_ABSOLUTE "${MPI_C_COMPILER}")
      set(COMMCOST_MPI_OF_FOLDER "${_asked}" CACHE INTERNAL "The MPI library of this build folder")
    endif()
  elseif(NOT "${_asked}" STREQUAL "${COMMCOST_MPI_OF_FOLDER}")
    list(GET COMMCOST_MPI_OF_FOLDER 0 _wrapper)
    list(GET COMMCOST_MPI_OF_FOLDER 2 _options)
    list(GET COMMCOST_MPI_OF_FOLDER 3 _home)
    set(MPI_C_COMPILER "${_wrapper}" CACHE FILEPATH "The MPI library's compiler wrapper" FORCE)
    set(MPI_C_COMPILER_FLAGS "${_options}" CACHE STRING "Options of the MPI library's compiler wrapper" FORCE)
    set(MPI_HOME "${_home}" CACHE PATH "The MPI library's folder" FORCE)
    set(_known "${COMMCOST_MPI_OF_FOLDER}")
    foreach(_library _known _asked)
      list(REMOVE_DUPLICATES ${_library})
      list(JOIN ${_library} " " ${_library})
      string(STRIP "${${_library}}" ${_library})
    endforeach()
    string(REPLACE "'" "'\\''" _folder "${CMAKE_BINARY_DIR}")
    message(FATAL_ERROR "This build folder is of ${_known}, not of ${_asked}: use another folder, or remove it:\n"
                        "  rm -r '${_folder}'")
  endif()
endfunction()

# -DMPI_C_COMPILER="mpicc -mpi-abi": the wrapper and its options. A wrapper that is given without has none, whatever an
# earlier one had.
get_property(_given CACHE MPI_C_COMPILER PROPERTY TYPE)
get_property(_given_flags CACHE MPI_C_COMPILER_FLAGS PROPERTY TYPE)
if(MPI_C_COMPILER MATCHES "^([^ ]+) +(-.*)$")
  set(MPI_C_COMPILER "${CMAKE_MATCH_1}" CACHE STRING "The MPI library's compiler wrapper" FORCE)
  set(MPI_C_COMPILER_FLAGS "${CMAKE_MATCH_2}" CACHE STRING "Options of the MPI library's compiler wrapper" FORCE)
elseif(_given STREQUAL "UNINITIALIZED" AND NOT _given_flags STREQUAL "UNINITIALIZED")
  unset(MPI_C_COMPILER_FLAGS CACHE)
endif()
# Debian's mpicc may be any library's. Where MPICH's own is beside it that is taken, as quickstart.sh does.
find_program(_mpicc mpicc)
mark_as_advanced(_mpicc)
if(NOT MPI_C_COMPILER AND NOT MPI_HOME AND NOT DEFINED ENV{MPI_HOME} AND NOT CMAKE_C_COMPILER MATCHES "mpi[^/]*$"
   AND EXISTS "${_mpicc}.mpich")
  set(MPI_C_COMPILER "${_mpicc}.mpich" CACHE STRING "The MPI library's compiler wrapper")
endif()
if(MPI_C_COMPILER)
  find_program(_wrapper NAMES "${MPI_C_COMPILER}" HINTS "${MPI_HOME}" PATH_SUFFIXES bin)
  if(_wrapper)
    set(MPI_C_COMPILER "${_wrapper}" CACHE FILEPATH "The MPI library's compiler wrapper" FORCE)
  endif()
  unset(_wrapper CACHE)
endif()
commcost_mpi_of_folder()
set(MPI_DETERMINE_LIBRARY_VERSION ON)
find_package(MPI 3.1 REQUIRED COMPONENTS C)
commcost_mpi_of_folder()

# commcost_mpi_compiles(VARIABLE SOURCE [FLAG]): whether MPI's header and this source
# compile, with the definitions of the compiler wrapper.
include(CheckCSourceCompiles)
function(commcost_mpi_compiles variable source)
  set(CMAKE_REQUIRED_INCLUDES ${MPI_C_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_DEFINITIONS ${MPI_C_COMPILE_DEFINITIONS})
  list(TRANSFORM CMAKE_REQUIRED_DEFINITIONS PREPEND -D)
  set(CMAKE_REQUIRED_FLAGS ${ARGN})
  check_c_source_compiles("
#include <mpi.h>
${source}
int main(void) { return 0; }" ${variable})
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

# SimGrid's SMPI, an MPI on a simulated machine.
commcost_mpi_compiles(COMMCOST_MPI_IS_SMPI "
#ifndef SMPI_H
#error
#endif")

# The ABI of the MPI standard (MPI 5.0, chapter 20): one binary for every library that has
# it. The header of a library's own ABI has no version of it, or -1.
commcost_mpi_compiles(COMMCOST_MPI_ABI "
#if !defined(MPI_ABI_VERSION) || MPI_ABI_VERSION < 1
#error
#endif")

string(REGEX REPLACE "[\n\r].*" "" _mpi_library "${MPI_C_LIBRARY_VERSION_STRING}")
string(REPLACE "\t" " " _mpi_library "${_mpi_library}")
set(COMMCOST_MPI_LIBRARY "${_mpi_library}")
if(COMMCOST_MPI_IS_SMPI)
  set(COMMCOST_MPI_NAME smpi)
  set(_mpi_library "SMPI")
  set(_names smpirun)
elseif(_mpi_library MATCHES "Open MPI")
  set(COMMCOST_MPI_NAME openmpi)
  set(_names mpirun.openmpi mpirun mpiexec)
elseif(_mpi_library MATCHES "MPICH")
  set(COMMCOST_MPI_NAME mpich)
  set(_names mpirun.mpich mpirun.hydra mpiexec.hydra mpirun mpiexec)
else()
  set(COMMCOST_MPI_NAME other)
  set(_names mpirun mpiexec)
endif()

# All names in the compiler wrapper's folder come before any elsewhere: what is there by
# another name is of the same library, what is elsewhere may not be.
get_filename_component(_wrapper_folder "${MPI_C_COMPILER}" DIRECTORY)
find_program(COMMCOST_MPIRUN_PROGRAM NAMES ${_names} NAMES_PER_DIR PATHS "${_wrapper_folder}"
             NO_DEFAULT_PATH DOC "The launcher for tests")
find_program(COMMCOST_MPIRUN_PROGRAM NAMES ${_names} DOC "The launcher for tests")
if(NOT COMMCOST_MPIRUN_PROGRAM)
  set(COMMCOST_MPIRUN_PROGRAM mpirun)
endif()
set(COMMCOST_MPIRUN "${COMMCOST_MPIRUN_PROGRAM}")
# Open MPI's launcher may also start another library's programs (run_scripts/lib.sh, choose_mpi).
execute_process(COMMAND "${COMMCOST_MPIRUN_PROGRAM}" --version OUTPUT_VARIABLE _version ERROR_VARIABLE _version)
if(_version MATCHES "Open MPI|OpenRTE|PRRTE")
  list(APPEND COMMCOST_MPIRUN --allow-run-as-root --oversubscribe)
endif()

message(STATUS "MPI library: ${_mpi_library} (${MPI_C_COMPILER}; another one: -DMPI_C_COMPILER=WRAPPER)")
if(COMMCOST_MPI_ABI)
  message(STATUS "MPI ABI: the standard's, so the programs run with every MPI library that has it")
else()
  message(STATUS "MPI ABI: this library's own")
endif()
list(JOIN COMMCOST_MPIRUN " " _words)
message(STATUS "MPI launcher: ${_words}")

# True if programs are made that call the neighbourhood collectives. SMPI 3.32
# declares them, but a program that calls one ends.
if(COMMCOST_MPI_IS_SMPI)
  set(_neighbor_collectives OFF)
else()
  set(_neighbor_collectives ON)
endif()
option(COMMCOST_NEIGHBOR_COLLECTIVES "Use MPI's neighbourhood collectives" ${_neighbor_collectives})
if(NOT COMMCOST_NEIGHBOR_COLLECTIVES)
  message(STATUS "Neighbourhood collectives: not used: no overlap_ineighbor_*, and halo without neighbor_alltoallw")
endif()

# True if functions are declared as the standard does, which a wrapper of all of them
# needs. SMPI 3.32 declares some otherwise.
commcost_mpi_compiles(COMMCOST_MPI_STANDARD_TYPES "
int MPI_Compare_and_swap(const void *, const void *, void *, MPI_Datatype, int, MPI_Aint, MPI_Win);
int MPI_Comm_spawn_multiple(int, char *[], char **[], const int[], const MPI_Info[], int, MPI_Comm, MPI_Comm *, int[]);"
  -Werror)
if(NOT COMMCOST_MPI_STANDARD_TYPES)
  message(STATUS "Monitor: not built: mpi.h declares functions otherwise than the standard")
endif()

# A wrapper of MPI_Pready_list declares it as mpi.h does: MPI 4.0 has const there, MPICH 4.0.2 hasn't.
commcost_mpi_compiles(COMMCOST_PREADY_LIST_HAS_CONST "
int MPI_Pready_list(int length, const int partitions[], MPI_Request request);")
if(COMMCOST_PREADY_LIST_HAS_CONST)
  set(COMMCOST_PREADY_LIST_CONST const)
else()
  set(COMMCOST_PREADY_LIST_CONST)
endif()

# A program for SMPI is a library that smpirun loads once for each rank, with
# SMPI's functions in place of those that take time. It can't run alone.
if(COMMCOST_MPI_IS_SMPI)
  set(COMMCOST_MAN OFF)
endif()
function(commcost_mpi_settings target)
  target_compile_definitions(${target} INTERFACE COMMCOST_PREADY_LIST_CONST=${COMMCOST_PREADY_LIST_CONST})
  if(COMMCOST_MPI_IS_SMPI)
    target_compile_options(${target} INTERFACE -fPIC "SHELL:-include smpi/smpi_helpers.h")
    target_link_options(${target} INTERFACE -shared)
  endif()
endfunction()

# Partitioned communication (MPI-4).
commcost_mpi_compiles(COMMCOST_PARTITIONED_COMPILES "
void use(void);
void use(void) { (void)MPI_Psend_init; (void)MPI_Precv_init; (void)MPI_Pready; }"
  -Werror=implicit-function-declaration)
set(COMMCOST_PARTITIONED ${COMMCOST_PARTITIONED_COMPILES})
if(COMMCOST_MPI_IS_SMPI)
  set(COMMCOST_PARTITIONED OFF)
endif()
if(NOT COMMCOST_PARTITIONED)
  message(STATUS "Partitioned communication: not in this MPI library: no overlap_partitioned")
endif()
