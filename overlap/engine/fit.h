/* SPDX-License-Identifier: BSD-3-Clause */
/* The largest amount of work that fits: search and guarantee. All functions are local. */
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
 * doesn't, where an amount is rejected only after it failed all validation steps (phase 4); stop
 * when both are within the acceptance threshold.
 *
 * Beyond the work that fits (the knee), each unit of work makes the operation longer by one unit,
 * so a trial that took `excess` too long predicts the knee. With `robust`, phase 4 first tries
 * amounts on both sides of the prediction, then the middle of the bracket, for libraries that don't
 * follow that line. The bounds are trials, never predictions. Without `robust` the bracket is
 * bisected.
 */
struct overlap_search_rules {
    double acceptance; /* share of the work, 0 to 1 */
    double floor_ns;   /* min width of a bracket: the clock's resolution */
    int validation_steps;
    bool robust; /* predicts the knee; validates in phase 3, too */
};

/* The result of a trial of an amount of work. */
struct overlap_trial {
    double work_ns; /* the work's own time */
    bool fits;
    double excess_ns;                  /* added to the operation by the work */
    double excess_lo_ns, excess_hi_ns; /* interval of excess_ns */
};

struct overlap_search {
    struct overlap_search_rules rules;
    double reference_ns;
    double next_ns; /* the work to try next */
    bool done;
    bool converged; /* done because the bracket is narrow enough */

    double fits_ns;       /* largest amount that fits; 0 needs no trial */
    double fits_slack_ns; /* maximum excess over the knee; NAN: no interval */
    double exceeds_ns;    /* smallest amount that doesn't fit; INFINITY: none yet */
    bool exceeds_is_sure; /* the trial of exceeds_ns had an interval */
    double knee_ns;       /* predicted by a trial that exceeded; NAN: none has */
    double knee_hi_ns;    /* its upper end */

    bool halving;                           /* phase 3 */
    int failures;                           /* of the same work, validation included */
    double last_width_ns, earlier_width_ns; /* of the last two brackets */
    int trials;
};

/* Starts a search under an operation that takes reference_ns. */
void overlap_search_begin(struct overlap_search *search, const struct overlap_search_rules *rules,
                          double reference_ns);

/* Returns the width of the bracket that ends the search at a knee of work_ns. */
double overlap_search_tolerance(const struct overlap_search *search, double work_ns);

/* Takes the trial of next_ns; sets `done` or the next amount. */
void overlap_search_report(struct overlap_search *search, const struct overlap_trial *trial);

/* ---- the guarantee ----------------------------------------------------------------------------
 */

/*
 * The specification's guarantee holds for the printed result: the work was injected, and the
 * operation's time with it exceeds the reference by at most the acceptance threshold (under the
 * mean by the reference's standard deviation). Each round times several amounts, and the largest
 * that keeps the guarantee is printed.
 */
enum { OVERLAP_NO_AMOUNT = -1 };

/* Returns the largest amount that keeps the guarantee by the row's rounds (0 to OVERLAP_AMOUNTS -
   1), or OVERLAP_NO_AMOUNT: none does, or there are too few rounds. */
int overlap_fitting_amount(const struct overlap_state *overlap, const struct overlap_row *row);

/* Returns the reference of these rounds; under the mean that of phase 1, as specified. */
struct bc_summary overlap_reference_of(const struct overlap_state *overlap,
                                       const struct overlap_row *row);
