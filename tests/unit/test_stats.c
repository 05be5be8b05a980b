/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics against tables, worked examples and simulation.
 */
#include "helpers.h"

#include "common/stats/sampling.h"

#include <stdlib.h>
#include <string.h>

/* ---- order statistics ------------------------------------------------------------------------ */

TEST(quantile_is_type_7)
{
    /* R: quantile(1:10, ...), whose default is 7; unequal steps tell interpolation from rounding.
     */
    static const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, doubling[] = {1, 2, 4, 8};
    static const struct {
        const double *sorted;
        size_t count;
        double p, quantile;
    } known[] = {
        {ten, 10, 0.0, 1.0},     {ten, 10, 0.25, 3.25},   {ten, 10, 0.5, 5.5},
        {ten, 10, 0.9, 9.1},     {ten, 10, 0.99, 9.91},   {ten, 10, 1.0, 10.0},
        {doubling, 4, 0.9, 6.8}, {doubling, 4, 0.1, 1.3}, {doubling, 1, 0.7, 1.0},
        {doubling, 0, 0.5, NAN},
    };
    for (size_t i = 0; i < COUNT(known); i++)
        assert_near(bc_quantile(known[i].sorted, known[i].count, known[i].p), known[i].quantile,
                    1e-12);
}

TEST(median_sorts_in_place)
{
    /* The last two: differences far below 1 and far above INT_MAX must not compare equal. */
    static const struct {
        double values[4];
        size_t count;
        double median;
    } known[] = {{{5, -1, 3}, 3, 3.0},
                 {{4, 1, 3, 2}, 4, 2.5},
                 {{0}, 0, NAN},
                 {{1.5, 1.25, 1.125}, 3, 1.25},
                 {{3e10, -3e10, 1e10}, 3, 1e10}};
    for (size_t i = 0; i < COUNT(known); i++) {
        double values[4];
        memcpy(values, known[i].values, sizeof values);
        assert_near(bc_median(values, known[i].count), known[i].median, 0.0);
        for (size_t j = 1; j < known[i].count; j++)
            assert_true(values[j - 1] < values[j]);
    }
}

TEST(mad_sigma_of_known_data)
{
    /* R: mad(1:9) = 2.9652. One wild value among ten does not show. */
    const double nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const double wild[] = {8, 9, 9, 10, 10, 10, 11, 11, 12, 1e9};
    assert_near(bc_mad_sigma(nine, 9), 2.9652, 1e-4);
    assert_near(bc_mad_sigma(wild, 10), 1.4826022185, 1e-9);
    assert_true(isnan(bc_mad_sigma(nine, 1)) && isnan(bc_mad_sigma(nine, 0)));
}

/* ---- moments --------------------------------------------------------------------------------- */

/* Student's data on sleep (Biometrika 6 (1908), table 1): the extra hours of ten patients. */
static const double sleep_hours[] = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};

/* NAN where there is none. */
static void assert_interval(struct bc_interval interval, double lo, double hi, double tolerance)
{
    assert_near(interval.lo, lo, tolerance);
    assert_near(interval.hi, hi, tolerance);
}

TEST(mean_sd_and_interval_of_known_data)
{
    assert_near(bc_mean(sleep_hours, 10), 1.58, 1e-12);
    assert_near(bc_sd(sleep_hours, 10), 1.2299955, 1e-7);
    assert_near(bc_mean(sleep_hours, 0), NAN, 0.0);
    assert_near(bc_sd(sleep_hours, 1), NAN, 0.0);
    /* R: t.test(sleep hours), at 95 %. */
    assert_interval(bc_mean_interval(sleep_hours, 10, 0.95), 0.7001142, 2.4598858, 1e-6);
    assert_interval(bc_mean_interval(sleep_hours, 1, 0.95), NAN, NAN, 0.0);
    /* Small spread on a large value, as times have it. */
    assert_near(bc_sd((const double[]){1e9 + 1, 1e9 + 2, 1e9 + 3}, 3), 1.0, 1e-9);
}

/* ---- quantiles of distributions -------------------------------------------------------------- */

