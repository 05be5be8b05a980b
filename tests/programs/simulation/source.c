/* SPDX-License-Identifier: BSD-3-Clause */
/* Time on a simulated machine: a unit of work takes 1 ns of it. SMPI stands in for the C library's
   clock and sleep. */
#include "common/clock/source.h"
#include "common/work/work.h"

#include <mpi.h>
#include <time.h>

int64_t bc_source_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool bc_source_has_ticks(void) { return false; }

uint64_t bc_source_ticks(void) { return 0; }

bool bc_source_has_hardware(void) { return false; }

uint64_t bc_work(uint64_t units)
{
    if (units > 0)
        smpi_execute_benched((double)units * 1e-9);
    return units;
}

void bc_sleep_ns(int64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&pause, NULL);
}

struct bc_work_rate bc_work_calibrate(void) { return (struct bc_work_rate){.ns_per_unit = 1.0}; }
