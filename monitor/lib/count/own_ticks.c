/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/own_ticks.h"

#include "common/stats/stats.h"
#include "monitor/lib/count/followed.h"

/* A gap between two calls counts as computation if it is at least this long, and at least as long
   as the monitor's own time. */
#define GAP_MIN_NS 100.0

static uint64_t longer(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t without(uint64_t ticks, uint64_t reading_ticks)
{
    return ticks > reading_ticks ? ticks - reading_ticks : 0;
}

static struct inside_own own_in_snapshot(uint64_t reading_ticks)
{
    enum { ROUNDS = 101 };
    double before_operation[ROUNDS], after_operation[ROUNDS];
    double before_exit[ROUNDS], after_call[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        struct operation operation;
        struct mpi_call call;
        inside.callers = 0; /* as in a new call */
        const uint64_t called_ticks = ticks_now();
        operation_begin_at(&operation, OPERATION_Send, OTHER_COMMUNICATORS, (struct sent){0},
                           false);
        const uint64_t end_ticks = ticks_now();
        operation_end(&operation, end_ticks, 0);
        operation_left(&operation, end_ticks);
        before_operation[i] = (double)(operation.start_ticks - called_ticks);
        after_operation[i] = (double)(ticks_now() - end_ticks);
        inside.callers = 0;
        call_enter(&call, OPERATION_OTHER_MPI);
        const uint64_t returned_ticks = ticks_now();
        call_left(&call, NO_COMMUNICATOR, 0);
        after_call[i] = (double)(ticks_now() - inside.left_ticks);
        before_exit[i] = (double)(inside.left_ticks - returned_ticks);
    }
    const uint64_t before_ticks = (uint64_t)bc_median(before_operation, ROUNDS);
    const uint64_t after_ticks = (uint64_t)bc_median(after_operation, ROUNDS);
    return (struct inside_own){
        .reading = reading_ticks,
        .posted = inside_own.posted,
        .before_operation = without(before_ticks, reading_ticks),
        .after_operation = after_ticks,
        .before_exit = without((uint64_t)bc_median(before_exit, ROUNDS), reading_ticks),
        .after_call = (uint64_t)bc_median(after_call, ROUNDS),
        .gap = longer(before_ticks + after_ticks, (uint64_t)(GAP_MIN_NS / ticks_ns())),
    };
}

/* Measures in a snapshot that counts calls, at their sites if asked. If memory runs out, nothing is
   known. */
static void measure_own(uint64_t reading_ticks, int site)
{
    const MPIX_Monitor handle = {.profile = 1, .pttopt = 1, .calls = 1, .site = site};
    struct snapshot *const snapshot = snapshot_create(&handle, NULL);
    if (snapshot == NULL)
        return;
    monitor_lock();
    const bool is_started = snapshot_start(snapshot);
    monitor_unlock();
    if (is_started) {
        inside_own = own_in_snapshot(reading_ticks);
        snapshot_stop(snapshot);
    }
    snapshot_free(snapshot);
}

void own_ticks_measure(int site)
{
    const uint64_t reading_ticks = ticks_cost();
    inside_own.posted = followed_own_ticks();
    inside_own.reading = reading_ticks;
    between_start();
    measure_own(reading_ticks, site);
}
