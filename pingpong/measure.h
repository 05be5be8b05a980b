/*
 * One row of pingpong: the time of a repetition, there and back.
 */
#ifndef COMMCOST_PINGPONG_MEASURE_H
#define COMMCOST_PINGPONG_MEASURE_H

#include "common/run/run.h"
#include "common/stats/batch.h"
#include "pingpong/patterns.h"

/* The number of values behind the data that --check looks at, where the coarray has them. */
#define PINGPONG_GUARD_VALUES 64

/* Measures within `seconds` (significant on rank 0). A sample is a batch of repetitions, long
   against the clock. With --check each half of a repetition is timed by itself, its data is made
   before and verified after the timed region, and the outcome is BC_FAIL where data of any rank is
   wrong. Collective over MPI_COMM_WORLD. */
void pingpong_measure(const struct bc_run *run, const struct pingpong_game *game, double seconds,
                      struct bc_batch_result *result);

#endif
