/*
 * One visit of a row, and what its parts share: the engine's own.
 *
 *   visit.c       the visit from its begin to its end, rounds, and what rounds say
 *   test_calls.c  the number of calls of MPI_Test with the min exposed time
 *   knee.c        phases 1 to 4: about how much work fits
 *   guarantee.c   how much work is seen not to make the operation longer
 *   answer.c      rounds at the answer, and what the visit says
 *   result.c      the row of all visits
 */
#ifndef COMMCOST_OVERLAP_ENGINE_VISIT_H
#define COMMCOST_OVERLAP_ENGINE_VISIT_H

#include "overlap/engine/estimate.h"
#include "overlap/engine/gain.h"
#include "overlap/engine/kernel.h"
#include "overlap/engine/measure.h"

/* What a visit says of the overlap. */
enum overlap_answer_quantity {
    OVERLAP_ANSWER_PCT,       /* the overlap, not yet limited to 0 to 100 % */
    OVERLAP_ANSWER_OTHER_PCT, /* by other quantiles */
    OVERLAP_ANSWER_KNEE,      /* the work that fits, ns */
    OVERLAP_ANSWER_LO,        /* the bracket of the search in percent, under the mean only */
    OVERLAP_ANSWER_HI,
    OVERLAP_ANSWER_QUANTITIES
};

/* A row while it is visited. What samples say is on rank 0. */
struct overlap_visit {
    struct overlap_state *overlap;
    struct bc_run *run;
    struct overlap_row *row;
    bool root;   /* this is rank 0 */
    bool robust; /* the estimator is the robust one (the default), not the specification's mean */
    double end_s;
    struct overlap_round round;
    struct bc_samples own, own_plenty; /* see struct overlap_round */
    struct bc_summary reference;       /* phase 1's */
    double reference_ns;               /* its value, at least 0 */
};

static inline double overlap_seconds_left(const struct overlap_visit *visit)
{
    return visit->end_s - bc_elapsed_s();
}

/* Work shorter than this is as precise as its clock. */
#define OVERLAP_SHORT_WORK_NS 1000.0

/* A part of a whole in percent, limited to 0 to 100. */
double overlap_percent(double part, double whole);

/* Runs rounds of `quantities` quantities by `take` and appends them to `samples`. Collective. */
void overlap_run_rounds(const struct bc_run *run, struct overlap_round *round, int quantities,
                        void (*take)(void *context, double *values), const struct bc_plan *plan,
                        struct bc_samples *samples);

/* Takes `rounds` rounds by `take`, or as many as there is time for until deadline_s, at least one,
   for what they append to this rank's own times. Rank 0's arguments count. Collective. */
void overlap_take_rounds(struct overlap_visit *visit, int quantities,
                         void (*take)(void *context, double *values), int64_t rounds,
                         double deadline_s);

/* What rounds `first` to `end` - 1 of `own` say of the slowest ranks, the same on all ranks; and of
   `own_plenty`, by overlap_gain_own. Collective. */
void overlap_estimate(const struct overlap_visit *visit, size_t first, size_t end,
                      struct overlap_estimate *estimates);
void overlap_estimate_gain(const struct overlap_visit *visit, size_t first, size_t end,
                           double estimates_ns[OVERLAP_GAIN_ESTIMATED]);

/* The units in each of the round's parts that make this work together. Local; rank 0's counts. */
uint64_t overlap_part_units(const struct overlap_visit *visit, double work_ns);

/* The time that the slowest rank's work on trial took alone corrects the rate for the next amount:
   the processor's clock rate may have changed. Local. */
void overlap_correct_rate(struct overlap_visit *visit, double work_ns);

/* Chooses the plenty of work that goes with the row's reference time, for the round's number of
   parts. Collective. */
void overlap_choose_plenty(struct overlap_visit *visit);

/* Phase 1, for which the first visit has a share of its time. Collective. */
#define OVERLAP_REFERENCE_SHARE 0.2
void overlap_measure_reference(struct overlap_visit *visit, double seconds);

/* Finds the number of calls of MPI_Test and sets row->test_calls, on all ranks, after phase 1.
   Collective. */
void overlap_find_test_calls(struct overlap_visit *visit, double seconds);

/* Phases 2 to 4, and where later rounds look: row->knee_ns. Collective. */
void overlap_find_knee(struct overlap_visit *visit, double seconds);

/* The reference and the total of a row, or of these rounds of it, as its result has them, on rank
   0. `beyond_ns`: by how much the total's interval lies beyond what the acceptance threshold allows
   of the reference's value; 0 or less: it doesn't. Local. */
struct overlap_fit {
    struct bc_summary reference, total;
    double beyond_ns;
};
struct overlap_fit overlap_fit_of(const struct overlap_state *overlap,
                                  const struct overlap_row *row, const struct bc_samples *rounds);

/* Chooses the work of this visit's rounds, row->fitting_ns, and forgets rounds with other work, but
   under the mean, where each visit finds work of its own. Collective. */
void overlap_choose_fitting(struct overlap_visit *visit);

/* Measures at the answer, and appends what the visit says to the row. Collective. */
void overlap_measure_answer(struct overlap_visit *visit);

/* The pseudomedian and interval of what the visits, or parts of the first one, say. Local. */
struct bc_summary overlap_summarize_answers(const struct bc_run *run,
                                            const struct bc_samples *answers, int quantity);

#endif
