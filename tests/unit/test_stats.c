/*
 * Statistics against tables, worked examples and simulation.
 */
#include "helpers.h"

#include "common/stats/stats.h"

#include <stdlib.h>
#include <string.h>

/* ---- order statistics ------------------------------------------------------------------------ */

static void quantile_is_type_7(void **state)
{
    (void)state;
    /* R: quantile(1:10, c(0, .25, .5, .9, .99, 1)), whose default is 7. */
    const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_near(bc_quantile(ten, 10, 0.0), 1.0, 0.0);
    assert_near(bc_quantile(ten, 10, 0.25), 3.25, 1e-12);
    assert_near(bc_quantile(ten, 10, 0.5), 5.5, 1e-12);
    assert_near(bc_quantile(ten, 10, 0.9), 9.1, 1e-12);
    assert_near(bc_quantile(ten, 10, 0.99), 9.91, 1e-12);
    assert_near(bc_quantile(ten, 10, 1.0), 10.0, 0.0);
    /* Unequal steps tell interpolation from rounding. */
    const double doubling[] = {1, 2, 4, 8};
    assert_near(bc_quantile(doubling, 4, 0.9), 6.8, 1e-12);
    assert_near(bc_quantile(doubling, 4, 0.1), 1.3, 1e-12);
    assert_near(bc_quantile(doubling, 1, 0.7), 1.0, 0.0);
    assert_true(isnan(bc_quantile(doubling, 0, 0.5)));
}

