/*
 * Statistics against tables, worked examples and simulation.
 */
#include "helpers.h"

#include "common/stats/stats.h"

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

static double naive_mad_sigma(const double *values, size_t count)
{
    double copy[64], deviations[64];
    memcpy(copy, values, count * sizeof *copy);
    const double median = bc_median(copy, count);
    for (size_t i = 0; i < count; i++)
        deviations[i] = fabs(values[i] - median);
    return 1.4826022185056018 * bc_median(deviations, count);
}

TEST(mad_sigma_of_known_data)
{
    /* R: mad(1:9) = 2.9652. */
    const double nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_near(bc_mad_sigma(nine, 9), 2.9652, 1e-4);
    /* MAD 1 (the example of the encyclopedias). */
    const double seven[] = {1, 1, 2, 2, 4, 6, 9};
    assert_near(bc_mad_sigma(seven, 7), 1.4826022185, 1e-9);
    assert_near(bc_mad_sigma(seven + 1, 2), 0.7413011093, 1e-9);
    assert_true(isnan(bc_mad_sigma(seven, 1)));
    assert_true(isnan(bc_mad_sigma(seven, 0)));
    /* One wild value among ten does not show. */
    const double wild[] = {8, 9, 9, 10, 10, 10, 11, 11, 12, 1e9};
    assert_near(bc_mad_sigma(wild, 10), 1.4826022185, 1e-9);
}

