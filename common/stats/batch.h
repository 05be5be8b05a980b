/*
 * The time of a repetition of something that is too short for the clock, or that
 * goes from one repetition into the next: a sample is a batch of repetitions, long
 * against the clock, and its time over their number.
 */
#ifndef COMMCOST_COMMON_STATS_BATCH_H
#define COMMCOST_COMMON_STATS_BATCH_H

#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "common/clock/shared/start_window.h"
#include "common/stats/stats.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What a rank without a part in a batch returns for its time. */
#define BC_NO_PART (-1)

/* What is repeated. */
struct bc_batch {
    /* Collective over MPI_COMM_WORLD: does so many repetitions and returns the ns
       that they took on this rank, or BC_NO_PART. With a window these are what
       bc_start_window_time said of quantity 0. */
    double (*repeat)(void *context, int64_t repetitions);
    void *context;
    int64_t repetitions;            /* in a batch; 0: enough for the clock */
    double clock_readings;          /* pairs of readings in a batch; each rank's own cost of
                                       them comes off */
    const char *quantity;           /* its name in --dump-samples */
    const MPI_Comm *players;        /* the ranks that the barrier before a batch releases;
                                       MPI_COMM_NULL on a rank that has no part and need
                                       not wait. NULL: all of MPI_COMM_WORLD */
    struct bc_start_window *window; /* starts a batch, after the repetition that isn't
                                       timed, instead of a barrier before that; or
                                       NULL */
};

struct bc_batch_result {
    struct bc_summary repetition; /* ns, the slowest rank's; the clock's cost is
                                     off; p99 and max are of single repetitions
                                     (common/stats/singles.h); on rank 0 */
    int64_t repetitions;          /* in all samples, which those single ones are not; on
                                     rank 0, as all that follow */
    double total_s;               /* that they took */
    struct bc_outcome outcome;    /* BC_OK if the precision was reached before the time was up, else
                                     BC_BUDGET */
};

/* Samples batches, a barrier (or a window) and, where a batch has several repetitions,
   one that isn't timed before each, within so many seconds (significant on rank 0), the
   choice of their length included; in an oversubscribed job the repetition that this choice
   needs is the only sample if it used up the time. At least one rank must have a
   part. Collective over MPI_COMM_WORLD. */
void bc_batch_measure(const struct bc_run *run, const struct bc_batch *batch, double seconds,
                      struct bc_batch_result *result);

#endif
