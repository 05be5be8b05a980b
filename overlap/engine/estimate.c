#include "overlap/engine/estimate.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>

/* The quantiles of a rank's times that stand for its undisturbed time. */
#define UNDISTURBED 0.25
#define LEAST_DISTURBED 0.05

/* At this confidence are the two times that a trial compares. */
#define TRIAL_CONFIDENCE 0.95

/* ---- a rank's times -------------------------------------------------------------------------- */

struct quantiles {
    double least_ns, undisturbed_ns, median_ns;
    double half_width_ns; /* of the interval of undisturbed_ns */
};

/* Of the times in rounds `first` to `end` - 1 of one quantity and `sign` times another one. */
static struct quantiles quantiles_of_both(const struct bc_samples *own, size_t first, size_t end,
                                          int quantity, double sign, int other)
{
    const size_t count = end - first;
    double *const sorted = bc_allocate(count, sizeof *sorted, "no memory for %zu rounds", count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = own->values[quantity][first + i] + sign * own->values[other][first + i];
    bc_sort(sorted, count);
    const struct bc_interval interval =
        bc_quantile_interval(sorted, count, UNDISTURBED, TRIAL_CONFIDENCE);
    const struct quantiles quantiles = {
        .least_ns = bc_quantile(sorted, count, LEAST_DISTURBED),
        .undisturbed_ns = bc_quantile(sorted, count, UNDISTURBED),
        .median_ns = bc_quantile(sorted, count, 0.5),
        .half_width_ns = (interval.hi - interval.lo) / 2.0,
    };
    free(sorted);
    return quantiles;
}

static struct quantiles quantiles_of(const struct bc_samples *own, size_t first, size_t end,
                                     int quantity)
{
    return quantiles_of_both(own, first, end, quantity, 0.0, quantity);
}

/* ---- how much work fits ---------------------------------------------------------------------- */

struct overlap_estimates overlap_estimate_own(const struct bc_samples *own, size_t first,
                                              size_t end)
{
    const struct quantiles plain = quantiles_of(own, first, end, OVERLAP_OWN_PLAIN);
    const struct quantiles beside = quantiles_of(own, first, end, OVERLAP_OWN_BESIDE);
    const struct quantiles inside = quantiles_of(own, first, end, OVERLAP_OWN_INSIDE);
    const struct quantiles alone = quantiles_of(own, first, end, OVERLAP_OWN_ALONE);
    const struct quantiles total =
        quantiles_of_both(own, first, end, OVERLAP_OWN_BESIDE, 1.0, OVERLAP_OWN_INSIDE);
    /* What the library took from the work. */
    const double taken_ns = inside.least_ns - alone.least_ns;
    const double other_taken_ns = inside.undisturbed_ns - alone.undisturbed_ns;
    return (struct overlap_estimates){
        .ns = {[OVERLAP_EST_REFERENCE] = plain.undisturbed_ns,
               [OVERLAP_EST_TOTAL] = total.undisturbed_ns,
               [OVERLAP_EST_EXPOSED] = beside.undisturbed_ns + taken_ns,
               [OVERLAP_EST_ALONE] = alone.undisturbed_ns,
               [OVERLAP_EST_OTHER_REFERENCE] = plain.least_ns,
               [OVERLAP_EST_OTHER_EXPOSED] = beside.least_ns + other_taken_ns},
        .half_width_ns = {[OVERLAP_EST_REFERENCE] = plain.half_width_ns,
                          [OVERLAP_EST_TOTAL] = total.half_width_ns},
    };
}

struct overlap_estimates overlap_estimate(const struct bc_samples *own, size_t first, size_t end,
                                          bool works)
{
    enum { INTERVALS = OVERLAP_EST_TOTAL + 1 };
    struct overlap_estimates of_rank = {.half_width_ns = {NAN, NAN}}, estimates;
    struct bc_located located[OVERLAP_ESTIMATED], slowest[OVERLAP_ESTIMATED];
    int rank;
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (works)
        of_rank = overlap_estimate_own(own, first, end);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        located[i] = (struct bc_located){works ? of_rank.ns[i] : -INFINITY, rank};
    bc_harness_allreduce(located, slowest, OVERLAP_ESTIMATED, MPI_DOUBLE_INT, MPI_MAXLOC,
                         MPI_COMM_WORLD);
    for (int i = 0; i < INTERVALS; i++)
        if (slowest[i].rank != rank)
            of_rank.half_width_ns[i] = 0.0;
    bc_harness_allreduce(of_rank.half_width_ns, estimates.half_width_ns, INTERVALS, MPI_DOUBLE,
                         MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        estimates.ns[i] = slowest[i].value;
    return estimates;
}

double overlap_excess_half_of(const struct overlap_estimates *estimates)
{
    return hypot(estimates->half_width_ns[OVERLAP_EST_TOTAL],
                 estimates->half_width_ns[OVERLAP_EST_REFERENCE]);
}

/* ---- what is gained: a visit ----------------------------------------------------------------- */

void overlap_gain_own(const struct bc_samples *own, size_t first, size_t end,
                      double estimates_ns[OVERLAP_GAIN_ESTIMATED])
{
    const struct quantiles beside = quantiles_of(own, first, end, OVERLAP_OWN_BESIDE);
    const struct quantiles inside = quantiles_of(own, first, end, OVERLAP_OWN_INSIDE);
    const struct quantiles alone = quantiles_of(own, first, end, OVERLAP_OWN_ALONE);
    /* What interrupts a rank is as likely in the work inside as in that alone. */
    const struct quantiles taken =
        quantiles_of_both(own, first, end, OVERLAP_OWN_INSIDE, -1.0, OVERLAP_OWN_ALONE);
    estimates_ns[OVERLAP_GAIN_BLOCKING] =
        quantiles_of(own, first, end, OVERLAP_OWN_PLAIN).median_ns;
    estimates_ns[OVERLAP_GAIN_EXPOSED] = beside.median_ns + inside.least_ns - alone.least_ns;
    estimates_ns[OVERLAP_GAIN_MEDIAN_EXPOSED] = beside.median_ns + taken.median_ns;
}

void overlap_estimate_gain(const struct bc_samples *own, size_t first, size_t end, bool works,
                           double estimates_ns[OVERLAP_GAIN_ESTIMATED])
{
    double of_rank_ns[OVERLAP_GAIN_ESTIMATED] = {-INFINITY, -INFINITY, -INFINITY};
    if (works)
        overlap_gain_own(own, first, end, of_rank_ns);
    bc_harness_allreduce(of_rank_ns, estimates_ns, OVERLAP_GAIN_ESTIMATED, MPI_DOUBLE, MPI_MAX,
                         MPI_COMM_WORLD);
}

/* ---- what is gained: a row ------------------------------------------------------------------- */

/* What each visit, or each part of one, says. */
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

/* With the exposed times of this quantity; freed by the caller. */
static struct bc_samples make_series(const struct bc_samples *said,
                                     enum overlap_gain_estimated exposed)
{
    struct bc_samples series = {.count = 0};
    for (size_t i = 0; i < said->count; i++) {
        const double blocking_ns = said->values[OVERLAP_GAIN_BLOCKING][i];
        const double exposed_ns = said->values[exposed][i];
        const double values[SERIES] = {
            [BLOCKING] = blocking_ns,
            [EXPOSED] = exposed_ns,
            [UNEVEN] = said->values[OVERLAP_GAIN_MEDIAN_EXPOSED][i] -
                       said->values[OVERLAP_GAIN_EXPOSED][i],
            [GAIN] = blocking_ns - exposed_ns,
            [GAIN_PCT] = percent_of(blocking_ns - exposed_ns, blocking_ns),
        };
        bc_samples_append(&series, values, SERIES, 0);
    }
    return series;
}

/* The means of what visits say; the interval of one visit is that of its blocks. */
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

/* Adds the error to the interval's, and lets it end further out by calls_ns. */
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
    /* What the clock can't see took no time, not less. */
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
