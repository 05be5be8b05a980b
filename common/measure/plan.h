/*
 * Plans: how the settings of a run divide a row's samples among its visits, and when a visit ends.
 */
#pragma once

#include "common/measure/samples.h"

/* The min samples of a row whose time is up: the fewest whose median has an interval at 95 %. */
#define BC_LEAST_SAMPLES 6

/* A value that has to be precise before adaptive sampling ends. */
struct bc_precise_value {
    int quantity;
    int subtrahend;       /* the quantity to subtract from it, round by round; -1: none */
    double resolution_ns; /* an interval with a half-width below this is narrow enough */
    double negligible_ns; /* a value up to this need not be precise; 0: every value must be */
};

#define BC_PRECISE_VALUES_MAX 4

/* When to stop. */
struct bc_plan {
    int64_t min_rounds;   /* of this visit, before `precise` is looked at */
    int64_t max_rounds;   /* if equal to min_rounds, the number is fixed */
    double deadline_s;    /* on bc_elapsed_s(); checked between batches, after at least one round */
    int64_t grace_rounds; /* taken even after the deadline, if they end by deadline_s + grace_s */
    double grace_s;
    int64_t warmup_rounds; /* that don't count; -1: until the median settles */
    bool was_warm;         /* an earlier visit took such rounds: -1 is then 1 to 5 rounds, fewer if
                              they take long against the time */
    int64_t retakes; /* missed rounds that may be dropped; if the deadline passes with fewer than
                        grace_rounds others, the dropped rounds are used after all */
    bool adds;       /* continues the last visit, which must have begun, and its missed rounds: all
                        numbers above are of both, which may need no more rounds */
    const struct bc_precise_value *precise; /* values whose intervals end the rounds when all are as
                                               narrow as --precision asks for, by the samples of the
                                               visit; NULL: none. They must outlive the rounds */
    int precise_count;                      /* at most BC_PRECISE_VALUES_MAX */
};

/* Returns the part of `total` samples that belongs to the visit in hand; whatever the number of
   visits, the parts of all add up to it. Local. */
int64_t bc_part_of_visit(int64_t total, const struct bc_run *run);

/* Returns the plan that the settings make for a visit, or a part of it, that may take `seconds`
   from now: the row's numbers of samples are divided among its visits. `taken` has the row's
   samples so far; NULL: this visit's are the first. Local; use on rank 0. */
struct bc_plan bc_plan_of(const struct bc_run *run, const struct bc_samples *taken, double seconds);

/* Lets `plan` end when all `count` values are precise; does nothing to a plan with a fixed number
   of rounds. Local. */
void bc_plan_until_precise(struct bc_plan *plan, const struct bc_precise_value *values, int count);

/* True if all values are as narrow as --precision asks for, or negligible: after several looks in a
   row, counted by `stopping` (an entry a value); if that is NULL, at this look alone. Local; rank
   0. */
bool bc_values_are_precise(const struct bc_run *run, const struct bc_samples *samples,
                           const struct bc_precise_value *values, int count,
                           struct bc_stopping *stopping);

/* True if a row is what was asked for: the number of samples; or values whose intervals, over all
   visits, are as narrow as --precision asks for; where rows are visited once, `in_time`: that visit
   was precise in time. Local; rank 0. */
bool bc_samples_are_precise(const struct bc_run *run, const struct bc_samples *samples,
                            bool in_time, const struct bc_precise_value *values, int count);
