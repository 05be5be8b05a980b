/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/machine/bare.h"

#include "common/measure/result.h"

#include <stdlib.h>

/* The benchmark's share of a visit. */
#define OURS 0.5

struct bc_run *bare_run;
static const struct bare_benchmark *const benchmark = &bare_benchmark;
static int64_t repetitions; /* in the bare loop */

/* ---- samples --------------------------------------------------------------------------------- */

bool bare_measure(struct bare_row *row, double seconds, bare_kernel_fn *kernel)
{
    static const struct bc_quantities quantities = {
        .count = 1, .clock_readings = 1.0, .batching = BC_BATCHES};
    struct bc_rounds *const rounds = bc_rounds_of(bare_run, &quantities, seconds, &row->ours);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        bc_round_release(round, MPI_COMM_WORLD);
        if (round->lead_in > 0)
            kernel(round->lead_in);
        bc_round_time(round, 0, kernel(round->repetitions));
    }
    row->repetitions = row->ours.repetitions;
    return bc_store_is_precise(bare_run, &quantities, &row->ours);
}

void bare_conclude(struct bare_row *row, struct bc_summary *ours, struct bc_outcome *outcome)
{
    struct bc_repetition_result result;
    bc_store_conclude(bare_run, &row->ours, benchmark->names[row->number], &result);
    *ours = result.repetition;
    *outcome = result.outcome;
}

/* The generic bare loop; returns ns of an operation on this rank. */
static double time_loop(int quantity)
{
    if (benchmark->time_once != NULL)
        return benchmark->time_once();
    if (benchmark->prepare != NULL)
        benchmark->prepare();
    MPI_Barrier(MPI_COMM_WORLD);
    if (benchmark->leads_in && repetitions > 1)
        benchmark->repeat(quantity, 1);
    const double start_s = MPI_Wtime();
    benchmark->repeat(quantity, repetitions);
    return (MPI_Wtime() - start_s) * 1e9 / (double)repetitions;
}

/* Takes samples of the slowest rank, whose clock costs about as much as MPI_Wtime. */
static void measure_bare(struct bare_row *row, double seconds)
{
    const struct bc_quantities quantities = {
        .count = benchmark->has_reference ? 2 : 1,
        .clock_readings = 1.0,
        .batching = BC_BATCHES,
        .repetitions = repetitions,
        .lead_in = benchmark->leads_in ? BC_LEAD_IN_BATCHES : BC_LEAD_IN_NEVER,
        .no_tail = true,
    };
    if (benchmark->begin_bare != NULL)
        benchmark->begin_bare(row);
    row->bare.repetitions = repetitions;
    struct bc_rounds *const rounds = bc_rounds_of(bare_run, &quantities, seconds, &row->bare);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;)
        for (int q = 0; bc_round_wants(round, q); q++)
            bc_round_value(round, q, time_loop(q) * (double)repetitions);
    if (benchmark->end_bare != NULL)
        benchmark->end_bare();
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Both times are of an operation, in ns. */
struct bare_result {
    const char *name;
    struct bc_summary ours, bare;
    double ratio; /* ours over the bare one */
    struct bc_outcome outcome;
};

static const struct bc_column columns[] = {
    BC_COLUMN("name", BC_KEY, 0, bare_result, name),
    BC_TIME_COLUMNS("ours", BC_LESS, 4, bare_result, ours),
    BC_COLUMN_AS(BC_CELL_TIME, "bare_us", BC_LESS, 4, bare_result, bare.value),
    BC_COLUMN_AS(BC_CELL_TIME, "bare_lo_us", BC_INFO, 4, bare_result, bare.interval.lo),
    BC_COLUMN_AS(BC_CELL_TIME, "bare_hi_us", BC_INFO, 4, bare_result, bare.interval.hi),
    BC_COLUMN("ratio", BC_LESS, 4, bare_result, ratio),
    BC_OUTCOME_COLUMNS(bare_result, outcome),
};

static const struct bc_table table = {.columns = columns,
                                      .count = sizeof columns / sizeof *columns};

static int64_t number_in(const char *variable, int64_t otherwise)
{
    const char *const text = getenv(variable);
    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

/* Measures both in the other order at every other visit, so drift affects both alike. */
static void measure(struct bc_visit *visit)
{
    struct bare_row *const row = visit->row;
    const bool bare_first = bare_run->visit % 2 != number_in("BARE_FIRST", 0);
    if (benchmark->begin_visit != NULL)
        benchmark->begin_visit(row);
    for (int part = 0; part < 2; part++)
        if ((part == 0) == bare_first) {
            const int64_t ours = row->repetitions > 0 ? row->repetitions : 100;
            repetitions = benchmark->leads_in || benchmark->has_reference
                              ? number_in("BARE_REPETITIONS", ours)
                              : 1;
            measure_bare(row, visit->seconds * (1.0 - OURS));
        } else {
            visit->is_precise = benchmark->measure(row, visit->seconds * OURS);
        }
    if (benchmark->end_visit != NULL)
        benchmark->end_visit();
}

static void write_row(struct bare_row *row)
{
    struct bare_result result = {.name = benchmark->names[row->number]};
    benchmark->conclude(row, &result.ours, &result.outcome);
    if (bare_run->job.rank == 0) {
        result.bare = bc_store_summary(bare_run, &row->bare, benchmark->has_reference ? 1 : -1);
        result.ratio = result.ours.value / result.bare.value;
    }
    bc_store_free(&row->bare);
    bc_write_row(bare_run, &result);
}

/* ---- the program ----------------------------------------------------------------------------- */

bool bare_fit(void *state, struct bc_run *run, struct bc_error *error)
{
    (void)state;
    return run->job.ranks == 2 || bc_error_set(error, "needs 2 ranks");
}

int main(int argc, char **argv)
{
    const int64_t only = number_in("BARE_ROW", 0);
    char none;
    bare_run = bc_start(&benchmark->program, benchmark->state != NULL ? benchmark->state : &none,
                        argc, argv);
    bc_open_result(bare_run, &table, "");
    if (benchmark->open != NULL)
        benchmark->open();
    for (int row = 0; row < benchmark->rows; row++)
        if (only == 0 || only == row + 1)
            ((struct bare_row *)bc_add_row(bare_run))->number = row;
    for (struct bc_visit *visit; (visit = bc_next_visit(bare_run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(visit);
        else
            write_row(visit->row);
    if (benchmark->close != NULL)
        benchmark->close();
    return bc_finish(bare_run);
}
