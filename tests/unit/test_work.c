/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that no compiler removes. Built once for each compiler and optimisation
 * level (see CMakeLists.txt), together with the sources of work, clock and
 * statistics, so that link-time optimisation may try its worst. That time is linear in units is
 * shown by tests/machine/work.c.
 */
#include "helpers.h"

#include "common/clock/clock.h"
#include "common/work/work.h"

TEST(calibration_is_plausible)
{
    const struct bc_work_rate rate = bc_work_calibrate();
    /* A dependent multiplication and addition: a few cycles, at any clock
       rate, with or without optimisation. */
    assert_true(rate.ns_per_unit > 0.1 && rate.ns_per_unit < 100.0);
    assert_true(fabs(rate.call_ns) < 1000.0);
}

TEST(units_and_time_are_inverse)
{
    static const struct bc_work_rate rates[] = {
        {1.0, 0.0}, {0.73, 4.2}, {12.5, -3.0}, {0.2, 100.0}};
    for (size_t i = 0; i < COUNT(rates); i++) {
        const struct bc_work_rate *const rate = &rates[i];
        for (uint64_t units = 2; units < UINT64_C(1) << 40; units *= 3) {
            const double ns = bc_work_ns(rate, units);
            assert_near(ns / (rate->call_ns + rate->ns_per_unit * (double)units), 1.0, 1e-12);
            assert_true(bc_work_units(rate, ns) == units);
            /* The nearest whole number of units. */
            assert_true(bc_work_units(rate, ns + 0.4 * rate->ns_per_unit) == units);
            assert_true(bc_work_units(rate, ns + 0.6 * rate->ns_per_unit) == units + 1);
        }
    }
}

TEST(no_work)
{
    const struct bc_work_rate rate = {2.0, 5.0};
    assert_true(bc_work_units(&rate, 0.0) == 0);
    assert_true(bc_work_units(&rate, -1e9) == 0);
    assert_true(bc_work_units(&rate, 6.9) == 0);
    assert_true(bc_work_units(&rate, 7.0) == 1);
    assert_near(bc_work_ns(&rate, 0), 0.0, 0.0);
    /* Where time stands still no amount takes any. */
    const struct bc_work_rate still = {0.0, 0.0};
    const struct bc_work_rate unknown = {NAN, 0.0};
    assert_true(bc_work_units(&still, 1e6) == 0);
    assert_true(bc_work_units(&unknown, 1e6) == 0);
    bc_work(0);
}

/* The result depends on every step: it is that of the recurrence. */
TEST(every_step_is_done)
{
    for (uint64_t units = 0; units < 1000; units++) {
        uint64_t value = units | 1;
        for (uint64_t i = 0; i < units; i++)
            value = value * UINT64_C(6364136223846793005) + 1;
        assert_true(bc_work(units) == value);
    }
}
