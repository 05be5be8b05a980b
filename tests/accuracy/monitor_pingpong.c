/*
 * Does the monitor, loaded and off, change a ping-pong of 8 bytes? One through its wrappers and one
 * around them are timed in one process, in turn; prints the ratio of the medians. To be run on 2
 * ranks, by bare_ratio.py.
 */
#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"

#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 2000, REPETITIONS = 50, TAG = 2 };

/* Nanoseconds of a ping-pong; `Mpi` is MPI or PMPI. */
#define PINGPONG(name, Mpi)                                                                        \
    static double name(int rank, double *value)                                                    \
    {                                                                                              \
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
    int rank, ranks;
    double value = 0.0;
    BC_MPI(MPI_Init(&argc, &argv));
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (ranks != 2)
        bc_abort("needs 2 ranks");
    for (int i = 0; i < ROUNDS; i++) {
        BC_MPI(PMPI_Barrier(MPI_COMM_WORLD));
        monitored_ns[i] = monitored(rank, &value);
        BC_MPI(PMPI_Barrier(MPI_COMM_WORLD));
        direct_ns[i] = direct(rank, &value);
    }
    const double of_monitored = bc_median(monitored_ns, ROUNDS),
                 of_direct = bc_median(direct_ns, ROUNDS);
    if (rank == 0)
        (void)printf("monitored %.1f ns, direct %.1f ns: %.4f of the bare loop's time\n",
                     of_monitored, of_direct, of_monitored / of_direct);
    BC_MPI(MPI_Finalize());
    return 0;
}
