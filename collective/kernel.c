/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective.h"

#include "common/clock/clock.h"
#include "common/operations/buffers.h"

struct bc_span collective_time(struct op_instance *operation)
{
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct bc_span collective_time_alternative(struct collective_alternative *alternative)
{
    const int64_t start_ns = bc_now_ns();
    for (int i = 0; i < alternative->count; i++)
        alternative->parts[i].start(&alternative->parts[i]);
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct bc_span collective_time_staged(struct op_instance *operation, struct op_instance *staged)
{
    const int64_t start_ns = bc_now_ns();
    op_copy_sent(staged, operation);
    staged->start(staged);
    op_copy_received(operation, staged);
    return (struct bc_span){start_ns, bc_now_ns()};
}
