#include "overlap/engine/bench.h"

#include <math.h>

bool overlap_is_robust(const struct overlap_bench *bench)
{
    return bench->run->settings.estimator == BC_MEDIAN;
}

const struct bc_samples *overlap_run_rounds(struct overlap_bench *bench,
                                            struct overlap_round *round,
                                            const struct bc_source *source,
                                            const struct bc_plan *plan)
{
    struct bc_source timed = *source;
    timed.clock_ns = bench->run->own_clock.read_ns;
    bc_sampler_run(bench->sampler, &timed, plan);
    bench->wrong += round->wrong;
    round->wrong = 0;
    return bc_sampler_samples(bench->sampler);
}

struct bc_summary overlap_summarize_excess(const struct bc_samples *samples, double confidence)
{
    return bc_samples_summarize_difference(samples, OVERLAP_TOTAL, OVERLAP_REFERENCE, BC_MEDIAN,
                                           confidence);
}

struct bc_summary overlap_not_negative(struct bc_summary summary)
{
    summary.value = fmax(0.0, summary.value);
    return summary;
}