TEST(mad_sigma_matches_definition)
{
    struct random random = random_from(1);
    for (int trial = 0; trial < 5000; trial++) {
        double values[64];
        const size_t count = 2 + random_below(&random, 63);
        const bool ties = trial % 2 == 0;
        for (size_t i = 0; i < count; i++)
            values[i] = ties ? (double)random_below(&random, 7) : exp(2.0 * random_normal(&random));
        bc_sort(values, count);
        assert_near(bc_mad_sigma(values, count), naive_mad_sigma(values, count), 1e-12);
    }
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

TEST(student_quantiles_in_closed_form)
{
    const double pi = acos(-1.0);
    for (double p = 0.001; p < 1.0; p += 0.0137) {
        const double one = tan(pi * (p - 0.5));
        const double two = (2.0 * p - 1.0) / sqrt(2.0 * p * (1.0 - p));
        assert_near(bc_student_quantile(p, 1), one, 1e-8 * fabs(one) + 1e-12);
        assert_near(bc_student_quantile(p, 2), two, 1e-8 * fabs(two) + 1e-12);
    }
    /* Many degrees: Abramowitz and Stegun, 26.7.5, as far as 1/degrees^2. */
    for (double degrees = 1e4; degrees <= 1e6; degrees *= 10.0) {
        const double z = 1.959963984540054;
        const double first = (pow(z, 3) + z) / 4.0;
        const double second = (5.0 * pow(z, 5) + 16.0 * pow(z, 3) + 3.0 * z) / 96.0;
        assert_near(bc_student_quantile(0.975, degrees),
                    z + first / degrees + second / (degrees * degrees), 1e-8);
    }
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

/* For p = 1/2 the ranks are in the binomial table (Conover, Practical Nonparametric Statistics,
   table A3). By exact fractions: the largest lo with P(X < lo) <= 2.5 % (or 10 %), the smallest hi
   with P(X >= hi) <= that, X binomial. NAN: there is none. */
TEST(interval_ranks)
{
    static const struct {
        size_t count;
        double p, confidence, lo, hi;
    } known[] = {
        {6, 0.5, 0.95, 1, 6},
        {8, 0.5, 0.95, 1, 8},
        {9, 0.5, 0.95, 2, 8},
        {10, 0.5, 0.95, 2, 9},
        {20, 0.5, 0.95, 6, 15},
        {25, 0.5, 0.95, 8, 18},
        {30, 0.5, 0.95, 10, 21},
        {50, 0.5, 0.95, 18, 33},
        {100, 0.5, 0.95, 40, 61},
        {8, 0.5, 0.99, 1, 8},
        {10, 0.5, 0.99, 1, 10},
        {1000, 0.5, 0.95, 469, 532},
        {10000, 0.5, 0.95, 4902, 5099},
        {5, 0.5, 0.95, NAN, NAN},
        {7, 0.5, 0.99, NAN, NAN},
        /* Two samples cover the median half the time. */
        {2, 0.5, 0.5, 1, 2},
        {2, 0.5, 0.51, NAN, NAN},
        {0, 0.5, 0.95, NAN, NAN},
        {12, 0.25, 0.95, NAN, NAN},
        {13, 0.25, 0.95, 1, 7},
        {15, 0.25, 0.95, 1, 8},
        {20, 0.25, 0.95, 2, 10},
        {30, 0.25, 0.95, 3, 13},
        {50, 0.25, 0.95, 7, 20},
        {100, 0.25, 0.95, 17, 35},
        {1000, 0.25, 0.95, 223, 278},
        {8, 0.25, 0.8, NAN, NAN},
        {10, 0.25, 0.8, 1, 5},
        {30, 0.25, 0.8, 5, 12},
        {30, 0.9, 0.95, NAN, NAN},
        {36, 0.9, 0.95, 29, 36},
        {100, 0.9, 0.95, 84, 96},
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        double *const values = ascending(known[i].count);
        assert_interval(
            bc_quantile_interval(values, known[i].count, known[i].p, known[i].confidence),
            known[i].lo, known[i].hi, 0.0);
        free(values);
    }
}

/* P(X < k) of a binomial X. */
static double binomial_below(size_t count, double p, size_t k)
{
    double term = pow(1.0 - p, (double)count), below = 0.0;
    for (size_t i = 0; i < k; i++) {
        below += term;
        term *= (double)(count - i) / (double)(i + 1) * p / (1.0 - p);
    }
    return below;
}

TEST(quantile_interval_is_narrowest_that_covers)
{
    static const double ps[] = {0.05, 0.25, 0.5, 0.6, 0.9};
    static const double confidences[] = {0.5, 0.8, 0.9, 0.95, 0.99, 0.999};
    for (size_t count = 0; count <= 200; count++) {
        double *const values = ascending(count);
        for (size_t i = 0; i < COUNT(ps) * COUNT(confidences); i++) {
            const double p = ps[i % COUNT(ps)];
            const double tail = (1.0 - confidences[i / COUNT(ps)]) / 2.0;
            const struct bc_interval interval =
                bc_quantile_interval(values, count, p, 1.0 - 2.0 * tail);
            const bool exists = binomial_below(count, p, 1) <= tail + 1e-12 &&
                                1.0 - binomial_below(count, p, count) <= tail + 1e-12;
            assert_true(isnan(interval.lo) == !exists && isnan(interval.hi) == !exists);
            if (!exists)
                continue;
            const size_t lo = (size_t)interval.lo, hi = (size_t)interval.hi;
            assert_true(binomial_below(count, p, lo) <= tail + 1e-12);
            assert_true(binomial_below(count, p, lo + 1) > tail - 1e-12);
            assert_true(1.0 - binomial_below(count, p, hi) <= tail + 1e-12);
            assert_true(1.0 - binomial_below(count, p, hi - 1) > tail - 1e-12);
        }
        free(values);
    }
}

static bool same_interval(struct bc_interval a, struct bc_interval b)
{
    return (isnan(a.lo) && isnan(a.hi) && isnan(b.lo) && isnan(b.hi)) ||
           (a.lo == b.lo && a.hi == b.hi);
}

TEST(quantile_interval_of_the_median)
{
    static const double confidences[] = {0.5, 0.8, 0.9, 0.95, 0.99, 0.999};
    for (size_t count = 0; count <= 300; count++) {
        double *const values = ascending(count);
        for (size_t i = 0; i < COUNT(confidences); i++)
            assert_true(same_interval(bc_quantile_interval(values, count, 0.5, confidences[i]),
                                      bc_median_interval(values, count, confidences[i])));
        free(values);
    }
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

TEST(pseudomedian_interval_by_hand)
{
    static const struct {
        size_t count;
        double confidence, lo, hi;
    } known[] = {
        {6, 0.95, 1.0, 32.0},
        /* 1, 1.5, 2; 64, 48, 40 */
        {7, 0.95, 2.0, 40.0},
        /* 1, 1.5, 2, 2.5, 3, 4, 4.5, 5, 6; half of 512 and 512, 256, 128 and so on until 2 */
        {10, 0.95, 6.0, 257.0},
        /* At 99 % minimum and maximum of 8. */
        {8, 0.99, 1.0, 128.0},
    };
    for (size_t i = 0; i < COUNT(known); i++)
        assert_interval(bc_pseudomedian(doubling, known[i].count, known[i].confidence).interval,
                        known[i].lo, known[i].hi, 0.0);
}

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
   of the Wilcoxon Matched Pair Signed Rank Statistic", JASA 60 (1965)): so many means of pairs lie
   beyond either end. Above 50 values the product goes by the normal distribution. */
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
    /* One visit that differs. */
    samples[2] = 101.0;
    const struct bc_summary differ =
        bc_summarize_visits(samples, VISITS * IN_VISIT, starts, VISITS, BC_MEDIAN, 0.95);
    assert_near(differ.interval.lo, 100.0, 0.0);
    assert_near(differ.interval.hi, 100.5, 0.0);
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
    assert_near(median.sd, naive_mad_sigma(sleep_hours, 10), 1e-12);
    assert_interval(median.interval, 0.8, 2.4, 0.0); /* ranks 2 and 9 */
    assert_near(median.max, 4.6, 0.0);

    const struct bc_summary before = median;
    bc_summary_scale(&median, 0.5);
    assert_int_equal(median.count, 10);
    assert_near(median.value, before.value / 2.0, 0.0);
    assert_near(median.sd, before.sd / 2.0, 0.0);
    assert_interval(median.interval, 0.4, 1.2, 0.0);
    assert_near(median.p99, before.p99 / 2.0, 0.0);
    assert_near(median.max, 2.3, 0.0);

    const struct bc_summary none = bc_summarize(values, 0, BC_MEDIAN, 0.95);
    assert_int_equal(none.count, 0);
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

/* Whether the rule ends at some of five looks in a row. */
static bool stops(struct bc_stopping stopping, double value, double half_width)
{
    const struct bc_summary summary = summary_with(value, half_width);
    bool stopped = false;
    for (int look = 0; look < 5; look++)
        stopped = stopped || bc_stopping_look(&stopping, &summary);
    return stopped;
}

TEST(stopping_needs_narrow_looks_in_a_row)
{
    static const double half_widths[] = {1.99, 2.01, 1.99, NAN, 1.99};
    struct bc_stopping stopping = {.precision = 0.02};
    for (size_t i = 0; i < COUNT(half_widths); i++) {
        const struct bc_summary summary = summary_with(100.0, half_widths[i]);
        assert_false(bc_stopping_look(&stopping, &summary));
    }
    assert_true(stops(stopping, 100.0, 1.99));
    /* Any sign, and none. */
    stopping.narrow_looks = 0;
    assert_true(stops(stopping, -100.0, 1.0));
    assert_false(stops(stopping, 0.0, 1.0));
    assert_true(stops(stopping, 0.0, 0.0));
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
#define RUNS 2000
#else
#define DRAWS 3000
#define RUNS 500
#endif
#define MIN_SAMPLES 30
#define MAX_SAMPLES 10000

enum shape { NORMAL, LOG_NORMAL, TWO_PEAKS };

/* Data about 1: normal and log-normal with standard deviation `spread`, or peaks at 1 - spread and
   1 + spread of standard deviation `width`, of which the lower one holds `share` of the data. */
struct distribution {
    const char *name;
    enum shape shape;
    double spread, width, share;
};

static double draw(const struct distribution *d, struct random *random)
{
    switch (d->shape) {
    case NORMAL:
        return 1.0 + d->spread * random_normal(random);
    case LOG_NORMAL:
        return exp(d->spread * random_normal(random));
    case TWO_PEAKS:
        break;
    }
    const double sign = random_uniform(random) < d->share ? -1.0 : 1.0;
    return 1.0 + sign * d->spread + d->width * random_normal(random);
}

/* P(X < x) of two peaks. */
static double two_peaks_below(const struct distribution *d, double x)
{
    const double root = d->width * sqrt(2.0);
    return d->share * erfc((1.0 - d->spread - x) / root) / 2.0 +
           (1.0 - d->share) * erfc((1.0 + d->spread - x) / root) / 2.0;
}

static double true_median(const struct distribution *d)
{
    if (d->shape != TWO_PEAKS)
        return 1.0;
    double lo = 0.0, hi = 2.0;
    for (int i = 0; i < 60; i++) {
        const double middle = (lo + hi) / 2.0;
        if (two_peaks_below(d, middle) < 0.5)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

static bool encloses(struct bc_interval interval, double value)
{
    return interval.lo <= value && value <= interval.hi;
}

static double fixed_coverage(const struct distribution *d, size_t count, struct random *random)
{
    double values[1000];
    const double truth = true_median(d);
    int covered = 0;
    for (int i = 0; i < DRAWS; i++) {
        for (size_t sample = 0; sample < count; sample++)
            values[sample] = draw(d, random);
        const struct bc_summary summary = bc_summarize(values, count, BC_MEDIAN, 0.95);
        covered += encloses(summary.interval, truth);
    }
    return (double)covered / DRAWS;
}

TEST(fixed_samples_cover_the_median)
{
    static const struct distribution distributions[] = {
        {"normal", NORMAL, 0.1, 0.0, 0.0},
        {"log-normal", LOG_NORMAL, 0.5, 0.0, 0.0},
        {"two peaks, 50:50", TWO_PEAKS, 0.1, 0.05, 0.5},
        {"two peaks, 30:70", TWO_PEAKS, 0.1, 0.05, 0.3},
    };
    static const size_t counts[] = {30, 100, 300, 1000};
    struct random random = random_from(2);
    bool good = true;
    for (size_t i = 0; i < COUNT(distributions); i++)
        for (size_t j = 0; j < COUNT(counts); j++) {
            const double coverage = fixed_coverage(&distributions[i], counts[j], &random);
            print_message("%-18s %5zu samples: %.2f %%\n", distributions[i].name, counts[j],
                          100.0 * coverage);
            if (coverage < 0.94 || coverage > 0.99)
                good = false;
        }
    assert_true(good);
}

/* One adaptive run; returns the number of samples that it took. */
static size_t sample_until_settled(const struct distribution *d, struct random *random,
                                   double *values, struct bc_summary *summary)
{
    struct bc_stopping stopping = {.precision = 0.02};
    size_t count = 0;
    for (;;) {
        size_t look = bc_next_look(count, MIN_SAMPLES);
        if (look > MAX_SAMPLES)
            look = MAX_SAMPLES;
        while (count < look)
            values[count++] = draw(d, random);
        *summary = bc_summarize(values, count, BC_MEDIAN, 0.95);
        if (bc_stopping_look(&stopping, summary) || count == MAX_SAMPLES)
            return count;
    }
}

TEST(adaptive_samples_cover_the_median)
{
    static const struct distribution distributions[] = {
        {"normal 5 %", NORMAL, 0.05, 0.0, 0.0},
        {"normal 10 %", NORMAL, 0.1, 0.0, 0.0},
        {"normal 20 %", NORMAL, 0.2, 0.0, 0.0},
        {"log-normal 5 %", LOG_NORMAL, 0.05, 0.0, 0.0},
        {"log-normal 10 %", LOG_NORMAL, 0.1, 0.0, 0.0},
        {"log-normal 20 %", LOG_NORMAL, 0.2, 0.0, 0.0},
        /* The median lies in the dip between the peaks: the hardest case,
           because intervals are narrowest where they are wrong. */
        {"two peaks, 50:50", TWO_PEAKS, 0.05, 0.025, 0.5},
        {"blurred peaks, 50:50", TWO_PEAKS, 0.1, 0.1 / 1.5, 0.5},
        {"two peaks, 30:70", TWO_PEAKS, 0.05, 0.025, 0.3},
        {"wider peaks, 30:70", TWO_PEAKS, 0.1, 0.05, 0.3},
    };
    static double values[MAX_SAMPLES];
    struct random random = random_from(3);
    bool good = true;
    for (size_t i = 0; i < COUNT(distributions); i++) {
        const double truth = true_median(&distributions[i]);
        double samples = 0.0;
        int covered = 0;
        for (int trial = 0; trial < DRAWS; trial++) {
            struct bc_summary summary;
            samples += (double)sample_until_settled(&distributions[i], &random, values, &summary);
            covered += encloses(summary.interval, truth);
        }
        const double coverage = (double)covered / DRAWS;
        samples /= DRAWS;
        print_message("%-22s %6.0f samples: %.2f %%\n", distributions[i].name, samples,
                      100.0 * coverage);
        if (coverage < 0.93)
            good = false;
        /* Outside of this the case would say nothing about the rule. */
        assert_in_range((uintmax_t)samples, MIN_SAMPLES + 1, 2000);
    }
    assert_true(good);
}

/* ---- coverage by visits, by simulation ------------------------------------------------------- */

#define VISIT_SAMPLES 30
#define VISITS_MAX 12 /* of a row that is visited until it is precise */
#define SAMPLE_S 0.001
#define STATE_S 5.0
#define STATES 32 /* more than a run has */

/* What a machine does while samples are taken, and while other rows are visited: noise in which
   each sample resembles the one before it (autoregressive, of order 1); a steady rise; states, each
   of which lasts STATE_S and is 1 or `jump` at random; and what differs from visit to visit, where
   buffers lie, say. */
struct stream {
    const char *name;
    double rho;         /* the correlation of a sample with the one before it */
    double drift;       /* the rise from the first sample of a run to the last */
    double jump;        /* 0: no states */
    double slow_share;  /* of the states; 0: a half */
    double offset;      /* standard deviation of what a visit adds to its samples */
    int visits;         /* of a run */
    size_t passing;     /* samples that pass between two visits */
    bool until_precise; /* then up to VISITS_MAX visits, until the interval is precise to 2 % */
    bool no_promise;    /* coverage is printed, not checked */
};

#define NOISE 0.05 /* standard deviation of a sample */

struct flow {
    const struct stream *stream;
    struct random *random;
    double noise;   /* of the next sample, in standard deviations */
    double passed;  /* samples so far */
    double in_all;  /* samples of the run */
    double state_s; /* the time in the first state before the run */
    bool slow[STATES];
};

static struct flow begin_flow(const struct stream *stream, struct random *random)
{
    const double visits = stream->visits;
    struct flow flow = {
        .stream = stream,
        .random = random,
        .noise = random_normal(random),
        .in_all = visits * VISIT_SAMPLES + (visits - 1.0) * (double)stream->passing,
        .state_s = STATE_S * random_uniform(random),
    };
    for (size_t i = 0; i < STATES; i++)
        flow.slow[i] =
            random_uniform(random) < (stream->slow_share > 0.0 ? stream->slow_share : 0.5);
    return flow;
}

/* Lets `count` samples pass. */
static void pass(struct flow *flow, size_t count)
{
    const double kept = pow(flow->stream->rho, (double)count);
    flow->noise = kept * flow->noise + sqrt(1.0 - kept * kept) * random_normal(flow->random);
    flow->passed += (double)count;
}

static void take_visit(struct flow *flow, double *samples)
{
    const struct stream *const s = flow->stream;
    const double offset = s->offset * random_normal(flow->random);
    for (size_t i = 0; i < VISIT_SAMPLES; i++) {
        const size_t state = (size_t)((flow->state_s + flow->passed * SAMPLE_S) / STATE_S);
        const double rise = s->drift * (flow->passed + 0.5) / flow->in_all;
        assert_true(state < STATES);
        samples[i] = (s->jump > 0.0 && flow->slow[state] ? s->jump : 1.0) *
                         (1.0 + rise + NOISE * flow->noise) +
                     offset;
        pass(flow, 1);
    }
}

/* What a run finds by its visits, and what it would find if all samples were alike. */
struct found {
    int visits;
    struct bc_interval by_visits, together;
};

static struct found simulate_run(const struct stream *stream, struct random *random)
{
    struct flow flow = begin_flow(stream, random);
    double samples[VISITS_MAX * VISIT_SAMPLES];
    size_t starts[VISITS_MAX], visits = 0, count = 0;
    const size_t max = stream->until_precise ? VISITS_MAX : (size_t)stream->visits;
    struct bc_summary summary = {.value = NAN, .interval = {NAN, NAN}};
    while (visits < max && !(stream->until_precise && bc_is_precise(&summary, 0.02))) {
        if (visits > 0)
            pass(&flow, stream->passing);
        starts[visits++] = count;
        take_visit(&flow, samples + count);
        count += VISIT_SAMPLES;
        if (visits >= (size_t)stream->visits)
            summary = bc_summarize_visits(samples, count, starts, visits, BC_MEDIAN, 0.95);
    }
    return (struct found){(int)visits, summary.interval,
                          bc_summarize(samples, count, BC_MEDIAN, 0.95).interval};
}

/* The median of the samples of a run; with states the mean of many visits' medians. */
static double center_of(const struct stream *stream, struct random *random)
{
    enum { MANY = 20000 };
    double medians = 0.0, samples[VISIT_SAMPLES];
    if (!(stream->jump > 0.0))
        return 1.0 + stream->drift / 2.0;
    for (int i = 0; i < MANY; i++) {
        struct flow flow = begin_flow(stream, random);
        take_visit(&flow, samples);
        medians += bc_median(samples, VISIT_SAMPLES);
    }
    return medians / MANY;
}

/* Prints the shares of the runs whose intervals cover the true value; returns that by visits. */
static double visits_coverage(const struct stream *stream, struct random *random)
{
    const double center = center_of(stream, random);
    int visits = 0, by_visits = 0, together = 0;
    for (int i = 0; i < RUNS; i++) {
        const struct found found = simulate_run(stream, random);
        visits += found.visits;
        by_visits += encloses(found.by_visits, center);
        together += encloses(found.together, center);
    }
    print_message("%-32s %4.1f visits: %6.2f %%; all samples together: %6.2f %%\n", stream->name,
                  (double)visits / RUNS, 100.0 * by_visits / RUNS, 100.0 * together / RUNS);
    return (double)by_visits / RUNS;
}

TEST(visits_cover_the_median)
{
    static const struct stream streams[] = {
#define VISITS_OF(number) .visits = (number), .passing = 200
        {"rho 0", .rho = 0.0, VISITS_OF(6)},
        {"rho 0.5", .rho = 0.5, VISITS_OF(6)},
        {"rho 0.8", .rho = 0.8, VISITS_OF(6)},
        {"rho 0.9", .rho = 0.9, VISITS_OF(6)},
        {"rho 0, offsets 5 %", .rho = 0.0, .offset = 0.05, VISITS_OF(6)},
        {"rho 0.5, offsets 5 %", .rho = 0.5, .offset = 0.05, VISITS_OF(6)},
        {"rho 0.8, offsets 5 %", .rho = 0.8, .offset = 0.05, VISITS_OF(6)},
        {"rho 0.9, offsets 5 %", .rho = 0.9, .offset = 0.05, VISITS_OF(6)},
        {"drift 10 %, rho 0", .rho = 0.0, .drift = 0.1, VISITS_OF(6)},
        {"drift 10 %, rho 0.9", .rho = 0.9, .drift = 0.1, VISITS_OF(6)},
        {"drift 10 %, rho 0.5, offsets 5 %", .rho = 0.5, .drift = 0.1, .offset = 0.05,
         VISITS_OF(6)},
        /* Few visits, whose interval is Student's, and more. */
        {"rho 0.9", .rho = 0.9, VISITS_OF(2)},
        {"rho 0.8, offsets 5 %", .rho = 0.8, .offset = 0.05, VISITS_OF(2)},
        {"rho 0.8, offsets 5 %", .rho = 0.8, .offset = 0.05, VISITS_OF(3)},
        {"rho 0.8, offsets 5 %", .rho = 0.8, .offset = 0.05, VISITS_OF(5)},
        {"rho 0.8, offsets 5 %", .rho = 0.8, .offset = 0.05, VISITS_OF(12)},
#define UNTIL_PRECISE VISITS_OF(6), .until_precise = true
        {"offsets 1 %, until precise", .rho = 0.5, .offset = 0.01, UNTIL_PRECISE},
        {"offsets 2 %, until precise", .rho = 0.5, .offset = 0.02, UNTIL_PRECISE},
        {"offsets 3 %, until precise", .rho = 0.5, .offset = 0.03, UNTIL_PRECISE},
    /* States of STATE_S. Where the visits of a run are closer to each other than that, a run may
       see one state only, and its interval knows nothing of the other. */
#define JUMPS(seconds)                                                                             \
    .rho = 0.5, .jump = 1.3, .passing = (size_t)((seconds) / SAMPLE_S) - VISIT_SAMPLES
        {"jumps 30 %, visits each 0.23 s", JUMPS(0.23), .visits = 6, .no_promise = true},
        {"jumps 30 %, visits each 0.5 s", JUMPS(0.5), .visits = 6, .no_promise = true},
        {"jumps 30 %, visits each 2.5 s", JUMPS(2.5), .visits = 6, .no_promise = true},
        {"jumps 30 %, visits each 5 s", JUMPS(5.0), .visits = 6},
        {"jumps 30 %, visits each 10 s", JUMPS(10.0), .visits = 6},
        {"jumps, visits each 5 s, offsets", JUMPS(5.0), .visits = 6, .offset = 0.05},
        {"jumps, each 5 s, until precise", JUMPS(5.0), .visits = 6, .until_precise = true},
        /* Fewer slow states than half: what no visit of a run meets, no interval knows. */
        {"40 % slow, 6 visits", JUMPS(5.0), .visits = 6, .slow_share = 0.4},
        {"40 % slow, 12 visits", JUMPS(5.0), .visits = 12, .slow_share = 0.4},
        {"20 % slow, 6 visits", JUMPS(5.0), .visits = 6, .slow_share = 0.2, .no_promise = true},
        {"20 % slow, 12 visits", JUMPS(5.0), .visits = 12, .slow_share = 0.2},
        {"10 % slow, 12 visits", JUMPS(5.0), .visits = 12, .slow_share = 0.1, .no_promise = true},
    };
    struct random random = random_from(5);
    bool good = true;
    for (size_t i = 0; i < COUNT(streams); i++)
        if (visits_coverage(&streams[i], &random) < 0.90 && !streams[i].no_promise)
            good = false;
    assert_true(good);
}
