#include "overlap/engine/row.h"

#include "overlap/engine/kernel.h"

#include <math.h>
#include <string.h>

/* A part of a whole in percent, limited to 0 to 100. */
static double percent(double part, double whole)
{
    if (!(whole > 0.0))
        return part > 0.0 ? 100.0 : 0.0;
    return fmin(100.0, fmax(0.0, 100.0 * part / whole));
}

static double confidence(const struct bc_run *run) { return run->settings.confidence_pct / 100.0; }

static struct bc_summary summarize_answers(const struct bc_run *run,
                                           const struct bc_samples *answers, int quantity)
{
    return bc_pseudomedian(answers->values[quantity], answers->count, confidence(run));
}

/* With a value of at least 0: what the clock can't see took no time, not less. */
static struct bc_summary summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity)
{
    struct bc_summary summary = bc_run_summarize(run, samples, quantity, -1);
    summary.value = fmax(0.0, summary.value);
    return summary;
}

/* ---- work that is more than fits ------------------------------------------------------------- */

/* The margin's max, as a share of the reference time: what is that much longer than the operation
   can't fit. */
#define MARGIN_MAX_SHARE 1.0

static double hidden_pct(double reference_ns, double exposed_ns)
{
    return reference_ns > 0.0 ? 100.0 * (reference_ns - exposed_ns) / reference_ns : 0.0;
}

void overlap_append_answer(const struct overlap_estimates *estimates, struct bc_samples *answers)
{
    const double *const ns = estimates->ns;
    const double answer[OVERLAP_ANSWER_QUANTITIES] = {
        [OVERLAP_ANSWER_PCT] = hidden_pct(ns[OVERLAP_EST_REFERENCE], ns[OVERLAP_EST_EXPOSED]),
        [OVERLAP_ANSWER_OTHER_PCT] =
            hidden_pct(ns[OVERLAP_EST_OTHER_REFERENCE], ns[OVERLAP_EST_OTHER_EXPOSED]),
        [OVERLAP_ANSWER_KNEE] = overlap_knee_of(estimates),
    };
    bc_samples_append(answers, answer, OVERLAP_ANSWER_QUANTITIES, 0);
}

bool overlap_is_beyond(const struct overlap_row *row, double excess_ns, double half_ns)
{
    return excess_ns - (isnan(half_ns) ? 0.0 : half_ns) >= row->margin_ns / 2.0 ||
           row->margin_ns >= MARGIN_MAX_SHARE * row->reference_ns;
}

bool overlap_take_answer(const struct bc_run *run, const struct overlap_estimates *estimates,
                         struct overlap_row *row)
{
    const bool may_fit =
        !overlap_is_beyond(row, overlap_excess_of(estimates), overlap_excess_half_of(estimates));
    if (may_fit)
        row->margin_ns *= 2.0;
    if (may_fit && row->answers.count > 0 && !row->knee_is_beyond)
        return false;
    if (row->knee_is_beyond) {
        bc_samples_clear(&row->answers);
        bc_samples_clear(&row->blocks);
    }
    row->knee_is_beyond = may_fit;
    overlap_append_answer(estimates, &row->answers);
    row->knee_ns = summarize_answers(run, &row->answers, OVERLAP_ANSWER_KNEE).value;
    return row->answers.count == 1;
}

void overlap_answer_by_mean(const struct bc_run *run, const struct bc_interval *reference,
                            struct overlap_row *row)
{
    const struct overlap_search *const search = &row->search;
    const double clock_ns = run->max_clock.read_ns;
    const struct bc_samples last = bc_samples_of_visit(&row->rounds, row->rounds.visits - 1);
    const double work_ns = bc_run_summarize(run, &last, OVERLAP_WORK, -1).value;
    double answer[OVERLAP_ANSWER_QUANTITIES] = {
        [OVERLAP_ANSWER_PCT] = percent(work_ns, row->reference_ns),
        [OVERLAP_ANSWER_KNEE] = search->fits_ns,
        [OVERLAP_ANSWER_LO] = NAN,
        [OVERLAP_ANSWER_HI] = NAN,
    };
    if (!isnan(search->fits_slack_ns) && search->exceeds_is_sure && !isnan(reference->lo)) {
        answer[OVERLAP_ANSWER_LO] =
            percent(search->fits_ns - search->fits_slack_ns - clock_ns, reference->hi);
        answer[OVERLAP_ANSWER_HI] = percent(search->exceeds_ns + clock_ns, reference->lo);
    }
    bc_samples_append(&row->answers, answer, OVERLAP_ANSWER_QUANTITIES, 0);
}

