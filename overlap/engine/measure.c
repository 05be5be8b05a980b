#include "overlap/engine/measure.h"

#include "common/mpi/harness.h"
#include "common/stats/precision.h"
#include "overlap/engine/kernel.h"
#include "overlap/engine/search.h"

#include <math.h>

/* The shares of a row's time for the reference (phase 1) and for the search (phases 3 and 4). The
   rest is for measuring the answer. */
#define REFERENCE_SHARE 0.15
#define SEARCH_SHARE 0.65

/* One trial may take this share of the search's time: that is enough for all trials of a search
   where it is hard to tell whether work fits. */
#define TRIAL_SHARE (1.0 / 12.0)

/* Work doesn't fit if the operation took longer by more than this share of the bracket that ends
   the search. Amounts are tried half a bracket below and above the knee, where the operation takes
   0 and half a bracket longer: this is the middle of the two. */
#define VERDICT_SHARE 0.25

/* A trial's verdict must be right more often than a reported interval, since many trials make one
   result. */
#define TRIAL_CONFIDENCE 0.99
#define TRIAL_MIN_ROUNDS 10

/* ... but when the time is up before that, the balance of evidence decides: a few outliers among a
   few rounds say nothing about the rest. */
#define BALANCE_CONFIDENCE 0.80

/* The work's rate is corrected from at least this number of rounds, and in steps of at most this
   share: one late round must not change it. */
#define CORRECTION_ROUNDS 5
#define CORRECTION_MAX 0.1

/* A round takes about as long as this number of operations: twice the work, the operation, and the
   operation with work. */
#define ROUND_OPERATIONS 5

/* The search leaves the answer the time for this number of rounds, if there is that much. */
#define ANSWER_ROUNDS 6

/* Shorter work is as precise as its clock. */
#define SHORT_WORK_NS 1000.0

/* ---- rounds and their summaries -------------------------------------------------------------- */

/* Whether the estimator is the robust one (the default), not the specification's mean. */
static bool is_robust(const struct overlap_state *overlap)
{
    return overlap->run->settings.estimator == BC_MEDIAN;
}

static struct overlap_round make_round(const struct overlap_state *overlap,
                                       struct overlap_operation *operation, bool check)
{
    return (struct overlap_round){
        .operation = operation,
        .window = overlap->run->window,
        .clock_ns = overlap->run->own_clock.read_ns,
        .check = check,
    };
}

/* The samples are on rank 0 only. Collective. */
static const struct bc_samples *run_rounds(const struct overlap_state *overlap,
                                           struct bc_source source, const struct bc_plan *plan)
{
    bc_sampler_run(overlap->run->sampler, &source, plan);
    return bc_sampler_samples(overlap->run->sampler);
}

/* The summary with a value of at least 0: what the clock can't see took no time, not less. */
static struct bc_summary not_negative(struct bc_summary summary)
{
    summary.value = fmax(0.0, summary.value);
    return summary;
}

/* Local; rank 0. */
static struct bc_summary summarize(const struct overlap_state *overlap,
                                   const struct bc_samples *samples, int quantity)
{
    return not_negative(bc_run_summarize(overlap->run, samples, quantity));
}

/* How much longer the operation took with work than without, round by round: the median, whatever
   the estimator. Local; rank 0. */
static struct bc_summary summarize_excess(const struct bc_samples *samples, double confidence)
{
    return bc_samples_summarize_difference(samples, OVERLAP_TOTAL, OVERLAP_REFERENCE, BC_MEDIAN,
                                           confidence);
}

/* A value that follows from `rounds` rounds in which it was not measured itself. */
static struct bc_summary unmeasured(size_t rounds, double value)
{
    return (struct bc_summary){rounds, value, NAN, {NAN, NAN}, NAN, NAN};
}

/* ---- precision ------------------------------------------------------------------------------- */

static bool is_precise(const struct overlap_state *overlap, const struct bc_summary *summary)
{
    return bc_is_precise(summary, overlap->run->settings.precision_pct / 100.0);
}

static const struct bc_precise_value precise_values[OVERLAP_QUANTITIES] = {
    {.quantity = OVERLAP_REFERENCE, .subtrahend = -1},
    {.quantity = OVERLAP_TOTAL, .subtrahend = -1},
    {.quantity = OVERLAP_WORK, .subtrahend = -1, .negligible_ns = SHORT_WORK_NS},
};

