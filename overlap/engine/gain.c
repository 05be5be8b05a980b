/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/gain.h"

#include <math.h>

/* ---- a visit --------------------------------------------------------------------------------- */

void overlap_gain_own(const struct bc_samples *own, size_t first, size_t end,
                      double estimates_ns[OVERLAP_GAIN_ESTIMATED])
{
    const struct overlap_quantiles beside =
        overlap_quantiles_of(own, first, end, OVERLAP_OWN_BESIDE);
    const struct overlap_quantiles inside =
        overlap_quantiles_of(own, first, end, OVERLAP_OWN_INSIDE);
    const struct overlap_quantiles alone = overlap_quantiles_of(own, first, end, OVERLAP_OWN_ALONE);
    const struct overlap_quantiles taken =
        overlap_quantiles_of_both(own, first, end, OVERLAP_OWN_INSIDE, -1.0, OVERLAP_OWN_ALONE);
    estimates_ns[OVERLAP_GAIN_BLOCKING] =
        overlap_quantiles_of(own, first, end, OVERLAP_OWN_PLAIN).median_ns;
    estimates_ns[OVERLAP_GAIN_EXPOSED] = beside.median_ns + inside.least_ns - alone.least_ns;
    estimates_ns[OVERLAP_GAIN_MEDIAN_EXPOSED] = beside.median_ns + taken.median_ns;
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* The values of each visit, or of each part of one. */
enum { BLOCKING, EXPOSED, UNEVEN, GAIN, GAIN_PCT, SERIES };

/* Returns 0 if the blocking counterpart is too short for the clock. */
static double percent_of(double ns, double blocking_ns)
{
    return blocking_ns > 0.0 ? 100.0 * ns / blocking_ns : 0.0;
}

/* True if the blocking counterpart was long enough for the clock in each visit. */
static bool has_percentages(const struct bc_samples *visits)
{
    for (size_t i = 0; i < visits->count; i++)
        if (!(visits->values[OVERLAP_GAIN_BLOCKING][i] > 0.0))
            return false;
    return true;
}

/* Makes the series with this exposed time; freed by the caller. */
static struct bc_samples make_series(const struct bc_samples *estimates,
                                     enum overlap_gain_estimated exposed)
{
    struct bc_samples series = {.count = 0};
    for (size_t i = 0; i < estimates->count; i++) {
        const double blocking_ns = estimates->values[OVERLAP_GAIN_BLOCKING][i];
        const double exposed_ns = estimates->values[exposed][i];
        const double values[SERIES] = {
            [BLOCKING] = blocking_ns,
            [EXPOSED] = exposed_ns,
            [UNEVEN] = estimates->values[OVERLAP_GAIN_MEDIAN_EXPOSED][i] -
                       estimates->values[OVERLAP_GAIN_EXPOSED][i],
            [GAIN] = blocking_ns - exposed_ns,
            [GAIN_PCT] = percent_of(blocking_ns - exposed_ns, blocking_ns),
        };
        bc_samples_append(&series, values, SERIES, 0);
    }
    return series;
}

/* Summarizes visits by their means; the interval of a single visit is that of its blocks. */
static void summarize_series(const struct bc_samples *visits, const struct bc_samples *blocks,
                             enum overlap_gain_estimated exposed, double confidence,
                             struct bc_summary summary[SERIES])
{
    struct bc_samples of_visits = make_series(visits, exposed);
    struct bc_samples of_blocks = make_series(blocks, exposed);
    for (int i = 0; i < SERIES; i++) {
        summary[i] = bc_mean_of_visits(of_visits.values[i], of_visits.count, confidence);
        if (of_visits.count != 1 || of_blocks.count < 2)
            continue;
        summary[i].interval =
            bc_mean_of_visits(of_blocks.values[i], of_blocks.count, confidence).interval;
        summary[i].interval.lo = fmin(summary[i].value, summary[i].interval.lo);
        summary[i].interval.hi = fmax(summary[i].value, summary[i].interval.hi);
    }
    bc_samples_free(&of_visits);
    bc_samples_free(&of_blocks);
}

/* Widens the interval by an error, and at each end by calls_ns. */
static void widen(struct bc_summary *summary, double error, double calls_ns)
{
    summary->interval = bc_interval_with(summary, error);
    summary->interval.lo -= calls_ns;
    summary->interval.hi += calls_ns;
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
    struct overlap_gain gain = {summary[BLOCKING], summary[EXPOSED], summary[GAIN],
                                summary[GAIN_PCT]};
    const double blocking_ns = gain.blocking.value;
    /* A time below the clock's resolution is 0, not negative. */
    gain.exposed.value = fmax(0.0, gain.exposed.value);
    gain.gain.value = blocking_ns - gain.exposed.value;
    gain.gain_pct.value = percent_of(gain.gain.value, blocking_ns);
    widen(&gain.blocking, 0.0, calls_ns);
    widen(&gain.exposed, choice_ns, calls_ns);
    widen(&gain.gain, choice_ns, calls_ns);
    widen(&gain.gain_pct, percent_of(choice_ns, blocking_ns), percent_of(calls_ns, blocking_ns));
    if (!isnan(gain.exposed.interval.lo))
        gain.exposed.interval = (struct bc_interval){fmax(0.0, gain.exposed.interval.lo),
                                                     fmax(0.0, gain.exposed.interval.hi)};
    if (!has_percentages(visits))
        bc_summary_scale(&gain.gain_pct, NAN);
    return gain;
}
