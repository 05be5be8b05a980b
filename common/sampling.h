/*
 * Adaptive, budgeted sampling across ranks.
 *
 * A source takes one round of measurements on every rank: one or more
 * quantities, measured in turn, so that whatever drifts (clock rate,
 * temperature, other users) touches all of them alike. The sample of a
 * quantity in a round is the slowest rank's value: rounds are reduced
 * elementwise with MPI_MAXLOC to rank 0 in batches, which takes O(log P)
 * steps and memory independent of P, and tells which rank is slow.
 *
 * Rank 0 decides how many rounds to take and when to stop; every rank follows.
 * Nothing but the source's own code runs between two rounds of a batch.
 */
#ifndef COMMCOST_COMMON_SAMPLING_H
#define COMMCOST_COMMON_SAMPLING_H

#include "common/stats.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BC_QUANTITIES_MAX 4

/* What is measured. */
struct bc_source {
    int quantities; /* 1 to BC_QUANTITIES_MAX */
    /* Collective: takes one round and stores this rank's value of each
       quantity, usually in nanoseconds. */
    void (*take)(void *context, double *values);
    void *context;
    int slowest_of; /* the quantity that bc_sampler_slowest_rank is about */
};

/* The samples of a run, slowest rank's values. Filled on rank 0 only; the
   count is 0 elsewhere. In the order in which they were taken. */
struct bc_samples {
    double *values[BC_QUANTITIES_MAX];
    size_t count;
};

/* When to stop. Significant on rank 0 only. */
struct bc_plan {
    int64_t min_rounds; /* before `settled` is asked */
    int64_t max_rounds; /* at most; with min_rounds equal: a fixed number */
    double deadline_s;  /* on bc_elapsed_s(); checked between batches. At least
                           one round is taken, and `least_rounds` if these can
                           be had soon after */
    int64_t least_rounds; /* taken even when the deadline has passed, as long
                             as they take no longer than grace_s in all */
    double grace_s;
    int64_t warmup_rounds; /* not counted; -1: until the median settles */
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

/* Seconds since an arbitrary origin, on a clock for budgets, not for measuring.
   Local. */
double bc_elapsed_s(void);

/* Collective over `comm`, which must outlive the sampler. */
struct bc_sampler *bc_sampler_create(MPI_Comm comm);

/* Takes rounds from the source as the plan of rank 0 says; what an earlier run
   left is dropped. Collective; returns the same on every rank. */
enum bc_end bc_sampler_run(struct bc_sampler *sampler,
                           const struct bc_source *source,
                           const struct bc_plan *plan);

/* The samples of the last run, on rank 0; valid until the next run. */
const struct bc_samples *bc_sampler_samples(const struct bc_sampler *sampler);

/* The summary of one quantity; and of one less another, round by round, which
   is what two timings that are subtracted are taken in turn for; -1 subtracts
   nothing. Local; on rank 0. The samples stay as they are. */
struct bc_summary bc_samples_summarize(const struct bc_samples *samples,
                                       int quantity,
                                       enum bc_estimator estimator,
                                       double confidence);
struct bc_summary bc_samples_summarize_difference(
    const struct bc_samples *samples, int quantity, int subtrahend,
    enum bc_estimator estimator, double confidence);

/* The rank that was slowest most often in the last run, on rank 0; -1 without
   samples. */
int bc_sampler_slowest_rank(const struct bc_sampler *sampler);

/* Local. */
void bc_sampler_destroy(struct bc_sampler *sampler);

#endif