/* A plan for a part of a row that ends when the first `count` values are precise. Fills in the
   rule, which must outlive the plan. */
static struct bc_plan precise_plan(const struct overlap_state *overlap, int count, double seconds,
                                   struct bc_precision *rule)
{
    struct bc_plan plan = bc_run_plan(overlap->run, seconds);
    bc_plan_until_precise(&plan, rule, overlap->run, precise_values, count);
    return plan;
}

/* ---- phase 1: the reference time ------------------------------------------------------------- */

/* Collective; the summary is on rank 0. */
static struct bc_summary measure_reference(const struct overlap_state *overlap,
                                           struct overlap_round *round, double seconds)
{
    struct bc_precision rule;
    const struct bc_plan plan = precise_plan(overlap, 1, seconds, &rule);
    const struct bc_samples *const samples =
        run_rounds(overlap, overlap_reference_source(round), &plan);
    bc_run_dump(overlap->run, "reference_phase", samples->values[0], samples->count);
    return bc_run_summarize(overlap->run, samples, OVERLAP_REFERENCE);
}

/* ---- a trial, robust ------------------------------------------------------------------------- */

/* `context` is the threshold in ns. */
static bool trial_is_clear(const struct bc_samples *samples, void *context)
{
    const double threshold_ns = *(const double *)context;
    const struct bc_summary excess = summarize_excess(samples, TRIAL_CONFIDENCE);
    return excess.interval.lo > threshold_ns || excess.interval.hi < threshold_ns;
}

/* Where the samples can't tell, work counts as fitting unless the operation took longer by the
   balance of evidence. It may then be too much work: the trial's interval says by how much. */
static bool fits_robustly(const struct bc_samples *samples, double threshold_ns)
{
    const struct bc_summary excess = summarize_excess(samples, BALANCE_CONFIDENCE);
    if (isnan(excess.interval.lo))
        return excess.value <= threshold_ns;
    return !(excess.interval.lo > 0.0 && excess.value > threshold_ns);
}

/* The work's own time as it was just measured corrects the rate for the next amount: the
   processor's clock rate may have changed. */
static void correct_rate(struct overlap_state *overlap, uint64_t units,
                         const struct bc_summary *work)
{
    const double expected_ns = bc_work_ns(&overlap->rate, units);
    if (work->count < CORRECTION_ROUNDS || expected_ns < 1000.0)
        return;
    const double correction = work->value / expected_ns;
    overlap->rate.ns_per_unit *= fmax(1.0 - CORRECTION_MAX, fmin(1.0 + CORRECTION_MAX, correction));
}

static void tell_trial(const struct overlap_state *overlap, uint64_t units, double total_ns,
                       size_t rounds, const struct overlap_trial *trial)
{
    if (overlap->parameters.debug)
        bc_output_remark(overlap->run->output, "debug",
                         "trial: %llu units, work %.3f us, total %.3f us, "
                         "excess %.3f (%.3f to %.3f) us, %zu rounds: %s",
                         (unsigned long long)units, trial->work_ns * 1e-3, total_ns * 1e-3,
                         trial->excess_ns * 1e-3, trial->excess_lo_ns * 1e-3,
                         trial->excess_hi_ns * 1e-3, rounds, trial->fits ? "fits" : "does not fit");
}

static struct overlap_trial try_robustly(struct overlap_state *overlap, struct overlap_round *round,
                                         double threshold_ns, struct bc_plan plan)
{
    if (plan.min_rounds < plan.max_rounds) {
        if (plan.min_rounds > TRIAL_MIN_ROUNDS)
            plan.min_rounds = TRIAL_MIN_ROUNDS;
        plan.settled = trial_is_clear;
        plan.context = &threshold_ns;
    }
    const struct bc_samples *const samples =
        run_rounds(overlap, overlap_round_source(round), &plan);

    const struct bc_summary work = bc_run_summarize(overlap->run, samples, OVERLAP_WORK);
    const struct bc_summary excess = summarize_excess(samples, TRIAL_CONFIDENCE);
    struct overlap_trial trial = {
        .work_ns = not_negative(work).value,
        .fits = fits_robustly(samples, threshold_ns),
        .excess_ns = excess.value,
        .excess_lo_ns = excess.interval.lo,
        .excess_hi_ns = excess.interval.hi,
    };
    /* Work that takes longer than the operation can't fit under it. */
    if (work.value >
        bc_run_summarize(overlap->run, samples, OVERLAP_REFERENCE).value + threshold_ns)
        trial.fits = false;
    correct_rate(overlap, round->units, &work);
    tell_trial(overlap, round->units, summarize(overlap, samples, OVERLAP_TOTAL).value,
               samples->count, &trial);
    return trial;
}

