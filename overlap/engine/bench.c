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
    bc_sampler_run(bench->sampler, source, plan);
    bench->wrong += round->wrong;
    round->wrong = 0;
    return bc_sampler_samples(bench->sampler);
}

struct bc_summary overlap_summarize_excess(const struct bc_samples *samples,
                                           double confidence)
{
    return bc_samples_summarize_difference(
        samples, OVERLAP_TOTAL, OVERLAP_REFERENCE, BC_MEDIAN, confidence);
}

struct bc_summary overlap_without_clock(const struct overlap_bench *bench,
                                        struct bc_summary summary)
{
    bc_summary_shift(&summary, -bench->run->clock.read_ns);
    summary.value = fmax(0.0, summary.value);
    return summary;
}
