#include "overlap/engine/visit.h"

#include "common/mpi/harness.h"

#include <math.h>

/* The share of the first visit's time for the search (phases 3 and 4). */
#define SEARCH_SHARE 0.6

/* One trial may take this share of the search's time: enough for all trials of a search where it is
   hard to tell whether work fits. */
#define TRIAL_SHARE (1.0 / 12.0)

/* Work doesn't fit if the operation took longer by more than this share of the bracket that ends
   the search: amounts are tried half a bracket below and above the knee, where the operation takes
   0 and half a bracket longer, and this is the middle of the two. */
#define VERDICT_SHARE 0.25

/* A trial takes TRIAL_ROUNDS rounds, then twice as many, up to TRIAL_ROUNDS_MAX, until it is clear
   whether the work fits. */
#define TRIAL_ROUNDS 16
#define TRIAL_ROUNDS_MAX 512

/* ---- phase 1: the reference time ------------------------------------------------------------- */

void overlap_measure_reference(struct overlap_visit *visit, double seconds)
{
    struct bc_samples *const samples = &visit->row->reference_phase;
    struct bc_plan plan = bc_run_plan(visit->run, samples, seconds);
    struct bc_precision rule;
    static const struct bc_precise_value reference = {.quantity = OVERLAP_REFERENCE,
                                                      .subtrahend = -1};
    bc_plan_until_precise(&plan, &rule, visit->run, &reference, 1);
    overlap_run_rounds(visit->run, &visit->round, 1, overlap_take_reference, &plan, samples);
    visit->reference = bc_run_summarize(visit->run, samples, OVERLAP_REFERENCE, -1);
    visit->reference_ns = fmax(0.0, visit->reference.value);
}

/* ---- a trial --------------------------------------------------------------------------------- */

static void tell_trial(const struct overlap_visit *visit, const struct overlap_trial *trial,
                       double total_ns, size_t rounds)
{
    if (visit->overlap->parameters.debug)
        bc_output_remark(visit->run->output, "debug",
                         "trial: %lld x %llu units, work %.3f us, total %.3f us, "
                         "excess %.3f (%.3f to %.3f) us, %zu rounds: %s",
                         (long long)visit->round.parts, (unsigned long long)visit->round.part_units,
                         trial->work_ns * 1e-3, total_ns * 1e-3, trial->excess_ns * 1e-3,
                         trial->excess_lo_ns * 1e-3, trial->excess_hi_ns * 1e-3, rounds,
                         trial->fits ? "fits" : "does not fit");
}

/* Work fits as long as the operation takes no longer than threshold_ns more with it: more rounds
   are taken until that is clear. Collective; the trial is on rank 0. */
