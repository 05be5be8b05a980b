/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Noise of the operating system: frequency, length and sources of the interruptions (stops) of a
 * job's ranks, and the slowdown of programs whose ranks wait for each other.
 *
 * Timed region: on each rank, successive quanta (equal amounts of work), each between two readings
 * of the clock (kernel.c). A quantum takes the same time unless the rank is interrupted
 * (rank_stops.h). Alternately, steps of some work (the grain) and a barrier or an allreduce.
 *
 * When: a visit is a period of quanta on all ranks at the same time, and a period of steps for each
 * operation and grain.
 *
 * How often: six visits, spread over the run.
 *
 * Written: one line for the job, for each host or rank, for each source of interruptions
 * (sources.h), and for each operation and grain with its measured and its predicted slowdown
 * (prediction.c, rows.c, columns.c).
 */
#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "noise/noise.h"
#include "noise/warnings.h"

#include <math.h>
#include <stdlib.h>

/* Time for the quanta, and for each kind of steps, in units of --max-time. */
#define QUANTA_SHARES 10.0
#define STEPS_SHARES 0.5

/* A block has quanta for about BLOCK_NS, within these limits. A block of fewer than BLOCK_MIN steps
   has no usual time. */
#define BLOCK_NS 4e6
enum { BLOCK_MIN = 16, BLOCK_MAX = 4096 };

/* Max length of a block of steps relative to all previous steps: the first steps may be short
   although later ones wait for a processor. */
#define BLOCK_GROWTH 8.0

/* Duration of the first synchronisation of the clock that ranks share. */
#define SHARED_CLOCK_S 0.3

/* Min length of a stop, in steps of the clock. */
#define CLOCK_STEPS 4.0

/* ---- shared by all visits -------------------------------------------------------------------- */

static void describe_quanta(const struct noise *noise)
{
    struct bc_output *const output = noise->run->output;
    const double asked_ns = noise->parameters.min_stop_us * 1e3;
    if (noise->units == 0)
        bc_output_remark(output, NOISE_WARNING_CLOCK_STANDS);
    if (noise->min_stop_ns > asked_ns)
        bc_output_remark(output, NOISE_WARNING_MIN_STOP, asked_ns * 1e-3,
                         noise->min_stop_ns * 1e-3);
    if (noise->run->job.shares_processors)
        bc_output_remark(output, NOISE_NOTE_NO_PREDICTION);
    const struct bc_global_clock_report report = bc_global_clock_report(noise->clock);
    bc_output_meta(output, "global_clock_error_us", "%.3f", report.error_ns * 1e-3);
}

/* Lists each chosen operation with each different grain. */
static void list_steps(struct noise *noise)
{
    const struct noise_parameters *const p = &noise->parameters;
    noise->steps = bc_allocate(NOISE_OPERATIONS * p->grain_us.count, sizeof *noise->steps,
                               "no memory for steps");
    for (int operation = 0; operation < NOISE_OPERATIONS; operation++)
        for (size_t i = 0; p->operations.chosen[operation] && i < p->grain_us.count; i++) {
            if (!bc_size_list_is_first(&p->grain_us, i))
                continue;
            struct noise_steps *const steps = &noise->steps[noise->step_kinds++];
            steps->operation = operation;
            steps->grain_us = p->grain_us.values[i];
            steps->units = bc_work_units(&noise->rate, (double)steps->grain_us * 1e3);
        }
}

static double all_shares(const struct noise *noise)
{
    return QUANTA_SHARES + STEPS_SHARES * noise->step_kinds;
}

