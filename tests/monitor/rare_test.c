/*
 * Calls that are rare in programs. From C and, over fortran_calls.c, from Fortran. On 2 ranks.
 */
#include "check.h"

#include <mpi.h>
#include <mpirtmon.h>
#include <stddef.h>
#include <string.h>

enum { ROWS = 64 };

/* A buffer at address 0 is not MPI_IN_PLACE. Rank 0 sends all, and receives nothing. */
static void null_buffer(void)
{
    MPIX_Monitor handle = {.profile = 1, .coll = 1};
    MPIX_Monitor_request request;
    MPIX_Monitor_row rows[ROWS];
    int rank, count = 0, value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int none[2] = {0, 0}, one[2] = {1, 0}, to_other[2] = {0, 1};
    MPIX_Start_monitor(&request, &handle, NULL);
    if (rank == 0)
        MPI_Alltoallv(&value, to_other, none, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(NULL, none, none, MPI_INT, &value, one, none, MPI_INT, MPI_COMM_WORLD);
    MPIX_End_monitor(&request, &handle);
    MPIX_Get_monitor(&request, rows, ROWS, &count);
    CHECK(count == 1 && rows[0].bytes == (rank == 0 ? 4 : 0));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    null_buffer();
    MPI_Finalize();
    return check_failures > 0;
}
