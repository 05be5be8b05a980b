/*
 * Work that no compiler removes. Built once for each compiler and optimisation
 * level (see CMakeLists.txt), together with the sources of work, clock and
 * statistics, so that link-time optimisation may try its worst.
 */
#include "helpers.h"

#include "common/clock/clock.h"
#include "common/stats/stats.h"
#include "common/clock/work.h"

#include <stdlib.h>

static double time_work_ns(uint64_t units)
{
    const int64_t start_ns = bc_now_ns();
    bc_work(units);
    return (double)(bc_now_ns() - start_ns);
}

/* The same in calls of `piece` units each. */
static double time_pieces_ns(uint64_t units, uint64_t piece)
{
    const int64_t start_ns = bc_now_ns();
    for (; units > piece; units -= piece)
        bc_work(piece);
    bc_work(units);
    return (double)(bc_now_ns() - start_ns);
}

/* 20 µs to 2 ms, against pieces of 10 µs. */
static const double amounts_us[] = {20, 50, 100, 200, 500, 1000, 2000};
#define PIECE_US 10.0

/* The relative distance of two samples' quantiles. Sorts both samples. */
static double distance(double *values, double *others, size_t count, double p)
{
    bc_sort(values, count);
    bc_sort(others, count);
    return fabs(bc_quantile(values, count, p) / bc_quantile(others, count, p) - 1.0);
}

/* True if each amount takes as long at once as in pieces, within 2 %, over rounds in
   which all take their turn. So both are as long, and a machine that interrupts them
   takes as much from either; only where it interrupts about every second one does
   the median tell nothing, and the quickest quarter does. */
static bool is_linear(void)
{
    enum { ROUNDS = 101, AMOUNTS = COUNT(amounts_us) };
    static double at_once_ns[AMOUNTS][ROUNDS], pieces_ns[AMOUNTS][ROUNDS];
    const struct bc_work_rate rate = bc_work_calibrate();
    assert_true(rate.ns_per_unit > 0.1);
    const uint64_t piece = (uint64_t)(PIECE_US * 1e3 / rate.ns_per_unit);
    assert_true(piece > 0);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < AMOUNTS; i++) {
            const uint64_t units = (uint64_t)(amounts_us[i] / PIECE_US) * piece;
            at_once_ns[i][round] = time_work_ns(units);
            pieces_ns[i][round] = time_pieces_ns(units, piece);
        }
    bool linear = true;
    for (int i = 0; i < AMOUNTS; i++) {
        const double off = fmin(distance(at_once_ns[i], pieces_ns[i], ROUNDS, 0.5),
                                distance(at_once_ns[i], pieces_ns[i], ROUNDS, 0.25));
        if (off > 0.02) {
            print_error("%g us of work are %.1f %% off what they take in pieces "
                        "of %g us\n",
                        amounts_us[i], 100.0 * off, PIECE_US);
            linear = false;
        }
    }
    return linear;
}

TEST(time_is_linear_in_units) { assert_true(is_linear() || is_linear()); }

/* The time of uninterrupted work (the lower quartile of many times) over the time that was asked
   for. */
static double share_taken(double wanted_ns)
{
    enum { ROUNDS = 401 };
    double times_ns[ROUNDS];
    const struct bc_work_rate rate = bc_work_calibrate();
    const double clock_ns = bc_clock_measure().read_ns;
    const uint64_t units = bc_work_units(&rate, wanted_ns);
    for (int round = 0; round < ROUNDS; round++)
        times_ns[round] = time_work_ns(units) - clock_ns;
    bc_sort(times_ns, ROUNDS);
    return bc_quantile(times_ns, ROUNDS, 0.25) / wanted_ns;
}

/* Within 2 %, by the median of several calibrations: the processor's rate may change
   between one of them and its rounds. */
static bool takes_what_was_asked_for(double wanted_ns)
{
    enum { CALIBRATIONS = 5 };
    double shares[CALIBRATIONS];
    for (int i = 0; i < CALIBRATIONS; i++)
        shares[i] = share_taken(wanted_ns);
    const double share = bc_median(shares, CALIBRATIONS);
    if (fabs(share - 1.0) <= 0.02)
        return true;
    print_error("%.1f us of work take %.2f us\n", wanted_ns * 1e-3, share * wanted_ns * 1e-3);
    return false;
}

TEST(work_takes_what_was_asked_for)
{
    static const double wanted_ns[] = {10e3, 20e3};
    for (size_t i = 0; i < COUNT(wanted_ns); i++)
        assert_true(takes_what_was_asked_for(wanted_ns[i]) ||
                    takes_what_was_asked_for(wanted_ns[i]));
}

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
