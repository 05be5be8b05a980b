/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/kernel.h"

#include "common/clock/clock.h"
#include "common/work/work.h"

struct bc_span overlap_time_operation(struct op_instance *operation)
{
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    operation->finish(operation);
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct bc_span overlap_time_blocking(struct op_instance *operation)
{
    const int64_t start_ns = bc_now_ns();
    operation->blocking(operation);
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct bc_span overlap_time_total(struct op_instance *operation, int64_t parts, uint64_t part_units)
{
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    bc_work(part_units);
    for (int64_t part = 1; part < parts; part++) {
        operation->between(operation);
        bc_work(part_units);
    }
    operation->finish(operation);
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct overlap_timed_work overlap_time_parts(struct op_instance *operation, int64_t parts,
                                             uint64_t part_units)
{
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    int64_t begin_ns = bc_now_ns();
    bc_work(part_units);
    int64_t work_ns = bc_now_ns() - begin_ns;
    for (int64_t part = 1; part < parts; part++) {
        operation->between(operation);
        begin_ns = bc_now_ns();
        bc_work(part_units);
        work_ns += bc_now_ns() - begin_ns;
    }
    operation->finish(operation);
    return (struct overlap_timed_work){{start_ns, bc_now_ns()}, (double)work_ns};
}

struct bc_span overlap_time_work(int64_t parts, uint64_t part_units)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t part = 0; part < parts; part++)
        bc_work(part_units);
    return (struct bc_span){start_ns, bc_now_ns()};
}

double overlap_time_work_parts(int64_t parts, uint64_t part_units)
{
    int64_t work_ns = 0;
    for (int64_t part = 0; part < parts; part++) {
        const int64_t begin_ns = bc_now_ns();
        bc_work(part_units);
        work_ns += bc_now_ns() - begin_ns;
    }
    return (double)work_ns;
}

struct bc_span overlap_time_service(struct op_instance *operation, op_call_fn *part)
{
    const int64_t start_ns = bc_now_ns();
    if (part != NULL)
        part(operation);
    return (struct bc_span){start_ns, bc_now_ns()};
}
