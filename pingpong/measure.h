/*
 * One row of pingpong: the time of a repetition of one pattern, synchronisation
 * and shape.
 */
#ifndef COMMCOST_PINGPONG_MEASURE_H
#define COMMCOST_PINGPONG_MEASURE_H

#include "common/stats/batch.h"
#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "pingpong/patterns.h"

#include <stdint.h>

/* So many values behind the data are looked at with --check, if the coarray has
   them. */
#define PINGPONG_GUARD_VALUES 64

struct pingpong_result {
    struct bc_batch_result times; /* of repetitions, there and back each */
    int64_t wrong;                /* halves of repetitions with wrong data, of all
                                     ranks; on rank 0 */
};

/* Measures within so many seconds (significant on rank 0). A sample is a batch of
   repetitions, long against the clock; with --check every half of a repetition
   is timed by itself and its data verified outside of the time. Collective over
   MPI_COMM_WORLD. */
void pingpong_measure(const struct bc_run *run, struct bc_sampler *sampler,
                      const struct pingpong_game *game, const struct pingpong_pattern *pattern,
                      enum pingpong_sync sync, double seconds, struct pingpong_result *result);

#endif
