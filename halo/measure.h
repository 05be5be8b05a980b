/*
 * One row of halo: the time of a swap by one method.
 */
#ifndef COMMCOST_HALO_MEASURE_H
#define COMMCOST_HALO_MEASURE_H

#include "common/stats/batch.h"
#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "halo/methods.h"

#include <stdint.h>

struct halo_result {
    struct bc_batch_result times; /* of swaps */
    int64_t wrong;                /* arrays with wrong data after a swap, of all
                                     ranks; on rank 0 */
};

/* Does so many swaps; returns their time in ns, as bc_start_window_time's quantity 0
   with a window, or NULL. The timed loop. Collective. */
double halo_swap_often(const struct halo_method *method, const struct halo_exchange *exchange,
                       int64_t repetitions, struct bc_start_window *window);

/* Measures within so many seconds (significant on rank 0) the swaps of an exchange
   that the method has made. A sample is a batch of swaps, long against the clock;
   with --check each swap is timed by itself, and outside of the time its data is
   made afresh before and the whole array verified after. Collective over
   MPI_COMM_WORLD. */
void halo_measure(const struct bc_run *run, struct bc_sampler *sampler,
                  const struct halo_method *method, const struct halo_exchange *exchange,
                  double seconds, struct halo_result *result);

#endif
