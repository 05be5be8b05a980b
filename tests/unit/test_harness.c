/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives whose waiting ranks leave the processor to others, in virtual time.
 */
#include "ranks.h"

#include "common/clock/clock.h"
#include "common/clock/source.h"
#include "common/mpi/harness.h"

/* How long the last rank lets the others wait. */
#define WAIT_NS 400000000

/* The linker sends all calls of bc_sleep_ns here. */
static int64_t slept_ns;
void __real_bc_sleep_ns(int64_t ns); /* NOLINT(clang-diagnostic-reserved-identifier) */
void __wrap_bc_sleep_ns(int64_t ns); /* NOLINT(clang-diagnostic-reserved-identifier) */
void __wrap_bc_sleep_ns(int64_t ns)  /* NOLINT(clang-diagnostic-reserved-identifier) */
{
    slept_ns += ns;
    __real_bc_sleep_ns(ns);
}

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

/* ---- waiting --------------------------------------------------------------------------------- */

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

/* Nearly all of the time, and they soon notice the end of it. */
TEST(those_who_wait_sleep)
{
    static void (*const waits[])(void) = {wait_barrier, wait_bcast, wait_reduce, wait_allreduce};
    bc_harness_choose(true);
    for (size_t i = 0; i < COUNT(waits); i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start_s = bc_elapsed_s();
        if (rank == 0)
            __real_bc_sleep_ns(WAIT_NS);
        slept_ns = 0;
        waits[i]();
        if (rank != 0)
            assert_in_range(slept_ns, 0.9 * WAIT_NS, WAIT_NS + 10000000);
        assert_near(bc_elapsed_s() - start_s, 1e-9 * WAIT_NS, 0.01);
    }
}

static void wait_release(void) { bc_harness_release(MPI_COMM_WORLD); }

static void wait_release_allreduce(void)
{
    int value = 0, sum;
    bc_harness_release_allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Ranks that are released into a timed region leave at once, but not before the last rank has come.
 */
TEST(those_who_are_released_do_not_sleep)
{
    static void (*const waits[])(void) = {wait_release, wait_release_allreduce};
    bc_harness_choose(true);
    for (size_t i = 0; i < COUNT(waits); i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start_s = bc_elapsed_s();
        if (rank == 0)
            __real_bc_sleep_ns(WAIT_NS / 1000);
        slept_ns = 0;
        waits[i]();
        assert_int_equal(slept_ns, 0);
        assert_near(bc_elapsed_s() - start_s, 1e-12 * WAIT_NS, 5e-13 * WAIT_NS);
    }
}

const struct test_program test_program = {.mpi = true};
