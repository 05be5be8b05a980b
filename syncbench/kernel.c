/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/clock.h"
#include "common/work/work.h"
#include "syncbench/syncbench.h"

struct bc_span syncbench_time_delays(struct syncbench_team *team, syncbench_fn *enter,
                                     syncbench_fn *leave, uint64_t delay_units, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        bc_work(delay_units);
        enter(team);
        leave(team);
    }
    return (struct bc_span){start_ns, bc_now_ns()};
}

struct bc_span syncbench_time_turns(struct syncbench_team *team, syncbench_fn *enter,
                                    syncbench_fn *leave, uint64_t delay_units, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        enter(team);
        bc_work(delay_units);
        leave(team);
    }
    return (struct bc_span){start_ns, bc_now_ns()};
}
