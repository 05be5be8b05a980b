/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much longer one operation takes than another.
 */
#include "helpers.h"
#include "streams.h"

#include "mpi_overhead/mpi_overhead.h"

static const struct bc_run run = {.settings = {.confidence_pct = 95.0, .estimator = BC_MEDIAN}};

/* Visits of rounds of 1000 and 1010 ns, a bit more in each visit, of which a share has stops. */
static struct bc_samples stopped_rounds(int visits, double share)
{
    struct random random = random_from(1);
    struct bc_samples samples = {.count = 0};
    for (int v = 0; v < visits; v++) {
        bc_samples_begin_visit(&samples);
        for (int i = 0; i < 100; i++) {
            double values[2];
            for (int q = 0; q < 2; q++)
                values[q] = 1000.0 + 10.0 * q + v + random_uniform(&random) +
                            (random_uniform(&random) < share ? 500.0 * random_uniform(&random) : 0);
            bc_samples_append(&samples, values, 2, 0);
        }
    }
    return samples;
}

/* If most rounds have stops, their median differences are useless. */
TEST(excess_is_that_of_undisturbed_rounds)
{
    for (int seldom = 0; seldom < 2; seldom++) {
        struct bc_samples samples = stopped_rounds(6, seldom ? 0.05 : 0.7);
        const struct bc_summary excess = overhead_excess(&run, &samples, 1, 0);
        assert_near(excess.value, 10.0, 0.5);
        assert_true(excess.interval.lo <= 10.0 && excess.interval.hi >= 10.0);
        assert_true(excess.interval.lo <= excess.value && excess.value <= excess.interval.hi);
        assert_true(excess.interval.hi - excess.interval.lo < (seldom ? 1.0 : 10.0));
        bc_samples_free(&samples);
    }
}

/* The interval covers the difference of quantiles. */
TEST(excess_depends_on_the_quantile)
{
    struct bc_samples samples = {.count = 0};
    for (int v = 0; v < 6; v++) {
        bc_samples_begin_visit(&samples);
        for (int i = 0; i < 100; i++)
            bc_samples_append(&samples, (double[]){1000.0, i < 10 ? 1010.0 : 1013.0 + v}, 2, 0);
    }
    const struct bc_summary excess = overhead_excess(&run, &samples, 1, 0);
    assert_near(excess.value, 10.0, 0.0);
    assert_near(excess.interval.hi - excess.value, 5.5, 0.6);
    assert_near(excess.value - excess.interval.lo, 5.5, 0.6);
    bc_samples_free(&samples);
}

TEST(excess_of_one_visit_is_the_median_difference)
{
    struct bc_samples samples = stopped_rounds(1, 0.05);
    const struct bc_summary excess = overhead_excess(&run, &samples, 1, 0);
    const struct bc_summary median = bc_samples_summary(&run, &samples, 1, 0);
    assert_memory_equal(&excess, &median, sizeof excess);
    bc_samples_free(&samples);
}
