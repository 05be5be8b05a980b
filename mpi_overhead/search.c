/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_overhead/mpi_overhead.h"

#include "common/mpi/harness.h"

#include <math.h>

/* Length of an adaptive run's loops: long compared with the clock and a loop's start and end. */
#define LOOP_NS 20000.0
#define LOOP_ITERATIONS_MAX 1000

/* Max rounds for each amount of work before the knee; fewer if about POINTS_EXPECTED amounts would
   take too long. */
#define POINT_ROUNDS_MAX 7
#define POINTS_EXPECTED 8

/* Smallest work tried, as a share of the transfer; less work only shows the plateau again. */
#define FIRST_WORK_SHARE (1.0 / 32)

/* Work that proves to be too little is doubled, at most MORE_WORK_MAX times, each time after
   PROBE_ROUNDS rounds. */
#define MORE_WORK_MAX 8
#define PROBE_ROUNDS 5

/* With -b RATIO the search ends without a knee once the work alone takes this many times --thresh
   times the shortest iteration: base_t rose with the work, as with a large --bthresh. */
#define BEYOND_KNEE_MAX 32.0

/* ---- common to both ways --------------------------------------------------------------------- */

/* Broadcasts rank 0's units and iterations of the next loops. Returns false if there are 0
   iterations, which end the search. Collective. */
