/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes STEP_US times share(rank, round) before a barrier in each of ROUNDS rounds. With
 * "uneven" a rank's share is always 1 + rank; with "alternating" the shares move on by a rank in
 * each round. Before and after the rounds, with MPI_Pcontrol(0) for "region", rank 0 computes 100
 * STEP_US alone. "threads" is a region at MPI_THREAD_MULTIPLE. With messages > 0, rank 0 then sends
 * that many messages to rank 1.
 *
 * usage: monitor_efficiency uneven|alternating run|region|threads ROUNDS STEP_US MESSAGES
 */
#include "common/work/work.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_PER_US 800 /* VIRTUAL_WORK_NS is 1.25 */

static int rank, ranks;
static double step_us;

static void compute(int steps) { bc_work((uint64_t)(steps * step_us * UNITS_PER_US)); }

static void compute_outside(bool is_region)
{
    if (is_region) {
        MPI_Pcontrol(0);
        compute(rank == 0 ? 100 : 0);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pcontrol(1);
    }
}

int main(int argc, char **argv)
{
    int level = strcmp(argv[2], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool alternates = strcmp(argv[1], "alternating") == 0;
    const bool is_region = strcmp(argv[2], "run") != 0;
    const int rounds = (int)strtol(argv[3], NULL, 10);
    step_us = strtod(argv[4], NULL);
    const int messages = (int)strtol(argv[5], NULL, 10);
    char data = 0;
    compute_outside(is_region);
    for (int round = 0; round < rounds; round++) {
        compute(1 + (alternates ? (rank + round) % ranks : rank));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < messages && rank < 2; i++)
        if (rank == 0)
            MPI_Send(&data, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&data, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is_region)
        MPI_Pcontrol(0);
    compute(is_region && rank == 0 ? 100 : 0);
    return MPI_Finalize();
}
