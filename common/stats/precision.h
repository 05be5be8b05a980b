/*
 * The rule by which adaptive sampling ends: every value that a row is about has an interval as
 * narrow as --precision asks for.
 */
#ifndef COMMCOST_COMMON_STATS_PRECISION_H
#define COMMCOST_COMMON_STATS_PRECISION_H

#include "common/run/run.h"

/* A value that has to be precise. */
struct bc_precise_value {
    int quantity;
    int subtrahend;       /* the quantity to subtract from it, round by round; -1: none */
    double resolution_ns; /* an interval with a half-width below this is narrow enough */
    double negligible_ns; /* a value up to this need not be precise; 0: every value must be */
};

#define BC_PRECISE_VALUES_MAX 4

/* Internal to the rule; lives as long as the plan. */
struct bc_precision {
    const struct bc_run *run;
    const struct bc_precise_value *values;
    int count;
    struct bc_stopping stopping[BC_PRECISE_VALUES_MAX];
};

/* Lets `plan` end when all `count` values (at most BC_PRECISE_VALUES_MAX) are precise by the
   settings of the run; does nothing to a plan with a fixed number of rounds. Fills in `rule`, which
   must outlive the plan, as the values must. Local. */
void bc_plan_until_precise(struct bc_plan *plan, struct bc_precision *rule,
                           const struct bc_run *run, const struct bc_precise_value *values,
                           int count);

#endif
