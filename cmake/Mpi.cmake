# Finds MPI, says which one it is, and finds the launcher that goes with it.
#
# Debian's mpicc and mpirun are alternatives that change when another MPI is
# installed, so the launcher is looked up beside the compiler wrapper and under
# the library's own name.
#
# Sets COMMCOST_MPI_NAME (mpich, openmpi or other) and COMMCOST_MPIRUN (a list:
# the launcher and the flags it needs to run on any machine, root included).

set(MPI_DETERMINE_LIBRARY_VERSION ON)
find_package(MPI 3.1 REQUIRED COMPONENTS C)

string(REGEX REPLACE "[\n\r].*" "" _mpi_library "${MPI_C_LIBRARY_VERSION_STRING}")
string(REGEX REPLACE "[ \t]+" " " _mpi_library "${_mpi_library}")
if(_mpi_library MATCHES "Open MPI")
  set(COMMCOST_MPI_NAME openmpi)
  set(_names mpirun.openmpi mpirun)
  set(_flags --allow-run-as-root --oversubscribe)
elseif(_mpi_library MATCHES "MPICH")
  set(COMMCOST_MPI_NAME mpich)
  set(_names mpirun.mpich mpirun.hydra mpiexec.hydra mpirun)
  set(_flags)
else()
  set(COMMCOST_MPI_NAME other)
  set(_names mpirun mpiexec)
  set(_flags)
endif()

get_filename_component(_wrapper_folder "${MPI_C_COMPILER}" DIRECTORY)
find_program(COMMCOST_MPIRUN_PROGRAM NAMES ${_names} HINTS "${_wrapper_folder}"
             DOC "The launcher for tests")
if(NOT COMMCOST_MPIRUN_PROGRAM)
  set(COMMCOST_MPIRUN_PROGRAM mpirun)
endif()
set(COMMCOST_MPIRUN "${COMMCOST_MPIRUN_PROGRAM}" ${_flags})

message(STATUS "MPI library: ${_mpi_library} (${MPI_C_COMPILER})")
message(STATUS "MPI launcher: ${COMMCOST_MPIRUN}")