static void median_sorts_in_place(void **state)
{
    (void)state;
    double odd[] = {5, -1, 3};
    double even[] = {4, 1, 3, 2};
    assert_near(bc_median(odd, 3), 3.0, 0.0);
    assert_near(odd[0], -1.0, 0.0);
    assert_near(odd[2], 5.0, 0.0);
    assert_near(bc_median(even, 4), 2.5, 0.0);
    assert_true(isnan(bc_median(even, 0)));
    /* Differences far below 1 and far above INT_MAX must not compare equal. */
    double small[] = {1.5, 1.25, 1.125};
    assert_near(bc_median(small, 3), 1.25, 0.0);
    double large[] = {3e10, -3e10, 1e10};
    assert_near(bc_median(large, 3), 1e10, 0.0);
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

static void mad_sigma_of_known_data(void **state)
{
    (void)state;
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

static void mad_sigma_matches_definition(void **state)
{
    (void)state;
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

static void mean_and_sd_of_known_data(void **state)
{
    (void)state;
    assert_near(bc_mean(sleep_hours, 10), 1.58, 1e-12);
    assert_near(bc_sd(sleep_hours, 10), 1.2299955, 1e-7);
    assert_true(isnan(bc_mean(sleep_hours, 0)));
    assert_true(isnan(bc_sd(sleep_hours, 1)));
    /* Small spread on a large value, as times have it. */
    const double times[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};
    assert_near(bc_sd(times, 3), 1.0, 1e-9);
}

static void mean_interval_of_known_data(void **state)
{
    (void)state;
    /* R: t.test(sleep hours): 0.7001142 to 2.4598858 at 95 %. */
    const struct bc_interval interval = bc_mean_interval(sleep_hours, 10, 0.95);
    assert_near(interval.lo, 0.7001142, 1e-6);
    assert_near(interval.hi, 2.4598858, 1e-6);
    const struct bc_interval none = bc_mean_interval(sleep_hours, 1, 0.95);
    assert_true(isnan(none.lo) && isnan(none.hi));
}

/* ---- quantiles of distributions -------------------------------------------------------------- */

static void student_quantiles(void **state)
{
    (void)state;
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

static void student_quantiles_in_closed_form(void **state)
{
    (void)state;
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

static void median_interval_ranks(void **state)
{
    (void)state;
    /* Ranks from the binomial table (Conover, Practical Nonparametric
       Statistics, table A3: p = 1/2): the largest k with P(X < k) <= 2.5 %. */
    static const struct {
        size_t count;
        double confidence, lo, hi;
    } known[] = {
        {6, 0.95, 1, 6},           {8, 0.95, 1, 8},   {9, 0.95, 2, 8},    {10, 0.95, 2, 9},
        {20, 0.95, 6, 15},         {25, 0.95, 8, 18}, {30, 0.95, 10, 21}, {50, 0.95, 18, 33},
        {100, 0.95, 40, 61},       {8, 0.99, 1, 8},   {10, 0.99, 1, 10},  {1000, 0.95, 469, 532},
        {10000, 0.95, 4902, 5099},
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        double *const values = ascending(known[i].count);
        const struct bc_interval interval =
            bc_median_interval(values, known[i].count, known[i].confidence);
        assert_near(interval.lo, known[i].lo, 0.0);
        assert_near(interval.hi, known[i].hi, 0.0);
        free(values);
    }
}

static void median_interval_needs_samples(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t count = 0; count < 6; count++) {
        const struct bc_interval none = bc_median_interval(values, count, 0.95);
        assert_true(isnan(none.lo) && isnan(none.hi));
    }
    assert_true(isnan(bc_median_interval(values, 7, 0.99).lo));
    assert_true(bc_median_interval(values, 8, 0.99).lo < 2.0);
    /* Two samples cover the median half the time. */
    assert_near(bc_median_interval(values, 2, 0.5).hi, 2.0, 0.0);
    assert_true(isnan(bc_median_interval(values, 2, 0.51).lo));
}

/* The share of samples whose ranks k and count + 1 - k enclose the median. */
static double exact_coverage(size_t count, size_t k)
{
    double term = 1.0, outside = 0.0;
    for (size_t i = 0; i < k; i++) {
        outside += term;
        term *= (double)(count - i) / (double)(i + 1);
    }
    return 1.0 - 2.0 * outside / exp2((double)count);
}

static void median_interval_is_narrowest_that_covers(void **state)
{
    (void)state;
    static const double confidences[] = {0.5, 0.8, 0.9, 0.95, 0.99, 0.999};
    for (size_t count = 1; count <= 200; count++) {
        double *const values = ascending(count);
        for (size_t i = 0; i < COUNT(confidences); i++) {
            const double confidence = confidences[i];
            const struct bc_interval interval = bc_median_interval(values, count, confidence);
            const bool exists = !isnan(interval.lo);
            const size_t k = exists ? (size_t)interval.lo : 0;
            if (exists) {
                assert_near(interval.lo + interval.hi, (double)(count + 1), 0.0);
                assert_true(exact_coverage(count, k) >= confidence - 1e-12);
            }
            if (2 * (k + 1) <= count)
                assert_true(exact_coverage(count, k + 1) < confidence + 1e-12);
        }
        free(values);
    }
}

/* ---- summaries ------------------------------------------------------------------------------- */

static void summary_of_each_estimator(void **state)
{
    (void)state;
    double values[10];
    memcpy(values, sleep_hours, sizeof values);
    const struct bc_summary mean = bc_summarize(values, 10, BC_MEAN, 0.95);
    assert_int_equal(mean.count, 10);
    assert_near(mean.value, 1.58, 1e-12);
    assert_near(mean.sd, 1.2299955, 1e-7);
    assert_near(mean.interval.lo, 0.7001142, 1e-6);
    assert_near(mean.max, 4.6, 0.0);
    assert_near(mean.p99, 2.4 + (0.91) * 2.2, 1e-12);

    memcpy(values, sleep_hours, sizeof values);
    const struct bc_summary median = bc_summarize(values, 10, BC_MEDIAN, 0.95);
    assert_near(median.value, 1.3, 1e-12);
    assert_near(median.sd, naive_mad_sigma(sleep_hours, 10), 1e-12);
    /* Ranks 2 and 9. */
    assert_near(median.interval.lo, 0.8, 0.0);
    assert_near(median.interval.hi, 2.4, 0.0);
    assert_near(median.max, 4.6, 0.0);

    const struct bc_summary none = bc_summarize(values, 0, BC_MEDIAN, 0.95);
    assert_int_equal(none.count, 0);
    assert_true(isnan(none.value) && isnan(none.sd) && isnan(none.p99) && isnan(none.max) &&
                isnan(none.interval.lo));
}

/* ---- the stopping rule ----------------------------------------------------------------------- */

static struct bc_summary summary_with(double value, double half_width)
{
    return (struct bc_summary){
        .count = 100,
        .value = value,
        .interval = {value - half_width, value + half_width},
    };
}

static void stopping_needs_narrow_looks_in_a_row(void **state)
{
    (void)state;
    struct bc_stopping stopping = {.precision = 0.02};
    const struct bc_summary narrow = summary_with(100.0, 1.99);
    const struct bc_summary wide = summary_with(100.0, 2.01);
    const struct bc_summary none = summary_with(100.0, NAN);
    assert_false(bc_stopping_look(&stopping, &narrow));
    assert_false(bc_stopping_look(&stopping, &wide));
    assert_false(bc_stopping_look(&stopping, &narrow));
    assert_false(bc_stopping_look(&stopping, &none));
    assert_false(bc_stopping_look(&stopping, &narrow));
    bool stopped = false;
    for (int look = 0; look < 5 && !stopped; look++)
        stopped = bc_stopping_look(&stopping, &narrow);
    assert_true(stopped);
}

static void stopping_takes_any_sign(void **state)
{
    (void)state;
    struct bc_stopping below = {.precision = 0.02};
    struct bc_stopping zero = below;
    struct bc_stopping still = below;
    const struct bc_summary negative = summary_with(-100.0, 1.0);
    const struct bc_summary around_zero = summary_with(0.0, 1.0);
    const struct bc_summary constant = summary_with(0.0, 0.0);
    bool below_stops = false, zero_stops = false, still_stops = false;
    for (int look = 0; look < 5; look++) {
        below_stops = bc_stopping_look(&below, &negative);
        zero_stops = bc_stopping_look(&zero, &around_zero);
        still_stops = bc_stopping_look(&still, &constant);
    }
    assert_true(below_stops);
    assert_false(zero_stops);
    assert_true(still_stops);
}

static void looks_grow_by_a_quarter(void **state)
{
    (void)state;
    assert_int_equal(bc_next_look(0, 30), 30);
    assert_int_equal(bc_next_look(29, 30), 30);
    assert_int_equal(bc_next_look(30, 30), 38);
    assert_int_equal(bc_next_look(1, 1), 2);
    for (size_t count = 1; count < 100000; count += 17) {
        const size_t next = bc_next_look(count, 1);
        assert_true(next > count);
        assert_true(4 * next >= 5 * count && 4 * next < 5 * count + 4);
    }
}

/* ---- coverage by simulation ------------------------------------------------------------------ */

#define DRAWS 10000
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

static void fixed_samples_cover_the_median(void **state)
{
    (void)state;
    static const struct distribution distributions[] = {
        {.name = "normal", .shape = NORMAL, .spread = 0.1},
        {.name = "log-normal", .shape = LOG_NORMAL, .spread = 0.5},
        {.name = "two peaks, 50:50",
         .shape = TWO_PEAKS,
         .spread = 0.1,
         .width = 0.05,
         .share = 0.5},
        {.name = "two peaks, 30:70",
         .shape = TWO_PEAKS,
         .spread = 0.1,
         .width = 0.05,
         .share = 0.3},
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

static void adaptive_samples_cover_the_median(void **state)
{
    (void)state;
    static const struct distribution distributions[] = {
        {.name = "normal 5 %", .shape = NORMAL, .spread = 0.05},
        {.name = "normal 10 %", .shape = NORMAL, .spread = 0.1},
        {.name = "normal 20 %", .shape = NORMAL, .spread = 0.2},
        {.name = "log-normal 5 %", .shape = LOG_NORMAL, .spread = 0.05},
        {.name = "log-normal 10 %", .shape = LOG_NORMAL, .spread = 0.1},
        {.name = "log-normal 20 %", .shape = LOG_NORMAL, .spread = 0.2},
        /* The median lies in the dip between the peaks: the hardest case,
           because intervals are narrowest where they are wrong. */
        {.name = "two peaks, 50:50",
         .shape = TWO_PEAKS,
         .spread = 0.05,
         .width = 0.025,
         .share = 0.5},
        {.name = "blurred peaks, 50:50",
         .shape = TWO_PEAKS,
         .spread = 0.1,
         .width = 0.1 / 1.5,
         .share = 0.5},
        {.name = "two peaks, 30:70",
         .shape = TWO_PEAKS,
         .spread = 0.05,
         .width = 0.025,
         .share = 0.3},
        {.name = "wider peaks, 30:70",
         .shape = TWO_PEAKS,
         .spread = 0.1,
         .width = 0.05,
         .share = 0.3},
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

static void summaries_are_scaled(void **state)
{
    (void)state;
    struct bc_summary summary = {
        .count = 7, .value = 10.0, .sd = 1.0, .interval = {9.0, 12.0}, .p99 = 20.0, .max = 30.0};
    bc_summary_scale(&summary, 0.5);
    assert_near(summary.value, 5.0, 0.0);
    assert_near(summary.sd, 0.5, 0.0);
    assert_near(summary.interval.lo, 4.5, 0.0);
    assert_near(summary.interval.hi, 6.0, 0.0);
    assert_near(summary.p99, 10.0, 0.0);
    assert_near(summary.max, 15.0, 0.0);
    assert_int_equal(summary.count, 7);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(summaries_are_scaled),
    cmocka_unit_test(quantile_is_type_7),
    cmocka_unit_test(median_sorts_in_place),
    cmocka_unit_test(mad_sigma_of_known_data),
    cmocka_unit_test(mad_sigma_matches_definition),
    cmocka_unit_test(mean_and_sd_of_known_data),
    cmocka_unit_test(mean_interval_of_known_data),
    cmocka_unit_test(student_quantiles),
    cmocka_unit_test(student_quantiles_in_closed_form),
    cmocka_unit_test(median_interval_ranks),
    cmocka_unit_test(median_interval_needs_samples),
    cmocka_unit_test(median_interval_is_narrowest_that_covers),
    cmocka_unit_test(summary_of_each_estimator),
    cmocka_unit_test(stopping_needs_narrow_looks_in_a_row),
    cmocka_unit_test(stopping_takes_any_sign),
    cmocka_unit_test(looks_grow_by_a_quarter),
    cmocka_unit_test(fixed_samples_cover_the_median),
    cmocka_unit_test(adaptive_samples_cover_the_median),
};
const struct test_program test_program = {.name = "stats", .tests = tests, .count = COUNT(tests)};
