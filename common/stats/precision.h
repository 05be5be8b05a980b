/*
 * The rule by which adaptive sampling ends: every value that a row is about has an interval as
 * narrow as --precision asks for.
 */
#ifndef COMMCOST_COMMON_STATS_PRECISION_H
#define COMMCOST_COMMON_STATS_PRECISION_H

#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "common/stats/stats.h"

/* A value that has to be precise. */
struct bc_target {
    int quantity;
    int subtrahend;       /* the quantity to subtract from it, round by round; -1: none */
    double resolution_ns; /* an interval whose half-width is below this is narrow enough; 0: none is
                             because of that */
    double negligible_ns; /* a value up to this need not be precise; 0: all must be */
};

#define BC_TARGETS_MAX 4

/* Internal to the rule; lives as long as the plan. */
struct bc_precision {
    const struct bc_run *run;
    const struct bc_target *targets;
    int count;
    struct bc_stopping stopping[BC_TARGETS_MAX];
};

/* Lets `plan` end when all `count` targets (at most BC_TARGETS_MAX) are precise by the settings of
   the run; does nothing to a plan with a fixed number of rounds. `rule` is filled in; it and the
   targets must outlive the plan. Local. */
void bc_plan_until_precise(struct bc_plan *plan, struct bc_precision *rule,
                           const struct bc_run *run, const struct bc_target *targets, int count);

#endif
