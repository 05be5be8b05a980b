/*
 * One row of syncbench: what a synchronisation adds to a loop of delays.
 */
#ifndef COMMCOST_SYNCBENCH_MEASURE_H
#define COMMCOST_SYNCBENCH_MEASURE_H

#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "syncbench/kinds.h"

#include <stdbool.h>
#include <stdint.h>

/* A loop of `inner` repetitions. Where ranks take turns each of them makes its
   share of these, and the reference is all of them on one rank. */
struct syncbench_loop {
    const struct syncbench_kind *kind;
    struct syncbench_team *team;
    int64_t inner;
    uint64_t delay_units; /* of work, in each repetition */
    int rank, ranks;
    struct bc_start_window *window; /* starts it; NULL: a barrier does */
};

struct syncbench_result {
    int64_t inner;
    int64_t outer;                           /* samples of either loop; on rank 0, as all that
                                                follow */
    struct bc_summary reference, loop, sync; /* ns a repetition; p99 and max of
                                sync are of loops of one (common/stats/singles.h), in
                                which each rank has one turn where they take
                                turns */
    int64_t outliers;                        /* samples of the loop beyond 3 sd */
    bool in_time;                            /* the precision was reached before the time was up */
    int slowest_rank;
};

/* The quantities of a round. */
enum syncbench_quantity { SYNCBENCH_LOOP, SYNCBENCH_REFERENCE, SYNCBENCH_QUANTITIES };

/* The time in ns of the loop with its synchronisations, and without: the timed
   kernels. A barrier has let the ranks go, or the window does in here. */
double syncbench_time_loop(const struct syncbench_loop *loop);
double syncbench_time_reference(const struct syncbench_loop *loop);

/*
 * Measures within so many seconds (significant on rank 0). Loop and reference are
 * timed in turn, a barrier (or a window) before each, and a sample of the
 * synchronisation is the difference of two that follow one another. `inner` is the
 * number of repetitions, or, if `shrinks`, at most so many. Under the mean the
 * synchronisation is the difference of the means and its interval 1.96 (sd +
 * reference sd) to both sides, as specified. Collective over MPI_COMM_WORLD.
 */
void syncbench_measure(const struct bc_run *run, struct bc_sampler *sampler,
                       const struct syncbench_loop *loop, bool shrinks, double seconds,
                       struct syncbench_result *result);

#endif
