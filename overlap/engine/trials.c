#include "overlap/engine/measurement.h"

/* ---- rounds of a trial ----------------------------------------------------------------------- */

struct overlap_estimates overlap_slowest_estimates(const struct overlap_measurement *m,
                                                   size_t first, size_t end)
{
    enum { INTERVALS = OVERLAP_EST_TOTAL + 1 };
    const bool works = m->x.operation->works;
    const int rank = m->run->job.rank;
    struct overlap_estimates own = {.half_width_ns = {NAN, NAN}}, estimates;
    struct bc_located located[OVERLAP_ESTIMATED], slowest[OVERLAP_ESTIMATED];
    if (works)
        own = overlap_estimate_own(&m->own, first, end);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        located[i] = (struct bc_located){works ? own.ns[i] : -INFINITY, rank};
    bc_harness_allreduce(located, slowest, OVERLAP_ESTIMATED, MPI_DOUBLE_INT, MPI_MAXLOC,
                         MPI_COMM_WORLD);
    for (int i = 0; i < INTERVALS; i++)
        if (slowest[i].rank != rank)
            own.half_width_ns[i] = 0.0;
    bc_harness_allreduce(own.half_width_ns, estimates.half_width_ns, INTERVALS, MPI_DOUBLE, MPI_SUM,
                         MPI_COMM_WORLD);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        estimates.ns[i] = slowest[i].value;
    return estimates;
}

/* Takes rounds of a trial of the work; returns the estimates of all rounds in m->own. Collective.
 */
static struct overlap_estimates try_work(struct overlap_measurement *m, int64_t count,
                                         double deadline_s)
{
    static const struct bc_quantities trial = {.count = OVERLAP_BESIDE + 1, .clock_readings = 1.0};
    const struct bc_plan plan = overlap_plan_of(m, count, deadline_s);
    struct overlap_experiment *const x = &m->x;
    struct bc_samples discarded = {.count = 0};
    struct bc_rounds *const rounds = bc_rounds_by_plan(m->run, &trial, &plan, &discarded);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        /* As in take_answer_rounds. */
        (void)overlap_take_work(x, round, OVERLAP_WORK, m->part_units);
        const double reference_ns = overlap_take_reference(x, round, OVERLAP_REFERENCE);
        const struct overlap_with_work beyond =
            overlap_take_with_work(x, round, OVERLAP_BESIDE, m->part_units);
        bc_round_value(round, OVERLAP_REFERENCE, reference_ns);
        bc_round_value(round, OVERLAP_BESIDE, beyond.beside_ns);
        overlap_keep(m, reference_ns, &beyond, &m->own);
        overlap_check_round(x);
    }
    bc_samples_free(&discarded);
    return overlap_slowest_estimates(m, 0, m->own.count);
}

/* The rate of work is corrected from at least this number of rounds, and by at most this share at a
   time: one late round must not change the rate. Parts shorter than this say more of the clock that
   is read around each of them than of the rate. */
#define CORRECTION_ROUNDS 5
#define CORRECTION_MAX 0.1
#define CORRECTION_PART_NS 1000.0

/* The time that the slowest rank's work on trial took alone corrects the rate for the next amount:
   the processor's clock rate may have changed. Local. */
static void correct_rate(struct overlap_measurement *m, const struct overlap_estimates *estimates)
{
    struct bc_work_rate *const rate = &m->overlap->rate;
    const double part_ns = bc_work_ns(rate, m->part_units);
    if (m->own.count < CORRECTION_ROUNDS || part_ns < CORRECTION_PART_NS)
        return;
    const double correction = estimates->ns[OVERLAP_EST_ALONE] / (part_ns * (double)m->x.parts);
    rate->ns_per_unit *= fmax(1.0 - CORRECTION_MAX, fmin(1.0 + CORRECTION_MAX, correction));
}

/* ---- phases 2 to 4: about how much work fits ------------------------------------------------- */

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

/* Gives all ranks the amount of work to try next; at least one is tried. False: the search has
   ended. Collective. */
static bool choose_trial(struct overlap_measurement *m, double deadline_s)
{
    const struct overlap_search *const search = &m->row->search;
    int64_t units = -1; /* the search ends */
    if (m->root && (search->trials == 0 || (!search->done && bc_elapsed_s() < deadline_s)))
        units = (int64_t)overlap_own_part_units(m, search->next_ns);
    units = overlap_of_root(units);
    if (units >= 0)
        m->part_units = (uint64_t)units;
    return units >= 0;
}

