/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts on a shared clock if clocks are odd; tests/virtual/clock_test.py has clocks that differ.
 */
#include "ranks.h"

#include "common/clock/clock.h"
#include "common/run/run.h"
#include "common/sync_clock/start_window.h"

static struct bc_job job;

static int64_t standing_clock(void) { return 42; }

/* Jumps by a tenth of a second at each 10,000th reading. */
static int64_t jumping_clock(void)
{
    static int64_t readings;
    return ++readings / 10000 * 100000000;
}

/* No wait is endless on a clock that stands still or jumps, as clocks of simulations may. */
TEST(odd_clocks_end)
{
    static int64_t (*const clocks[])(void) = {standing_clock, jumping_clock};
    const struct bc_clock_cost cost = {0.0, 0.0};
    int64_t (*const usual_clock)(void) = bc_clock_read;
    for (int i = 0; i < 2; i++) {
        bc_clock_read = clocks[i];
        struct bc_start_window *const window = bc_start_window_create(&job, &cost, 0.2);
        for (int j = 0; j < 10; j++)
            bc_start_window_wait(window);
        bc_start_window_destroy(window);
    }
    bc_clock_read = usual_clock;
    bc_start_window_destroy(NULL);
}

static void describe_job(void) { bc_job_describe(&job); }

static void free_job(void) { bc_job_free(&job); }

const struct test_program test_program = {
    .mpi = true, .set_up = describe_job, .tear_down = free_job};
