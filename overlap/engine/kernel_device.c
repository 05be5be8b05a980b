/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/kernel_device.h"

#include "common/clock/clock.h"
#include "common/operations/buffers.h"

struct bc_span overlap_time_staged(struct op_instance *operation, struct op_instance *staged,
                                   op_call_fn *call)
{
    const int64_t start_ns = bc_now_ns();
    op_copy_sent(staged, operation);
    call(staged);
    op_copy_received(operation, staged);
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct bc_span overlap_time_total_on_device(struct op_instance *operation, struct bc_device *device,
                                            uint64_t steps)
{
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    bc_device_compute(device, steps);
    operation->finish(operation);
    bc_device_synchronize(device);
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct bc_span overlap_time_blocking_on_device(struct op_instance *operation,
                                               struct bc_device *device, uint64_t steps)
{
    const int64_t start_ns = bc_now_ns();
    operation->blocking(operation);
    bc_device_compute(device, steps);
    bc_device_synchronize(device);
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct bc_span overlap_time_staged_on_device(struct op_instance *operation,
                                             struct op_instance *staged, struct bc_device *device,
                                             uint64_t steps)
{
    const int64_t start_ns = bc_now_ns();
    op_copy_sent(staged, operation);
    staged->blocking(staged);
    op_copy_received(operation, staged);
    bc_device_compute(device, steps);
    bc_device_synchronize(device);
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct overlap_timed_work overlap_time_kernel(const struct overlap_worker *worker, uint64_t steps)
{
    const int64_t start_ns = bc_now_ns();
    const double kernel_ns = overlap_kernel_ns(worker, steps);
    return (struct overlap_timed_work){{start_ns, bc_now_ns()}, kernel_ns};
}
