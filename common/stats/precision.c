#include "common/stats/precision.h"

/* Looks at every value each time, since each counts its narrow looks in a row. */
static bool all_are_precise(const struct bc_samples *samples, void *context)
{
    struct bc_precision *const rule = context;
    bool precise = true;
    for (int i = 0; i < rule->count; i++) {
        const struct bc_precise_value *const value = &rule->values[i];
        struct bc_summary summary =
            bc_run_summarize_difference(rule->run, samples, value->quantity, value->subtrahend);
        if (bc_half_width(&summary) < value->resolution_ns)
            summary.interval.lo = summary.interval.hi = summary.value;
        const bool negligible =
            value->negligible_ns > 0.0 && !(summary.value > value->negligible_ns);
        if (!bc_stopping_look(&rule->stopping[i], &summary) && !negligible)
            precise = false;
    }
    return precise;
}

void bc_plan_until_precise(struct bc_plan *plan, struct bc_precision *rule,
                           const struct bc_run *run, const struct bc_precise_value *values,
                           int count)
{
    *rule = (struct bc_precision){.run = run, .values = values, .count = count};
    for (int i = 0; i < count; i++)
        rule->stopping[i].precision = run->settings.precision_pct / 100.0;
    if (plan->min_rounds >= plan->max_rounds)
        return;
    plan->settled = all_are_precise;
    plan->context = rule;
}
