/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/source.h"
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "syncbench/syncbench.h"

#include <stdlib.h>

/* Number of checked synchronisations. */
enum { ROUNDS = 20 };

/* Max awaited ranks if all wait for all: log2 of the number of ranks. */
enum { STEPS_MAX = 31 };

/* Delay of a late rank, and its pauses between MPI calls. */
enum { LATE_NS = 300000, PAUSE_NS = 30000 };

/* Delays this rank, with MPI calls, since some networks serve a get only inside calls of the
   target. Sleeps between them, so that other ranks can run on a shared core. */
static void come_late(void)
{
    int ignored;
    for (int slept_ns = 0; slept_ns < LATE_NS; slept_ns += PAUSE_NS) {
        BC_MPI(
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ignored, MPI_STATUS_IGNORE));
        bc_sleep_ns(PAUSE_NS);
    }
}

/* True if a rank comes late in a round. In every second round one rank is late: a rank that waits
   for only some ranks leaves too early. In the other rounds about half of the ranks are late, by a
   multiplicative hash (Knuth, The Art of Computer Programming, vol. 3, 2nd ed., 6.4), so each rank
   has to wait for a late rank in some round. */
static bool is_late(int rank, int ranks, int round)
{
    const uint64_t hash = (uint64_t)(rank + 1) * (uint64_t)round * UINT64_C(0x9e3779b97f4a7c15);
    return round % 2 == 0 ? rank == round / 2 % ranks : hash >> 63 == 1;
}

/* Counts awaited ranks without a mark: a rank marks each round in its own part of the coarray
   before it enters, and must find the marks of awaited ranks when it leaves. If all wait for all,
   only the ranks 1, 2, 4 ... below are checked, to avoid P * P transfers. */
static int64_t check_waiting(const struct syncbench_kind *kind, struct syncbench_team *team,
                             int rank, int ranks)
{
    static const double mark = 1.0;
    struct bc_coarray entered; /* by round */
    int below[STEPS_MAX];
    const bool all = kind->set == SYNCBENCH_EVERYONE;
    const int *const awaited = all ? below : team->images.ranks;
    int count = all ? 0 : team->images.count;
    for (int64_t distance = 1; all && distance < ranks; distance *= 2)
        below[count++] = (int)((rank - distance + ranks) % ranks);
    double *const found = bc_allocate((size_t)count, sizeof *found, "no memory for neighbours");
    int64_t wrong = 0;
    bc_coarray_create(&entered, MPI_COMM_WORLD, ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
        if (is_late(rank, ranks, round + 1))
            come_late();
        bc_coarray_put(&entered, rank, round, &mark, 1, MPI_DOUBLE);
        bc_sync_memory(&entered);
        kind->enter(team);
        kind->leave(team);
        for (int i = 0; i < count; i++)
            bc_coarray_get(&entered, awaited[i], round, &found[i], 1, MPI_DOUBLE);
        bc_sync_memory(&entered);
        for (int i = 0; i < count; i++)
            wrong += found[i] != mark;
    }
    bc_coarray_destroy(&entered);
    free(found);
    return wrong;
}

/* Returns the error of a counter on rank 0, which each rank in its turn raises by 1 with a get and
   a put. */
static int64_t check_turns(const struct syncbench_kind *kind, struct syncbench_team *team, int rank,
                           int ranks)
{
    struct bc_coarray total;
    bc_coarray_create(&total, MPI_COMM_WORLD, 1);
    double count;
    for (int round = 0; round < ROUNDS; round++) {
        kind->enter(team);
        bc_coarray_get(&total, 0, 0, &count, 1, MPI_DOUBLE);
        bc_sync_memory(&total);
        if (round % ranks == rank)
            come_late();
        count += 1.0;
        bc_coarray_put(&total, 0, 0, &count, 1, MPI_DOUBLE);
        bc_sync_memory(&total);
        kind->leave(team);
    }
    bc_sync_all(&total);
    const int64_t missing = rank == 0 ? (int64_t)ranks * ROUNDS - (int64_t)total.values[0] : 0;
    bc_coarray_destroy(&total);
    return missing;
}

int64_t syncbench_check(const struct bc_job *job, const struct syncbench_kind *kind,
                        struct syncbench_team *team)
{
    return kind->set == SYNCBENCH_TURNS ? check_turns(kind, team, job->rank, job->ranks)
                                        : check_waiting(kind, team, job->rank, job->ranks);
}
