/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/row.h"

#include "common/measure/verdict.h"

#include <math.h>
#include <string.h>

/* Returns a part of a whole in percent, limited to 0 to 100. */
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

/* ---- work that is more than fits ------------------------------------------------------------- */

/* Max margin, as a share of the reference time: longer work can't fit. */
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

/* ---- overlap and gain ------------------------------------------------------------------------ */

/* True if the values give shares: one visit with one round doesn't. */
static bool has_shares(const struct overlap_row *row, const struct bc_samples *visits)
{
    return visits->count > 1 || row->rounds.count > 1;
}

/* Returns the interval of a single visit with few rounds: as wide as that of the rounds of all
   visits, whose samples are the slowest rank's. */
static struct bc_interval interval_by_rounds(const struct bc_run *run,
                                             const struct overlap_row *row, double answer_pct)
{
    const double reference_ns = overlap_summary_of(run, &row->rounds, OVERLAP_REFERENCE).value;
    const struct bc_summary hidden =
        bc_samples_summary(run, &row->rounds, OVERLAP_REFERENCE, OVERLAP_BESIDE);
    const double half_pct =
        reference_ns > 0.0 ? 100.0 * bc_half_width(&hidden) / reference_ns : NAN;
    return (struct bc_interval){answer_pct - half_pct, answer_pct + half_pct};
}

/* Returns the overlap in percent. Its interval reaches at least two readings of the clock to each
   side: start and finish are timed together alone, but separately around work. It has no upper end
   if all work fitted. */
static struct bc_summary summarize_overlap(const struct bc_run *run, const struct overlap_row *row)
{
    const struct bc_samples *const answers = &row->answers;
    if (answers->count == 0 || !has_shares(row, answers))
        return bc_no_summary;
    const double clock_pct =
        percent(2.0 * run->max_clock.read_ns,
                overlap_summary_of(run, &row->rounds, OVERLAP_REFERENCE).value);
    struct bc_summary overlap = summarize_answers(run, answers, OVERLAP_ANSWER_PCT);
    struct bc_interval *const interval = &overlap.interval;
    if (answers->count == 1 && row->blocks.count > 1)
        *interval = summarize_answers(run, &row->blocks, OVERLAP_ANSWER_PCT).interval;
    if (isnan(interval->lo))
        *interval = interval_by_rounds(run, row, overlap.value);
    const double other_pct = summarize_answers(run, answers, OVERLAP_ANSWER_OTHER_PCT).value;
    *interval = bc_interval_with(&overlap, other_pct - overlap.value);
    overlap.value = percent(overlap.value, 100.0);
    if (isnan(interval->lo))
        return overlap;
    interval->lo = fmin(overlap.value, percent(interval->lo - clock_pct, 100.0));
    interval->hi = fmax(overlap.value, percent(interval->hi + clock_pct, 100.0));
    if (row->knee_is_beyond)
        interval->hi = 100.0;
    return overlap;
}

/* Returns the overlap under the mean, as specified: work over reference. Its interval is the
   search's bracket and a reading of the clock, over the far end of the reference's interval; NAN if
   a trial or the reference has no interval. */
static struct bc_summary overlap_by_mean(const struct bc_run *run, const struct overlap_row *row,
                                         const struct bc_summary *reference, double work_ns)
{
    const struct overlap_search *const search = &row->search;
    const double clock_ns = run->max_clock.read_ns;
    struct bc_summary overlap = bc_no_summary;
    if (row->rounds.count > 1)
        overlap.value = percent(work_ns, reference->value);
    if (isnan(search->fits_slack_ns) || !search->exceeds_is_sure || isnan(reference->interval.lo) ||
        isnan(overlap.value))
        return overlap;
    const double lo_pct =
        percent(search->fits_ns - search->fits_slack_ns - clock_ns, reference->interval.hi);
    const double hi_pct = percent(search->exceeds_ns + clock_ns, reference->interval.lo);
    overlap.interval =
        (struct bc_interval){fmin(overlap.value, lo_pct), fmax(overlap.value, hi_pct)};
    return overlap;
}

/* Returns the gain under the mean, formed round by round. */
static struct overlap_gain gain_by_mean(const struct bc_run *run, const struct bc_samples *rounds)
{
    struct overlap_gain gain = {
        .blocking = bc_samples_summary(run, rounds, OVERLAP_BLOCKING, -1),
        .exposed = bc_samples_summary(run, rounds, OVERLAP_EXPOSED, -1),
        .gain = bc_samples_summary(run, rounds, OVERLAP_BLOCKING, OVERLAP_EXPOSED),
    };
    gain.gain_pct = gain.gain;
    bc_summary_scale(&gain.gain_pct, gain.blocking.value > 0.0 ? 100.0 / gain.blocking.value : NAN);
    return gain;
}

