/*
 * Adaptive sampling across ranks within a time budget.
 *
 * A source takes one round of measurements on every rank: one or more quantities, measured in turn,
 * so that whatever drifts (clock rate, temperature, other users) affects all of them alike. The
 * sample of a quantity in a round is the slowest rank's value; if ranks start on a shared clock
 * (struct bc_starts), the time from the first start to the last end; if ranks start apart, the
 * value of the rank that is slowest in general. Rounds are reduced elementwise with MPI_MAXLOC to
 * rank 0 in batches, in O(log P) steps and with memory that doesn't grow with P. Rank 0 decides how
 * many rounds to take; between two rounds of a batch nothing runs but the source's own code.
 */
#pragma once

#include "common/run/run.h"

struct bc_source {
    int quantities; /* 1 to BC_QUANTITIES_MAX */
    /* Takes one round and stores this rank's value of each quantity, usually in nanoseconds; a rank
       that takes no part stores -INFINITY. Collective. */
    void (*take)(void *context, double *values);
    void *context;
    int slowest_of;           /* the quantity whose slowest rank is noted in each round */
    struct bc_starts *starts; /* NULL, or not, on all ranks alike */
    /* Each round begins with an untimed repetition, so ranks start at different times, and a rank's
       time contains its wait for ranks that started later. The maximum over ranks would contain
       such a wait in every round: 15 % of two halo exchanges in the mean if a message in 500 takes
       nine times as long. Each rank's own time has the right mean, because it starts where its last
       repetition ended. So the sample is the time of the rank with the largest median over earlier
       rounds of the visit, which doesn't depend on the sample. The same on all ranks. */
    bool starts_apart;
    /* Repetitions timed together; a value is the time of one repetition. 0 is 1. Only `starts`
       needs the number. */
    int64_t repetitions;
    /* What reading the clock adds to each value on this rank (by its own run->own_clock, since
       clocks may cost ranks different times); subtracted before the slowest rank is found. */
    double clock_ns;
    /* Called after each batch of rounds that count, before rank 0 decides on the next batch; NULL:
       nothing is. May take rounds of another source; their time counts, too. Collective. */
    void (*between)(void *between_context);
    void *between_context;
};

/* When to stop. Significant on rank 0 only. */
struct bc_plan {
    int64_t min_rounds;   /* of this visit, before `settled` is asked */
    int64_t max_rounds;   /* if equal to min_rounds, the number is fixed */
    double deadline_s;    /* on bc_elapsed_s(); checked between batches, after at least one round */
    int64_t grace_rounds; /* taken even after the deadline, if they end by deadline_s + grace_s */
    double grace_s;
    int64_t warmup_rounds; /* that don't count; -1: until the median settles */
    bool was_warm;         /* the source ran in an earlier visit: -1 is then 1 to 5 rounds, fewer
                              where they take long against the time */
    int64_t retakes; /* missed rounds that may be dropped; if the deadline passes with fewer than
                        grace_rounds others, the dropped rounds are used after all */
    bool adds;       /* goes on with the last run's visit, which must have begun, and its missed
                        rounds: all numbers above are of both runs, which may need no more rounds */
    /* Asked on rank 0 with the visit's samples so far, each time their number has grown by a
       quarter: true ends the sampling. NULL: never. */
    bool (*settled)(const struct bc_samples *visit, void *context);
    void *context;
};

enum bc_end {
    BC_END_SETTLED, /* `settled` said so, or a fixed number was reached */
    BC_END_MAX,     /* max_rounds was reached before `settled` said so */
    BC_END_TIME     /* the deadline passed */
};

/* Takes rounds from the source as rank 0's plan says and appends them to rank 0's `samples`, as a
   visit of their own: without the cost of the clock, in the order in which they were taken, but
   with missed rounds that are used at the visit's end. On other ranks `samples` stay as they are.
   Collective over MPI_COMM_WORLD; returns the same on every rank. */
enum bc_end bc_take_rounds(const struct bc_source *source, const struct bc_plan *plan,
                           struct bc_samples *samples);
