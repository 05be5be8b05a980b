/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans of visits, and the precision of samples whose values, differences and spreads are known.
 */
#include "helpers.h"

#include "common/clock/clock.h"
#include "common/measure/sequence.h"
#include "common/run/internal.h"

/* ---- plans ----------------------------------------------------------------------------------- */

TEST(plans_follow_the_settings)
{
    static const struct {
        int visit, visits;
        int64_t samples; /* --samples */
        size_t taken;
        double seconds;
        bool oversubscribed;
        int64_t min_rounds, max_rounds, grace_rounds, warmup_rounds, retakes;
        double grace_s;
    } cases[] = {
        {0, 1, 0, 0, 1.0, false, 30, 10000, BC_LEAST_SAMPLES, -1, 40000, 1.0},
        {0, 1, 0, 0, 0.0, false, 30, 10000, BC_LEAST_SAMPLES, 0, 40000, 0.0},
        {3, 6, 0, 100, 2.0, true, 5, 3300, 1, -1, 0, 2.0},
        {7, 6, 0, 100, INFINITY, false, 5, 9900, 1, -1, 39600, 0.0}, /* an added visit */
        {5, 6, 0, 9998, 1.0, false, 2, 2, 1, -1, 8, 1.0},
        {1, 3, 7, 2, INFINITY, false, 2, 2, 1, -1, 8, 0.0},
        {2, 3, 7, 4, INFINITY, false, 3, 3, 1, -1, 12, 0.0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bc_run run = {.settings = bc_default_settings,
                             .job.oversubscribed = cases[i].oversubscribed,
                             .visit = cases[i].visit,
                             .visits = cases[i].visits};
        const struct bc_samples taken = {.count = cases[i].taken};
        run.settings.samples = cases[i].samples;
        const double now_s = bc_elapsed_s();
        const struct bc_plan plan =
            bc_plan_of(&run, cases[i].taken > 0 ? &taken : NULL, cases[i].seconds);
        assert_int_equal(plan.min_rounds, cases[i].min_rounds);
        assert_int_equal(plan.max_rounds, cases[i].max_rounds);
        assert_int_equal(plan.grace_rounds, cases[i].grace_rounds);
        assert_int_equal(plan.warmup_rounds, cases[i].warmup_rounds);
        assert_int_equal(plan.retakes, cases[i].retakes);
        assert_near(plan.grace_s, cases[i].grace_s, 0.0);
        assert_near(plan.deadline_s, now_s + cases[i].seconds, 0.1);
        assert_int_equal(plan.was_warm, cases[i].visit > 0);
    }
}

TEST(fixed_numbers_stay)
{
    const struct bc_precise_value value = {.quantity = 0, .subtrahend = -1};
    for (int more = 0; more <= 1; more++) {
        struct bc_plan plan = {.min_rounds = 7, .max_rounds = 7 + more};
        bc_plan_until_precise(&plan, &value, 1);
        assert_ptr_equal(plan.precise, more ? &value : NULL);
        assert_int_equal(plan.precise_count, more);
    }
}

/* ---- precision ------------------------------------------------------------------------------- */

/* 2 % at 95 %, medians. */
static const struct bc_run once = {
    .settings = {.precision_pct = 2.0, .confidence_pct = 95.0, .estimator = BC_MEDIAN},
    .visits = 1,
};

/* Values of two quantities: the first is `first` with an interval of `half_width` to either side,
   the second is constant. */
static const struct precision_case {
    struct bc_precise_value values[2];
    int count;
    double first, second, half_width;
    bool precise;
} cases[] = {
    {{{0, -1, 0, 0}}, 1, 1000.0, 0.0, 19.9, true},
    {{{0, -1, 0, 0}}, 1, 1000.0, 0.0, 20.1, false},
    /* 10 of 1000 are narrow, 10 of a difference of 100 are not. */
    {{{0, 1, 0, 0}}, 1, 1000.0, 0.0, 10.0, true},
    {{{0, 1, 0, 0}}, 1, 1000.0, 900.0, 10.0, false},
    /* All values must be precise. */
    {{{1, -1, 0, 0}, {0, -1, 0, 0}}, 1, 1000.0, 5.0, 30.0, true},
    {{{1, -1, 0, 0}, {0, -1, 0, 0}}, 2, 1000.0, 5.0, 10.0, true},
    {{{1, -1, 0, 0}, {0, -1, 0, 0}}, 2, 1000.0, 5.0, 30.0, false},
    {{{0, -1, 0, 0}, {1, -1, 0, 0}}, 2, 1000.0, 5.0, 30.0, false},
    /* An interval below the clock's resolution is narrow, and a negligible value may be imprecise.
     */
    {{{0, -1, .resolution_ns = 5.0}}, 1, 20.0, 0.0, 4.0, true},
    {{{0, -1, .resolution_ns = 5.0}}, 1, 20.0, 0.0, 6.0, false},
    {{{0, -1, .negligible_ns = 1000.0}}, 1, 1000.0, 0.0, 500.0, true},
    {{{0, -1, .negligible_ns = 1000.0}}, 1, 1001.0, 0.0, 500.0, false},
    {{{0, -1, 0, 0}}, 1, -5.0, 0.0, 1.0, false},
};

TEST(narrow_intervals_are_precise)
{
    enum { SAMPLES = 101, LOOKS = 10 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct precision_case *const known = &cases[i];
        struct bc_stopping stopping[2] = {{.precision = 0.02}, {.precision = 0.02}};
        double first[SAMPLES], second[SAMPLES];
        for (int s = 0; s < SAMPLES; s++) {
            const int place = s * 37 % SAMPLES; /* the interval is from place 40 to 60 */
            first[s] = known->first + known->half_width * (place - 50) / 10.0;
            second[s] = known->second;
        }
        const struct bc_samples samples = {.values = {first, second}, .count = SAMPLES};
        bool precise = bc_values_are_precise(&once, &samples, known->values, known->count, NULL);
        assert_int_equal(precise, known->precise);
        for (int look = 0; look < LOOKS; look++)
            precise = bc_values_are_precise(&once, &samples, known->values, known->count, stopping);
        assert_int_equal(precise, known->precise);
    }
}

enum { VISITS = 6, IN_VISIT = 5 };

/* Returns the judgement of a row. The medians of two of the visits lie at the interval's ends; the
   samples of a visit are `noise` apart. */
static bool row_is_precise(const struct bc_run *run, const struct precision_case *known,
                           double noise, bool in_time)
{
    struct bc_samples samples = {.count = 0};
    for (int visit = 0; visit < VISITS; visit++) {
        const int side = (visit == VISITS - 1) - (visit == VISITS - 2);
        bc_samples_begin_visit(&samples);
        for (int i = 0; i < IN_VISIT; i++) {
            const int from_middle = i - IN_VISIT / 2;
            const double first = known->first + side * known->half_width + noise * from_middle;
            bc_samples_append(&samples, (const double[]){first, known->second}, 2, 0);
        }
    }
    const bool precise =
        bc_samples_are_precise(run, &samples, in_time, known->values, known->count);
    bc_samples_free(&samples);
    return precise;
}

/* The end of the visits and the spread of a visit's samples don't matter. */
TEST(rows_are_precise_if_visits_agree)
{
    struct bc_run six = once;
    six.visits = VISITS;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int in_time = 0; in_time <= 1; in_time++)
            assert_int_equal(
                row_is_precise(&six, &cases[i], cases[i].precise ? 200.0 : 0.0, in_time),
                cases[i].precise);
}

/* A row with one visit is precise if its visit is; a fixed number of samples must be reached. */
TEST(other_rows_do_not_look_at_values)
{
    struct bc_run fixed = once;
    for (int i = 0; i <= 1; i++) { /* cases 0 and 1: precise and not */
        assert_true(row_is_precise(&once, &cases[i], 0.0, true));
        assert_false(row_is_precise(&once, &cases[i], 0.0, false));
        for (fixed.visits = 1; fixed.visits <= VISITS; fixed.visits += VISITS - 1)
            for (int missing = 0; missing <= 1; missing++) {
                fixed.settings.samples = VISITS * IN_VISIT + missing;
                assert_int_equal(row_is_precise(&fixed, &cases[i], 0.0, missing), !missing);
            }
    }
}
