/*
 * One visit of a row: the four phases for one operation at one size, in the order of
 * overlap_measure. Each phase that times has a loop of rounds, whose lines are its quantities.
 *
 *   phase 1       the reference time: the operation without work. With --test-calls=auto then the
 *                 number of calls of MPI_Test with the min exposed time (test_calls.c)
 *   phases 2 to 4 the search: about how much work fits (fit.h)
 *   the answer    rounds with a little more work than fits, which say how much fits (estimate.h);
 *                 with plenty of work, and the blocking counterpart, which say what is gained
 *                 (gain.h); and with several amounts of work from the knee down, of which the row
 *                 prints the largest that was seen not to make the operation longer (fit.h)
 *
 * The first visit of a row has all phases. Later ones, which refine it, measure at the answer only
 * (under the mean also phase 1).
 */
#include "overlap/engine/phases.h"

#include "overlap/engine/measurement.h"

/* ---- phase 1: the reference time ------------------------------------------------------------- */

static void measure_reference(struct overlap_measurement *m, double seconds)
{
    static const struct bc_quantities reference = {.count = 1, .clock_readings = 1.0};
    static const struct bc_precise_value precise = {.quantity = OVERLAP_REFERENCE,
                                                    .subtrahend = -1};
    struct bc_samples *const samples = &m->row->reference_phase;
    struct bc_plan plan = bc_plan_of(m->run, samples, seconds);
    bc_plan_until_precise(&plan, &precise, 1);
    struct bc_rounds *const rounds = bc_rounds_by_plan(m->run, &reference, &plan, samples);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        bc_round_value(round, OVERLAP_REFERENCE,
                       overlap_take_reference(&m->x, round, OVERLAP_REFERENCE));
        overlap_check_round(&m->x);
    }
    m->reference = bc_samples_summary(m->run, samples, OVERLAP_REFERENCE, -1);
    m->row->reference_ns = fmax(0.0, m->reference.value);
}

/* ---- the answer: amounts of work ------------------------------------------------------------- */

/* The first visit chooses the amounts of work that may fit, as shares of the knee. Ranks that are
   interrupted in their work need some room below it. Collective. */
static void choose_amounts(const struct overlap_measurement *m)
{
    static const double shares[OVERLAP_AMOUNTS] = {1.0, 0.93, 0.82, 0.6, 0.35, 0.15};
    struct overlap_row *const row = m->row;
    for (int i = 0; m->run->visit == 0 && i < OVERLAP_AMOUNTS; i++)
        row->amount_part_units[i] = overlap_part_units(m, shares[i] * fmax(0.0, row->knee_ns));
}

/* ---- the answer: rounds ---------------------------------------------------------------------- */

/* Uses the counterparts once, untimed. Collective. */
static void use_counterparts(struct overlap_measurement *m)
{
    static const struct bc_quantities none = {.count = 1, .clock_readings = 1.0};
    const struct bc_plan plan = overlap_plan_of(m, 1, m->end_s);
    struct bc_samples discarded = {.count = 0};
    if (!m->row->has_blocking)
        return;
    struct bc_rounds *const rounds = bc_rounds_by_plan(m->run, &none, &plan, &discarded);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        (void)overlap_take_blocking(&m->x, round, 0, 0);
        if (m->row->has_staged)
            (void)overlap_take_staged(&m->x, round, 0, 0);
        bc_round_value(round, 0, 0.0);
        overlap_check_round(&m->x);
    }
    bc_samples_free(&discarded);
}

/* Rounds at the answer: at least this number, if there is time and --max-samples allows. */
#define ANSWER_ROUNDS 30

/* These must be precise before a visit ends. */
static const struct bc_precise_value precise_values[] = {
    {.quantity = OVERLAP_REFERENCE, .subtrahend = -1},
    {.quantity = OVERLAP_TOTAL, .subtrahend = -1}, /* with the largest amount of work */
    {.quantity = OVERLAP_WORK, .subtrahend = -1, .negligible_ns = OVERLAP_SHORT_WORK_NS},
    {.quantity = OVERLAP_BLOCKING, .subtrahend = -1}, /* last: not all have it */
};
enum { PRECISE_VALUES = sizeof precise_values / sizeof *precise_values };

static struct bc_plan answer_plan(const struct overlap_measurement *m)
{
    struct bc_plan plan = bc_plan_of(m->run, &m->row->rounds, overlap_seconds_left(m));
    if (plan.min_rounds < plan.max_rounds && plan.min_rounds < ANSWER_ROUNDS)
        plan.min_rounds = ANSWER_ROUNDS < plan.max_rounds ? ANSWER_ROUNDS : plan.max_rounds - 1;
    bc_plan_until_precise(&plan, precise_values,
                          m->row->has_blocking ? PRECISE_VALUES : PRECISE_VALUES - 1);
    plan.warmup_rounds = 0;
    return plan;
}

