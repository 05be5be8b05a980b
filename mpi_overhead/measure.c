#include "mpi_overhead/measure.h"

#include "common/mpi/harness.h"

#include <math.h>

/* The length of an adaptive run's loops: long against the clock and a loop's start and end. */
#define LOOP_NS 20000.0
#define LOOP_ITERATIONS_MAX 1000

/* Max rounds for each amount of work on the way to the knee. There are fewer where about
   POINTS_EXPECTED amounts would take too long. */
#define POINT_ROUNDS_MAX 7
#define POINTS_EXPECTED 8

/* The smallest work that is tried, as a share of the transfer; less shows the plateau again. */
#define FIRST_WORK_SHARE (1.0 / 32)

/* Work that proves to be too little is doubled, at most MORE_WORK_MAX times, each time after
   PROBE_ROUNDS rounds. */
#define MORE_WORK_MAX 8
#define PROBE_ROUNDS 5

/* How a row's time is shared between finding the knee and measuring there. */
#define POINTS_SHARE 0.4

/* With -b RATIO the search ends without a knee once the work alone takes this many times --thresh
   times the shortest iteration: base_t rose with the work, as it does where --bthresh is large. */
#define BEYOND_KNEE_MAX 32.0

/* The overhead need not be known better than this: the clock resolves no less. */
#define OVERHEAD_RESOLUTION_NS 5.0

/* ---- common to both ways --------------------------------------------------------------------- */

/* Gives all ranks rank 0's units and iterations of the next loops. 0 iterations end the search;
   returns false then. Collective. */
