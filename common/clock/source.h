/*
 * Where time comes from: the only functions of a benchmark that read the machine's clocks, work, or
 * sleep. Tests link other definitions of them, in which time is virtual (tests/virtual) or
 * simulated (tests/simulation). All functions are local.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads CLOCK_MONOTONIC. */
int64_t bc_source_monotonic_ns(void);

/* Whether there is a time stamp counter whose rate is constant in every power state; and a reading
   of it, which waits for all earlier instructions and keeps later ones behind it. */
bool bc_source_has_ticks(void);
uint64_t bc_source_ticks(void);

/* Does `units` units of work: a chain of steps, each of which needs the result of the one before.
   The result depends on every step; callers may ignore it. */
uint64_t bc_work(uint64_t units);

/* Sleeps for `ns` nanoseconds; a signal ends the sleep earlier. */
void bc_sleep_ns(int64_t ns);
