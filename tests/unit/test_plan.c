/*
 * When a plan ends, and when a row is precise: on samples whose values, differences and spreads are
 * known.
 */
#include "helpers.h"

#include "common/measure/plan.h"

enum { SAMPLES = 101, LOOKS = 10 };

/* 2 % at 95 %, medians. */
static const struct bc_run run = {
    .settings = {.precision_pct = 2.0, .confidence_pct = 95.0, .estimator = BC_MEDIAN},
    .visits = 1,
};

/* Whether a plan ends within LOOKS looks at samples of two quantities: the median of one is
   `first`, with an interval of `half_width` to either side; the other is always `second`. */
static bool ends(const struct bc_precise_value *values, int count, double first, double half_width,
                 double second)
{
    double a[SAMPLES], b[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        const int place = i * 37 % SAMPLES; /* the interval is from place 40 to 60 */
        a[i] = first + half_width * (place - 50) / 10.0;
        b[i] = second;
    }
    const struct bc_samples samples = {.values = {a, b}, .count = SAMPLES};
    struct bc_plan plan = {.min_rounds = 1, .max_rounds = 1000};
    struct bc_precision rule;
    bc_plan_until_precise(&plan, &rule, &run, values, count);
    bool ended = false;
    for (int look = 0; look < LOOKS && !ended; look++)
        ended = plan.settled(&samples, plan.context);
    return ended;
}

#define FIRST                                                                                      \
    {                                                                                              \
        .quantity = 0, .subtrahend = -1                                                            \
    }
#define DIFFERENCE                                                                                 \
    {                                                                                              \
        .quantity = 0, .subtrahend = 1                                                             \
    }
#define SECOND                                                                                     \
    {                                                                                              \
        .quantity = 1, .subtrahend = -1                                                            \
    }

/* Values, and the half-widths of the first quantity with which they are precise and are not. */
static const struct {
    struct bc_precise_value values[2];
    int count;
    double first, second, precise, unprecise; /* NAN: there is none */
} cases[] = {
    {{FIRST}, 1, 1000.0, 0.0, 19.9, 20.1},
    /* 10 of 1000 are narrow, 10 of a difference of 100 are not. */
    {{DIFFERENCE}, 1, 1000.0, 0.0, 10.0, NAN},
    {{DIFFERENCE}, 1, 1000.0, 900.0, NAN, 10.0},
    /* All values must be precise. */
    {{SECOND, FIRST}, 1, 1000.0, 5.0, 30.0, NAN},
    {{SECOND, FIRST}, 2, 1000.0, 5.0, 10.0, 30.0},
    /* What the clock can't resolve is precise, and what is negligible need not be. */
    {{{.subtrahend = -1, .resolution_ns = 5.0}}, 1, 20.0, 0.0, 4.0, 6.0},
    {{{.subtrahend = -1, .negligible_ns = 1000.0}}, 1, 1000.0, 0.0, 500.0, NAN},
    {{{.subtrahend = -1, .negligible_ns = 1000.0}}, 1, 1001.0, 0.0, NAN, 500.0},
    {{FIRST}, 1, -5.0, 0.0, NAN, 1.0},
};

TEST(narrow_intervals_end_a_plan)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (!isnan(cases[i].precise))
            assert_true(ends(cases[i].values, cases[i].count, cases[i].first, cases[i].precise,
                             cases[i].second));
        if (!isnan(cases[i].unprecise))
            assert_false(ends(cases[i].values, cases[i].count, cases[i].first, cases[i].unprecise,
                              cases[i].second));
    }
}

TEST(fixed_numbers_stay)
{
    const struct bc_precise_value value = {.quantity = 0, .subtrahend = -1};
    struct bc_plan plan = {.min_rounds = 7, .max_rounds = 7};
    struct bc_precision rule;
    bc_plan_until_precise(&plan, &rule, &run, &value, 1);
    assert_null(plan.settled);
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { VISITS = 6, IN_VISIT = 5 };

/* The medians of quantity 0 are `first`, but in the last two visits `half_width` less and more; the
   samples of a visit are `noise` apart. Quantity 1 is always `second`. */
struct spread {
    double first, half_width, noise, second;
};

static bool row_is_precise(const struct bc_run *of, const struct bc_precise_value *values,
                           int count, bool in_time, struct spread spread)
{
    struct bc_samples samples = {.count = 0};
    for (int visit = 0; visit < VISITS; visit++) {
        const int side = (visit == VISITS - 1) - (visit == VISITS - 2);
        const double median = spread.first + side * spread.half_width;
        bc_samples_begin_visit(&samples);
        for (int i = 0; i < IN_VISIT; i++) {
            const int from_middle = i - IN_VISIT / 2;
            const double round[] = {median + spread.noise * from_middle, spread.second};
            bc_samples_append(&samples, round, 2, 0);
        }
    }
    const bool precise = bc_run_is_precise(of, &samples, in_time, values, count);
    bc_samples_free(&samples);
    return precise;
}

/* However the visits ended, and however far the samples of a visit spread. */
TEST(rows_are_precise_where_visits_agree)
{
    struct bc_run six = run;
    six.visits = VISITS;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int in_time = 0; in_time < 2; in_time++) {
            struct spread spread = {cases[i].first, cases[i].precise, 200.0, cases[i].second};
            if (!isnan(cases[i].precise))
                assert_true(row_is_precise(&six, cases[i].values, cases[i].count, in_time, spread));
            spread.half_width = cases[i].unprecise;
            spread.noise = 0.0;
            if (!isnan(cases[i].unprecise))
                assert_false(
                    row_is_precise(&six, cases[i].values, cases[i].count, in_time, spread));
        }
}

/* What its only visit said counts. */
TEST(rows_that_are_visited_once)
{
    const struct bc_precise_value value = {.quantity = 0, .subtrahend = -1};
    assert_true(row_is_precise(&run, &value, 1, true, (struct spread){1000.0, 500.0, 0.0, 0.0}));
    assert_false(row_is_precise(&run, &value, 1, false, (struct spread){1000.0, 0.0, 0.0, 0.0}));
}

TEST(rows_have_the_samples_that_were_asked_for)
{
    const struct bc_precise_value value = {.quantity = 0, .subtrahend = -1};
    for (int visits = 1; visits <= VISITS; visits += VISITS - 1) {
        struct bc_run fixed = run;
        fixed.visits = visits;
        fixed.settings.samples = VISITS * IN_VISIT;
        assert_true(
            row_is_precise(&fixed, &value, 1, false, (struct spread){1000.0, 500.0, 0.0, 0.0}));
        fixed.settings.samples++;
        assert_false(
            row_is_precise(&fixed, &value, 1, true, (struct spread){1000.0, 0.0, 0.0, 0.0}));
    }
}
