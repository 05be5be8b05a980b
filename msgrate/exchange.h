/*
 * Iterations of a two-sided pattern, and their samples.
 *
 * Before each iteration, and outside its time, the caches are flushed, the send buffers written,
 * and all ranks meet in a barrier, so that no rank times the flush of another one.
 */
#ifndef COMMCOST_MSGRATE_EXCHANGE_H
#define COMMCOST_MSGRATE_EXCHANGE_H

#include "msgrate/bench.h"
#include "msgrate/kernel.h"

#include <stdint.h>

/* Allocates for messages of `size_bytes`. Local. */
void msgrate_exchange_create(struct msgrate_exchange *exchange, struct msgrate_bench *bench,
                             int64_t size_bytes);
void msgrate_exchange_destroy(struct msgrate_exchange *exchange);

/* Runs one iteration with what comes before and after it; returns its time in ns, or -INFINITY on
   a rank that rests. Collective over MPI_COMM_WORLD. */
double msgrate_iterate(struct msgrate_exchange *exchange, const struct msgrate_pattern *pattern);

/* Measures a pattern within `seconds` (significant on rank 0). Collective. */
void msgrate_measure(struct msgrate_exchange *exchange, const struct msgrate_pattern *pattern,
                     double seconds, struct msgrate_result *result);

#endif
