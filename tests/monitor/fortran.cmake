# SPDX-License-Identifier: BSD-3-Clause
# commcost_find_mpif90(VARIABLE MPICC): sets the cache variable to the Fortran compiler wrapper of the
# same MPI library as this C wrapper: the one in its folder that has its name, with mpif90 for mpicc.
# A compiler elsewhere, or of another name, may be of another library.
function(commcost_find_mpif90 variable mpicc)
  get_filename_component(folder "${mpicc}" DIRECTORY)
  get_filename_component(name "${mpicc}" NAME)
  if(name MATCHES "mpicc")
    string(REPLACE mpicc mpif90 name "${name}")
    find_program(${variable} NAMES "${name}" PATHS "${folder}" NO_DEFAULT_PATH
                 DOC "The Fortran compiler of the MPI library, for tests")
  endif()
endfunction()
