/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/ticks.h"

struct bc_moment bc_moment_now(uint64_t (*read)(void))
{
    enum { TRIES = 20 };
    struct bc_moment best = {0};
    int64_t best_ns = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const int64_t before_ns = bc_source_monotonic_ns();
        const uint64_t ticks = read();
        const int64_t took_ns = bc_source_monotonic_ns() - before_ns;
        if (took_ns < best_ns) {
            best_ns = took_ns;
            best = (struct bc_moment){ticks, before_ns + took_ns / 2};
        }
    }
    return best;
}

double bc_tick_ns(const struct bc_moment *origin, int64_t min_ns, uint64_t (*read)(void))
{
    struct bc_moment now;
    do
        now = bc_moment_now(read);
    while (now.monotonic_ns - origin->monotonic_ns < min_ns);
    return (double)(now.monotonic_ns - origin->monotonic_ns) / (double)(now.ticks - origin->ticks);
}
