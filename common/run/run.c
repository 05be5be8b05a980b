#include "common/run/run.h"

#include <math.h>

/* When the time is up, at least so many samples a row are taken if they can be had within
   GRACE_SHARE of the row's time. */
#define LEAST_SAMPLES 6
#define GRACE_SHARE 1.0

/* Where the time is no limit, so many missed rounds are taken again for each that is asked for. */
#define RETAKES 4

double bc_run_usable_bytes(const struct bc_run *run, double share, bool in_windows)
{
    int64_t bytes = run->memory_per_rank;
    if (in_windows && run->shared_memory_per_rank < bytes)
        bytes = run->shared_memory_per_rank;
    return share * (double)bytes;
}

struct bc_plan bc_run_plan(const struct bc_run *run, double seconds)
{
    const struct bc_settings *const s = &run->settings;
    const bool fixed = s->samples > 0;
    const int64_t max_rounds = fixed ? s->samples : s->max_samples;
    /* What there is no time to look for is not looked for. */
    const bool settles = s->warmup >= 0 || seconds > 0.0;
    return (struct bc_plan){
        .min_rounds = fixed ? s->samples : s->min_samples,
        .max_rounds = max_rounds,
        .deadline_s = bc_elapsed_s() + seconds,
        .grace_rounds = LEAST_SAMPLES,
        .grace_s = isfinite(seconds) ? GRACE_SHARE * seconds : 0.0,
        .warmup_rounds = settles ? s->warmup : 0,
        /* Of ranks that share processors, some are late for every start. */
        .retakes = run->job.oversubscribed ? 0 : RETAKES * max_rounds,
    };
}

struct bc_summary bc_run_summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity, int subtrahend)
{
    return bc_samples_summarize(samples, quantity, subtrahend,
                                (enum bc_estimator)run->settings.estimator,
                                run->settings.confidence_pct / 100.0);
}

/* Looks at every value each time, since each counts its narrow looks in a row. */
static bool all_are_precise(const struct bc_samples *samples, void *context)
{
    struct bc_precision *const rule = context;
    bool precise = true;
    for (int i = 0; i < rule->count; i++) {
        const struct bc_precise_value *const value = &rule->values[i];
        struct bc_summary summary =
            bc_run_summarize(rule->run, samples, value->quantity, value->subtrahend);
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

bool bc_run_sample(const struct bc_run *run, const struct bc_source *source, int subtrahend,
                   double seconds, struct bc_summary *summary)
{
    const struct bc_precise_value value = {.subtrahend = subtrahend};
    struct bc_precision rule;
    struct bc_plan plan = bc_run_plan(run, seconds);
    bc_plan_until_precise(&plan, &rule, run, &value, 1);
    const enum bc_end end = bc_sampler_run(run->sampler, source, &plan);
    if (run->job.rank == 0)
        *summary = bc_run_summarize(run, bc_sampler_samples(run->sampler), 0, subtrahend);
    return end == BC_END_SETTLED;
}

struct bc_outcome bc_run_outcome(const struct bc_run *run, bool in_time)
{
    return (struct bc_outcome){
        .samples = (int64_t)bc_sampler_samples(run->sampler)->count,
        .status = in_time ? BC_OK : BC_BUDGET,
        .slowest_rank = bc_sampler_slowest_rank(run->sampler),
    };
}

void bc_run_dump(const struct bc_run *run, const char *quantity, const double *values, size_t count)
{
    if (run->dump == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        fprintf(run->dump, "%lld\t%s\t%zu\t%.1f\n", (long long)run->rows + 1, quantity, i + 1,
                values[i]);
}
