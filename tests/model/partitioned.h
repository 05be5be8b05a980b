/* The partitions of a send in progress. MPI_Psend_init and so on are in partitioned.c, too. */
#ifndef MODEL_PARTITIONED_H
#define MODEL_PARTITIONED_H

#include "model.h"

struct partitions;

/* The start of the whole: what an MPI_Start does last. */
void partitions_start(struct partitions *partitions, struct timing *whole, int64_t bytes,
                      int64_t post_ns);

/* What operation_progress does: goes on with the stages of all that is marked ready, and returns
   whether all partitions are and their autonomous parts have ended. */
bool partitions_progress(struct partitions *partitions, struct timing *whole, int64_t since_ns,
                         int64_t now_ns);

/* Returns when all are marked ready, by other threads if they aren't. */
void partitions_await(const struct partitions *partitions);

/* Adds them, but not the whole, to the completion. */
void partitions_add(const struct partitions *partitions, struct completion *completion);

/* partitions may be NULL. */
void partitions_free(struct partitions *partitions);

#endif
