/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private communicator of the monitor, on which errors return, and whose messages never match the
 * program's. The monitor sets no other error handler: MPI treats a handler that was set differently
 * from the default one, even if both are MPI_ERRORS_ARE_FATAL, and new communicators inherit it.
 */
#pragma once

#include <mpi.h>

/* Makes a communicator of the processes of `of`, in their order, without its attributes. If the MPI
   library has no room (MPICH: 2,046), that is an error on `of`. If its handler returns, the result
   is MPI_COMM_NULL on all processes. Collective over `of`. */
MPI_Comm own_comm_make(MPI_Comm of);
