/*
 * The work under an operation: the processor's (common/work/work.h), or a kernel's on a device.
 */
#pragma once

#include "common/work/work.h"
#include "common/device/device.h"

/* The amounts of work that each round times, from the largest down. */
enum { OVERLAP_AMOUNTS = 6 };

enum overlap_work { OVERLAP_WORK_HOST, OVERLAP_WORK_DEVICE };

struct overlap_worker {
    struct bc_device *device; /* NULL: the processor works */
    uint64_t lead_steps;      /* of the kernel before one that is timed alone */
};

/* Measures the rate of a kernel's work, whose units are steps; call_ns is then an empty kernel's
   time. Sets lead_steps. Local. */
struct bc_work_rate overlap_calibrate_kernel(struct overlap_worker *worker);

/* Measures the rate of work, of the processor or of a kernel. Local. */
static inline struct bc_work_rate overlap_calibrate(struct overlap_worker *worker)
{
    return worker->device == NULL ? bc_work_calibrate() : overlap_calibrate_kernel(worker);
}

/* The time of a kernel alone in ns, as the device sees it: neither its start nor the wait for it.
   Local. */
double overlap_kernel_ns(const struct overlap_worker *worker, uint64_t steps);