/* Uncertainty of the cost of calls, in readings of the clock: one each for start, finish and
   blocking counterpart, and a quarter for each call between two parts of the work, where readings
   are close. */
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
    if (!row->has_blocking || !has_shares(row, &row->gains))
        gain.gain_pct = bc_no_summary;
    return gain;
}

/* ---- the row --------------------------------------------------------------------------------- */

/* True if the verdict is clear, or if the gain's interval is as narrow as the precision or as twice
   its min width, which comes from the cost of calls. */
static bool gain_is_precise(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const struct overlap_gain gain = summarize_gain(run, row);
    const char *const verdict = bc_verdict(&gain.gain_pct, overlap->parameters.threshold_pct);
    const double calls_pct = 100.0 * 2.0 * calls_ns(run, row) / gain.blocking.value;
    return !row->has_blocking || (verdict != NULL && strcmp(verdict, "not clear") != 0) ||
           bc_half_width(&gain.gain_pct) <= fmax(run->settings.precision_pct, calls_pct);
}

/* Results that depend on the printed amount of work. */
struct injected {
    struct bc_summary reference, work, total, overlap;
    bool lacks_work; /* no amount fits, but the overlap surely exceeds --precision */
};

static struct injected injected_of(const struct overlap_state *overlap,
                                   const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const int amount = overlap_fitting_amount(overlap, row);
    const bool fits = amount != OVERLAP_NO_AMOUNT;
    struct injected shown = {.reference = overlap_reference_of(overlap, row)};
    shown.total =
        fits ? overlap_summary_of(run, &row->rounds, OVERLAP_TOTAL + amount) : shown.reference;
    shown.work = overlap_summary_of(run, &row->rounds, OVERLAP_WORK + (fits ? amount : 0));
    if (!fits)
        bc_summary_scale(&shown.work, 0.0);
    shown.overlap = overlap_is_robust(run)
                        ? summarize_overlap(run, row)
                        : overlap_by_mean(run, row, &shown.reference, shown.work.value);
    const double least_pct = overlap_is_robust(run)
                                 ? shown.overlap.interval.lo
                                 : percent(row->search.fits_ns, shown.reference.value);
    shown.lacks_work = !fits && least_pct > run->settings.precision_pct;
    return shown;
}

/* True if the fixed number of samples was taken; or the search ended, an amount of work fits if any
   should, and all is precise. The overlap's interval must be as narrow as the precision, in points,
   or as the clock allows. */
bool overlap_row_is_precise(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const double precision_pct = run->settings.precision_pct, precision = precision_pct / 100.0;
    if (run->settings.samples > 0)
        return (int64_t)row->rounds.count >= run->settings.samples;
    const struct injected shown = injected_of(overlap, row);
    const double clock_pct = percent(2.0 * row->search.rules.floor_ns, shown.reference.value);
    return row->search.converged && gain_is_precise(overlap, row) && !shown.lacks_work &&
           (!overlap_is_robust(run) ||
            bc_half_width(&shown.overlap) <= fmax(precision_pct, clock_pct)) &&
           bc_is_precise(&shown.reference, precision) && bc_is_precise(&shown.total, precision) &&
           (shown.work.value < OVERLAP_SHORT_WORK_NS || bc_is_precise(&shown.work, precision));
}

void overlap_summarize(const struct overlap_state *overlap, const struct overlap_row *row,
                       struct overlap_result *result)
{
    const struct bc_run *const run = overlap->run;
    const struct injected shown = injected_of(overlap, row);
    result->reference = shown.reference;
    result->total = shown.total;
    result->work = shown.work;
    result->overlap_pct = shown.overlap.value;
    result->overlap_lo_pct =
        isnan(shown.overlap.interval.lo)
            ? NAN
            : fmin(shown.overlap.interval.lo, percent(shown.work.value, shown.reference.value));
    result->overlap_hi_pct = shown.overlap.interval.hi;
    result->gain = summarize_gain(run, row);
    result->verdict = bc_verdict(&result->gain.gain_pct, overlap->parameters.threshold_pct);
    if (overlap->space.device == NULL)
        return;
    result->staged = bc_staged_of(&overlap->parameters.memory, NULL, NULL, 1.0);
    if (!row->has_staged)
        return;
    const struct bc_summary staged = bc_samples_summary(run, &row->rounds, OVERLAP_STAGED, -1);
    const struct bc_summary longer =
        bc_samples_summary(run, &row->rounds, OVERLAP_STAGED, OVERLAP_BLOCKING);
    result->staged = bc_staged_of(&overlap->parameters.memory, &staged, &longer, 1.0);
}
