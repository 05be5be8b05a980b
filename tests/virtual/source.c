/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for common/clock/source.c: time is this rank's clock. */
#include "common/clock/source.h"
#include "common/work/work.h"

#include "tests/virtual/clock.h"

int64_t bc_source_monotonic_ns(void) { return clock_read_ns(); }

bool bc_source_has_ticks(void) { return true; }

uint64_t bc_source_ticks(void) { return clock_read_ticks(); }

uint64_t bc_work(uint64_t units)
{
    clock_work(units);
    return units;
}

void bc_sleep_ns(int64_t ns) { clock_sleep(ns); }
