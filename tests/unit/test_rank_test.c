/*
 * The rank-sum test against all permutations, its shift and interval, and Holm's
 * correction. Reference values that are not counted here are R's.
 */
#include "helpers.h"

#include "run_scripts/bench_compare/rank_test.h"

#include <stdlib.h>
#include <string.h>

/* ---- by counting all permutations ------------------------------------------------------------ */

static double mid_rank(const double *all, size_t count, double value)
{
    double below = 0.0, equal = 0.0;
    for (size_t i = 0; i < count; i++) {
        below += all[i] < value;
        equal += all[i] == value;
    }
    return below + (equal + 1.0) / 2.0;
}

/* The two-sided p-value by its definition: over all choices of m of the values. */
static double enumerated_p(const double *base, size_t m, const double *other, size_t n)
{
    double all[16], ranks[16];
    memcpy(all, base, m * sizeof *all);
    memcpy(all + m, other, n * sizeof *all);
    double observed = 0.0;
    for (size_t i = 0; i < m + n; i++) {
        ranks[i] = mid_rank(all, m + n, all[i]);
        observed += i < m ? ranks[i] : 0.0;
    }
    const double mean = (double)(m * (m + n + 1)) / 2.0;
    double far = 0.0, count = 0.0;
    for (unsigned chosen = 0; chosen < 1u << (m + n); chosen++) {
        if ((size_t)__builtin_popcount(chosen) != m)
            continue;
        double sum = 0.0;
        for (size_t i = 0; i < m + n; i++)
            sum += chosen >> i & 1u ? ranks[i] : 0.0;
        count++;
        far += fabs(sum - mean) > fabs(observed - mean) - 1e-9;
    }
    return far / count;
}

/* All sizes up to 6 and 6, with ties of all kinds: few different values. */
static void p_is_that_of_all_permutations(void **state)
{
    (void)state;
    struct random random = random_from(1);
    for (size_t m = 1; m <= 6; m++)
        for (size_t n = 1; n <= 6; n++)
            for (size_t kinds = 1; kinds <= 13; kinds += 3) {
                double base[6], other[6];
                for (int trial = 0; trial < 10; trial++) {
                    for (size_t i = 0; i < m; i++)
                        base[i] = (double)random_below(&random, kinds);
                    for (size_t i = 0; i < n; i++)
                        other[i] = (double)random_below(&random, kinds) + (double)(trial % 3);
                    assert_near(bc_rank_sum_p(base, m, other, n), enumerated_p(base, m, other, n),
                                1e-12);
                }
            }
}

static void p_without_ties(void **state)
{
    (void)state;
    struct random random = random_from(2);
    for (int trial = 0; trial < 200; trial++) {
        const size_t m = 1 + random_below(&random, 7);
        const size_t n = 1 + random_below(&random, 7);
        double base[7], other[7];
        for (size_t i = 0; i < m; i++)
            base[i] = random_normal(&random);
        for (size_t i = 0; i < n; i++)
            other[i] = random_normal(&random) + (double)(trial % 3);
        assert_near(bc_rank_sum_p(base, m, other, n), enumerated_p(base, m, other, n), 1e-12);
    }
}

/* One tie far from the rest makes the other way of counting take over, and changes
   little: it moves no rank by more than a half. */
static void both_ways_of_counting_agree(void **state)
{
    (void)state;
    struct random random = random_from(3);
    for (int trial = 0; trial < 20; trial++) {
        const size_t m = 20 + random_below(&random, 20);
        const size_t n = 20 + random_below(&random, 20);
        double base[40], other[40];
        for (size_t i = 0; i < m; i++)
            base[i] = random_normal(&random);
        for (size_t i = 0; i < n; i++)
            other[i] = random_normal(&random) + 0.4;
        base[0] = 100.0;
        base[1] = 101.0;
        const double apart = bc_rank_sum_p(base, m, other, n);
        base[1] = 100.0;
        assert_near(bc_rank_sum_p(base, m, other, n), apart, 0.02 * apart);
    }
}

