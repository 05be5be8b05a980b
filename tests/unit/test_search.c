/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for the largest amount of work that fits, driven by functions whose knee is known.
 */
#include "helpers.h"

#include "overlap/engine/fit.h"

#include <string.h>

/* ---- a simulated operation ------------------------------------------------------------------- */

#define REFERENCE_NS 200e3
#define TRIALS_MAX 60

struct machine {
    double fraction; /* the knee, as a share of the reference time */
    double slope;    /* by which the total time grows with work beyond the knee */
    double step_ns;  /* work beyond the knee is rounded up to a multiple of this; 0: no rounding */
    double wrong;    /* share of the verdicts that are wrong */
    struct random random;
};

static struct machine ideal(double fraction)
{
    return (struct machine){.fraction = fraction, .slope = 1.0, .random = random_from(7)};
}

/* How much longer the operation takes than without work. */
static double true_excess_ns(const struct machine *machine, double work_ns)
{
    const double knee_ns = machine->fraction * REFERENCE_NS;
    double beyond_ns = work_ns - knee_ns;
    if (beyond_ns <= 0.0)
        return 0.0;
    if (machine->step_ns > 0.0)
        beyond_ns = ceil(beyond_ns / machine->step_ns) * machine->step_ns;
    return machine->slope * beyond_ns;
}

static struct overlap_trial try_work(struct machine *machine, double work_ns, double threshold_ns)
{
    const double excess_ns = true_excess_ns(machine, work_ns);
    struct overlap_trial trial = {
        .work_ns = work_ns,
        .excess_ns = excess_ns,
        .excess_lo_ns = excess_ns,
        .excess_hi_ns = excess_ns,
        .fits = excess_ns <= threshold_ns,
    };
    if (machine->wrong > 0.0 && random_uniform(&machine->random) < machine->wrong)
        trial.fits = !trial.fits;
    return trial;
}

static const struct overlap_search_rules robust_rules = {
    .acceptance = 0.005,
    .floor_ns = 250.0, /* acceptance * REFERENCE_NS / 4, as in phases.c */
    .validation_steps = 2,
    .robust = true,
};

static const struct overlap_search_rules plain_rules = {
    .acceptance = 0.005,
    .floor_ns = 250.0,
    .validation_steps = 2,
};

static struct overlap_search run_search(const struct overlap_search_rules *rules,
                                        struct machine *machine)
{
    struct overlap_search search;
    overlap_search_begin(&search, rules, REFERENCE_NS);
    while (!search.done) {
        assert_true(search.next_ns >= 0.0 && isfinite(search.next_ns));
        const double threshold_ns = 0.25 * overlap_search_tolerance(&search, search.next_ns);
        const struct overlap_trial trial = try_work(machine, search.next_ns, threshold_ns);
        overlap_search_report(&search, &trial);
        if (search.trials >= TRIALS_MAX)
            fail_msg("no end after %d trials: fits %g, exceeds %g", search.trials, search.fits_ns,
                     search.exceeds_ns);
    }
    return search;
}

/* The bounds must enclose the knee and be within the tolerance of each other; noise and the
   verdict's threshold may move them by `blur_ns`. */
static void check_bounds(const struct overlap_search *search, double knee_ns, double blur_ns)
{
    const double tolerance = overlap_search_tolerance(search, search->exceeds_ns);
    if (!(search->fits_ns <= knee_ns + blur_ns && search->exceeds_ns >= knee_ns - blur_ns))
        fail_msg("the knee %g is not within %g and %g", knee_ns, search->fits_ns,
                 search->exceeds_ns);
    if (isfinite(search->exceeds_ns))
        assert_true(search->exceeds_ns - search->fits_ns <= tolerance);
    else
        assert_true(search->fits_ns >= REFERENCE_NS);
}

/* ---- exact verdicts -------------------------------------------------------------------------- */

/* Of a machine with this knee, for each kind of rules: the bounds enclose the knee, exact trials
   predict it, and few are needed (the reference time, a half that fits, and both sides of the knee,
   with validation); with other slopes than 1 and progress in steps bisection has to help. */