/* Collective. */
static void take_answer_rounds(struct overlap_measurement *m)
{
    const struct bc_quantities quantities = {
        .count = m->row->has_staged ? OVERLAP_QUANTITIES : OVERLAP_STAGED, .clock_readings = 1.0};
    const struct bc_plan plan = answer_plan(m);
    const uint64_t plenty_units = m->plenty_part_units;
    struct overlap_experiment *const x = &m->x;
    bc_samples_clear(&m->own);
    bc_samples_clear(&m->own_plenty);
    struct bc_rounds *const rounds = bc_rounds_by_plan(m->run, &quantities, &plan, &m->row->rounds);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        /* What a network did just before shows in the next operation: buffers drain and token
           buckets fill. So the same work alone precedes all operations that are compared; the first
           one doesn't count. */
        (void)overlap_take_work(x, round, OVERLAP_WORK, m->part_units);
        const double reference_ns = overlap_take_reference(x, round, OVERLAP_REFERENCE);
        const struct overlap_with_work beyond =
            overlap_take_with_work(x, round, OVERLAP_BESIDE, m->part_units);
        bc_round_value(round, OVERLAP_REFERENCE, reference_ns);
        bc_round_value(round, OVERLAP_BESIDE, beyond.beside_ns);
        overlap_keep(m, reference_ns, &beyond, &m->own);

        const struct overlap_with_work plenty =
            overlap_take_with_work(x, round, OVERLAP_EXPOSED, plenty_units);
        double blocking_ns = 0.0;
        if (m->row->has_blocking) {
            (void)overlap_take_work(x, round, OVERLAP_WORK, plenty_units);
            blocking_ns = overlap_take_blocking(x, round, OVERLAP_BLOCKING, plenty_units);
        }
        if (m->row->has_staged) {
            (void)overlap_take_work(x, round, OVERLAP_WORK, plenty_units);
            bc_round_value(round, OVERLAP_STAGED,
                           overlap_take_staged(x, round, OVERLAP_STAGED, plenty_units));
        }
        bc_round_value(round, OVERLAP_EXPOSED, plenty.exposed_ns);
        bc_round_value(round, OVERLAP_BLOCKING, blocking_ns);
        overlap_keep(m, blocking_ns, &plenty, &m->own_plenty);

        /* The amounts come last, the smallest at the end, so that what precedes the reference is an
           operation with no more work in it than fits: one with plenty would leave buffers emptier
           for the reference than the reference leaves them for the operation that it is compared
           with. */
        for (int i = 0; i < OVERLAP_AMOUNTS; i++) {
            const uint64_t units = m->row->amount_part_units[i];
            bc_round_value(round, OVERLAP_WORK + i,
                           overlap_take_work(x, round, OVERLAP_WORK + i, units));
            bc_round_value(round, OVERLAP_TOTAL + i,
                           overlap_take_total(x, round, OVERLAP_TOTAL + i, units));
        }
        overlap_check_round(x);
    }
}

/* ---- the answer: what the visit says --------------------------------------------------------- */

/* Where a row has one visit's answer only, that visit's rounds are cut into parts, whose
   differences stand in for those of visits; each part has at least BLOCK_ROUNDS_MIN rounds. */
#define BLOCKS BC_VISITS
#define BLOCK_ROUNDS_MIN 2

/* Appends the gain by rounds `first` to `end` - 1. Collective. */
static void append_gain(const struct overlap_measurement *m, size_t first, size_t end,
                        struct bc_samples *gains)
{
    double estimates_ns[OVERLAP_GAIN_ESTIMATED];
    overlap_slowest_gain(m, first, end, estimates_ns);
    if (m->root)
        bc_samples_append(gains, estimates_ns, OVERLAP_GAIN_ESTIMATED, 0);
}

/* Collective. */
static void answer_robustly(const struct overlap_measurement *m)
{
    struct overlap_row *const row = m->row;
    const size_t count = m->own.count;
    /* After --max-samples rounds, or without time, a visit has none, and says nothing. */
    if (count == 0)
        return;
    struct overlap_estimates estimates = overlap_slowest_estimates(m, 0, count);
    append_gain(m, 0, count, &row->gains);
    const bool is_alone =
        overlap_of_root(m->root && overlap_take_answer(m->run, &estimates, row)) != 0;
    if (!is_alone || count < (size_t)BLOCKS * BLOCK_ROUNDS_MIN)
        return;
    for (size_t block = 0; block < BLOCKS; block++) {
        const size_t first = count * block / BLOCKS, end = count * (block + 1) / BLOCKS;
        estimates = overlap_slowest_estimates(m, first, end);
        if (m->root)
            overlap_append_answer(&estimates, &row->blocks);
        append_gain(m, first, end, &row->gain_blocks);
    }
}

/* ---- the visit ------------------------------------------------------------------------------- */

/* The shares of the first visit's time for phase 1, the number of calls, and the search. */
#define REFERENCE_SHARE 0.2
#define CALLS_SHARE 0.6
#define SEARCH_SHARE 0.6

static int64_t parts_of(const struct overlap_measurement *m)
{
    const int64_t own = m->x.operation->parts;
    return own > 0 ? own : m->row->test_calls + 1;
}

/* Makes the operation and its counterpart in pinned memory. One-sided transfers have no such
   counterpart: the target doesn't know when to copy. Collective. */
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
              .check = run->settings.check,
              .renews = p->buffers == BC_BUFFERS_NEW,
              .clock_ns = run->own_clock.read_ns},
    };
    m.x.parts = parts_of(&m);
    return m;
}

void overlap_measure(struct overlap_state *overlap, struct bc_visit *visit)
{
    const struct bc_run *const run = overlap->run;
    struct overlap_row *const row = visit->row;
    struct op_instance operation, staged = {.kind = NULL};
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
            overlap_search_robustly(&m, search_s);
        else
            overlap_search_by_mean(&m, search_s);
    }
    row->parts = m.x.parts;
    if (m.robust)
        overlap_choose_more_than_fits(&m);
    else
        overlap_choose_answer_work(&m);
    overlap_choose_plenty(&m);
    choose_amounts(&m);
    use_counterparts(&m);
    take_answer_rounds(&m);
    if (m.robust)
        answer_robustly(&m);
    row->wrong += m.x.wrong;
    row->size_bytes = op_size_bytes(&operation);
    visit->is_precise = m.root && overlap_row_is_precise(overlap, row);
    bc_samples_free(&m.own);
    bc_samples_free(&m.own_plenty);
    if (row->has_staged)
        op_destroy(&staged);
    op_destroy(&operation);
}
