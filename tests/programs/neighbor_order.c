/*
 * Does MPI_Neighbor_alltoallw bring what is sent to the neighbour on one side to its halo on the
 * other side, where both are the same rank?
 *
 * The standard says so for periodic Cartesian communicators (MPI 4.1, section 8.6, example 8.10;
 * MPI 4.0, annex B.1.1, makes it an erratum of MPI 3.1): block s of the sender is block s ^ 1 of
 * the receiver, with 1 or 2 processes in a direction, too. MPICH 4.0.2 and others match the blocks
 * in order instead. Prints "right" or "wrong"; exit status 0 or 1.
 *
 * usage: mpirun -np RANKS neighbor_order DIM DIM DIM
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIRECTIONS = 3, NEIGHBOURS = 2 * DIRECTIONS };

int main(int argc, char **argv)
{
    static const int periodic[DIRECTIONS] = {1, 1, 1};
    int dims[DIRECTIONS], rank, wrong = 0;
    int sent[NEIGHBOURS], received[NEIGHBOURS], ones[NEIGHBOURS];
    MPI_Aint displacements[NEIGHBOURS];
    MPI_Datatype types[NEIGHBOURS];
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    if (argc != DIRECTIONS + 1)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int d = 0; d < DIRECTIONS; d++)
        dims[d] = (int)strtol(argv[d + 1], NULL, 10);
    MPI_Cart_create(MPI_COMM_WORLD, DIRECTIONS, dims, periodic, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    for (int s = 0; s < NEIGHBOURS; s++) {
        sent[s] = NEIGHBOURS * rank + s;
        received[s] = -1;
        ones[s] = 1;
        displacements[s] = s * (MPI_Aint)sizeof(int);
        types[s] = MPI_INT;
    }
    MPI_Neighbor_alltoallw(sent, ones, displacements, types, received, ones, displacements, types,
                           comm);
    for (int d = 0; d < DIRECTIONS; d++) {
        const int low = 2 * d, high = low + 1;
        int lower, upper;
        MPI_Cart_shift(comm, d, 1, &lower, &upper);
        wrong |= received[low] != NEIGHBOURS * lower + high;
        wrong |= received[high] != NEIGHBOURS * upper + low;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm);
    if (rank == 0)
        puts(wrong ? "wrong" : "right");
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return wrong;
}
