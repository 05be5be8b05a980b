/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the monitor with the library that it was built for, in a header of the standard's
 * ABI. */
#include <mpi.h>

#undef MPI_ABI_VERSION
#define MPI_ABI_VERSION 1

#include "monitor/lib/wrap/mpi_library.c" /* NOLINT(bugprone-suspicious-include) */
