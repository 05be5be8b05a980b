/*
 * Adaptive, budgeted sampling across ranks.
 *
 * A source takes one round of measurements on every rank: one or more
 * quantities, measured in turn, so that whatever drifts (clock rate,
 * temperature, other users) touches all of them alike. The sample of a
 * quantity in a round is the slowest rank's value, or from the first start to the
 * last end where ranks start on a shared clock (struct bc_starts): rounds are reduced
 * elementwise with MPI_MAXLOC to rank 0 in batches, which takes O(log P)
 * steps and memory independent of P, but for a count a rank on rank 0 when that is asked
 * which rank is slow.
 *
 * Rank 0 decides how many rounds to take and when to stop; every rank follows.
 * Nothing but the source's own code runs between two rounds of a batch.
 */
#ifndef COMMCOST_COMMON_STATS_SAMPLING_H
#define COMMCOST_COMMON_STATS_SAMPLING_H

#include "common/stats/stats.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BC_QUANTITIES_MAX 4

/*
 * When quantities began, for sources whose ranks start together at a moment that they
 * agreed on: then the sample of a quantity is no longer the slowest rank's value but
 * the time from the first rank's start to the last one's end. A round in which a rank
 * came late is a miss. It is dropped and another one taken in its place while the
 * plan allows that; else it is used: what was measured is right for ranks that start
 * like this.
 */
struct bc_starts {
    double start_ns[BC_QUANTITIES_MAX]; /* set by `take`: this rank's, from the
                                           agreed moment on, on the same clock as
                                           the values, in ns as they */
    double late_ns;                     /* later than this is late; on rank 0 */

    /* Counted on rank 0, warm-up left out. */
    int64_t rounds, missed;
    int64_t used; /* of those that were missed */
};

/* What is measured. */
struct bc_source {
    int quantities; /* 1 to BC_QUANTITIES_MAX */
    /* Collective: takes one round and stores this rank's value of each
       quantity, usually in nanoseconds. */
    void (*take)(void *context, double *values);
    void *context;
    int slowest_of;           /* the quantity that bc_sampler_slowest_rank is about */
    struct bc_starts *starts; /* the same on all ranks: NULL or not */
    int64_t repetitions;      /* that were timed together and each value is the time of one
                                 of; 0 is 1. Only starts need it */
    double clock_ns;          /* what reading the clock adds to each value on this rank (its own
                                 run->own_clock, where clocks cost ranks different times):
                                 comes off the values before the slowest rank's is taken */
    /* Collective: called after each batch of rounds that count, before rank 0 decides on
       the next one; NULL: nothing is. It may run another sampler. What it takes is time
       of the run. */
    void (*between)(void *between_context);
    void *between_context;
};

/* The samples of a run: the slowest rank's values, or from first start to last end,
   with what the clock adds taken off.
   Filled on rank 0 only; the count is 0 elsewhere. In the order in which they were
   taken, but that missed rounds come last. */
struct bc_samples {
    double *values[BC_QUANTITIES_MAX];
    size_t count;
};

/* When to stop. Significant on rank 0 only. */
struct bc_plan {
    int64_t min_rounds;   /* before `settled` is asked */
    int64_t max_rounds;   /* at most; with min_rounds equal: a fixed number */
    double deadline_s;    /* on bc_elapsed_s(); checked between batches. At least
                             one round is taken, and `least_rounds` if these can
                             be had soon after */
    int64_t least_rounds; /* taken even when the deadline has passed, as long
                             as they take no longer than grace_s in all */
    double grace_s;
    int64_t warmup_rounds; /* not counted; -1: until the median settles */
    int64_t retakes;       /* missed rounds that may be dropped; if the deadline passes with
                              less than `least_rounds` others they are used after all */
    bool adds;             /* to the last run's samples and missed rounds, as if that went on: all
                              numbers are of both, and none of its rounds may be needed. Else they
                              are dropped */
    /* Asked on rank 0 with all samples so far, each time their number has
       grown by a quarter: true ends the sampling. NULL: never. */
    bool (*settled)(const struct bc_samples *samples, void *context);
    void *context;
};

enum bc_end {
    BC_END_SETTLED, /* `settled` said so, or a fixed number was reached */
    BC_END_MAX,     /* max_rounds was reached before it was settled */
    BC_END_TIME     /* the deadline passed */
};

struct bc_sampler; /* the batches and the samples of one communicator */

/* Collective over `comm`, which must outlive the sampler. */
struct bc_sampler *bc_sampler_create(MPI_Comm comm);

/* Takes rounds from the source as the plan of rank 0 says; what an earlier run
   left is dropped, unless the plan adds to it. Collective; returns the same on every rank. */
enum bc_end bc_sampler_run(struct bc_sampler *sampler, const struct bc_source *source,
                           const struct bc_plan *plan);

/* The samples of the last run, on rank 0; valid until the next run. */
const struct bc_samples *bc_sampler_samples(const struct bc_sampler *sampler);

/* The summary of one quantity; and of one less another, round by round, which
   is what two timings that are subtracted are taken in turn for; -1 subtracts
   nothing. Local; on rank 0. The samples stay as they are. */
struct bc_summary bc_samples_summarize(const struct bc_samples *samples, int quantity,
                                       enum bc_estimator estimator, double confidence);
struct bc_summary bc_samples_summarize_difference(const struct bc_samples *samples, int quantity,
                                                  int subtrahend, enum bc_estimator estimator,
                                                  double confidence);

/* The rank that was slowest most often in the last run, or last to end, on rank 0; -1
   without samples. */
int bc_sampler_slowest_rank(const struct bc_sampler *sampler);

/* Local. */
void bc_sampler_destroy(struct bc_sampler *sampler);

#endif