/* ---- a trial as specified -------------------------------------------------------------------- */

/* The mean with work must not exceed the reference's mean plus its standard deviation. Like the
   reference, the operation is repeated with nothing in between; the work's own time is what its
   calibration says. */
static struct overlap_trial try_by_mean(const struct overlap_state *overlap,
                                        struct overlap_round *round,
                                        const struct bc_summary *reference, struct bc_plan plan)
{
    plan.max_rounds = plan.min_rounds;
    const struct bc_samples *const samples =
        run_rounds(overlap, overlap_total_source(round), &plan);
    const struct bc_summary total = bc_run_summarize(overlap->run, samples, 0);
    const double sd = isnan(reference->sd) ? 0.0 : reference->sd;
    const struct overlap_trial trial = {
        .work_ns = bc_work_ns(&overlap->rate, round->units),
        .fits = total.value <= reference->value + sd,
        .excess_ns = total.value - reference->value,
        .excess_lo_ns = total.interval.lo - reference->value,
        .excess_hi_ns = total.interval.hi - reference->value,
    };
    tell_trial(overlap, round->units, not_negative(total).value, samples->count, &trial);
    return trial;
}

/* ---- phases 2 to 4: the search --------------------------------------------------------------- */

static struct overlap_search_rules make_rules(const struct overlap_state *overlap,
                                              double reference_ns)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const double acceptance = p->acceptance_pct / 100.0;
    const double clock_ns = overlap->run->max_clock.read_ns;
    const bool robust = is_robust(overlap);
    return (struct overlap_search_rules){
        .acceptance = acceptance,
        .floor_ns = fmax(3.0 * clock_ns, acceptance * reference_ns / 4.0),
        .validation_steps = (int)p->validation_steps,
        .predict = robust,
        .validate_halving = robust,
    };
}

/* Tries round->units of work for at most `seconds`. `reference` is phase 1's. Work fits as long as
   the operation takes no longer than threshold_ns more with it (robust), or no longer than the
   reference's mean plus its standard deviation (mean). Parameters other than the round count on
   rank 0 only. Collective; the trial is on rank 0. */
static struct overlap_trial try_work(struct overlap_state *overlap, struct overlap_round *round,
                                     const struct bc_summary *reference, double threshold_ns,
                                     double seconds)
{
    struct bc_plan plan = bc_run_plan(overlap->run, seconds);
    plan.warmup_rounds = 0;
    plan.grace_s = 0.0;
    return is_robust(overlap) ? try_robustly(overlap, round, threshold_ns, plan)
                              : try_by_mean(overlap, round, reference, plan);
}

/* What rank 0 tells the others before each trial. */
struct next_trial {
    uint64_t units;
    uint64_t goes_on; /* 0: the search is over */
};

/* Finds the largest amount of work that fits; tries at least one, however little time there is.
   Collective; the search is on rank 0. */
