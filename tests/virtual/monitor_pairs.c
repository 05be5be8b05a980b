/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator of each pair of the first LIMIT ranks, one after the other: made, used for a
 * barrier, and kept until all have been used. Knows nothing of the monitor.
 *
 * usage: monitor_pairs LIMIT
 */
#include <mpi.h>
#include <stdlib.h>

enum { PAIRS_MAX = 64 * 63 / 2 };

int main(int argc, char **argv)
{
    static MPI_Comm pairs[PAIRS_MAX];
    int rank, count = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int limit = (int)strtol(argv[1], NULL, 10);
    for (int i = 0; i < limit; i++)
        for (int j = i + 1; j < limit; j++) {
            const int color = rank == i || rank == j ? 0 : MPI_UNDEFINED;
            MPI_Comm_split(MPI_COMM_WORLD, color, 0, &pairs[count]);
            if (pairs[count] != MPI_COMM_NULL)
                MPI_Barrier(pairs[count++]);
        }
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&pairs[i]);
    MPI_Finalize();
    return 0;
}
