/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cost of the monitor, loaded and off, in a ping-pong of 8 bytes: one through its wrappers and one
 * around them are timed alternately in one process. Prints the medians as the *_bare programs do.
 * For 2 ranks.
 */
#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 500, REPETITIONS = 50, TAG = 2 };

/* Nanoseconds of a ping-pong; `Mpi` is MPI or PMPI. */
#define PINGPONG(name, Mpi)                                                                        \
    static double name(int rank, double *value)                                                    \
    {                                                                                              \
        PMPI_Barrier(MPI_COMM_WORLD);                                                              \
        const double start_s = MPI_Wtime();                                                        \
        for (int i = 0; i < REPETITIONS; i++)                                                      \
            if (rank == 0) {                                                                       \
                Mpi##_Send(value, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);                          \
                Mpi##_Recv(value, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);       \
            } else {                                                                               \
                Mpi##_Recv(value, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);       \
                Mpi##_Send(value, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);                          \
            }                                                                                      \
        return (MPI_Wtime() - start_s) * 1e9 / REPETITIONS;                                        \
    }
PINGPONG(monitored, MPI)
PINGPONG(direct, PMPI)

int main(int argc, char **argv)
{
    static double monitored_ns[ROUNDS], direct_ns[ROUNDS];
    const char *const begins = getenv("BARE_FIRST"); /* as the *_bare programs have it */
    const int first = begins != NULL && strcmp(begins, "1") == 0;
    int rank, ranks;
    double value = 0.0;
    BC_MPI(MPI_Init(&argc, &argv));
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (ranks != 2)
        bc_abort("needs 2 ranks");
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2 == first)
            monitored_ns[i] = monitored(rank, &value);
        direct_ns[i] = direct(rank, &value);
        if (i % 2 != first)
            monitored_ns[i] = monitored(rank, &value);
    }
    if (rank == 0)
        (void)printf("name\tours_us\tbare_us\nping-pong, the monitor off\t%.6f\t%.6f\n",
                     bc_median(monitored_ns, ROUNDS) / 1e3, bc_median(direct_ns, ROUNDS) / 1e3);
    BC_MPI(MPI_Finalize());
    return 0;
}
