/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mpi/mpi_check.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void bc_mpi_failed(const char *call, int code, const char *file, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(code, text, &length);
    bc_abort("%s failed at %s:%d: %s", call, file, line, text);
}

void bc_abort(const char *format, ...)
{
    char text[2048];
    int initialized = 0, finalized = 0, rank = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    const bool runs = initialized && !finalized;
    if (runs)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "commcost: rank %d: %s\n", rank, text);
    if (runs)
        MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* ---- gathering ------------------------------------------------------------------------------- */

void *bc_gather(const void *own, size_t bytes, MPI_Comm comm)
{
    int rank, ranks;
    BC_MPI(MPI_Comm_rank(comm, &rank));
    BC_MPI(MPI_Comm_size(comm, &ranks));
    void *const all = rank == 0 ? calloc((size_t)ranks, bytes) : NULL;
    if (rank == 0 && all == NULL)
        bc_abort("no memory for %d ranks", ranks);
    BC_MPI(MPI_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, comm));
    return all;
}
