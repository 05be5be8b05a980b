/*
 * A communicator of the monitor's own, on which its messages meet none of the program's and errors
 * return. The monitor never sets the error handler of a communicator that isn't its own: MPI
 * libraries treat a handler that was set differently from one that wasn't, even if both are
 * MPI_ERRORS_ARE_FATAL, and new communicators inherit it.
 */
#pragma once

#include <mpi.h>

/* Makes a communicator with the processes of `of`, in their order and without its attributes. If
   MPI has no room for one (2,046 fit with MPICH), that is an error on `of`: where the handler of
   `of` returns, the result is MPI_COMM_NULL on all of them. Collective over `of`. */
MPI_Comm own_comm_make(MPI_Comm of);
