/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A visit of a row: the phases for one operation at one size, in the order of overlap_measure. Each
 * phase has a loop of rounds, whose lines are its quantities.
 *
 *   phase 1        reference: the operation without work; with --test-calls=auto then the number of
 *                  calls of MPI_Test (test_calls.c)
 *   phases 2 to 4  search: about the work that fits (fit.h)
 *   answer         rounds with a little more work than fits, for the overlap (estimate.h); with
 *                  plenty of work, and blocking, for the gain (gain.h); and with several amounts of
 *                  work, of which the row prints the largest that fits (fit.h)
 *
 * The first visit of a row has all phases. Later visits have only the answer, and under the mean
 * also phase 1.
 */
#include "overlap/engine/phases.h"

#include "overlap/engine/measurement.h"

/* ---- phase 1: the reference time ------------------------------------------------------------- */

/* Collective. */
static void measure_reference(struct overlap_measurement *m, double seconds)
{
    static const struct bc_precise_value reference = {.quantity = OVERLAP_REFERENCE,
                                                      .subtrahend = -1};
    struct bc_samples *const samples = &m->row->reference_phase;
    struct bc_plan plan = bc_plan_of(m->run, samples, seconds);
    bc_plan_until_precise(&plan, &reference, 1);
    overlap_reference_rounds(m->run, &m->x, &plan, samples);
    m->reference = bc_samples_summary(m->run, samples, OVERLAP_REFERENCE, -1);
    m->row->reference_ns = fmax(0.0, m->reference.value);
}

/* ---- phases 2 to 4: search for the work that fits -------------------------------------------- */

/* Max share of a trial in the search's time: enough for difficult searches. */
#define TRIAL_SHARE (1.0 / 12.0)

/* Max excess of work that fits, as a share of the bracket that ends the search: amounts are tried
   half a bracket below and above the knee, and this is the middle of their excesses. */
#define VERDICT_SHARE 0.25

/* Rounds of a trial: doubled from the first to the second number until it is clear whether the work
   fits. */
#define TRIAL_ROUNDS 16
#define TRIAL_ROUNDS_MAX 512

/* Min rounds, max share of a step, and min part of work that correct the rate of work: a late round
   must not change the rate, and short parts depend on the clock. */
#define CORRECTION_ROUNDS 5
#define CORRECTION_MAX 0.1
#define CORRECTION_PART_NS 1000.0

/* Corrects the rate by the time of the slowest rank's work: the processor's clock rate may have
   changed. Local. */
static void correct_rate(struct overlap_measurement *m, const struct overlap_estimates *estimates)
{
    struct bc_work_rate *const rate = &m->overlap->rate;
    const double part_ns = bc_work_ns(rate, m->x.part_units);
    if (m->x.own.count < CORRECTION_ROUNDS || part_ns < CORRECTION_PART_NS)
        return;
    const double correction = estimates->ns[OVERLAP_EST_ALONE] / (part_ns * (double)m->x.parts);
    rate->ns_per_unit *= fmax(1.0 - CORRECTION_MAX, fmin(1.0 + CORRECTION_MAX, correction));
}

/* Begins the search, which lasts `seconds`; returns its end. Local. */
static double begin_search(struct overlap_measurement *m, double seconds)
{
    const double acceptance = m->parameters->acceptance_pct / 100.0;
    const double reference_ns = m->row->reference_ns;
    const struct overlap_search_rules rules = {
        .acceptance = acceptance,
        .floor_ns = fmax(3.0 * m->run->max_clock.read_ns, acceptance * reference_ns / 4.0),
        .validation_steps = (int)m->parameters->validation_steps,
        .robust = m->robust,
    };
    const double deadline_s = bc_elapsed_s() + seconds;
    overlap_search_begin(&m->row->search, &rules, reference_ns);
    return deadline_s;
}

/* Gives all ranks the next amount of work, at least one. Returns false if the search has ended.
   Collective. */
static bool choose_trial(struct overlap_measurement *m, double deadline_s)
{
    const struct overlap_search *const search = &m->row->search;
    int64_t units = -1; /* the search ends */
    if (m->root && (search->trials == 0 || (!search->done && bc_elapsed_s() < deadline_s)))
        units = (int64_t)overlap_own_part_units(m, search->next_ns);
    units = overlap_of_root(units);
    if (units >= 0)
        m->x.part_units = (uint64_t)units;
    return units >= 0;
}

