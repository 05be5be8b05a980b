/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/common_clock.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/sync_clock/global_clock.h"
#include "monitor/lib/count/ticks.h"

#include <math.h>

static struct {
    int comparisons;
    uint64_t base_ticks; /* when the time is 0: the same on all ranks of a node ... */
    double tick_ns;      /* ... as is this */
    struct bc_global_clock *clock;
} own;

/* Returns the time on this rank's clock. */
static int64_t time_of(uint64_t ticks)
{
    return llround((double)(int64_t)(ticks - own.base_ticks) * own.tick_ns);
}

static int64_t now_ns(void) { return time_of(ticks_now()); }

/* Makes the ranks of a node count from the same tick with the same length, if their ticks are of
   the same clock. */
static void begin_to_count(MPI_Comm node)
{
    struct {
        uint64_t base_ticks;
        double tick_ns;
        bool are_tsc;
    } of_own = {ticks_now(), ticks_ns(), ticks_are_tsc}, counted = of_own;
    BC_MPI(PMPI_Bcast(&counted, sizeof counted, MPI_BYTE, 0, node));
    if (counted.are_tsc != of_own.are_tsc)
        counted = of_own;
    own.base_ticks = counted.base_ticks;
    own.tick_ns = counted.tick_ns;
    bc_clock_read = now_ns;
}

int common_clock_compare(const struct bc_job *job)
{
    bc_harness_choose(job->oversubscribed);
    if (own.clock == NULL) {
        begin_to_count(job->node_comm);
        own.clock = bc_global_clock_create(job, 0.0, BC_WHOLE_PAST);
    } else {
        bc_global_clock_connect(own.clock, job);
        bc_global_clock_update(own.clock);
    }
    bc_global_clock_disconnect(own.clock);
    return ++own.comparisons;
}

double common_clock_ns(uint64_t ticks)
{
    return (double)bc_clock_model_reference(bc_global_clock_model(own.clock), time_of(ticks));
}

double common_clock_error_ns(uint64_t ticks)
{
    return bc_clock_bound_ns(bc_global_clock_bound(own.clock), time_of(ticks));
}

double common_clock_max_error_ns(void)
{
    const struct bc_clock_bound *const bound = bc_global_clock_bound(own.clock);
    return fmax(bound->first_error_ns, bound->last_error_ns);
}
