#include "overlap/engine/overlap.h"

#include "common/mpi/harness.h"
#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "common/clock/work.h"
#include "overlap/engine/measure.h"
#include "overlap/engine/parameters.h"

#include <math.h>
#include <stdio.h>

/* A run with defaults ends within this; start-up and growth included. */
#define RUN_BUDGET_S 15.0

/* The time-driven model looks for its size no longer than this. */
#define GROWTH_S 2.0

/* Of the memory that a rank may take, the buffers may take this share: the
   library needs some for itself. */
#define MEMORY_SHARE 0.5

/* The work's rate may drift by so much before a result says so. */
#define DRIFT_WARNING_PCT 5.0

#define TIME_COLUMNS(quantity)                                                                     \
    {quantity "_lo_us", BC_INFO, 3}, {quantity "_hi_us", BC_INFO, 3},                              \
        {quantity "_p99_us", BC_INFO, 3},                                                          \
    {                                                                                              \
        quantity "_max_us", BC_INFO, 3                                                             \
    }

#define COLUMNS(elements_role, size_role, reference_role)                                          \
    {"collective", BC_KEY, 0}, {"model", BC_KEY, 0}, {"elements", elements_role, 0},               \
        {"size_bytes", size_role, 1}, {"ref_us", reference_role, 3}, {"ref_sd_us", BC_INFO, 3},    \
        {"work_us", BC_INFO, 3}, {"total_us", BC_INFO, 3}, {"overlap_pct", BC_MORE, 2},            \
        {"overlap_lo_pct", BC_INFO, 2}, {"overlap_hi_pct", BC_INFO, 2}, TIME_COLUMNS("ref"),       \
        TIME_COLUMNS("work"), TIME_COLUMNS("total"), {"samples", BC_INFO, 0},                      \
        {"status", BC_INFO, 0},                                                                    \
    {                                                                                              \
        "slowest_rank", BC_INFO, 0                                                                 \
    }

/* Of the data-driven model, where the sizes are the same in every launch. */
static const struct bc_column data_driven_columns[] = {COLUMNS(BC_KEY, BC_KEY, BC_LESS)};

/* Of the time-driven one: a launch finds the size that takes the cutoff time, so
   that is a result, and the time of one size can't be compared with another's. */
static const struct bc_column time_driven_columns[] = {COLUMNS(BC_MORE, BC_INFO, BC_INFO)};

/* The program's parameters and collective, for the callback that validates. */
static struct overlap_parameters parameters;
static const struct overlap_collective *validated_collective;
static bool shrunk; /* the largest size is smaller than the default */
static struct bc_benchmark benchmark = {
    .table = {data_driven_columns, sizeof data_driven_columns / sizeof *data_driven_columns},
    .thread_level = MPI_THREAD_SINGLE,
    .run_budget_s = RUN_BUDGET_S,
    .may_start_together = true,
};

/* ---- usage ----------------------------------------------------------------------------------- */

/* Data-driven where the collective has no size to find. */
static bool is_data_driven(const struct overlap_collective *collective)
{
    return parameters.data_driven || collective->no_elements;
}

static struct overlap_shape shape_of(const struct bc_run *run, int64_t elements)
{
    return (struct overlap_shape){
        .ranks = run->job.ranks, .root = (int)parameters.root, .elements = elements};
}

static bool fits_memory(const struct bc_run *run, int64_t elements)
{
    const struct overlap_shape shape = shape_of(run, elements);
    return overlap_bytes(validated_collective, &shape) <=
           MEMORY_SHARE * (double)run->memory_per_rank;
}

static bool can_start(const struct bc_run *run, int64_t elements)
{
    const struct overlap_shape shape = shape_of(run, elements);
    return overlap_can_start(validated_collective, &shape);
}

/* Fits memory, and MPI can be told it. */
static bool is_possible(const struct bc_run *run, int64_t elements)
{
    return can_start(run, elements) && fits_memory(run, elements);
}

