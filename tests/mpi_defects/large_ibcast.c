/*
 * A non-blocking broadcast of more than INT_MAX bytes. Run it on 2 ranks, with
 * 2 GiB of memory for each; it exits with 1 if a rank gets an error.
 *
 *   mpirun -np 2 large_ibcast             8 bytes more than 2 GiB, as doubles
 *   mpirun -np 2 large_ibcast blocking    the same by MPI_Bcast
 *
 * MPICH 4.0.2: rank 1 has the data, and MPI_Wait says "Invalid communicator":
 *     what it received is counted in bytes, by an int, which is then
 *     MPI_UNDEFINED and not the length. "blocking" is right.
 * Open MPI 4.1.4: right.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = (1 << 28) + 1 };

int main(int argc, char **argv)
{
    int rank, length, error;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    double *const values = malloc(VALUES * sizeof *values);
    if (values == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < VALUES; i++)
        values[i] = rank == 0 ? i : -1;
    if (argc > 1 && strcmp(argv[1], "blocking") == 0)
        error = MPI_Bcast(values, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    else
        error = MPI_Ibcast(values, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    if (error == MPI_SUCCESS)
        error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    int wrong = 0;
    for (int i = 0; i < VALUES; i++)
        wrong += values[i] != i;
    MPI_Error_string(error, text, &length);
    printf("rank %d: %d values are wrong; %s\n", rank, wrong, text);
    fflush(stdout);
    free(values);
    if (error != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
