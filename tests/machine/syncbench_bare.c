/*
 * Is what syncbench reports for MPI barrier what a bare loop of MPI_Barrier takes?
 *
 * Two rows: barriers one after the other; and barriers between delays like syncbench's, less these
 * delays alone. The processor guesses the end of a delay better where there is nothing else in the
 * loop, so that a barrier between delays takes some 20 ns longer than one that follows another.
 */
#include "tests/machine/program.h"

#include "syncbench/syncbench.c" /* NOLINT(bugprone-suspicious-include): the loop is in the program's own file */

#undef main
#undef measure
#undef write_row
#undef list_rows

#include "tests/machine/bare.h"

#include <string.h>

struct row {
    int number;
    struct syncbench_row ours;
    struct bare_row bare;
};

/* What a bare loop does: as many repetitions as syncbench's loop, since long loops meet more
   stops. */
struct bare_loop {
    int64_t repetitions;
    uint64_t units; /* of a delay */
};

static double bare_barrier(void *context)
{
    const struct bare_loop *const loop = context;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int64_t k = 0; k < loop->repetitions; k++)
        MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - start) * 1e9 / (double)loop->repetitions;
}

static double bare_delay_and_barrier(void *context)
{
    const struct bare_loop *const loop = context;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int64_t k = 0; k < loop->repetitions; k++) {
        bc_work(loop->units);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) * 1e9 / (double)loop->repetitions;
}

static double bare_delay(void *context)
{
    const struct bare_loop *const loop = context;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int64_t k = 0; k < loop->repetitions; k++)
        bc_work(loop->units);
    return (MPI_Wtime() - start) * 1e9 / (double)loop->repetitions;
}

static const struct {
    const char *name;
    bare_fn *run, *less;
} bare_loops[] = {{"MPI barrier", bare_barrier, NULL},
                  {"MPI barrier between delays", bare_delay_and_barrier, bare_delay}};

enum { ROWS = sizeof(bare_loops) / sizeof(bare_loops[0]) };

static const struct syncbench_kind *mpi_barrier(void)
{
    const struct syncbench_kind *kind = syncbench_kinds;
    while (strcmp(kind->name, "MPI barrier") != 0)
        kind++;
    return kind;
}

static void open_barrier(struct syncbench *bench, struct bc_run *run)
{
    static int no_neighbours;
    bench->run = run;
    bench->parameters = syncbench_default_parameters;
    bench->neighbours = &no_neighbours;
    bench->delay_units = find_delay(&bench->parameters);
    bc_coarray_create(&bench->team.coarray, MPI_COMM_WORLD, 1);
}

struct loops {
    struct syncbench *bench;
    struct row *row;
    int number; /* of the row */
    double seconds;
    bool is_precise;
};

static void measure_ours(void *memory)
{
    struct loops *const visit = memory;
    struct bc_visit step = {.row = &visit->row->ours, .seconds = visit->seconds * BARE_OURS};
    visit->row->ours.kind = mpi_barrier();
    program_measure(visit->bench, &step);
    visit->is_precise = step.is_precise;
}

static void measure_bare(void *memory)
{
    const struct loops *const visit = memory;
    struct bare_loop loop = {bare_repetitions(visit->row->ours.loops.repetitions),
                             visit->bench->delay_units};
    bare_visit(visit->bench->run, bare_loops[visit->number].run, bare_loops[visit->number].less,
               &loop, loop.repetitions, visit->seconds, &visit->row->bare);
}

static void measure(struct syncbench *bench, struct bc_visit *visit)
{
    struct row *const row = visit->row;
    struct loops loops = {bench, row, row->number, visit->seconds, false};
    bare_in_turn(bench->run, measure_ours, measure_bare, &loops);
    visit->is_precise = loops.is_precise;
}

static void write_row(struct syncbench *bench, struct row *row)
{
    struct syncbench_result ours;
    syncbench_conclude(bench->run, &row->ours, &ours);
    bare_write_row(bench->run, bare_loops[row->number].name, &ours.sync, &ours.outcome, &row->bare);
}

static const struct bc_program syncbench_bare_program = {
    .name = "syncbench_bare",
    .summary = "Compares syncbench's MPI barrier with a bare loop.",
    .state_bytes = sizeof(struct syncbench),
    BARE_PROGRAM,
};

int main(int argc, char **argv)
{
    struct syncbench bench;
    struct bc_run *const run = bc_start(&syncbench_bare_program, &bench, argc, argv);
    bc_open_result(run, &bare_table, "");
    open_barrier(&bench, run);
    bare_list(run, ROWS);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&bench, visit);
        else
            write_row(&bench, visit->row);
    bc_coarray_destroy(&bench.team.coarray);
    return bc_finish(run);
}
