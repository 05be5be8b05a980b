/*
 * Ranks that come late to collectives by known times: in each of CALLS rounds, for each function a
 * barrier of all, after which rank r computes STEP_US times (5 round + 3 function + 11 r) mod 17,
 * and then the collective on a communicator called "team", whose root is (round + function) mod
 * ranks. Functions are numbered in their order here. Knows nothing of the monitor.
 *
 * usage: monitor_late CALLS STEP_US
 */
#include "common/clock/source.h"

#include <mpi.h>
#include <stdlib.h>

enum { RANKS_MAX = 64, FUNCTIONS = 9 };
#define UNITS_PER_US 800 /* VIRTUAL_WORK_NS is 1.25 */

static MPI_Comm team;
static double sent[RANKS_MAX], received[RANKS_MAX];
static int ones[RANKS_MAX], places[RANKS_MAX]; /* counts and displacements */

#define ONE 1, MPI_DOUBLE

static void call(int function, int root)
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
        MPI_Scatterv(sent, ones, places, MPI_DOUBLE, received, ONE, root, team);
        break;
    case 6:
        MPI_Gather(sent, ONE, received, ONE, root, team);
        break;
    case 7:
        MPI_Gatherv(sent, ONE, received, ones, places, MPI_DOUBLE, root, team);
        break;
    default:
        MPI_Reduce(sent, received, ONE, MPI_SUM, root, team);
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
    for (int i = 0; i < ranks; i++) {
        ones[i] = 1;
        places[i] = i;
    }
    for (int i = 0; i < calls; i++)
        for (int function = 0; function < FUNCTIONS; function++) {
            MPI_Barrier(MPI_COMM_WORLD);
            const int steps = (5 * i + 3 * function + 11 * rank) % 17;
            bc_work((uint64_t)(steps * step_us * UNITS_PER_US));
            call(function, (i + function) % ranks);
        }
    MPI_Comm_free(&team);
    MPI_Finalize();
    return 0;
}