/* Local. */
static void report_trial(const struct overlap_measurement *m, const struct overlap_trial *trial)
{
    bc_output_remark(m->debug, "debug",
                     "trial: %lld x %llu units, work %.3f us, excess %.3f (%.3f to %.3f) us: %s",
                     (long long)m->x.parts, (unsigned long long)m->x.part_units,
                     trial->work_ns * 1e-3, trial->excess_ns * 1e-3, trial->excess_lo_ns * 1e-3,
                     trial->excess_hi_ns * 1e-3, trial->fits ? "fits" : "does not fit");
    if (m->root)
        overlap_search_report(&m->row->search, trial);
}

/* Makes a trial: work fits if the operation takes at most threshold_ns longer with it, and no less
   time than the work. */
static struct overlap_trial trial_of(const struct overlap_estimates *estimates, double threshold_ns)
{
    const double excess_ns = overlap_excess_of(estimates);
    const double half_ns = overlap_excess_half_of(estimates);
    const double alone_ns = estimates->ns[OVERLAP_EST_ALONE];
    return (struct overlap_trial){
        .work_ns = fmax(0.0, alone_ns),
        .fits = excess_ns <= threshold_ns &&
                alone_ns <= estimates->ns[OVERLAP_EST_REFERENCE] + threshold_ns,
        .excess_ns = excess_ns,
        .excess_lo_ns = excess_ns - half_ns,
        .excess_hi_ns = excess_ns + half_ns,
    };
}

static bool is_unclear(const struct overlap_estimates *estimates, double threshold_ns)
{
    return !(fabs(overlap_excess_of(estimates) - threshold_ns) > overlap_excess_half_of(estimates));
}

/* Sets row->knee_ns and margin_ns by the search. Local. */
static void set_knee(const struct overlap_measurement *m)
{
    struct overlap_row *const row = m->row;
    const struct overlap_search *const search = &row->search;
    bc_output_remark(m->parameters->verbose ? m->run->output : NULL, "verbose",
                     "%lld elements: phase 1: reference %.3f us, sd %.3f us; phases 3 and 4: "
                     "%d trials, %.3f us fits, %.3f us does not, knee at %.3f us",
                     (long long)row->choice.elements, row->reference_ns * 1e-3,
                     m->reference.sd * 1e-3, search->trials, search->fits_ns * 1e-3,
                     search->exceeds_ns * 1e-3, search->knee_ns * 1e-3);
    /* As specified. */
    row->knee_ns = search->fits_ns;
    if (m->robust && !isnan(search->knee_ns))
        row->knee_ns = fmin(search->knee_ns, search->exceeds_ns);
    row->margin_ns = overlap_search_tolerance(search, row->knee_ns);
}

static void search_robustly(struct overlap_measurement *m, double seconds)
{
    const struct overlap_search *const search = &m->row->search;
    const int64_t fixed = m->run->settings.samples;
    const double deadline_s = begin_search(m, seconds);
    while (choose_trial(m, deadline_s)) {
        const double threshold_ns =
            VERDICT_SHARE * overlap_search_tolerance(search, search->next_ns);
        const double trial_end_s = bc_elapsed_s() + seconds * TRIAL_SHARE;
        int64_t count = fixed > 0 && fixed < TRIAL_ROUNDS_MAX ? fixed : TRIAL_ROUNDS;
        struct overlap_estimates estimates;
        bc_samples_clear(&m->x.own);
        do {
            const struct bc_plan plan = overlap_plan_of(m, count, trial_end_s);
            overlap_trial_rounds(m->run, &m->x, &plan);
            count = (int64_t)m->x.own.count;
            estimates = overlap_slowest_estimates(m->run, &m->x, 0, m->x.own.count);
        } while (overlap_of_root(fixed == 0 && is_unclear(&estimates, threshold_ns) &&
                                 count < TRIAL_ROUNDS_MAX && bc_elapsed_s() < trial_end_s));
        correct_rate(m, &estimates);
        const struct overlap_trial trial = trial_of(&estimates, threshold_ns);
        report_trial(m, &trial);
    }
    set_knee(m);
}

