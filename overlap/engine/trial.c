#include "overlap/engine/trial.h"

#include <math.h>

/* A trial's verdict must be right more often than a reported interval, since
   many trials make one result. */
#define TRIAL_CONFIDENCE 0.99
#define TRIAL_MIN_ROUNDS 10

/* ... but when the time is up before that, the balance of evidence decides: a
   few outliers among a few rounds say nothing about the rest. */
#define BALANCE_CONFIDENCE 0.80

/* The work's rate is corrected from at least so many rounds, and in steps of at
   most this share: one late round must not change it. */
#define CORRECTION_ROUNDS 5
#define CORRECTION_MAX 0.1

/* ---- the robust verdict ---------------------------------------------------------------------- */

struct verdict_rule {
    double threshold_ns; /* a longer excess doesn't fit */
};

static bool verdict_is_clear(const struct bc_samples *samples, void *context)
{
    const struct verdict_rule *const rule = context;
    const struct bc_summary excess = overlap_summarize_excess(samples, TRIAL_CONFIDENCE);
    return excess.interval.lo > rule->threshold_ns || excess.interval.hi < rule->threshold_ns;
}

/* Where the samples can't tell, work counts as fitting unless the operation
   took longer by the balance of evidence. It may then be too much work: the
   trial's interval says by how much. */
static bool fits_robustly(const struct bc_samples *samples, double threshold_ns)
{
    const struct bc_summary excess = overlap_summarize_excess(samples, BALANCE_CONFIDENCE);
    if (isnan(excess.interval.lo))
        return excess.value <= threshold_ns;
    return !(excess.interval.lo > 0.0 && excess.value > threshold_ns);
}

/* The work's own time as it was just measured corrects the rate for the next
   amount: the processor's clock rate may have changed. */
static void correct_rate(struct overlap_bench *bench, uint64_t units, const struct bc_summary *work)
{
    const double expected_ns = bc_work_ns(&bench->rate, units);
    if (work->count < CORRECTION_ROUNDS || expected_ns < 1000.0)
        return;
    const double correction = work->value / expected_ns;
    bench->rate.ns_per_unit *= fmax(1.0 - CORRECTION_MAX, fmin(1.0 + CORRECTION_MAX, correction));
}

static void tell(const struct overlap_bench *bench, uint64_t units, double total_ns, size_t rounds,
                 const struct overlap_trial *trial)
{
    if (bench->parameters->debug)
        bc_output_remark(bench->run->output, "debug",
                         "trial: %llu units, work %.3f us, total %.3f us, "
                         "excess %.3f (%.3f to %.3f) us, %zu rounds: %s",
                         (unsigned long long)units, trial->work_ns * 1e-3, total_ns * 1e-3,
                         trial->excess_ns * 1e-3, trial->excess_lo_ns * 1e-3,
                         trial->excess_hi_ns * 1e-3, rounds, trial->fits ? "fits" : "does not fit");
}

static struct overlap_trial try_robustly(struct overlap_bench *bench, struct overlap_round *round,
                                         double threshold_ns, struct bc_plan *plan)
{
    struct verdict_rule rule = {.threshold_ns = threshold_ns};
    if (plan->min_rounds < plan->max_rounds) {
        if (plan->min_rounds > TRIAL_MIN_ROUNDS)
            plan->min_rounds = TRIAL_MIN_ROUNDS;
        plan->settled = verdict_is_clear;
        /* The caller has no use for its plan after this. */
        /* cppcheck-suppress autoVariables */
        plan->context = &rule;
    }
    const struct bc_source source = overlap_round_source(round, bench->run->settings.check);
    const struct bc_samples *const samples = overlap_run_rounds(bench, round, &source, plan);

    const struct bc_summary work = bc_run_summarize(bench->run, samples, OVERLAP_WORK);
    const struct bc_summary excess = overlap_summarize_excess(samples, TRIAL_CONFIDENCE);
    struct overlap_trial trial = {
        .work_ns = overlap_not_negative(work).value,
        .fits = fits_robustly(samples, threshold_ns),
        .excess_ns = excess.value,
        .excess_lo_ns = excess.interval.lo,
        .excess_hi_ns = excess.interval.hi,
    };
    /* Work that takes longer than the operation can't fit under it. */
    if (work.value > bc_run_summarize(bench->run, samples, OVERLAP_REFERENCE).value + threshold_ns)
        trial.fits = false;
    correct_rate(bench, round->units, &work);
    tell(bench, round->units,
         overlap_not_negative(bc_run_summarize(bench->run, samples, OVERLAP_TOTAL)).value,
         samples->count, &trial);
    return trial;
}

/* ---- the specification's verdict ------------------------------------------------------------- */

/* The mean with work must not exceed the reference's mean plus its standard
   deviation. Like the reference, the operation is repeated with nothing in
   between; the work's own time is what its calibration says. */
static struct overlap_trial try_by_mean(struct overlap_bench *bench, struct overlap_round *round,
                                        const struct bc_summary *reference, struct bc_plan *plan)
{
    plan->max_rounds = plan->min_rounds;
    const struct bc_source source = overlap_total_source(round, bench->run->settings.check);
    const struct bc_samples *const samples = overlap_run_rounds(bench, round, &source, plan);
    const struct bc_summary total = bc_run_summarize(bench->run, samples, 0);
    const double sd = isnan(reference->sd) ? 0.0 : reference->sd;
    const struct overlap_trial trial = {
        .work_ns = bc_work_ns(&bench->rate, round->units),
        .fits = total.value <= reference->value + sd,
        .excess_ns = total.value - reference->value,
        .excess_lo_ns = total.interval.lo - reference->value,
        .excess_hi_ns = total.interval.hi - reference->value,
    };
    tell(bench, round->units, overlap_not_negative(total).value, samples->count, &trial);
    return trial;
}

struct overlap_trial overlap_try(struct overlap_bench *bench, struct overlap_round *round,
                                 const struct bc_summary *reference, double threshold_ns,
                                 double seconds)
{
    struct bc_plan plan = bc_run_plan(bench->run, seconds);
    plan.warmup_rounds = 0;
    plan.grace_s = 0.0;
    return overlap_is_robust(bench) ? try_robustly(bench, round, threshold_ns, &plan)
                                    : try_by_mean(bench, round, reference, &plan);
}
