/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * syncbench: MPI_Barrier between delays like syncbench's, less these delays alone. Without delays,
 * a barrier that follows another takes some 20 ns less: the processor guesses the end of a delay
 * better if there is nothing else in the loop.
 */
#define main program_main
#include "syncbench/syncbench.c" /* NOLINT(bugprone-suspicious-include): the loop is in the program's own file */
#undef main

#include "tests/machine/bare.h"

#include <string.h>

struct row {
    struct bare_row bare;
    struct syncbench_row ours;
};

static const char *const names[] = {"MPI barrier between delays"};

static struct syncbench bench;

static void open_barrier(void)
{
    static int no_neighbours;
    bench.run = bare_run;
    bench.parameters = syncbench_default_parameters;
    bench.neighbours = &no_neighbours;
    bench.delay_units = find_delay(&bench.parameters);
    bc_coarray_create(&bench.team.coarray, MPI_COMM_WORLD, 1);
}

static void close_barrier(void) { bc_coarray_destroy(&bench.team.coarray); }

static const struct syncbench_kind *mpi_barrier(void)
{
    const struct syncbench_kind *kind = syncbench_kinds;
    while (strcmp(kind->name, "MPI barrier") != 0)
        kind++;
    return kind;
}

static bool measure_ours(struct bare_row *bare, double seconds)
{
    struct syncbench_row *const ours = &((struct row *)bare)->ours;
    struct bc_visit visit = {.row = ours, .seconds = seconds};
    ours->kind = mpi_barrier();
    measure(&bench, &visit);
    bare->repetitions = ours->loops.repetitions;
    return visit.is_precise;
}

static void conclude(struct bare_row *bare, struct bc_summary *ours, struct bc_outcome *outcome)
{
    struct syncbench_result result;
    syncbench_conclude(bench.run, &((struct row *)bare)->ours, &result);
    *ours = result.sync;
    *outcome = result.outcome;
}

static void repeat(int quantity, int64_t repetitions)
{
    for (int64_t i = 0; i < repetitions && quantity == SYNCBENCH_LOOP; i++) {
        bc_work(bench.delay_units);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int64_t i = 0; i < repetitions && quantity == SYNCBENCH_REFERENCE; i++)
        bc_work(bench.delay_units);
}

const struct bare_benchmark bare_benchmark = {
    .program = {.name = "syncbench_bare",
                .summary = "Compares syncbench with a bare loop.",
                .state_bytes = sizeof bench,
                .row_bytes = sizeof(struct row),
                BARE_PROGRAM},
    .state = &bench,
    .names = names,
    .rows = 1,
    .has_reference = true,
    .open = open_barrier,
    .close = close_barrier,
    .measure = measure_ours,
    .conclude = conclude,
    .repeat = repeat,
};
