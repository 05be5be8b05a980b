/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that come late to collectives by known times: in each of CALLS rounds, for each function a
 * barrier of all, after which rank r computes STEP_US times (5 round + 3 function + 11 r) mod 17,
 * and then the collective on a communicator called "team", whose root is (round + function) mod
 * ranks. Functions are numbered in their order here. In v variants the last EMPTY ranks have no
 * data for others, nor in Scatterv and Reduce_scatter for themselves. Knows nothing of the monitor.
 *
 * usage: monitor_late CALLS STEP_US EMPTY
 */
#include "common/work/work.h"

#include <mpi.h>
#include <stdlib.h>

enum { RANKS_MAX = 64, FUNCTIONS = 13 };
#define UNITS_PER_US 800 /* VIRTUAL_WORK_NS is 1.25 */

static MPI_Comm team;
static double sent[RANKS_MAX], received[RANKS_MAX];
static int counts[RANKS_MAX], places[RANKS_MAX]; /* displacements */
static int of_own[RANKS_MAX];                    /* this rank's count for each rank */

#define ONE 1, MPI_DOUBLE

static void call(int function, int root, int own)
{
    switch (function) {
    case 0:
        MPI_Barrier(team);
        break;
    case 1:
        MPI_Allreduce(sent, received, ONE, MPI_SUM, team);
        break;
    case 2:
        MPI_Alltoall(sent, ONE, received, ONE, team);
        break;
    case 3:
        MPI_Bcast(sent, ONE, root, team);
        break;
    case 4:
        MPI_Scatter(sent, ONE, received, ONE, root, team);
        break;
    case 5:
        MPI_Scatterv(sent, counts, places, MPI_DOUBLE, received, own, MPI_DOUBLE, root, team);
        break;
    case 6:
        MPI_Gather(sent, ONE, received, ONE, root, team);
        break;
    case 7:
        MPI_Gatherv(sent, own, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, root, team);
        break;
    case 8:
        MPI_Reduce(sent, received, ONE, MPI_SUM, root, team);
        break;
    case 9:
        MPI_Allgatherv(sent, own, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, team);
        break;
    case 10:
        MPI_Alltoallv(sent, of_own, places, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, team);
        break;
    case 11:
        MPI_Reduce_scatter(sent, received, counts, MPI_DOUBLE, MPI_SUM, team);
        break;
    default:
        MPI_Allgather(sent, 0, MPI_DOUBLE, received, 0, MPI_DOUBLE, team);
        break;
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &team);
    MPI_Comm_set_name(team, "team");
    const int calls = (int)strtol(argv[1], NULL, 10);
    const double step_us = strtod(argv[2], NULL);
    const int with_data = ranks - (int)strtol(argv[3], NULL, 10);
    for (int i = 0; i < ranks; i++) {
        counts[i] = i < with_data;
        of_own[i] = rank < with_data;
        places[i] = i;
    }
    for (int i = 0; i < calls; i++)
        for (int function = 0; function < FUNCTIONS; function++) {
            MPI_Barrier(MPI_COMM_WORLD);
            const int steps = (5 * i + 3 * function + 11 * rank) % 17;
            bc_work((uint64_t)(steps * step_us * UNITS_PER_US));
            call(function, (i + function) % ranks, rank < with_data);
        }
    MPI_Comm_free(&team);
    MPI_Finalize();
    return 0;
}
