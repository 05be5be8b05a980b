#include "overlap/engine/measure.h"

#include "common/quiet.h"
#include "overlap/engine/search.h"
#include "overlap/engine/trial.h"

#include <math.h>

/* How a row's time is shared: the reference (phase 1), the search (phases 3
   and 4), the rest for measuring the answer. */
#define REFERENCE_SHARE 0.15
#define SEARCH_SHARE 0.65

/* One trial may take this share of the search's time: enough for the trials
   that a search needs when the work is hard to tell apart. */
#define TRIAL_SHARE (1.0 / 12.0)

/* A trial exceeds if it took longer by more than this share of the bracket
   that the search wants: with amounts tried half a bracket from the knee, half
   way between what fits and what doesn't. */
#define VERDICT_SHARE 0.25

/* A round takes about so many times as long as the operation: twice the work,
   the operation, and the operation with work. */
#define ROUND_OPERATIONS 5

/* The answer gets the time for so many rounds, if there is that much. */
#define ANSWER_ROUNDS 6

/* Below this, work is as precise as its clock. */
#define SHORT_WORK_NS 1000.0

/* ---- precision ---------------------------------------------------------------- */

static bool is_precise(const struct overlap_bench *bench,
                       const struct bc_summary *summary)
{
    const double half_width =
        (summary->interval.hi - summary->interval.lo) / 2.0;
    return half_width <= bench->run->settings.precision_pct / 100.0 *
                             fabs(summary->value);
}

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
        rule.stopping[q].precision =
            bench->run->settings.precision_pct / 100.0;
    return rule;
}

static bool precise_enough(const struct bc_samples *samples, void *context)
{
    struct precision_rule *const rule = context;
    bool enough = true;
    for (int q = 0; q < rule->quantities; q++) {
        const struct bc_summary summary =
            bc_run_summarize(rule->bench->run, samples, q);
        const bool counts =
            q != OVERLAP_WORK || summary.value > SHORT_WORK_NS;
        if (!bc_stopping_look(&rule->stopping[q], &summary) && counts)
            enough = false;
    }
    return enough;
}

/* A plan for a part of a row that ends when all quantities are precise. */
static struct bc_plan precise_plan(const struct overlap_bench *bench,
                                   struct precision_rule *rule, double seconds)
{
    struct bc_plan plan = bc_run_plan(bench->run, seconds);
    if (plan.min_rounds < plan.max_rounds) {
        plan.settled = precise_enough;
        plan.context = rule;
    }
    return plan;
}

/* ---- phase 1: the reference time ---------------------------------------------- */

/* Collective; the summary is on rank 0. */
static struct bc_summary measure_reference(struct overlap_bench *bench,
                                           struct overlap_round *round,
                                           double seconds)
{
    struct precision_rule rule = make_precision_rule(bench, 1);
    struct bc_plan plan = precise_plan(bench, &rule, seconds);
    const struct bc_source source =
        overlap_reference_source(round, bench->run->settings.check);
    const struct bc_samples *const samples =
        overlap_run_rounds(bench, round, &source, &plan);
    bc_run_dump(bench->run, "reference_phase", samples->values[0],
                samples->count);
    return bc_run_summarize(bench->run, samples, OVERLAP_REFERENCE);
}

/* ---- phases 2 to 4: the search ------------------------------------------------- */

static struct overlap_search_rules make_rules(const struct overlap_bench *bench,
                                              double reference_ns)
{
    const double acceptance = bench->parameters->acceptance_pct / 100.0;
    const bool robust = overlap_is_robust(bench);
    return (struct overlap_search_rules){
        .acceptance = acceptance,
        .floor_ns = fmax(3.0 * bench->run->max_clock.read_ns,
                         acceptance * reference_ns / 4.0),
        .validation_steps = (int)bench->parameters->validation_steps,
        .predict = robust,
        .validate_halving = robust,
    };
}

/* What rank 0 tells the others before each trial. */
struct next_trial {
    uint64_t units;
    uint64_t goes_on; /* 0: the search is over */
};

/* Finds the most work that fits; at least one amount is tried, however little
   time there is. Collective; the search is on rank 0. */
