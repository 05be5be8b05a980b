/*
 * The two searches: for the largest amount of work that fits, and for the number of calls of
 * MPI_Test with the min exposed time. Which to try next, and when to stop. Pure logic: trials go
 * in, amounts come out; the unit tests drive it with functions. All functions are local.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* ---- the largest amount of work that fits ---------------------------------------------------- */

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

/* What a trial of an amount of work said. */
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

/* ---- the number of calls of MPI_Test --------------------------------------------------------- */

/*
 * More calls give the library more occasions to go on, until it needs no more of them; each costs
 * its own time. So the exposed time falls and then rises again. The numbers 0, 1, 2, 4, 8 ... are
 * tried until the exposed time rises or the limit is reached. Then numbers between them are tried:
 * where the lines through the trials on both sides meet, or half-way, as long as these lines leave
 * room for a better number. The interval with the lowest bound comes first. It need not be beside
 * the best number so far: where a call costs what it gains, two distant numbers are equally good,
 * and a better one lies before both.
 */
enum { OVERLAP_CALLS_TRIED_MAX = 64 };

struct overlap_calls_trial {
    int64_t calls;
    double exposed_ns;
};

struct overlap_calls_search {
    int64_t limit;       /* the max number of calls to try */
    double tolerance_ns; /* exposed times that differ by less are as good */
    int64_t next;        /* the number to try next */
    bool done;
    struct overlap_calls_trial tried[OVERLAP_CALLS_TRIED_MAX]; /* by rising number */
    int count;
    bool refining; /* the best number has been passed */
};

void overlap_calls_begin(struct overlap_calls_search *search, int64_t limit, double tolerance_ns);

/* Takes in the exposed time with `next` calls; sets `done` or the next number. */
void overlap_calls_report(struct overlap_calls_search *search, double exposed_ns);

/* Whether trial i is worth another look: a moment of the machine may have made it better or worse
   than it is. It isn't if it exceeds the min by more than `within_ns`. */
bool overlap_calls_is_close(const struct overlap_calls_search *search, int i, double within_ns);

/* Of the numbers that were tried and whose exposed time is within the tolerance of the min, the
   smallest; 0 if none was tried. */
int64_t overlap_calls_best(const struct overlap_calls_search *search);
