#include "overlap/engine/gain.h"

#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The quantiles of the work's times that stand for undisturbed times, and others. */
#define UNDISTURBED 0.05
#define OTHER 0.25

void overlap_gain_own(const struct bc_samples *own, size_t first, size_t end,
                      double estimates_ns[OVERLAP_GAIN_ESTIMATED])
{
    const size_t count = end - first;
    double *const sorted = bc_allocate(count, sizeof *sorted, "no memory for %zu rounds", count);
    double median[OVERLAP_PLENTY_QUANTITIES];
    double undisturbed[OVERLAP_PLENTY_QUANTITIES], other[OVERLAP_PLENTY_QUANTITIES];
    for (int q = 0; q < OVERLAP_PLENTY_QUANTITIES; q++) {
        memcpy(sorted, own->values[q] + first, count * sizeof *sorted);
        bc_sort(sorted, count);
        median[q] = bc_quantile(sorted, count, 0.5);
        undisturbed[q] = bc_quantile(sorted, count, UNDISTURBED);
        other[q] = bc_quantile(sorted, count, OTHER);
    }
    free(sorted);
    estimates_ns[OVERLAP_GAIN_BLOCKING] = median[OVERLAP_PLENTY_BLOCKING];
    /* And what the library took from the work. */
    estimates_ns[OVERLAP_GAIN_EXPOSED] = median[OVERLAP_PLENTY_BESIDE] +
                                         undisturbed[OVERLAP_PLENTY_INSIDE] -
                                         undisturbed[OVERLAP_PLENTY_ALONE];
    estimates_ns[OVERLAP_GAIN_OTHER_EXPOSED] =
        median[OVERLAP_PLENTY_BESIDE] + other[OVERLAP_PLENTY_INSIDE] - other[OVERLAP_PLENTY_ALONE];
}

/* The mean of what visits say; the interval of one visit is that of its blocks. */
static struct bc_summary summarize(const double *visits, size_t count, const double *blocks,
                                   size_t block_count, double confidence)
{
    struct bc_summary summary = bc_mean_of_visits(visits, count, confidence);
    if (count != 1 || block_count < 2)
        return summary;
    const struct bc_interval of_blocks =
        bc_mean_of_visits(blocks, block_count, confidence).interval;
    summary.interval.lo = fmin(summary.value, of_blocks.lo);
    summary.interval.hi = fmax(summary.value, of_blocks.hi);
    return summary;
}

enum { BLOCKING, EXPOSED, OTHER_EXPOSED, GAIN, GAIN_PCT, SERIES };

/* One series after the other, `count` values each; freed by the caller. */
static double *make_series(const struct bc_samples *samples)
{
    const size_t count = samples->count;
    double *const series =
        bc_allocate(SERIES * count, sizeof *series, "no memory for %zu visits", count);
    for (size_t i = 0; i < count; i++) {
        const double blocking_ns = samples->values[OVERLAP_GAIN_BLOCKING][i];
        const double exposed_ns = samples->values[OVERLAP_GAIN_EXPOSED][i];
        series[BLOCKING * count + i] = blocking_ns;
        series[EXPOSED * count + i] = exposed_ns;
        series[OTHER_EXPOSED * count + i] = samples->values[OVERLAP_GAIN_OTHER_EXPOSED][i];
        series[GAIN * count + i] = blocking_ns - exposed_ns;
        series[GAIN_PCT * count + i] = 100.0 * (blocking_ns - exposed_ns) / blocking_ns;
    }
    return series;
}

/* Adds the error to the interval's, and lets it end further out by what the calls may cost besides.
 */
static void widen(struct bc_summary *summary, double error, double besides)
{
    summary->interval = bc_interval_with(summary, error);
    summary->interval.lo -= besides;
    summary->interval.hi += besides;
}

/* What the clock can't see took no time, not less. */
static struct bc_interval not_below_0(struct bc_interval interval)
{
    if (isnan(interval.lo))
        return interval;
    return (struct bc_interval){fmax(0.0, interval.lo), fmax(0.0, interval.hi)};
}

struct overlap_gain overlap_gain_of_visits(const struct bc_samples *visits,
                                           const struct bc_samples *blocks, double calls_ns,
                                           double confidence)
{
    double *const of_visits = make_series(visits);
    double *const of_blocks = make_series(blocks);
    struct bc_summary summary[SERIES];
    for (size_t i = 0; i < SERIES; i++)
        summary[i] = summarize(of_visits + i * visits->count, visits->count,
                               of_blocks + i * blocks->count, blocks->count, confidence);
    free(of_visits);
    free(of_blocks);

    const double choice_ns = summary[OTHER_EXPOSED].value - summary[EXPOSED].value;
    summary[EXPOSED].value = fmax(0.0, summary[EXPOSED].value);
    const double blocking_ns = summary[BLOCKING].value;
    summary[GAIN].value = blocking_ns - summary[EXPOSED].value;
    summary[GAIN_PCT].value = 100.0 * summary[GAIN].value / blocking_ns;
    widen(&summary[BLOCKING], 0.0, calls_ns);
    widen(&summary[EXPOSED], choice_ns, calls_ns);
    summary[EXPOSED].interval = not_below_0(summary[EXPOSED].interval);
    widen(&summary[GAIN], choice_ns, calls_ns);
    widen(&summary[GAIN_PCT], 100.0 * choice_ns / blocking_ns, 100.0 * calls_ns / blocking_ns);
    return (struct overlap_gain){
        .blocking = summary[BLOCKING],
        .exposed = summary[EXPOSED],
        .gain = summary[GAIN],
        .gain_pct = summary[GAIN_PCT],
    };
}

const char *overlap_verdict(const struct bc_summary *gain_pct, double threshold_pct)
{
    const double lo = gain_pct->interval.lo, hi = gain_pct->interval.hi;
    if (isnan(lo) || isnan(hi))
        return NULL;
    if (lo > threshold_pct)
        return "pays";
    if (hi < -threshold_pct)
        return "loses";
    return lo >= -threshold_pct && hi <= threshold_pct ? "even" : "can't tell";
}
