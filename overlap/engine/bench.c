#include "overlap/engine/bench.h"

#include "common/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool overlap_is_robust(const struct overlap_bench *bench)
{
    return bench->run->settings.estimator == BC_MEDIAN;
}

const struct bc_samples *overlap_run_rounds(struct overlap_bench *bench,
                                            struct overlap_round *round,
                                            const struct bc_source *source,
                                            const struct bc_plan *plan)
{
    bc_sampler_run(bench->sampler, source, plan);
    bench->wrong += round->wrong;
    round->wrong = 0;
    return bc_sampler_samples(bench->sampler);
}

static double *copy_values(const double *values, size_t count)
{
    double *const copy = malloc((count > 0 ? count : 1) * sizeof *copy);
    if (copy == NULL)
        bc_abort("no memory for %zu samples", count);
    if (count > 0)
        memcpy(copy, values, count * sizeof *copy);
    return copy;
}

struct bc_summary overlap_summarize(const struct overlap_bench *bench,
                                    const struct bc_samples *samples,
                                    int quantity)
{
    const struct bc_settings *const settings = &bench->run->settings;
    double *const values =
        copy_values(samples->values[quantity], samples->count);
    const struct bc_summary summary =
        bc_summarize(values, samples->count,
                     (enum bc_estimator)settings->estimator,
                     settings->confidence_pct / 100.0);
    free(values);
    return summary;
}

struct bc_summary overlap_summarize_difference(const struct bc_samples *samples,
                                               int quantity, int subtrahend,
                                               double confidence)
{
    double *const values =
        copy_values(samples->values[quantity], samples->count);
    for (size_t i = 0; i < samples->count; i++)
        values[i] -= samples->values[subtrahend][i];
    const struct bc_summary summary =
        bc_summarize(values, samples->count, BC_MEDIAN, confidence);
    free(values);
    return summary;
}

struct bc_summary overlap_without_clock(const struct overlap_bench *bench,
                                        struct bc_summary summary)
{
    const double clock_ns = bench->run->clock.read_ns;
    summary.value = fmax(0.0, summary.value - clock_ns);
    summary.interval.lo -= clock_ns;
    summary.interval.hi -= clock_ns;
    summary.p99 -= clock_ns;
    summary.max -= clock_ns;
    return summary;
}
