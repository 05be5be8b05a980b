#include "overlap/engine/row.h"

#include "common/mpi/harness.h"
#include "overlap/engine/kernel.h"

#include <math.h>
#include <string.h>

/* A size whose operation takes less than this share of the cutoff time was found by mistake:
   something slowed the search down. */
#define CUTOFF_SHARE 0.5

/* ---- what a row says so far ------------------------------------------------------------------ */

double overlap_percent(double part, double whole)
{
    if (!(whole > 0.0))
        return part > 0.0 ? 100.0 : 0.0;
    return fmin(100.0, fmax(0.0, 100.0 * part / whole));
}

struct bc_summary overlap_summarize_answers(const struct bc_run *run,
                                            const struct bc_samples *answers, int quantity)
{
    return bc_pseudomedian(answers->values[quantity], answers->count,
                           run->settings.confidence_pct / 100.0);
}

/* With a value of at least 0: what the clock can't see took no time, not less. */
static struct bc_summary summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity)
{
    struct bc_summary summary = bc_run_summarize(run, samples, quantity, -1);
    summary.value = fmax(0.0, summary.value);
    return summary;
}

/* Under the mean the operation may take a standard deviation longer, and the reference is measured
   once, at the beginning, as specified. */
struct overlap_fit overlap_fit_of(const struct overlap_state *overlap,
                                  const struct overlap_row *row, const struct bc_samples *rounds)
{
    const struct bc_run *const run = overlap->run;
    const bool mean = run->settings.estimator == BC_MEAN;
    struct overlap_fit fit = {
        .reference = summarize(run, mean ? &row->reference_phase : rounds, OVERLAP_REFERENCE),
        .total = summarize(run, rounds, OVERLAP_TOTAL),
    };
    const double longer_ns =
        mean ? fit.reference.sd : overlap->parameters.acceptance_pct / 100.0 * fit.reference.value;
    const double lo_ns =
        mean || isnan(fit.total.interval.lo) ? fit.total.value : fit.total.interval.lo;
    fit.beyond_ns = lo_ns - fit.reference.value - (isnan(longer_ns) ? 0.0 : longer_ns);
    return fit;
}

/* Whether what visits say tells a share: of one visit with one round it doesn't. */
static bool tells_shares(const struct overlap_row *row, const struct bc_samples *said)
{
    return said->count > 1 || row->rounds.count > 1;
}

/* The overlap in percent. Its interval reaches at least two readings of the clock beyond the value:
   post and wait are timed together alone, but one by one around work, and each time is known to a
   reading. It has no upper end where all work fitted that there was time to try. Under the mean
   with one visit the interval is the bracket of the search, and one reading. */
