/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polls: each of two ranks starts a receive on a communicator called "pair", tests it POLLS times,
 * with GAP_NS of its own work before each test, and only then sends. Knows nothing of the monitor.
 *
 * usage: monitor_poll POLLS GAP_NS
 */
#include "common/work/work.h"

#include <mpi.h>
#include <stdlib.h>

#define UNITS_PER_NS 0.8 /* VIRTUAL_WORK_NS is 1.25 */

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int polls = (int)strtol(argv[1], NULL, 10);
    const uint64_t units = (uint64_t)(strtod(argv[2], NULL) * UNITS_PER_NS + 0.5);
    MPI_Comm pair;
    MPI_Request request;
    MPI_Status status;
    int rank, flag;
    char sent = 0, received;
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_set_name(pair, "pair");
    MPI_Comm_rank(pair, &rank);
    MPI_Irecv(&received, 1, MPI_CHAR, 1 - rank, 0, pair, &request);
    for (int i = 0; i < polls; i++) {
        bc_work(units);
        MPI_Test(&request, &flag, &status);
    }
    MPI_Send(&sent, 1, MPI_CHAR, 1 - rank, 0, pair);
    MPI_Wait(&request, &status);
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
