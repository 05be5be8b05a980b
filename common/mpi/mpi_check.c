#include "common/mpi/mpi_check.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool mpi_is_running(void)
{
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    return initialized && !finalized;
}

static int world_rank(void)
{
    int rank = 0;
    if (mpi_is_running())
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static _Noreturn void end_job(void)
{
    if (mpi_is_running())
        MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void bc_mpi_failed(const char *call, int code, const char *file, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "commcost: rank %d: %s failed at %s:%d: %s\n", world_rank(), call, file, line,
            text);
    end_job();
}

void bc_abort(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "commcost: rank %d: %s\n", world_rank(), text);
    end_job();
}
