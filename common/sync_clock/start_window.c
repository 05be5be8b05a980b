/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/sync_clock/start_window.h"

#include "common/memory/allocate.h"
#include "common/mpi/harness.h"
#include "common/result/warnings.h"
#include "common/sync_clock/global_clock.h"

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

/* A rank's slack changes by SLACK_RAISE after it was late, by SLACK_LOWER after it had more than
   half of it left. The first slack lies between the needs of a node and of a network. */
#define SLACK_FIRST_NS 10000.0
#define SLACK_MIN_NS 1000.0
#define SLACK_MAX_NS 2e6
#define SLACK_RAISE 2.0
#define SLACK_LOWER 0.99

/* Tolerance of a late start, and its share for the clock's readings. */
#define LATE_NS 100.0
#define LATE_CLOCKS 4.0

/* No start is farther away than this, unless a clock was set, or stood still with its machine;
   smaller steps are noticed only by the next update. */
#define WAIT_MAX_NS 100000000

/* A rank that shares its processor yields it until this long before the start. */
#define YIELD_UNTIL_NS 50000

/* A clock that shows the same time in READINGS_MAX readings stands still, as simulated clocks
   do. */
#define READINGS_MAX 100000

/* The clock is measured again when its error may have grown by ERROR_GROWTH_NS, but that takes at
   most UPDATE_SHARE of the time. */
#define ERROR_GROWTH_NS 100.0
#define UPDATE_SHARE 0.02

struct bc_start_window {
    struct bc_global_clock *clock;
    double late_ns;
    struct bc_window_counts counts;
    bool shares_processors;
    bool clock_jumped; /* since the last measurement a clock was set, or stood still */
    double slack_ns;
    int64_t start_ns;       /* of the last round, on this rank's clock */
    int64_t next_update_ns; /* earliest time of an update, on this rank's clock */
    int64_t updates;
    double error_ns;                     /* of this rank's model, when it was last measured */
    struct bc_global_clock_report found; /* of the first measurement */
};

/* ---- the clock ------------------------------------------------------------------------------- */

static void note_update(struct bc_start_window *window, double took_s)
{
    const int64_t now_ns = bc_now_ns();
    window->error_ns = bc_global_clock_error_ns(window->clock, now_ns);
    window->next_update_ns = now_ns + (int64_t)(took_s * 1e9 / UPDATE_SHARE);
}

static bool needs_update(const struct bc_start_window *window, int64_t now_ns)
{
    return window->clock_jumped ||
           (now_ns > window->next_update_ns &&
            bc_global_clock_error_ns(window->clock, now_ns) > window->error_ns + ERROR_GROWTH_NS);
}

struct bc_start_window *bc_start_window_create(const struct bc_job *job,
                                               const struct bc_clock_cost *cost, double seconds)
{
    struct bc_start_window *const window =
        bc_allocate(1, sizeof *window, "no memory for a start window");
    window->shares_processors = job->oversubscribed;
    window->slack_ns = SLACK_FIRST_NS;
    window->late_ns = LATE_NS + LATE_CLOCKS * cost->read_ns + 2.0 * cost->resolution_ns;
    /* Other clocks have an origin or a rate that each process measures for itself. */
    const bool own_clocks = bc_clock_read != bc_source_monotonic_ns;
    window->clock = bc_global_clock_create(job, seconds, own_clocks ? BC_EVERY_RANK : 0);
    window->found = bc_global_clock_report(window->clock);
    note_update(window, 0.0);
    return window;
}

void bc_start_window_destroy(struct bc_start_window *window)
{
    if (window == NULL)
        return;
    bc_global_clock_destroy(window->clock);
    free(window);
}

/* ---- starts ---------------------------------------------------------------------------------- */