/* R 4: wilcox.test(1:m, (1:n) * 1.37137 + d, exact = TRUE)$p.value */
static void p_is_that_of_r(void **state)
{
    (void)state;
    static const struct {
        size_t m, n;
        double shift, p;
    } cases[] = {
        {5, 7, 0, 0.148989898989899},           {10, 10, 3.3, 0.00684145575786443},
        {10, 10, 20.1, 1.0825088224469e-05},    {20, 30, 1.05, 0.000457617093626767},
        {49, 49, 5.01, 0.000306952906976226},   {60, 60, 3.03, 0.00092852891066884},
        {100, 80, 12.01, 0.000565392128283034}, {40, 40, 60.5, 1.86034036560363e-23},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static double base[BC_RANK_MAX], other[BC_RANK_MAX];
        for (size_t k = 0; k < cases[i].m; k++)
            base[k] = (double)(k + 1);
        for (size_t k = 0; k < cases[i].n; k++)
            other[k] = (double)(k + 1) * 1.37137 + cases[i].shift;
        const double p = bc_rank_sum_p(base, cases[i].m, other, cases[i].n);
        assert_near(p, cases[i].p, 1e-9 * cases[i].p);
        assert_near(bc_rank_sum_p(other, cases[i].n, base, cases[i].m), p, 1e-9 * p);
    }
}

static void least_p(void **state)
{
    (void)state;
    assert_near(bc_rank_sum_least_p(0, 5), 1.0, 0.0);
    assert_near(bc_rank_sum_least_p(1, 1), 1.0, 0.0);
    assert_near(bc_rank_sum_least_p(3, 3), 0.1, 1e-15);
    assert_near(bc_rank_sum_least_p(10, 10), 2.0 / 184756.0, 1e-15);
    double base[12], other[12];
    for (size_t m = 1; m <= 12; m++)
        for (size_t n = 1; n <= 12; n++) {
            for (size_t i = 0; i < 12; i++) {
                base[i] = (double)i;
                other[i] = 20.0 + (double)i;
            }
            const double least = bc_rank_sum_least_p(m, n);
            assert_near(bc_rank_sum_p(base, m, other, n), least, 1e-12);
        }
    /* The most that there can be, far from what a double can't hold. */
    assert_true(bc_rank_sum_least_p(BC_RANK_MAX, BC_RANK_MAX) > 0.0);
}

/* Sizes as large as they may be; ties make the normal approximation of it. */
static void large_samples(void **state)
{
    (void)state;
    static double base[BC_RANK_MAX], other[BC_RANK_MAX];
    struct random random = random_from(4);
    for (size_t i = 0; i < BC_RANK_MAX; i++) {
        base[i] = random_normal(&random);
        other[i] = random_normal(&random) + 0.25;
    }
    base[0] = 100.0;
    base[1] = 101.0;
    const double exact = bc_rank_sum_p(base, BC_RANK_MAX, other, BC_RANK_MAX);
    assert_true(exact > 0.0 && exact < 0.5);
    base[1] = base[0];
    const double normal = bc_rank_sum_p(base, BC_RANK_MAX, other, BC_RANK_MAX);
    assert_near(normal, exact, 0.03 * exact);
    const struct bc_shift shift = bc_rank_shift(base, BC_RANK_MAX, other, BC_RANK_MAX, 0.95);
    assert_near(shift.value, 0.25, 0.25);
    assert_true(shift.interval.lo < shift.value && shift.value < shift.interval.hi);
    assert_near(shift.interval.hi - shift.interval.lo, 2 * 1.96 * 0.1023, 0.08);
}

