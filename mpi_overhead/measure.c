#include "mpi_overhead/measure.h"

#include "common/mpi/harness.h"
#include "common/stats/precision.h"
#include "mpi_overhead/knee.h"
#include "mpi_overhead/round.h"

#include <math.h>

/* An adaptive run times loops of about this length: long against the clock and against what
   starts and ends a loop. */
#define LOOP_NS 20000.0
#define LOOP_ITERATIONS_MAX 1000

/* Max rounds for each amount of work on the way to the knee. There are fewer where about
   POINTS_EXPECTED amounts would take too long. */
#define POINT_ROUNDS_MAX 7
#define POINTS_EXPECTED 8

/* The smallest work that is tried takes this share of the transfer; less would only show the
   plateau again. */
#define FIRST_WORK_SHARE (1.0 / 32)

/* How a row's time is shared between finding the knee and measuring there. */
#define POINTS_SHARE 0.4

/* With -b RATIO the search ends without a knee once the work alone takes this many times the time
   at which a knee was due: --thresh times the shortest iteration. base_t has then risen with the
   work, which happens where --bthresh is large. */
#define BEYOND_KNEE_MAX 32.0

/* The overhead need not be known better than this: the clock can't tell. */
#define OVERHEAD_RESOLUTION_NS 5.0

/* ---- common to both ways --------------------------------------------------------------------- */

static const struct overhead_value none = {NAN, NAN, NAN};

static struct overhead_value as_value(const struct bc_summary *summary)
{
    return (struct overhead_value){summary->value, summary->interval.lo, summary->interval.hi};
}

/* Tells all ranks what rank 0 wants of the next loops: units of work, and iterations a loop, 0 of
   which end the search. Returns whether there are next loops. Collective. */
