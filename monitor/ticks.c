#include "monitor/ticks.h"

#include "common/stats/stats.h"

#if HAVE_TSC
#include <cpuid.h>
#endif

bool ticks_are_tsc;

/* One moment on both clocks. */
struct moment {
    uint64_t ticks;
    uint64_t monotonic_ns;
};

static struct moment origin;

/* Reads both clocks several times and keeps the fastest reading, which no interrupt has
   disturbed. */
static struct moment moment_now(void)
{
    enum { TRIES = 20 };
    struct moment best = {0};
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before_ns = monotonic_ns();
        const uint64_t ticks = ticks_now();
        const uint64_t took_ns = monotonic_ns() - before_ns;
        if (took_ns < best_ns) {
            best_ns = took_ns;
            best = (struct moment){ticks, before_ns + took_ns / 2};
        }
    }
    return best;
}

/* CPUID leaf 0x80000007, EDX bit 8: the counter runs at a constant rate in every power state. */
static bool tsc_is_invariant(void)
{
#if HAVE_TSC
    unsigned int a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
#else
    return false;
#endif
}

__attribute__((constructor)) static void start(void)
{
    ticks_are_tsc = tsc_is_invariant();
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
