/*
 * MPI_Reduce with MPI_IN_PLACE at a root that isn't rank 0 (MPI 4.0, section 6.9.1: "the "in place"
 * option for intra-communicators is specified by passing MPI_IN_PLACE to the argument sendbuf at
 * the root"). Run it on 2 ranks or more; the last one is the root.
 *
 * Exit status 0: right; 1: wrong.
 *
 * MPICH 4.0.2: the root dies of a segmentation fault, from about 2 KiB on. At rank 0 it is right.
 * Open MPI 4.1.4: right.
 */
#include <mpi.h>
#include <stdio.h>

enum { VALUES = 1024 };

int main(int argc, char **argv)
{
    static double values[VALUES];
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < VALUES; i++)
        values[i] = rank + 1;
    if (rank == ranks - 1)
        MPI_Reduce(MPI_IN_PLACE, values, VALUES, MPI_DOUBLE, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
    else
        MPI_Reduce(values, NULL, VALUES, MPI_DOUBLE, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
    for (int i = 0; i < VALUES && rank == ranks - 1; i++)
        wrong += values[i] != ranks * (ranks + 1) / 2.0;
    if (wrong > 0)
        printf("rank %d: %d of %d sums are wrong\n", rank, wrong, VALUES);
    MPI_Finalize();
    return wrong > 0;
}
