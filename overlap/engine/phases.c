/*
 * One visit of a row: the four phases for one operation at one size, top to bottom.
 *
 *   phase 1       the reference time: the operation with nothing under it. Then, where it was asked
 *                 for, the number of calls of MPI_Test with the min exposed time
 *   phases 2 to 4 the search: about how much work fits (search.h)
 *   the answer    rounds with a little more work than fits, which say how much does (estimate.h);
 *                 with plenty of work, and the blocking counterpart, which say what is gained; and
 *                 with several amounts of work from the knee down, of which the row prints the
 *                 largest that was seen not to make the operation longer (kernel.h)
 *
 * The first visit of a row does all of it; later ones, which refine it, measure at the answer only
 * (under the mean also phase 1).
 */
#include "common/mpi/harness.h"
#include "overlap/engine/kernel.h"
#include "overlap/engine/row.h"

#include <math.h>

/* A row while it is visited. What samples say is on rank 0. */
struct visit {
    struct overlap_state *overlap;
    const struct overlap_parameters *parameters;
    const struct bc_run *run;
    struct overlap_row *row;
    struct bc_output *debug; /* the run's with --debug, else NULL */
    bool root;               /* this is rank 0 */
    bool robust; /* the estimator is the robust one (the default), not the specification's mean */
    double end_s;
    struct overlap_round round;
    struct bc_samples own, own_plenty; /* see struct overlap_round */
    struct bc_summary reference;       /* phase 1's */
};

/* ---- rounds ---------------------------------------------------------------------------------- */

static double seconds_left(const struct visit *visit)
{
    return fmax(0.0, visit->end_s - bc_elapsed_s());
}