/* True if the mean with work exceeds the reference's by at most its standard deviation, as
   specified. */
static bool fits_by_mean(const struct bc_summary *reference, const struct bc_summary *total)
{
    return total->value <= reference->value + (isnan(reference->sd) ? 0.0 : reference->sd);
}

static void search_by_mean(struct overlap_measurement *m, double seconds)
{
    const double reference_ns = m->reference.value, deadline_s = begin_search(m, seconds);
    while (choose_trial(m, deadline_s)) {
        struct bc_samples samples = {.count = 0};
        struct bc_plan plan = bc_plan_of(m->run, NULL, seconds * TRIAL_SHARE);
        plan.warmup_rounds = 0;
        plan.grace_s = 0.0;
        plan.max_rounds = plan.min_rounds;
        overlap_total_rounds(m->run, &m->x, &plan, &samples);
        const struct bc_summary total = bc_samples_summary(m->run, &samples, 0, -1);
        bc_samples_free(&samples);
        const struct overlap_trial trial = {
            .work_ns = (double)m->x.parts * bc_work_ns(&m->overlap->rate, m->x.part_units),
            .fits = fits_by_mean(&m->reference, &total),
            .excess_ns = total.value - reference_ns,
            .excess_lo_ns = total.interval.lo - reference_ns,
            .excess_hi_ns = total.interval.hi - reference_ns,
        };
        report_trial(m, &trial);
    }
    set_knee(m);
}

/* ---- the answer: amounts of work ------------------------------------------------------------- */

/* After BEYOND_ROUNDS rounds the margin is doubled, unless the work surely makes the operation
   longer by half of it. If these rounds would take more than BEYOND_SHARE of the visit's time,
   BEYOND_ROUNDS_FEW are taken, and the work need not surely do so. */
#define BEYOND_ROUNDS 16
#define BEYOND_ROUNDS_FEW 8
#define BEYOND_SHARE 0.1

static void choose_answer_work(struct overlap_measurement *m)
{
    const double margin_ns = m->robust ? m->row->margin_ns : 0.0;
    m->x.part_units = overlap_part_units(m, fmax(0.0, m->row->knee_ns) + margin_ns);
}

/* Raises the work until it surely doesn't fit: a disturbed search ends far below the knee. */
static void choose_more_than_fits(struct overlap_measurement *m)
{
    enum { OPERATIONS = 4 }; /* approximate number in a round */
    struct overlap_row *const row = m->row;
    const double all_s = BEYOND_ROUNDS * OPERATIONS * row->reference_ns * 1e-9;
    const bool few = overlap_of_root(all_s >= BEYOND_SHARE * overlap_seconds_left(m)) != 0;
    const struct bc_plan plan =
        overlap_plan_of(m, few ? BEYOND_ROUNDS_FEW : BEYOND_ROUNDS, m->end_s);
    for (;;) {
        choose_answer_work(m);
        bc_samples_clear(&m->x.own);
        overlap_trial_rounds(m->run, &m->x, &plan);
        const struct overlap_estimates estimates =
            overlap_slowest_estimates(m->run, &m->x, 0, m->x.own.count);
        correct_rate(m, &estimates);
        const double excess_ns = overlap_excess_of(&estimates);
        const double half_ns = few ? 0.0 : overlap_excess_half_of(&estimates);
        if (!overlap_of_root(!overlap_is_beyond(row, excess_ns, half_ns) &&
                             overlap_seconds_left(m) > 0.0))
            break;
        if (excess_ns < row->margin_ns / 2.0)
            row->knee_ns = fmax(row->knee_ns, overlap_knee_of(&estimates));
        row->margin_ns *= 2.0;
    }
    choose_answer_work(m);
}

/* Chooses the amounts of work that may fit, as shares of the knee, in the first visit: interrupted
   ranks need room below it. Collective. */