/* Local. */
static void report_trial(const struct overlap_measurement *m, const struct overlap_trial *trial)
{
    bc_output_remark(m->debug, "debug",
                     "trial: %lld x %llu units, work %.3f us, excess %.3f (%.3f to %.3f) us: %s",
                     (long long)m->x.parts, (unsigned long long)m->part_units,
                     trial->work_ns * 1e-3, trial->excess_ns * 1e-3, trial->excess_lo_ns * 1e-3,
                     trial->excess_hi_ns * 1e-3, trial->fits ? "fits" : "does not fit");
    if (m->root)
        overlap_search_report(&m->row->search, trial);
}

/* Work fits as long as the operation takes no longer than threshold_ns more with it, and no less
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

/* Sets row->knee_ns and margin_ns by the search: where later rounds look. Local. */
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
    /* As specified the largest amount that was seen to fit. */
    row->knee_ns = search->fits_ns;
    if (m->robust && !isnan(search->knee_ns))
        row->knee_ns = fmin(search->knee_ns, search->exceeds_ns);
    row->margin_ns = overlap_search_tolerance(search, row->knee_ns);
}

/* Each trial takes rounds until it is clear whether the work fits. */
void overlap_search_robustly(struct overlap_measurement *m, double seconds)
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
        bc_samples_clear(&m->own);
        do {
            estimates = try_work(m, count, trial_end_s);
            count = (int64_t)m->own.count;
        } while (overlap_of_root(fixed == 0 && is_unclear(&estimates, threshold_ns) &&
                                 count < TRIAL_ROUNDS_MAX && bc_elapsed_s() < trial_end_s));
        correct_rate(m, &estimates);
        const struct overlap_trial trial = trial_of(&estimates, threshold_ns);
        report_trial(m, &trial);
    }
    set_knee(m);
}

/* As specified: the mean with work must not exceed the reference's plus its standard deviation. The
   operation is repeated with nothing in between. */
static bool fits_by_mean(const struct bc_summary *reference, const struct bc_summary *total)
{
    return total->value <= reference->value + (isnan(reference->sd) ? 0.0 : reference->sd);
}

/* The work's time is by its calibration. */
void overlap_search_by_mean(struct overlap_measurement *m, double seconds)
{
    static const struct bc_quantities total_alone = {.count = 1, .clock_readings = 1.0};
    const double reference_ns = m->reference.value, deadline_s = begin_search(m, seconds);
    while (choose_trial(m, deadline_s)) {
        struct bc_samples samples = {.count = 0};
        struct bc_plan plan = bc_plan_of(m->run, NULL, seconds * TRIAL_SHARE);
        plan.warmup_rounds = 0;
        plan.grace_s = 0.0;
        plan.max_rounds = plan.min_rounds;
        struct bc_rounds *const rounds = bc_rounds_by_plan(m->run, &total_alone, &plan, &samples);
        for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
            bc_round_value(round, 0, overlap_take_total(&m->x, round, 0, m->part_units));
            overlap_check_round(&m->x);
        }
        const struct bc_summary total = bc_samples_summary(m->run, &samples, 0, -1);
        bc_samples_free(&samples);
        const struct overlap_trial trial = {
            .work_ns = (double)m->x.parts * bc_work_ns(&m->overlap->rate, m->part_units),
            .fits = fits_by_mean(&m->reference, &total),
            .excess_ns = total.value - reference_ns,
            .excess_lo_ns = total.interval.lo - reference_ns,
            .excess_hi_ns = total.interval.hi - reference_ns,
        };
        report_trial(m, &trial);
    }
    set_knee(m);
}

/* ---- work that is more than fits ------------------------------------------------------------- */

/* Work beyond the knee must surely make the operation longer by half of the margin, or the margin
   is doubled, each time after this number of rounds: few where these would take more than
   BEYOND_SHARE of the visit's time, and too few then for being sure. */
#define BEYOND_ROUNDS 16
#define BEYOND_ROUNDS_FEW 8
#define BEYOND_SHARE 0.1

void overlap_choose_answer_work(struct overlap_measurement *m)
{
    const double margin_ns = m->robust ? m->row->margin_ns : 0.0;
    m->part_units = overlap_part_units(m, fmax(0.0, m->row->knee_ns) + margin_ns);
}

/* The search may have ended far below the knee, where something disturbed it. */
void overlap_choose_more_than_fits(struct overlap_measurement *m)
{
    enum { OPERATIONS = 4 }; /* that a round takes, about */
    struct overlap_row *const row = m->row;
    const double all_s = BEYOND_ROUNDS * OPERATIONS * row->reference_ns * 1e-9;
    const bool few = overlap_of_root(all_s >= BEYOND_SHARE * overlap_seconds_left(m)) != 0;
    for (;;) {
        overlap_choose_answer_work(m);
        bc_samples_clear(&m->own);
        const struct overlap_estimates estimates =
            try_work(m, few ? BEYOND_ROUNDS_FEW : BEYOND_ROUNDS, m->end_s);
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
    overlap_choose_answer_work(m);
}
