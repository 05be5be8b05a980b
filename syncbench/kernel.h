/*
 * The timed loops of syncbench.
 */
#ifndef COMMCOST_SYNCBENCH_KERNEL_H
#define COMMCOST_SYNCBENCH_KERNEL_H

#include "common/clock/shared/start_window.h"
#include "syncbench/kinds.h"

#include <stdint.h>

/* A loop of `inner` repetitions. Where ranks take turns each rank makes its share of them, and
   in the reference loop one rank makes all of them. */
struct syncbench_loop {
    const struct syncbench_kind *kind;
    struct syncbench_team *team;
    int64_t inner;
    uint64_t delay_units; /* of work, in each repetition */
    int rank, ranks;
    struct bc_start_window *window; /* starts the loop; NULL: a barrier does */
};

/* The quantities of a round. */
enum syncbench_quantity { SYNCBENCH_LOOP, SYNCBENCH_REFERENCE, SYNCBENCH_QUANTITIES };

/* The time in ns of the loop with its synchronisations, and of the reference loop, which has none.
   Call after a barrier, unless there is a window: these functions wait for it. Collective. */
double syncbench_time_loop(const struct syncbench_loop *loop);
double syncbench_time_reference(const struct syncbench_loop *loop);

#endif