TEST(student_quantiles)
{
    /* Fisher and Yates, Statistical Tables, table III; digits from R's qt. */
    static const struct {
        double p, degrees, t;
    } known[] = {
        {0.975, 1, 12.706204736432095},  {0.975, 2, 4.302652729911275},
        {0.975, 10, 2.228138851964939},  {0.975, 30, 2.042272456301238},
        {0.995, 5, 4.032142983557536},   {0.95, 1, 6.313751514675043},
        {0.9, 3, 1.637744353696210},     {0.025, 10, -2.228138851964939},
        {0.975, 120, 1.979930405052777},
    };
    for (size_t i = 0; i < COUNT(known); i++)
        assert_near(bc_student_quantile(known[i].p, known[i].degrees), known[i].t,
                    1e-8 * fabs(known[i].t));
    assert_near(bc_student_quantile(0.5, 7), 0.0, 1e-12);
}

/* ---- the interval of the median -------------------------------------------------------------- */

static double *ascending(size_t count)
{
    double *const values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (double)(i + 1);
    return values;
}

/* Of values 1, 2, 3 and so on an interval is a pair of ranks. For p = 1/2 they are in the binomial
   table (Conover, Practical Nonparametric Statistics, table A3); NAN: there is none. */
TEST(interval_ranks)
{
    static const struct {
        size_t count;
        double p, confidence, lo, hi;
    } known[] = {
        {6, 0.5, 0.95, 1, 6},      {30, 0.5, 0.95, 10, 21},        {100, 0.5, 0.95, 40, 61},
        {10, 0.5, 0.99, 1, 10},    {10000, 0.5, 0.95, 4902, 5099}, {5, 0.5, 0.95, NAN, NAN},
        {2, 0.5, 0.5, 1, 2},       {2, 0.5, 0.51, NAN, NAN},       {0, 0.5, 0.95, NAN, NAN},
        {100, 0.25, 0.95, 17, 35}, {1000, 0.25, 0.95, 223, 278},   {100, 0.9, 0.95, 84, 96},
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        double *const values = ascending(known[i].count);
        assert_interval(
            bc_quantile_interval(values, known[i].count, known[i].p, known[i].confidence),
            known[i].lo, known[i].hi, 0.0);
        free(values);
    }
}

static bool same_interval(struct bc_interval a, struct bc_interval b)
{
    return (isnan(a.lo) && isnan(a.hi) && isnan(b.lo) && isnan(b.hi)) ||
           (a.lo == b.lo && a.hi == b.hi);
}

/* ---- visits ---------------------------------------------------------------------------------- */

TEST(pseudomedian_of_known_data)
{
    /* Hollander, Wolfe and Chicken, table 3.1: the depression of nine patients, before and after;
       R: wilcox.test(..., conf.int = TRUE) has the same. */
    static const double depression[] = {-0.952, 0.147,  -1.022, -0.430, -0.620,
                                        -0.590, -0.490, 0.080,  -0.010};
    const struct bc_summary summary = bc_pseudomedian(depression, 9, 0.95);
    assert_int_equal(summary.count, 9);
    assert_near(summary.value, -0.460, 1e-12);
    assert_interval(summary.interval, -0.786, -0.010, 1e-12);
    assert_true(isnan(summary.sd) && isnan(summary.p99) && isnan(summary.max));
    /* Means of pairs: 1, 1.5, 2, 5.5, 6, 10. */
    assert_near(bc_pseudomedian((const double[]){10.0, 1.0, 2.0}, 3, 0.95).value, 3.75, 1e-12);
}

/* 1, 2, 4, 8 and so on: the means of pairs have an order that is known by hand. */
static const double doubling[] = {4, 1, 16, 2, 8, 32, 64, 128, 512, 256};

