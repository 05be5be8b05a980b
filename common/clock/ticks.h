/* SPDX-License-Identifier: BSD-3-Clause */
/* Ticks of a counter, and their length. All functions are local. */
#pragma once

#include "common/clock/source.h"

/* One moment on both clocks. */
struct bc_moment {
    uint64_t ticks;
    int64_t monotonic_ns;
};

/* Reads both clocks several times, the ticks by `read`, and keeps the fastest reading, which no
   interrupt has disturbed. */
struct bc_moment bc_moment_now(uint64_t (*read)(void));

/* Returns nanoseconds per tick since `origin`, as soon as that is min_ns old. The older it is, the
   more accurate the result. */
double bc_tick_ns(const struct bc_moment *origin, int64_t min_ns, uint64_t (*read)(void));