static bool agree_on_round(struct overhead_exchange *x)
{
    uint64_t order[2] = {x->units, (uint64_t)x->iterations};
    bc_harness_bcast(order, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    x->units = order[0];
    x->iterations = (int64_t)order[1];
    return x->iterations > 0;
}

/* Quantities of rounds with an amount of work. The clock's cost cancels in their difference. */
enum { POINT_ITER, POINT_WORK };
static const struct bc_quantities point_quantities = {.count = 2};

/* Measures one point in `rounds` rounds after `warmup_rounds`. Both numbers are significant only on
   rank 0, which gets the point. Collective. */
static struct knee_point take_point(struct mpi_overhead *bench, int rounds, int warmup_rounds,
                                    double deadline_s)
{
    const struct bc_plan plan = {
        .min_rounds = rounds,
        .max_rounds = rounds,
        .deadline_s = deadline_s,
        .grace_rounds = 1,
        .warmup_rounds = warmup_rounds,
    };
    struct overhead_exchange *const x = &bench->exchange;
    struct bc_samples samples = {.count = 0};
    struct bc_rounds *const taken =
        bc_rounds_by_plan(bench->run, &point_quantities, &plan, &samples);
    for (struct bc_round *round; (round = bc_next_round(taken)) != NULL;) {
        overhead_time(x, round, POINT_ITER, true, x->token, x->units);
        overhead_time(x, round, POINT_WORK, false, x->token, x->units);
    }
    const struct knee_point point = {
        .work_ns = bc_samples_summary(bench->run, &samples, POINT_WORK, -1).value,
        .iter_ns = bc_samples_summary(bench->run, &samples, POINT_ITER, -1).value,
    };
    bc_samples_free(&samples);
    return point;
}

/* With --verbose, writes the table of times by amount of work (figure 1 of the specification). The
   same loops run with and without --verbose, and lines are written only between loops. */

static void write_table_head(const struct mpi_overhead *bench)
{
    bc_output_remark(bench->verbose, "verbose", "%-12s %-12s %-12s %s", "work", "iter_t", "work_t",
                     "base_t");
}

static void write_point(const struct mpi_overhead *bench, uint64_t units,
                        const struct knee_point *point, double base_ns)
{
    bc_output_remark(bench->verbose, "verbose", "%-12llu %-12.3f %-12.3f %.3f",
                     (unsigned long long)units, point->iter_ns * 1e-3, point->work_ns * 1e-3,
                     base_ns * 1e-3);
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

int64_t overhead_fixed_iterations(const struct mpi_overhead *bench)
{
    const struct bc_settings *const settings = &bench->run->settings;
    const bool fixed = settings->samples == 0 &&
                       (bench->parameters.iterations > 0 || settings->estimator == BC_MEAN);
    return fixed ? specified_iterations(bench) : 0;
}

/* ---- -b auto --------------------------------------------------------------------------------- */

/* Returns the iterations of a loop that takes about LOOP_NS, or a fixed number over LOOPS. */
static int64_t iterations_for(const struct mpi_overhead *bench, double iteration_ns)
{
    enum { LOOPS = 25 }; /* divides the specified 100 and 1000 */
    const int64_t fixed = overhead_fixed_iterations(bench);
    if (fixed > 0)
        return fixed < LOOPS ? 1 : fixed / LOOPS;
    const double iterations = LOOP_NS / fmax(iteration_ns, 1.0);
    return (int64_t)fmax(1.0, fmin(iterations, LOOP_ITERATIONS_MAX));
}

/* Returns the rounds of a point whose loops take `loop_ns`, if all points may take `seconds`. */
static int rounds_for(double loop_ns, double seconds)
{
    const double rounds = seconds * 1e9 / (POINTS_EXPECTED * 2.0 * loop_ns);
    return (int)fmax(1.0, fmin(rounds, POINT_ROUNDS_MAX));
}

/* Returns the amount of work after `units`: a small share of `base_ns` after 0, else the double. */
static uint64_t more_units(const struct mpi_overhead *bench, uint64_t units, double base_ns)
{
    if (units > 0)
        return 2 * units;
    const uint64_t first = bc_work_units(&bench->rate, FIRST_WORK_SHARE * base_ns);
    return first > 0 ? first : 1;
}

/* Raises the work until an iteration takes --thresh times as long as without work, which sets
   *knee. Returns the number of points. The exchange's units are those of the last point. All on
   rank 0. Collective. */
static size_t find_points(struct mpi_overhead *bench, double seconds, struct knee_point *points,
                          bool *knee)
{
    struct overhead_exchange *const x = &bench->exchange;
    const bool root = bench->run->job.rank == 0;
    const double deadline_s = bc_elapsed_s() + seconds;
    size_t count = 0;
    if (overhead_fixed_iterations(bench) > 0)
        bc_output_remark(bench->verbose, "verbose",
                         "Using %lld iterations per work value, in each of up to %d loops",
                         (long long)iterations_for(bench, 0.0), POINT_ROUNDS_MAX);
    else
        bc_output_remark(bench->verbose, "verbose",
                         "Using the iterations that take %g uS per work value, in each of up to "
                         "%d loops",
                         LOOP_NS * 1e-3, POINT_ROUNDS_MAX);
    write_table_head(bench);
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
        write_point(bench, x->units, &point, base_ns);
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

/* True if the work alone takes so much longer than a message without work that the message
   completes before the work, or if there is no knee. Compares the min of PROBE_ROUNDS rounds, since
   some may meet interruptions; after the deadline, of at least one round. Deadline, knee and
   decision are rank 0's. Collective. */
static bool work_is_enough(struct mpi_overhead *bench, bool knee, double deadline_s)
{
    const struct bc_plan plan = {
        .min_rounds = PROBE_ROUNDS, .max_rounds = PROBE_ROUNDS, .deadline_s = deadline_s};
    struct overhead_exchange *const x = &bench->exchange;
    struct bc_samples samples = {.count = 0};
    struct bc_rounds *const taken =
        bc_rounds_by_plan(bench->run, &point_quantities, &plan, &samples);
    for (struct bc_round *round; (round = bc_next_round(taken)) != NULL;) {
        overhead_time(x, round, POINT_ITER, true, x->token, 0);
        overhead_time(x, round, POINT_WORK, false, x->token, x->units);
    }
    double message_ns = INFINITY, work_ns = INFINITY;
    for (size_t i = 0; i < samples.count; i++) {
        message_ns = fmin(message_ns, samples.values[POINT_ITER][i]);
        work_ns = fmin(work_ns, samples.values[POINT_WORK][i]);
    }
    bc_samples_free(&samples);
    int enough = !knee || work_ns >= overhead_beyond_knee(bench) * message_ns;
    bc_harness_bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return enough != 0;
}

void overhead_find_knee(struct mpi_overhead *bench, double seconds, struct overhead_row *row)
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
    /* An interruption may have looked like the knee. A fixed number of iterations stays. */
    for (int i = 0; i < MORE_WORK_MAX && !work_is_enough(bench, row->knee, deadline_s); i++) {
        x->units *= 2;
        if (overhead_fixed_iterations(bench) == 0)
            x->iterations = (x->iterations + 1) / 2;
    }
    row->units = x->units;
    row->iterations = x->iterations;
}

/* ---- -b RATIO: the specification to the letter ----------------------------------------------- */

void overhead_find_threshold(struct mpi_overhead *bench, double seconds, struct overhead_row *row)
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
    write_table_head(bench);
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
        write_point(bench, x->units, &point, base_ns);
        shortest_ns = fmin(shortest_ns, point.iter_ns);
        row->knee = point.iter_ns > threshold * base_ns;
        row->store.in_time = row->knee || bc_elapsed_s() < deadline_s;
        x->units *= 2; /* 1, 2, 4 ..., as specified */
        if (row->knee || !row->store.in_time ||
            point.work_ns > BEYOND_KNEE_MAX * threshold * shortest_ns)
            x->iterations = 0;
    }
    if (bench->run->job.rank != 0)
        return;
    const double sample[OVERHEAD_QUANTITIES] = {[OVERHEAD_BASE] = base_ns,
                                                [OVERHEAD_ITER] = point.iter_ns,
                                                [OVERHEAD_WORK] = point.work_ns};
    bc_samples_begin_visit(&row->store.samples);
    bc_samples_append(&row->store.samples, sample, OVERHEAD_QUANTITIES, 0);
}
