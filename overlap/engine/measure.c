#include "overlap/engine/measure.h"

#include "common/mpi_check.h"
#include "overlap/engine/kernel.h"
#include "overlap/engine/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a row's time is shared: the reference (phase 1), the search (phases 3
   and 4), the rest for measuring the answer. */
#define REFERENCE_SHARE 0.15
#define SEARCH_SHARE 0.65

/* One trial may take this share of the search's time: enough for the trials
   that a search needs when the work is hard to tell apart. */
#define TRIAL_SHARE (1.0 / 12.0)

/* A trial's verdict must be right more often than a reported interval, since
   many trials make one result. */
#define TRIAL_CONFIDENCE 0.99
#define TRIAL_MIN_ROUNDS 10

/* ... but when the time is up before that, the balance of evidence decides: a
   few outliers among a few rounds say nothing about the rest. */
#define BALANCE_CONFIDENCE 0.80

/* A trial exceeds if it took longer by more than this share of the bracket
   that the search wants: with amounts tried half a bracket from the knee, half
   way between what fits and what doesn't. */
#define VERDICT_SHARE 0.25

/* ---- summaries of samples, on rank 0 --------------------------------------- */

static double *copy_values(const double *values, size_t count)
{
    double *const copy = malloc((count > 0 ? count : 1) * sizeof *copy);
    if (copy == NULL)
        bc_abort("no memory for %zu samples", count);
    if (count > 0)
        memcpy(copy, values, count * sizeof *copy);
    return copy;
}

static enum bc_estimator estimator_of(const struct overlap_bench *bench)
{
    return (enum bc_estimator)bench->run->settings.estimator;
}

static struct bc_summary summarize(const struct overlap_bench *bench,
                                   const struct bc_samples *samples,
                                   int quantity)
{
    double *const values =
        copy_values(samples->values[quantity], samples->count);
    const struct bc_summary summary =
        bc_summarize(values, samples->count, estimator_of(bench),
                     bench->run->settings.confidence_pct / 100.0);
    free(values);
    return summary;
}

/* The median of total less reference, round by round. */
static struct bc_summary summarize_excess(const struct bc_samples *samples,
                                          double confidence)
{
    double *const excess =
        copy_values(samples->values[OVERLAP_TOTAL], samples->count);
    for (size_t i = 0; i < samples->count; i++)
        excess[i] -= samples->values[OVERLAP_REFERENCE][i];
    const struct bc_summary summary =
        bc_summarize(excess, samples->count, BC_MEDIAN, confidence);
    free(excess);
    return summary;
}

/* ---- running rounds ---------------------------------------------------------- */

/* Runs the source and keeps count of wrong data. Collective. */
static enum bc_end run_rounds(struct overlap_bench *bench,
                              struct overlap_round *round,
                              const struct bc_source *source,
                              const struct bc_plan *plan)
{
    const enum bc_end end = bc_sampler_run(bench->sampler, source, plan);
    bench->wrong += round->wrong;
    round->wrong = 0;
    return end;
}