/* ---- work that fits -------------------------------------------------------------------------- */

/* Work that made the operation longer is lowered by as much, but by this share of it at least. */
#define LOWER_SHARE_MIN 0.05

/* The reference and the total of a row, or of these rounds of it. `beyond_ns`: by how much the
   total's interval lies beyond what the acceptance threshold allows of the reference's value; 0 or
   less: it doesn't. */
struct fit {
    struct bc_summary reference, total;
    double beyond_ns;
};

/* Under the mean the operation may take a standard deviation longer, and the reference is measured
   once, at the beginning, as specified. */
static struct fit fit_of(const struct overlap_state *overlap, const struct overlap_row *row,
                         const struct bc_samples *rounds)
{
    const struct bc_run *const run = overlap->run;
    const bool robust = overlap_is_robust(run);
    struct fit fit = {
        .reference = summarize(run, robust ? rounds : &row->reference_phase, OVERLAP_REFERENCE),
        .total = summarize(run, rounds, OVERLAP_TOTAL),
    };
    const double longer_ns = robust
                                 ? overlap->parameters.acceptance_pct / 100.0 * fit.reference.value
                                 : fit.reference.sd;
    const double lo_ns =
        robust && !isnan(fit.total.interval.lo) ? fit.total.interval.lo : fit.total.value;
    fit.beyond_ns = lo_ns - fit.reference.value - (isnan(longer_ns) ? 0.0 : longer_ns);
    return fit;
}

bool overlap_lower_too_much(const struct overlap_state *overlap, const struct bc_samples *rounds,
                            struct overlap_row *row)
{
    const struct fit fit = fit_of(overlap, row, rounds);
    const double longer_ns = fit.total.value - fit.reference.value;
    if (!(row->fitting_ns > 0.0 && fit.beyond_ns > 0.0) || isnan(fit.total.interval.lo))
        return false;
    row->fitting_ns =
        fmax(0.0, row->fitting_ns - fmax(longer_ns, LOWER_SHARE_MIN * row->fitting_ns));
    row->was_lowered = true;
    return true;
}

/* ---- overlap and gain ------------------------------------------------------------------------ */

/* Whether what visits say tells a share: of one visit with one round it doesn't. */
static bool tells_shares(const struct overlap_row *row, const struct bc_samples *said)
{
    return said->count > 1 || row->rounds.count > 1;
}

/* The interval of an answer by one visit of few rounds: as wide as that of the rounds of all
   visits, most of which weren't sure that the work is more than fits. These are the slowest rank's
   in each round, since rounds of single ranks are kept for one visit only. */
static struct bc_interval interval_by_rounds(const struct bc_run *run,
                                             const struct overlap_row *row, double answer_pct)
{
    const double reference_ns = summarize(run, &row->rounds, OVERLAP_REFERENCE).value;
    const struct bc_summary hidden =
        bc_run_summarize(run, &row->rounds, OVERLAP_REFERENCE, OVERLAP_BESIDE);
    const double half_pct =
        reference_ns > 0.0 ? 100.0 * bc_half_width(&hidden) / reference_ns : NAN;
    return (struct bc_interval){answer_pct - half_pct, answer_pct + half_pct};
}

/* The overlap in percent. Its interval reaches at least two readings of the clock beyond the value:
   post and wait are timed together alone, but one by one around work, and each time is known to a
   reading. It has no upper end where all work fitted that there was time to try. Under the mean
   with one visit the interval is the bracket of the search, and one reading. */
