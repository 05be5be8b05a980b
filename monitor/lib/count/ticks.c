/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/ticks.h"

#include "common/stats/stats.h"

bool ticks_are_tsc;

static struct bc_moment origin;

__attribute__((constructor)) static void start(void)
{
    ticks_are_tsc = bc_source_has_ticks();
    origin = bc_moment_now(ticks_now);
}

double ticks_ns(void)
{
    enum { MIN_NS = 10000000 };
    return ticks_are_tsc ? bc_tick_ns(&origin, MIN_NS, ticks_now) : 1.0;
}

uint64_t ticks_cost(void)
{
    enum { BATCHES = 101, READINGS = 64 };
    static uint64_t cost;
    if (cost != 0)
        return cost;
    double batches[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        const uint64_t start = ticks_now();
        uint64_t last = start;
        for (int i = 0; i < READINGS; i++)
            last = ticks_now();
        batches[batch] = (double)(last - start) / READINGS;
    }
    cost = (uint64_t)(bc_median(batches, BATCHES) + 0.5);
    return cost;
}

const char *ticks_clock(void) { return ticks_are_tsc ? "tsc" : "monotonic"; }
