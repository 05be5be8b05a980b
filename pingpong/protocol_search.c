/* SPDX-License-Identifier: BSD-3-Clause */
#include "pingpong/protocols.h"

#include "common/measure/plan.h"
#include "common/memory/allocate.h"

#include <math.h>
#include <string.h>

/* A batch of round trips takes at least this, and 100 readings of the clock. */
#define BATCH_NS 20e3
#define BATCH_READINGS 100.0

/* Rounds of a step, and the share of a visit's time for more than ROUNDS_MIN. */
enum { WARM_ROUNDS = 3, ROUNDS_MIN = 6, REFINE_ROUNDS_MAX = 20, REFINE_STEPS_MAX = 14 };
#define GRID_SHARE 0.6
#define REFINE_SHARE 0.1

/* ---- times ----------------------------------------------------------------------------------- */

/* The standard error of a median of normal data, beside that of the mean: sqrt(pi / 2). */
#define MEDIAN_ERROR 1.2533

/* Divides each round's times by the round's level, the median over sizes of its time over the
   size's median, so that a machine whose speed changes is equally fast for all sizes. */
static void level_rounds(struct protocols_times *times, int count, int rounds)
{
    double values[PIECES_POINTS_MAX];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++)
            values[i] = times->ns[i][round] / times->medians[i];
        const double level = bc_median(values, (size_t)count);
        for (int i = 0; i < count; i++)
            times->ns[i][round] /= level;
    }
}

static void summarize(struct protocols_times *times, const struct protocols_step *step)
{
    const int count = (int)step->count, rounds = (int)step->rounds;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++) {
            double sorted[PROTOCOLS_ROUNDS_MAX];
            memcpy(sorted, times->ns[i], (size_t)rounds * sizeof *sorted);
            times->medians[i] = bc_median(sorted, (size_t)rounds);
            times->errors[i] = MEDIAN_ERROR / sqrt(rounds) * bc_mad_sigma(sorted, (size_t)rounds);
        }
        if (pass == 0)
            level_rounds(times, count, rounds);
    }
}

/* Returns the number of rounds of a step that fit into this time. */
static int64_t rounds_within(const struct protocols_step *step, const double *times_ns,
                             double seconds, int64_t most)
{
    double round_ns = 0.0;
    for (int i = 0; i < step->count; i++)
        round_ns += 2.0 * times_ns[i] * (double)(step->repetitions[i] + 1);
    const double fitting = 1e9 * seconds / round_ns;
    return fitting > (double)most ? most : fitting < ROUNDS_MIN ? ROUNDS_MIN : (int64_t)fitting;
}

