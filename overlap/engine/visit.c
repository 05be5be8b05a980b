#include "overlap/engine/visit.h"

#include "common/mpi/harness.h"
#include "overlap/engine/kernel.h"

#include <math.h>

/* A row while it is visited. What samples say is on rank 0. */
struct visit {
    struct overlap_state *overlap;
    const struct bc_run *run;
    struct overlap_row *row;
    bool root;   /* this is rank 0 */
    bool robust; /* the estimator is the robust one (the default), not the specification's mean */
    double end_s;
    struct overlap_round round;
    struct bc_samples own, own_plenty; /* see struct overlap_round */
    struct bc_summary reference;       /* phase 1's */
    double reference_ns;               /* its value, at least 0 */
};

/* ---- rounds ---------------------------------------------------------------------------------- */

typedef void take_fn(void *context, double *values);

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

/* Runs rounds of `quantities` quantities by `take` and appends them to `samples`. Collective. */
static void run_rounds(const struct bc_run *run, struct overlap_round *round, int quantities,
                       take_fn *take, const struct bc_plan *plan, struct bc_samples *samples)
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

/* Takes `rounds` rounds, fewer where the time is up at deadline_s, at least one. Rank 0's arguments
   count. Collective. */
static void take_rounds(struct visit *visit, int quantities, take_fn *take, int64_t rounds,
                        double deadline_s, struct bc_samples *samples)
{
    const struct bc_plan plan = {
        .min_rounds = rounds,
        .max_rounds = rounds,
        .deadline_s = deadline_s,
        .retakes = visit->run->job.oversubscribed ? 0 : rounds,
    };
    run_rounds(visit->run, &visit->round, quantities, take, &plan, samples);
}

/* The same for what rounds append to this rank's own times. */
static void take_own(struct visit *visit, int quantities, take_fn *take, int64_t rounds,
                     double deadline_s)
{
    struct bc_samples unused = {.count = 0};
    take_rounds(visit, quantities, take, rounds, deadline_s, &unused);
    bc_samples_free(&unused);
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
        part_units(visit, visit->overlap->parameters.plenty * visit->row->reference_ns);
}

/* What the rounds of a trial say. Collective. */
static void estimate_trial(const struct visit *visit, struct overlap_estimate *estimates)
{
    overlap_estimate(&visit->own, 0, visit->own.count, visit->round.operation->works, estimates);
}

/* The rate of work is corrected from at least this number of rounds, and by at most this share at a
   time: one late round must not change the rate. Parts shorter than this say more of the clock that
   is read around each of them than of the rate. */
#define CORRECTION_ROUNDS 5
#define CORRECTION_MAX 0.1
#define CORRECTION_PART_NS 1000.0

/* The time that the slowest rank's work on trial took alone corrects the rate for the next amount:
   the processor's clock rate may have changed. Local. */
static void correct_rate(struct visit *visit, double work_ns)
{
    struct bc_work_rate *const rate = &visit->overlap->rate;
    const double part_ns = bc_work_ns(rate, visit->round.part_units);
    if (visit->own.count < CORRECTION_ROUNDS || part_ns < CORRECTION_PART_NS)
        return;
    const double correction = work_ns / (part_ns * (double)visit->round.parts);
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
    run_rounds(visit->run, &visit->round, 1, overlap_take_reference, &plan, samples);
    visit->reference = bc_run_summarize(visit->run, samples, OVERLAP_REFERENCE, -1);
    visit->row->reference_ns = visit->reference_ns = fmax(0.0, visit->reference.value);
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
    const double work_ns = visit->overlap->parameters.plenty * visit->reference_ns;
    return (int64_t)fmin(OVERLAP_TEST_CALLS_LIMIT, fmax(0.0, work_ns / part_ns - 1.0));
}

