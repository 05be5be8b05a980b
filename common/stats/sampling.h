/*
 * Adaptive sampling across ranks within a time budget.
 *
 * A source takes one round of measurements on every rank: one or more quantities, measured in turn,
 * so that whatever drifts (clock rate, temperature, other users) affects all of them alike. The
 * sample of a quantity in a round is the slowest rank's value, or, where ranks start on a shared
 * clock (struct bc_starts), the time from the first start to the last end. Rounds are reduced
 * elementwise with MPI_MAXLOC to rank 0 in batches, in O(log P) steps and with memory that doesn't
 * grow with P; only bc_sampler_slowest_rank takes a count for each rank on rank 0. Rank 0 decides
 * how many rounds to take; between two rounds of a batch nothing runs but the source's own code.
 */
#ifndef COMMCOST_COMMON_STATS_SAMPLING_H
#define COMMCOST_COMMON_STATS_SAMPLING_H

#include "common/stats/stats.h"

#include <mpi.h>
#include <stdint.h>

#define BC_QUANTITIES_MAX 4

/* When quantities began, for sources whose ranks start together at a moment on which they agreed. A
   round in which a rank was late is a miss. It is dropped and taken again while the plan allows
   that; after that it is used: its times are right for ranks that start like this. */
struct bc_starts {
    /* Set by `take`: this rank's start, from the agreed moment on, on the clock of the values. */
    double start_ns[BC_QUANTITIES_MAX];
    double late_ns;               /* a start after this is late; significant on rank 0 */
    int64_t rounds, missed, used; /* without the warm-up; used: of the missed ones; on rank 0 */
};

struct bc_source {
    int quantities; /* 1 to BC_QUANTITIES_MAX */
    /* Takes one round and stores this rank's value of each quantity, usually in nanoseconds; a rank
       that takes no part stores -INFINITY. Collective. */
    void (*take)(void *context, double *values);
    void *context;
    int slowest_of;           /* the quantity for which bc_sampler_slowest_rank counts */
    struct bc_starts *starts; /* NULL, or not, on all ranks alike */
    /* Repetitions timed together; a value is the time of one repetition. 0 is 1. Only `starts`
       needs the number. */
    int64_t repetitions;
    /* What reading the clock adds to each value on this rank (by its own run->own_clock, since
       clocks may cost ranks different times); subtracted before the slowest rank is found. */
    double clock_ns;
    /* Called after each batch of rounds that count, before rank 0 decides on the next batch; NULL:
       nothing is. May run another sampler; its time counts as time of the run. Collective. */
    void (*between)(void *between_context);
    void *between_context;
};

/* The samples of a run, without the cost of the clock, on rank 0; the count is 0 elsewhere. In the
   order in which they were taken, but with missed rounds that are used at the end. */
struct bc_samples {
    double *values[BC_QUANTITIES_MAX];
    size_t count;
};

/* When to stop. Significant on rank 0 only. */
struct bc_plan {
    int64_t min_rounds;   /* before `settled` is asked */
    int64_t max_rounds;   /* if equal to min_rounds, the number is fixed */
    double deadline_s;    /* on bc_elapsed_s(); checked between batches, after at least one round */
    int64_t grace_rounds; /* taken even after the deadline, if they end by deadline_s + grace_s */
    double grace_s;
    int64_t warmup_rounds; /* that don't count; -1: until the median settles */
    int64_t retakes; /* missed rounds that may be dropped; if the deadline passes with fewer than
                        grace_rounds others, the dropped rounds are used after all */
    bool adds;       /* keeps the last run's samples and missed rounds, as if that run went on: all
                        numbers above are of both runs, which may need no more rounds */
    /* Asked on rank 0 with all samples so far, each time their number has grown by a quarter: true
       ends the sampling. NULL: never. */
    bool (*settled)(const struct bc_samples *samples, void *context);
    void *context;
};

enum bc_end {
    BC_END_SETTLED, /* `settled` said so, or a fixed number was reached */
    BC_END_MAX,     /* max_rounds was reached before `settled` said so */
    BC_END_TIME     /* the deadline passed */
};

struct bc_sampler; /* the batches and the samples of one communicator */

/* Collective over `comm`, which must outlive the sampler. */
struct bc_sampler *bc_sampler_create(MPI_Comm comm);

/* Takes rounds from the source as rank 0's plan says. Drops the samples of an earlier run, unless
   the plan adds to them. Collective; returns the same on every rank. */
enum bc_end bc_sampler_run(struct bc_sampler *sampler, const struct bc_source *source,
                           const struct bc_plan *plan);

/* The samples of the last run, on rank 0; valid until the next run. */
const struct bc_samples *bc_sampler_samples(const struct bc_sampler *sampler);

/* The summary of one quantity less another one (`subtrahend`; -1: none), round by round. The
   samples stay as they are. Local; rank 0. */
struct bc_summary bc_samples_summarize(const struct bc_samples *samples, int quantity,
                                       int subtrahend, enum bc_estimator estimator,
                                       double confidence);

/* The rank that was slowest, or last to end, in most rounds of the last run; -1 without samples.
   Local; rank 0. */
int bc_sampler_slowest_rank(const struct bc_sampler *sampler);

/* Local; the sampler may be NULL. */
void bc_sampler_destroy(struct bc_sampler *sampler);

#endif
