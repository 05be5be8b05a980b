/*
 * Communicator of the monitor's own, on which errors return and its messages meet none of the
 * program's. The monitor sets no other error handler: MPI treats a handler that was set
 * differently from the default one, even if both are MPI_ERRORS_ARE_FATAL, and new communicators
 * inherit it.
 */
#pragma once

#include <mpi.h>

/* Makes a communicator of the processes of `of`, in their order, without its attributes. Without
   room (2,046 fit with MPICH), that is an error on `of`. If its handler returns, the result is
   MPI_COMM_NULL on all processes. Collective over `of`. */
MPI_Comm own_comm_make(MPI_Comm of);
