/*
 * Samples of a repetition that is too short for the clock, or that continues into the next one: the
 * time of a batch of repetitions, long against the clock, divided by their number.
 */
#ifndef COMMCOST_COMMON_STATS_BATCH_H
#define COMMCOST_COMMON_STATS_BATCH_H

#include "common/run/run.h"

/* The time that a batch should take, in ns: at least min_ns, and at least 100 readings of the
   clock, so that its cost and resolution don't show in the time of a repetition. `cost` is the
   maximum over ranks where ranks must agree. Local. */
double bc_batch_ns(const struct bc_clock_cost *cost, double min_ns);

/* The repetitions that take batch_ns if one takes repetition_ns: rounded up, at most max. Local. */
int64_t bc_batch_repetitions(double batch_ns, double repetition_ns, int64_t max);

/* Returns the time of `repetitions` repetitions in ns. */
typedef double bc_repeat_fn(void *context, int64_t repetitions);

/* Doubles the repetitions, from `min` (at least 1) up to `max`, until they take batch_ns twice in a
   row, since once they may have been disturbed. If `repeat` is collective, it must return the same
   on all ranks; then this is collective, too, and returns the same on all ranks. */
int64_t bc_batch_double(int64_t min, int64_t max, double batch_ns, bc_repeat_fn *repeat,
                        void *context);

/* Calls bc_run_sample for `batches`, in turn with rounds of `singles` (NULL: without), which times
   single repetitions of the same quantities, for p99 and max of the summary. A batch hides late
   repetitions in its mean: one repetition of 150 that takes 10 times as long as the others adds 6 %
   to the mean. Value, interval, precision and, afterwards, the samples of run->sampler are those of
   the batches alone.

   After each batch of rounds single repetitions are taken until they have used a tenth of the time
   that has passed; when the batches are done, up to 1000 in all, if a tenth of the row's time is
   enough for that. At least one is taken, and never more than a row may have samples (--samples,
   --max-samples). A repetition shorter than 100 clock costs is less exact than a batch, by the
   clock's resolution and by how much its cost varies. Returns as bc_run_sample. Collective. */
bool bc_sample_with_singles(const struct bc_run *run, const struct bc_source *batches,
                            const struct bc_source *singles, int subtrahend, double seconds,
                            struct bc_summary *summary);

/* The time that a rank returns that takes no part in a batch. */
#define BC_NO_PART (-1)

struct bc_batch {
    /* Does `repetitions` repetitions and returns their time on this rank in ns, or BC_NO_PART. With
       a window the time is what bc_start_window_time returned for quantity 0. Collective over
       MPI_COMM_WORLD. */
    bc_repeat_fn *repeat;
    void *context;
    int64_t repetitions;   /* in a batch; 0: enough for the clock */
    double clock_readings; /* pairs of readings in a batch, whose cost on this rank is subtracted */
    const char *quantity;  /* its name in --dump-samples */
    /* The ranks that the barrier before a batch releases; MPI_COMM_NULL on a rank that takes no
       part and need not wait. NULL: all of MPI_COMM_WORLD. */
    const MPI_Comm *participants;
    /* Starts a batch, after the repetition that isn't timed, in place of the barrier before it;
       NULL: the barrier. */
    struct bc_start_window *window;
};

/* On rank 0. */
struct bc_batch_result {
    struct bc_summary repetition; /* the slowest rank's time in ns, without the cost of the clock;
                                     p99 and max are those of single repetitions */
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