static bool agree_on_round(struct overhead_exchange *x)
{
    uint64_t order[2] = {x->units, (uint64_t)x->iterations};
    bc_harness_bcast(order, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    x->units = order[0];
    x->iterations = (int64_t)order[1];
    return x->iterations > 0;
}

/* Measures one point, in `rounds` rounds after `warmup_rounds` that don't count. The numbers are
   significant on rank 0, which gets the point. Collective. */
static struct knee_point take_point(struct mpi_overhead *bench, int rounds, int warmup_rounds,
                                    double deadline_s)
{
    const struct bc_source source = {
        .quantities = 2, .take = overhead_take_work, .context = &bench->exchange};
    const struct bc_plan plan = {
        .min_rounds = rounds,
        .max_rounds = rounds,
        .deadline_s = deadline_s,
        .grace_rounds = 1,
        .warmup_rounds = warmup_rounds,
    };
    struct bc_samples samples = {.count = 0};
    bc_take_rounds(&source, &plan, &samples);
    const struct knee_point point = {
        .work_ns = bc_run_summarize(bench->run, &samples, 1, -1).value,
        .iter_ns = bc_run_summarize(bench->run, &samples, 0, -1).value,
    };
    bc_samples_free(&samples);
    return point;
}

/* With --verbose, the table of times by amount of work, which is the specification's figure 1. The
   same loops run with and without --verbose, and lines are written between loops only. */

static void say_table_head(const struct mpi_overhead *bench)
{
    bc_output_remark(bench->verbose, "verbose", "%-12s %-12s %-12s %s", "work", "iter_t", "work_t",
                     "base_t");
}

static void say_point(const struct mpi_overhead *bench, uint64_t units,
                      const struct knee_point *point, double base_ns)
{
    bc_output_remark(bench->verbose, "verbose", "%-12llu %-12.3f %-12.3f %.3f",
                     (unsigned long long)units, point->iter_ns * 1e-3, point->work_ns * 1e-3,
                     base_ns * 1e-3);
}

/* What the overhead leaves of a time, in percent, with its interval; NAN where that is 0, or may
   be, since a share of it says nothing. Each end is that of the farthest quotient: a low end of the
   overhead below 0 is most of the shortest time. */
static struct bc_summary available(const struct bc_summary *overhead, const struct bc_summary *time)
{
    const struct bc_interval *const o = &overhead->interval, *const t = &time->interval;
    struct bc_summary share = bc_no_summary;
    if (!(time->value > 0.0))
        return share;
    share.value = 100.0 * (1.0 - overhead->value / time->value);
    if (!(t->lo > 0.0))
        return share;
    share.interval.lo = 100.0 * (1.0 - o->hi / (o->hi > 0.0 ? t->lo : t->hi));
    share.interval.hi = 100.0 * (1.0 - o->lo / (o->lo > 0.0 ? t->hi : t->lo));
    return share;
}

/* ---- iterations ------------------------------------------------------------------------------ */

static int64_t specified_iterations(const struct mpi_overhead *bench)
{
    const int64_t bytes = bench->exchange.bytes;
    if (bench->parameters.iterations > 0)
        return bench->parameters.iterations;
    if (bytes >= INT64_C(8) << 20)
        return 10;
    return bytes >= INT64_C(64) << 10 ? 100 : 1000;
}

/* The iterations of all loops together; 0: as many as the precision needs, or as --samples says. */
static int64_t fixed_iterations(const struct mpi_overhead *bench)
{
    const struct bc_settings *const settings = &bench->run->settings;
    const bool fixed = settings->samples == 0 &&
                       (bench->parameters.iterations > 0 || settings->estimator == BC_MEAN);
    return fixed ? specified_iterations(bench) : 0;
}

/* ---- -b auto --------------------------------------------------------------------------------- */

/* The iterations of a loop: as many as take about LOOP_NS, or a fixed number over LOOPS. */
static int64_t iterations_for(const struct mpi_overhead *bench, double iteration_ns)
{
    enum { LOOPS = 25 }; /* the specified numbers are multiples of it */
    const int64_t fixed = fixed_iterations(bench);
    if (fixed > 0)
        return fixed < LOOPS ? 1 : fixed / LOOPS;
    const double iterations = LOOP_NS / fmax(iteration_ns, 1.0);
    return (int64_t)fmax(1.0, fmin(iterations, LOOP_ITERATIONS_MAX));
}

/* The rounds of a point whose loops take `loop_ns`, if all points may take `seconds`. */
static int rounds_for(double loop_ns, double seconds)
{
    const double rounds = seconds * 1e9 / (POINTS_EXPECTED * 2.0 * loop_ns);
    return (int)fmax(1.0, fmin(rounds, POINT_ROUNDS_MAX));
}

/* The amount of work after `units`: a small share of `base_ns` after none, else twice that. */
static uint64_t more_units(const struct mpi_overhead *bench, uint64_t units, double base_ns)
{
    if (units > 0)
        return 2 * units;
    const uint64_t first = bc_work_units(&bench->rate, FIRST_WORK_SHARE * base_ns);
    return first > 0 ? first : 1;
}

/* Raises the work until an iteration takes --thresh times as long as without, which sets *knee;
   returns the number of points; the exchange's units are the last one's. All on rank 0. Collective.
 */
static size_t find_points(struct mpi_overhead *bench, double seconds, struct knee_point *points,
                          bool *knee)
{
    struct overhead_exchange *const x = &bench->exchange;
    const bool root = bench->run->job.rank == 0;
    const double deadline_s = bc_elapsed_s() + seconds;
    size_t count = 0;
    if (fixed_iterations(bench) > 0)
        bc_output_remark(bench->verbose, "verbose",
                         "Using %lld iterations per work value, in each of up to %d loops",
                         (long long)iterations_for(bench, 0.0), POINT_ROUNDS_MAX);
    else
        bc_output_remark(bench->verbose, "verbose",
                         "Using as many iterations per work value as take %g uS, in each of up to "
                         "%d loops",
                         LOOP_NS * 1e-3, POINT_ROUNDS_MAX);
    say_table_head(bench);
    x->units = 0;
    x->iterations = 1;
    double iteration_ns = take_point(bench, 1, 1, deadline_s).iter_ns;
    x->iterations = root ? iterations_for(bench, iteration_ns) : 1;
    while (agree_on_round(x)) {
        /* Times are known on rank 0 only. */
        const int rounds = root ? rounds_for(iteration_ns * (double)x->iterations, seconds) : 1;
        const struct knee_point point = take_point(bench, rounds, 1, deadline_s);
        if (!root)
            continue;
        points[count++] = point;
        const double base_ns = points[0].iter_ns;
        iteration_ns = point.iter_ns;
        say_point(bench, x->units, &point, base_ns);
        *knee = iteration_ns > bench->parameters.threshold * base_ns && count > 1;
        if (*knee || count == KNEE_POINTS_MAX || bc_elapsed_s() >= deadline_s) {
            x->iterations = 0;
        } else {
            x->units = more_units(bench, x->units, base_ns);
            x->iterations = iterations_for(bench, iteration_ns);
        }
    }
    return count;
}

/* With work beyond the knee an iteration takes at least this many times as long as without work: on
   a log scale half way to --thresh, which the first iteration beyond the knee reached, so that
   noise in either time doesn't undo the knee. */
static double beyond_knee(const struct mpi_overhead *bench)
{
    return sqrt(bench->parameters.threshold);
}

/* Whether the work alone takes so much longer than a message without work that the message is over
   when the work is done. Decided by the min of PROBE_ROUNDS rounds, since others may meet stops; of
   fewer rounds after the deadline, but at least one. True without a knee (`knee`). Deadline, knee
   and decision are rank 0's. Collective. */
static bool work_is_enough(struct mpi_overhead *bench, bool knee, double deadline_s)
{
    struct overhead_exchange *const x = &bench->exchange;
    const struct bc_source source = {.quantities = 2, .take = overhead_take_work, .context = x};
    const struct bc_plan plan = {
        .min_rounds = PROBE_ROUNDS, .max_rounds = PROBE_ROUNDS, .deadline_s = deadline_s};
    struct bc_samples samples = {.count = 0};
    x->apart = true;
    bc_take_rounds(&source, &plan, &samples);
    x->apart = false;
    double message_ns = INFINITY, work_ns = INFINITY;
    for (size_t i = 0; i < samples.count; i++) {
        message_ns = fmin(message_ns, samples.values[0][i]);
        work_ns = fmin(work_ns, samples.values[1][i]);
    }
    bc_samples_free(&samples);
    int enough = !knee || work_ns >= beyond_knee(bench) * message_ns;
    bc_harness_bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return enough != 0;
}

static const struct bc_precise_value precise_values[] = {
    {OVERHEAD_ITER, .subtrahend = OVERHEAD_WORK, .resolution_ns = OVERHEAD_RESOLUTION_NS},
    {OVERHEAD_BASE, .subtrahend = OVERHEAD_EMPTY},
};

/* Finds the work beyond the knee, and the length of loops with it. Collective. */
static void find_knee(struct mpi_overhead *bench, double seconds, struct overhead_row *row)
{
    struct overhead_exchange *const x = &bench->exchange;
    struct knee_point points[KNEE_POINTS_MAX];
    const double deadline_s = bc_elapsed_s() + 2.0 * seconds;
    const size_t count = find_points(bench, seconds, points, &row->knee);
    if (bench->run->job.rank == 0) {
        const struct knee_fit fit = knee_fit(points, count, 0.02 * points[0].iter_ns);
        x->iterations = iterations_for(bench, points[count - 1].iter_ns);
        if (fit.found)
            bc_output_remark(bench->verbose, "verbose",
                             "fit: plateau %.3f us over %zu points, overhead %.3f us over %zu "
                             "points",
                             fit.plateau_ns * 1e-3, fit.plateau, fit.overhead_ns * 1e-3,
                             count - fit.line);
    }
    agree_on_round(x);
    /* Stops may have passed for the knee. A fixed number of iterations stays. */
    for (int i = 0; i < MORE_WORK_MAX && !work_is_enough(bench, row->knee, deadline_s); i++) {
        x->units *= 2;
        if (fixed_iterations(bench) == 0)
            x->iterations = (x->iterations + 1) / 2;
    }
    row->units = x->units;
    row->iterations = x->iterations;
}

/* Measures without work and beyond the knee, in turn, until the values are precise. Collective. */
static void visit_fit(struct mpi_overhead *bench, double seconds, struct overhead_row *row)
{
    const double end_s = bc_elapsed_s() + seconds;
    if (row->iterations == 0)
        find_knee(bench, seconds * POINTS_SHARE, row);
    bench->exchange.units = row->units;
    bench->exchange.iterations = row->iterations;
    struct bc_precision rule;
    struct bc_plan plan = bc_run_plan(bench->run, &row->samples, fmax(end_s - bc_elapsed_s(), 0.0));
    const int64_t fixed = fixed_iterations(bench);
    if (fixed > 0) {
        const int64_t loops = (fixed + row->iterations - 1) / row->iterations;
        plan.min_rounds = plan.max_rounds = (loops + bench->run->visits - 1) / bench->run->visits;
    }
    bc_plan_until_precise(&plan, &rule, bench->run, precise_values, 2);
    const struct bc_source source = {.quantities = OVERHEAD_QUANTITIES,
                                     .take = overhead_take_full,
                                     .context = &bench->exchange,
                                     .slowest_of = OVERHEAD_BASE};
    row->in_time = bc_take_rounds(&source, &plan, &row->samples) == BC_END_SETTLED;
}

/* ---- -b RATIO: the specification to the letter ----------------------------------------------- */

/* A loop for each amount of work; base_t is the running average of iter_t until iter_t exceeds the
   base threshold. */
static void visit_threshold(struct mpi_overhead *bench, double seconds, struct overhead_row *row)
{
    const double threshold = bench->parameters.threshold;
    const double deadline_s = bc_elapsed_s() + seconds;
    struct overhead_exchange *const x = &bench->exchange;
    double base_sum_ns = 0.0, base_ns = 0.0, shortest_ns = INFINITY;
    struct knee_point point = {0.0, 0.0};
    int base_count = 0;
    bool on_plateau = true;
    x->units = 1;
    x->iterations = row->iterations = specified_iterations(bench);
    bc_output_remark(bench->verbose, "verbose", "Using %lld iterations per work value",
                     (long long)x->iterations);
    say_table_head(bench);
    while (agree_on_round(x)) {
        point = take_point(bench, 1, 0, INFINITY);
        if (bench->run->job.rank != 0)
            continue;
        if (base_count > 0 && point.iter_ns > bench->parameters.base_threshold * base_ns)
            on_plateau = false;
        if (on_plateau) {
            base_sum_ns += point.iter_ns;
            base_ns = base_sum_ns / ++base_count;
        }
        say_point(bench, x->units, &point, base_ns);
        shortest_ns = fmin(shortest_ns, point.iter_ns);
        row->knee = point.iter_ns > threshold * base_ns;
        row->in_time = row->knee || bc_elapsed_s() < deadline_s;
        x->units *= 2; /* 1, 2, 4 ..., as specified */
        if (row->knee || !row->in_time || point.work_ns > BEYOND_KNEE_MAX * threshold * shortest_ns)
            x->iterations = 0;
    }
    if (bench->run->job.rank != 0)
        return;
    const double sample[OVERHEAD_QUANTITIES] = {[OVERHEAD_BASE] = base_ns,
                                                [OVERHEAD_ITER] = point.iter_ns,
                                                [OVERHEAD_WORK] = point.work_ns};
    bc_samples_begin_visit(&row->samples);
    bc_samples_append(&row->samples, sample, OVERHEAD_QUANTITIES, 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_fitted(const struct mpi_overhead *bench)
{
    return bench->parameters.base_threshold <= 0.0;
}

void overhead_visit(struct mpi_overhead *bench, double seconds, struct overhead_row *row)
{
    bench->exchange.wrong = 0;
    overhead_prepare_data(&bench->exchange);
    if (is_fitted(bench))
        visit_fit(bench, seconds, row);
    else
        visit_threshold(bench, seconds, row);
    row->wrong += bench->exchange.wrong;
}

/* Half of the last digit that is printed: less than that below 0 is 0. */
#define IMPOSSIBLE_NS 0.5

/* By how much the message makes work longer: beyond the knee loops with and without it take about
   as long. They don't run quite the same code besides, so the interval (but under the mean) never
   ends closer to the value than what one reading of the clock is worth. Local; rank 0. */
static struct bc_summary summarize_overhead(const struct mpi_overhead *bench,
                                            const struct bc_samples *samples)
{
    const struct bc_run *const run = bench->run;
    if (run->settings.estimator == BC_MEAN)
        return bc_run_summarize(run, samples, OVERHEAD_ITER, OVERHEAD_WORK);
    struct bc_summary overhead = overhead_excess(samples, OVERHEAD_ITER, OVERHEAD_WORK,
                                                 run->settings.confidence_pct / 100.0);
    overhead.interval.lo -= run->max_clock.read_ns;
    overhead.interval.hi += run->max_clock.read_ns;
    return overhead;
}

/* Whether the interval that the row reports, less the clock reading in it, is within --precision or
   OVERHEAD_RESOLUTION_NS. Local; rank 0. */
static bool overhead_is_narrow(const struct mpi_overhead *bench, const struct bc_samples *samples)
{
    const struct bc_run *const run = bench->run;
    const struct bc_summary overhead = summarize_overhead(bench, samples);
    const double half_width_ns = bc_half_width(&overhead) - run->max_clock.read_ns;
    const double allowed_ns = run->settings.precision_pct / 100.0 * fabs(overhead.value);
    return half_width_ns <= fmax(allowed_ns, OVERHEAD_RESOLUTION_NS);
}

bool overhead_is_precise(const struct mpi_overhead *bench, const struct overhead_row *row)
{
    const struct bc_run *const run = bench->run;
    if (!is_fitted(bench) || fixed_iterations(bench) > 0)
        return row->in_time;
    if (!bc_run_is_precise(run, &row->samples, row->in_time, precise_values, 2))
        return false;
    return run->settings.samples > 0 || overhead_is_narrow(bench, &row->samples);
}

static void dump(const struct mpi_overhead *bench, const struct overhead_row *row)
{
    static const char *const names[OVERHEAD_QUANTITIES] = {"base", "empty", "iter", "work"};
    for (int i = 0; i < OVERHEAD_QUANTITIES; i++)
        if (is_fitted(bench) || i >= OVERHEAD_ITER)
            bc_run_dump(bench->run, names[i], &row->samples, i);
}

/* True if all overheads from lo_ns to hi_ns lie below 0, or above the transfer, of which the
   overhead is a part. Local. */
static bool is_impossible(double lo_ns, double hi_ns, double base_ns)
{
    return hi_ns < -IMPOSSIBLE_NS || lo_ns > base_ns + IMPOSSIBLE_NS;
}

/* What the samples say. Local; rank 0. */
static void summarize(const struct mpi_overhead *bench, const struct overhead_row *row,
                      struct overhead_result *result)
{
    const struct bc_run *const run = bench->run;
    const struct bc_samples *const samples = &row->samples;
    bool knee = row->knee;
    dump(bench, row);
    result->iterations = row->iterations * (is_fitted(bench) ? (int64_t)samples->count : 1);
    result->iter_ns = bc_run_summarize(run, samples, OVERHEAD_ITER, -1).value;
    result->work_ns = bc_run_summarize(run, samples, OVERHEAD_WORK, -1).value;
    const struct bc_summary base = bc_run_summarize(run, samples, OVERHEAD_BASE, -1);
    result->base_ns = base.value;
    result->overhead_ns = result->transfer_ns = bc_no_summary;
    if (is_fitted(bench)) {
        result->transfer_ns = bc_run_summarize(run, samples, OVERHEAD_BASE, OVERHEAD_EMPTY);
        /* A disturbance may have passed for the knee. */
        knee = knee && !(result->iter_ns < beyond_knee(bench) * result->base_ns);
    }
    if (knee)
        result->overhead_ns = summarize_overhead(bench, samples);
    const double value_ns = result->overhead_ns.value;
    const struct bc_interval interval = isnan(result->overhead_ns.interval.lo)
                                            ? (struct bc_interval){value_ns, value_ns}
                                            : result->overhead_ns.interval;
    result->is_disturbed = knee && is_impossible(interval.lo, interval.hi, base.value);
    if (result->is_disturbed)
        result->overhead_ns = bc_no_summary;
    result->available_pct = available(&result->overhead_ns, &base);
    result->transfer_available_pct = available(&result->overhead_ns, &result->transfer_ns);
    result->outcome = bc_run_outcome(run, samples, overhead_is_precise(bench, row));
    /* Only its interval is possible. */
    if (knee && is_impossible(value_ns, value_ns, base.value))
        result->outcome.status = BC_BUDGET;
    if (!knee || result->is_disturbed)
        result->outcome.status = BC_NO_KNEE;
}

void overhead_conclude(const struct mpi_overhead *bench, struct overhead_row *row,
                       struct overhead_result *result)
{
    result->memory = bench->parameters.memory.words;
    result->buffers = bc_buffers_word(bench->parameters.buffers);
    result->direction = row->direction == OVERHEAD_SEND ? "send" : "recv";
    result->pair = bc_node_order_rank(&bench->by_node, row->pair);
    result->msgsize = row->bytes;
    if (bench->run->job.rank == 0)
        summarize(bench, row, result);
    (void)bc_sum_wrong(row->wrong, &result->outcome);
    bc_samples_free(&row->samples);
}
