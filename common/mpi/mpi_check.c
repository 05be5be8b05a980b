#include "common/mpi/mpi_check.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- allocation ------------------------------------------------------------------------------ */

/* Ends the job if there is no memory. */
static void require(const void *memory, const char *format, va_list arguments)
{
    char message[256];
    if (memory != NULL)
        return;
    vsnprintf(message, sizeof message, format, arguments);
    bc_abort("%s", message);
}

void *bc_allocate(size_t count, size_t element_bytes, const char *format, ...)
{
    void *const memory = calloc(count > 0 ? count : 1, element_bytes);
    va_list arguments;
    va_start(arguments, format);
    require(memory, format, arguments);
    va_end(arguments);
    return memory;
}

void *bc_reallocate(void *memory, size_t count, size_t element_bytes, const char *format, ...)
{
    const bool fits = count <= PTRDIFF_MAX / element_bytes;
    void *const grown = fits ? realloc(memory, count > 0 ? count * element_bytes : 1) : NULL;
    va_list arguments;
    va_start(arguments, format);
    require(grown, format, arguments);
    va_end(arguments);
    return grown;
}

void *bc_allocate_pages(size_t bytes, const char *format, ...)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = bytes / page + (bytes % page > 0 || bytes == 0);
    void *const memory = bytes <= PTRDIFF_MAX ? aligned_alloc(page, pages * page) : NULL;
    if (memory != NULL)
        memset(memory, 0, pages * page);
    va_list arguments;
    va_start(arguments, format);
    require(memory, format, arguments);
    va_end(arguments);
    return memory;
}

/* ---- from all ranks -------------------------------------------------------------------------- */

void *bc_gather(const void *own, size_t bytes, MPI_Comm comm)
{
    int rank, ranks;
    BC_MPI(MPI_Comm_rank(comm, &rank));
    BC_MPI(MPI_Comm_size(comm, &ranks));
    void *const all =
        rank == 0 ? bc_allocate((size_t)ranks, bytes, "no memory for %d ranks", ranks) : NULL;
    BC_MPI(MPI_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, comm));
    return all;
}
