/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The samples of a row, in visits.
 */
#include "helpers.h"

#include "common/measure/sequence.h"
#include "common/run/internal.h"

#include <errno.h>

static const struct bc_run run = {
    .job = {.ranks = 3},
    .settings = {.confidence_pct = 95.0, .estimator = BC_MEDIAN},
    .visited = {.visits = 7, .lost_pct = 0.5},
};
static struct bc_samples samples;

/* Appends a visit of `count` rounds of two quantities: the whole numbers from `first` on, and these
   negated. The slowest rank is the number modulo 3. */
static void append_visit(int first, int count)
{
    bc_samples_begin_visit(&samples);
    bc_samples_begin_visit(&samples); /* a visit without rounds is the visit that begins next */
    assert_int_equal(bc_samples_in_visit(&samples), 0);
    for (int number = first; number < first + count; number++)
        bc_samples_append(&samples, (const double[]){number, -number}, 2, number % 3);
    assert_int_equal(bc_samples_in_visit(&samples), count);
}

static void check_visit(int visit, int first, int count)
{
    const struct bc_samples one = bc_samples_of_visit(&samples, (size_t)visit);
    assert_int_equal(one.count, count);
    assert_int_equal(one.visits, 0);
    assert_null(one.values[2]);
    for (int i = 0; i < count; i++) {
        assert_near(one.values[0][i], first + i, 0.0);
        assert_near(one.values[1][i], -(first + i), 0.0);
        assert_int_equal(one.slowest_rank[i], (first + i) % 3);
    }
}

static void check_empty(void)
{
    assert_int_equal(samples.count, 0);
    assert_int_equal(samples.visits, 0);
    assert_int_equal(bc_samples_in_visit(&samples), 0);
    assert_int_equal(bc_samples_slowest_rank(&samples, 3), -1);
    assert_true(isnan(bc_samples_summary(&run, &samples, 0, -1).value));
}

/* More rounds and more visits than there is room for at first. A cleared store keeps its memory, a
   freed one takes rounds of another number of quantities. */
TEST(rounds_belong_to_their_visit)
{
    const double *memory = NULL;
    check_empty();
    for (int filled = 0; filled < 2; filled++) {
        for (int visit = 0; visit < 100; visit++)
            append_visit(1000 * visit, visit + 1);
        assert_int_equal(samples.visits, 100);
        assert_int_equal(samples.count, 5050);
        for (int visit = 0; visit < 100; visit++)
            check_visit(visit, 1000 * visit, visit + 1);
        assert_true(filled == 0 || samples.values[0] == memory);
        memory = samples.values[0];
        bc_samples_clear(&samples);
        check_empty();
    }
    bc_samples_free(&samples);
    bc_samples_free(&samples);
    check_empty();
    bc_samples_begin_visit(&samples);
    bc_samples_append(&samples, (const double[]){1.0, 2.0, 3.0}, 3, 0);
    assert_near(samples.values[2][0], 3.0, 0.0);
}

/* The lowest rank of equal ones, over all visits. */
TEST(slowest_rank_of_most_rounds)
{
    static const int slowest[] = {2, 0, 1, 2, 1, 1}, expected[] = {2, 0, 0, 2, 1, 1};
    for (size_t i = 0; i < COUNT(slowest); i++) {
        if (i % 2 == 0)
            bc_samples_begin_visit(&samples);
        bc_samples_append(&samples, (const double[]){0.0}, 1, slowest[i]);
        assert_int_equal(bc_samples_slowest_rank(&samples, 3), expected[i]);
    }
    const struct bc_samples first = bc_samples_of_visit(&samples, 0);
    assert_int_equal(bc_samples_slowest_rank(&first, 3), 0);
}

/* The first quantity of visit v is v, the second 10 v; three rounds in each, spread by 1. */
TEST(visits_are_summarized)
{
    for (int v = 0; v < 7; v++) {
        bc_samples_begin_visit(&samples);
        for (int i = -1; i <= 1; i++)
            bc_samples_append(&samples, (const double[]){v + i, 10.0 * v - i}, 2, 2);
    }
    const struct bc_summary first = bc_samples_summary(&run, &samples, 0, -1);
    const struct bc_summary less = bc_samples_summary(&run, &samples, 1, 0);
    assert_int_equal(first.count, 21);
    assert_near(first.value, 3.0, 1e-12);
    /* Of the means of pairs of 0 to 6, the third smallest and the third largest. */
    assert_near(first.interval.lo, 1.0, 1e-12);
    assert_near(first.interval.hi, 5.0, 1e-12);
    assert_near(first.max, 7.0, 0.0);
    assert_near(less.value, 27.0, 1e-12);
    assert_near(less.interval.lo, 9.0, 1e-12);
    assert_near(less.interval.hi, 45.0, 1e-12);
    assert_near(less.max, 9.0 * 6 + 2, 0.0); /* 9 v - 2 i, round by round */
    /* The samples stay as they are. */
    assert_near(samples.values[1][0], 1.0, 0.0);
    assert_near(samples.values[1][20], 59.0, 0.0);
    for (int precise = 0; precise <= 1; precise++) {
        const struct bc_outcome outcome = bc_samples_outcome(&run, &samples, precise);
        assert_int_equal(outcome.samples, 21);
        assert_int_equal(outcome.slowest_rank, 2);
        assert_int_equal(outcome.visits, 7);
        assert_near(outcome.lost_pct, 0.5, 0.0);
        assert_string_equal(outcome.status, precise ? BC_OK : BC_BUDGET);
    }
}

static int free_samples(void **state)
{
    bc_samples_free(&samples);
    return 0;
}

/* The reason of a loss is known, also if the line crosses the end of the C library's buffer. */
TEST(reason_of_a_lost_sample_is_known)
{
    (void)state;
    for (int length = 4000; length <= 4096; length++) {
        struct bc_own_run own = {.dump = fopen("/dev/full", "w")};
        assert_non_null(own.dump);
        struct bc_run dumping = {.own = &own};
        fprintf(own.dump, "%*s", length, "");
        bc_dump_sample(&dumping, "total", 1, 1, 1.0);
        bc_dump_check(&dumping);
        assert_int_equal(own.dump_problem, ENOSPC);
        fclose(own.dump);
    }
}

const struct test_program test_program = {.after_each = free_samples};
