/*
 * Collectives whose waiting ranks leave the processor to others. For 2 ranks or more.
 */
#include "ranks.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"

#include <mpi.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

/* How long rank 0 lets the others wait. */
#define WAIT_S 0.4

static double processor_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* ---- results --------------------------------------------------------------------------------- */

/* A value and the rank that has it, as the sampler reduces them. */
struct located_value {
    double value;
    int rank;
};

static int wrong_results(int root)
{
    enum { COUNT = 1000 };
    int wrong = 0;
    int64_t order[2] = {rank == root ? 42 : 0, rank == root ? -root : 0};
    bc_harness_bcast(order, 2, MPI_INT64_T, root, MPI_COMM_WORLD);
    wrong += order[0] != 42 || order[1] != -root;

    static struct located_value mine[COUNT], slowest[COUNT];
    for (int i = 0; i < COUNT; i++)
        mine[i] = (struct located_value){(rank + i) % ranks, rank};
    memset(slowest, 0, sizeof slowest);
    bc_harness_reduce(mine, slowest, COUNT, MPI_DOUBLE_INT, MPI_MAXLOC, root, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT && rank == root; i++)
        wrong += slowest[i].value != ranks - 1 || (slowest[i].rank + i) % ranks != ranks - 1;

    int flags[2] = {rank, -rank};
    bc_harness_allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    wrong += flags[0] != ranks - 1 || flags[1] != 0;
    return wrong;
}

TEST(results_are_right)
{
    int wrong[2] = {0, 0};
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        bc_harness_choose(sleeps != 0);
        for (int i = 0; i < 100; i++)
            wrong[sleeps] += wrong_results(i % ranks);
    }
    assert_int_equal(wrong[0], 0);
    assert_int_equal(wrong[1], 0);
}

static bool lets_out_too_early(void (*barrier)(MPI_Comm))
{
    bool too_early = false;
    for (int i = 0; i < 2 * ranks; i++) {
        bc_harness_choose(i >= ranks);
        MPI_Barrier(MPI_COMM_WORLD);
        const int last = i % ranks;
        double entered_s = 0.0;
        if (rank == last) {
            sleep_s(0.02);
            entered_s = bc_elapsed_s();
        }
        barrier(MPI_COMM_WORLD);
        const double left_s = bc_elapsed_s();
        MPI_Bcast(&entered_s, 1, MPI_DOUBLE, last, MPI_COMM_WORLD);
        too_early = too_early || left_s < entered_s;
    }
    return too_early;
}

TEST(barriers_wait_for_the_last)
{
    const bool barrier_wrong = lets_out_too_early(bc_harness_barrier);
    const bool release_wrong = lets_out_too_early(bc_harness_release);
    assert_false(barrier_wrong);
    assert_false(release_wrong);
}

/* ---- waiting --------------------------------------------------------------------------------- */

typedef void wait_fn(void);

static void wait_barrier(void) { bc_harness_barrier(MPI_COMM_WORLD); }

static void wait_bcast(void)
{
    int value = 0;
    bc_harness_bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void wait_allreduce(void)
{
    int value = 0, sum;
    bc_harness_allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Rank 0 comes last. The last rank is the root and waits for it in the reduction, the others only
   in the barrier that follows. */
static void wait_reduce(void)
{
    int value = 0, sum;
    bc_harness_reduce(&value, &sum, 1, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
    bc_harness_barrier(MPI_COMM_WORLD);
}

TEST(those_who_wait_sleep)
{
    static wait_fn *const waits[] = {wait_barrier, wait_bcast, wait_reduce, wait_allreduce};
    enum { WAITS = sizeof waits / sizeof *waits };
    double used_s[WAITS] = {0}, took_s[WAITS] = {0};
    bc_harness_choose(true);
    for (int i = 0; i < WAITS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start_s = bc_elapsed_s();
        const double used_before_s = processor_s();
        if (rank == 0)
            sleep_s(WAIT_S);
        waits[i]();
        took_s[i] = bc_elapsed_s() - start_s;
        used_s[i] = processor_s() - used_before_s;
    }
    for (int i = 0; i < WAITS; i++) {
        assert_true(took_s[i] > 0.9 * WAIT_S);
        assert_true(used_s[i] < 0.1 * WAIT_S);
    }
}

/* Ranks soon notice the end of a wait. */
TEST(those_who_sleep_wake_up)
{
    enum { TIMES = 100 };
    const double pause_s = 0.003;
    bc_harness_choose(true);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = bc_elapsed_s();
    for (int i = 0; i < TIMES; i++) {
        if (rank == 0)
            sleep_s(pause_s);
        wait_allreduce();
    }
    const double each_s = (bc_elapsed_s() - start_s) / TIMES;
    assert_true(each_s < pause_s + 0.01);
}

const struct test_program test_program = {.mpi = true};