TEST(pseudomedian_of_few_is_students)
{
    for (size_t count = 0; count < 6; count++)
        assert_true(same_interval(bc_pseudomedian(doubling, count, 0.95).interval,
                                  bc_mean_interval(doubling, count, 0.95)));
    assert_true(same_interval(bc_pseudomedian(doubling, 7, 0.99).interval,
                              bc_mean_interval(doubling, 7, 0.99)));
    assert_near(bc_pseudomedian(doubling, 1, 0.95).value, 4.0, 0.0);
    assert_near(bc_pseudomedian(doubling, 0, 0.95).value, NAN, 0.0);
}

/* The means of all pairs of `count` values, sorted. */
static double *sorted_pair_means(const double *values, size_t count)
{
    double *const means = malloc(count * (count + 1) / 2 * sizeof *means);
    size_t next = 0;
    assert_non_null(means);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++)
            means[next++] = (values[i] + values[j]) / 2.0;
    bc_sort(means, next);
    return means;
}

/* The critical values of Wilcoxon's signed rank sum at 5 %, two-sided (McCornack, "Extended Tables
   of the Wilcoxon Matched Pair Signed Rank Statistic", JASA 60 (1965)): the number of means of
   pairs beyond either end. Above 50 values the product goes by the normal distribution. */
TEST(pseudomedian_interval_ranks)
{
    static const struct {
        size_t count, critical, tolerance;
    } known[] = {
        {6, 0, 0},    {7, 2, 0},    {8, 3, 0},    {9, 5, 0},    {10, 8, 0},   {11, 10, 0},
        {12, 13, 0},  {13, 17, 0},  {14, 21, 0},  {15, 25, 0},  {20, 52, 0},  {25, 89, 0},
        {30, 137, 0}, {40, 264, 0}, {50, 434, 0}, {51, 453, 1}, {60, 648, 1}, {100, 1955, 2},
    };
    struct random random = random_from(4);
    for (size_t i = 0; i < COUNT(known); i++) {
        const size_t count = known[i].count, pairs = count * (count + 1) / 2;
        const size_t place = known[i].critical, tolerance = known[i].tolerance;
        double values[100];
        for (size_t v = 0; v < count; v++)
            values[v] = exp(random_normal(&random));
        double *const means = sorted_pair_means(values, count);
        const struct bc_summary summary = bc_pseudomedian(values, count, 0.95);
        assert_near(summary.value, bc_quantile(means, pairs, 0.5), 0.0);
        const size_t top = pairs - 1 - place;
        assert_true(summary.interval.lo >= means[place - tolerance] &&
                    summary.interval.lo <= means[place + tolerance]);
        assert_true(summary.interval.hi >= means[top - tolerance] &&
                    summary.interval.hi <= means[top + tolerance]);
        free(means);
    }
}

