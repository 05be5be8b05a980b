/*
 * Does MPI_Finalize return on a rank whose last messages the other has received (MPI 3.1, section 8.7: it must, once all
 * that the program started is complete)?
 *
 *   UCX_TLS=tcp,self mpirun -np 2 finalize_tcp     with more running than there are processors
 *
 * Exit status 0, or no end.
 *
 * MPICH 4.0.2 (ch4:ucx over TCP): in some of many launches one rank waits for ever.
 */
#include <mpi.h>
#include <stdlib.h>

enum { MESSAGES = 200, BYTES = 4000 };

int main(int argc, char **argv)
{
    int rank;
    static char buffer[BYTES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MESSAGES; i++)
        if (rank == 0)
            MPI_Send(buffer, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
