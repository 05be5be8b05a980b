#include "overlap/engine/measure.h"

#include "common/mpi/harness.h"
#include "overlap/engine/search.h"

#include <math.h>

/* A row's time is for the reference (phase 1), the search (phases 3 and 4), and the answer. */
#define REFERENCE_SHARE 0.15
#define SEARCH_SHARE 0.65

/* One trial may take this share of the search's time: enough for all trials of a search where it is
   hard to tell whether work fits. */
#define TRIAL_SHARE (1.0 / 12.0)

/* Work doesn't fit if the operation took longer by more than this share of the bracket that ends
   the search: amounts are tried half a bracket below and above the knee, where the operation takes
   0 and half a bracket longer, and this is the middle of the two. */
#define VERDICT_SHARE 0.25

/* Many trials make one result, so a trial must be right more often than a reported interval; but
   when the time is up before that, the balance of evidence decides: a few outliers among a few
   rounds say nothing about the rest. */
#define TRIAL_CONFIDENCE 0.99
#define TRIAL_MIN_ROUNDS 10
#define BALANCE_CONFIDENCE 0.80

/* The rate of work is corrected from at least this number of rounds, and by at most this share at a
   time: one late round must not change the rate. */
#define CORRECTION_ROUNDS 5
#define CORRECTION_MAX 0.1

/* A round takes about as long as this number of operations: twice the work, the operation, and the
   operation with work. */
#define ROUND_OPERATIONS 5

/* The search leaves the answer the time for this number of rounds, if there is that much. */
#define ANSWER_ROUNDS 6

/* Shorter work is as precise as its clock. */
#define SHORT_WORK_NS 1000.0

/* A row while it is measured. What samples say is on rank 0. */
struct row {
    struct overlap_state *overlap;
    struct bc_run *run;
    struct overlap_result *result;
    bool root;   /* this is rank 0 */
    bool robust; /* the estimator is the robust one (the default), not the specification's mean */
    double seconds, end_s;
    struct overlap_round round;
    struct bc_summary reference; /* phase 1's */
    double reference_ns;         /* its value, at least 0 */
    struct overlap_search search;
};

static double seconds_left(const struct row *row) { return row->end_s - bc_elapsed_s(); }

/* ---- rounds and their summaries -------------------------------------------------------------- */

/* The samples are on rank 0 only. Collective. */
static const struct bc_samples *run_rounds(const struct bc_run *run, struct overlap_round *round,
                                           int quantities,
                                           void (*take)(void *context, double *values),
                                           const struct bc_plan *plan)
{
    const struct bc_source source = {
        .quantities = quantities,
        .take = take,
        .context = round,
        .slowest_of = OVERLAP_REFERENCE,
        .starts = bc_start_window_starts(run->window),
        .clock_ns = run->own_clock.read_ns,
    };
    bc_sampler_run(run->sampler, &source, plan);
    return bc_sampler_samples(run->sampler);
}

/* With a value of at least 0: what the clock can't see took no time, not less. Local; rank 0. */
static struct bc_summary summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity)
{
    struct bc_summary summary = bc_run_summarize(run, samples, quantity, -1);
    summary.value = fmax(0.0, summary.value);
    return summary;
}

/* The operation's time with work less that without, round by round: always the median. Rank 0. */
static struct bc_summary summarize_excess(const struct bc_samples *samples, double confidence)
{
    return bc_samples_summarize(samples, OVERLAP_TOTAL, OVERLAP_REFERENCE, BC_MEDIAN, confidence);
}

/* A value that follows from `rounds` rounds in which it was not measured itself. */
static struct bc_summary unmeasured(size_t rounds, double value)
{
    return (struct bc_summary){rounds, value, NAN, {NAN, NAN}, NAN, NAN};
}

/* The reference comes first: phase 1 measures nothing else. */
static const struct bc_precise_value precise_values[OVERLAP_QUANTITIES] = {
    {.quantity = OVERLAP_REFERENCE, .subtrahend = -1},
    {.quantity = OVERLAP_TOTAL, .subtrahend = -1},
    {.quantity = OVERLAP_WORK, .subtrahend = -1, .negligible_ns = SHORT_WORK_NS},
};

/* ---- phase 1: the reference time ------------------------------------------------------------- */

