#include "overlap/engine/gain.h"

#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* The quantile of the work's times, inside the operation and alone, that stands for undisturbed
   ones. */
#define UNDISTURBED 0.05

/* The quantile of what `add` less `subtract` (NULL: nothing) is in `count` rounds. `sorted` has
   room for them. */
static double quantile_of(const double *add, const double *subtract, size_t count, double quantile,
                          double *sorted)
{
    for (size_t i = 0; i < count; i++)
        sorted[i] = add[i] - (subtract != NULL ? subtract[i] : 0.0);
    bc_sort(sorted, count);
    return bc_quantile(sorted, count, quantile);
}

void overlap_gain_own(const struct bc_samples *own, size_t first, size_t end,
                      double estimates_ns[OVERLAP_GAIN_ESTIMATED])
{
    const size_t count = end - first;
    double *const sorted = bc_allocate(count, sizeof *sorted, "no memory for %zu rounds", count);
    const double *const inside = own->values[OVERLAP_PLENTY_INSIDE] + first;
    const double *const alone = own->values[OVERLAP_PLENTY_ALONE] + first;
    const double beside_ns =
        quantile_of(own->values[OVERLAP_PLENTY_BESIDE] + first, NULL, count, 0.5, sorted);
    estimates_ns[OVERLAP_GAIN_BLOCKING] =
        quantile_of(own->values[OVERLAP_PLENTY_BLOCKING] + first, NULL, count, 0.5, sorted);
    estimates_ns[OVERLAP_GAIN_EXPOSED] = beside_ns +
                                         quantile_of(inside, NULL, count, UNDISTURBED, sorted) -
                                         quantile_of(alone, NULL, count, UNDISTURBED, sorted);
    /* What stops a rank is as likely in the work inside as in that alone. */
    estimates_ns[OVERLAP_GAIN_MEDIAN_EXPOSED] =
        beside_ns + quantile_of(inside, alone, count, 0.5, sorted);
    free(sorted);
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

enum { BLOCKING, EXPOSED, UNEVEN, GAIN, GAIN_PCT, SERIES };

/* 0 where the blocking counterpart is too short for the clock; see overlap_gain_of_visits. */
static double percent_of(double ns, double blocking_ns)
{
    return blocking_ns > 0.0 ? 100.0 * ns / blocking_ns : 0.0;
}

/* Whether the clock saw the blocking counterpart in each visit. */
static bool has_percentages(const struct bc_samples *visits)
{
    for (size_t i = 0; i < visits->count; i++)
        if (!(visits->values[OVERLAP_GAIN_BLOCKING][i] > 0.0))
            return false;
    return true;
}

/* One series after the other, `count` values each, with the exposed times of this quantity; freed
   by the caller. */
static double *make_series(const struct bc_samples *samples, enum overlap_gain_estimated exposed)
{
    const size_t count = samples->count;
    double *const series =
        bc_allocate(SERIES * count, sizeof *series, "no memory for %zu visits", count);
    for (size_t i = 0; i < count; i++) {
        const double blocking_ns = samples->values[OVERLAP_GAIN_BLOCKING][i];
        const double exposed_ns = samples->values[exposed][i];
        series[BLOCKING * count + i] = blocking_ns;
        series[EXPOSED * count + i] = exposed_ns;
        series[UNEVEN * count + i] = samples->values[OVERLAP_GAIN_MEDIAN_EXPOSED][i] -
                                     samples->values[OVERLAP_GAIN_EXPOSED][i];
        series[GAIN * count + i] = blocking_ns - exposed_ns;
        series[GAIN_PCT * count + i] = percent_of(blocking_ns - exposed_ns, blocking_ns);
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

static void summarize_series(const struct bc_samples *visits, const struct bc_samples *blocks,
                             enum overlap_gain_estimated exposed, double confidence,
                             struct bc_summary summary[SERIES])
{
    double *const of_visits = make_series(visits, exposed);
    double *const of_blocks = make_series(blocks, exposed);
    for (size_t i = 0; i < SERIES; i++)
        summary[i] = summarize(of_visits + i * visits->count, visits->count,
                               of_blocks + i * blocks->count, blocks->count, confidence);
    free(of_visits);
    free(of_blocks);
}

struct overlap_gain overlap_gain_of_visits(const struct bc_samples *visits,
                                           const struct bc_samples *blocks, double calls_ns,
                                           double confidence)
{
    struct bc_summary summary[SERIES];
    summarize_series(visits, blocks, OVERLAP_GAIN_EXPOSED, confidence, summary);
    const double choice_ns = summary[UNEVEN].value;
    if (summary[UNEVEN].interval.lo > 0.0)
        summarize_series(visits, blocks, OVERLAP_GAIN_MEDIAN_EXPOSED, confidence, summary);
    summary[EXPOSED].value = fmax(0.0, summary[EXPOSED].value);
    const double blocking_ns = summary[BLOCKING].value;
    summary[GAIN].value = blocking_ns - summary[EXPOSED].value;
    summary[GAIN_PCT].value = percent_of(summary[GAIN].value, blocking_ns);
    widen(&summary[BLOCKING], 0.0, calls_ns);
    widen(&summary[EXPOSED], choice_ns, calls_ns);
    summary[EXPOSED].interval = not_below_0(summary[EXPOSED].interval);
    widen(&summary[GAIN], choice_ns, calls_ns);
    widen(&summary[GAIN_PCT], percent_of(choice_ns, blocking_ns),
          percent_of(calls_ns, blocking_ns));
    if (!has_percentages(visits))
        bc_summary_scale(&summary[GAIN_PCT], NAN);
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
