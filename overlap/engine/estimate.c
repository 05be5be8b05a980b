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

/* Room for the sorted times of some rounds; freed by the caller. */
static double *make_room(size_t count)
{
    return bc_allocate(count, sizeof(double), "no memory for %zu rounds", count);
}

/* Sorts the times in `count` rounds from `first` on of one quantity and `sign` times another one;
   -1: no other. */
static void sort_times(const struct bc_samples *own, size_t first, size_t count, int quantity,
                       int other, double sign, double *sorted)
{
    for (size_t i = 0; i < count; i++) {
        sorted[i] = own->values[quantity][first + i];
        if (other >= 0)
            sorted[i] += sign * own->values[other][first + i];
    }
    bc_sort(sorted, count);
}

/* ---- how much work fits ---------------------------------------------------------------------- */

void overlap_estimate_own(const struct bc_samples *own, size_t first, size_t end, double confidence,
                          struct overlap_estimate *estimates)
{
    enum { TOTAL = OVERLAP_OWN_QUANTITIES, TIMES };
    const size_t count = end - first;
    double *const sorted = make_room(count);
    struct overlap_estimate of[TIMES];
    double least_ns[TIMES];
    for (int q = 0; q < TIMES; q++) {
        if (q == TOTAL)
            sort_times(own, first, count, OVERLAP_OWN_BESIDE, OVERLAP_OWN_INSIDE, 1.0, sorted);
        else
            sort_times(own, first, count, q, -1, 0.0, sorted);
        const struct bc_interval interval =
            bc_quantile_interval(sorted, count, UNDISTURBED, confidence);
        of[q] = (struct overlap_estimate){bc_quantile(sorted, count, UNDISTURBED),
                                          (interval.hi - interval.lo) / 2.0};
        least_ns[q] = bc_quantile(sorted, count, LEAST_DISTURBED);
    }
    free(sorted);
    estimates[OVERLAP_EST_REFERENCE] = of[OVERLAP_OWN_PLAIN];
    estimates[OVERLAP_EST_TOTAL] = of[TOTAL];
    estimates[OVERLAP_EST_ALONE] = of[OVERLAP_OWN_ALONE];
    estimates[OVERLAP_EST_EXPOSED] = of[OVERLAP_OWN_BESIDE];
    estimates[OVERLAP_EST_OTHER_REFERENCE] =
        (struct overlap_estimate){least_ns[OVERLAP_OWN_PLAIN], NAN};
    estimates[OVERLAP_EST_OTHER_EXPOSED] =
        (struct overlap_estimate){least_ns[OVERLAP_OWN_BESIDE], NAN};
    /* What the library took from the work. */
    estimates[OVERLAP_EST_EXPOSED].ns += least_ns[OVERLAP_OWN_INSIDE] - least_ns[OVERLAP_OWN_ALONE];
    estimates[OVERLAP_EST_OTHER_EXPOSED].ns += of[OVERLAP_OWN_INSIDE].ns - of[OVERLAP_OWN_ALONE].ns;
}

void overlap_estimate(const struct bc_samples *own, size_t first, size_t end, bool works,
                      struct overlap_estimate *estimates)
{
    struct overlap_estimate of_rank[OVERLAP_ESTIMATED];
    struct bc_located located[OVERLAP_ESTIMATED], slowest[OVERLAP_ESTIMATED];
    double half_width_ns[OVERLAP_ESTIMATED], slowest_half_width_ns[OVERLAP_ESTIMATED];
    int rank;
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        of_rank[i] = (struct overlap_estimate){-INFINITY, NAN};
    if (works)
        overlap_estimate_own(own, first, end, TRIAL_CONFIDENCE, of_rank);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        located[i] = (struct bc_located){of_rank[i].ns, rank};
    bc_harness_allreduce(located, slowest, OVERLAP_ESTIMATED, MPI_DOUBLE_INT, MPI_MAXLOC,
                         MPI_COMM_WORLD);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        half_width_ns[i] = slowest[i].rank == rank ? of_rank[i].half_width_ns : 0.0;
    bc_harness_allreduce(half_width_ns, slowest_half_width_ns, OVERLAP_ESTIMATED, MPI_DOUBLE,
                         MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        estimates[i] = (struct overlap_estimate){slowest[i].value, slowest_half_width_ns[i]};
}

double overlap_excess_half_of(const struct overlap_estimate *estimates)
{
    return hypot(estimates[OVERLAP_EST_TOTAL].half_width_ns,
                 estimates[OVERLAP_EST_REFERENCE].half_width_ns);
}

/* ---- what is gained: a visit ----------------------------------------------------------------- */

void overlap_gain_own(const struct bc_samples *own, size_t first, size_t end,
                      double estimates_ns[OVERLAP_GAIN_ESTIMATED])
{
    const size_t count = end - first;
    double *const sorted = make_room(count);
    double median_ns[OVERLAP_OWN_QUANTITIES], least_ns[OVERLAP_OWN_QUANTITIES];
    for (int q = 0; q < OVERLAP_OWN_QUANTITIES; q++) {
        sort_times(own, first, count, q, -1, 0.0, sorted);
        median_ns[q] = bc_quantile(sorted, count, 0.5);
        least_ns[q] = bc_quantile(sorted, count, LEAST_DISTURBED);
    }
    /* What interrupts a rank is as likely in the work inside as in that alone. */
    sort_times(own, first, count, OVERLAP_OWN_INSIDE, OVERLAP_OWN_ALONE, -1.0, sorted);
    estimates_ns[OVERLAP_GAIN_BLOCKING] = median_ns[OVERLAP_OWN_PLAIN];
    estimates_ns[OVERLAP_GAIN_EXPOSED] =
        median_ns[OVERLAP_OWN_BESIDE] + least_ns[OVERLAP_OWN_INSIDE] - least_ns[OVERLAP_OWN_ALONE];
    estimates_ns[OVERLAP_GAIN_MEDIAN_EXPOSED] =
        median_ns[OVERLAP_OWN_BESIDE] + bc_quantile(sorted, count, 0.5);
    free(sorted);
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

/* Adds the error to the interval's, and lets it end further out by calls_ns. */
static void widen(struct bc_summary *summary, double error, double calls_ns)
{
    summary->interval = bc_interval_with(summary, error);
    summary->interval.lo -= calls_ns;
    summary->interval.hi += calls_ns;
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
