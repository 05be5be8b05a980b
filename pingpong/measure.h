/*
 * One row of pingpong: the time of a repetition of one pattern, synchronisation
 * and shape.
 */
#ifndef COMMCOST_PINGPONG_MEASURE_H
#define COMMCOST_PINGPONG_MEASURE_H

#include "common/run.h"
#include "common/sampling.h"
#include "pingpong/patterns.h"

#include <stdbool.h>
#include <stdint.h>

struct pingpong_result {
    int64_t repetitions;         /* in all samples */
    double total_s;              /* that they took */
    struct bc_summary repetition; /* there and back, the slowest rank's, ns; the
                                    clock's cost is off; on rank 0 */
    int64_t wrong;               /* halves of repetitions with wrong data, of all
                                    ranks; on rank 0 */
    bool in_time;                /* the precision was reached before the time was
                                    up */
    int slowest_rank;            /* on rank 0 */
};

/* Measures within so many seconds (significant on rank 0). A sample is a batch of
   repetitions, long against the clock; with --check every half of a repetition
   is timed by itself and its data verified outside of the time. Collective over
   MPI_COMM_WORLD. */
void pingpong_measure(const struct bc_run *run, struct bc_sampler *sampler,
                      const struct pingpong_game *game,
                      const struct pingpong_pattern *pattern,
                      enum pingpong_sync sync, double seconds,
                      struct pingpong_result *result);

#endif
