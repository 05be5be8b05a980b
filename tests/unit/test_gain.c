/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's exposed time, the gain of visits with its interval, and the verdict. */
#include "helpers.h"

#include "common/measure/verdict.h"
#include "overlap/engine/gain.h"

#include <stdlib.h>

#define CONFIDENCE 0.95

/* ---- a rank's rounds ------------------------------------------------------------------------- */

#define BLOCKING_NS 150e3
#define BESIDE_NS 40e3
#define WORK_NS 400e3

static void append_round(struct bc_samples *own, double blocking_ns, double beside_ns,
                         double inside_ns, double alone_ns)
{
    const double times_ns[OVERLAP_OWN_QUANTITIES] = {
        [OVERLAP_OWN_PLAIN] = blocking_ns,
        [OVERLAP_OWN_BESIDE] = beside_ns,
        [OVERLAP_OWN_INSIDE] = inside_ns,
        [OVERLAP_OWN_ALONE] = alone_ns,
    };
    bc_samples_append(own, times_ns, OVERLAP_OWN_QUANTITIES, 0);
}

TEST(medians_of_the_rounds_that_count)
{
    struct bc_samples own = {.count = 0};
    double estimates_ns[OVERLAP_GAIN_ESTIMATED];
    append_round(&own, 1e9, 1e9, 1e9, 1.0); /* before them */
    static const double orders[] = {3.0, 0.0, 4.0, 1.0, 2.0};
    for (size_t i = 0; i < COUNT(orders); i++)
        append_round(&own, BLOCKING_NS + 100.0 * orders[i], BESIDE_NS + 10.0 * orders[i], WORK_NS,
                     WORK_NS);
    append_round(&own, 1.0, 1.0, 1.0, 1e9); /* after them */
    overlap_gain_own(&own, 1, 1 + COUNT(orders), estimates_ns);
    assert_near(estimates_ns[OVERLAP_GAIN_BLOCKING], BLOCKING_NS + 200.0, 1e-6);
    assert_near(estimates_ns[OVERLAP_GAIN_EXPOSED], BESIDE_NS + 20.0, 1e-6);
    assert_near(estimates_ns[OVERLAP_GAIN_MEDIAN_EXPOSED], BESIDE_NS + 20.0, 1e-6);
    overlap_gain_own(&own, 1, 2, estimates_ns);
    assert_near(estimates_ns[OVERLAP_GAIN_BLOCKING], BLOCKING_NS + 300.0, 1e-6);
    bc_samples_free(&own);
}

/* A thread of the library shares the processor with the work: equally in all rounds, or not at all
   in some rounds and much in others. */
TEST(what_the_library_takes_from_the_work_is_exposed)
{
    static const struct {
        double always_ns, up_to_ns, exposed_ns, median_exposed_ns;
    } cases[] = {{30e3, 0.0, 30e3, 30e3}, {0.0, 200e3, 10e3, 100e3}};
    enum { MANY = 2000 };
    struct random random = random_from(5);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bc_samples own = {.count = 0};
        double estimates_ns[OVERLAP_GAIN_ESTIMATED];
        for (int round = 0; round < MANY; round++)
            append_round(&own, BLOCKING_NS, BESIDE_NS,
                         WORK_NS + cases[i].always_ns + cases[i].up_to_ns * random_uniform(&random),
                         WORK_NS + 20.0 * random_normal(&random));
        overlap_gain_own(&own, 0, MANY, estimates_ns);
        assert_near(estimates_ns[OVERLAP_GAIN_EXPOSED], BESIDE_NS + cases[i].exposed_ns, 2e3);
        assert_near(estimates_ns[OVERLAP_GAIN_MEDIAN_EXPOSED],
                    BESIDE_NS + cases[i].median_exposed_ns, 10e3);
        bc_samples_free(&own);
    }
}

/* ---- the gain of visits ---------------------------------------------------------------------- */

static void append_visit(struct bc_samples *visits, double blocking_ns, double exposed_ns,
                         double median_exposed_ns)
{
    const double said_ns[OVERLAP_GAIN_ESTIMATED] = {
        [OVERLAP_GAIN_BLOCKING] = blocking_ns,
        [OVERLAP_GAIN_EXPOSED] = exposed_ns,
        [OVERLAP_GAIN_MEDIAN_EXPOSED] = median_exposed_ns,
    };
    bc_samples_append(visits, said_ns, OVERLAP_GAIN_ESTIMATED, 0);
}

