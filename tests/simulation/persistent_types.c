/*
 * SimGrid 3.32: what a persistent send of a derived datatype brings when it is started
 * for the first time is what was in the buffer at MPI_Send_init, or anything.
 *
 *   smpicc persistent_types.c && smpirun -np 2 -hostfile HOSTS -platform FILE ./a.out
 */
#include <mpi.h>
#include <stdio.h>

enum { VALUES = 3, STRIDE = 2, STARTS = 2 };

int main(int argc, char **argv)
{
    int rank;
    double values[VALUES * STRIDE] = {0};
    MPI_Datatype type;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(VALUES, 1, STRIDE, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    if (rank == 0)
        MPI_Send_init(values, 1, type, 1, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Recv_init(values, 1, type, 0, 0, MPI_COMM_WORLD, &request);
    for (int start = 1; start <= STARTS; start++) {
        for (int i = 0; i < VALUES; i++)
            values[i * STRIDE] = rank == 0 ? 10 * start + i : -1;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        int wrong = 0;
        for (int i = 0; i < VALUES; i++)
            wrong += values[i * STRIDE] != 10 * start + i;
        if (rank == 1)
            printf("start %d: %s\n", start, wrong == 0 ? "right" : "wrong");
    }
    MPI_Request_free(&request);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