/* Collective. */
static void measure_reference(struct row *row)
{
    struct bc_plan plan = bc_run_plan(row->run, row->seconds * REFERENCE_SHARE);
    struct bc_precision rule;
    bc_plan_until_precise(&plan, &rule, row->run, precise_values, 1);
    const struct bc_samples *const samples =
        run_rounds(row->run, &row->round, 1, overlap_take_reference, &plan);
    bc_run_dump(row->run, "reference_phase", samples->values[0], samples->count);
    row->reference = bc_run_summarize(row->run, samples, OVERLAP_REFERENCE, -1);
    row->reference_ns = fmax(0.0, row->reference.value);
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
static void correct_rate(struct row *row, const struct bc_summary *work)
{
    struct bc_work_rate *const rate = &row->overlap->rate;
    const double expected_ns = bc_work_ns(rate, row->round.units);
    if (work->count < CORRECTION_ROUNDS || expected_ns < 1000.0)
        return;
    const double correction = work->value / expected_ns;
    rate->ns_per_unit *= fmax(1.0 - CORRECTION_MAX, fmin(1.0 + CORRECTION_MAX, correction));
}

static void tell_trial(const struct row *row, const struct bc_samples *samples, int quantity,
                       const struct overlap_trial *trial)
{
    if (row->overlap->parameters.debug)
        bc_output_remark(row->run->output, "debug",
                         "trial: %llu units, work %.3f us, total %.3f us, "
                         "excess %.3f (%.3f to %.3f) us, %zu rounds: %s",
                         (unsigned long long)row->round.units, trial->work_ns * 1e-3,
                         summarize(row->run, samples, quantity).value * 1e-3,
                         trial->excess_ns * 1e-3, trial->excess_lo_ns * 1e-3,
                         trial->excess_hi_ns * 1e-3, samples->count,
                         trial->fits ? "fits" : "does not fit");
}

/* Work fits as long as the operation takes no longer than threshold_ns more with it. */
static struct overlap_trial try_robustly(struct row *row, double threshold_ns, struct bc_plan plan)
{
    if (plan.min_rounds < plan.max_rounds) {
        if (plan.min_rounds > TRIAL_MIN_ROUNDS)
            plan.min_rounds = TRIAL_MIN_ROUNDS;
        plan.settled = trial_is_clear;
        plan.context = &threshold_ns;
    }
    const struct bc_samples *const samples =
        run_rounds(row->run, &row->round, OVERLAP_QUANTITIES, overlap_take_round, &plan);
    const struct bc_summary reference = bc_run_summarize(row->run, samples, OVERLAP_REFERENCE, -1);
    const struct bc_summary work = bc_run_summarize(row->run, samples, OVERLAP_WORK, -1);
    const struct bc_summary excess = summarize_excess(samples, TRIAL_CONFIDENCE);
    const struct overlap_trial trial = {
        .work_ns = fmax(0.0, work.value),
        /* Work that takes longer than the operation can't fit under it. */
        .fits =
            fits_robustly(samples, threshold_ns) && !(work.value > reference.value + threshold_ns),
        .excess_ns = excess.value,
        .excess_lo_ns = excess.interval.lo,
        .excess_hi_ns = excess.interval.hi,
    };
    correct_rate(row, &work);
    tell_trial(row, samples, OVERLAP_TOTAL, &trial);
    return trial;
}

/* ---- a trial as specified -------------------------------------------------------------------- */

/* As specified: the mean with work must not exceed the reference's plus its standard deviation. The
   operation is repeated with nothing in between; the work's time is what its calibration says. */
static struct overlap_trial try_by_mean(struct row *row, struct bc_plan plan)
{
    const struct bc_summary *const reference = &row->reference;
    plan.max_rounds = plan.min_rounds;
    const struct bc_samples *const samples =
        run_rounds(row->run, &row->round, 1, overlap_take_total, &plan);
    const struct bc_summary total = bc_run_summarize(row->run, samples, 0, -1);
    const double sd = isnan(reference->sd) ? 0.0 : reference->sd;
    const struct overlap_trial trial = {
        .work_ns = bc_work_ns(&row->overlap->rate, row->round.units),
        .fits = total.value <= reference->value + sd,
        .excess_ns = total.value - reference->value,
        .excess_lo_ns = total.interval.lo - reference->value,
        .excess_hi_ns = total.interval.hi - reference->value,
    };
    tell_trial(row, samples, 0, &trial);
    return trial;
}

/* ---- phases 2 to 4: the search --------------------------------------------------------------- */

/* Tries row->round.units of work for at most `seconds`. Collective; the trial is on rank 0. */
static struct overlap_trial try_work(struct row *row, double seconds)
{
    const struct overlap_search *const search = &row->search;
    struct bc_plan plan = bc_run_plan(row->run, seconds);
    plan.warmup_rounds = 0;
    plan.grace_s = 0.0;
    if (!row->robust)
        return try_by_mean(row, plan);
    return try_robustly(row, VERDICT_SHARE * overlap_search_tolerance(search, search->next_ns),
                        plan);
}

/* Finds the largest amount of work that fits; tries at least one, in any case. Collective. */
static void search_work(struct row *row, double seconds)
{
    const struct overlap_parameters *const p = &row->overlap->parameters;
    const double acceptance = p->acceptance_pct / 100.0;
    const struct overlap_search_rules rules = {
        .acceptance = acceptance,
        .floor_ns = fmax(3.0 * row->run->max_clock.read_ns, acceptance * row->reference_ns / 4.0),
        .validation_steps = (int)p->validation_steps,
        .predict = row->robust,
        .validate_halving = row->robust,
    };
    struct overlap_search *const search = &row->search;
    const double deadline_s = bc_elapsed_s() + seconds;
    overlap_search_begin(search, &rules, row->reference_ns);
    for (;;) {
        /* What rank 0 tells the others before each trial. */
        struct {
            uint64_t units, goes_on;
        } next = {0, 0};
        if (row->root) {
            next.goes_on = search->trials == 0 || (!search->done && bc_elapsed_s() < deadline_s);
            next.units = bc_work_units(&row->overlap->rate, search->next_ns);
        }
        bc_harness_bcast(&next, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (!next.goes_on)
            return;
        row->round.units = next.units;
        const struct overlap_trial trial = try_work(row, seconds * TRIAL_SHARE);
        if (row->root)
            overlap_search_report(search, &trial);
    }
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The answer's amount of work: the knee, or as specified the largest one that was seen to fit. */
static double answer_ns(const struct row *row)
{
    const struct overlap_search *const search = &row->search;
    if (!row->robust || isnan(search->knee_ns))
        return search->fits_ns;
    return fmin(search->knee_ns, search->exceeds_ns);
}

/* What the rounds at the answer say of its work; with no_verdict, nothing. */
struct verdict {
    bool too_long;       /* the operation took longer with it than the search allows */
    double excess_lo_ns; /* of the interval of how much longer it took; NAN: too few rounds */
    double fits_ns;      /* the work that should have fitted: less by the excess */
    double fits_min_ns;  /* ... less by the largest excess that the interval allows */
};

static const struct verdict no_verdict = {false, NAN, NAN, NAN};

static struct verdict judge_answer(const struct row *row, const struct bc_samples *samples)
{
    const double work_ns = row->result->work.value;
    if (!row->robust || row->round.units == 0)
        return no_verdict;
    const struct bc_summary excess =
        summarize_excess(samples, row->run->settings.confidence_pct / 100.0);
    return (struct verdict){
        .too_long = excess.value > overlap_search_tolerance(&row->search, work_ns),
        .excess_lo_ns = excess.interval.lo,
        .fits_ns = fmax(0.0, work_ns - excess.value),
        .fits_min_ns = work_ns - fmax(excess.value, excess.interval.hi),
    };
}

/* With no time left for rounds of its own the answer comes from those of the only trial: the
   reference time, and where the knee must then be. Local; rank 0. */
static void take_answer_from_trial(const struct row *row)
{
    const struct bc_samples *const samples = bc_sampler_samples(row->run->sampler);
    row->result->reference = summarize(row->run, samples, OVERLAP_REFERENCE);
    row->result->total = unmeasured(samples->count, NAN);
    row->result->work = unmeasured(samples->count, answer_ns(row));
}

/* Measures at the answer; where the work no longer fits, because the machine has changed since the
   search, measures less, as often as there is time. Collective; the last verdict is on rank 0. */
static struct verdict measure_answer(struct row *row)
{
    enum { ATTEMPTS = 4 };
    struct overlap_result *const result = row->result;
    double work_ns = answer_ns(row);
    struct verdict verdict = no_verdict;
    for (int attempt = 1;; attempt++) {
        uint64_t order[2] = {bc_work_units(&row->overlap->rate, work_ns), 0};
        bc_harness_bcast(order, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        row->round.units = order[0];
        struct bc_plan plan = bc_run_plan(row->run, fmax(0.0, seconds_left(row)));
        struct bc_precision rule;
        bc_plan_until_precise(&plan, &rule, row->run, precise_values, OVERLAP_QUANTITIES);
        plan.warmup_rounds = 0;
        const struct bc_samples *const samples =
            run_rounds(row->run, &row->round, OVERLAP_QUANTITIES, overlap_take_round, &plan);
        if (row->root) {
            result->reference = summarize(row->run, samples, OVERLAP_REFERENCE);
            result->total = summarize(row->run, samples, OVERLAP_TOTAL);
            result->work = summarize(row->run, samples, OVERLAP_WORK);
            verdict = judge_answer(row, samples);
            /* Tries less work if the excess is no chance, or if rounds are too few to tell. */
            order[1] = verdict.too_long && !(verdict.excess_lo_ns <= 0.0) && attempt < ATTEMPTS &&
                       seconds_left(row) > 0.0;
            work_ns = verdict.fits_ns;
        }
        bc_harness_bcast(order, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (order[1])
            continue;
        bc_run_dump(row->run, "reference", samples->values[OVERLAP_REFERENCE], samples->count);
        bc_run_dump(row->run, "total", samples->values[OVERLAP_TOTAL], samples->count);
        bc_run_dump(row->run, "work", samples->values[OVERLAP_WORK], samples->count);
        return verdict;
    }
}

/* ---- what a row says of the answer ----------------------------------------------------------- */

static double percent_of(double part, double whole)
{
    if (!(whole > 0.0))
        return part > 0.0 ? 100.0 : 0.0;
    return fmin(100.0, fmax(0.0, 100.0 * part / whole));
}

/* The interval: from the largest amount of work that fitted, less the excess that its trial may
   have missed, to the smallest one that did not. Both are over the reference time at the end of its
   own interval that is farther away, and never closer together than what one reading of the clock
   is worth. Where the operation took too long with the answer's work, or that is less than the most
   work that fitted, the interval reaches down to what the answer's own rounds leave. It exists only
   where both trials and the reference have intervals. */
static void set_interval(const struct row *row, const struct verdict *verdict)
{
    const struct overlap_search *const search = &row->search;
    struct overlap_result *const result = row->result;
    const double clock_ns = row->run->max_clock.read_ns;
    const struct bc_interval *const reference = &result->reference.interval;
    const double knee_ns = answer_ns(row);
    result->overlap_lo_pct = result->overlap_hi_pct = NAN;
    if (isnan(search->fits_slack_ns) || !search->exceeds_is_sure || isnan(reference->lo))
        return;
    double lo_ns = fmin(search->fits_ns - search->fits_slack_ns, knee_ns);
    if (verdict->too_long || result->work.value < lo_ns)
        lo_ns = fmin(lo_ns, verdict->fits_min_ns); /* NAN doesn't count */
    const double hi_ns = fmax(search->exceeds_ns, knee_ns);
    /* The value was measured after the bounds were found: where the operation itself drifted in
       between, the interval takes in both. */
    result->overlap_lo_pct = fmin(result->overlap_pct, percent_of(lo_ns - clock_ns, reference->hi));
    result->overlap_hi_pct = fmax(result->overlap_pct, percent_of(hi_ns + clock_ns, reference->lo));
}

/* True if the row is what was asked for: a number of samples, however long they take; or the
   search's end and the precision. The overlap's interval must be as narrow as the precision, in
   points, or as the clock allows. */
static bool is_complete(const struct row *row)
{
    const struct overlap_result *const result = row->result;
    if (row->run->settings.samples > 0 && isinf(row->seconds))
        return !isnan(result->total.value);
    const double precision_pct = row->run->settings.precision_pct;
    const double half_width = (result->overlap_hi_pct - result->overlap_lo_pct) / 2.0;
    const double clock_limit =
        percent_of(2.0 * row->search.rules.floor_ns, result->reference.value);
    return row->search.converged &&
           (!row->robust || half_width <= fmax(precision_pct, clock_limit)) &&
           bc_is_precise(&result->reference, precision_pct / 100.0) &&
           bc_is_precise(&result->total, precision_pct / 100.0) &&
           (result->work.value < SHORT_WORK_NS ||
            bc_is_precise(&result->work, precision_pct / 100.0));
}

static void tell_phases(const struct row *row)
{
    const struct overlap_search *const search = &row->search;
    if (row->overlap->parameters.verbose)
        bc_output_remark(row->run->output, "verbose",
                         "%lld elements: phase 1: reference %.3f us, sd %.3f us; phases 3 "
                         "and 4: %d trials, %.3f us fits, %.3f us does not, knee at %.3f us",
                         (long long)row->round.operation->shape.elements, row->reference_ns * 1e-3,
                         row->reference.sd * 1e-3, search->trials, search->fits_ns * 1e-3,
                         search->exceeds_ns * 1e-3, search->knee_ns * 1e-3);
}

/* Completes a result that has the answer's times. Local; rank 0. */
static void conclude(const struct row *row, const struct verdict *verdict)
{
    struct overlap_result *const result = row->result;
    /* No row is about work that was seen not to fit, but about what should have fitted instead,
       with which nothing was measured. */
    if (verdict->too_long && verdict->excess_lo_ns > 0.0) {
        result->total = unmeasured(result->total.count, NAN);
        result->work = unmeasured(result->work.count, verdict->fits_ns);
    }
    /* The specification measures the reference once, at the beginning. */
    if (!row->robust) {
        result->reference = row->reference;
        result->reference.value = row->reference_ns;
    }
    result->reference_sd_ns = result->reference.sd;
    /* Times of one operation each don't tell a share. */
    result->overlap_pct =
        result->reference.count < 2 ? NAN : percent_of(result->work.value, result->reference.value);
    set_interval(row, verdict);
    result->outcome = bc_run_outcome(row->run, is_complete(row));
    result->outcome.samples = (int64_t)result->reference.count;
    tell_phases(row);
}

/* ---- a row ----------------------------------------------------------------------------------- */

int64_t overlap_run_phases(struct overlap_state *overlap, struct overlap_operation *operation,
                           double seconds, struct overlap_result *result)
{
    struct bc_run *const run = overlap->run;
    struct row row = {
        .overlap = overlap,
        .run = run,
        .result = result,
        .root = run->job.rank == 0,
        .robust = run->settings.estimator == BC_MEDIAN,
        .seconds = seconds,
        .end_s = bc_elapsed_s() + seconds,
        .round = {operation, run->window, run->settings.check, 0, 0},
    };
    measure_reference(&row);
    /* About how long a round takes if the operation takes as long as the reference. */
    const double round_s = ROUND_OPERATIONS * row.reference_ns * 1e-9;
    const double search_s =
        fmin(seconds * SEARCH_SHARE, seconds_left(&row) - ANSWER_ROUNDS * round_s);
    search_work(&row, fmax(0.0, search_s));
    int rushed = row.robust && row.search.trials == 1 && seconds_left(&row) < round_s;
    bc_harness_bcast(&rushed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    struct verdict verdict = no_verdict;
    if (!rushed)
        verdict = measure_answer(&row);
    else if (row.root)
        take_answer_from_trial(&row);
    if (row.root)
        conclude(&row, &verdict);
    return row.round.wrong;
}

double overlap_quick_reference_ns(struct overlap_state *overlap,
                                  struct overlap_operation *operation, double seconds)
{
    enum { ROUNDS = 5 };
    const struct bc_run *const run = overlap->run;
    struct overlap_round round = {.operation = operation, .window = run->window};
    const struct bc_plan plan = {
        .min_rounds = ROUNDS,
        .max_rounds = ROUNDS,
        .deadline_s = bc_elapsed_s() + seconds,
        .grace_rounds = 1,
        .warmup_rounds = 1,
        .retakes = ROUNDS,
    };
    const struct bc_samples *const samples =
        run_rounds(run, &round, 1, overlap_take_reference, &plan);
    double reference_ns = 0.0;
    if (run->job.rank == 0)
        reference_ns = summarize(run, samples, OVERLAP_REFERENCE).value;
    bc_harness_bcast(&reference_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return reference_ns;
}