static void add_to_step(const struct bc_run *run, struct protocols_step *step, double *times_ns,
                        double size, double time_ns)
{
    const double batch_ns = fmax(BATCH_NS, BATCH_READINGS * run->own_clock.read_ns);
    times_ns[step->count] = time_ns;
    step->sizes[step->count] = (int64_t)size;
    step->repetitions[step->count++] = (int64_t)ceil(fmin(1000.0, batch_ns / (2.0 * time_ns)));
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Sets the sizes of the grid: two per doubling. */
static void make_grid(const struct pingpong_limits *limits, struct pieces_points *points)
{
    for (int64_t n = limits->min_ndata; n <= limits->max_ndata; n *= 2) {
        points->sizes[points->count++] = (double)n * PROTOCOLS_UNIT;
        if (n > 1 && n < limits->max_ndata)
            points->sizes[points->count++] = (double)n * 1.5 * PROTOCOLS_UNIT;
    }
}

static double middle_of(double low, double high)
{
    return PROTOCOLS_UNIT * floor((low + high) / (2.0 * PROTOCOLS_UNIT));
}

static bool is_open(double low, double high) { return high - low > protocols_tolerance(low); }

/* Makes a step of the sizes between pieces, each between those that it is compared with. */
static void bisect(const struct bc_run *run, const struct protocols_row *row,
                   struct protocols_step *step, double *times_ns)
{
    const struct pieces_points *const points = &row->points;
    int room = PIECES_POINTS_MAX - points->count;
    for (int p = 1; p < row->pieces.count; p++) {
        const int b = row->pieces.starts[p], a = b - 1;
        if (!is_open(points->sizes[a], points->sizes[b]) || room-- <= 0)
            continue;
        add_to_step(run, step, times_ns, points->sizes[a], points->times[a]);
        add_to_step(run, step, times_ns, middle_of(points->sizes[a], points->sizes[b]),
                    (points->times[a] + points->times[b]) / 2.0);
        add_to_step(run, step, times_ns, points->sizes[b], points->times[b]);
    }
}

/* Adds the middle sizes of such a step, in proportion to their neighbours' times. */
static void add_middles(struct pieces_points *points, const struct protocols_step *step,
                        const struct protocols_times *times)
{
    for (int m = 1; m < step->count; m += 3) {
        int at = 0;
        while (points->sizes[at] < (double)step->sizes[m])
            at++;
        const double scale = (points->times[at - 1] + points->times[at]) /
                             (times->medians[m - 1] + times->medians[m + 1]);
        const size_t after = (size_t)(points->count++ - at) * sizeof(double);
        memmove(&points->sizes[at + 1], &points->sizes[at], after);
        memmove(&points->times[at + 1], &points->times[at], after);
        memmove(&points->errors[at + 1], &points->errors[at], after);
        points->sizes[at] = (double)step->sizes[m];
        points->times[at] = scale * times->medians[m];
        points->errors[at] = scale * times->errors[m];
    }
}

void protocols_take(struct protocols_row *row, const struct protocols_step *step,
                    struct protocols_times *times)
{
    struct pieces_points *const points = &row->points;
    const size_t bytes = (size_t)points->count * sizeof(double);
    summarize(times, step);
    if (row->phase == PROTOCOLS_REFINE) {
        add_middles(points, step, times);
    } else if (row->phase == PROTOCOLS_JUDGE) {
        if (row->visits == PROTOCOLS_VISITS_MAX)
            return;
        row->medians = bc_reallocate(row->medians, (size_t)(row->visits + 1) * PIECES_POINTS_MAX,
                                     sizeof(double), "no memory for times");
        memcpy(row->medians + (size_t)row->visits++ * PIECES_POINTS_MAX, times->medians, bytes);
        row->samples += step->count * step->rounds;
    } else {
        memcpy(points->times, times->medians, bytes);
        memcpy(points->errors, times->errors, bytes);
    }
    if (row->phase == PROTOCOLS_GRID || row->phase == PROTOCOLS_REFINE)
        pieces_divide(points, &row->pieces);
}

/* Returns the rounds of the step that judges, as --samples asks for or within the visit's time. */
static int64_t judging_rounds(const struct bc_run *run, const struct protocols_step *step,
                              const double *times_ns, double seconds)
{
    const int64_t asked = bc_part_of_visit(run->settings.samples, run);
    if (run->settings.samples == 0)
        return rounds_within(step, times_ns, seconds, PROTOCOLS_ROUNDS_MAX);
    return asked < 1 ? 1 : asked > PROTOCOLS_ROUNDS_MAX ? PROTOCOLS_ROUNDS_MAX : asked;
}

/* Sets a step of all sizes. */
static void make_step(const struct bc_run *run, const struct pieces_points *points,
                      struct protocols_step *step, double *times_ns)
{
    step->count = 0;
    for (int i = 0; i < points->count; i++)
        add_to_step(run, step, times_ns, points->sizes[i], points->times[i]);
}

/* Returns the max rounds of a step: no more than --samples. */
static int64_t rounds_max(const struct bc_run *run)
{
    const int64_t samples = run->settings.samples;
    return samples > 0 && samples < PROTOCOLS_ROUNDS_MAX ? samples : PROTOCOLS_ROUNDS_MAX;
}

void protocols_plan(const struct bc_run *run, const struct pingpong_limits *limits,
                    struct protocols_row *row, double deadline_s, double visit_s,
                    struct protocols_step *step)
{
    double times_ns[PIECES_POINTS_MAX];
    step->count = 0;
    switch (row->phase) {
    case PROTOCOLS_NEW:
        make_grid(limits, &row->points);
        for (int i = 0; i < row->points.count; i++)
            row->points.times[i] = BATCH_NS; /* single transfers */
        make_step(run, &row->points, step, times_ns);
        step->rounds = WARM_ROUNDS;
        row->phase = PROTOCOLS_WARM;
        return;
    case PROTOCOLS_WARM:
        make_step(run, &row->points, step, times_ns);
        step->rounds = rounds_within(step, times_ns, GRID_SHARE * visit_s, rounds_max(run));
        row->phase = PROTOCOLS_GRID;
        return;
    case PROTOCOLS_GRID:
    case PROTOCOLS_REFINE:
        bisect(run, row, step, times_ns);
        step->rounds = rounds_within(step, times_ns, REFINE_SHARE * visit_s, REFINE_ROUNDS_MAX);
        row->phase = PROTOCOLS_REFINE;
        if (step->count > 0 && row->refinements++ < REFINE_STEPS_MAX)
            return;
        break;
    case PROTOCOLS_READY:
        break;
    case PROTOCOLS_JUDGE:
        step->count = 0;
        row->phase = PROTOCOLS_READY; /* for the next visit */
        return;
    }
    make_step(run, &row->points, step, times_ns);
    step->rounds = judging_rounds(run, step, times_ns, deadline_s - bc_elapsed_s());
    row->phase = PROTOCOLS_JUDGE;
}
