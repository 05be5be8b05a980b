/*
 * How the settings of a run divide a row's samples among its visits, and when a visit has enough.
 */
#pragma once

#include "common/measure/sampling.h"

/* The min samples of a row whose time is up: the fewest whose median has an interval at 95 %. */
#define BC_LEAST_SAMPLES 6

/* The plan that the settings make for a visit, or a part of it, that may take `seconds` from now:
   the row's numbers of samples are divided among its visits. `taken` has the row's samples so far;
   NULL: this visit's are the first. Use on rank 0. */
struct bc_plan bc_run_plan(const struct bc_run *run, const struct bc_samples *taken,
                           double seconds);

/* A value that has to be precise before adaptive sampling ends. */
struct bc_precise_value {
    int quantity;
    int subtrahend;       /* the quantity to subtract from it, round by round; -1: none */
    double resolution_ns; /* an interval with a half-width below this is narrow enough */
    double negligible_ns; /* a value up to this need not be precise; 0: every value must be */
};

#define BC_PRECISE_VALUES_MAX 4

/* Internal to bc_plan_until_precise. */
struct bc_precision {
    const struct bc_run *run;
    const struct bc_precise_value *values;
    int count;
    struct bc_stopping stopping[BC_PRECISE_VALUES_MAX];
};

/* Lets `plan` end when all `count` values (at most BC_PRECISE_VALUES_MAX) have intervals as narrow
   as --precision asks for, by the samples of the visit; does nothing to a plan with a fixed number
   of rounds. Fills in `rule`, which must outlive the plan, as the values must. Local. */
void bc_plan_until_precise(struct bc_plan *plan, struct bc_precision *rule,
                           const struct bc_run *run, const struct bc_precise_value *values,
                           int count);

/* Whether a row has what was asked for: the number of samples; or values whose intervals, over all
   visits, are as narrow as --precision asks for; where rows are visited once, whether that visit
   was precise in time. Local; what it says on other ranks than rank 0 means nothing. */
bool bc_run_is_precise(const struct bc_run *run, const struct bc_samples *samples, bool in_time,
                       const struct bc_precise_value *values, int count);

/* Appends a visit to `samples`: quantity 0 of the source, less quantity `subtrahend` round by round
   (-1: less nothing), within `seconds` (significant on rank 0) until its interval is as narrow as
   the settings ask for, or there are as many samples. True if that was reached before the time was
   up. Collective over MPI_COMM_WORLD. */
bool bc_run_sample(const struct bc_run *run, const struct bc_source *source, int subtrahend,
                   double seconds, struct bc_samples *samples);