TEST(exact_verdicts_enclose_the_knee)
{
    static const struct {
        double slope, step_ns;
        unsigned max_trials;
    } machines[] = {{1.0, 0.0, 10}, {0.2, 0.0, 50}, {0.5, 0.0, 50}, {0.8, 0.0, 50},
                    {1.5, 0.0, 50}, {3.0, 0.0, 50}, {1.0, 1e3, 60}, {1.0, 5e3, 60},
                    {1.0, 2e4, 60}, {1.0, 6e4, 60}, {1.0, 15e4, 60}};
    for (size_t i = 0; i < COUNT(machines); i++)
        for (double fraction = 0.0; fraction <= 1.0; fraction += 0.0125) {
            const double knee_ns = fraction * REFERENCE_NS;
            struct machine machine = ideal(fraction);
            machine.slope = machines[i].slope;
            machine.step_ns = machines[i].step_ns;
            const struct overlap_search search = run_search(&robust_rules, &machine);
            check_bounds(&search, knee_ns,
                         0.26 * overlap_search_tolerance(&search, knee_ns) / machine.slope);
            assert_in_range(search.trials, 1, machines[i].max_trials);
            if (i == 0)
                assert_near(search.knee_ns, knee_ns, fraction < 1.0 ? 1e-3 : 500.0);
        }
}

/* Any amount of work fits: the search ends nevertheless. */
TEST(endless_work_fits)
{
    struct machine endless = ideal(INFINITY);
    const struct overlap_search search = run_search(&robust_rules, &endless);
    assert_true(search.fits_ns >= REFERENCE_NS);
    assert_in_range(search.trials, 1, 20);
}

/* ---- contradictions -------------------------------------------------------------------------- */

/* Verdicts that contradict each other: the search ends with its bounds in order, and one wrong
   verdict in twenty does not lead it far astray. */
TEST(contradictory_verdicts)
{
    static const double shares[] = {0.05, 0.2, 0.5, 0.9, 1.0};
    const struct overlap_search_rules *const all[] = {&robust_rules, &plain_rules};
    for (size_t r = 0; r < COUNT(all); r++)
        for (size_t i = 0; i < COUNT(shares); i++) {
            int near = 0;
            for (int trial = 0; trial < 200; trial++) {
                struct machine machine = ideal(0.5);
                machine.wrong = shares[i];
                machine.random = random_from((uint64_t)trial + 500);
                struct overlap_search search;
                overlap_search_begin(&search, all[r], REFERENCE_NS);
                while (!search.done) {
                    const struct overlap_trial next = try_work(&machine, search.next_ns, 50.0);
                    overlap_search_report(&search, &next);
                    assert_true(isfinite(search.next_ns) && search.next_ns >= 0.0);
                    assert_true(search.fits_ns < search.exceeds_ns);
                    assert_true(search.trials <= 200);
                }
                near += fabs(search.fits_ns - 0.5 * REFERENCE_NS) < 0.1 * REFERENCE_NS;
            }
            if (i == 0 && near < 120)
                fail_msg("only %d of 200 searches came near (%s)", near,
                         all[r]->robust ? "predicting" : "bisecting");
        }
}

static void report_work(struct overlap_search *search, double work_ns, bool fits)
{
    const struct overlap_trial trial = {
        .work_ns = work_ns,
        .fits = fits,
        .excess_ns = fits ? 0.0 : 1e3,
        .excess_lo_ns = fits ? -10.0 : 900.0,
        .excess_hi_ns = fits ? 10.0 : 1100.0,
    };
    overlap_search_report(search, &trial);
}

/* Bounds of 256 and 512 us, found without validation. */
static void find_bounds(struct overlap_search *search)
{
    struct overlap_search_rules rules = plain_rules;
    rules.validation_steps = 0;
    overlap_search_begin(search, &rules, 1024e3);
    report_work(search, 512e3, false);
    report_work(search, 256e3, true);
    assert_near(search->fits_ns, 256e3, 0.0);
    assert_near(search->exceeds_ns, 512e3, 0.0);
}

/* The work of a trial may lie outside of the bounds, though the search asked for work between. */
TEST(trials_outside_of_the_bounds)
{
    struct overlap_search search;
    /* Less work than fits_ns fits, more than exceeds_ns doesn't: both were known. */
    find_bounds(&search);
    report_work(&search, 100e3, true);
    report_work(&search, 900e3, false);
    assert_near(search.fits_ns, 256e3, 0.0);
    assert_near(search.exceeds_ns, 512e3, 0.0);
    /* More work than exceeds_ns fits: exceeds_ns was wrong. Then the opposite, with fits_ns. */
    find_bounds(&search);
    report_work(&search, 600e3, true);
    assert_near(search.fits_ns, 600e3, 0.0);
    assert_true(isinf(search.exceeds_ns));
    assert_true(search.done || search.next_ns > 600e3);
    find_bounds(&search);
    report_work(&search, 200e3, false);
    assert_near(search.exceeds_ns, 200e3, 0.0);
    assert_near(search.fits_ns, 0.0, 0.0);
    assert_near(search.fits_slack_ns, 0.0, 0.0);
    assert_near(search.next_ns, 100e3, 0.0);
}