static void choose_amounts(const struct overlap_measurement *m)
{
    static const double shares[OVERLAP_AMOUNTS] = {1.0, 0.93, 0.82, 0.6, 0.35, 0.15};
    struct overlap_row *const row = m->row;
    for (int i = 0; m->run->visit == 0 && i < OVERLAP_AMOUNTS; i++)
        row->amount_part_units[i] = overlap_part_units(m, shares[i] * fmax(0.0, row->knee_ns));
}

/* ---- the answer: rounds ---------------------------------------------------------------------- */

/* Min rounds of the answer, if time and --max-samples allow. */
#define ANSWER_ROUNDS 30

/* Values that must be precise before a visit ends. */
static const struct bc_precise_value precise_values[] = {
    {.quantity = OVERLAP_REFERENCE, .subtrahend = -1},
    {.quantity = OVERLAP_TOTAL, .subtrahend = -1}, /* with the largest amount of work */
    {.quantity = OVERLAP_WORK, .subtrahend = -1, .negligible_ns = OVERLAP_SHORT_WORK_NS},
    {.quantity = OVERLAP_BLOCKING, .subtrahend = -1}, /* last, since not all rows have it */
};
enum { PRECISE_VALUES = sizeof precise_values / sizeof *precise_values };

static struct bc_plan answer_plan(const struct overlap_measurement *m)
{
    struct bc_plan plan = bc_plan_of(m->run, &m->row->rounds, overlap_seconds_left(m));
    if (plan.min_rounds < plan.max_rounds && plan.min_rounds < ANSWER_ROUNDS)
        plan.min_rounds = ANSWER_ROUNDS < plan.max_rounds ? ANSWER_ROUNDS : plan.max_rounds - 1;
    bc_plan_until_precise(&plan, precise_values,
                          m->x.blocking ? PRECISE_VALUES : PRECISE_VALUES - 1);
    plan.warmup_rounds = 0;
    return plan;
}

/* ---- the answer: overlap and gain ------------------------------------------------------------ */

/* Parts of a row's only visit, whose differences replace those of visits; and their min rounds. */
#define BLOCKS BC_VISITS
#define BLOCK_ROUNDS_MIN 2

static void append_gain(const struct overlap_measurement *m, size_t first, size_t end,
                        struct bc_samples *gains)
{
    double estimates_ns[OVERLAP_GAIN_ESTIMATED];
    overlap_slowest_gain(&m->x, first, end, estimates_ns);
    if (m->root)
        bc_samples_append(gains, estimates_ns, OVERLAP_GAIN_ESTIMATED, 0);
}

/* Collective. */
static void answer_robustly(const struct overlap_measurement *m)
{
    struct overlap_row *const row = m->row;
    const size_t count = m->x.own.count;
    /* The visit has no rounds if --max-samples is reached or no time is left. */
    if (count == 0)
        return;
    struct overlap_estimates estimates = overlap_slowest_estimates(m->run, &m->x, 0, count);
    append_gain(m, 0, count, &row->gains);
    const bool is_alone =
        overlap_of_root(m->root && overlap_take_answer(m->run, &estimates, row)) != 0;
    if (!is_alone || count < (size_t)BLOCKS * BLOCK_ROUNDS_MIN)
        return;
    for (size_t block = 0; block < BLOCKS; block++) {
        const size_t first = count * block / BLOCKS, end = count * (block + 1) / BLOCKS;
        estimates = overlap_slowest_estimates(m->run, &m->x, first, end);
        if (m->root)
            overlap_append_answer(&estimates, &row->blocks);
        append_gain(m, first, end, &row->gain_blocks);
    }
}

/* ---- the visit ------------------------------------------------------------------------------- */

/* Shares of the first visit's time for phase 1, calls, and the search. */
#define REFERENCE_SHARE 0.2
#define CALLS_SHARE 0.6
#define SEARCH_SHARE 0.6

static int64_t parts_of(const struct overlap_measurement *m)
{
    const int64_t own = m->x.operation->parts;
    return own > 0 ? own : m->row->test_calls + 1;
}

/* Makes the operation and its counterpart in pinned memory. One-sided transfers have none: the
   target doesn't know when to copy. Collective. */
