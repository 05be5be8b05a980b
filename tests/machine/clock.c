/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock costs: bc_clock_measure's, beside a bare loop of readings that CLOCK_MONOTONIC times. */
#include "common/clock/clock.h"
#include "common/stats/stats.h"
#include "tests/machine/in_process.h"

#include <time.h>

enum { READINGS = 400, BATCHES = 101, TURNS = 10 };

static double measured_ns(void *context)
{
    (void)context;
    return bc_clock_measure().read_ns;
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The median of loops as short as bc_clock_measure's, since long ones are interrupted. */
static double bare_ns(void *context)
{
    double batches_ns[BATCHES];
    (void)context;
    for (int batch = 0; batch < BATCHES; batch++) {
        const double start_ns = now_ns();
        for (int i = 0; i < READINGS; i++)
            bc_now_ns();
        batches_ns[batch] = (now_ns() - start_ns) / READINGS;
    }
    return bc_median(batches_ns, BATCHES);
}

static void pairs_of(enum bc_clock_kind kind, const char *name)
{
    if (!bc_clock_select(kind))
        in_process_not_here("there is no time stamp counter of constant rate");
    in_process_pair(name, measured_ns, bare_ns, NULL, TURNS);
}

void clock_pairs(void)
{
    pairs_of(BC_CLOCK_MONOTONIC, "clock_gettime");
    pairs_of(BC_CLOCK_WTIME, "MPI_Wtime");
}

void tsc_pairs(void) { pairs_of(BC_CLOCK_TSC, "time stamp counter"); }