/* The exposed time with this number of calls. Collective. */
static double try_calls(struct visit *visit, int64_t calls, double deadline_s)
{
    double estimates_ns[OVERLAP_GAIN_ESTIMATED];
    visit->round.parts = calls + 1;
    choose_plenty(visit);
    bc_samples_clear(&visit->own_plenty);
    take_own(visit, 1, overlap_take_plenty, CALLS_ROUNDS, deadline_s);
    overlap_estimate_gain(&visit->own_plenty, 0, visit->own_plenty.count,
                          visit->round.operation->works, estimates_ns);
    if (visit->overlap->parameters.debug)
        bc_output_remark(visit->run->output, "debug", "%lld calls of MPI_Test: %.3f us exposed",
                         (long long)calls, estimates_ns[OVERLAP_GAIN_EXPOSED] * 1e-3);
    return estimates_ns[OVERLAP_GAIN_EXPOSED];
}

/* Tries again, in turn, what is close to the best number, as long as there is time for all trials:
   `search` then has their medians. Collective; `search` counts at the root only. */
static void try_close_again(struct visit *visit, struct overlap_calls_search *search,
                            double deadline_s)
{
    int64_t close[OVERLAP_CALLS_TRIED_MAX] = {0}, calls[OVERLAP_CALLS_TRIED_MAX] = {0};
    int64_t count = 0;
    for (int i = 0; visit->root && i < search->count; i++) {
        if (overlap_calls_is_close(search, i, CALLS_CLOSE * visit->reference_ns)) {
            calls[count] = search->tried[i].calls;
            close[count++] = i;
        }
    }
    count = of_root(count);
    bc_harness_bcast(calls, OVERLAP_CALLS_TRIED_MAX, MPI_INT64_T, 0, MPI_COMM_WORLD);
    double found_ns[OVERLAP_CALLS_TRIED_MAX][CALLS_TRIALS] = {{0.0}};
    int turns = 0;
    for (; count > 1 && turns < CALLS_TRIALS && of_root(bc_elapsed_s() < deadline_s); turns++)
        for (int64_t i = 0; i < count; i++)
            found_ns[i][turns] = try_calls(visit, calls[i], deadline_s);
    for (int64_t i = 0; visit->root && turns == CALLS_TRIALS && i < count; i++)
        search->tried[close[i]].exposed_ns = bc_median(found_ns[i], CALLS_TRIALS);
}

