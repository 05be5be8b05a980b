#include "monitor/ticks.h"

#include "common/stats/stats.h"

bool ticks_are_tsc;

/* One moment on both clocks. */
struct moment {
    uint64_t ticks;
    int64_t monotonic_ns;
};

static struct moment origin;

/* Reads both clocks several times and keeps the fastest reading, which no interrupt has
   disturbed. */
static struct moment moment_now(void)
{
    enum { TRIES = 20 };
    struct moment best = {0};
    int64_t best_ns = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const int64_t before_ns = bc_source_monotonic_ns();
        const uint64_t ticks = ticks_now();
        const int64_t took_ns = bc_source_monotonic_ns() - before_ns;
        if (took_ns < best_ns) {
            best_ns = took_ns;
            best = (struct moment){ticks, before_ns + took_ns / 2};
        }
    }
    return best;
}

__attribute__((constructor)) static void start(void)
{
    ticks_are_tsc = bc_source_has_ticks();
    origin = moment_now();
}

double ticks_ns(void)
{
    enum { LEAST_NS = 10000000 };
    if (!ticks_are_tsc)
        return 1.0;
    struct moment now;
    do
        now = moment_now();
    while (now.monotonic_ns - origin.monotonic_ns < LEAST_NS);
    return (double)(now.monotonic_ns - origin.monotonic_ns) / (double)(now.ticks - origin.ticks);
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
