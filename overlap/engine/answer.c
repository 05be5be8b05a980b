#include "overlap/engine/visit.h"

#include "common/mpi/harness.h"

#include <math.h>

/* A visit takes at least this number of rounds at the answer, if there is time and --max-samples
 * allows.
 */
#define ANSWER_ROUNDS 30

/* Work beyond the knee must surely make the operation longer by half of the margin, or the margin
   is doubled, each time after this number of rounds, up to this share of the reference time: what
   is that much longer than the operation can't fit. */
#define PROBE_ROUNDS 16
#define PROBE_ROUNDS_FEW 8
#define PROBE_SHARE 0.1
#define MARGIN_MAX_SHARE 1.0

/* The first visit's rounds are cut into parts, whose differences stand in for those of visits where
   there is one visit only; each part has at least BLOCK_ROUNDS_MIN rounds. */
#define BLOCKS BC_VISITS
#define BLOCK_ROUNDS_MIN 2

/* Gives all ranks the work that the row's knee and margin ask for. Collective. */
static void choose_answer_work(struct overlap_visit *visit)
{
    const struct overlap_row *const row = visit->row;
    const double margin_ns = visit->robust ? row->margin_ns : 0.0;
    visit->round.part_units = overlap_part_units(visit, fmax(0.0, row->knee_ns) + margin_ns);
    bc_harness_bcast(&visit->round.part_units, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
}

/* The number of rounds that show whether work is more than fits: few where that many would take
   more than PROBE_SHARE of the visit's time, and too few then for being sure. Collective. */
static int64_t probe_rounds(const struct overlap_visit *visit)
{
    enum { OPERATIONS = 4 }; /* that a round takes, about */
    const double all_s = PROBE_ROUNDS * OPERATIONS * visit->row->reference_ns * 1e-9;
    int64_t rounds =
        all_s < PROBE_SHARE * overlap_seconds_left(visit) ? PROBE_ROUNDS : PROBE_ROUNDS_FEW;
    bc_harness_bcast(&rounds, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return rounds;
}

/* Half the width of the interval of the excess; 0 of too few rounds to have one. */
static double excess_half_ns(const struct overlap_estimate *estimates)
{
    const double half_ns = hypot(estimates[OVERLAP_EST_TOTAL].half_width_ns,
                                 estimates[OVERLAP_EST_REFERENCE].half_width_ns);
    return isnan(half_ns) ? 0.0 : half_ns;
}

/* Chooses work that is more than fits, but little more. The search may have ended far below the
   knee, where something disturbed it. Collective. */
static void choose_more_than_fits(struct overlap_visit *visit)
{
    struct overlap_row *const row = visit->row;
    const int64_t rounds = probe_rounds(visit);
    for (;;) {
        struct overlap_estimate estimates[OVERLAP_ESTIMATED];
        choose_answer_work(visit);
        bc_samples_clear(&visit->own);
        overlap_take_rounds(visit, OVERLAP_BESIDE + 1, overlap_take_trial, rounds, visit->end_s);
        overlap_estimate(visit, 0, visit->own.count, estimates);
        overlap_correct_rate(visit, estimates[OVERLAP_EST_ALONE].ns);
        const double excess_ns = overlap_excess_of(estimates);
        const double half_ns = rounds < PROBE_ROUNDS ? 0.0 : excess_half_ns(estimates);
        const bool may_grow = row->margin_ns < MARGIN_MAX_SHARE * row->reference_ns;
        const bool fits = excess_ns < row->margin_ns / 2.0;
        const bool exceeds_surely = excess_ns - half_ns >= row->margin_ns / 2.0;
        int goes_on = !exceeds_surely && may_grow && overlap_seconds_left(visit) > 0.0;
        bc_harness_bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!goes_on)
            break;
        if (fits)
            row->knee_ns = fmax(row->knee_ns, overlap_knee_of(estimates));
        row->margin_ns *= 2.0;
    }
    choose_answer_work(visit);
}

static double hidden_pct(const struct overlap_estimate *reference,
                         const struct overlap_estimate *exposed)
{
    return reference->ns > 0.0 ? 100.0 * (reference->ns - exposed->ns) / reference->ns : 0.0;
}

/* What must be precise before a visit ends. */
static const struct bc_precise_value precise_values[] = {
    {.quantity = OVERLAP_REFERENCE, .subtrahend = -1},
    {.quantity = OVERLAP_TOTAL, .subtrahend = -1},
    {.quantity = OVERLAP_WORK, .subtrahend = -1, .negligible_ns = OVERLAP_SHORT_WORK_NS},
    {.quantity = OVERLAP_BLOCKING, .subtrahend = -1},
};
enum { PRECISE_VALUES = sizeof precise_values / sizeof *precise_values };

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

static void append_gain(const struct overlap_visit *visit, size_t first, size_t end,
                        struct bc_samples *gains)
{
    double estimates_ns[OVERLAP_GAIN_ESTIMATED];
    overlap_estimate_gain(visit, first, end, estimates_ns);
    if (visit->root)
        bc_samples_append(gains, estimates_ns, OVERLAP_GAIN_ESTIMATED, 0);
}

struct bc_summary overlap_summarize_answers(const struct bc_run *run,
                                            const struct bc_samples *answers, int quantity)
{
    return bc_pseudomedian(answers->values[quantity], answers->count,
                           run->settings.confidence_pct / 100.0);
}

/* Appends what the visit says. The work must be more than fits, or it says too little of the
   overlap. The probe found so by few rounds; where all rounds of the visit aren't sure of it, later
   visits take more work, and the visit counts only as long as no other is sure. Rank 0. */
static void take_answer(struct overlap_visit *visit, const struct overlap_estimate *estimates)
{
    struct overlap_row *const row = visit->row;
    const double excess_ns = overlap_excess_of(estimates) - excess_half_ns(estimates);
    const bool may_fit =
        excess_ns < row->margin_ns / 2.0 && row->margin_ns < MARGIN_MAX_SHARE * row->reference_ns;
    if (may_fit)
        row->margin_ns *= 2.0;
    if (may_fit && row->answers.count > 0 && !row->knee_is_beyond)
        return;
    if (row->knee_is_beyond) {
        bc_samples_clear(&row->answers);
        bc_samples_clear(&row->blocks);
    }
    row->knee_is_beyond = may_fit;
    append_answer(estimates, &row->answers);
    row->knee_ns = overlap_summarize_answers(visit->run, &row->answers, OVERLAP_ANSWER_KNEE).value;
}

/* Collective. */
static void answer_robustly(struct overlap_visit *visit)
{
    struct overlap_row *const row = visit->row;
    const size_t count = visit->own.count;
    struct overlap_estimate estimates[OVERLAP_ESTIMATED];
    /* After --max-samples rounds, or without time, a visit has none, and says nothing. */
    if (count == 0)
        return;
    overlap_estimate(visit, 0, count, estimates);
    append_gain(visit, 0, count, &row->gains);
    if (visit->root)
        take_answer(visit, estimates);
    if (visit->run->visit > 0 || count < (size_t)BLOCKS * BLOCK_ROUNDS_MIN)
        return;
    for (size_t block = 0; block < BLOCKS; block++) {
        const size_t first = count * block / BLOCKS, end = count * (block + 1) / BLOCKS;
        overlap_estimate(visit, first, end, estimates);
        if (visit->root)
            append_answer(estimates, &row->blocks);
        append_gain(visit, first, end, &row->gain_blocks);
    }
}

/* As specified: the work's own time over the reference time. The interval is the search's bracket,
   over the reference time at the end of its own interval that is farther away; it exists only where
   both trials and the reference have intervals. Local; rank 0. */
static void answer_by_mean(struct overlap_visit *visit)
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

void overlap_measure_answer(struct overlap_visit *visit)
{
    struct bc_samples *const rounds = &visit->row->rounds;
    if (visit->robust)
        choose_more_than_fits(visit);
    else
        choose_answer_work(visit);
    overlap_choose_plenty(visit);
    overlap_choose_fitting(visit);
    struct bc_plan plan = bc_run_plan(visit->run, rounds, fmax(0.0, overlap_seconds_left(visit)));
    struct bc_precision rule;
    if (plan.min_rounds < plan.max_rounds && plan.min_rounds < ANSWER_ROUNDS)
        plan.min_rounds = ANSWER_ROUNDS < plan.max_rounds ? ANSWER_ROUNDS : plan.max_rounds - 1;
    bc_plan_until_precise(&plan, &rule, visit->run, precise_values,
                          visit->round.blocking ? PRECISE_VALUES : PRECISE_VALUES - 1);
    plan.warmup_rounds = 0;
    bc_samples_clear(&visit->own);
    bc_samples_clear(&visit->own_plenty);
    overlap_run_rounds(visit->run, &visit->round, OVERLAP_QUANTITIES, overlap_take_round, &plan,
                       rounds);
    if (visit->robust)
        answer_robustly(visit);
    else if (visit->root)
        answer_by_mean(visit);
}