static struct overlap_search search_work(struct overlap_bench *bench,
                                         struct overlap_round *round,
                                         const struct bc_summary *reference,
                                         double seconds)
{
    const bool root = bench->run->job.rank == 0;
    const double reference_ns = overlap_not_negative(*reference).value;
    const struct overlap_search_rules rules = make_rules(bench, reference_ns);
    struct overlap_search search;
    overlap_search_begin(&search, &rules, reference_ns);
    const double deadline_s = bc_elapsed_s() + seconds;
    for (;;) {
        struct next_trial next = {0, 0};
        if (root) {
            next.goes_on = search.trials == 0 ||
                           (!search.done && bc_elapsed_s() < deadline_s);
            next.units = bc_work_units(&bench->rate, search.next_ns);
        }
        bc_quiet_bcast(&next, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (!next.goes_on)
            return search;
        round->units = next.units;
        const double threshold_ns =
            VERDICT_SHARE * overlap_search_tolerance(&search, search.next_ns);
        const struct overlap_trial trial = overlap_try(
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
    if (!overlap_is_robust(bench) || isnan(search->knee_ns))
        return search->fits_ns;
    return fmin(search->knee_ns, search->exceeds_ns);
}

static double percent_of(double part, double whole)
{
    if (!(whole > 0.0))
        return part > 0.0 ? 100.0 : 0.0;
    return fmin(100.0, fmax(0.0, 100.0 * part / whole));
}

/* What the rounds at the answer say of its work; of no work they say nothing. */
struct verdict {
    bool judged;     /* all that follows means something */
    bool too_long;   /* the operation took longer with it than the search allows */
    bool by_chance;  /* ... but in so few rounds, or so irregularly, that it may be chance */
    bool retry;      /* less work should be tried: it is no chance, or the rounds are too few
                        to tell */
    double fits_ns;  /* the work that should have fitted: less by the excess */
    double least_ns; /* ... by the most that the excess may be */
};

/*
 * The interval: from the most work that fitted, less what it may have been too
 * much, to the least that did not, both over the reference time at the end of
 * its own interval that is farther away; and never narrower than what one
 * reading of the clock is worth. Where the operation took too long with the
 * answer's work, or the answer is less than the most work that fitted, it
 * reaches down to what the answer's own rounds leave. It exists only where both
 * trials and the reference have intervals.
 */
static void set_interval(const struct overlap_bench *bench,
                         const struct overlap_search *search,
                         const struct verdict *verdict,
                         struct overlap_result *result)
{
    const double clock_ns = bench->run->max_clock.read_ns;
    const struct bc_interval *const reference = &result->reference.interval;
    const double knee_ns = answer_ns(bench, search);
    double lo_ns = fmin(search->fits_ns - search->fits_slack_ns, knee_ns);
    if (verdict->judged && (verdict->too_long || result->work.value < lo_ns))
        lo_ns = fmin(lo_ns, verdict->least_ns);
    const double hi_ns = fmax(search->exceeds_ns, knee_ns);
    if (isnan(search->fits_slack_ns) || !search->exceeds_is_sure ||
        isnan(reference->lo)) {
        result->overlap_lo_pct = NAN;
        result->overlap_hi_pct = NAN;
        return;
    }
    /* The value was measured after the bounds were found: where the operation
       itself drifted in between, the interval takes in both. */
    result->overlap_lo_pct = fmin(
        result->overlap_pct, percent_of(lo_ns - clock_ns, reference->hi));
    result->overlap_hi_pct = fmax(
        result->overlap_pct, percent_of(hi_ns + clock_ns, reference->lo));
}

/* With no time left for rounds of its own the answer comes from those of the
   only trial: the reference time, and where the knee must then be. */
static void take_answer_from_trial(struct overlap_bench *bench,
                                   const struct overlap_search *search,
                                   struct overlap_result *result)
{
    if (bench->run->job.rank != 0)
        return;
    const struct bc_samples *const samples = bc_sampler_samples(bench->sampler);
    const struct bc_summary none = {samples->count, NAN, NAN, {NAN, NAN},
                                    NAN,            NAN};
    result->reference = overlap_not_negative(
        bc_run_summarize(bench->run, samples, OVERLAP_REFERENCE));
    result->total = result->work = none;
    result->work.value = answer_ns(bench, search);
    result->slowest_rank = bc_sampler_slowest_rank(bench->sampler);
}

static void take_answer(struct overlap_bench *bench,
                        const struct bc_samples *samples,
                        struct overlap_result *result)
{
    struct bc_summary *const summaries[] = {
        [OVERLAP_REFERENCE] = &result->reference,
        [OVERLAP_TOTAL] = &result->total,
        [OVERLAP_WORK] = &result->work,
    };
    for (int q = 0; q < OVERLAP_QUANTITIES; q++)
        *summaries[q] = overlap_not_negative(
            bc_run_summarize(bench->run, samples, q));
    result->slowest_rank = bc_sampler_slowest_rank(bench->sampler);
}

static struct verdict judge_answer(const struct overlap_bench *bench,
                                   const struct overlap_search *search,
                                   const struct bc_samples *samples,
                                   double work_ns)
{
    const struct bc_summary excess = overlap_summarize_excess(
        samples, bench->run->settings.confidence_pct / 100.0);
    const bool too_long =
        excess.value > overlap_search_tolerance(search, work_ns);
    const bool unknown = isnan(excess.interval.lo);
    return (struct verdict){
        .judged = true,
        .too_long = too_long,
        .by_chance = unknown || excess.interval.lo <= 0.0,
        .retry = too_long && (unknown || excess.interval.lo > 0.0),
        .fits_ns = fmax(0.0, work_ns - excess.value),
        .least_ns = work_ns - fmax(excess.value, excess.interval.hi),
    };
}

/* No row is about work that was seen not to fit, but about what should have
   fitted instead, with which nothing was measured. */
static void report_less(const struct verdict *verdict,
                        struct overlap_result *result)
{
    const size_t rounds = result->work.count;
    result->work = result->total = (struct bc_summary){
        rounds, NAN, NAN, {NAN, NAN}, NAN, NAN}; /* not measured */
    result->work.value = verdict->fits_ns;
}

static void dump_answer(const struct overlap_bench *bench,
                        const struct bc_samples *samples)
{
    static const char *const names[] = {
        [OVERLAP_REFERENCE] = "reference",
        [OVERLAP_TOTAL] = "total",
        [OVERLAP_WORK] = "work",
    };
    for (int q = 0; q < OVERLAP_QUANTITIES; q++)
        bc_run_dump(bench->run, names[q], samples->values[q], samples->count);
}

/* Measures at the answer. Where the machine has changed since the search, and
   the work no longer fits, less of it is measured, as often as there is time.
   Collective; the verdict on the amount measured last is on rank 0. */
static struct verdict measure_answer(struct overlap_bench *bench,
                                     struct overlap_round *round,
                                     const struct overlap_search *search,
                                     double seconds,
                                     struct overlap_result *result)
{
    enum { ATTEMPTS = 4 };
    const bool root = bench->run->job.rank == 0;
    const struct bc_source source =
        overlap_round_source(round, bench->run->settings.check);
    const double start_s = bc_elapsed_s();
    double work_ns = answer_ns(bench, search);
    struct verdict verdict = {0};
    for (int attempt = 1;; attempt++) {
        uint64_t order[2] = {bc_work_units(&bench->rate, work_ns), 0};
        bc_quiet_bcast(order, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        round->units = order[0];
        const double left_s = seconds - (bc_elapsed_s() - start_s);
        struct precision_rule rule =
            make_precision_rule(bench, OVERLAP_QUANTITIES);
        struct bc_plan plan = precise_plan(bench, &rule, fmax(0.0, left_s));
        plan.warmup_rounds = 0;
        const struct bc_samples *const samples =
            overlap_run_rounds(bench, round, &source, &plan);
        if (root) {
            take_answer(bench, samples, result);
            verdict = (struct verdict){0}; /* of these rounds alone */
            if (overlap_is_robust(bench) && order[0] > 0)
                verdict = judge_answer(bench, search, samples,
                                       result->work.value);
            order[1] = verdict.retry && attempt < ATTEMPTS &&
                       bc_elapsed_s() - start_s < seconds;
            work_ns = verdict.fits_ns;
        }
        bc_quiet_bcast(order, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (!order[1]) {
            if (root)
                dump_answer(bench, samples);
            return verdict;
        }
    }
}

/* True if the overlap's interval is as narrow as the precision asks, in points,
   or as the clock allows. */
static bool is_narrow(const struct overlap_bench *bench,
                      const struct overlap_search *search,
                      const struct overlap_result *result)
{
    const double half_width =
        (result->overlap_hi_pct - result->overlap_lo_pct) / 2.0;
    const double clock_limit = percent_of(
        2.0 * search->rules.floor_ns, result->reference.value);
    return half_width <=
           fmax(bench->run->settings.precision_pct, clock_limit);
}

/* True if the row is what was asked for: a number of samples, whatever the time,
   or the search's end and the precision. */
static bool is_complete(const struct overlap_bench *bench,
                        const struct overlap_search *search,
                        const struct overlap_result *result,
                        double row_seconds)
{
    if (bench->run->settings.samples > 0 && isinf(row_seconds))
        return !isnan(result->total.value);
    return search->converged &&
           (is_narrow(bench, search, result) || !overlap_is_robust(bench)) &&
           is_precise(bench, &result->reference) &&
           is_precise(bench, &result->total) &&
           (result->work.value < SHORT_WORK_NS ||
            is_precise(bench, &result->work));
}

static void tell_phases(const struct overlap_bench *bench, int64_t elements,
                        const struct bc_summary *reference,
                        const struct overlap_search *search)
{
    if (bench->parameters->verbose)
        bc_output_remark(
            bench->run->output, "verbose",
            "%lld elements: phase 1: reference %.3f us, sd %.3f us; phases 3 "
            "and 4: %d trials, %.3f us fits, %.3f us does not, knee at %.3f us",
            (long long)elements,
            overlap_not_negative(*reference).value * 1e-3,
            reference->sd * 1e-3, search->trials, search->fits_ns * 1e-3,
            search->exceeds_ns * 1e-3, search->knee_ns * 1e-3);
}

/* About how long a round takes if the operation takes as long as this. */
static double round_seconds(const struct bc_summary *reference)
{
    return ROUND_OPERATIONS * overlap_not_negative(*reference).value * 1e-9;
}

void overlap_measure(struct overlap_bench *bench,
                     struct overlap_operation *operation, double seconds,
                     struct overlap_result *result)
{
    struct overlap_round round = {.operation = operation,
                                  .window = bench->run->window};
    *result = (struct overlap_result){0};
    const double start_s = bc_elapsed_s();

    const struct bc_summary reference =
        measure_reference(bench, &round, seconds * REFERENCE_SHARE);
    const double after_reference_s = seconds - (bc_elapsed_s() - start_s);
    const double search_s =
        fmin(seconds * SEARCH_SHARE,
             after_reference_s -
                 ANSWER_ROUNDS * round_seconds(&reference));
    const struct overlap_search search =
        search_work(bench, &round, &reference, fmax(0.0, search_s));
    const double left_s = seconds - (bc_elapsed_s() - start_s);
    int rushed = overlap_is_robust(bench) && search.trials == 1 &&
                 left_s < round_seconds(&reference);
    bc_quiet_bcast(&rushed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    struct verdict verdict = {0};
    if (rushed)
        take_answer_from_trial(bench, &search, result);
    else
        verdict = measure_answer(bench, &round, &search, fmax(0.0, left_s),
                                 result);
    if (bench->run->job.rank != 0)
        return;
    if (verdict.too_long && !verdict.by_chance)
        report_less(&verdict, result);

    result->reference_sd_ns = result->reference.sd;
    if (!overlap_is_robust(bench)) {
        /* The specification measures the reference once, at the beginning. */
        result->reference = overlap_not_negative(reference);
        result->reference_sd_ns = reference.sd;
    }
    /* Times of one operation each don't tell a share. */
    result->overlap_pct =
        result->reference.count < 2
            ? NAN
            : percent_of(result->work.value, result->reference.value);
    set_interval(bench, &search, &verdict, result);
    result->in_time = is_complete(bench, &search, result, seconds);
    tell_phases(bench, operation->shape.elements, &reference, &search);
}

double overlap_quick_reference_ns(struct overlap_bench *bench,
                                  struct overlap_operation *operation,
                                  double seconds)
{
    enum { ROUNDS = 5 };
    struct overlap_round round = {.operation = operation,
                                  .window = bench->run->window};
    const struct bc_source source = overlap_reference_source(&round, false);
    const struct bc_plan plan = {
        .min_rounds = ROUNDS,
        .max_rounds = ROUNDS,
        .deadline_s = bc_elapsed_s() + seconds,
        .least_rounds = 1,
        .warmup_rounds = 1,
        .retakes = ROUNDS,
    };
    const struct bc_samples *const samples =
        overlap_run_rounds(bench, &round, &source, &plan);
    double reference_ns = 0.0;
    if (bench->run->job.rank == 0)
        reference_ns =
            overlap_not_negative(
                bc_run_summarize(bench->run, samples, OVERLAP_REFERENCE))
                .value;
    bc_quiet_bcast(&reference_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return reference_ns;
}
