#include "statistics.h"

#include <math.h>

static double clock_cost_ns;

/* Numbers the operations of this process; see MODEL_SEED. */
static atomic_uint_fast64_t operations_posted;

void timing_start(void)
{
    enum { BATCHES = 50, READINGS = 1000 };

    /* The mean over a batch resolves better than the clock does; the quickest batch wasn't interrupted. */
    clock_cost_ns = INFINITY;
    for (int batch = 0; batch < BATCHES; batch++) {
        const int64_t begin_ns = clock_now_ns();
        int64_t end_ns = begin_ns;
        for (int reading = 0; reading < READINGS; reading++)
            end_ns = clock_now_ns();
        clock_cost_ns = fmin(clock_cost_ns, (double)(end_ns - begin_ns) / READINGS);
    }
    series_start();
}

double timing_clock_cost_ns(void)
{
    return clock_cost_ns;
}

/* Returns the last clock reading, which is at least end_ns. Reads the clock at least once. */
static int64_t spin_until(int64_t end_ns)
{
    int64_t now_ns;
    do
        now_ns = clock_now_ns();
    while (now_ns < end_ns);
    return now_ns;
}

/*
 * Whether the next operation is late: the same decision on every rank without a word between them.
 * The hash is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
 */
static bool next_is_late(void)
{
    const uint64_t number = atomic_fetch_add_explicit(&operations_posted, 1, memory_order_relaxed);
    uint64_t hash = (uint64_t)model.seed * UINT64_C(0xd1342543de82ef95) + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    hash ^= hash >> 31;
    const double uniform = (double)(hash >> 11) * 0x1p-53; /* in [0, 1) */
    return uniform < model.late_share;
}

void timing_post(struct timing *timing, enum operation_kind kind, int64_t bytes, int64_t post_ns)
{
    const int64_t duration_ns = llround(model.duration_ns + model.per_byte_ns * (double)bytes);
    const int64_t autonomous_ns = llround(model.fraction * (double)duration_ns);

    timing->series = series_find(kind, duration_ns, bytes);
    timing->autonomous_end_ns = post_ns + autonomous_ns;
    timing->host_ns = duration_ns - autonomous_ns;
    if (next_is_late()) {
        timing->autonomous_end_ns += (int64_t)model.late_ns;
        atomic_fetch_add_explicit(&timing->series->late, 1, memory_order_relaxed);
    }

    /* Time after the last reading isn't measured, so nothing is left to do then but one store. */
    int64_t *sample = series_next_post(timing->series);
    *sample = spin_until(post_ns + (int64_t)model.post_ns) - post_ns;
}

bool timing_autonomous_done(const struct timing *timing, int64_t now_ns)
{
    return now_ns >= timing->autonomous_end_ns;
}

void timing_complete(const struct timing *timing, int64_t wait_ns)
{
    const int64_t autonomous_end_ns = wait_ns > timing->autonomous_end_ns ? wait_ns : timing->autonomous_end_ns;
    const int64_t completion_ns = autonomous_end_ns + timing->host_ns;

    int64_t *sample = series_next_extra(timing->series);
    *sample = spin_until(completion_ns + (int64_t)model.wait_ns) - completion_ns;
}