/* Agrees on a start; returns it on this rank's clock. Collective. */
static int64_t agree(struct bc_start_window *window)
{
    for (;;) {
        const int64_t now_ns = bc_now_ns();
        /* Maxima: the start on the global clock, and the need to measure that again. */
        int64_t all[2] = {bc_clock_model_reference(bc_global_clock_model(window->clock), now_ns) +
                              (int64_t)window->slack_ns,
                          needs_update(window, now_ns)};
        bc_harness_release_allreduce(MPI_IN_PLACE, all, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        if (all[1] == 0)
            return bc_clock_model_other(bc_global_clock_model(window->clock), all[0]);
        const double start_s = bc_elapsed_s();
        bc_global_clock_update(window->clock);
        window->clock_jumped = false;
        window->updates++;
        note_update(window, bc_elapsed_s() - start_s);
    }
}

static void adapt_slack(struct bc_start_window *window, double spare_ns)
{
    if (spare_ns < 0.0 && window->slack_ns < SLACK_MAX_NS)
        window->slack_ns *= SLACK_RAISE;
    else if (spare_ns > window->slack_ns / 2.0 && window->slack_ns > SLACK_MIN_NS)
        window->slack_ns *= SLACK_LOWER;
}

static void spin_until_start(const struct bc_start_window *window)
{
    const int64_t start_ns = window->start_ns;
    int64_t last_ns = 0;
    int readings = 0; /* successive readings that showed the same time */
    for (;;) {
        const int64_t now_ns = bc_now_ns();
        if (now_ns >= start_ns)
            return;
        if (now_ns != last_ns)
            readings = 0;
        last_ns = now_ns;
        if (++readings == READINGS_MAX) {
            bc_sleep_ns(start_ns - now_ns);
            return;
        }
        if (window->shares_processors && start_ns - now_ns > YIELD_UNTIL_NS)
            sched_yield();
    }
}

void bc_start_window_wait(struct bc_start_window *window)
{
    window->start_ns = agree(window);
    const int64_t now_ns = bc_now_ns();
    if (window->start_ns > now_ns + WAIT_MAX_NS) {
        window->clock_jumped = true;
        window->start_ns = now_ns - WAIT_MAX_NS; /* counts as missed */
        return;
    }
    adapt_slack(window, (double)(window->start_ns - now_ns));
    spin_until_start(window);
}

double bc_start_window_ns(const struct bc_start_window *window, double ns)
{
    return ns * (1.0 - bc_global_clock_model(window->clock)->drift);
}

double bc_start_window_offset_ns(const struct bc_start_window *window, int64_t start_ns)
{
    return (double)(start_ns - window->start_ns);
}

double bc_start_window_late_ns(const struct bc_start_window *window) { return window->late_ns; }

struct bc_window_counts *bc_start_window_counts(struct bc_start_window *window)
{
    return &window->counts;
}

/* ---- reports --------------------------------------------------------------------------------- */

void bc_start_window_describe(const struct bc_start_window *window, struct bc_output *output)
{
    const struct bc_global_clock_report *const found = &window->found;
    if (output == NULL)
        return;
    bc_output_meta(
        output, "global_clock",
        "rank 0's, by hierarchical synchronisation in %.2f s; %d ranks read their node's clock",
        found->took_s, found->shared);
    bc_output_meta(output, "global_clock_error_us", "%.3f", found->error_ns * 1e-3);
    bc_output_meta(output, "global_clock_error_growth_us_per_s", "%.3f", found->growth * 1e6);
    bc_output_meta(output, "global_clock_error_bound_us", "%.3f", found->bound_ns * 1e-3);
    bc_output_meta(output, "late_us", "%.3f", window->late_ns * 1e-3);
}

void bc_start_window_conclude(const struct bc_start_window *window, struct bc_output *output)
{
    const struct bc_global_clock_report last = bc_global_clock_report(window->clock);
    if (output == NULL)
        return;
    bc_output_meta(output, BC_NOTE_GLOBAL_CLOCK, (long long)window->counts.missed,
                   (long long)window->counts.rounds, (long long)window->updates,
                   last.error_ns * 1e-3);
}
