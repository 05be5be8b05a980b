/*
 * The time of a repetition that is too short for the clock, or that continues into the next one: a
 * sample is the time of a batch of repetitions, long against the clock, divided by their number.
 */
#ifndef COMMCOST_COMMON_STATS_BATCH_H
#define COMMCOST_COMMON_STATS_BATCH_H

#include "common/clock/shared/start_window.h"
#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "common/stats/stats.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The time that a rank returns that takes no part in a batch. */
#define BC_NO_PART (-1)

/* What is repeated. */
struct bc_batch {
    /* Does `repetitions` repetitions and returns their time on this rank in ns, or BC_NO_PART. With
       a window the time is what bc_start_window_time returned for quantity 0. Collective over
       MPI_COMM_WORLD. */
    double (*repeat)(void *context, int64_t repetitions);
    void *context;
    int64_t repetitions;            /* in a batch; 0: enough for the clock */
    double clock_readings;          /* pairs of readings in a batch, whose cost on this rank is
                                       subtracted */
    const char *quantity;           /* its name in --dump-samples */
    const MPI_Comm *participants;   /* the ranks that the barrier before a batch releases;
                                       MPI_COMM_NULL on a rank that takes no part and need not wait.
                                       NULL: all of MPI_COMM_WORLD */
    struct bc_start_window *window; /* starts a batch, after the repetition that isn't timed, in
                                       place of the barrier before it; NULL: the barrier */
};

struct bc_batch_result {
    struct bc_summary repetition; /* the slowest rank's time in ns, without the cost of the clock;
                                     p99 and max are those of single repetitions
                                     (common/stats/singles.h). On rank 0, as all that follow */
    int64_t repetitions;          /* in all samples, without the single ones */
    double total_s;               /* the time of these */
    struct bc_outcome outcome;    /* BC_OK if the precision was reached before the time was up, else
                                     BC_BUDGET */
};

/* Samples batches within `seconds` (significant on rank 0), which include the choice of their
   length. Before each batch come a barrier (or a window) and, where a batch has several
   repetitions, one that isn't timed. In an oversubscribed job the repetition with which the length
   is chosen is the only sample if it used up the time. At least one rank must take part. Collective
   over MPI_COMM_WORLD. */
void bc_batch_measure(const struct bc_run *run, const struct bc_batch *batch, double seconds,
                      struct bc_batch_result *result);

#endif