static void open_noise(struct noise *noise, struct bc_run *run)
{
    const struct noise_parameters *const p = &noise->parameters;
    noise->run = run;
    noise->rate = bc_work_calibrate();
    noise->units = bc_work_units(&noise->rate, p->quantum_us * 1e3);
    int still = noise->units == 0;
    bc_harness_allreduce(MPI_IN_PLACE, &still, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (still)
        noise->units = 0; /* the same on all ranks */
    noise->min_stop_ns = fmax(p->min_stop_us * 1e3, CLOCK_STEPS * run->max_clock.resolution_ns);
    noise->block = (int)fmax(BLOCK_MIN, fmin(BLOCK_MAX, BLOCK_NS / (p->quantum_us * 1e3)));
    noise->readings = bc_allocate(BLOCK_MAX + 1, sizeof *noise->readings, "no memory for readings");
    /* Touches all pages: a first access would look like a stop. */
    for (int i = 0; i <= BLOCK_MAX; i++)
        noise->readings[i] = -1;
    noise->clock = bc_global_clock_create(&run->job, SHARED_CLOCK_S, 0);
    list_steps(noise);
    describe_quanta(noise);
}

static void close_noise(struct noise *noise)
{
    for (int i = 0; i < noise->step_kinds; i++)
        bc_samples_free(&noise->steps[i].visits);
    free(noise->steps);
    free(noise->readings);
    bc_global_clock_destroy(noise->clock);
}

/* ---- a visit --------------------------------------------------------------------------------- */

/* Returns a visit's part of --samples, at least 1, or 0 if only time limits it. */
static int64_t samples_of_visit(const struct bc_run *run)
{
    const int64_t part = bc_part_of_visit(run->settings.samples, run);
    return run->settings.samples > 0 && part == 0 ? 1 : part;
}

/* Returns the clock's time `seconds` from now, at most 3 years. */
static int64_t end_of(double seconds) { return bc_now_ns() + (int64_t)(fmin(seconds, 1e8) * 1e9); }

/* Runs quanta on this rank for `seconds`, or --samples quanta, or until a signal. */
static void watch(struct noise *noise, double seconds, struct noise_stops *stops)
{
    const int64_t asked = samples_of_visit(noise->run);
    noise_stops_begin_visit(stops);
    bc_harness_release(MPI_COMM_WORLD);
    if (noise->units == 0)
        return;
    const int64_t end_ns = end_of(seconds);
    int64_t done = 0;
    do {
        const int count =
            asked > 0 && asked - done < noise->block ? (int)(asked - done) : noise->block;
        noise_quanta(noise->units, count, noise->readings);
        noise_stops_add(stops, noise->readings, count, noise->min_stop_ns);
        done += count;
    } while (bc_now_ns() < end_ns && (asked == 0 || done < asked) && bc_signals_noted() == 0);
}

/* Sums over the steps of a visit so far. Rank 0. */
struct tally {
    double total_ns, usual_ns;
    int64_t count;
    double judged_excess_ns, judged_usual_ns; /* in blocks whose usual time is known */
};

/* Adds a block of steps. A step was stopped if it takes longer than usual by more than the min
   stop. The usual time isn't known from too few steps, or from steps as short as the clock's. */
static void add_steps(const struct noise *noise, struct noise_steps *steps, int count,
                      struct tally *tally)
{
    const double usual_ns = noise_usual_ns(noise->readings, count);
    const bool is_known =
        count >= BLOCK_MIN && usual_ns >= CLOCK_STEPS * noise->run->max_clock.resolution_ns;
    for (int i = 0; i < count; i++) {
        const int64_t step_ns = noise->readings[i + 1] - noise->readings[i];
        noise_histogram_add(&steps->times, step_ns);
        steps->max_ns = fmax(steps->max_ns, (double)step_ns);
        steps->min_ns =
            steps->count + i > 0 ? fmin(steps->min_ns, (double)step_ns) : (double)step_ns;
        if (is_known && (double)step_ns > usual_ns + noise->min_stop_ns) {
            tally->judged_excess_ns += (double)step_ns - usual_ns;
            steps->stopped++;
        }
    }
    tally->usual_ns += usual_ns * count;
    tally->total_ns += (double)(noise->readings[count] - noise->readings[0]);
    tally->count += count;
    tally->judged_usual_ns += is_known ? usual_ns * count : 0.0;
    steps->count += count;
    steps->judged += is_known ? count : 0;
}

/* Returns the number of steps in the next block, or 0 if time or samples are used up.
   Collective. */
static int64_t next_block(const struct noise *noise, const struct tally *tally, int64_t end_ns)
{
    const int64_t asked = samples_of_visit(noise->run);
    const double left_ns = (double)(end_ns - bc_now_ns());
    int64_t next = 1;
    if (tally->count > 0 && (left_ns <= 0.0 || bc_signals_noted() != 0))
        next = 0;
    else if (tally->count > 0) { /* must fit into the remaining time */
        const double fitting = left_ns * (double)tally->count / tally->total_ns;
        next =
            (int64_t)fmax(1.0, fmin(BLOCK_MAX, fmin(fitting, BLOCK_GROWTH * (double)tally->count)));
    }
    if (asked > 0 && asked - tally->count < next)
        next = asked - tally->count;
    bc_harness_bcast(&next, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return next;
}

/* Runs steps on all ranks, for `seconds`, or --samples steps. Collective. */
static void step(struct noise *noise, struct noise_steps *steps, double seconds)
{
    static noise_kernel_fn *const kernels[NOISE_OPERATIONS] = {noise_barrier_steps,
                                                               noise_allreduce_steps};
    const int64_t end_ns = end_of(seconds);
    struct tally tally = {0};
    int64_t count;
    kernels[steps->operation](steps->units, 1, noise->readings);
    while ((count = next_block(noise, &tally, end_ns)) > 0) {
        bc_harness_release(MPI_COMM_WORLD);
        kernels[steps->operation](steps->units, (int)count, noise->readings);
        if (noise->run->job.rank == 0)
            add_steps(noise, steps, (int)count, &tally);
    }
    if (noise->run->job.rank != 0)
        return;
    /* Later visits that a signal cut short are ignored, since all visits have equal weight. */
    const bool counts = noise->run->visit == 0 || bc_signals_noted() == 0;
    double values[NOISE_STEP_VALUES] = {NAN, NAN, NAN};
    if (counts) {
        values[NOISE_STEP_MEAN] = tally.total_ns / (double)tally.count;
        values[NOISE_STEP_USUAL] = tally.usual_ns / (double)tally.count;
    }
    if (counts && tally.judged_usual_ns > 0.0)
        values[NOISE_STEP_SLOWDOWN] = 100.0 * tally.judged_excess_ns / tally.judged_usual_ns;
    bc_samples_append(&steps->visits, values, NOISE_STEP_VALUES, 0);
}

/* Converts the times of the last visit, whose stops begin at index `first`, to the clock that ranks
   share. Collective. */
static void move_to_shared_clock(const struct noise *noise, struct noise_stops *stops, size_t first)
{
    struct noise_watch *const watch = &stops->visits[stops->visit_count - 1];
    bc_global_clock_update(noise->clock);
    const struct bc_clock_model *const model = bc_global_clock_model(noise->clock);
    for (size_t i = first; i < stops->count; i++)
        stops->stop[i].begin_ns = bc_clock_model_reference(model, stops->stop[i].begin_ns);
    watch->begin_ns = bc_clock_model_reference(model, watch->begin_ns);
    watch->end_ns = bc_clock_model_reference(model, watch->end_ns);
}

static void measure(struct noise *noise, struct bc_visit *visit)
{
    struct noise_stops *const stops = visit->row;
    double seconds = visit->seconds;
    const size_t first = stops->count;
    bc_harness_bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    const double share_s = seconds / all_shares(noise);
    /* The quanta of two visits are adjacent, to be long enough for sources that stop a rank once
       per second. */
    const bool quanta_first = noise->run->visit % 2 == 0;
    if (quanta_first)
        watch(noise, QUANTA_SHARES * share_s, stops);
    for (int i = 0; i < noise->step_kinds; i++)
        step(noise, &noise->steps[i], STEPS_SHARES * share_s);
    if (!quanta_first)
        watch(noise, QUANTA_SHARES * share_s, stops);
    move_to_shared_clock(noise, stops, first);
    visit->is_precise = true; /* visits have a fixed length */
}

const struct bc_program noise_program = {
    .name = "noise",
    .summary = "Measures how often and how long ranks are interrupted, names the sources, and\n"
               "measures how much that slows programs whose ranks wait for each other.",
    .placement = "on the stack",
    .options = {noise_options, NOISE_OPTIONS},
    .defaults = &noise_default_parameters,
    .defaults_bytes = sizeof noise_default_parameters,
    .state_bytes = sizeof(struct noise),
    .row_bytes = sizeof(struct noise_stops),
    .budget_s = BC_BUDGET_S,
};

int main(int argc, char **argv)
{
    struct noise noise;
    struct bc_run *const run = bc_start(&noise_program, &noise, argc, argv);
    bc_open_result(run, &noise_table, "");
    open_noise(&noise, run);
    run->row_shares = (int)ceil(all_shares(&noise));
    (void)bc_add_row(run); /* of the whole job */
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&noise, visit);
        else
            noise_write_rows(&noise, visit->row);
    close_noise(&noise);
    return bc_finish(run);
}
