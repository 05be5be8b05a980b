/*
 * The samples of a row, in visits.
 */
#include "helpers.h"

#include "common/run/samples.h"

/* Appends `count` rounds of two quantities to the last visit: the next whole numbers from `first`
   on, and these negated. The slowest rank is the number modulo 3. */
static void append(struct bc_samples *samples, int first, int count)
{
    for (int number = first; number < first + count; number++)
        bc_samples_append(samples, (const double[]){number, -number}, 2, number % 3);
}

/* Checks that visit `visit` has the `count` rounds from `first` on. */
static void check_visit(const struct bc_samples *samples, size_t visit, int first, int count)
{
    const struct bc_samples one = bc_samples_of_visit(samples, visit);
    assert_int_equal(one.count, count);
    assert_int_equal(one.visits, 0);
    assert_null(one.values[2]);
    for (int i = 0; i < count; i++) {
        assert_near(one.values[0][i], first + i, 0.0);
        assert_near(one.values[1][i], -(first + i), 0.0);
        assert_int_equal(one.slowest_rank[i], (first + i) % 3);
    }
}

/* ---- visits ---------------------------------------------------------------------------------- */

TEST(zeros_are_an_empty_store)
{
    struct bc_samples samples = {.count = 0};
    assert_int_equal(bc_samples_in_visit(&samples), 0);
    assert_int_equal(bc_samples_slowest_rank(&samples, 3), -1);
    assert_true(isnan(bc_samples_summarize(&samples, 0, -1, BC_MEDIAN, 0.95).value));
    bc_samples_clear(&samples);
    bc_samples_free(&samples);
    bc_samples_free(&samples);
}

/* More rounds and more visits than there is room for at first. */
TEST(rounds_belong_to_their_visit)
{
    struct bc_samples samples = {.count = 0};
    for (int visit = 0; visit < 100; visit++) {
        bc_samples_begin_visit(&samples);
        assert_int_equal(bc_samples_in_visit(&samples), 0);
        append(&samples, 1000 * visit, visit + 1);
        assert_int_equal(bc_samples_in_visit(&samples), visit + 1);
    }
    assert_int_equal(samples.visits, 100);
    assert_int_equal(samples.count, 5050);
    for (int visit = 0; visit < 100; visit++)
        check_visit(&samples, (size_t)visit, 1000 * visit, visit + 1);
    bc_samples_free(&samples);
}

/* A visit without rounds is the one that begins next. */
TEST(empty_visits_do_not_count)
{
    struct bc_samples samples = {.count = 0};
    bc_samples_begin_visit(&samples);
    bc_samples_begin_visit(&samples);
    assert_int_equal(samples.visits, 1);
    append(&samples, 5, 2);
    bc_samples_begin_visit(&samples);
    bc_samples_begin_visit(&samples);
    assert_int_equal(samples.visits, 2);
    append(&samples, 9, 3);
    check_visit(&samples, 0, 5, 2);
    check_visit(&samples, 1, 9, 3);
    bc_samples_free(&samples);
}

/* ---- what they say --------------------------------------------------------------------------- */

TEST(slowest_rank_of_most_rounds)
{
    static const int slowest[] = {2, 0, 1, 2, 1, 1};
    struct bc_samples samples = {.count = 0};
    int after[COUNT(slowest)];
    for (size_t i = 0; i < COUNT(slowest); i++) {
        if (i % 2 == 0)
            bc_samples_begin_visit(&samples);
        bc_samples_append(&samples, (const double[]){0.0}, 1, slowest[i]);
        after[i] = bc_samples_slowest_rank(&samples, 3);
    }
    /* The lowest of those with the same number; over all visits. */
    static const int expected[] = {2, 0, 0, 2, 1, 1};
    for (size_t i = 0; i < COUNT(slowest); i++)
        assert_int_equal(after[i], expected[i]);
    const struct bc_samples first = bc_samples_of_visit(&samples, 0);
    assert_int_equal(bc_samples_slowest_rank(&first, 3), 0);
    bc_samples_free(&samples);
}

/* The first quantity of visit v is v, the second 10 v; three rounds in each, spread by 1. */
static struct bc_samples spread_visits(int visits)
{
    struct bc_samples samples = {.count = 0};
    for (int v = 0; v < visits; v++) {
        bc_samples_begin_visit(&samples);
        for (int i = -1; i <= 1; i++)
            bc_samples_append(&samples, (const double[]){v + i, 10.0 * v - i}, 2, 0);
    }
    return samples;
}

TEST(visits_are_summarized)
{
    struct bc_samples samples = spread_visits(7);
    const struct bc_summary first = bc_samples_summarize(&samples, 0, -1, BC_MEDIAN, 0.95);
    const struct bc_summary less = bc_samples_summarize(&samples, 1, 0, BC_MEDIAN, 0.95);
    assert_int_equal(first.count, 21);
    assert_near(first.value, 3.0, 1e-12);
    /* Of the means of pairs of 0 to 6, the third smallest and the third largest. */
    assert_near(first.interval.lo, 1.0, 1e-12);
    assert_near(first.interval.hi, 5.0, 1e-12);
    assert_near(first.max, 7.0, 0.0);
    assert_near(less.value, 27.0, 1e-12);
    assert_near(less.interval.lo, 9.0, 1e-12);
    assert_near(less.interval.hi, 45.0, 1e-12);
    /* 9 v - 2 i, round by round */
    assert_near(less.max, 9.0 * 6 + 2, 0.0);
    /* The samples stay as they are. */
    assert_near(samples.values[1][0], 1.0, 0.0);
    assert_near(samples.values[1][20], 59.0, 0.0);
    bc_samples_free(&samples);
}

/* ---- removing them --------------------------------------------------------------------------- */

TEST(cleared_stores_are_filled_anew)
{
    struct bc_samples samples = {.count = 0};
    bc_samples_begin_visit(&samples);
    append(&samples, 0, 100);
    bc_samples_begin_visit(&samples);
    append(&samples, 100, 100);
    const double *const memory = samples.values[0];
    bc_samples_clear(&samples);
    assert_int_equal(samples.count, 0);
    assert_int_equal(samples.visits, 0);
    assert_int_equal(bc_samples_in_visit(&samples), 0);
    assert_int_equal(bc_samples_slowest_rank(&samples, 3), -1);
    for (int v = 0; v < 20; v++) {
        bc_samples_begin_visit(&samples);
        append(&samples, 7 * v, 7);
    }
    assert_ptr_equal(samples.values[0], memory);
    assert_int_equal(samples.visits, 20);
    for (int v = 0; v < 20; v++)
        check_visit(&samples, (size_t)v, 7 * v, 7);
    bc_samples_free(&samples); /* Another number of quantities than before. */
    bc_samples_begin_visit(&samples);
    bc_samples_append(&samples, (const double[]){1.0, 2.0, 3.0}, 3, 0);
    assert_near(samples.values[2][0], 3.0, 0.0);
    bc_samples_free(&samples);
}
