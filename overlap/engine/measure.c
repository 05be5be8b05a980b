#include "overlap/engine/measure.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "overlap/engine/estimate.h"

#include <math.h>
#include <stdlib.h>

/* Shares of the first visit's time: for the reference (phase 1) and the search (phases 3 and 4). */
#define REFERENCE_SHARE 0.2
#define SEARCH_SHARE 0.6

/* One trial may take this share of the search's time: enough for all trials of a search where it is
   hard to tell whether work fits. */
#define TRIAL_SHARE (1.0 / 12.0)

/* Work doesn't fit if the operation took longer by more than this share of the bracket that ends
   the search: amounts are tried half a bracket below and above the knee, where the operation takes
   0 and half a bracket longer, and this is the middle of the two. */
#define VERDICT_SHARE 0.25

/* A trial takes TRIAL_ROUNDS rounds, then twice as many, up to TRIAL_ROUNDS_MAX, until it is clear
   whether the work fits, at TRIAL_CONFIDENCE for each of the two times that are compared. */
#define TRIAL_ROUNDS 16
#define TRIAL_ROUNDS_MAX 512
#define TRIAL_CONFIDENCE 0.95

/* The rate of work is corrected from at least this number of rounds, and by at most this share at a
   time: one late round must not change the rate. */
#define CORRECTION_ROUNDS 5
#define CORRECTION_MAX 0.1

/* A visit takes at least so many rounds at the answer, if there is time and --max-samples allows.
 */
#define ANSWER_ROUNDS 30

/* Work beyond the knee must make the operation longer by at least half of the margin, or the margin
   is doubled, at most so often in a visit, each time after PROBE_ROUNDS rounds. */
#define MARGIN_DOUBLINGS 4
#define PROBE_ROUNDS 8

/* The first visit's rounds are cut into parts, whose differences stand in for those of visits where
   there is one visit only; each part has at least so many rounds. */
#define BLOCKS BC_VISITS
#define BLOCK_ROUNDS_MIN 2

/* Shorter work is as precise as its clock. */
#define SHORT_WORK_NS 1000.0

/* What a visit says. */
enum overlap_answer_quantity {
    ANSWER_PCT,       /* the overlap, not yet limited to 0 to 100 % */
    ANSWER_OTHER_PCT, /* by other quantiles */
    ANSWER_KNEE,      /* the work that fits, ns */
    ANSWER_LO,        /* the bracket of the search in percent, under the mean only */
    ANSWER_HI,
    ANSWER_QUANTITIES
};

/* A row while it is visited. What samples say is on rank 0. */
struct visit {
    struct overlap_state *overlap;
    struct bc_run *run;
    struct overlap_row *row;
    bool root;   /* this is rank 0 */
    bool robust; /* the estimator is the robust one (the default), not the specification's mean */
    double end_s;
    struct overlap_round round;
    struct bc_samples own;
    struct bc_summary reference; /* phase 1's */
    double reference_ns;         /* its value, at least 0 */
};

static double seconds_left(const struct visit *visit) { return visit->end_s - bc_elapsed_s(); }

static void run_rounds(const struct bc_run *run, struct overlap_round *round, int quantities,
                       void (*take)(void *context, double *values), const struct bc_plan *plan,
                       struct bc_samples *samples)
{
    const struct bc_source source = {
        .quantities = quantities,
        .take = take,
        .context = round,
        .slowest_of = OVERLAP_REFERENCE,
        .starts = bc_start_window_starts(run->window),
        .clock_ns = run->own_clock.read_ns,
    };
    bc_sampler_run(run->sampler, &source, plan, samples);
}

/* ---- phase 1: the reference time ------------------------------------------------------------- */

static const struct bc_precise_value precise_values[] = {
    {.quantity = OVERLAP_REFERENCE, .subtrahend = -1},
    {.quantity = OVERLAP_TOTAL, .subtrahend = -1},
    {.quantity = OVERLAP_WORK, .subtrahend = -1, .negligible_ns = SHORT_WORK_NS},
};
enum { PRECISE_VALUES = sizeof precise_values / sizeof *precise_values };

