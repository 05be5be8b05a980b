/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/clock.h"

#include "common/clock/ticks.h"
#include "common/stats/stats.h"

#include <mpi.h>

/* Duration of the measurement of the time stamp counter's rate. */
enum { MEASURE_TICK_NS = 20000000 };

static int64_t read_wtime(void) { return (int64_t)(MPI_Wtime() * 1e9); }

int64_t (*bc_clock_read)(void) = bc_source_monotonic_ns;

/* Nanoseconds per tick, as a fixed-point number with 32 fractional bits. */
static uint64_t tsc_ns_per_tick;
static uint64_t tsc_origin;

static int64_t read_tsc(void)
{
    return (int64_t)((unsigned __int128)(bc_source_ticks() - tsc_origin) * tsc_ns_per_tick >> 32);
}

static bool select_tsc(void)
{
    if (!bc_source_has_ticks())
        return false;
    const struct bc_moment origin = bc_moment_now(bc_source_ticks);
    const double tick_ns = bc_tick_ns(&origin, MEASURE_TICK_NS, bc_source_ticks);
    tsc_ns_per_tick = (uint64_t)(tick_ns * 4294967296.0 + 0.5);
    tsc_origin = origin.ticks;
    bc_clock_read = read_tsc;
    return true;
}

bool bc_clock_select(enum bc_clock_kind kind)
{
    if (kind == BC_CLOCK_TSC)
        return select_tsc();
    if (kind != BC_CLOCK_MONOTONIC && kind != BC_CLOCK_WTIME)
        return false;
    bc_clock_read = kind == BC_CLOCK_WTIME ? read_wtime : bc_source_monotonic_ns;
    return true;
}

double bc_elapsed_s(void) { return (double)bc_source_monotonic_ns() * 1e-9; }

/* Lowers *step_ns to the smallest step above 0 of a few readings. */
static void note_smallest_step(int64_t *step_ns)
{
    enum { READS = 40 };
    int64_t last_ns = bc_now_ns();
    for (int i = 0; i < READS; i++) {
        const int64_t now_ns = bc_now_ns();
        if (now_ns > last_ns && now_ns - last_ns < *step_ns)
            *step_ns = now_ns - last_ns;
        last_ns = now_ns;
    }
}

struct bc_clock_cost bc_clock_measure(void)
{
    /* Stops early if the clock stands still for STILL_BATCHES batches, as simulated time does: a
       thousand simulated ranks would take long. */
    enum { BATCHES = 101, READS = 400, STILL_BATCHES = 3 };
    double read_ns[BATCHES];
    int64_t step_ns = INT64_MAX, moved_ns = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        /* Only readings: a comparison after each would add 5 % to its time. */
        const int64_t start_ns = bc_now_ns();
        for (int i = 1; i < READS; i++)
            bc_now_ns();
        const int64_t taken_ns = bc_now_ns() - start_ns;
        read_ns[batch] = (double)taken_ns / READS;
        moved_ns += taken_ns;
        note_smallest_step(&step_ns);
        if (batch + 1 == STILL_BATCHES && moved_ns == 0 && step_ns == INT64_MAX)
            return (struct bc_clock_cost){0.0, 0.0};
    }
    return (struct bc_clock_cost){
        .read_ns = bc_median(read_ns, BATCHES),
        .resolution_ns = step_ns == INT64_MAX ? 0.0 : (double)step_ns,
    };
}