/* The units of work that take so long; the same on every rank. Collective. */
static uint64_t agree_on_units(const struct overlap_bench *bench,
                               double work_ns)
{
    uint64_t units = bc_work_units(&bench->rate, work_ns);
    BC_MPI(MPI_Bcast(&units, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    return units;
}

/* The work's own time as it was just measured corrects the rate for the next
   amount: the processor's clock rate may have changed. */
static void correct_rate(struct overlap_bench *bench, uint64_t units,
                         double work_ns)
{
    const double expected_ns = bc_work_ns(&bench->rate, units);
    const double correction = work_ns / expected_ns;
    if (expected_ns > 1000.0 && correction > 0.1 && correction < 10.0)
        bench->rate.ns_per_unit *= correction;
}

/* ---- phase 1: the reference time ---------------------------------------------- */

struct precision_rule {
    const struct overlap_bench *bench;
    struct bc_stopping stopping[OVERLAP_QUANTITIES];
    int quantities;
};

static struct precision_rule make_precision_rule(
    const struct overlap_bench *bench, int quantities)
{
    struct precision_rule rule = {.bench = bench, .quantities = quantities};
    for (int q = 0; q < quantities; q++)
        rule.stopping[q] = (struct bc_stopping){
            .precision = bench->run->settings.precision_pct / 100.0,
            .confidence = bench->run->settings.confidence_pct / 100.0,
        };
    return rule;
}

static bool precise_enough(const struct bc_samples *samples, void *context)
{
    struct precision_rule *const rule = context;
    bool enough = true;
    for (int q = 0; q < rule->quantities; q++) {
        const struct bc_summary summary = summarize(rule->bench, samples, q);
        /* Work of no length is as precise as it gets. */
        const bool counts = q != OVERLAP_WORK || summary.value > 1000.0;
        if (!bc_stopping_look(&rule->stopping[q], &summary) && counts)
            enough = false;
    }
    return enough;
}

/* Collective; the summary is on rank 0. */
static struct bc_summary measure_reference(struct overlap_bench *bench,
                                           struct overlap_round *round,
                                           double seconds, bool *in_time)
{
    struct precision_rule rule = make_precision_rule(bench, 1);
    struct bc_plan plan = bc_run_plan(bench->run, seconds);
    plan.settled = precise_enough;
    plan.context = &rule;
    const struct bc_source source =
        overlap_reference_source(round, bench->run->settings.check);
    const enum bc_end end = run_rounds(bench, round, &source, &plan);
    if (end != BC_END_SETTLED)
        *in_time = false;
    const struct bc_samples *const samples = bc_sampler_samples(bench->sampler);
    bc_run_dump(bench->run, "reference_phase", samples->values[0],
                samples->count);
    return summarize(bench, samples, OVERLAP_REFERENCE);
}

/* ---- phases 3 and 4: trials ------------------------------------------------------ */

struct verdict_rule {
    double threshold_ns; /* a longer excess doesn't fit */
};

static bool verdict_is_clear(const struct bc_samples *samples, void *context)
{
    const struct verdict_rule *const rule = context;
    const struct bc_summary excess =
        summarize_excess(samples, TRIAL_CONFIDENCE);
    return excess.interval.lo > rule->threshold_ns ||
           excess.interval.hi < rule->threshold_ns;
}

/* The robust verdict. Where the samples can't tell, work fits unless the
   operation took longer by the balance of evidence: noise must not pass for
   work. */
static bool fits_robustly(const struct bc_samples *samples, double threshold_ns)
{
    const struct bc_summary excess =
        summarize_excess(samples, BALANCE_CONFIDENCE);
    if (isnan(excess.interval.lo))
        return excess.value <= threshold_ns;
    return !(excess.interval.lo > 0.0 && excess.value > threshold_ns);
}

/* The specification's verdict: the mean must not exceed the reference time
   plus its standard deviation. */
static bool fits_by_mean(const struct bc_summary *total,
                         const struct bc_summary *reference)
{
    const double sd = isnan(reference->sd) ? 0.0 : reference->sd;
    return total->value <= reference->value + sd;
}

/* Tries an amount of work. Collective; the trial is on rank 0. */
static struct overlap_trial try_work(struct overlap_bench *bench,
                                     struct overlap_round *round,
                                     const struct bc_summary *reference,
                                     double threshold_ns, double seconds)
{
    struct verdict_rule rule = {.threshold_ns = threshold_ns};
    struct bc_plan plan = bc_run_plan(bench->run, seconds);
    if (bench->run->settings.samples == 0 &&
        estimator_of(bench) == BC_MEDIAN) {
        if (plan.min_rounds > TRIAL_MIN_ROUNDS)
            plan.min_rounds = TRIAL_MIN_ROUNDS;
        plan.settled = verdict_is_clear;
        plan.context = &rule;
    } else {
        plan.max_rounds = plan.min_rounds;
    }
    plan.warmup_rounds = 0;
    plan.grace_s = 0.0;
    const struct bc_source source =
        overlap_round_source(round, bench->run->settings.check);
    run_rounds(bench, round, &source, &plan);

    const struct bc_samples *const samples = bc_sampler_samples(bench->sampler);
    const double clock_ns = bench->run->clock.read_ns;
    const struct bc_summary alone =
        summarize(bench, samples, OVERLAP_REFERENCE);
    const struct bc_summary work = summarize(bench, samples, OVERLAP_WORK);
    const struct bc_summary total = summarize(bench, samples, OVERLAP_TOTAL);
    const struct bc_summary excess =
        summarize_excess(samples, TRIAL_CONFIDENCE);
    struct overlap_trial trial = {
        .work_ns = fmax(0.0, work.value - clock_ns),
        .excess_ns = excess.value,
        .excess_lo_ns = excess.interval.lo,
        .excess_hi_ns = excess.interval.hi,
    };
    trial.fits = estimator_of(bench) == BC_MEAN
                     ? fits_by_mean(&total, reference)
                     : fits_robustly(samples, threshold_ns);
    /* Work that takes longer than the operation can't fit under it. */
    if (estimator_of(bench) == BC_MEDIAN &&
        work.value > alone.value + threshold_ns)
        trial.fits = false;
    correct_rate(bench, round->units, trial.work_ns);
    if (bench->parameters->debug)
        bc_output_remark(bench->run->output, "debug",
                         "trial: %llu units, work %.3f us, total %.3f us, "
                         "excess %.3f (%.3f to %.3f) us, threshold %.3f us, "
                         "%zu rounds: %s",
                         (unsigned long long)round->units, trial.work_ns * 1e-3,
                         (total.value - clock_ns) * 1e-3, excess.value * 1e-3,
                         excess.interval.lo * 1e-3, excess.interval.hi * 1e-3,
                         threshold_ns * 1e-3, samples->count,
                         trial.fits ? "fits" : "does not fit");
    return trial;
}

/* What rank 0 tells the others before each trial. */
struct next_trial {
    uint64_t units;
    uint64_t goes_on; /* 0: the search is over */
};

/* Finds the most work that fits. Collective; the search is on rank 0. */
static struct overlap_search search_work(struct overlap_bench *bench,
                                         struct overlap_round *round,
                                         const struct bc_summary *reference,
                                         double seconds, bool *in_time)
{
    const bool root = bench->run->job.rank == 0;
    const bool robust = estimator_of(bench) == BC_MEDIAN;
    const double clock_ns = bench->run->clock.read_ns;
    const double reference_ns = fmax(0.0, reference->value - clock_ns);
    const double acceptance = bench->parameters->acceptance_pct / 100.0;
    const struct overlap_search_rules rules = {
        .acceptance = acceptance,
        .floor_ns = fmax(3.0 * clock_ns, acceptance * reference_ns / 4.0),
        .validation_steps = (int)bench->parameters->validation_steps,
        .predict = robust,
        .validate_halving = robust,
    };
    struct overlap_search search;
    overlap_search_begin(&search, &rules, reference_ns);
    const double deadline_s = bc_elapsed_s() + seconds;
    for (;;) {
        struct next_trial next = {0, 0};
        if (root) {
            const bool time_left =
                search.trials == 0 || bc_elapsed_s() < deadline_s;
            if (!search.done && !time_left)
                *in_time = false;
            next.goes_on = !search.done && time_left;
            next.units = bc_work_units(&bench->rate, search.next_ns);
        }
        BC_MPI(MPI_Bcast(&next, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD));
        if (!next.goes_on)
            return search;
        round->units = next.units;
        const double threshold_ns =
            VERDICT_SHARE * overlap_search_tolerance(&search, search.next_ns);
        const struct overlap_trial trial = try_work(
            bench, round, reference, threshold_ns, seconds * TRIAL_SHARE);
        if (root)
            overlap_search_report(&search, &trial);
    }
}

/* ---- the answer -------------------------------------------------------------------- */

/* The amount of work that the answer is about: the knee, or as the
   specification says the most that was seen to fit. */
static double answer_ns(const struct overlap_bench *bench,
                        const struct overlap_search *search)
{
    if (estimator_of(bench) == BC_MEAN || isnan(search->knee_ns))
        return search->fits_ns;
    return search->knee_ns;
}

static double percent_of(double part, double whole)
{
    return whole > 0.0 ? fmin(100.0, fmax(0.0, 100.0 * part / whole)) : NAN;
}

/*
 * The interval: from the most work that fitted, less what it may have been too
 * much, to the least that did not, both over the reference time at the end of
 * its own interval that is farther away; and never narrower than what one
 * reading of the clock is worth. It exists only where the trials had intervals.
 */
static void set_interval(const struct overlap_bench *bench,
                         const struct overlap_search *search,
                         struct overlap_result *result)
{
    const double clock_ns = bench->run->clock.read_ns;
    const struct bc_interval *const reference = &result->reference.interval;
    const double knee_ns = answer_ns(bench, search);
    const double lo_ns =
        fmin(search->fits_ns - search->fits_slack_ns, knee_ns);
    const double hi_ns = fmax(search->exceeds_ns, knee_ns);
    /* The value was measured after the bounds were found: where the operation
       itself drifted in between, the interval takes in both. */
    result->overlap_lo_pct = fmin(
        result->overlap_pct, percent_of(lo_ns - clock_ns, reference->hi));
    result->overlap_hi_pct = fmax(
        result->overlap_pct, percent_of(hi_ns + clock_ns, reference->lo));
    if (isnan(reference->lo) || isnan(result->overlap_pct)) {
        result->overlap_lo_pct = NAN;
        result->overlap_hi_pct = NAN;
    }
}

/* Takes off what the clock adds to each sample. */
static struct bc_summary without_clock(struct bc_summary summary,
                                       double clock_ns)
{
    summary.value = fmax(0.0, summary.value - clock_ns);
    summary.interval.lo -= clock_ns;
    summary.interval.hi -= clock_ns;
    summary.p99 -= clock_ns;
    summary.max -= clock_ns;
    return summary;
}

static void measure_answer(struct overlap_bench *bench,
                           struct overlap_round *round,
                           const struct overlap_search *search, double seconds,
                           struct overlap_result *result)
{
    round->units = agree_on_units(bench, answer_ns(bench, search));
    struct precision_rule rule =
        make_precision_rule(bench, OVERLAP_QUANTITIES);
    struct bc_plan plan = bc_run_plan(bench->run, seconds);
    plan.settled = precise_enough;
    plan.context = &rule;
    plan.warmup_rounds = 0;
    const struct bc_source source =
        overlap_round_source(round, bench->run->settings.check);
    if (run_rounds(bench, round, &source, &plan) != BC_END_SETTLED)
        result->in_time = false;
    if (bench->run->job.rank != 0)
        return;

    static const char *const names[] = {"reference", "total", "work"};
    const struct bc_samples *const samples = bc_sampler_samples(bench->sampler);
    const double clock_ns = bench->run->clock.read_ns;
    struct bc_summary *const summaries[] = {&result->reference, &result->total,
                                            &result->work};
    for (int q = 0; q < OVERLAP_QUANTITIES; q++) {
        *summaries[q] = without_clock(summarize(bench, samples, q), clock_ns);
        bc_run_dump(bench->run, names[q], samples->values[q], samples->count);
    }
    result->slowest_rank = bc_sampler_slowest_rank(bench->sampler);
}

void overlap_measure(struct overlap_bench *bench,
                     struct overlap_operation *operation, double seconds,
                     struct overlap_result *result)
{
    struct overlap_round round = {.operation = operation};
    *result = (struct overlap_result){.in_time = true};
    const bool root = bench->run->job.rank == 0;
    const double start_s = bc_elapsed_s();

    const struct bc_summary reference = measure_reference(
        bench, &round, seconds * REFERENCE_SHARE, &result->in_time);
    const struct overlap_search search =
        search_work(bench, &round, &reference, seconds * SEARCH_SHARE,
                    &result->in_time);
    const double left_s = seconds - (bc_elapsed_s() - start_s);
    measure_answer(bench, &round, &search,
                   fmax(left_s, seconds * (1.0 - REFERENCE_SHARE -
                                           SEARCH_SHARE) / 2.0),
                   result);
    if (!root)
        return;
    result->reference_sd_ns = result->reference.sd;
    if (estimator_of(bench) == BC_MEAN) {
        /* The specification measures the reference once, at the beginning. */
        result->reference = without_clock(reference, bench->run->clock.read_ns);
        result->reference_sd_ns = reference.sd;
    }
    result->overlap_pct =
        percent_of(result->work.value, result->reference.value);
    set_interval(bench, &search, result);
    if (bench->parameters->verbose)
        bc_output_remark(
            bench->run->output, "verbose",
            "%lld elements: phase 1: reference %.3f us, sd %.3f us; phases 3 "
            "and 4: %d trials, %.3f us fits, %.3f us does not, knee at %.3f "
            "us; answer from %zu rounds",
            (long long)operation->shape.elements,
            (reference.value - bench->run->clock.read_ns) * 1e-3,
            reference.sd * 1e-3, search.trials, search.fits_ns * 1e-3,
            search.exceeds_ns * 1e-3, search.knee_ns * 1e-3,
            result->reference.count);
}

double overlap_quick_reference_ns(struct overlap_bench *bench,
                                  struct overlap_operation *operation,
                                  double seconds)
{
    enum { ROUNDS = 5 };
    struct overlap_round round = {.operation = operation};
    const struct bc_source source = overlap_reference_source(&round, false);
    const struct bc_plan plan = {
        .min_rounds = ROUNDS,
        .max_rounds = ROUNDS,
        .deadline_s = bc_elapsed_s() + seconds,
        .least_rounds = 1,
        .warmup_rounds = 1,
    };
    bc_sampler_run(bench->sampler, &source, &plan);
    double reference_ns = 0.0;
    if (bench->run->job.rank == 0)
        reference_ns = summarize(bench, bc_sampler_samples(bench->sampler),
                                 OVERLAP_REFERENCE)
                           .value -
                       bench->run->clock.read_ns;
    BC_MPI(MPI_Bcast(&reference_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    return reference_ns;
}
