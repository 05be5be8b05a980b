/*
 * Does an MPI_Allreduce of no values synchronise? It need not: a collective may or may not (MPI
 * 3.1, section 5.1; MPI 4.0, 6.1), and only data that a process needs makes it wait. So this is no
 * defect; syncbench times the call and has to say when it is none.
 *
 *   mpirun -np 2 allreduce_nothing
 *
 * Exit status 0: it does; 1: rank 1 came out before rank 0 went in.
 *
 * MPICH 4.0.2: does not. Open MPI 4.1.4: does not.
 */
#include <mpi.h>
#include <stdio.h>

#define LATE_S 0.05

int main(int argc, char **argv)
{
    int rank, early = 0;
    double nothing = 0.0, sum = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start_s = MPI_Wtime();
        while (rank == 0 && MPI_Wtime() - start_s < LATE_S)
            ;
        MPI_Allreduce(&nothing, &sum, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        early += rank == 1 && MPI_Wtime() - start_s < LATE_S / 2;
    }
    MPI_Allreduce(MPI_IN_PLACE, &early, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && early > 0)
        printf("%d of 3 times rank 1 did not wait\n", early);
    MPI_Finalize();
    return early > 0;
}
