/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which monitor_overhead times its loops, with loops whose times the test sets:
 * whatever a loop's place among the others adds to its time, the difference is what the monitor
 * adds. Run on 1 rank.
 */
#include "helpers.h"

#include "monitor/overhead/kernel.h"

#include <mpi.h>
#include <stdbool.h>

enum { REPETITIONS = 100, DIRECT_NS = 50, ADDED_NS = 7, EXTRA_NS = 1000 };

static struct monitor_bench bench;

/* ---- loops ----------------------------------------------------------------------------------- */

enum kind { NO_LOOP, MONITORED, DIRECT };

/* Time added to a loop's own time, in ns per repetition. */
static int64_t (*extra_ns)(enum kind kind);

static int place;              /* of the loop in its round, from 0 on */
static enum kind before;       /* kind of the previous loop of the round */
static int64_t puts_in_flight; /* at the start of the loop */

static int64_t run_loop(enum kind kind, int64_t repetitions)
{
    if (repetitions == 1)
        return DIRECT_NS; /* not timed: belongs to the next loop */
    const int64_t each_ns = DIRECT_NS + (kind == MONITORED ? ADDED_NS : 0) + extra_ns(kind);
    place++;
    before = kind;
    puts_in_flight += repetitions;
    return repetitions * each_ns;
}

static int64_t monitored(struct monitor_bench *unused, int64_t repetitions)
{
    return run_loop(MONITORED, repetitions);
}

static int64_t direct(struct monitor_bench *unused, int64_t repetitions)
{
    return run_loop(DIRECT, repetitions);
}

/* Completes the puts. */
int MPI_Win_flush_all(MPI_Win win)
{
    puts_in_flight = 0;
    return PMPI_Win_flush_all(win);
}

/* Checks the difference that a round finds. */
static void assert_added(int64_t (*extra)(enum kind kind))
{
    static const struct monitor_call call = {"MPI_Put", monitored, direct};
    double values[2];
    extra_ns = extra;
    place = 0;
    before = NO_LOOP;
    puts_in_flight = 0;
    monitor_take(&bench, &call, REPETITIONS, values);
    assert_near(values[0] - values[1], ADDED_NS * REPETITIONS, 1e-6);
    assert_true(values[1] >= DIRECT_NS * REPETITIONS);
}

/* ---- what is added to a loop's time ---------------------------------------------------------- */

static int64_t nothing(enum kind kind) { return 0; }

static int64_t later_ones(enum kind kind) { return (int64_t)place * EXTRA_NS; }

static int64_t first_one(enum kind kind) { return place == 0 ? EXTRA_NS : 0; }

static int64_t every_second_one(enum kind kind) { return place % 2 != 0 ? EXTRA_NS : 0; }

static int64_t after_a_monitored_one(enum kind kind) { return before == MONITORED ? EXTRA_NS : 0; }

static int64_t after_another_kind(enum kind kind)
{
    return before != NO_LOOP && before != kind ? EXTRA_NS : 0;
}

static int64_t while_puts_are_in_flight(enum kind kind)
{
    return kind == DIRECT && puts_in_flight > 0 ? EXTRA_NS : 0;
}

TEST(what_a_loop_pays_for_its_place_cancels)
{
    assert_added(nothing);
    assert_added(later_ones);
    assert_added(first_one);
    assert_added(every_second_one);
    assert_added(after_a_monitored_one);
    assert_added(after_another_kind);
}

TEST(puts_are_complete_before_the_next_loop) { assert_added(while_puts_are_in_flight); }

static void create_bench(void) { monitor_bench_create(&bench); }

static void destroy_bench(void) { monitor_bench_destroy(&bench); }

const struct test_program test_program = {
    .mpi = true, .set_up = create_bench, .tear_down = destroy_bench};
