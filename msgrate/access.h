/*
 * Iterations of a one-sided pattern, and their samples.
 *
 * Before each iteration, and outside its time, the caches are flushed, what is transferred is
 * written, and all ranks meet in a barrier. A put goes into the window of its target, a get comes
 * from it. A window that was exposed before the flush must not be written any more: what gets will
 * transfer from it is read instead.
 */
#ifndef COMMCOST_MSGRATE_ACCESS_H
#define COMMCOST_MSGRATE_ACCESS_H

#include "msgrate/bench.h"
#include "msgrate/rma_kernel.h"

#include <stdint.h>

/* Makes buffers, window and threads by the bench's parameters, for messages of `size_bytes`.
   Collective over MPI_COMM_WORLD. */
void msgrate_access_create(struct msgrate_access *access, struct msgrate_bench *bench,
                           int64_t size_bytes);

/* Collective over MPI_COMM_WORLD. */
void msgrate_access_destroy(struct msgrate_access *access);

/* Measures a method within `seconds` (significant on rank 0). Collective. */
void msgrate_measure_access(struct msgrate_access *access, const struct msgrate_method *method,
                            double seconds, struct msgrate_result *result);

#endif
