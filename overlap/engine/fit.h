/*
 * The largest amount of work that fits: the search for it, and the guarantee. All functions are
 * local.
 */
#pragma once

#include "common/stats/stats.h"

#include <stdbool.h>
#include <stdint.h>

struct overlap_state;
struct overlap_row;

/* ---- the search: pure logic; trials go in, amounts come out -----------------------------------
 */

/*
 * The steps are the specification's. Start with as much work as the operation takes; halve it until
 * it fits (phase 3); then raise it between the largest amount that fits and the smallest that
 * doesn't, and believe that an amount doesn't fit only after it failed every one of the validation
 * steps (phase 4); stop when the two amounts are within the acceptance threshold.
 *
 * "Raise it" leaves open by how much. Past the point up to which work fits (the knee), each unit of
 * work makes the operation longer by one unit, so a trial that took `excess` too long says where
 * the knee is: `excess` below the work that was tried. With `robust` the amounts on both sides of
 * that point are tried first; the middle of the bracket is tried when this does not help, because
 * the library's progress does not follow that line. Every amount that was tried is evidence of its
 * own, so the bounds do not depend on the prediction. Without `robust` the bracket is bisected.
 */
struct overlap_search_rules {
    double acceptance; /* share of the work, 0 to 1 */
    double floor_ns; /* a bracket narrower than this is narrow enough: the clock resolves no less */
    int validation_steps;
    bool robust; /* see above; and validation steps in phase 3, too */
};

/* The result of a trial of an amount of work. */
struct overlap_trial {
    double work_ns; /* the work's own time */
    bool fits;
    double excess_ns;                  /* how much longer the operation took than without work */
    double excess_lo_ns, excess_hi_ns; /* interval of excess_ns */
};

struct overlap_search {
    struct overlap_search_rules rules;
    double reference_ns;
    double next_ns; /* the work to try next */
    bool done;
    bool converged; /* done because the bracket is narrow enough */

    double fits_ns;       /* the largest work that fits; 0 needs no trial */
    double fits_slack_ns; /* by how much even that may have been too much; NAN: its trial had no
                             interval */
    double exceeds_ns;    /* the smallest work that doesn't fit; INFINITY: none yet */
    bool exceeds_is_sure; /* the trial of exceeds_ns had an interval */
    double knee_ns;       /* predicted by a trial that exceeded; NAN: none has */
    double knee_hi_ns;    /* as far up as that trial's interval allows */

    bool halving;                           /* phase 3 */
    int failures;                           /* of the same work, validation included */
    double last_width_ns, earlier_width_ns; /* of the bracket, one and two amounts before */
    int trials;
};

/* Starts a search for an operation that takes reference_ns. */
void overlap_search_begin(struct overlap_search *search, const struct overlap_search_rules *rules,
                          double reference_ns);

/* The width of the bracket that ends the search if the knee is at work_ns. */
double overlap_search_tolerance(const struct overlap_search *search, double work_ns);

/* Takes in the trial of next_ns; sets `done` or the next amount to try. */
void overlap_search_report(struct overlap_search *search, const struct overlap_trial *trial);

/* ---- the guarantee ----------------------------------------------------------------------------
 */

/*
 * The specification's guarantee holds for the result as printed: work is an amount that was
 * injected, and total, the operation's time with it, exceeds the reference by no more than the
 * acceptance threshold (under the mean by no more than the reference's standard deviation). Each
 * round times several amounts, so that all have the rounds of the reference; the largest amount
 * that keeps the guarantee is printed.
 */
enum { OVERLAP_NO_AMOUNT = -1 };

/* Returns the number (0 to OVERLAP_AMOUNTS - 1) of the largest amount of work that keeps the
   guarantee by the row's rounds, or OVERLAP_NO_AMOUNT: none does, or there are too few rounds. */
int overlap_fitting_amount(const struct overlap_state *overlap, const struct overlap_row *row);

/* Returns the reference of the amounts' rounds; under the mean that of phase 1, as specified. */
struct bc_summary overlap_reference_of(const struct overlap_state *overlap,
                                       const struct overlap_row *row);
