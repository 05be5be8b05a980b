/*
 * SimGrid 3.32: a program that calls a neighbourhood collective ends with "Not yet
 * implemented", though mpi.h declares them and the library has them.
 *
 *   smpicc neighbor_collectives.c && smpirun -np 2 -hostfile HOSTS -platform FILE ./a.out
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int ranks, own = 1, from[2] = {0, 0};
    const int periodic = 1;
    MPI_Comm ring;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
    MPI_Neighbor_allgather(&own, 1, MPI_INT, from, 1, MPI_INT, ring);
    printf("%s\n", from[0] == 1 && from[1] == 1 ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