/* Collective. */
static void measure_reference(struct visit *visit, double seconds)
{
    struct bc_samples *const samples = &visit->row->reference_phase;
    struct bc_plan plan = bc_run_plan(visit->run, samples, seconds);
    struct bc_precision rule;
    bc_plan_until_precise(&plan, &rule, visit->run, precise_values, 1);
    run_rounds(visit->run, &visit->round, 1, overlap_take_reference, &plan, samples);
    visit->reference = bc_run_summarize(visit->run, samples, OVERLAP_REFERENCE, -1);
    visit->reference_ns = fmax(0.0, visit->reference.value);
}

/* ---- what rounds say, robustly --------------------------------------------------------------- */

/* The estimates of the slowest ranks, the same on all ranks. Collective. */
static void estimate(const struct visit *visit, size_t first, size_t end,
                     struct overlap_estimate *estimates)
{
    struct overlap_estimate own[OVERLAP_ESTIMATED];
    struct bc_located located[OVERLAP_ESTIMATED], slowest[OVERLAP_ESTIMATED];
    double half_width_ns[OVERLAP_ESTIMATED], slowest_half_width_ns[OVERLAP_ESTIMATED];
    const int rank = visit->run->job.rank;
    overlap_estimate_own(&visit->own, first, end, TRIAL_CONFIDENCE, own);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        located[i] = (struct bc_located){own[i].ns, rank};
    bc_harness_allreduce(located, slowest, OVERLAP_ESTIMATED, MPI_DOUBLE_INT, MPI_MAXLOC,
                         MPI_COMM_WORLD);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        half_width_ns[i] = slowest[i].rank == rank ? own[i].half_width_ns : 0.0;
    bc_harness_allreduce(half_width_ns, slowest_half_width_ns, OVERLAP_ESTIMATED, MPI_DOUBLE,
                         MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        estimates[i] = (struct overlap_estimate){slowest[i].value, slowest_half_width_ns[i]};
}

/* The work's own time as it was just measured corrects the rate for the next amount: the
   processor's clock rate may have changed. */
static void correct_rate(struct visit *visit, double work_ns)
{
    struct bc_work_rate *const rate = &visit->overlap->rate;
    const double expected_ns = bc_work_ns(rate, visit->round.units);
    if (visit->own.count < CORRECTION_ROUNDS || expected_ns < 1000.0)
        return;
    const double correction = work_ns / expected_ns;
    rate->ns_per_unit *= fmax(1.0 - CORRECTION_MAX, fmin(1.0 + CORRECTION_MAX, correction));
}

/* Takes `rounds` rounds, or as many as there is time for until deadline_s, at least one, with
   visit->round.units of work. Rank 0's arguments count. Collective. */
static void take_trial_rounds(struct visit *visit, int64_t rounds, double deadline_s)
{
    const struct bc_plan plan = {
        .min_rounds = rounds,
        .max_rounds = rounds,
        .deadline_s = deadline_s,
        .retakes = visit->run->job.oversubscribed ? 0 : rounds,
    };
    struct bc_samples unused = {.count = 0};
    run_rounds(visit->run, &visit->round, OVERLAP_EXPOSED + 1, overlap_take_trial, &plan, &unused);
    bc_samples_free(&unused);
}

/* ---- a trial --------------------------------------------------------------------------------- */

static void tell_trial(const struct visit *visit, const struct overlap_trial *trial,
                       double total_ns, size_t rounds)
{
    if (visit->overlap->parameters.debug)
        bc_output_remark(visit->run->output, "debug",
                         "trial: %llu units, work %.3f us, total %.3f us, "
                         "excess %.3f (%.3f to %.3f) us, %zu rounds: %s",
                         (unsigned long long)visit->round.units, trial->work_ns * 1e-3,
                         total_ns * 1e-3, trial->excess_ns * 1e-3, trial->excess_lo_ns * 1e-3,
                         trial->excess_hi_ns * 1e-3, rounds, trial->fits ? "fits" : "does not fit");
}

/* Work fits as long as the operation takes no longer than threshold_ns more with it: more rounds
   are taken until that is clear. Collective; the trial is on rank 0. */
static struct overlap_trial try_robustly(struct visit *visit, double threshold_ns, double seconds)
{
    const int64_t fixed = visit->run->settings.samples;
    const double deadline_s = bc_elapsed_s() + seconds;
    int64_t rounds = fixed > 0 && fixed < TRIAL_ROUNDS_MAX ? fixed : TRIAL_ROUNDS;
    struct overlap_estimate estimates[OVERLAP_ESTIMATED];
    struct overlap_trial trial;
    bc_samples_clear(&visit->own);
    for (int goes_on = 1; goes_on;) {
        take_trial_rounds(visit, rounds, deadline_s);
        estimate(visit, 0, visit->own.count, estimates);
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
    correct_rate(visit, estimates[OVERLAP_EST_ALONE].ns);
    tell_trial(visit, &trial, estimates[OVERLAP_EST_TOTAL].ns, visit->own.count);
    return trial;
}

/* As specified: the mean with work must not exceed the reference's plus its standard deviation. The
   operation is repeated with nothing in between; the work's time is what its calibration says. */
static struct overlap_trial try_by_mean(struct visit *visit, double seconds)
{
    const struct bc_summary *const reference = &visit->reference;
    struct bc_plan plan = bc_run_plan(visit->run, NULL, seconds);
    plan.warmup_rounds = 0;
    plan.grace_s = 0.0;
    plan.max_rounds = plan.min_rounds;
    struct bc_samples samples = {.count = 0};
    run_rounds(visit->run, &visit->round, 1, overlap_take_total, &plan, &samples);
    const struct bc_summary total = bc_run_summarize(visit->run, &samples, 0, -1);
    const double sd = isnan(reference->sd) ? 0.0 : reference->sd;
    const struct overlap_trial trial = {
        .work_ns = bc_work_ns(&visit->overlap->rate, visit->round.units),
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

/* Tries visit->round.units of work for at most `seconds`. Collective; the trial is on rank 0. */
static struct overlap_trial try_work(struct visit *visit, double seconds)
{
    const struct overlap_search *const search = &visit->row->search;
    if (!visit->robust)
        return try_by_mean(visit, seconds);
    return try_robustly(visit, VERDICT_SHARE * overlap_search_tolerance(search, search->next_ns),
                        seconds);
}

/* Finds the largest amount of work that fits; tries at least one, in any case. Collective. */
static void search_work(struct visit *visit, double seconds)
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
            uint64_t units, goes_on;
        } next = {0, 0};
        if (visit->root) {
            next.goes_on = search->trials == 0 || (!search->done && bc_elapsed_s() < deadline_s);
            next.units = bc_work_units(&visit->overlap->rate, search->next_ns);
        }
        bc_harness_bcast(&next, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (!next.goes_on)
            return;
        visit->round.units = next.units;
        const struct overlap_trial trial = try_work(visit, seconds * TRIAL_SHARE);
        if (visit->root)
            overlap_search_report(search, &trial);
    }
}

static void tell_phases(const struct visit *visit)
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

/* Phases 1 to 4, and where later rounds look. Collective. */
static void find_knee(struct visit *visit, double seconds)
{
    struct overlap_row *const row = visit->row;
    const struct overlap_search *const search = &row->search;
    measure_reference(visit, seconds * REFERENCE_SHARE);
    search_work(visit, fmax(0.0, fmin(seconds * SEARCH_SHARE, seconds_left(visit))));
    tell_phases(visit);
    /* As specified the largest amount that was seen to fit. */
    row->knee_ns = search->fits_ns;
    if (visit->robust && !isnan(search->knee_ns))
        row->knee_ns = fmin(search->knee_ns, search->exceeds_ns);
    row->margin_ns = overlap_search_tolerance(search, row->knee_ns);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Gives all ranks the amounts of work that the row's knee and margin ask for. Collective. */
static void choose_work(struct visit *visit)
{
    const struct bc_work_rate *const rate = &visit->overlap->rate;
    const struct overlap_row *const row = visit->row;
    uint64_t units[2] = {bc_work_units(rate, fmax(0.0, row->knee_ns) + row->margin_ns),
                         bc_work_units(rate, fmax(0.0, row->knee_ns))};
    if (!visit->robust)
        units[0] = units[1];
    bc_harness_bcast(units, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    visit->round.units = units[0];
    visit->round.answer_units = units[1];
}

/* Chooses work that is more than fits, but little more. Collective. */
static void choose_more_than_fits(struct visit *visit)
{
    struct overlap_row *const row = visit->row;
    for (int doublings = 0; doublings < MARGIN_DOUBLINGS; doublings++) {
        struct overlap_estimate estimates[OVERLAP_ESTIMATED];
        choose_work(visit);
        bc_samples_clear(&visit->own);
        take_trial_rounds(visit, PROBE_ROUNDS, visit->end_s);
        estimate(visit, 0, visit->own.count, estimates);
        correct_rate(visit, estimates[OVERLAP_EST_ALONE].ns);
        int fits = overlap_excess_of(estimates) < row->margin_ns / 2.0 && seconds_left(visit) > 0.0;
        bc_harness_bcast(&fits, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!fits)
            break;
        row->knee_ns = fmax(row->knee_ns, overlap_knee_of(estimates));
        row->margin_ns *= 2.0;
    }
    choose_work(visit);
}

static double hidden_pct(const struct overlap_estimate *reference,
                         const struct overlap_estimate *exposed)
{
    return reference->ns > 0.0 ? 100.0 * (reference->ns - exposed->ns) / reference->ns : 0.0;
}

/* Appends what rounds `first` to `end` - 1 of this visit say. Collective. */
static void append_answer(const struct visit *visit, size_t first, size_t end,
                          struct bc_samples *answers)
{
    struct overlap_estimate estimates[OVERLAP_ESTIMATED];
    estimate(visit, first, end, estimates);
    if (!visit->root)
        return;
    const double answer[ANSWER_QUANTITIES] = {
        [ANSWER_PCT] =
            hidden_pct(&estimates[OVERLAP_EST_REFERENCE], &estimates[OVERLAP_EST_EXPOSED]),
        [ANSWER_OTHER_PCT] = hidden_pct(&estimates[OVERLAP_EST_OTHER_REFERENCE],
                                        &estimates[OVERLAP_EST_OTHER_EXPOSED]),
        [ANSWER_KNEE] = overlap_knee_of(estimates),
    };
    bc_samples_append(answers, answer, ANSWER_QUANTITIES, 0);
}

/* The pseudomedian and interval of what the visits, or parts of the first one, say. */
static struct bc_summary summarize_answers(const struct bc_run *run,
                                           const struct bc_samples *answers, int quantity)
{
    return bc_pseudomedian(answers->values[quantity], answers->count,
                           run->settings.confidence_pct / 100.0);
}

/* Collective. */
static void answer_robustly(struct visit *visit)
{
    struct overlap_row *const row = visit->row;
    const size_t count = visit->own.count;
    append_answer(visit, 0, count, &row->answers);
    if (visit->root)
        row->knee_ns = summarize_answers(visit->run, &row->answers, ANSWER_KNEE).value;
    if (visit->run->visit > 0 || count < (size_t)BLOCKS * BLOCK_ROUNDS_MIN)
        return;
    for (size_t block = 0; block < BLOCKS; block++)
        append_answer(visit, count * block / BLOCKS, count * (block + 1) / BLOCKS, &row->blocks);
}

static double percent_of(double part, double whole)
{
    if (!(whole > 0.0))
        return part > 0.0 ? 100.0 : 0.0;
    return fmin(100.0, fmax(0.0, 100.0 * part / whole));
}

/* As specified: the work's own time over the reference time. The interval is the search's bracket,
   over the reference time at the end of its own interval that is farther away; it exists only where
   both trials and the reference have intervals. Local; rank 0. */
static void answer_by_mean(struct visit *visit)
{
    struct overlap_row *const row = visit->row;
    const struct overlap_search *const search = &row->search;
    const struct bc_interval *const reference = &visit->reference.interval;
    const double clock_ns = visit->run->max_clock.read_ns;
    const struct bc_samples last = bc_samples_of_visit(&row->rounds, row->rounds.visits - 1);
    const double work_ns = bc_run_summarize(visit->run, &last, OVERLAP_WORK, -1).value;
    const bool bounded =
        !isnan(search->fits_slack_ns) && search->exceeds_is_sure && !isnan(reference->lo);
    const double answer[ANSWER_QUANTITIES] = {
        [ANSWER_PCT] = percent_of(work_ns, visit->reference_ns),
        [ANSWER_KNEE] = search->fits_ns,
        [ANSWER_LO] =
            bounded ? percent_of(search->fits_ns - search->fits_slack_ns - clock_ns, reference->hi)
                    : NAN,
        [ANSWER_HI] = bounded ? percent_of(search->exceeds_ns + clock_ns, reference->lo) : NAN,
    };
    bc_samples_append(&row->answers, answer, ANSWER_QUANTITIES, 0);
}

/* Measures at the answer. Collective. */
static void measure_answer(struct visit *visit)
{
    struct bc_samples *const rounds = &visit->row->rounds;
    if (visit->robust)
        choose_more_than_fits(visit);
    else
        choose_work(visit);
    struct bc_plan plan = bc_run_plan(visit->run, rounds, fmax(0.0, seconds_left(visit)));
    struct bc_precision rule;
    if (plan.min_rounds < plan.max_rounds && plan.min_rounds < ANSWER_ROUNDS)
        plan.min_rounds = ANSWER_ROUNDS < plan.max_rounds ? ANSWER_ROUNDS : plan.max_rounds - 1;
    bc_plan_until_precise(&plan, &rule, visit->run, precise_values, PRECISE_VALUES);
    plan.warmup_rounds = 0;
    bc_samples_clear(&visit->own);
    run_rounds(visit->run, &visit->round, OVERLAP_QUANTITIES, overlap_take_round, &plan, rounds);
    if (visit->robust)
        answer_robustly(visit);
    else if (visit->root)
        answer_by_mean(visit);
}

void overlap_visit_operation(struct overlap_state *overlap, struct overlap_operation *operation,
                             double seconds, struct overlap_row *row)
{
    struct bc_run *const run = overlap->run;
    struct visit visit = {
        .overlap = overlap,
        .run = run,
        .row = row,
        .root = run->job.rank == 0,
        .robust = run->settings.estimator == BC_MEDIAN,
        .end_s = bc_elapsed_s() + seconds,
        .round = {.operation = operation,
                  .window = run->window,
                  .check = run->settings.check,
                  .clock_ns = run->own_clock.read_ns,
                  .own = &visit.own},
    };
    if (run->visit == 0 || !visit.robust)
        find_knee(&visit, seconds);
    measure_answer(&visit);
    row->wrong += visit.round.wrong;
    bc_samples_free(&visit.own);
}

/* ---- a row's result -------------------------------------------------------------------------- */

/* With a value of at least 0: what the clock can't see took no time, not less. */
static struct bc_summary summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity)
{
    struct bc_summary summary = bc_run_summarize(run, samples, quantity, -1);
    summary.value = fmax(0.0, summary.value);
    return summary;
}

/* The overlap in percent. Its interval reaches at least two readings of the clock beyond the value:
   post and wait are timed together alone, but one by one around work, and each time is known to a
   reading. Under the mean with one visit the interval is the bracket of the search, and one
   reading. */
static struct bc_summary summarize_overlap(const struct bc_run *run, const struct overlap_row *row)
{
    const struct bc_samples *const answers = &row->answers;
    const double reference_ns = summarize(run, &row->rounds, OVERLAP_REFERENCE).value;
    const double readings = run->settings.estimator == BC_MEDIAN ? 2.0 : 1.0;
    const double clock_pct = percent_of(readings * run->max_clock.read_ns, reference_ns);
    /* Times of one operation each don't tell a share. */
    if (answers->count == 0 || row->rounds.count < 2)
        return (struct bc_summary){0, NAN, NAN, {NAN, NAN}, NAN, NAN};
    struct bc_summary overlap = summarize_answers(run, answers, ANSWER_PCT);
    if (run->settings.estimator == BC_MEAN && answers->count == 1) {
        overlap.interval =
            (struct bc_interval){answers->values[ANSWER_LO][0], answers->values[ANSWER_HI][0]};
    } else {
        if (answers->count == 1 && row->blocks.count > 1)
            overlap.interval = summarize_answers(run, &row->blocks, ANSWER_PCT).interval;
        if (run->settings.estimator == BC_MEDIAN)
            overlap.interval = bc_interval_with(
                &overlap, summarize_answers(run, answers, ANSWER_OTHER_PCT).value - overlap.value);
    }
    overlap.value = percent_of(overlap.value, 100.0);
    if (isnan(overlap.interval.lo))
        return overlap;
    overlap.interval.lo = fmin(overlap.value, percent_of(overlap.interval.lo - clock_pct, 100.0));
    overlap.interval.hi = fmax(overlap.value, percent_of(overlap.interval.hi + clock_pct, 100.0));
    return overlap;
}

/* What was asked for is a number of samples, however long they take; or the search's end and the
   precision. The overlap's interval must be as narrow as the precision, in points, or as the clock
   allows. */
bool overlap_row_is_precise(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const double precision_pct = run->settings.precision_pct;
    if (run->settings.samples > 0)
        return (int64_t)row->rounds.count >= run->settings.samples;
    const struct bc_summary share = summarize_overlap(run, row);
    const struct bc_summary reference = summarize(run, &row->rounds, OVERLAP_REFERENCE);
    const struct bc_summary total = summarize(run, &row->rounds, OVERLAP_TOTAL);
    const struct bc_summary work = summarize(run, &row->rounds, OVERLAP_WORK);
    const double clock_limit = percent_of(2.0 * row->search.rules.floor_ns, reference.value);
    return row->search.converged &&
           (run->settings.estimator == BC_MEAN ||
            bc_half_width(&share) <= fmax(precision_pct, clock_limit)) &&
           bc_is_precise(&reference, precision_pct / 100.0) &&
           bc_is_precise(&total, precision_pct / 100.0) &&
           (work.value < SHORT_WORK_NS || bc_is_precise(&work, precision_pct / 100.0));
}

void overlap_conclude_row(struct overlap_state *overlap, struct overlap_row *row,
                          struct overlap_result *result)
{
    const struct bc_run *const run = overlap->run;
    if (run->job.rank == 0) {
        bc_run_dump(run, "reference_phase", &row->reference_phase, OVERLAP_REFERENCE);
        bc_run_dump(run, "reference", &row->rounds, OVERLAP_REFERENCE);
        bc_run_dump(run, "total", &row->rounds, OVERLAP_TOTAL);
        bc_run_dump(run, "work", &row->rounds, OVERLAP_WORK);
        bc_run_dump(run, "exposed", &row->rounds, OVERLAP_EXPOSED);
        /* The specification measures the reference once, at the beginning. */
        result->reference = summarize(
            run, run->settings.estimator == BC_MEAN ? &row->reference_phase : &row->rounds,
            OVERLAP_REFERENCE);
        result->reference_sd_ns = result->reference.sd;
        result->total = summarize(run, &row->rounds, OVERLAP_TOTAL);
        result->work = summarize(run, &row->rounds, OVERLAP_WORK);
        const struct bc_summary share = summarize_overlap(run, row);
        result->overlap_pct = share.value;
        result->overlap_lo_pct = share.interval.lo;
        result->overlap_hi_pct = share.interval.hi;
        result->outcome = bc_run_outcome(run, &row->rounds, overlap_row_is_precise(overlap, row));
    }
    bc_samples_free(&row->reference_phase);
    bc_samples_free(&row->rounds);
    bc_samples_free(&row->answers);
    bc_samples_free(&row->blocks);
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
    struct bc_samples samples = {.count = 0};
    run_rounds(run, &round, 1, overlap_take_reference, &plan, &samples);
    double reference_ns = 0.0;
    if (run->job.rank == 0)
        reference_ns = summarize(run, &samples, OVERLAP_REFERENCE).value;
    bc_samples_free(&samples);
    bc_harness_bcast(&reference_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return reference_ns;
}
