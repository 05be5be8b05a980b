/*
 * A communicator of the monitor's own, on which its messages meet none of the program's and errors
 * return. MPI may have no room for one (2,046 with MPICH), which must not end the program.
 */
#pragma once

#include <mpi.h>

/* Makes a communicator with the processes of `of`, in their order and without its attributes.
   MPI_COMM_NULL, on all of them, if MPI has no room: the error handler of `of` doesn't see that,
   but it sees errors of other threads' calls on `of` meanwhile. Collective over `of`. */
MPI_Comm own_comm_make(MPI_Comm of);