static void odd_input(void **state)
{
    (void)state;
    const double one[] = {1.0}, same[] = {2.0, 2.0, 2.0, 2.0, 2.0};
    assert_true(isnan(bc_rank_sum_p(one, 0, one, 1)));
    assert_true(isnan(bc_rank_sum_p(one, 1, one, 0)));
    static double many[BC_RANK_MAX + 1];
    assert_true(isnan(bc_rank_sum_p(many, BC_RANK_MAX + 1, one, 1)));
    assert_true(isnan(bc_rank_shift(many, BC_RANK_MAX + 1, one, 1, 0.95).value));
    assert_near(bc_rank_sum_p(one, 1, one, 1), 1.0, 0.0);
    assert_near(bc_rank_sum_p(same, 5, same, 5), 1.0, 1e-15);
    assert_near(bc_rank_sum_p(many, BC_RANK_MAX, many, BC_RANK_MAX), 1.0, 0.0);
    assert_true(isnan(bc_rank_shift(one, 0, one, 1, 0.95).value));
    const struct bc_shift shift = bc_rank_shift(same, 5, same, 5, 0.95);
    assert_near(shift.value, 0.0, 0.0);
    assert_near(shift.interval.hi - shift.interval.lo, 0.0, 0.0);
}

/* ---- level and coverage ---------------------------------------------------------------------- */

/* How often p is at most alpha without a change: never more often than alpha, up
   to the simulation's error. */
static void level_is_kept(void **state)
{
    (void)state;
    struct random random = random_from(5);
    static const double alphas[] = {0.2, 0.05, 0.01};
    for (int tied = 0; tied <= 1; tied++) {
        enum { TRIALS = 20000 };
        int rejected[3] = {0, 0, 0};
        for (int trial = 0; trial < TRIALS; trial++) {
            double base[8], other[10];
            for (size_t i = 0; i < 10; i++) {
                const double x = exp(random_normal(&random));
                const double y = exp(random_normal(&random));
                other[i] = tied ? floor(3.0 * x) : x;
                if (i < 8)
                    base[i] = tied ? floor(3.0 * y) : y;
            }
            const double p = bc_rank_sum_p(base, 8, other, 10);
            for (int a = 0; a < 3; a++)
                rejected[a] += p <= alphas[a];
        }
        for (int a = 0; a < 3; a++) {
            const double share = (double)rejected[a] / TRIALS;
            const double error = sqrt(alphas[a] * (1.0 - alphas[a]) / TRIALS);
            assert_true(share < alphas[a] + 4.0 * error);
            assert_true(share > 0.5 * alphas[a]); /* and no idle test */
        }
    }
}

static void interval_covers_the_shift(void **state)
{
    (void)state;
    struct random random = random_from(6);
    static const struct {
        size_t m, n;
        double confidence;
    } cases[] = {{4, 4, 0.95}, {5, 9, 0.95}, {10, 10, 0.95}, {10, 10, 0.8}, {20, 15, 0.99}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        enum { TRIALS = 10000 };
        const double shift = 0.7, confidence = cases[c].confidence;
        int covered = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            double base[20], other[20];
            for (size_t i = 0; i < cases[c].m; i++)
                base[i] = exp(random_normal(&random));
            for (size_t i = 0; i < cases[c].n; i++)
                other[i] = exp(random_normal(&random)) + shift;
            const struct bc_interval interval =
                bc_rank_shift(base, cases[c].m, other, cases[c].n, confidence).interval;
            covered += interval.lo <= shift && shift <= interval.hi;
        }
        const double share = (double)covered / TRIALS;
        const double error = sqrt(confidence * (1.0 - confidence) / TRIALS);
        assert_true(share > confidence - 4.0 * error);
        assert_true(share < confidence + 0.03); /* no wider than it must be */
    }
}

