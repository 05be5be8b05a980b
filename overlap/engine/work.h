/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work under an operation: of the processor (common/work/work.h), or a kernel on a device.
 */
#pragma once

#include "common/work/work.h"
#include "common/device/device.h"

/* Amounts of work in each round, from the largest down. */
enum { OVERLAP_AMOUNTS = 6 };

enum overlap_work { OVERLAP_WORK_HOST, OVERLAP_WORK_DEVICE };

struct overlap_worker {
    struct bc_device *device; /* NULL: the processor works */
    uint64_t lead_steps;      /* of the kernel before a timed kernel */
};

/* Measures the rate of a kernel's work, in steps; call_ns is the time of an empty kernel. Sets
   lead_steps. Local. */
struct bc_work_rate overlap_calibrate_kernel(struct overlap_worker *worker);

static inline struct bc_work_rate overlap_calibrate(struct overlap_worker *worker)
{
    return worker->device == NULL ? bc_work_calibrate() : overlap_calibrate_kernel(worker);
}

/* Returns the time of a kernel alone in ns, on the device's clock. Local. */
double overlap_kernel_ns(const struct overlap_worker *worker, uint64_t steps);