static struct bc_summary summarize_overlap(const struct bc_run *run, const struct overlap_row *row)
{
    const struct bc_samples *const answers = &row->answers;
    const bool robust = overlap_is_robust(run);
    if (answers->count == 0 || !tells_shares(row, answers))
        return bc_no_summary;
    const double clock_pct = percent((robust ? 2.0 : 1.0) * run->max_clock.read_ns,
                                     summarize(run, &row->rounds, OVERLAP_REFERENCE).value);
    struct bc_summary overlap = summarize_answers(run, answers, OVERLAP_ANSWER_PCT);
    struct bc_interval *const interval = &overlap.interval;
    if (answers->count == 1 && !robust)
        *interval = (struct bc_interval){answers->values[OVERLAP_ANSWER_LO][0],
                                         answers->values[OVERLAP_ANSWER_HI][0]};
    if (answers->count == 1 && row->blocks.count > 1)
        *interval = summarize_answers(run, &row->blocks, OVERLAP_ANSWER_PCT).interval;
    if (robust && isnan(interval->lo))
        *interval = interval_by_rounds(run, row, overlap.value);
    if (robust) {
        const double other_pct = summarize_answers(run, answers, OVERLAP_ANSWER_OTHER_PCT).value;
        *interval = bc_interval_with(&overlap, other_pct - overlap.value);
    }
    overlap.value = percent(overlap.value, 100.0);
    if (isnan(interval->lo))
        return overlap;
    interval->lo = fmin(overlap.value, percent(interval->lo - clock_pct, 100.0));
    interval->hi = fmax(overlap.value, percent(interval->hi + clock_pct, 100.0));
    if (row->knee_is_beyond)
        interval->hi = 100.0;
    return overlap;
}

/* Under the mean exposed times are formed and compared round by round. */
static struct overlap_gain gain_by_mean(const struct bc_run *run, const struct bc_samples *rounds)
{
    struct overlap_gain gain = {
        .blocking = bc_run_summarize(run, rounds, OVERLAP_BLOCKING, -1),
        .exposed = bc_run_summarize(run, rounds, OVERLAP_EXPOSED, -1),
        .gain = bc_run_summarize(run, rounds, OVERLAP_BLOCKING, OVERLAP_EXPOSED),
    };
    gain.gain_pct = gain.gain;
    bc_summary_scale(&gain.gain_pct, gain.blocking.value > 0.0 ? 100.0 / gain.blocking.value : NAN);
    return gain;
}

/* How well the cost of calls is known: to a reading of the clock for each of start, finish and the
   blocking counterpart, which are timed one by one; and to a quarter of one for each call between
   two parts of the work, where readings follow each other closely. */
#define CALLS 3.0
#define BETWEEN 0.25

static double calls_ns(const struct bc_run *run, const struct overlap_row *row)
{
    return run->max_clock.read_ns * (CALLS + BETWEEN * (double)(row->parts - 1));
}

static struct overlap_gain summarize_gain(const struct bc_run *run, const struct overlap_row *row)
{
    if (row->rounds.count == 0)
        return (struct overlap_gain){bc_no_summary, bc_no_summary, bc_no_summary, bc_no_summary};
    struct overlap_gain gain = overlap_is_robust(run)
                                   ? overlap_gain_of_visits(&row->gains, &row->gain_blocks,
                                                            calls_ns(run, row), confidence(run))
                                   : gain_by_mean(run, &row->rounds);
    if (!row->has_blocking)
        gain.blocking = gain.gain = bc_no_summary;
    if (!row->has_blocking || !tells_shares(row, &row->gains))
        gain.gain_pct = bc_no_summary;
    return gain;
}

/* ---- what the row says ----------------------------------------------------------------------- */

/* Whether it is clear that going non-blocking pays, loses or makes no difference, or the gain's
   interval is as narrow as the precision asks for, or twice as wide as what calls cost makes it at
   the min. */
