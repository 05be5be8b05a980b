#include "common/run/run.h"

#include "common/stats/precision.h"

#include <math.h>

/* When the time is up, at least so many samples a row are taken if they can be had within
   GRACE_SHARE of the row's time. */
#define LEAST_SAMPLES 6
#define GRACE_SHARE 1.0

/* Where the time is no limit, so many missed rounds are taken again for each that is asked for. */
#define RETAKES 4

/* Of ranks that share processors, some are late for every start. */
static int64_t retakes(const struct bc_run *run)
{
    const struct bc_settings *const s = &run->settings;
    if (run->job.oversubscribed)
        return 0;
    return RETAKES * (s->samples > 0 ? s->samples : s->max_samples);
}

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
    /* What there is no time to look for is not looked for. */
    const bool settles = s->warmup >= 0 || seconds > 0.0;
    return (struct bc_plan){
        .min_rounds = fixed ? s->samples : s->min_samples,
        .max_rounds = fixed ? s->samples : s->max_samples,
        .deadline_s = bc_elapsed_s() + seconds,
        .grace_rounds = LEAST_SAMPLES,
        .grace_s = isfinite(seconds) ? GRACE_SHARE * seconds : 0.0,
        .warmup_rounds = settles ? s->warmup : 0,
        .retakes = retakes(run),
    };
}

struct bc_summary bc_run_summarize_difference(const struct bc_run *run,
                                              const struct bc_samples *samples, int quantity,
                                              int subtrahend)
{
    return bc_samples_summarize(samples, quantity, subtrahend,
                                (enum bc_estimator)run->settings.estimator,
                                run->settings.confidence_pct / 100.0);
}

struct bc_summary bc_run_summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity)
{
    return bc_run_summarize_difference(run, samples, quantity, -1);
}

bool bc_run_sample(const struct bc_run *run, const struct bc_source *source, int subtrahend,
                   double seconds, struct bc_summary *summary)
{
    const struct bc_precise_value value = {.quantity = 0, .subtrahend = subtrahend};
    struct bc_precision rule;
    struct bc_plan plan = bc_run_plan(run, seconds);
    bc_plan_until_precise(&plan, &rule, run, &value, 1);
    const enum bc_end end = bc_sampler_run(run->sampler, source, &plan);
    if (run->job.rank == 0)
        *summary =
            bc_run_summarize_difference(run, bc_sampler_samples(run->sampler), 0, subtrahend);
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
