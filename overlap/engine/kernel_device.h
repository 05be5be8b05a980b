/* SPDX-License-Identifier: BSD-3-Clause */
/* The timed regions of runs with a device, which holds buffers or runs a kernel of `steps`. */
#pragma once

#include "overlap/engine/kernel.h"
#include "overlap/engine/work.h"

/* Times copies from and to the device around `call` of the staged operation. */
struct bc_span overlap_time_staged(struct op_instance *operation, struct op_instance *staged,
                                   op_call_fn *call);

/* Time the operation around a kernel, which the host awaits after `finish`; and the blocking
   counterparts followed by the kernel. */
struct bc_span overlap_time_total_on_device(struct op_instance *operation, struct bc_device *device,
                                            uint64_t steps);
struct bc_span overlap_time_blocking_on_device(struct op_instance *operation,
                                               struct bc_device *device, uint64_t steps);
struct bc_span overlap_time_staged_on_device(struct op_instance *operation,
                                             struct op_instance *staged, struct bc_device *device,
                                             uint64_t steps);

/* Times a kernel alone; work_ns is the device's time of it. */
struct overlap_timed_work overlap_time_kernel(const struct overlap_worker *worker, uint64_t steps);