/* The interval is the shifts that the test does not reject. */
static void interval_agrees_with_the_test(void **state)
{
    (void)state;
    struct random random = random_from(7);
    for (int trial = 0; trial < 200; trial++) {
        double base[12], other[9], moved[9];
        for (size_t i = 0; i < 12; i++)
            base[i] = random_normal(&random);
        for (size_t i = 0; i < 9; i++)
            other[i] = random_normal(&random);
        const struct bc_shift shift = bc_rank_shift(base, 12, other, 9, 0.95);
        const struct {
            double by;
            bool inside;
        } steps[] = {{shift.interval.lo - 1e-9, false},
                     {shift.interval.lo + 1e-9, true},
                     {shift.value, true},
                     {shift.interval.hi - 1e-9, true},
                     {shift.interval.hi + 1e-9, false}};
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            for (size_t i = 0; i < 9; i++)
                moved[i] = other[i] - steps[s].by;
            assert_int_equal(bc_rank_sum_p(base, 12, moved, 9) > 0.05, steps[s].inside);
        }
    }
}

static void shift_values(void **state)
{
    (void)state;
    const double x[] = {1.1, 2.3, 4.8, 7.2, 9.9};
    const double y[] = {4.0, 6.5, 8.1, 10.4};
    /* R: wilcox.test(y, x, conf.int = TRUE) */
    const struct bc_shift shift = bc_rank_shift(x, 5, y, 4, 0.95);
    assert_near(shift.value, 2.3, 1e-12);
    assert_near(shift.interval.lo, -3.4, 1e-12);
    assert_near(shift.interval.hi, 8.1, 1e-12);
    /* 2 / choose(6, 3) = 10 %: three and three can't have 95 %. */
    assert_true(isnan(bc_rank_shift(x, 3, y, 3, 0.95).interval.lo));
    assert_true(isfinite(bc_rank_shift(x, 3, y, 3, 0.9).interval.lo));
    assert_true(isfinite(bc_rank_shift(x, 4, y, 4, 0.95).interval.lo));
}

/* ---- Holm ------------------------------------------------------------------------------------ */

static void holm_values(void **state)
{
    (void)state;
    /* R: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.9), "holm") */
    double p[] = {0.01, 0.04, 0.03, 0.005, 0.9};
    const double expected[] = {0.04, 0.09, 0.09, 0.025, 0.9};
    double corrected[5];
    bc_holm(p, corrected, 5);
    for (int i = 0; i < 5; i++)
        assert_near(corrected[i], expected[i], 1e-15);
    bc_holm(p, p, 5);
    for (int i = 0; i < 5; i++)
        assert_near(p[i], expected[i], 1e-15);
    double large[] = {0.6, 0.7};
    bc_holm(large, large, 2);
    assert_near(large[0], 1.0, 0.0);
    assert_near(large[1], 1.0, 0.0);
    bc_holm(NULL, NULL, 0);
}

/* Of 20 true hypotheses none is rejected in at least 1 - alpha of the calls. */
static void holm_keeps_the_level(void **state)
{
    (void)state;
    enum { CALLS = 20000, ROWS = 20 };
    struct random random = random_from(8);
    int alarms = 0;
    for (int call = 0; call < CALLS; call++) {
        double p[ROWS], least = 1.0;
        for (int i = 0; i < ROWS; i++)
            p[i] = random_uniform(&random);
        bc_holm(p, p, ROWS);
        for (int i = 0; i < ROWS; i++)
            least = fmin(least, p[i]);
        alarms += least <= 0.05;
    }
    assert_near((double)alarms / CALLS, 0.05, 0.007);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(p_is_that_of_all_permutations),
    cmocka_unit_test(p_without_ties),
    cmocka_unit_test(both_ways_of_counting_agree),
    cmocka_unit_test(p_is_that_of_r),
    cmocka_unit_test(least_p),
    cmocka_unit_test(large_samples),
    cmocka_unit_test(odd_input),
    cmocka_unit_test(level_is_kept),
    cmocka_unit_test(interval_covers_the_shift),
    cmocka_unit_test(interval_agrees_with_the_test),
    cmocka_unit_test(shift_values),
    cmocka_unit_test(holm_values),
    cmocka_unit_test(holm_keeps_the_level),
};
const struct test_program test_program = {
    .name = "rank_test",
    .tests = tests,
    .count = COUNT(tests),
};