static struct bc_summary summarize_overlap(const struct bc_run *run, const struct overlap_row *row)
{
    const struct bc_samples *const answers = &row->answers;
    const double reference_ns = summarize(run, &row->rounds, OVERLAP_REFERENCE).value;
    const double readings = run->settings.estimator == BC_MEDIAN ? 2.0 : 1.0;
    const double clock_pct = overlap_percent(readings * run->max_clock.read_ns, reference_ns);
    if (answers->count == 0 || !tells_shares(row, answers))
        return (struct bc_summary){0, NAN, NAN, {NAN, NAN}, NAN, NAN};
    struct bc_summary overlap = overlap_summarize_answers(run, answers, OVERLAP_ANSWER_PCT);
    if (run->settings.estimator == BC_MEAN && answers->count == 1) {
        overlap.interval = (struct bc_interval){answers->values[OVERLAP_ANSWER_LO][0],
                                                answers->values[OVERLAP_ANSWER_HI][0]};
    } else {
        if (answers->count == 1 && row->blocks.count > 1)
            overlap.interval =
                overlap_summarize_answers(run, &row->blocks, OVERLAP_ANSWER_PCT).interval;
        if (run->settings.estimator == BC_MEDIAN)
            overlap.interval = bc_interval_with(
                &overlap, overlap_summarize_answers(run, answers, OVERLAP_ANSWER_OTHER_PCT).value -
                              overlap.value);
    }
    overlap.value = overlap_percent(overlap.value, 100.0);
    if (isnan(overlap.interval.lo))
        return overlap;
    overlap.interval.lo =
        fmin(overlap.value, overlap_percent(overlap.interval.lo - clock_pct, 100.0));
    overlap.interval.hi =
        fmax(overlap.value, overlap_percent(overlap.interval.hi + clock_pct, 100.0));
    if (row->knee_is_beyond)
        overlap.interval.hi = 100.0;
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

static struct overlap_gain summarize_gain(const struct overlap_state *overlap,
                                          const struct overlap_row *row)
{
    static const struct bc_summary none = {0, NAN, NAN, {NAN, NAN}, NAN, NAN};
    const struct bc_run *const run = overlap->run;
    struct overlap_gain gain = {none, none, none, none};
    if (row->rounds.count == 0)
        return gain;
    gain = run->settings.estimator == BC_MEAN
               ? gain_by_mean(run, &row->rounds)
               : overlap_gain_of_visits(&row->gains, &row->gain_blocks, calls_ns(run, row),
                                        run->settings.confidence_pct / 100.0);
    if (!row->has_blocking)
        gain.blocking = gain.gain = none;
    if (!row->has_blocking || !tells_shares(row, &row->gains))
        gain.gain_pct = none;
    return gain;
}

/* Whether it is clear that going non-blocking pays, loses or makes no difference, or the gain's
   interval is as narrow as the precision asks for, or twice as wide as what calls cost makes it at
   the min. */
static bool gain_is_precise(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const struct overlap_gain gain = summarize_gain(overlap, row);
    const char *const verdict = overlap_verdict(&gain.gain_pct, overlap->parameters.threshold_pct);
    const double calls_pct = 100.0 * 2.0 * calls_ns(run, row) / gain.blocking.value;
    return !row->has_blocking || (verdict != NULL && strcmp(verdict, "can't tell") != 0) ||
           bc_half_width(&gain.gain_pct) <= fmax(run->settings.precision_pct, calls_pct);
}

/* What was asked for is a number of samples, however long they take; or the search's end, work that
   doesn't make the operation longer, and the precision. The overlap's interval must be as narrow as
   the precision, in points, or as the clock allows. */
bool overlap_row_is_precise(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const double precision_pct = run->settings.precision_pct;
    if (run->settings.samples > 0)
        return (int64_t)row->rounds.count >= run->settings.samples;
    const struct bc_summary share = summarize_overlap(run, row);
    const struct overlap_fit fit = overlap_fit_of(overlap, row, &row->rounds);
    const struct bc_summary reference = fit.reference, total = fit.total;
    const struct bc_summary work = summarize(run, &row->rounds, OVERLAP_WORK);
    const double clock_limit = overlap_percent(2.0 * row->search.rules.floor_ns, reference.value);
    const double longer_pct = fmax(overlap->parameters.acceptance_pct, precision_pct);
    return row->search.converged && gain_is_precise(overlap, row) &&
           (run->settings.estimator == BC_MEAN ||
            bc_half_width(&share) <= fmax(precision_pct, clock_limit)) &&
           (row->fitting_ns <= 0.0 ||
            (fit.beyond_ns <= 0.0 &&
             (run->settings.estimator == BC_MEAN ||
              total.value <= (1.0 + longer_pct / 100.0) * reference.value))) &&
           bc_is_precise(&reference, precision_pct / 100.0) &&
           bc_is_precise(&total, precision_pct / 100.0) &&
           (work.value < OVERLAP_SHORT_WORK_NS || bc_is_precise(&work, precision_pct / 100.0));
}

/* If even this work made the operation longer, the row says that none fits. The overlap's interval
   reaches down to what the work shows, whether the row was precise without that or not; under the
   mean what it shows is the overlap. */
static void set_overlap(const struct overlap_state *overlap, const struct overlap_row *row,
                        struct overlap_result *result)
{
    const struct bc_run *const run = overlap->run;
    const struct bc_summary share = summarize_overlap(run, row);
    const struct overlap_fit fit = overlap_fit_of(overlap, row, &row->rounds);
    const bool has_work = run->settings.estimator == BC_MEAN || row->fitting_ns > 0.0;
    const bool fits = fit.beyond_ns <= 0.0 && has_work;
    result->reference = fit.reference;
    result->reference_sd_ns = fit.reference.sd;
    result->total = fits ? fit.total : fit.reference;
    result->work = summarize(run, &row->rounds, OVERLAP_WORK);
    if (!fits)
        bc_summary_scale(&result->work, 0.0);
    const double shown_pct = overlap_percent(result->work.value, fit.reference.value);
    result->overlap_pct =
        run->settings.estimator == BC_MEAN ? fmin(share.value, shown_pct) : share.value;
    result->overlap_lo_pct = isnan(share.interval.lo) ? NAN : fmin(share.interval.lo, shown_pct);
    result->overlap_hi_pct = share.interval.hi;
}

/* ---- what it says in the end ----------------------------------------------------------------- */

static void set_keys(const struct overlap_parameters *p, const struct overlap_row *row,
                     struct overlap_result *result)
{
    const struct overlap_key *const key = &row->key;
    const bool searched = key->test_calls == OVERLAP_AUTO;
    result->collective = p->kind->name;
    result->model = overlap_is_data_driven(p) ? "data" : "time";
    result->form = overlap_form_names[key->form];
    if (searched)
        (void)snprintf(result->test_calls, sizeof result->test_calls, "auto");
    else
        (void)snprintf(result->test_calls, sizeof result->test_calls, "%lld",
                       (long long)key->test_calls);
    result->best_test_calls = searched ? row->test_calls : BC_NO_INTEGER;
    result->elements = p->kind->no_elements ? BC_NO_INTEGER : key->elements;
    result->size_bytes = row->size_bytes;
}

static void dump(const struct bc_run *run, const struct overlap_row *row)
{
    bc_run_dump(run, "reference_phase", &row->reference_phase, OVERLAP_REFERENCE);
    bc_run_dump(run, "reference", &row->rounds, OVERLAP_REFERENCE);
    bc_run_dump(run, "total", &row->rounds, OVERLAP_TOTAL);
    bc_run_dump(run, "work", &row->rounds, OVERLAP_WORK);
    bc_run_dump(run, "beside", &row->rounds, OVERLAP_BESIDE);
    if (row->has_blocking)
        bc_run_dump(run, "blocking", &row->rounds, OVERLAP_BLOCKING);
    bc_run_dump(run, "exposed", &row->rounds, OVERLAP_EXPOSED);
}

/* With less work than the operation takes, or on shared processors, a row doesn't say who makes
   progress. */
static void judge_progress(struct overlap_state *overlap, const struct overlap_row *row,
                           const struct overlap_result *result)
{
    const struct overlap_key *const key = &row->key;
    if (key->form != OVERLAP_NONBLOCKING || overlap->parameters.plenty < 1.0 ||
        overlap->run->job.oversubscribed || isnan(result->gain.exposed.interval.lo))
        return;
    const struct overlap_progress_row judged = {
        .size_bytes = result->size_bytes,
        .variant = key->variant,
        .test_calls = row->test_calls,
        .searched = key->test_calls == OVERLAP_AUTO,
        .reference_ns = result->reference.value,
        .exposed_ns = result->gain.exposed.value,
        .exposed_without_calls_ns = row->exposed_without_calls_ns,
        .partner_is_in_mpi = overlap->parameters.kind->serve != NULL,
        .takes_test_calls = row->parts == row->test_calls + 1,
    };
    overlap_progress_add(&overlap->progress, &judged);
}

/* What is wrong with the row: its data, or its size. */
static void warn(const struct overlap_state *overlap, const struct overlap_key *key, int64_t wrong,
                 const struct overlap_result *result)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const double reference_us = result->reference.value * 1e-3;
    if (wrong > 0)
        bc_output_remark(overlap->run->output, "warning",
                         "wrong data in %lld operations, counted over ranks", (long long)wrong);
    if (!overlap_is_data_driven(p) && key->status == BC_OK &&
        reference_us < CUTOFF_SHARE * p->cutoff_ms * 1e3)
        bc_output_remark(overlap->run->output, "warning",
                         "the operation took %.3f us here, and the cutoff time when its size was "
                         "searched for: something was in the way then; run it again",
                         reference_us);
}

static void free_samples(struct overlap_row *row)
{
    bc_samples_free(&row->reference_phase);
    bc_samples_free(&row->rounds);
    bc_samples_free(&row->answers);
    bc_samples_free(&row->blocks);
    bc_samples_free(&row->gains);
    bc_samples_free(&row->gain_blocks);
}

void overlap_conclude(struct overlap_state *overlap, struct overlap_row *row,
                      struct overlap_result *result)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const struct bc_run *const run = overlap->run;
    int64_t wrong = 0;
    bc_harness_reduce(&row->wrong, &wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (run->job.rank == 0) {
        dump(run, row);
        set_keys(p, row, result);
        set_overlap(overlap, row, result);
        result->gain = summarize_gain(overlap, row);
        result->verdict = overlap_verdict(&result->gain.gain_pct, p->threshold_pct);
        result->outcome = bc_run_outcome(run, &row->rounds, overlap_row_is_precise(overlap, row));
        if (row->key.status != BC_OK)
            result->outcome.status = row->key.status;
        if (wrong > 0)
            result->outcome.status = BC_FAIL;
        warn(overlap, &row->key, wrong, result);
        judge_progress(overlap, row, result);
    }
    free_samples(row);
}
