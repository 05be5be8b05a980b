/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for common/clock/source.c: time is this rank's clock. */
#include "common/clock/source.h"
#include "common/work/work.h"

#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"

#include <stdlib.h>

int64_t bc_source_monotonic_ns(void) { return clock_read_ns(); }

bool bc_source_has_ticks(void) { return true; }

uint64_t bc_source_ticks(void) { return clock_read_ticks(); }

/* Only what a test plants (machine.c). */
bool bc_source_has_hardware(void)
{
    return getenv("VIRTUAL_LINK_MBITS") != NULL || parameters.memcpy_byte_ns > 0.0;
}

uint64_t bc_work(uint64_t units)
{
    clock_work(units);
    return units;
}

void bc_sleep_ns(int64_t ns) { clock_sleep(ns); }