static const struct bc_samples none = {.count = 0};

static void assert_no_interval(const struct bc_summary *summary)
{
    assert_true(isnan(summary->interval.lo));
    assert_true(isnan(summary->interval.hi));
}

/* The interval of a single visit is that of its parts. */
TEST(one_visit_has_the_interval_of_its_blocks)
{
    struct bc_samples visit = {.count = 0}, blocks = {.count = 0};
    append_visit(&visit, 100e3, 60e3, 60e3);
    struct overlap_gain gain = overlap_gain_of_visits(&visit, &none, 0.0, CONFIDENCE);
    assert_near(gain.gain.value, 40e3, 1e-6);
    assert_no_interval(&gain.blocking);
    assert_no_interval(&gain.exposed);
    assert_no_interval(&gain.gain);
    assert_no_interval(&gain.gain_pct);
    for (int i = -3; i <= 3; i++)
        append_visit(&blocks, 101e3 + 1e3 * i, 60e3 - 1e3 * i, 60e3);
    gain = overlap_gain_of_visits(&visit, &blocks, 0.0, CONFIDENCE);
    assert_near(gain.blocking.value, 100e3, 1e-6);
    assert_true(gain.blocking.interval.lo < 100e3 && gain.blocking.interval.lo >= 98e3);
    assert_true(gain.blocking.interval.hi > 101e3 && gain.blocking.interval.hi <= 104e3);
    assert_true(gain.gain.interval.lo < 40e3 && gain.gain.interval.hi > 41e3);
    assert_true(gain.gain_pct.interval.lo < 40.0 && gain.gain_pct.interval.hi > 41e3 / 101e1);
    /* The value is in the interval, even where the blocks are all on one side of it. */
    append_visit(&visit, 1e3, 1e3, 1e3); /* two visits: no use of blocks */
    assert_true(overlap_gain_of_visits(&visit, &blocks, 0.0, CONFIDENCE).blocking.value < 51e3);
    bc_samples_free(&visit);
    append_visit(&visit, 90e3, 60e3, 60e3);
    gain = overlap_gain_of_visits(&visit, &blocks, 0.0, CONFIDENCE);
    assert_near(gain.blocking.interval.lo, 90e3, 1e-6);
    assert_near(gain.blocking.interval.hi, 103e3, 1.5e3);
    bc_samples_free(&visit);
    bc_samples_free(&blocks);
}

/* A time below the clock's resolution is 0, not negative. */
TEST(exposed_is_never_below_0)
{
    struct bc_samples visits = {.count = 0};
    for (int i = 0; i < 6; i++)
        append_visit(&visits, 100e3 + 10.0 * i, -60.0 - 10.0 * i, -60.0);
    struct overlap_gain gain = overlap_gain_of_visits(&visits, &none, 20.0, CONFIDENCE);
    assert_near(gain.exposed.value, 0.0, 0.0);
    assert_true(gain.exposed.interval.lo >= 0.0);
    assert_true(gain.exposed.interval.hi >= 0.0);
    assert_near(gain.gain.value, gain.blocking.value, 0.0);
    assert_near(gain.gain_pct.value, 100.0, 1e-9);
    bc_samples_free(&visits);
    append_visit(&visits, 100e3, -60.0, -60.0);
    gain = overlap_gain_of_visits(&visits, &none, 20.0, CONFIDENCE);
    assert_near(gain.exposed.value, 0.0, 0.0);
    assert_no_interval(&gain.exposed);
    bc_samples_free(&visits);
}

/* Each end of an interval reaches two readings of the clock further. */
TEST(intervals_know_the_cost_of_calls)
{
    struct bc_samples visits = {.count = 0};
    for (int i = 0; i < 6; i++)
        append_visit(&visits, 100e3, 50e3, 50e3);
    const struct overlap_gain gain = overlap_gain_of_visits(&visits, &none, 50.0, CONFIDENCE);
    assert_near(gain.blocking.interval.lo, 100e3 - 50.0, 1e-6);
    assert_near(gain.exposed.interval.hi, 50e3 + 50.0, 1e-6);
    assert_near(gain.gain.interval.lo, 50e3 - 50.0, 1e-6);
    assert_near(gain.gain_pct.interval.hi, 50.0 + 0.05, 1e-9);
    bc_samples_free(&visits);
}