static bool agree_on_round(struct overhead_round *round)
{
    uint64_t order[2] = {round->units, (uint64_t)round->iterations};
    bc_harness_bcast(order, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    round->units = order[0];
    round->iterations = (int64_t)order[1];
    return round->iterations > 0;
}

/* With --verbose, writes a line of the table of times for each amount of work, which is the
   specification's figure 1. The same loops run with and without --verbose, and lines are written
   between loops only. */
static void say_point(const struct overhead_bench *bench, uint64_t units,
                      const struct knee_point *point, double base_ns)
{
    if (bench->parameters.verbose)
        bc_output_remark(bench->run->output, "verbose", "%-12llu %-12.3f %-12.3f %.3f",
                         (unsigned long long)units, point->iter_ns * 1e-3, point->work_ns * 1e-3,
                         base_ns * 1e-3);
}

/* With --verbose, writes the line before the table, and the table's head. `iterations` are those
   of a loop; 0: as many as take LOOP_NS. */
static void say_table_head(const struct overhead_bench *bench, int64_t iterations)
{
    if (!bench->parameters.verbose)
        return;
    struct bc_output *const output = bench->run->output;
    if (bench->parameters.base_threshold > 0.0)
        bc_output_remark(output, "verbose", "Using %lld iterations per work value",
                         (long long)iterations);
    else if (iterations > 0)
        bc_output_remark(output, "verbose",
                         "Using %lld iterations per work value, in each of up to "
                         "%d loops",
                         (long long)iterations, POINT_ROUNDS_MAX);
    else
        bc_output_remark(output, "verbose",
                         "Using as many iterations per work value as take %g uS, "
                         "in each of up to %d loops",
                         LOOP_NS * 1e-3, POINT_ROUNDS_MAX);
    bc_output_remark(output, "verbose", "%-12s %-12s %-12s %s", "work", "iter_t", "work_t",
                     "base_t");
}

static void set_availability(struct overhead_result *result,
                             const struct overhead_value *transfer_ns)
{
    const struct overhead_value *const o = &result->overhead_ns;
    const struct overhead_value *const t = transfer_ns;
    result->available_base_pct =
        result->base_ns > 0.0 ? 100.0 * (1.0 - o->value / result->base_ns) : NAN;
    result->available_pct = none;
    /* A share of a transfer whose time is 0, or may be, says nothing. */
    if (t->value <= 0.0)
        return;
    result->available_pct.value = 100.0 * (1.0 - o->value / t->value);
    if (t->lo <= 0.0)
        return;
    result->available_pct.lo = 100.0 * (1.0 - o->hi / t->lo);
    result->available_pct.hi = 100.0 * (1.0 - o->lo / t->hi);
}

/* ---- iterations ------------------------------------------------------------------------------ */

static int64_t specified_iterations(const struct overhead_bench *bench)
{
    const int64_t bytes = bench->exchange.bytes;
    if (bench->parameters.iterations > 0)
        return bench->parameters.iterations;
    if (bytes >= INT64_C(8) << 20)
        return 10;
    return bytes >= INT64_C(64) << 10 ? 100 : 1000;
}

/* The iterations of all loops together; 0: as many as the precision needs, or as --samples says. */
static int64_t fixed_iterations(const struct overhead_bench *bench)
{
    const struct bc_settings *const settings = &bench->run->settings;
    const bool fixed = settings->samples == 0 &&
                       (bench->parameters.iterations > 0 || settings->estimator == BC_MEAN);
    return fixed ? specified_iterations(bench) : 0;
}

/* ---- -b auto --------------------------------------------------------------------------------- */

/* In --dump-samples. */
static const char *const quantity_names[OVERHEAD_QUANTITIES] = {"base", "empty", "iter", "work"};

/* The points on the way to the knee and beyond, on rank 0. */
struct points {
    struct knee_point points[KNEE_POINTS_MAX];
    uint64_t units[KNEE_POINTS_MAX];
    size_t count;
};

/* The iterations of a loop: as many as take about LOOP_NS, or a fixed number over LOOPS. */
static int64_t iterations_for(const struct overhead_bench *bench, double iteration_ns)
{
    enum { LOOPS = 25 }; /* the specified numbers are multiples of it */
    const int64_t fixed = fixed_iterations(bench);
    if (fixed > 0)
        return fixed < LOOPS ? 1 : fixed / LOOPS;
    const double iterations = LOOP_NS / fmax(iteration_ns, 1.0);
    if (iterations > LOOP_ITERATIONS_MAX)
        return LOOP_ITERATIONS_MAX;
    return iterations < 1.0 ? 1 : (int64_t)iterations;
}

/* Measures one point. `rounds` is significant on rank 0, which gets the point. Collective. */
static struct knee_point take_point(const struct overhead_bench *bench,
                                    struct overhead_round *round, int rounds, double deadline_s)
{
    const struct bc_source source = overhead_work_source(round);
    const struct bc_plan plan = {
        .min_rounds = rounds,
        .max_rounds = rounds,
        .deadline_s = deadline_s,
        .grace_rounds = 1,
        .warmup_rounds = 1,
    };
    bc_sampler_run(bench->run->sampler, &source, &plan);
    const struct bc_samples *const samples = bc_sampler_samples(bench->run->sampler);
    return (struct knee_point){
        .work_ns = bc_run_summarize(bench->run, samples, 1).value,
        .iter_ns = bc_run_summarize(bench->run, samples, 0).value,
    };
}

/* The rounds of a point whose loops take `loop_ns`, if all points may take `seconds`. */
static int rounds_for(double loop_ns, double seconds)
{
    const double rounds = seconds * 1e9 / (POINTS_EXPECTED * 2.0 * loop_ns);
    if (rounds >= POINT_ROUNDS_MAX)
        return POINT_ROUNDS_MAX;
    return rounds < 1.0 ? 1 : (int)rounds;
}

/* The next amount of work: none at first, then a small share of `base_ns`, then twice the last
   one. */
static uint64_t more_units(const struct overhead_bench *bench, uint64_t units, double base_ns)
{
    if (units > 0)
        return 2 * units;
    const uint64_t first = bc_work_units(&bench->rate, FIRST_WORK_SHARE * base_ns);
    return first > 0 ? first : 1;
}

/* Raises the work until an iteration takes --thresh times as long as without work, and returns on
   all ranks whether the work got that far. The points are on rank 0. Collective. */
static bool find_points(const struct overhead_bench *bench, struct overhead_round *round,
                        double seconds, struct points *points)
{
    const bool root = bench->run->job.rank == 0;
    const double deadline_s = bc_elapsed_s() + seconds;
    *points = (struct points){.count = 0};
    say_table_head(bench, fixed_iterations(bench) > 0 ? iterations_for(bench, 0.0) : 0);
    round->units = 0;
    round->iterations = 1;
    double iteration_ns = take_point(bench, round, 1, deadline_s).iter_ns;
    round->iterations = root ? iterations_for(bench, iteration_ns) : 1;
    bool beyond = false;
    while (agree_on_round(round)) {
        /* Times are known on rank 0 only. */
        const int rounds = root ? rounds_for(iteration_ns * (double)round->iterations, seconds) : 1;
        const struct knee_point point = take_point(bench, round, rounds, deadline_s);
        if (!root)
            continue;
        points->points[points->count] = point;
        points->units[points->count++] = round->units;
        const double base_ns = points->points[0].iter_ns;
        iteration_ns = point.iter_ns;
        say_point(bench, round->units, &point, base_ns);
        beyond = iteration_ns > bench->parameters.threshold * base_ns && points->count > 1;
        const bool ends =
            beyond || points->count == KNEE_POINTS_MAX || bc_elapsed_s() >= deadline_s;
        round->units = more_units(bench, round->units, base_ns);
        round->iterations = ends ? 0 : iterations_for(bench, iteration_ns);
    }
    int found = beyond;
    bc_harness_bcast(&found, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return found;
}

/* What has to be precise: overhead and transfer. */
static const struct bc_precise_value precise_values[] = {
    {.quantity = OVERHEAD_ITER,
     .subtrahend = OVERHEAD_WORK,
     .resolution_ns = OVERHEAD_RESOLUTION_NS},
    {.quantity = OVERHEAD_BASE, .subtrahend = OVERHEAD_EMPTY},
};

/* Measures without work and beyond the knee, in turn. Collective. */
static enum bc_end measure_ends(const struct overhead_bench *bench, struct overhead_round *round,
                                double seconds)
{
    struct bc_precision rule;
    struct bc_plan plan = bc_run_plan(bench->run, seconds);
    const int64_t fixed = fixed_iterations(bench);
    if (fixed > 0)
        plan.min_rounds = plan.max_rounds = (fixed + round->iterations - 1) / round->iterations;
    bc_plan_until_precise(&plan, &rule, bench->run, precise_values, 2);
    const struct bc_source source = overhead_full_source(round);
    return bc_sampler_run(bench->run->sampler, &source, &plan);
}

static void measure_by_fit(struct overhead_bench *bench, double seconds,
                           struct overhead_result *result)
{
    const bool root = bench->run->job.rank == 0;
    struct overhead_round round = {.exchange = &bench->exchange};
    struct points points;
    const double start_s = bc_elapsed_s();
    result->knee = find_points(bench, &round, seconds * POINTS_SHARE, &points);
    struct knee_fit fit = {.found = false};
    if (root) {
        const size_t last = points.count - 1;
        fit = knee_fit(points.points, points.count, 0.02 * points.points[0].iter_ns);
        round.units = points.units[last];
        round.iterations = iterations_for(bench, points.points[last].iter_ns);
    }
    agree_on_round(&round);
    const double left_s = seconds - (bc_elapsed_s() - start_s);
    result->in_time = measure_ends(bench, &round, fmax(left_s, 0.0)) == BC_END_SETTLED;
    if (!root)
        return;

    const struct bc_run *const run = bench->run;
    const struct bc_samples *const samples = bc_sampler_samples(bench->run->sampler);
    result->samples = (int64_t)samples->count;
    result->iterations = result->samples * round.iterations;
    for (int i = 0; i < OVERHEAD_QUANTITIES; i++)
        bc_run_dump(run, quantity_names[i], samples->values[i], samples->count);
    result->base_ns = bc_run_summarize(run, samples, OVERHEAD_BASE).value;
    result->iter_ns = bc_run_summarize(run, samples, OVERHEAD_ITER).value;
    result->work_ns = bc_run_summarize(run, samples, OVERHEAD_WORK).value;
    const struct bc_summary transfer =
        bc_run_summarize_difference(run, samples, OVERHEAD_BASE, OVERHEAD_EMPTY);
    const struct bc_summary overhead =
        bc_run_summarize_difference(run, samples, OVERHEAD_ITER, OVERHEAD_WORK);
    result->transfer_ns = as_value(&transfer);
    /* A disturbance may have passed for the knee. */
    if (result->iter_ns < sqrt(bench->parameters.threshold) * result->base_ns)
        result->knee = false;
    result->overhead_ns = result->knee ? as_value(&overhead) : none;
    set_availability(result, &result->transfer_ns);
    if (bench->parameters.verbose && fit.found)
        bc_output_remark(run->output, "verbose",
                         "fit: plateau %.3f us over %zu points, overhead %.3f "
                         "us over %zu points",
                         fit.plateau_ns * 1e-3, fit.plateau, fit.overhead_ns * 1e-3,
                         points.count - fit.line);
}

/* ---- -b RATIO: the specification to the letter ----------------------------------------------- */

/* Runs one loop for each amount of work; base_t is the running average of iter_t until iter_t
   exceeds the base threshold. */
static void measure_by_threshold(struct overhead_bench *bench, double seconds,
                                 struct overhead_result *result)
{
    const bool root = bench->run->job.rank == 0;
    const double deadline_s = bc_elapsed_s() + seconds;
    struct overhead_round round = {
        .exchange = &bench->exchange,
        .units = 1,
        .iterations = specified_iterations(bench),
    };
    const struct bc_source source = overhead_work_source(&round);
    const struct bc_plan plan = {
        .min_rounds = 1,
        .max_rounds = 1,
        .deadline_s = INFINITY,
        .grace_rounds = 1,
    };
    double base_sum_ns = 0.0, shortest_ns = INFINITY;
    int base_count = 0;
    bool on_plateau = true;
    result->in_time = true;
    result->iterations = round.iterations;
    say_table_head(bench, round.iterations);
    while (agree_on_round(&round)) {
        bc_sampler_run(bench->run->sampler, &source, &plan);
        if (!root)
            continue;
        const struct bc_samples *const samples = bc_sampler_samples(bench->run->sampler);
        result->iter_ns = samples->values[0][0];
        result->work_ns = samples->values[1][0];
        if (base_count > 0 && result->iter_ns > bench->parameters.base_threshold * result->base_ns)
            on_plateau = false;
        if (on_plateau) {
            base_sum_ns += result->iter_ns;
            result->base_ns = base_sum_ns / ++base_count;
        }
        const struct knee_point point = {.work_ns = result->work_ns, .iter_ns = result->iter_ns};
        say_point(bench, round.units, &point, result->base_ns);
        const double threshold = bench->parameters.threshold;
        shortest_ns = fmin(shortest_ns, result->iter_ns);
        result->knee = result->iter_ns > threshold * result->base_ns;
        result->in_time = result->knee || bc_elapsed_s() < deadline_s;
        round.units *= 2; /* 1, 2, 4 ..., as specified */
        if (result->knee || !result->in_time ||
            result->work_ns > BEYOND_KNEE_MAX * threshold * shortest_ns)
            round.iterations = 0;
    }
    bc_run_dump(bench->run, "iter", &result->iter_ns, 1);
    bc_run_dump(bench->run, "work", &result->work_ns, 1);
    result->samples = 1;
    result->transfer_ns = result->overhead_ns = none;
    if (result->knee)
        result->overhead_ns.value = result->iter_ns - result->work_ns;
    const struct overhead_value base = {result->base_ns, NAN, NAN};
    set_availability(result, &base);
}

void overhead_measure(struct overhead_bench *bench, double seconds, struct overhead_result *result)
{
    const bool specified = bench->parameters.base_threshold > 0.0;
    bench->exchange.token = !specified;
    if (specified)
        measure_by_threshold(bench, seconds, result);
    else
        measure_by_fit(bench, seconds, result);
}
