#include "syncbench/check.h"

#include "common/clock.h"
#include "common/mpi_check.h"
#include "common/quiet.h"

/* Synchronisations that are checked. */
enum { ROUNDS = 20 };

/* How late a rank comes: long against what letting others out too early takes. */
#define LATE_S 300e-6

/* In MPI calls, since where the network doesn't serve a put by itself those of the
   others would wait for this rank, and so for what they mustn't wait for here. */
static void come_late(void)
{
    const double end_s = bc_elapsed_s() + LATE_S;
    int ignored;
    do
        BC_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ignored,
                          MPI_STATUS_IGNORE));
    while (bc_elapsed_s() < end_s);
}

static void synchronise(const struct syncbench_kind *kind,
                        struct syncbench_team *team)
{
    kind->enter(team);
    kind->leave(team);
}

/* The ranks that this one waits for, as a list of their own or, for everyone, all
   of them. */
struct awaited {
    const struct syncbench_kind *kind;
    const struct syncbench_team *team;
    int ranks;
};

static int awaited_count(const struct awaited *awaited)
{
    return awaited->kind->set == SYNCBENCH_EVERYONE
               ? awaited->ranks
               : awaited->team->images.count;
}

static int awaited_rank(const struct awaited *awaited, int i)
{
    return awaited->kind->set == SYNCBENCH_EVERYONE
               ? i
               : awaited->team->images.ranks[i];
}

/* Every rank leaves the number of the round in its place at each rank that waits for
   it, where it is before the rank goes in; who comes out must find it. */
static int64_t check_waiting(const struct awaited *awaited,
                             struct syncbench_team *team, int rank)
{
    struct bc_coarray entered; /* by each rank: the last round */
    int64_t wrong = 0;
    bc_coarray_create(&entered, MPI_COMM_WORLD, awaited->ranks);
    for (int round = 1; round <= ROUNDS; round++) {
        const double number = round;
        if (rank == round % awaited->ranks)
            come_late();
        for (int i = 0; i < awaited_count(awaited); i++)
            bc_coarray_put(&entered, awaited_rank(awaited, i), rank, &number, 1);
        bc_sync_memory(&entered);
        synchronise(awaited->kind, team);
        bc_sync_memory(&entered);
        for (int i = 0; i < awaited_count(awaited); i++)
            wrong += entered.values[awaited_rank(awaited, i)] < number;
    }
    bc_coarray_destroy(&entered);
    return wrong;
}

/* A count on rank 0 that every rank reads, and writes one more after a while: right
   only if no other does so meanwhile. */
static int64_t check_turns(const struct syncbench_kind *kind,
                           struct syncbench_team *team, int rank, int ranks)
{
    struct bc_coarray total;
    bc_coarray_create(&total, MPI_COMM_WORLD, 1);
    double count;
    for (int round = 0; round < ROUNDS; round++) {
        kind->enter(team);
        bc_coarray_get(&total, 0, 0, &count, 1);
        bc_sync_memory(&total);
        if (round % ranks == rank)
            come_late();
        count += 1.0;
        bc_coarray_put(&total, 0, 0, &count, 1);
        bc_sync_memory(&total);
        kind->leave(team);
    }
    bc_sync_all(&total);
    const int64_t missing =
        rank == 0 ? (int64_t)ranks * ROUNDS - (int64_t)total.values[0] : 0;
    bc_coarray_destroy(&total);
    return missing;
}

int64_t syncbench_check(const struct syncbench_kind *kind,
                        struct syncbench_team *team)
{
    int rank, ranks;
    int64_t wrong = 0, sum = 0;
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (kind->set == SYNCBENCH_TURNS)
        wrong = check_turns(kind, team, rank, ranks);
    else
        wrong = check_waiting(&(struct awaited){kind, team, ranks}, team, rank);
    bc_quiet_reduce(&wrong, &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum;
}
