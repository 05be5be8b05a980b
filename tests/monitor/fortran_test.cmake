# SPDX-License-Identifier: BSD-3-Clause
# cmake -DFOLDER=... -P fortran_test.cmake: which Fortran wrapper goes with a C wrapper.
include("${CMAKE_CURRENT_LIST_DIR}/fortran.cmake")

file(REMOVE_RECURSE "${FOLDER}")

# make(PATH): an empty program.
function(make path)
  file(WRITE "${FOLDER}/${path}" "")
  file(CHMOD "${FOLDER}/${path}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# expect(WRAPPER FOUND): the Fortran wrapper that is found for a C wrapper, "none" without one.
function(expect mpicc expected)
  unset(found CACHE)
  commcost_find_mpif90(found "${FOLDER}/${mpicc}")
  if(found)
    file(RELATIVE_PATH found_path "${FOLDER}" "${found}")
  else()
    set(found_path none)
  endif()
  if(NOT found_path STREQUAL expected)
    message(SEND_ERROR "${mpicc}: found ${found_path}, should be ${expected}")
  endif()
endfunction()

make(own/mpicc)
make(own/mpicc_abi)
make(other/mpif90)
make(other/mpif90_abi)
make(compilers/cc)
set(ENV{PATH} "${FOLDER}/other:$ENV{PATH}")
expect(own/mpicc none)
make(own/mpif90)
expect(own/mpicc own/mpif90)
expect(own/mpicc_abi none)
expect(compilers/cc none)