/* The median of the time taken from the work counts if it is surely more. */
TEST(more_in_some_rounds_than_in_others)
{
    struct bc_samples surely = {.count = 0}, perhaps = {.count = 0};
    for (int i = 0; i < 6; i++) {
        append_visit(&surely, 100e3, 50e3, 70e3 + 100.0 * i);
        append_visit(&perhaps, 100e3, 50e3, i % 2 == 0 ? 47e3 : 57e3);
    }
    const struct overlap_gain found = overlap_gain_of_visits(&surely, &none, 0.0, CONFIDENCE);
    assert_near(found.exposed.value, 70.25e3, 1e-6);
    assert_near(found.gain_pct.value, 29.75, 1e-9);
    /* Widened by their difference. */
    assert_true(found.exposed.interval.lo <= 50e3 + 1e3);
    const struct overlap_gain unsure = overlap_gain_of_visits(&perhaps, &none, 0.0, CONFIDENCE);
    assert_near(unsure.exposed.value, 50e3, 1e-6);
    assert_near(unsure.exposed.interval.lo, 48e3, 1e-6);
    assert_near(unsure.exposed.interval.hi, 52e3, 1e-6);
    assert_near(unsure.gain.interval.lo, 48e3, 1e-6);
    assert_near(unsure.gain_pct.interval.hi, 52.0, 1e-9);
    assert_near(unsure.blocking.interval.lo, 100e3, 1e-6);
    bc_samples_free(&surely);
    bc_samples_free(&perhaps);
}

/* A visit in which the clock's cost is as much as the blocking counterpart takes. */
TEST(no_percentage_of_what_the_clock_cannot_see)
{
    struct bc_samples visits = {.count = 0};
    for (int i = 0; i < 6; i++)
        append_visit(&visits, i == 3 ? -1.0 : 5.0, 20.0, 20.0);
    const struct overlap_gain gain = overlap_gain_of_visits(&visits, &none, 1.0, CONFIDENCE);
    assert_true(isnan(gain.gain_pct.value));
    assert_no_interval(&gain.gain_pct);
    assert_null(bc_verdict(&gain.gain_pct, 2.0));
    assert_near(gain.gain.value, gain.blocking.value - 20.0, 1e-6);
    bc_samples_free(&visits);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* A gain at the threshold is even. */
TEST(verdict_compares_with_the_threshold)
{
    static const struct {
        double lo, hi, threshold_pct;
        const char *verdict; /* NULL: none */
    } cases[] = {
        {2.01, 30.0, 2.0, "pays"},      {-30.0, -2.01, 2.0, "loses"},
        {-1.0, 1.0, 2.0, "even"},       {-30.0, 30.0, 2.0, "not clear"},
        {2.0, 30.0, 2.0, "not clear"},  {-30.0, -2.0, 2.0, "not clear"},
        {-2.0, 2.0, 2.0, "even"},       {2.0, 2.0, 2.0, "even"},
        {-2.01, 2.0, 2.0, "not clear"}, {-2.0, 2.01, 2.0, "not clear"},
        {1.0, 3.0, 5.0, "even"},        {1e-6, 1.0, 0.0, "pays"},
        {-1.0, -1e-6, 0.0, "loses"},    {0.0, 1.0, 0.0, "not clear"},
        {-1.0, 0.0, 0.0, "not clear"},  {0.0, 0.0, 0.0, "even"},
        {NAN, NAN, 2.0, NULL},          {NAN, 30.0, 2.0, NULL},
        {5.0, NAN, 2.0, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct bc_summary gain_pct = {.interval = {cases[i].lo, cases[i].hi}};
        const char *const found = bc_verdict(&gain_pct, cases[i].threshold_pct);
        if (cases[i].verdict == NULL)
            assert_null(found);
        else
            assert_string_equal(found, cases[i].verdict);
    }
}