TEST(mean_of_visits_counts_states_by_their_share)
{
    /* A machine that is slower in one visit of six, in two, and in three of eight; one visit. */
    static const struct {
        double values[8];
        size_t count;
        double mean;
    } cases[] = {{{10, 10, 10, 13, 10, 10}, 6, 10.5},
                 {{10, 13, 10, 10, 13, 10}, 6, 11.0},
                 {{13, 10, 10, 10, 10, 13, 13, 10}, 8, 11.125},
                 {{10}, 1, 10.0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct bc_summary summary = bc_mean_of_visits(cases[i].values, cases[i].count, 0.95);
        assert_near(summary.value, cases[i].mean, 1e-12);
        assert_true(same_interval(summary.interval,
                                  bc_pseudomedian(cases[i].values, cases[i].count, 0.95).interval));
    }
    /* One visit of twenty is far off: Student's interval of the mean, down to the least visit. */
    double rising[20], falling[20];
    for (int i = 0; i < 20; i++) {
        rising[i] = i < 19 ? i : 1e4;
        falling[i] = -rising[i];
    }
    const double student_hi = bc_mean_interval(rising, 20, 0.95).hi;
    assert_interval(bc_mean_of_visits(rising, 20, 0.95).interval, 0.0, student_hi, 1e-9);
    assert_interval(bc_mean_of_visits(falling, 20, 0.95).interval, -student_hi, 0.0, 1e-9);
}

static bool same_summary(const struct bc_summary *a, const struct bc_summary *b)
{
    return a->count == b->count && a->value == b->value && a->sd == b->sd && a->p99 == b->p99 &&
           a->max == b->max && same_interval(a->interval, b->interval);
}

/* Three visits of 5, 1 and 4 samples, with medians 3, 20 and 8 and means 4, 20 and 9. */
static const double in_visits[] = {3, 1, 2, 10, 4, 20, 7, 15, 9, 5};
static const size_t visit_starts[] = {0, 5, 6};

TEST(visits_are_one_observation_each)
{
    static const double medians[] = {3, 20, 8}, means[] = {4, 20, 9};
    static const size_t with_empty[] = {0, 0, 5, 5, 6, 10}, one[] = {0}, among_empty[] = {0, 0, 10};
    static const struct {
        const size_t *starts;
        size_t visits;
    } together[] = {{NULL, 0}, {one, 1}, {among_empty, 3}};
    for (int e = BC_MEDIAN; e <= BC_MEAN; e++) {
        const enum bc_estimator estimator = (enum bc_estimator)e;
        const bool mean = estimator == BC_MEAN;
        double sorted[COUNT(in_visits)];
        memcpy(sorted, in_visits, sizeof sorted);
        const struct bc_summary all = bc_summarize(sorted, 10, estimator, 0.95);
        const struct bc_summary summary =
            bc_summarize_visits(in_visits, 10, visit_starts, 3, estimator, 0.95);
        assert_near(summary.value, mean ? 11.0 : 31.0 / 3.0, 1e-12);
        assert_true(
            same_interval(summary.interval, bc_mean_interval(mean ? means : medians, 3, 0.95)));
        /* These are of all samples together. */
        assert_int_equal(summary.count, 10);
        assert_near(summary.sd, all.sd, 0.0);
        assert_near(summary.p99, all.p99, 0.0);
        assert_near(summary.max, 20.0, 0.0);
        /* Visits without samples do not count, and one visit is all samples. */
        const struct bc_summary gaps =
            bc_summarize_visits(in_visits, 10, with_empty, 6, estimator, 0.95);
        assert_true(same_summary(&summary, &gaps));
        for (size_t i = 0; i < COUNT(together); i++) {
            const struct bc_summary visits = bc_summarize_visits(
                in_visits, 10, together[i].starts, together[i].visits, estimator, 0.95);
            assert_true(same_summary(&all, &visits));
        }
    }
    const struct bc_summary none = bc_summarize_visits(in_visits, 0, one, 1, BC_MEDIAN, 0.95);
    assert_int_equal(none.count, 0);
    assert_near(none.value, NAN, 0.0);
    assert_interval(none.interval, NAN, NAN, 0.0);
}

/* Where a clock's steps are long, all visits have the same median. */
TEST(visits_that_agree_have_the_interval_of_all)
{
    enum { VISITS = 7, IN_VISIT = 5 };
    double samples[VISITS * IN_VISIT], sorted[VISITS * IN_VISIT];
    size_t starts[VISITS];
    for (size_t v = 0; v < VISITS; v++)
        starts[v] = v * IN_VISIT;
    for (int i = 0; i < VISITS * IN_VISIT; i++)
        samples[i] = 100.0 + 10.0 * (i % IN_VISIT - 2);
    for (size_t visits = 2; visits <= VISITS; visits++)
        for (int e = BC_MEDIAN; e <= BC_MEAN; e++) {
            const size_t count = visits * IN_VISIT;
            memcpy(sorted, samples, count * sizeof *sorted);
            const struct bc_summary all = bc_summarize(sorted, count, (enum bc_estimator)e, 0.95);
            const struct bc_summary agreed =
                bc_summarize_visits(samples, count, starts, visits, (enum bc_estimator)e, 0.95);
            assert_near(agreed.value, 100.0, 0.0);
            assert_true(same_interval(agreed.interval, all.interval));
            assert_true(agreed.interval.lo < 100.0 && agreed.interval.hi > 100.0);
        }
}

/* ---- summaries ------------------------------------------------------------------------------- */

TEST(summary_of_each_estimator)
{
    double values[10];
    memcpy(values, sleep_hours, sizeof values);
    const struct bc_summary mean = bc_summarize(values, 10, BC_MEAN, 0.95);
    assert_int_equal(mean.count, 10);
    assert_near(mean.value, 1.58, 1e-12);
    assert_near(mean.sd, 1.2299955, 1e-7);
    assert_interval(mean.interval, 0.7001142, 2.4598858, 1e-6);
    assert_near(mean.max, 4.6, 0.0);
    assert_near(mean.p99, 2.4 + 0.91 * 2.2, 1e-12);

    memcpy(values, sleep_hours, sizeof values);
    struct bc_summary median = bc_summarize(values, 10, BC_MEDIAN, 0.95);
    assert_near(median.value, 1.3, 1e-12);
    assert_near(median.sd, 1.4826022185 * 0.4, 1e-9);
    assert_interval(median.interval, 0.8, 2.4, 0.0); /* ranks 2 and 9 */
    assert_near(median.max, 4.6, 0.0);

    bc_summary_scale(&median, 0.5);
    assert_near(median.value, 0.65, 1e-12);
    assert_near(median.sd, 1.4826022185 * 0.2, 1e-9);
    assert_interval(median.interval, 0.4, 1.2, 0.0);
    assert_near(median.p99, mean.p99 / 2.0, 1e-12);
    assert_near(median.max, 2.3, 0.0);

    const struct bc_summary none = bc_summarize(values, 0, BC_MEDIAN, 0.95);
    assert_true(isnan(none.value) && isnan(none.sd) && isnan(none.p99) && isnan(none.max));
    assert_interval(none.interval, NAN, NAN, 0.0);
}

/* ---- the stopping rule ----------------------------------------------------------------------- */

static struct bc_summary summary_with(double value, double half_width)
{
    return (struct bc_summary){
        .count = 100, .value = value, .interval = {value - half_width, value + half_width}};
}

/* 3 and 4 add up to 5, on both sides; the value is inside even where it wasn't; without an interval
   there is none. */
TEST(errors_widen_intervals)
{
    const struct bc_summary even = summary_with(10.0, 3.0), none = summary_with(10.0, NAN);
    struct bc_summary above = even;
    above.interval = (struct bc_interval){11.0, 13.0};
    assert_interval(bc_interval_with(&even, -4.0), 5.0, 15.0, 1e-12);
    assert_interval(bc_interval_with(&above, 0.5), 9.5, 10.0 + hypot(3.0, 0.5), 1e-12);
    assert_interval(bc_interval_with(&none, 4.0), NAN, NAN, 0.0);
}

/* Four looks at which the interval is narrow, of either sign; a wide one, or none, begins again. */
TEST(stopping_needs_narrow_looks_in_a_row)
{
    static const double half_widths[] = {1.99, 2.01, 1.99, NAN, 1.99, 1.99, 1.99, 1.99};
    struct bc_stopping stopping = {.precision = 0.02};
    for (size_t i = 0; i < COUNT(half_widths); i++) {
        const struct bc_summary summary = summary_with(i % 2 == 0 ? 100.0 : -100.0, half_widths[i]);
        assert_int_equal(bc_stopping_look(&stopping, &summary), i == COUNT(half_widths) - 1);
    }
    for (int exact = 0; exact <= 1; exact++) {
        const struct bc_summary zero = summary_with(0.0, exact ? 0.0 : 1.0);
        assert_int_equal(bc_is_precise(&zero, 0.02), exact);
    }
}

TEST(looks_grow_by_a_quarter)
{
    assert_int_equal(bc_next_look(0, 30), 30);
    assert_int_equal(bc_next_look(29, 30), 30);
    assert_int_equal(bc_next_look(30, 30), 38);
    for (size_t count = 1; count < 100000; count += 17) {
        const size_t next = bc_next_look(count, 1);
        assert_true(next > count);
        assert_true(4 * next >= 5 * count && 4 * next < 5 * count + 4);
    }
}

/* ---- coverage by simulation ------------------------------------------------------------------ */

/* Without --full fewer of them: the bounds are the same. */
#ifdef COMMCOST_FULL_TESTS
#define DRAWS 10000
#else
#define DRAWS 3000
#endif
#define MIN_SAMPLES 30
#define MAX_SAMPLES 10000

/* Data whose median is 1: two peaks, at 1 - spread and 1 + spread, of this standard deviation, or
   its exponential. */
struct distribution {
    const char *name;
    double spread, width;
    bool is_logarithm;
};

static double draw(const struct distribution *d, struct random *random)
{
    const double sign = random_uniform(random) < 0.5 ? -1.0 : 1.0;
    const double value = sign * d->spread + d->width * random_normal(random);
    return d->is_logarithm ? exp(value) : 1.0 + value;
}

static bool encloses(struct bc_interval interval, double value)
{
    return interval.lo <= value && value <= interval.hi;
}

/* One adaptive run; returns the number of samples that it took. */
static size_t sample_until_settled(const struct distribution *d, struct random *random,
                                   double *values, struct bc_summary *summary)
{
    struct bc_stopping stopping = {.precision = 0.02};
    size_t count = 0;
    do {
        const size_t look = bc_next_look(count, MIN_SAMPLES);
        while (count < look && count < MAX_SAMPLES)
            values[count++] = draw(d, random);
        *summary = bc_summarize(values, count, BC_MEDIAN, 0.95);
    } while (!bc_stopping_look(&stopping, summary) && count < MAX_SAMPLES);
    return count;
}

TEST(adaptive_samples_cover_the_median)
{
    /* The median in the dip between the peaks is the hardest case: intervals are narrowest where
       they are wrong. */
    static const struct distribution distributions[] = {
        {"normal 10 %", 0.0, 0.1, false},
        {"log-normal 20 %", 0.0, 0.2, true},
        {"two peaks", 0.05, 0.025, false},
        {"blurred peaks", 0.1, 0.1 / 1.5, false},
    };
    static double values[MAX_SAMPLES];
    struct random random = random_from(3);
    for (size_t i = 0; i < COUNT(distributions); i++) {
        double samples = 0.0, covered = 0.0;
        for (int trial = 0; trial < DRAWS; trial++) {
            struct bc_summary summary;
            samples += (double)sample_until_settled(&distributions[i], &random, values, &summary);
            covered += encloses(summary.interval, 1.0);
        }
        print_message("%-16s %6.0f samples: %.2f %%\n", distributions[i].name, samples / DRAWS,
                      100.0 * covered / DRAWS);
        assert_true(covered >= 0.93 * DRAWS);
        /* Outside of this the case doesn't test the rule. */
        assert_in_range((uintmax_t)(samples / DRAWS), MIN_SAMPLES + 1, 2000);
    }
}

/* A machine that is 30 % slower in a share of the visits: what no visit met, no interval knows. */
TEST(visits_cover_the_mean_of_states)
{
    static const struct {
        double slow_share;
        size_t visits;
        double min_coverage;
    } cases[] = {{0.5, 6, 0.9}, {0.4, 6, 0.9}, {0.4, 12, 0.95}, {0.2, 12, 0.9}, {0.2, 6, 0.0}};
    struct random random = random_from(5);
    for (size_t i = 0; i < COUNT(cases); i++) {
        double covered = 0.0;
        for (int trial = 0; trial < DRAWS; trial++) {
            double visits[12];
            for (size_t v = 0; v < cases[i].visits; v++)
                visits[v] = (random_uniform(&random) < cases[i].slow_share ? 1.3 : 1.0) *
                            (1.0 + 0.01 * random_normal(&random));
            covered += encloses(bc_mean_of_visits(visits, cases[i].visits, 0.95).interval,
                                1.0 + 0.3 * cases[i].slow_share);
        }
        print_message("%.0f %% slow, %zu visits: %.2f %%\n", 100.0 * cases[i].slow_share,
                      cases[i].visits, 100.0 * covered / DRAWS);
        assert_true(covered >= cases[i].min_coverage * DRAWS);
    }
}