static struct overlap_search search_work(struct overlap_state *overlap, struct overlap_round *round,
                                         const struct bc_summary *reference, double seconds)
{
    const bool root = overlap->run->job.rank == 0;
    const double reference_ns = not_negative(*reference).value;
    const struct overlap_search_rules rules = make_rules(overlap, reference_ns);
    struct overlap_search search;
    overlap_search_begin(&search, &rules, reference_ns);
    const double deadline_s = bc_elapsed_s() + seconds;
    for (;;) {
        struct next_trial next = {0, 0};
        if (root) {
            next.goes_on = search.trials == 0 || (!search.done && bc_elapsed_s() < deadline_s);
            next.units = bc_work_units(&overlap->rate, search.next_ns);
        }
        bc_harness_bcast(&next, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (!next.goes_on)
            return search;
        round->units = next.units;
        const double threshold_ns =
            VERDICT_SHARE * overlap_search_tolerance(&search, search.next_ns);
        const struct overlap_trial trial =
            try_work(overlap, round, reference, threshold_ns, seconds * TRIAL_SHARE);
        if (root)
            overlap_search_report(&search, &trial);
    }
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The amount of work that the answer is about: the knee, or as the specification says the largest
   one that was seen to fit. */
static double answer_ns(const struct overlap_state *overlap, const struct overlap_search *search)
{
    if (!is_robust(overlap) || isnan(search->knee_ns))
        return search->fits_ns;
    return fmin(search->knee_ns, search->exceeds_ns);
}

/* What the rounds at the answer say of its work. */
struct verdict {
    bool judged;        /* the members that follow mean something: not of no work */
    bool too_long;      /* the operation took longer with it than the search allows */
    bool by_chance;     /* ... but in too few rounds, or too irregularly, to be sure of it */
    bool retry;         /* less work should be tried: it is no chance, or can't be told yet */
    double fits_ns;     /* the work that should have fitted: less by the excess */
    double fits_min_ns; /* ... less by the largest excess that the interval allows */
};

static struct verdict judge_answer(const struct overlap_state *overlap,
                                   const struct overlap_search *search,
                                   const struct bc_samples *samples, double work_ns)
{
    const struct bc_summary excess =
        summarize_excess(samples, overlap->run->settings.confidence_pct / 100.0);
    const bool too_long = excess.value > overlap_search_tolerance(search, work_ns);
    const bool unknown = isnan(excess.interval.lo);
    return (struct verdict){
        .judged = true,
        .too_long = too_long,
        .by_chance = unknown || excess.interval.lo <= 0.0,
        .retry = too_long && (unknown || excess.interval.lo > 0.0),
        .fits_ns = fmax(0.0, work_ns - excess.value),
        .fits_min_ns = work_ns - fmax(excess.value, excess.interval.hi),
    };
}

static void take_answer(const struct overlap_state *overlap, const struct bc_samples *samples,
                        struct overlap_result *result)
{
    result->reference = summarize(overlap, samples, OVERLAP_REFERENCE);
    result->total = summarize(overlap, samples, OVERLAP_TOTAL);
    result->work = summarize(overlap, samples, OVERLAP_WORK);
}

/* With no time left for rounds of its own the answer comes from those of the only trial: the
   reference time, and where the knee must then be. */
static void take_answer_from_trial(const struct overlap_state *overlap,
                                   const struct overlap_search *search,
                                   struct overlap_result *result)
{
    const struct bc_samples *const samples = bc_sampler_samples(overlap->run->sampler);
    if (overlap->run->job.rank != 0)
        return;
    result->reference = summarize(overlap, samples, OVERLAP_REFERENCE);
    result->total = unmeasured(samples->count, NAN);
    result->work = unmeasured(samples->count, answer_ns(overlap, search));
}

static void dump_answer(const struct overlap_state *overlap, const struct bc_samples *samples)
{
    static const char *const names[] = {
        [OVERLAP_REFERENCE] = "reference",
        [OVERLAP_TOTAL] = "total",
        [OVERLAP_WORK] = "work",
    };
    for (int q = 0; q < OVERLAP_QUANTITIES; q++)
        bc_run_dump(overlap->run, names[q], samples->values[q], samples->count);
}

/* Measures at the answer. Where the machine has changed since the search, and the work no longer
   fits, measures less work, as often as there is time. Collective; the verdict on the last amount
   is on rank 0. */
static struct verdict measure_answer(const struct overlap_state *overlap,
                                     struct overlap_round *round,
                                     const struct overlap_search *search, double seconds,
                                     struct overlap_result *result)
{
    enum { ATTEMPTS = 4 };
    const bool root = overlap->run->job.rank == 0;
    const double start_s = bc_elapsed_s();
    double work_ns = answer_ns(overlap, search);
    struct verdict verdict = {0};
    for (int attempt = 1;; attempt++) {
        uint64_t order[2] = {bc_work_units(&overlap->rate, work_ns), 0};
        bc_harness_bcast(order, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        round->units = order[0];
        const double left_s = seconds - (bc_elapsed_s() - start_s);
        struct bc_precision rule;
        struct bc_plan plan = precise_plan(overlap, OVERLAP_QUANTITIES, fmax(0.0, left_s), &rule);
        plan.warmup_rounds = 0;
        const struct bc_samples *const samples =
            run_rounds(overlap, overlap_round_source(round), &plan);
        if (root) {
            take_answer(overlap, samples, result);
            verdict = (struct verdict){0}; /* on these rounds alone */
            if (is_robust(overlap) && order[0] > 0)
                verdict = judge_answer(overlap, search, samples, result->work.value);
            order[1] = verdict.retry && attempt < ATTEMPTS && bc_elapsed_s() - start_s < seconds;
            work_ns = verdict.fits_ns;
        }
        bc_harness_bcast(order, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (!order[1]) {
            if (root)
                dump_answer(overlap, samples);
            return verdict;
        }
    }
}

/* ---- what a row says of the answer ----------------------------------------------------------- */

static double percent_of(double part, double whole)
{
    if (!(whole > 0.0))
        return part > 0.0 ? 100.0 : 0.0;
    return fmin(100.0, fmax(0.0, 100.0 * part / whole));
}

/*
 * The interval: from the largest amount of work that fitted, less the excess that its trial may
 * have missed, to the smallest one that did not. Both are over the reference time at the end of its
 * own interval that is farther away, and never closer together than what one reading of the clock
 * is worth. Where the operation took too long with the answer's work, or that is less than the most
 * work that fitted, the interval reaches down to what the answer's own rounds leave. It exists only
 * where both trials and the reference have intervals.
 */
static void set_interval(const struct overlap_state *overlap, const struct overlap_search *search,
                         const struct verdict *verdict, struct overlap_result *result)
{
    const double clock_ns = overlap->run->max_clock.read_ns;
    const struct bc_interval *const reference = &result->reference.interval;
    const double knee_ns = answer_ns(overlap, search);
    double lo_ns = fmin(search->fits_ns - search->fits_slack_ns, knee_ns);
    if (verdict->judged && (verdict->too_long || result->work.value < lo_ns))
        lo_ns = fmin(lo_ns, verdict->fits_min_ns);
    const double hi_ns = fmax(search->exceeds_ns, knee_ns);
    if (isnan(search->fits_slack_ns) || !search->exceeds_is_sure || isnan(reference->lo)) {
        result->overlap_lo_pct = NAN;
        result->overlap_hi_pct = NAN;
        return;
    }
    /* The value was measured after the bounds were found: where the operation itself drifted in
       between, the interval takes in both. */
    result->overlap_lo_pct = fmin(result->overlap_pct, percent_of(lo_ns - clock_ns, reference->hi));
    result->overlap_hi_pct = fmax(result->overlap_pct, percent_of(hi_ns + clock_ns, reference->lo));
}

/* True if the overlap's interval is as narrow as the precision asks, in points, or as the clock
   allows. */
static bool is_narrow(const struct overlap_state *overlap, const struct overlap_search *search,
                      const struct overlap_result *result)
{
    const double half_width = (result->overlap_hi_pct - result->overlap_lo_pct) / 2.0;
    const double clock_limit = percent_of(2.0 * search->rules.floor_ns, result->reference.value);
    return half_width <= fmax(overlap->run->settings.precision_pct, clock_limit);
}

/* True if the row is what was asked for: a number of samples, whatever the time, or the search's
   end and the precision. */
static bool is_complete(const struct overlap_state *overlap, const struct overlap_search *search,
                        const struct overlap_result *result, double row_seconds)
{
    if (overlap->run->settings.samples > 0 && isinf(row_seconds))
        return !isnan(result->total.value);
    return search->converged && (is_narrow(overlap, search, result) || !is_robust(overlap)) &&
           is_precise(overlap, &result->reference) && is_precise(overlap, &result->total) &&
           (result->work.value < SHORT_WORK_NS || is_precise(overlap, &result->work));
}

static void tell_phases(const struct overlap_state *overlap, int64_t elements,
                        const struct bc_summary *reference, const struct overlap_search *search)
{
    if (overlap->parameters.verbose)
        bc_output_remark(overlap->run->output, "verbose",
                         "%lld elements: phase 1: reference %.3f us, sd %.3f us; phases 3 "
                         "and 4: %d trials, %.3f us fits, %.3f us does not, knee at %.3f us",
                         (long long)elements, not_negative(*reference).value * 1e-3,
                         reference->sd * 1e-3, search->trials, search->fits_ns * 1e-3,
                         search->exceeds_ns * 1e-3, search->knee_ns * 1e-3);
}

/* Completes a result that has the answer's times. Local; rank 0. */
static void conclude(const struct overlap_state *overlap, const struct bc_summary *reference,
                     const struct overlap_search *search, const struct verdict *verdict,
                     double row_seconds, struct overlap_result *result)
{
    /* No row is about work that was seen not to fit, but about what should have fitted instead,
       with which nothing was measured. */
    if (verdict->too_long && !verdict->by_chance) {
        result->total = unmeasured(result->total.count, NAN);
        result->work = unmeasured(result->work.count, verdict->fits_ns);
    }
    /* The specification measures the reference once, at the beginning. */
    if (!is_robust(overlap))
        result->reference = not_negative(*reference);
    result->reference_sd_ns = result->reference.sd;
    /* Times of one operation each don't tell a share. */
    result->overlap_pct =
        result->reference.count < 2 ? NAN : percent_of(result->work.value, result->reference.value);
    set_interval(overlap, search, verdict, result);
    result->outcome =
        bc_run_outcome(overlap->run, is_complete(overlap, search, result, row_seconds));
    result->outcome.samples = (int64_t)result->reference.count;
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* About how long a round takes if the operation takes as long as the reference. */
static double round_seconds(const struct bc_summary *reference)
{
    return ROUND_OPERATIONS * not_negative(*reference).value * 1e-9;
}

int64_t overlap_run_phases(struct overlap_state *overlap, struct overlap_operation *operation,
                           double seconds, struct overlap_result *result)
{
    struct overlap_round round = make_round(overlap, operation, overlap->run->settings.check);
    const double start_s = bc_elapsed_s();
    const struct bc_summary reference =
        measure_reference(overlap, &round, seconds * REFERENCE_SHARE);
    const double after_reference_s = seconds - (bc_elapsed_s() - start_s);
    const double search_s =
        fmin(seconds * SEARCH_SHARE, after_reference_s - ANSWER_ROUNDS * round_seconds(&reference));
    const struct overlap_search search =
        search_work(overlap, &round, &reference, fmax(0.0, search_s));
    const double left_s = seconds - (bc_elapsed_s() - start_s);
    int rushed = is_robust(overlap) && search.trials == 1 && left_s < round_seconds(&reference);
    bc_harness_bcast(&rushed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    struct verdict verdict = {0};
    if (rushed)
        take_answer_from_trial(overlap, &search, result);
    else
        verdict = measure_answer(overlap, &round, &search, fmax(0.0, left_s), result);
    if (overlap->run->job.rank == 0) {
        conclude(overlap, &reference, &search, &verdict, seconds, result);
        tell_phases(overlap, operation->shape.elements, &reference, &search);
    }
    return round.wrong;
}

double overlap_quick_reference_ns(const struct overlap_state *overlap,
                                  struct overlap_operation *operation, double seconds)
{
    enum { ROUNDS = 5 };
    struct overlap_round round = make_round(overlap, operation, false);
    const struct bc_plan plan = {
        .min_rounds = ROUNDS,
        .max_rounds = ROUNDS,
        .deadline_s = bc_elapsed_s() + seconds,
        .grace_rounds = 1,
        .warmup_rounds = 1,
        .retakes = ROUNDS,
    };
    const struct bc_samples *const samples =
        run_rounds(overlap, overlap_reference_source(&round), &plan);
    double reference_ns = 0.0;
    if (overlap->run->job.rank == 0)
        reference_ns = summarize(overlap, samples, OVERLAP_REFERENCE).value;
    bc_harness_bcast(&reference_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return reference_ns;
}