/* Rank 0's value. Collective. */
static int64_t of_root(int64_t value)
{
    bc_harness_bcast(&value, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return value;
}

static int quantities_of(const struct visit *visit)
{
    return visit->round.staged != NULL ? OVERLAP_QUANTITIES : OVERLAP_STAGED;
}

/* Takes `rounds` rounds, fewer where the time is up at deadline_s, at least one. Where only this
   rank's own times count, `samples` is NULL. Rank 0's arguments count. Collective. */
static void take_rounds(struct visit *visit, int quantities, overlap_take_fn *take, int64_t rounds,
                        double deadline_s, struct bc_samples *samples)
{
    const struct bc_plan plan = {
        .min_rounds = rounds,
        .max_rounds = rounds,
        .deadline_s = deadline_s,
        .retakes = visit->run->job.oversubscribed ? 0 : rounds,
    };
    struct bc_samples unused = {.count = 0};
    overlap_run_rounds(visit->run, &visit->round, quantities, take, &plan,
                       samples != NULL ? samples : &unused);
    bc_samples_free(&unused);
}

/* Takes rounds of a trial, and says what all rounds in visit->own say. Collective. */
static struct overlap_estimates try_work(struct visit *visit, int64_t rounds, double deadline_s)
{
    take_rounds(visit, OVERLAP_BESIDE + 1, overlap_take_trial, rounds, deadline_s, NULL);
    return overlap_estimate(&visit->own, 0, visit->own.count, visit->round.operation->works);
}

/* The units in each of the round's parts that make this work together, on this rank; and on rank 0.
   The latter is collective. */
static uint64_t own_part_units(const struct visit *visit, double work_ns)
{
    return bc_work_units(&visit->overlap->rate, work_ns / (double)visit->round.parts);
}

static uint64_t part_units(const struct visit *visit, double work_ns)
{
    return (uint64_t)of_root((int64_t)own_part_units(visit, work_ns));
}

/* Plenty of work for the row's reference time and the round's number of parts. Collective. */
static void choose_plenty(struct visit *visit)
{
    visit->round.plenty_part_units =
        part_units(visit, visit->parameters->plenty * visit->row->reference_ns);
}

/* The rate of work is corrected from at least this number of rounds, and by at most this share at a
   time: one late round must not change the rate. Parts shorter than this say more of the clock that
   is read around each of them than of the rate. */
#define CORRECTION_ROUNDS 5
#define CORRECTION_MAX 0.1
#define CORRECTION_PART_NS 1000.0

/* The time that the slowest rank's work on trial took alone corrects the rate for the next amount:
   the processor's clock rate may have changed. Local. */
static void correct_rate(struct visit *visit, const struct overlap_estimates *estimates)
{
    struct bc_work_rate *const rate = &visit->overlap->rate;
    const double part_ns = bc_work_ns(rate, visit->round.part_units);
    if (visit->own.count < CORRECTION_ROUNDS || part_ns < CORRECTION_PART_NS)
        return;
    const double correction =
        estimates->ns[OVERLAP_EST_ALONE] / (part_ns * (double)visit->round.parts);
    rate->ns_per_unit *= fmax(1.0 - CORRECTION_MAX, fmin(1.0 + CORRECTION_MAX, correction));
}

/* ---- phase 1: the reference time ------------------------------------------------------------- */

/* For which the first visit has this share of its time. */
#define REFERENCE_SHARE 0.2

static void measure_reference(struct visit *visit, double seconds)
{
    struct bc_samples *const samples = &visit->row->reference_phase;
    struct bc_plan plan = bc_run_plan(visit->run, samples, seconds);
    struct bc_precision rule;
    static const struct bc_precise_value reference = {.quantity = OVERLAP_REFERENCE,
                                                      .subtrahend = -1};
    bc_plan_until_precise(&plan, &rule, visit->run, &reference, 1);
    overlap_run_rounds(visit->run, &visit->round, 1, overlap_take_reference, &plan, samples);
    visit->reference = bc_run_summarize(visit->run, samples, OVERLAP_REFERENCE, -1);
    visit->row->reference_ns = fmax(0.0, visit->reference.value);
}

/* ---- the number of calls of MPI_Test --------------------------------------------------------- */

/* For which the first visit has this share of its time. */
#define CALLS_SHARE 0.6

/* Rounds with each number of calls that is tried. */
#define CALLS_ROUNDS 5

/* Exposed times that differ by less than this share of the reference time are as good. */
#define CALLS_TOLERANCE 0.005

/* Numbers whose exposed time exceeds the min by less than this share of the reference time are
   tried again, in turn, this many times; the median counts. */
#define CALLS_CLOSE 0.25
#define CALLS_TRIALS 3

/* The max number of calls that makes sense: each part of the work takes at least this time, or as
   long as two readings of the clock. */
#define CALLS_PART_NS 100.0

static int64_t max_calls(const struct visit *visit)
{
    const double part_ns = fmax(CALLS_PART_NS, 2.0 * visit->run->max_clock.read_ns);
    const double work_ns = visit->parameters->plenty * visit->row->reference_ns;
    return (int64_t)fmin(OVERLAP_TEST_CALLS_LIMIT, fmax(0.0, work_ns / part_ns - 1.0));
}

/* The exposed time with this number of calls. Collective. */
static double try_calls(struct visit *visit, int64_t calls, double deadline_s)
{
    double estimates_ns[OVERLAP_GAIN_ESTIMATED];
    visit->round.parts = calls + 1;
    choose_plenty(visit);
    bc_samples_clear(&visit->own_plenty);
    take_rounds(visit, 1, overlap_take_plenty, CALLS_ROUNDS, deadline_s, NULL);
    overlap_estimate_gain(&visit->own_plenty, 0, visit->own_plenty.count,
                          visit->round.operation->works, estimates_ns);
    bc_output_remark(visit->debug, "debug", "%lld calls of MPI_Test: %.3f us exposed",
                     (long long)calls, estimates_ns[OVERLAP_GAIN_EXPOSED] * 1e-3);
    return estimates_ns[OVERLAP_GAIN_EXPOSED];
}

/* Tries again, in turn, what is close to the best number, as long as there is time for all trials:
   `search` then has their medians. Collective; `search` counts at the root only. */
static void try_close_again(struct visit *visit, struct overlap_calls_search *search,
                            double deadline_s)
{
    const double within_ns = CALLS_CLOSE * visit->row->reference_ns;
    double found_ns[OVERLAP_CALLS_TRIED_MAX][CALLS_TRIALS];
    int64_t calls[OVERLAP_CALLS_TRIED_MAX] = {0}, count = 0;
    int close[OVERLAP_CALLS_TRIED_MAX] = {0}, turns = 0;
    for (int i = 0; visit->root && i < search->count; i++)
        if (overlap_calls_is_close(search, i, within_ns)) {
            calls[count] = search->tried[i].calls;
            close[count++] = i;
        }
    count = of_root(count);
    bc_harness_bcast(calls, OVERLAP_CALLS_TRIED_MAX, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (; count > 1 && turns < CALLS_TRIALS && of_root(bc_elapsed_s() < deadline_s); turns++)
        for (int64_t i = 0; i < count; i++)
            found_ns[i][turns] = try_calls(visit, calls[i], deadline_s);
    for (int64_t i = 0; visit->root && turns == CALLS_TRIALS && i < count; i++)
        search->tried[close[i]].exposed_ns = bc_median(found_ns[i], CALLS_TRIALS);
}

/* Sets row->test_calls, on all ranks. Collective. */
static void find_test_calls(struct visit *visit, double seconds)
{
    struct overlap_row *const row = visit->row;
    const double deadline_s = bc_elapsed_s() + seconds;
    struct overlap_calls_search search;
    overlap_calls_begin(&search, max_calls(visit), CALLS_TOLERANCE * row->reference_ns);
    for (;;) {
        const bool ends = search.done || (search.count > 0 && bc_elapsed_s() >= deadline_s);
        const int64_t next = of_root(ends ? OVERLAP_AUTO : search.next);
        if (next == OVERLAP_AUTO)
            break;
        const double exposed_ns = try_calls(visit, next, deadline_s);
        if (visit->root)
            overlap_calls_report(&search, exposed_ns);
    }
    try_close_again(visit, &search, deadline_s);
    row->exposed_without_calls_ns = search.tried[0].exposed_ns;
    row->test_calls = of_root(overlap_calls_best(&search));
    bc_samples_clear(&visit->own_plenty);
}

/* ---- phases 2 to 4: about how much work fits ------------------------------------------------- */

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

/* Takes rounds until it is clear whether the work fits: as long as the operation takes no longer
   than threshold_ns more with it, and no less time than the work. Collective; the trial is on rank
   0. */
static struct overlap_trial try_robustly(struct visit *visit, double threshold_ns, double seconds)
{
    const int64_t fixed = visit->run->settings.samples;
    const double deadline_s = bc_elapsed_s() + seconds;
    int64_t rounds = fixed > 0 && fixed < TRIAL_ROUNDS_MAX ? fixed : TRIAL_ROUNDS;
    struct overlap_estimates estimates;
    double excess_ns, half_ns;
    bool unclear;
    bc_samples_clear(&visit->own);
    do {
        estimates = try_work(visit, rounds, deadline_s);
        excess_ns = overlap_excess_of(&estimates);
        half_ns = overlap_excess_half_of(&estimates);
        unclear = !(fabs(excess_ns - threshold_ns) > half_ns);
        rounds = (int64_t)visit->own.count;
    } while (
        of_root(fixed == 0 && unclear && rounds < TRIAL_ROUNDS_MAX && bc_elapsed_s() < deadline_s));
    correct_rate(visit, &estimates);
    const double alone_ns = estimates.ns[OVERLAP_EST_ALONE];
    return (struct overlap_trial){
        .work_ns = fmax(0.0, alone_ns),
        .fits = excess_ns <= threshold_ns &&
                alone_ns <= estimates.ns[OVERLAP_EST_REFERENCE] + threshold_ns,
        .excess_ns = excess_ns,
        .excess_lo_ns = excess_ns - half_ns,
        .excess_hi_ns = excess_ns + half_ns,
    };
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
    overlap_run_rounds(visit->run, &visit->round, 1, overlap_take_total, &plan, &samples);
    const struct bc_summary total = bc_run_summarize(visit->run, &samples, 0, -1);
    bc_samples_free(&samples);
    const double sd = isnan(reference->sd) ? 0.0 : reference->sd;
    return (struct overlap_trial){
        .work_ns =
            (double)visit->round.parts * bc_work_ns(&visit->overlap->rate, visit->round.part_units),
        .fits = total.value <= reference->value + sd,
        .excess_ns = total.value - reference->value,
        .excess_lo_ns = total.interval.lo - reference->value,
        .excess_hi_ns = total.interval.hi - reference->value,
    };
}

static void tell_trial(const struct visit *visit, const struct overlap_trial *trial)
{
    bc_output_remark(visit->debug, "debug",
                     "trial: %lld x %llu units, work %.3f us, excess %.3f (%.3f to %.3f) us: %s",
                     (long long)visit->round.parts, (unsigned long long)visit->round.part_units,
                     trial->work_ns * 1e-3, trial->excess_ns * 1e-3, trial->excess_lo_ns * 1e-3,
                     trial->excess_hi_ns * 1e-3, trial->fits ? "fits" : "does not fit");
}

/* Finds the largest amount of work that fits; tries at least one, in any case. Collective. */
static void search_work(struct visit *visit, double seconds)
{
    const struct overlap_parameters *const p = visit->parameters;
    const double acceptance = p->acceptance_pct / 100.0, reference_ns = visit->row->reference_ns;
    const struct overlap_search_rules rules = {
        .acceptance = acceptance,
        .floor_ns = fmax(3.0 * visit->run->max_clock.read_ns, acceptance * reference_ns / 4.0),
        .validation_steps = (int)p->validation_steps,
        .robust = visit->robust,
    };
    struct overlap_search *const search = &visit->row->search;
    const double deadline_s = bc_elapsed_s() + seconds;
    overlap_search_begin(search, &rules, reference_ns);
    for (;;) {
        int64_t units = -1; /* the search ends */
        if (visit->root && (search->trials == 0 || (!search->done && bc_elapsed_s() < deadline_s)))
            units = (int64_t)own_part_units(visit, search->next_ns);
        units = of_root(units);
        if (units < 0)
            return;
        visit->round.part_units = (uint64_t)units;
        const double threshold_ns =
            VERDICT_SHARE * overlap_search_tolerance(search, search->next_ns);
        const struct overlap_trial trial =
            visit->robust ? try_robustly(visit, threshold_ns, seconds * TRIAL_SHARE)
                          : try_by_mean(visit, seconds * TRIAL_SHARE);
        tell_trial(visit, &trial);
        if (visit->root)
            overlap_search_report(search, &trial);
    }
}

/* Sets row->knee_ns and margin_ns: where later rounds look. Collective. */
static void find_knee(struct visit *visit, double seconds)
{
    struct overlap_row *const row = visit->row;
    const struct overlap_search *const search = &row->search;
    search_work(visit, fmin(seconds * SEARCH_SHARE, seconds_left(visit)));
    bc_output_remark(visit->parameters->verbose ? visit->run->output : NULL, "verbose",
                     "%lld elements: phase 1: reference %.3f us, sd %.3f us; phases 3 and 4: "
                     "%d trials, %.3f us fits, %.3f us does not, knee at %.3f us",
                     (long long)row->choice.elements, row->reference_ns * 1e-3,
                     visit->reference.sd * 1e-3, search->trials, search->fits_ns * 1e-3,
                     search->exceeds_ns * 1e-3, search->knee_ns * 1e-3);
    /* As specified the largest amount that was seen to fit. */
    row->knee_ns = search->fits_ns;
    if (visit->robust && !isnan(search->knee_ns))
        row->knee_ns = fmin(search->knee_ns, search->exceeds_ns);
    row->margin_ns = overlap_search_tolerance(search, row->knee_ns);
}

/* ---- the answer: work that is more than fits ------------------------------------------------- */

/* Work beyond the knee must surely make the operation longer by half of the margin, or the margin
   is doubled, each time after this number of rounds: few where these would take more than
   BEYOND_SHARE of the visit's time, and too few then for being sure. */
#define BEYOND_ROUNDS 16
#define BEYOND_ROUNDS_FEW 8
#define BEYOND_SHARE 0.1

/* Gives all ranks the work that the row's knee and margin ask for. Collective. */
static void choose_answer_work(struct visit *visit)
{
    const struct overlap_row *const row = visit->row;
    const double margin_ns = visit->robust ? row->margin_ns : 0.0;
    visit->round.part_units = part_units(visit, fmax(0.0, row->knee_ns) + margin_ns);
}

/* Chooses work that is more than fits, but little more. The search may have ended far below the
   knee, where something disturbed it. Collective. */
static void choose_more_than_fits(struct visit *visit)
{
    enum { OPERATIONS = 4 }; /* that a round takes, about */
    struct overlap_row *const row = visit->row;
    const double all_s = BEYOND_ROUNDS * OPERATIONS * row->reference_ns * 1e-9;
    const bool few = of_root(all_s >= BEYOND_SHARE * seconds_left(visit)) != 0;
    for (;;) {
        choose_answer_work(visit);
        bc_samples_clear(&visit->own);
        const struct overlap_estimates estimates =
            try_work(visit, few ? BEYOND_ROUNDS_FEW : BEYOND_ROUNDS, visit->end_s);
        correct_rate(visit, &estimates);
        const double excess_ns = overlap_excess_of(&estimates);
        const double half_ns = few ? 0.0 : overlap_excess_half_of(&estimates);
        if (!of_root(!overlap_is_beyond(row, excess_ns, half_ns) && seconds_left(visit) > 0.0))
            break;
        if (excess_ns < row->margin_ns / 2.0)
            row->knee_ns = fmax(row->knee_ns, overlap_knee_of(&estimates));
        row->margin_ns *= 2.0;
    }
    choose_answer_work(visit);
}

/* ---- the answer: work that fits -------------------------------------------------------------- */

/* The amounts of work, as shares of the knee. Ranks that are interrupted in their work need some
   room below it. */
static const double amount_shares[OVERLAP_AMOUNTS] = {1.0, 0.93, 0.82, 0.6, 0.35, 0.15};

/* Gives this visit's rounds the amounts of work, which the first visit chooses. Collective. */
static void choose_amounts(struct visit *visit)
{
    struct overlap_row *const row = visit->row;
    for (int i = 0; i < OVERLAP_AMOUNTS; i++) {
        if (visit->run->visit == 0)
            row->amount_part_units[i] =
                part_units(visit, amount_shares[i] * fmax(0.0, row->knee_ns));
        visit->round.amount_part_units[i] = row->amount_part_units[i];
    }
}

/* ---- the answer: what the visit says --------------------------------------------------------- */

/* Where a row has one visit's answer only, that visit's rounds are cut into parts, whose
   differences stand in for those of visits; each part has at least BLOCK_ROUNDS_MIN rounds. */
#define BLOCKS BC_VISITS
#define BLOCK_ROUNDS_MIN 2

/* Appends what rounds `first` to `end` - 1 say of the gain. Collective. */
static void append_gain(const struct visit *visit, size_t first, size_t end,
                        struct bc_samples *gains)
{
    double estimates_ns[OVERLAP_GAIN_ESTIMATED];
    overlap_estimate_gain(&visit->own_plenty, first, end, visit->round.operation->works,
                          estimates_ns);
    if (visit->root)
        bc_samples_append(gains, estimates_ns, OVERLAP_GAIN_ESTIMATED, 0);
}

/* Collective. */
static void answer_robustly(struct visit *visit)
{
    struct overlap_row *const row = visit->row;
    const bool works = visit->round.operation->works;
    const size_t count = visit->own.count;
    /* After --max-samples rounds, or without time, a visit has none, and says nothing. */
    if (count == 0)
        return;
    struct overlap_estimates estimates = overlap_estimate(&visit->own, 0, count, works);
    append_gain(visit, 0, count, &row->gains);
    const bool is_alone =
        of_root(visit->root && overlap_take_answer(visit->run, &estimates, row)) != 0;
    if (!is_alone || count < (size_t)BLOCKS * BLOCK_ROUNDS_MIN)
        return;
    for (size_t block = 0; block < BLOCKS; block++) {
        const size_t first = count * block / BLOCKS, end = count * (block + 1) / BLOCKS;
        estimates = overlap_estimate(&visit->own, first, end, works);
        if (visit->root)
            overlap_append_answer(&estimates, &row->blocks);
        append_gain(visit, first, end, &row->gain_blocks);
    }
}

/* ---- the visit ------------------------------------------------------------------------------- */

/* Rounds at the answer: at least this number, if there is time and --max-samples allows. */
#define ANSWER_ROUNDS 30

/* What must be precise before a visit ends. */
static const struct bc_precise_value precise_values[] = {
    {.quantity = OVERLAP_REFERENCE, .subtrahend = -1},
    {.quantity = OVERLAP_TOTAL, .subtrahend = -1}, /* with the largest amount of work */
    {.quantity = OVERLAP_WORK, .subtrahend = -1, .negligible_ns = OVERLAP_SHORT_WORK_NS},
    {.quantity = OVERLAP_BLOCKING, .subtrahend = -1}, /* last: not all have it */
};
enum { PRECISE_VALUES = sizeof precise_values / sizeof *precise_values };

/* Collective. */
static void take_answer_rounds(struct visit *visit)
{
    struct bc_samples *const rounds = &visit->row->rounds;
    struct bc_plan plan = bc_run_plan(visit->run, rounds, seconds_left(visit));
    struct bc_precision rule;
    if (plan.min_rounds < plan.max_rounds && plan.min_rounds < ANSWER_ROUNDS)
        plan.min_rounds = ANSWER_ROUNDS < plan.max_rounds ? ANSWER_ROUNDS : plan.max_rounds - 1;
    bc_plan_until_precise(&plan, &rule, visit->run, precise_values,
                          visit->round.blocking ? PRECISE_VALUES : PRECISE_VALUES - 1);
    plan.warmup_rounds = 0;
    bc_samples_clear(&visit->own);
    bc_samples_clear(&visit->own_plenty);
    overlap_run_rounds(visit->run, &visit->round, quantities_of(visit), overlap_take_round, &plan,
                       rounds);
}

static int64_t parts_of(const struct visit *visit)
{
    const int64_t own = visit->round.operation->parts;
    return own > 0 ? own : visit->row->test_calls + 1;
}

/* Phases 1 to 4, whose results later visits use. Collective. */
static void find_work(struct visit *visit, double seconds)
{
    const int64_t asked = visit->row->asked_test_calls;
    double left_s = seconds;
    measure_reference(visit, seconds * REFERENCE_SHARE);
    if (asked != OVERLAP_AUTO) {
        visit->row->test_calls = asked;
    } else {
        find_test_calls(visit, seconds * CALLS_SHARE);
        left_s = seconds_left(visit);
    }
    visit->round.parts = parts_of(visit);
    find_knee(visit, left_s);
}

/* Rounds at the answer, and what they say. Collective. */
static void measure_answer(struct visit *visit)
{
    if (visit->robust)
        choose_more_than_fits(visit);
    else
        choose_answer_work(visit);
    choose_plenty(visit);
    choose_amounts(visit);
    if (visit->round.blocking || visit->round.staged != NULL)
        take_rounds(visit, 1, overlap_take_counterparts, 1, visit->end_s, NULL);
    take_answer_rounds(visit);
    if (visit->robust)
        answer_robustly(visit);
}

void overlap_measure(struct overlap_state *overlap, struct bc_visit *measured)
{
    const struct bc_run *const run = overlap->run;
    const struct overlap_parameters *const p = &overlap->parameters;
    struct overlap_row *const row = measured->row;
    struct op_instance operation, staged = {.kind = NULL};
    op_create(&operation, p->kind, &run->job, &row->choice);
    row->has_blocking = operation.blocking != NULL && !p->no_blocking;
    row->has_staged = row->has_blocking && overlap->space.device != NULL && p->kind->create == NULL;
    /* In pinned memory. One-sided transfers have none: the target doesn't know when to copy. */
    struct op_choice pinned = row->choice;
    pinned.space = &overlap->stage;
    if (row->has_staged)
        op_create(&staged, p->kind, &run->job, &pinned);
    struct visit visit = {
        .overlap = overlap,
        .parameters = p,
        .run = run,
        .row = row,
        .debug = p->debug ? run->output : NULL,
        .root = run->job.rank == 0,
        .robust = overlap_is_robust(run),
        .end_s = bc_elapsed_s() + measured->seconds,
        .round = {.operation = &operation,
                  .staged = row->has_staged ? &staged : NULL,
                  .worker = overlap->worker,
                  .window = run->window,
                  .check = run->settings.check,
                  .renews = p->buffers == BC_BUFFERS_NEW,
                  .clock_ns = run->own_clock.read_ns,
                  .blocking = row->has_blocking,
                  .own = &visit.own,
                  .own_plenty = &visit.own_plenty},
    };
    visit.round.parts = parts_of(&visit);
    if (run->visit == 0)
        find_work(&visit, measured->seconds);
    else if (!visit.robust)
        measure_reference(&visit, measured->seconds * REFERENCE_SHARE);
    row->parts = visit.round.parts;
    measure_answer(&visit);
    row->wrong += visit.round.wrong;
    row->size_bytes = op_size_bytes(&operation);
    measured->is_precise = visit.root && overlap_row_is_precise(overlap, row);
    bc_samples_free(&visit.own);
    bc_samples_free(&visit.own_plenty);
    if (row->has_staged)
        op_destroy(&staged);
    op_destroy(&operation);
}