static struct overlap_trial try_robustly(struct overlap_visit *visit, double threshold_ns,
                                         double seconds)
{
    const int64_t fixed = visit->run->settings.samples;
    const double deadline_s = bc_elapsed_s() + seconds;
    int64_t rounds = fixed > 0 && fixed < TRIAL_ROUNDS_MAX ? fixed : TRIAL_ROUNDS;
    struct overlap_estimate estimates[OVERLAP_ESTIMATED];
    struct overlap_trial trial;
    bc_samples_clear(&visit->own);
    for (int goes_on = 1; goes_on;) {
        overlap_take_rounds(visit, OVERLAP_BESIDE + 1, overlap_take_trial, rounds, deadline_s);
        overlap_estimate(visit, 0, visit->own.count, estimates);
        const double excess_ns = overlap_excess_of(estimates);
        const double half_ns = hypot(estimates[OVERLAP_EST_TOTAL].half_width_ns,
                                     estimates[OVERLAP_EST_REFERENCE].half_width_ns);
        trial = (struct overlap_trial){
            .work_ns = fmax(0.0, estimates[OVERLAP_EST_ALONE].ns),
            /* Work that takes longer than the operation can't fit under it. */
            .fits =
                excess_ns <= threshold_ns && estimates[OVERLAP_EST_ALONE].ns <=
                                                 estimates[OVERLAP_EST_REFERENCE].ns + threshold_ns,
            .excess_ns = excess_ns,
            .excess_lo_ns = excess_ns - half_ns,
            .excess_hi_ns = excess_ns + half_ns,
        };
        rounds = (int64_t)visit->own.count;
        goes_on = fixed == 0 && !(fabs(excess_ns - threshold_ns) > half_ns) &&
                  rounds < TRIAL_ROUNDS_MAX && bc_elapsed_s() < deadline_s;
        bc_harness_bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    overlap_correct_rate(visit, estimates[OVERLAP_EST_ALONE].ns);
    tell_trial(visit, &trial, estimates[OVERLAP_EST_TOTAL].ns, visit->own.count);
    return trial;
}

/* As specified: the mean with work must not exceed the reference's plus its standard deviation. The
   operation is repeated with nothing in between; the work's time is what its calibration says. */
static struct overlap_trial try_by_mean(struct overlap_visit *visit, double seconds)
{
    const struct bc_summary *const reference = &visit->reference;
    struct bc_plan plan = bc_run_plan(visit->run, NULL, seconds);
    plan.warmup_rounds = 0;
    plan.grace_s = 0.0;
    plan.max_rounds = plan.min_rounds;
    struct bc_samples samples = {.count = 0};
    overlap_run_rounds(visit->run, &visit->round, 1, overlap_take_total, &plan, &samples);
    const struct bc_summary total = bc_run_summarize(visit->run, &samples, 0, -1);
    const double sd = isnan(reference->sd) ? 0.0 : reference->sd;
    const struct overlap_trial trial = {
        .work_ns =
            (double)visit->round.parts * bc_work_ns(&visit->overlap->rate, visit->round.part_units),
        .fits = total.value <= reference->value + sd,
        .excess_ns = total.value - reference->value,
        .excess_lo_ns = total.interval.lo - reference->value,
        .excess_hi_ns = total.interval.hi - reference->value,
    };
    tell_trial(visit, &trial, total.value, samples.count);
    bc_samples_free(&samples);
    return trial;
}

/* ---- phases 2 to 4: the search --------------------------------------------------------------- */

/* Tries visit->round.part_units in each part of the work for at most `seconds`. Collective; the
 * trial is on rank 0. */
static struct overlap_trial try_work(struct overlap_visit *visit, double seconds)
{
    const struct overlap_search *const search = &visit->row->search;
    if (!visit->robust)
        return try_by_mean(visit, seconds);
    return try_robustly(visit, VERDICT_SHARE * overlap_search_tolerance(search, search->next_ns),
                        seconds);
}

/* Finds the largest amount of work that fits; tries at least one, in any case. Collective. */
static void search_work(struct overlap_visit *visit, double seconds)
{
    const struct overlap_parameters *const p = &visit->overlap->parameters;
    const double acceptance = p->acceptance_pct / 100.0;
    const struct overlap_search_rules rules = {
        .acceptance = acceptance,
        .floor_ns =
            fmax(3.0 * visit->run->max_clock.read_ns, acceptance * visit->reference_ns / 4.0),
        .validation_steps = (int)p->validation_steps,
        .predict = visit->robust,
        .validate_halving = visit->robust,
    };
    struct overlap_search *const search = &visit->row->search;
    const double deadline_s = bc_elapsed_s() + seconds;
    overlap_search_begin(search, &rules, visit->reference_ns);
    for (;;) {
        /* What rank 0 tells the others before each trial. */
        struct {
            uint64_t part_units, goes_on;
        } next = {0, 0};
        if (visit->root) {
            next.goes_on = search->trials == 0 || (!search->done && bc_elapsed_s() < deadline_s);
            next.part_units = overlap_part_units(visit, search->next_ns);
        }
        bc_harness_bcast(&next, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (!next.goes_on)
            return;
        visit->round.part_units = next.part_units;
        const struct overlap_trial trial = try_work(visit, seconds * TRIAL_SHARE);
        if (visit->root)
            overlap_search_report(search, &trial);
    }
}

static void tell_phases(const struct overlap_visit *visit)
{
    const struct overlap_search *const search = &visit->row->search;
    if (visit->overlap->parameters.verbose)
        bc_output_remark(visit->run->output, "verbose",
                         "%lld elements: phase 1: reference %.3f us, sd %.3f us; phases 3 "
                         "and 4: %d trials, %.3f us fits, %.3f us does not, knee at %.3f us",
                         (long long)visit->round.operation->shape.elements,
                         visit->reference_ns * 1e-3, visit->reference.sd * 1e-3, search->trials,
                         search->fits_ns * 1e-3, search->exceeds_ns * 1e-3, search->knee_ns * 1e-3);
}

void overlap_find_knee(struct overlap_visit *visit, double seconds)
{
    struct overlap_row *const row = visit->row;
    const struct overlap_search *const search = &row->search;
    search_work(visit, fmax(0.0, fmin(seconds * SEARCH_SHARE, overlap_seconds_left(visit))));
    tell_phases(visit);
    /* As specified the largest amount that was seen to fit. */
    row->knee_ns = search->fits_ns;
    if (visit->robust && !isnan(search->knee_ns))
        row->knee_ns = fmin(search->knee_ns, search->exceeds_ns);
    row->margin_ns = overlap_search_tolerance(search, row->knee_ns);
}