/* Sets row->test_calls, on all ranks. Collective. */
static void find_test_calls(struct visit *visit, double seconds)
{
    const double deadline_s = bc_elapsed_s() + seconds;
    struct overlap_calls_search search;
    overlap_calls_begin(&search, max_calls(visit), CALLS_TOLERANCE * visit->reference_ns);
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
    if (search.count > 0 && search.tried[0].calls == 0)
        visit->row->exposed_without_calls_ns = search.tried[0].exposed_ns;
    visit->row->test_calls = of_root(overlap_calls_best(&search));
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

static void tell_trial(const struct visit *visit, const struct overlap_trial *trial,
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

/* Work fits as long as the operation takes no longer than threshold_ns more with it, and no less
   time than the work. Local. */
static struct overlap_trial trial_of(const struct overlap_estimate *estimates, double threshold_ns)
{
    const double excess_ns = overlap_excess_of(estimates);
    const double half_ns = overlap_excess_half_of(estimates);
    const double alone_ns = estimates[OVERLAP_EST_ALONE].ns;
    return (struct overlap_trial){
        .work_ns = fmax(0.0, alone_ns),
        .fits = excess_ns <= threshold_ns &&
                alone_ns <= estimates[OVERLAP_EST_REFERENCE].ns + threshold_ns,
        .excess_ns = excess_ns,
        .excess_lo_ns = excess_ns - half_ns,
        .excess_hi_ns = excess_ns + half_ns,
    };
}

/* Takes rounds until it is clear whether the work fits. Collective; the trial is on rank 0. */
static struct overlap_trial try_robustly(struct visit *visit, double threshold_ns, double seconds)
{
    const int64_t fixed = visit->run->settings.samples;
    const double deadline_s = bc_elapsed_s() + seconds;
    int64_t rounds = fixed > 0 && fixed < TRIAL_ROUNDS_MAX ? fixed : TRIAL_ROUNDS;
    struct overlap_estimate estimates[OVERLAP_ESTIMATED];
    struct overlap_trial trial;
    bool unclear;
    bc_samples_clear(&visit->own);
    do {
        take_own(visit, OVERLAP_BESIDE + 1, overlap_take_trial, rounds, deadline_s);
        estimate_trial(visit, estimates);
        trial = trial_of(estimates, threshold_ns);
        rounds = (int64_t)visit->own.count;
        unclear = !(fabs(trial.excess_ns - threshold_ns) > overlap_excess_half_of(estimates));
    } while (
        of_root(fixed == 0 && unclear && rounds < TRIAL_ROUNDS_MAX && bc_elapsed_s() < deadline_s));
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

/* Sets row->knee_ns and margin_ns: where later rounds look. Collective. */
static void find_knee(struct visit *visit, double seconds)
{
    struct overlap_row *const row = visit->row;
    const struct overlap_search *const search = &row->search;
    search_work(visit, fmin(seconds * SEARCH_SHARE, seconds_left(visit)));
    tell_phases(visit);
    /* As specified the largest amount that was seen to fit. */
    row->knee_ns = search->fits_ns;
    if (visit->robust && !isnan(search->knee_ns))
        row->knee_ns = fmin(search->knee_ns, search->exceeds_ns);
    row->margin_ns = overlap_search_tolerance(search, row->knee_ns);
}

/* ---- the answer: work that is more than fits ------------------------------------------------- */

/* Work beyond the knee must surely make the operation longer by half of the margin, or the margin
   is doubled, each time after this number of rounds, up to this share of the reference time: what
   is that much longer than the operation can't fit. */
#define BEYOND_ROUNDS 16
#define BEYOND_ROUNDS_FEW 8
#define BEYOND_SHARE 0.1
#define MARGIN_MAX_SHARE 1.0

/* Gives all ranks the work that the row's knee and margin ask for. Collective. */
static void choose_answer_work(struct visit *visit)
{
    const struct overlap_row *const row = visit->row;
    const double margin_ns = visit->robust ? row->margin_ns : 0.0;
    visit->round.part_units = part_units(visit, fmax(0.0, row->knee_ns) + margin_ns);
}

/* The number of rounds that show whether work is more than fits: few where BEYOND_ROUNDS would take
   more than BEYOND_SHARE of the visit's time, and too few then for being sure. Collective. */
static int64_t beyond_rounds(const struct visit *visit)
{
    enum { OPERATIONS = 4 }; /* that a round takes, about */
    const double all_s = BEYOND_ROUNDS * OPERATIONS * visit->row->reference_ns * 1e-9;
    return of_root(all_s < BEYOND_SHARE * seconds_left(visit) ? BEYOND_ROUNDS : BEYOND_ROUNDS_FEW);
}

/* 0 of too few rounds to have one. */
static double known_half_ns(const struct overlap_estimate *estimates)
{
    const double half_ns = overlap_excess_half_of(estimates);
    return isnan(half_ns) ? 0.0 : half_ns;
}

/* Whether the work makes the operation longer by half of the margin, by an excess less `half_ns`;
   or the margin is as large as it may get. */
static bool is_beyond(const struct overlap_row *row, double excess_ns, double half_ns)
{
    return excess_ns - half_ns >= row->margin_ns / 2.0 ||
           row->margin_ns >= MARGIN_MAX_SHARE * row->reference_ns;
}

/* Chooses work that is more than fits, but little more. The search may have ended far below the
   knee, where something disturbed it. Collective. */
static void choose_more_than_fits(struct visit *visit)
{
    struct overlap_row *const row = visit->row;
    const int64_t rounds = beyond_rounds(visit);
    for (;;) {
        struct overlap_estimate estimates[OVERLAP_ESTIMATED];
        choose_answer_work(visit);
        bc_samples_clear(&visit->own);
        take_own(visit, OVERLAP_BESIDE + 1, overlap_take_trial, rounds, visit->end_s);
        estimate_trial(visit, estimates);
        correct_rate(visit, estimates[OVERLAP_EST_ALONE].ns);
        const double excess_ns = overlap_excess_of(estimates);
        const double half_ns = rounds < BEYOND_ROUNDS ? 0.0 : known_half_ns(estimates);
        if (!of_root(!is_beyond(row, excess_ns, half_ns) && seconds_left(visit) > 0.0))
            break;
        if (excess_ns < row->margin_ns / 2.0)
            row->knee_ns = fmax(row->knee_ns, overlap_knee_of(estimates));
        row->margin_ns *= 2.0;
    }
    choose_answer_work(visit);
}

/* ---- the answer: work that fits -------------------------------------------------------------- */

/* Work that made the operation longer is lowered by as much, but by this share of it at least. */
#define LOWER_SHARE_MIN 0.05

/* A knee that lies above the work by this factor is believed. */
#define RAISE_FACTOR 1.1

/* Before the first visit's rounds at most PROBES_MAX amounts are probed, with PROBE_ROUNDS rounds
   each, in this share of the visit's time. Fewer than PROBE_ROUNDS_MIN rounds have no interval. */
enum { PROBES_MAX = 8, PROBE_ROUNDS = 16, PROBE_ROUNDS_MIN = 6 };
#define PROBES_SHARE 0.3

/* Lowers the row's work if these rounds say that it surely makes the operation longer, and says
   whether it does. Rank 0. */
static bool lower_too_much(const struct visit *visit, const struct bc_samples *rounds)
{
    struct overlap_row *const row = visit->row;
    const struct overlap_fit fit = overlap_fit_of(visit->overlap, row, rounds);
    const double longer_ns = fit.total.value - fit.reference.value;
    if (!(row->fitting_ns > 0.0 && fit.beyond_ns > 0.0) || isnan(fit.total.interval.lo))
        return false;
    row->fitting_ns =
        fmax(0.0, row->fitting_ns - fmax(longer_ns, LOWER_SHARE_MIN * row->fitting_ns));
    row->was_lowered = true;
    return true;
}

/* Gives all ranks the work. Collective. */
static void give_fitting(struct visit *visit)
{
    visit->round.answer_part_units = part_units(visit, visit->row->fitting_ns);
}

/* The rounds of a probe; 0: there are too few, or no time. Collective. */
static int64_t probe_rounds(const struct visit *visit, double deadline_s)
{
    const int64_t fixed = visit->run->settings.samples;
    const int64_t rounds = fixed > 0 && fixed < PROBE_ROUNDS ? fixed : PROBE_ROUNDS;
    const bool has_time =
        bc_elapsed_s() + PROBE_ROUNDS_MIN * visit->row->reference_ns * 1e-9 < deadline_s;
    return of_root(rounds >= PROBE_ROUNDS_MIN && has_time && visit->row->fitting_ns > 0.0 ? rounds
                                                                                          : 0);
}

/* Lowers the work, by few rounds, until these don't show that it makes the operation longer.
   Collective. */
static void probe_fitting(struct visit *visit)
{
    const double deadline_s = bc_elapsed_s() + PROBES_SHARE * seconds_left(visit);
    int64_t too_much = 1;
    visit->row->fitting_ns = fmax(0.0, visit->row->knee_ns);
    for (int i = 0; too_much && i < PROBES_MAX; i++) {
        struct bc_samples samples = {.count = 0};
        const int64_t rounds = probe_rounds(visit, deadline_s);
        if (rounds == 0)
            return;
        give_fitting(visit);
        take_rounds(visit, OVERLAP_QUANTITIES, overlap_take_round, rounds, deadline_s, &samples);
        too_much = of_root(visit->root && lower_too_much(visit, &samples));
        bc_samples_free(&samples);
    }
}

/* What all visits so far say of the work, on rank 0. It is raised only as long as later visits can
   show that it fits. */
static void reconsider_fitting(struct visit *visit)
{
    struct overlap_row *const row = visit->row;
    if (!lower_too_much(visit, &row->rounds) && !row->was_lowered &&
        visit->run->visit + 1 < visit->run->visits && row->knee_ns > RAISE_FACTOR * row->fitting_ns)
        row->fitting_ns = row->knee_ns;
}

/* Chooses the work of this visit's rounds, row->fitting_ns, and forgets rounds with other work, but
   under the mean, where each visit finds work of its own. Collective. */
static void choose_fitting(struct visit *visit)
{
    struct overlap_row *const row = visit->row;
    const double before_ns = row->fitting_ns;
    if (visit->run->visit == 0 || !visit->robust)
        probe_fitting(visit);
    else if (visit->root && visit->run->settings.samples == 0)
        reconsider_fitting(visit);
    if (visit->root && visit->robust && row->fitting_ns != before_ns)
        bc_samples_clear(&row->rounds);
    give_fitting(visit);
}

/* ---- the answer: what the visit says --------------------------------------------------------- */

/* Where a row has one visit's answer only, that visit's rounds are cut into parts, whose
   differences stand in for those of visits; each part has at least BLOCK_ROUNDS_MIN rounds. */
#define BLOCKS BC_VISITS
#define BLOCK_ROUNDS_MIN 2

static double hidden_pct(const struct overlap_estimate *reference,
                         const struct overlap_estimate *exposed)
{
    return reference->ns > 0.0 ? 100.0 * (reference->ns - exposed->ns) / reference->ns : 0.0;
}

/* Append what these estimates say; rank 0. */
static void append_answer(const struct overlap_estimate *estimates, struct bc_samples *answers)
{
    const double answer[OVERLAP_ANSWER_QUANTITIES] = {
        [OVERLAP_ANSWER_PCT] =
            hidden_pct(&estimates[OVERLAP_EST_REFERENCE], &estimates[OVERLAP_EST_EXPOSED]),
        [OVERLAP_ANSWER_OTHER_PCT] = hidden_pct(&estimates[OVERLAP_EST_OTHER_REFERENCE],
                                                &estimates[OVERLAP_EST_OTHER_EXPOSED]),
        [OVERLAP_ANSWER_KNEE] = overlap_knee_of(estimates),
    };
    bc_samples_append(answers, answer, OVERLAP_ANSWER_QUANTITIES, 0);
}

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

/* Appends what the visit says. The work must be more than fits, or it says too little of the
   overlap. choose_more_than_fits found so by few rounds; where all rounds of the visit aren't sure
   of it, later visits take more work, and the visit counts only as long as no other is sure.
   Whether the row has this visit's answer alone. Rank 0. */
static bool take_answer(struct visit *visit, const struct overlap_estimate *estimates)
{
    struct overlap_row *const row = visit->row;
    const bool may_fit = !is_beyond(row, overlap_excess_of(estimates), known_half_ns(estimates));
    if (may_fit)
        row->margin_ns *= 2.0;
    if (may_fit && row->answers.count > 0 && !row->knee_is_beyond)
        return false;
    if (row->knee_is_beyond) {
        bc_samples_clear(&row->answers);
        bc_samples_clear(&row->blocks);
    }
    row->knee_is_beyond = may_fit;
    append_answer(estimates, &row->answers);
    row->knee_ns = overlap_summarize_answers(visit->run, &row->answers, OVERLAP_ANSWER_KNEE).value;
    return row->answers.count == 1;
}

/* Collective. */
static void answer_robustly(struct visit *visit)
{
    struct overlap_row *const row = visit->row;
    const bool works = visit->round.operation->works;
    const size_t count = visit->own.count;
    struct overlap_estimate estimates[OVERLAP_ESTIMATED];
    /* After --max-samples rounds, or without time, a visit has none, and says nothing. */
    if (count == 0)
        return;
    estimate_trial(visit, estimates);
    append_gain(visit, 0, count, &row->gains);
    const bool is_alone = of_root(visit->root && take_answer(visit, estimates)) != 0;
    if (!is_alone || count < (size_t)BLOCKS * BLOCK_ROUNDS_MIN)
        return;
    for (size_t block = 0; block < BLOCKS; block++) {
        const size_t first = count * block / BLOCKS, end = count * (block + 1) / BLOCKS;
        overlap_estimate(&visit->own, first, end, works, estimates);
        if (visit->root)
            append_answer(estimates, &row->blocks);
        append_gain(visit, first, end, &row->gain_blocks);
    }
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
    const double answer[OVERLAP_ANSWER_QUANTITIES] = {
        [OVERLAP_ANSWER_PCT] = overlap_percent(work_ns, visit->reference_ns),
        [OVERLAP_ANSWER_KNEE] = search->fits_ns,
        [OVERLAP_ANSWER_LO] =
            bounded
                ? overlap_percent(search->fits_ns - search->fits_slack_ns - clock_ns, reference->hi)
                : NAN,
        [OVERLAP_ANSWER_HI] =
            bounded ? overlap_percent(search->exceeds_ns + clock_ns, reference->lo) : NAN,
    };
    bc_samples_append(&row->answers, answer, OVERLAP_ANSWER_QUANTITIES, 0);
}

/* ---- the visit ------------------------------------------------------------------------------- */

/* Rounds at the answer: at least this number, if there is time and --max-samples allows. */
#define ANSWER_ROUNDS 30

/* What must be precise before a visit ends. */
static const struct bc_precise_value precise_values[] = {
    {.quantity = OVERLAP_REFERENCE, .subtrahend = -1},
    {.quantity = OVERLAP_TOTAL, .subtrahend = -1},
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
    run_rounds(visit->run, &visit->round, OVERLAP_QUANTITIES, overlap_take_round, &plan, rounds);
}

static int64_t parts_of(const struct visit *visit)
{
    const int64_t own = visit->round.operation->parts;
    return own > 0 ? own : visit->row->test_calls + 1;
}

/* Phases 1 to 4: what the first visit finds, and later ones use. Under the mean each visit is a
   first one. Collective. */
static void find_work(struct visit *visit, double seconds)
{
    const int64_t test_calls = visit->row->key.test_calls;
    double left_s = seconds;
    measure_reference(visit, seconds * REFERENCE_SHARE);
    if (test_calls == OVERLAP_AUTO && visit->run->visit == 0) {
        find_test_calls(visit, seconds * CALLS_SHARE);
        left_s = seconds_left(visit);
    } else if (test_calls != OVERLAP_AUTO) {
        visit->row->test_calls = test_calls;
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
    choose_fitting(visit);
    take_answer_rounds(visit);
    if (visit->robust)
        answer_robustly(visit);
    else if (visit->root)
        answer_by_mean(visit);
}

static void visit_operation(struct overlap_state *overlap, struct overlap_operation *operation,
                            double seconds, struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
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
                  .blocking = operation->blocking != NULL && !overlap->parameters.no_blocking,
                  .own = &visit.own,
                  .own_plenty = &visit.own_plenty},
    };
    row->has_blocking = visit.round.blocking;
    visit.round.parts = parts_of(&visit);
    if (run->visit == 0 || !visit.robust)
        find_work(&visit, seconds);
    row->parts = visit.round.parts;
    measure_answer(&visit);
    row->wrong += visit.round.wrong;
    bc_samples_free(&visit.own);
    bc_samples_free(&visit.own_plenty);
}

void overlap_measure(struct overlap_state *overlap, struct bc_visit *visit)
{
    const struct bc_run *const run = overlap->run;
    struct overlap_row *const row = visit->row;
    struct overlap_operation operation;
    const struct overlap_choice choice = {.form = row->key.form,
                                          .root = (int)overlap->parameters.root,
                                          .elements = row->key.elements,
                                          .variant = row->key.variant};
    overlap_operation_create(&operation, overlap->parameters.kind, &run->job, &choice);
    visit_operation(overlap, &operation, visit->seconds, row);
    row->size_bytes = overlap_size_bytes(&operation);
    visit->is_precise = run->job.rank == 0 && overlap_row_is_precise(overlap, row);
    overlap_operation_destroy(&operation);
}

double overlap_quick_reference_ns(const struct overlap_state *overlap,
                                  struct overlap_operation *operation, double seconds)
{
    enum { ROUNDS = 5 };
    const struct bc_run *const run = overlap->run;
    struct overlap_round round = {.operation = operation, .window = run->window, .parts = 1};
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
        reference_ns = fmax(0.0, bc_run_summarize(run, &samples, OVERLAP_REFERENCE, -1).value);
    bc_samples_free(&samples);
    bc_harness_bcast(&reference_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return reference_ns;
}
