/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/clock.h"
#include "common/measure/sequence.h"

#include <math.h>

/* A visit may overrun by this share of its time to get its grace_rounds. */
#define GRACE_SHARE 1.0

/* Maximum number of missed rounds that are dropped per requested round. They are repeated if there
   is time. */
#define RETAKES 4

int64_t bc_part_of_visit(int64_t total, const struct bc_run *run)
{
    const int64_t visit = run->visit, visits = run->visits;
    return total * (visit + 1) / visits - total * visit / visits;
}

struct bc_plan bc_plan_of(const struct bc_run *run, const struct bc_samples *taken, double seconds)
{
    const struct bc_settings *const s = &run->settings;
    const bool fixed = s->samples > 0;
    const int64_t left = s->max_samples - (taken != NULL ? (int64_t)taken->count : 0);
    const int64_t visits_left = run->visit < run->visits ? run->visits - run->visit : 1;
    const int64_t max_rounds =
        fixed ? bc_part_of_visit(s->samples, run) : (left + visits_left - 1) / visits_left;
    const int64_t min_rounds =
        fixed ? max_rounds : (s->min_samples + run->visits - 1) / run->visits;
    /* If no time is left, the warm-up is left out. */
    const bool settles = s->warmup >= 0 || seconds > 0.0;
    return (struct bc_plan){
        .min_rounds = min_rounds < max_rounds ? min_rounds : max_rounds,
        .max_rounds = max_rounds,
        .deadline_s = bc_elapsed_s() + seconds,
        /* Even a row that gets only its first visit must have an interval. */
        .grace_rounds = run->visit == 0 ? BC_LEAST_SAMPLES : 1,
        .grace_s = isfinite(seconds) ? GRACE_SHARE * seconds : 0.0,
        .warmup_rounds = settles ? s->warmup : 0,
        .was_warm = run->visit > 0,
        /* Of ranks that share processors, some are late for every start. */
        .retakes = run->job.oversubscribed ? 0 : RETAKES * max_rounds,
    };
}

bool bc_values_are_precise(const struct bc_run *run, const struct bc_samples *samples,
                           const struct bc_precise_value *values, int count,
                           struct bc_stopping *stopping)
{
    bool precise = true;
    for (int i = 0; i < count; i++) {
        const struct bc_precise_value *const value = &values[i];
        struct bc_summary summary =
            bc_samples_summary(run, samples, value->quantity, value->subtrahend);
        /* An interval narrower than its resolution is a point. */
        if (bc_half_width(&summary) < value->resolution_ns)
            summary.interval.lo = summary.interval.hi = summary.value;
        const bool is_narrow = stopping != NULL
                                   ? bc_stopping_look(&stopping[i], &summary)
                                   : bc_is_precise(&summary, run->settings.precision_pct / 100.0);
        const bool is_negligible =
            value->negligible_ns > 0.0 && !(summary.value > value->negligible_ns);
        precise = precise && (is_narrow || is_negligible);
    }
    return precise;
}

bool bc_samples_are_precise(const struct bc_run *run, const struct bc_samples *samples,
                            bool in_time, const struct bc_precise_value *values, int count)
{
    if (run->settings.samples > 0)
        return (int64_t)samples->count >= run->settings.samples;
    return run->visits == 1 ? in_time : bc_values_are_precise(run, samples, values, count, NULL);
}

void bc_plan_until_precise(struct bc_plan *plan, const struct bc_precise_value *values, int count)
{
    if (plan->min_rounds >= plan->max_rounds)
        return;
    plan->precise = values;
    plan->precise_count = count;
}
