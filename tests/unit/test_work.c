/*
 * Work that no compiler removes. Built once for each compiler and optimisation
 * level (see CMakeLists.txt), together with the sources of work, clock and
 * statistics, so that link-time optimisation may try its worst.
 */
#include "helpers.h"

#include "common/clock.h"
#include "common/stats.h"
#include "common/work.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static double time_work_ns(uint64_t units)
{
    const int64_t start_ns = bc_now_ns();
    bc_work(units);
    return (double)(bc_now_ns() - start_ns);
}

/* 10 µs to 2 ms. */
static const double amounts_us[] = {10, 20, 50, 100, 200, 500, 1000, 2000};

/* True if the time of each amount is its share of that of the largest, within
   2 %; medians over rounds in which all amounts take their turn. */
static bool is_linear(void)
{
    enum { ROUNDS = 41, AMOUNTS = COUNT(amounts_us) };
    static double times_ns[AMOUNTS][ROUNDS];
    uint64_t units[AMOUNTS];
    const struct bc_work_rate rate = bc_work_calibrate();
    const double clock_ns = bc_clock_measure().read_ns;
    assert_true(rate.ns_per_unit > 0.1);
    for (int i = 0; i < AMOUNTS; i++) {
        units[i] = (uint64_t)(amounts_us[i] * 1e3 / rate.ns_per_unit);
        assert_true(units[i] > 0);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < AMOUNTS; i++)
            times_ns[i][round] = time_work_ns(units[i]) - clock_ns;
    const double most_ns = bc_median(times_ns[AMOUNTS - 1], ROUNDS);
    const double per_unit_ns = most_ns / (double)units[AMOUNTS - 1];
    bool linear = true;
    for (int i = 0; i < AMOUNTS; i++) {
        const double time_ns = bc_median(times_ns[i], ROUNDS);
        const double off =
            time_ns / ((double)units[i] * per_unit_ns) - 1.0;
        if (fabs(off) > 0.02) {
            print_error("%g us of work take %.2f us for %.4f ns a unit "
                        "(%+.1f %%)\n",
                        amounts_us[i], time_ns * 1e-3, per_unit_ns,
                        100.0 * off);
            linear = false;
        }
    }
    return linear && per_unit_ns > 0.1;
}

static void time_is_linear_in_units(void **state)
{
    (void)state;
    assert_true(is_linear() || is_linear());
}

static bool takes_what_was_asked_for(double wanted_ns)
{
    enum { ROUNDS = 101 };
    double times_ns[ROUNDS];
    const struct bc_work_rate rate = bc_work_calibrate();
    const double clock_ns = bc_clock_measure().read_ns;
    const uint64_t units = bc_work_units(&rate, wanted_ns);
    for (int round = 0; round < ROUNDS; round++)
        times_ns[round] = time_work_ns(units) - clock_ns;
    const double took_ns = bc_median(times_ns, ROUNDS);
    if (fabs(took_ns / wanted_ns - 1.0) <= 0.02)
        return true;
    print_error("%.1f us of work take %.2f us\n", wanted_ns * 1e-3,
                took_ns * 1e-3);
    return false;
}

static void work_takes_what_was_asked_for(void **state)
{
    (void)state;
    assert_true(takes_what_was_asked_for(100e3) ||
                takes_what_was_asked_for(100e3));
}

static void calibration_is_plausible(void **state)
{
    (void)state;
    const struct bc_work_rate rate = bc_work_calibrate();
    /* A dependent multiplication and addition: a few cycles, at any clock
       rate, with or without optimisation. */
    assert_true(rate.ns_per_unit > 0.1 && rate.ns_per_unit < 100.0);
    assert_true(fabs(rate.call_ns) < 1000.0);
}

static void units_and_time_are_inverse(void **state)
{
    (void)state;
    static const struct bc_work_rate rates[] = {
        {1.0, 0.0}, {0.73, 4.2}, {12.5, -3.0}, {0.2, 100.0}};
    for (size_t i = 0; i < COUNT(rates); i++) {
        const struct bc_work_rate *const rate = &rates[i];
        for (uint64_t units = 2; units < UINT64_C(1) << 40; units *= 3) {
            const double ns = bc_work_ns(rate, units);
            assert_near(ns / (rate->call_ns +
                              rate->ns_per_unit * (double)units),
                        1.0, 1e-12);
            assert_true(bc_work_units(rate, ns) == units);
            /* The nearest whole number of units. */
            assert_true(bc_work_units(rate, ns + 0.4 * rate->ns_per_unit) ==
                        units);
            assert_true(bc_work_units(rate, ns + 0.6 * rate->ns_per_unit) ==
                        units + 1);
        }
    }
}

static void no_work(void **state)
{
    (void)state;
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
static void every_step_is_done(void **state)
{
    (void)state;
    for (uint64_t units = 0; units < 1000; units++) {
        uint64_t value = units | 1;
        for (uint64_t i = 0; i < units; i++)
            value = value * UINT64_C(6364136223846793005) + 1;
        assert_true(bc_work(units) == value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_and_time_are_inverse),
        cmocka_unit_test(no_work),
        cmocka_unit_test(every_step_is_done),
        cmocka_unit_test(calibration_is_plausible),
        cmocka_unit_test(time_is_linear_in_units),
        cmocka_unit_test(work_takes_what_was_asked_for),
    };
    return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
