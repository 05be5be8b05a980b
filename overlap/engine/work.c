/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/work.h"

#include "common/clock/clock.h"

#include <math.h>

/* Number of runs, of which the quickest is used. */
#define RUNS 10

/* Amounts of work whose difference gives the rate. */
#define FEW_STEPS 1000
#define MANY_STEPS 11000

/* Min time of the lead, also as a multiple of the time to start the calls that follow. */
#define LEAD_NS 20000.0
#define LEAD_FACTOR 4.0

static double quickest_ns(const struct overlap_worker *worker, uint64_t steps)
{
    double ns = INFINITY;
    for (int i = 0; i < RUNS; i++)
        ns = fmin(ns, overlap_kernel_ns(worker, steps));
    return ns;
}

/* Returns the time to start an empty kernel, on the host's clock. */
static double launch_ns(const struct overlap_worker *worker)
{
    double ns = INFINITY;
    for (int i = 0; i < RUNS; i++) {
        const int64_t start_ns = bc_now_ns();
        bc_device_compute(worker->device, 0);
        ns = fmin(ns, (double)(bc_now_ns() - start_ns));
        bc_device_synchronize(worker->device);
    }
    return ns;
}

struct bc_work_rate overlap_calibrate_kernel(struct overlap_worker *worker)
{
    struct bc_work_rate rate;
    rate.ns_per_unit = (quickest_ns(worker, MANY_STEPS) - quickest_ns(worker, FEW_STEPS)) /
                       (MANY_STEPS - FEW_STEPS);
    /* One launch and two events follow the lead. */
    const double lead_ns = fmax(LEAD_NS, LEAD_FACTOR * 3.0 * launch_ns(worker));
    rate.call_ns = 0.0;
    worker->lead_steps = bc_work_units(&rate, lead_ns);
    rate.call_ns = quickest_ns(worker, 0);
    return rate;
}

double overlap_kernel_ns(const struct overlap_worker *worker, uint64_t steps)
{
    return bc_device_compute_alone_ns(worker->device, worker->lead_steps, steps);
}
