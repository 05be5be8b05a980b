# SPDX-License-Identifier: BSD-3-Clause
# Which functions make persistent collectives: MPI-4's MPI_Allreduce_init and so on, or those that
# Open MPI 4 has as extensions (MPIX_Allreduce_init in mpi-ext.h).
#
# Writes op_persistent.h, which has two macros a function, for MPI_Allreduce:
#   OP_IF_PERSISTENT_MPI_Allreduce(...)   its arguments, or nothing where there is no function
#   OP_INIT_MPI_Allreduce                 the function
include(CheckCSourceCompiles)

set(_counterparts)
foreach(collective IN LISTS OP_COLLECTIVES)
  string(SUBSTRING ${collective} 0 1 _first)
  string(SUBSTRING ${collective} 1 -1 _rest)
  string(TOUPPER ${_first} _first)
  list(APPEND _counterparts ${_first}${_rest})
endforeach()

# commcost_declares(RESULT INCLUDE FUNCTION...): whether a header declares all of these.
function(commcost_declares result include)
  list(JOIN ARGN "; (void)" calls)
  check_c_source_compiles("
#include <mpi.h>
${include}
int main(void) { (void)${calls}; return 0; }" ${result})
endfunction()

set(CMAKE_REQUIRED_INCLUDES ${MPI_C_INCLUDE_DIRS})
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
list(TRANSFORM _counterparts REPLACE "(.+)" "MPI_\\1_init" OUTPUT_VARIABLE _standard)
list(TRANSFORM _counterparts REPLACE "(.+)" "MPIX_\\1_init" OUTPUT_VARIABLE _extension)
set(OP_PERSISTENT_HEADER "")
if(NOT COMMCOST_MPI_IS_SMPI)
  commcost_declares(COMMCOST_PERSISTENT_COLLECTIVES "" ${_standard})
  if(NOT COMMCOST_PERSISTENT_COLLECTIVES)
    commcost_declares(COMMCOST_PERSISTENT_EXTENSION "#include <mpi-ext.h>" ${_extension})
  endif()
endif()
set(OP_PERSISTENT_MACROS "")
set(_missing)
foreach(counterpart IN LISTS _counterparts)
  set(_function)
  if(COMMCOST_PERSISTENT_COLLECTIVES)
    set(_function MPI_${counterpart}_init)
  elseif(COMMCOST_PERSISTENT_EXTENSION)
    set(_function MPIX_${counterpart}_init)
  elseif(NOT COMMCOST_MPI_IS_SMPI)
    # Not all of them: one by one.
    commcost_declares(COMMCOST_HAS_${counterpart}_init "" MPI_${counterpart}_init)
    if(COMMCOST_HAS_${counterpart}_init)
      set(_function MPI_${counterpart}_init)
    endif()
  endif()
  if(_function)
    string(APPEND OP_PERSISTENT_MACROS
      "#define OP_IF_PERSISTENT_MPI_${counterpart}(...) __VA_ARGS__\n"
      "#define OP_INIT_MPI_${counterpart} ${_function}\n")
  else()
    list(APPEND _missing ${counterpart})
    string(APPEND OP_PERSISTENT_MACROS "#define OP_IF_PERSISTENT_MPI_${counterpart}(...)\n")
  endif()
endforeach()
if(COMMCOST_PERSISTENT_EXTENSION AND NOT COMMCOST_PERSISTENT_COLLECTIVES)
  set(OP_PERSISTENT_HEADER "#include <mpi.h>\n\n#include <mpi-ext.h>\n\n")
endif()
if(_missing)
  list(JOIN _missing ", " _words)
  message(STATUS "Persistent collectives: not in this MPI library: ${_words}")
endif()
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