static bool gain_is_precise(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const struct overlap_gain gain = summarize_gain(run, row);
    const char *const verdict = bc_verdict(&gain.gain_pct, overlap->parameters.threshold_pct);
    const double calls_pct = 100.0 * 2.0 * calls_ns(run, row) / gain.blocking.value;
    return !row->has_blocking || (verdict != NULL && strcmp(verdict, "not clear") != 0) ||
           bc_half_width(&gain.gain_pct) <= fmax(run->settings.precision_pct, calls_pct);
}

/* What was asked for is a number of samples, however long they take; or the search's end, work that
   doesn't make the operation longer, and the precision. The overlap's interval must be as narrow as
   the precision, in points, or as the clock allows. */
bool overlap_row_is_precise(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const bool robust = overlap_is_robust(run);
    const double precision_pct = run->settings.precision_pct, precision = precision_pct / 100.0;
    if (run->settings.samples > 0)
        return (int64_t)row->rounds.count >= run->settings.samples;
    const struct bc_summary share = summarize_overlap(run, row);
    const struct fit fit = fit_of(overlap, row, &row->rounds);
    const struct bc_summary work = summarize(run, &row->rounds, OVERLAP_WORK);
    const double clock_pct = percent(2.0 * row->search.rules.floor_ns, fit.reference.value);
    const double longer_pct = fmax(overlap->parameters.acceptance_pct, precision_pct);
    const bool fits =
        fit.beyond_ns <= 0.0 &&
        (!robust || fit.total.value <= (1.0 + longer_pct / 100.0) * fit.reference.value);
    return row->search.converged && gain_is_precise(overlap, row) &&
           (!robust || bc_half_width(&share) <= fmax(precision_pct, clock_pct)) &&
           (row->fitting_ns <= 0.0 || fits) && bc_is_precise(&fit.reference, precision) &&
           bc_is_precise(&fit.total, precision) &&
           (work.value < OVERLAP_SHORT_WORK_NS || bc_is_precise(&work, precision));
}

/* If even this work made the operation longer, the row says that none fits. The overlap's interval
   reaches down to what the work shows, whether the row was precise without that or not; under the
   mean what it shows is the overlap. */
void overlap_summarize(const struct overlap_state *overlap, const struct overlap_row *row,
                       struct overlap_result *result)
{
    const struct bc_run *const run = overlap->run;
    const bool robust = overlap_is_robust(run);
    const struct bc_summary share = summarize_overlap(run, row);
    const struct fit fit = fit_of(overlap, row, &row->rounds);
    const bool fits = fit.beyond_ns <= 0.0 && (!robust || row->fitting_ns > 0.0);
    result->reference = fit.reference;
    result->total = fits ? fit.total : fit.reference;
    result->work = summarize(run, &row->rounds, OVERLAP_WORK);
    if (!fits)
        bc_summary_scale(&result->work, 0.0);
    const double shown_pct = percent(result->work.value, fit.reference.value);
    result->overlap_pct = robust ? share.value : fmin(share.value, shown_pct);
    result->overlap_lo_pct = isnan(share.interval.lo) ? NAN : fmin(share.interval.lo, shown_pct);
    result->overlap_hi_pct = share.interval.hi;
    result->gain = summarize_gain(run, row);
    result->verdict = bc_verdict(&result->gain.gain_pct, overlap->parameters.threshold_pct);
    if (overlap->space.device == NULL)
        return; /* its columns aren't shown */
    result->staged = bc_staged_of(&overlap->parameters.memory, NULL, NULL, 1.0);
    if (!row->has_staged)
        return;
    const struct bc_summary staged = bc_run_summarize(run, &row->rounds, OVERLAP_STAGED, -1);
    const struct bc_summary longer =
        bc_run_summarize(run, &row->rounds, OVERLAP_STAGED, OVERLAP_BLOCKING);
    result->staged = bc_staged_of(&overlap->parameters.memory, &staged, &longer, 1.0);
}