static bool validate_sizes(const struct bc_run *run, struct bc_error *error)
{
    if (validated_collective->no_elements)
        return true;
    if (parameters.min_elements > parameters.max_elements)
        return bc_error_set(error,
                            "--min-num-elts: %lld is more than --max-num-elts, "
                            "%lld: lower the one or raise the other",
                            (long long)parameters.min_elements, (long long)parameters.max_elements);
    if (is_possible(run, parameters.max_elements))
        return true;
    /* The largest power of two that fits is what would do. */
    int64_t most = 1;
    while (most <= parameters.max_elements / 2 && is_possible(run, 2 * most))
        most *= 2;
    if (!bc_option_given(&run->options, "max-num-elts") && most >= parameters.min_elements) {
        parameters.max_elements = most;
        shrunk = true;
        return true;
    }
    return bc_error_set(
        error,
        "--max-num-elts: %lld elements on %d ranks do not fit "
        "into %s: use at most %lld",
        (long long)parameters.max_elements, run->job.ranks,
        fits_memory(run, parameters.max_elements) ? "what this MPI library can count" : "memory",
        (long long)most);
}

static bool validate(struct bc_run *run, struct bc_error *error)
{
    if (!is_data_driven(validated_collective))
        benchmark.table.columns = time_driven_columns;
    if (run->job.ranks < 2)
        return bc_error_set(error, "a collective needs at least 2 processes, "
                                   "got 1: use mpirun -np 2 or more" BC_LAUNCHER_HINT);
    if (parameters.root >= run->job.ranks)
        return bc_error_set(error,
                            "--root: %lld is not in the job: use 0 to "
                            "%d",
                            (long long)parameters.root, run->job.ranks - 1);
    if (parameters.max_iterations > 0 && parameters.default_iterations > parameters.max_iterations)
        return bc_error_set(error,
                            "--default-tdm-n-iters: %lld is more than "
                            "--max-tdm-iters, %lld: lower the one or raise "
                            "the other",
                            (long long)parameters.default_iterations,
                            (long long)parameters.max_iterations);
    /* The specification's counts are sample counts under other names. */
    if (parameters.default_iterations > 0 && !bc_option_given(&run->options, "samples"))
        run->settings.samples = parameters.default_iterations;
    if (parameters.max_iterations > 0) {
        run->settings.max_samples = parameters.max_iterations;
        if (run->settings.min_samples > run->settings.max_samples)
            run->settings.min_samples = run->settings.max_samples;
    }
    return validate_sizes(run, error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The bytes of one block; the mean over ranks where they differ. */
static void set_size(struct bc_row *row, const struct overlap_operation *operation)
{
    const struct overlap_shape *const shape = &operation->shape;
    const int64_t bytes = (int64_t)sizeof(double);
    if (operation->starts == NULL) {
        bc_row_integer(row, "size_bytes", bytes * shape->elements);
        return;
    }
    const int64_t all_bytes = bytes * overlap_all_amounts(shape);
    if (all_bytes % shape->ranks == 0)
        bc_row_integer(row, "size_bytes", all_bytes / shape->ranks);
    else
        bc_row_real(row, "size_bytes", (double)all_bytes / shape->ranks);
}

static void fill_row(struct bc_row *row, const struct overlap_bench *bench,
                     const struct overlap_operation *operation, const struct overlap_result *result,
                     const char *status)
{
    bc_row_clear(row, &bench->run->benchmark->table);
    bc_row_text(row, "collective", bench->collective->name);
    bc_row_text(row, "model", is_data_driven(bench->collective) ? "data" : "time");
    if (!bench->collective->no_elements)
        bc_row_integer(row, "elements", operation->shape.elements);
    set_size(row, operation);
    bc_row_time(row, "ref", &result->reference);
    bc_row_time(row, "work", &result->work);
    bc_row_time(row, "total", &result->total);
    bc_row_real(row, "ref_sd_us", result->reference_sd_ns * 1e-3);
    bc_row_real(row, "overlap_pct", result->overlap_pct);
    bc_row_real(row, "overlap_lo_pct", result->overlap_lo_pct);
    bc_row_real(row, "overlap_hi_pct", result->overlap_hi_pct);
    bc_row_integer(row, "samples", (int64_t)result->reference.count);
    bc_row_text(row, "status", status);
    bc_row_integer(row, "slowest_rank", result->slowest_rank);
}

/* All ranks' operations with wrong data, on rank 0. Collective. */
static int64_t total_wrong(struct overlap_bench *bench)
{
    int64_t wrong = 0;
    bc_harness_reduce(&bench->wrong, &wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    bench->wrong = 0;
    return wrong;
}

/* A size whose operation takes less than this share of the cutoff time was found by
   mistake: something slowed the search down. */
#define CUTOFF_SHARE 0.5

static void compare_with_cutoff(const struct overlap_bench *bench,
                                const struct overlap_result *result)
{
    const double reference_us = result->reference.value * 1e-3;
    if (reference_us < CUTOFF_SHARE * parameters.cutoff_ms * 1e3)
        bc_output_remark(bench->run->output, "warning",
                         "the operation took %.3f us here, and the cutoff time when its "
                         "size was searched for: something was in the way then; run it "
                         "again",
                         reference_us);
}

/* Measures and writes one row; `note` is its status unless something worse
   happened. Collective; false if the run must end. */
static bool measure_row(struct overlap_bench *bench, int64_t elements, int64_t rows_left,
                        const char *note)
{
    struct overlap_operation operation;
    struct overlap_result result;
    overlap_operation_create(&operation, bench->collective, (int)parameters.root, elements);
    overlap_measure(bench, &operation, bc_run_row_seconds(bench->run, rows_left), &result);
    const int64_t wrong = total_wrong(bench);
    struct bc_row row;
    const char *status = result.in_time ? "ok" : "budget";
    if (note != NULL)
        status = note;
    if (wrong > 0)
        status = "FAIL";
    fill_row(&row, bench, &operation, &result, status);
    if (wrong > 0)
        bc_output_remark(bench->run->output, "warning",
                         "wrong data in %lld operations, counted over ranks", (long long)wrong);
    if (!is_data_driven(bench->collective) && note == NULL)
        compare_with_cutoff(bench, &result);
    overlap_operation_destroy(&operation);
    return bc_run_row(bench->run, &row);
}

/* ---- the two models -------------------------------------------------------------------------- */

/* The next size of a doubling sweep, which ends on the largest; 0 after it. */
static int64_t next_elements(int64_t elements)
{
    if (elements >= parameters.max_elements)
        return 0;
    return elements > parameters.max_elements / 2 ? parameters.max_elements : 2 * elements;
}

static void run_data_driven(struct overlap_bench *bench)
{
    if (bench->collective->no_elements) {
        measure_row(bench, 0, 1, NULL);
        return;
    }
    int64_t rows_left = 0;
    for (int64_t n = parameters.min_elements; n > 0; n = next_elements(n))
        rows_left++;
    for (int64_t n = parameters.min_elements; n > 0; n = next_elements(n))
        if (!measure_row(bench, n, rows_left--, NULL))
            return;
}

/* The operation's time at a size from a few operations until end_s, the same on every
   rank. Collective. */
static double quick_reference_ns(struct overlap_bench *bench, int64_t elements, double end_s)
{
    struct overlap_operation operation;
    overlap_operation_create(&operation, bench->collective, (int)parameters.root, elements);
    const double reference_ns =
        overlap_quick_reference_ns(bench, &operation, end_s - bc_elapsed_s());
    overlap_operation_destroy(&operation);
    if (parameters.verbose)
        bc_output_remark(bench->run->output, "verbose", "%lld elements: %.3f us, cutoff %.3f us",
                         (long long)elements, reference_ns * 1e-3, parameters.cutoff_ms * 1e3);
    return reference_ns;
}

/* Grows the size until the operation takes the cutoff time, twice if there is time:
   what is in the way for a moment makes a small one take it once. Collective; the same
   on every rank. */
static int64_t find_elements(struct overlap_bench *bench, const char **note)
{
    const double cutoff_ns = parameters.cutoff_ms * 1e6;
    const double end_s = bc_elapsed_s() + GROWTH_S;
    int64_t elements = parameters.min_elements;
    for (bool again = false;;) {
        const bool takes_it = quick_reference_ns(bench, elements, end_s) >= cutoff_ns;
        int late = bc_elapsed_s() >= end_s;
        if (late && !takes_it)
            bc_output_remark(bench->run->output, "note",
                             "the search for a size that takes the cutoff time "
                             "ended after %g s",
                             GROWTH_S);
        bc_harness_bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (takes_it && (again || late))
            return elements;
        again = takes_it;
        if (takes_it)
            continue;
        const int64_t larger = late ? 0 : next_elements(elements);
        if (larger == 0) {
            *note = "max-size";
            return elements;
        }
        elements = larger;
    }
}

static void run_time_driven(struct overlap_bench *bench)
{
    const char *note = NULL;
    const int64_t elements = find_elements(bench, &note);
    measure_row(bench, elements, 1, note);
}

/* ---- main ------------------------------------------------------------------------------------ */

static void write_notes(const struct overlap_bench *bench)
{
    struct bc_output *const output = bench->run->output;
    bc_output_remark(output, "note", "work: %.4f ns a unit", bench->rate.ns_per_unit);
    if (shrunk)
        bc_output_remark(output, "note",
                         "the largest size is %lld elements: more do not fit "
                         "into memory or into what this MPI library can count",
                         (long long)parameters.max_elements);
}

/* Calibrates again and says so if the rate is not what it was. Collective. */
static void recheck_rate(const struct bc_run *run, const struct bc_work_rate *before)
{
    const struct bc_work_rate after = bc_work_calibrate();
    double drift_pct = 0.0;
    if (before->ns_per_unit > 0.0)
        drift_pct = 100.0 * fabs(after.ns_per_unit / before->ns_per_unit - 1.0);
    double most_pct = 0.0;
    bc_harness_reduce(&drift_pct, &most_pct, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (most_pct > DRIFT_WARNING_PCT)
        bc_output_remark(run->output, "warning",
                         "the work's rate drifted by %.1f %% on a rank during "
                         "the run: the processor's clock rate or its load "
                         "changed",
                         most_pct);
}

int overlap_main(const struct overlap_collective *collective, int argc, char **argv)
{
    char name[64], summary[256];
    struct bc_option rows[OVERLAP_OPTIONS_MAX];
    snprintf(name, sizeof name, "overlap_%s", collective->name);
    snprintf(summary, sizeof summary,
             "Measures how much work fits under MPI_I%s without making it take "
             "longer.\nNeeds at least 2 processes.",
             collective->name + 1);
    validated_collective = collective;
    benchmark.name = name;
    benchmark.summary = summary;
    benchmark.options = rows;
    benchmark.option_count = overlap_parameters_table(&parameters, rows);
    benchmark.validate = validate;
    struct bc_run run;
    int status;
    if (!bc_run_begin(&run, &benchmark, argc, argv, &status))
        return status;

    struct overlap_bench bench = {
        .run = &run,
        .parameters = &parameters,
        .collective = collective,
        .sampler = bc_sampler_create(MPI_COMM_WORLD),
        .rate = bc_work_calibrate(),
    };
    const struct bc_work_rate rate = bench.rate;
    write_notes(&bench);
    if (is_data_driven(collective))
        run_data_driven(&bench);
    else
        run_time_driven(&bench);
    recheck_rate(&run, &rate);
    bc_sampler_destroy(bench.sampler);
    return bc_run_end(&run);
}