static void create_operations(const struct overlap_state *overlap, struct overlap_row *row,
                              struct op_instance *operation, struct op_instance *staged)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const struct bc_job *const job = &overlap->run->job;
    struct op_choice pinned = row->choice;
    op_create(operation, p->kind, job, &row->choice);
    row->has_blocking = operation->blocking != NULL && !p->no_blocking;
    row->has_staged = row->has_blocking && overlap->space.device != NULL && p->kind->create == NULL;
    pinned.space = &overlap->stage;
    if (row->has_staged)
        op_create(staged, p->kind, job, &pinned);
}

static struct overlap_measurement measurement_of(struct overlap_state *overlap,
                                                 const struct bc_visit *visit,
                                                 struct op_instance *operation,
                                                 struct op_instance *staged)
{
    const struct bc_run *const run = overlap->run;
    const struct overlap_parameters *const p = &overlap->parameters;
    struct overlap_row *const row = visit->row;
    struct overlap_measurement m = {
        .overlap = overlap,
        .parameters = p,
        .run = run,
        .row = row,
        .debug = p->debug ? run->output : NULL,
        .root = run->job.rank == 0,
        .robust = overlap_is_robust(run),
        .end_s = bc_elapsed_s() + visit->seconds,
        .x = {.operation = operation,
              .staged = row->has_staged ? staged : NULL,
              .worker = overlap->worker,
              .blocking = row->has_blocking,
              .check = run->settings.check,
              .renews = p->buffers == BC_BUFFERS_NEW,
              .clock_ns = run->own_clock.read_ns,
              .amount_part_units = row->amount_part_units},
    };
    m.x.parts = parts_of(&m);
    return m;
}

/* Keeps state for later visits and the result in the row; true on rank 0 if the row is precise. */
static bool conclude_visit(struct overlap_measurement *m)
{
    struct overlap_row *const row = m->row;
    row->parts = m->x.parts;
    row->wrong += m->x.wrong;
    row->size_bytes = op_size_bytes(m->x.operation->kind, &m->x.operation->shape);
    bc_samples_free(&m->x.own);
    bc_samples_free(&m->x.own_plenty);
    return m->root && overlap_row_is_precise(m->overlap, row);
}

void overlap_measure(struct overlap_state *overlap, struct bc_visit *visit)
{
    const struct bc_run *const run = overlap->run;
    struct overlap_row *const row = visit->row;
    struct op_instance operation, staged;
    if (row->asked_test_calls != OVERLAP_AUTO)
        row->test_calls = row->asked_test_calls;
    create_operations(overlap, row, &operation, &staged);
    struct overlap_measurement m = measurement_of(overlap, visit, &operation, &staged);
    double search_s = visit->seconds;
    if (run->visit == 0 || !m.robust)
        measure_reference(&m, visit->seconds * REFERENCE_SHARE);
    if (run->visit == 0 && row->asked_test_calls == OVERLAP_AUTO) {
        const double deadline_s = bc_elapsed_s() + visit->seconds * CALLS_SHARE;
        struct overlap_calls_search calls;
        overlap_search_calls(&m, deadline_s, &calls);
        overlap_settle_calls(&m, deadline_s, &calls);
        m.x.parts = parts_of(&m);
        search_s = overlap_seconds_left(&m);
    }
    if (run->visit == 0) {
        search_s = fmin(search_s * SEARCH_SHARE, overlap_seconds_left(&m));
        if (m.robust)
            search_robustly(&m, search_s);
        else
            search_by_mean(&m, search_s);
    }
    if (m.robust)
        choose_more_than_fits(&m);
    else
        choose_answer_work(&m);
    overlap_choose_plenty(&m);
    choose_amounts(&m);
    if (row->has_blocking) {
        const struct bc_plan once = overlap_plan_of(&m, 1, m.end_s);
        overlap_counterpart_rounds(run, &m.x, &once);
    }
    const struct bc_plan plan = answer_plan(&m);
    bc_samples_clear(&m.x.own);
    bc_samples_clear(&m.x.own_plenty);
    overlap_answer_rounds(run, &m.x, &plan, &row->rounds);
    if (m.robust)
        answer_robustly(&m);
    visit->is_precise = conclude_visit(&m);
    if (row->has_staged)
        op_destroy(&staged);
    op_destroy(&operation);
}