/* A half is tried that lies within the interval of the knee. */
TEST(a_half_that_may_fit_is_tried)
{
    struct overlap_search_rules rules = robust_rules;
    struct overlap_search search;
    rules.validation_steps = 0;
    overlap_search_begin(&search, &rules, 1000e3);
    const struct overlap_trial trial = {
        .work_ns = 1000e3, .excess_ns = 510e3, .excess_lo_ns = 480e3, .excess_hi_ns = 540e3};
    overlap_search_report(&search, &trial);
    assert_near(search.next_ns, 500e3, 0.0);
}

/* Trials without work show nothing, but the search must end. */
TEST(trials_that_say_nothing)
{
    const struct overlap_search_rules *const all[] = {&robust_rules, &plain_rules};
    for (size_t r = 0; r < COUNT(all); r++) {
        struct overlap_search search;
        overlap_search_begin(&search, all[r], REFERENCE_NS);
        int trials = 0;
        while (!search.done && trials < 1000) {
            report_work(&search, 0.0, true);
            trials++;
        }
        assert_in_range(trials, 1, 200);
    }
}

/* A trial's work may differ a little from the requested work, and its interval may be missing. */
TEST(trials_that_are_not_ideal)
{
    for (int without_intervals = 0; without_intervals <= 1; without_intervals++)
        for (double fraction = 0.0; fraction <= 1.0; fraction += 0.093) {
            struct machine machine = ideal(fraction);
            struct overlap_search search;
            overlap_search_begin(&search, &robust_rules, REFERENCE_NS);
            while (!search.done) {
                const double off =
                    1.0 + (without_intervals ? 0.0 : 0.002 * random_normal(&machine.random));
                struct overlap_trial trial = try_work(&machine, search.next_ns * off, 50.0);
                if (without_intervals)
                    trial.excess_lo_ns = trial.excess_hi_ns = NAN;
                overlap_search_report(&search, &trial);
                assert_in_range(search.trials, 1, TRIALS_MAX);
            }
            check_bounds(&search, fraction * REFERENCE_NS, 50.0);
            if (!without_intervals)
                continue;
            /* Neither bound is sure, except that no work at all fits. */
            assert_true(search.fits_ns == 0.0 || isnan(search.fits_slack_ns));
            assert_false(search.exceeds_is_sure);
        }
}

/* ---- the specification's steps --------------------------------------------------------------- */

/* State of the search after each verdict, in us. */
struct step {
    bool fits;
    double next_us, fits_us, exceeds_us;
};

static void follow_steps(const struct overlap_search_rules *rules, const struct step *steps,
                         size_t count)
{
    struct overlap_search search;
    overlap_search_begin(&search, rules, 1024e3);
    for (size_t i = 0; i < count; i++) {
        report_work(&search, search.next_ns, steps[i].fits);
        assert_false(search.done);
        assert_near(search.next_ns, 1e3 * steps[i].next_us, 0.0);
        assert_near(search.fits_ns, 1e3 * steps[i].fits_us, 0.0);
        assert_near(search.exceeds_ns, 1e3 * steps[i].exceeds_us, 0.0);
        assert_near(search.fits_slack_ns, search.fits_ns > 0.0 ? 10.0 : 0.0, 0.0);
    }
    assert_int_equal(search.trials, count);
}

TEST(bisection_follows_the_specification)
{
    static const struct step steps[] = {
        /* Phase 3 halves at once, without validation. */
        {false, 512, 0, 1024},
        {false, 256, 0, 512},
        /* It fits: phase 4 raises to halfway. */
        {true, 384, 256, 512},
        /* A failure is believed after both validation steps failed, too ... */
        {false, 384, 256, 512},
        {false, 384, 256, 512},
        {false, 320, 256, 384},
        /* ... and one validation step that fits raises. */
        {false, 320, 256, 384},
        {false, 320, 256, 384},
        {true, 352, 320, 384},
        /* Failures are counted for each amount. */
        {false, 352, 320, 384},
        {false, 352, 320, 384},
        {false, 336, 320, 352},
    };
    static const struct step unvalidated[] = {
        {false, 512, 0, 1024}, {true, 768, 512, 1024}, {false, 640, 512, 768}};
    static const struct step validated_halving[] = {
        {false, 1024, 0, INFINITY}, {false, 1024, 0, INFINITY}, {false, 512, 0, 1024}};
    struct overlap_search_rules no_steps = plain_rules;
    no_steps.validation_steps = 0;
    follow_steps(&plain_rules, steps, COUNT(steps));
    follow_steps(&no_steps, unvalidated, COUNT(unvalidated));
    follow_steps(&robust_rules, validated_halving, COUNT(validated_halving));
}
