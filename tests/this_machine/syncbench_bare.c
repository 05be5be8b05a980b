/*
 * Is what syncbench reports for MPI barrier what a bare loop of MPI_Barrier takes?
 *
 * Two rows: barriers one after the other; and barriers between delays like syncbench's, less these
 * delays alone. The processor guesses the end of a delay better where there is nothing else in the
 * loop, so that a barrier between delays takes some 20 ns longer than one that follows another.
 */
#include "common/clock/work.h"
#include "syncbench/measure.h"
#include "tests/this_machine/bare.h"

#include <string.h>

/* Max barriers in a sample. */
enum { INNER_MAX = 200 };

#define DELAY_NS 100.0

struct state {
    const struct bc_run *run;
    struct bc_coarray coarray;
    struct syncbench_team team;
    struct syncbench_loop loop;
};

struct row {
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

static void open_barrier(void *memory, struct bc_run *run)
{
    struct state *const state = memory;
    const struct bc_work_rate rate = bc_work_calibrate();
    state->run = run;
    bc_coarray_create(&state->coarray, MPI_COMM_WORLD, 1);
    state->team.coarray = &state->coarray;
    state->loop = (struct syncbench_loop){
        .kind = mpi_barrier(),
        .team = &state->team,
        .inner = INNER_MAX,
        .delay_units = bc_work_units(&rate, DELAY_NS),
        .rank = run->job.rank,
        .ranks = run->job.ranks,
    };
}

static void list_rows(void *state, struct bc_rows *rows)
{
    (void)state;
    bare_list(rows, ROWS);
}

struct visit {
    const struct state *state;
    struct row *row;
    int number; /* of the row */
    double seconds;
};

static void measure_ours(void *memory)
{
    const struct visit *const visit = memory;
    syncbench_visit(visit->state->run, &visit->state->loop, true, visit->seconds * BARE_OURS,
                    &visit->row->ours);
}

static void measure_bare(void *memory)
{
    const struct visit *const visit = memory;
    struct bare_loop loop = {bare_repetitions(visit->row->ours.inner),
                             visit->state->loop.delay_units};
    bare_visit(visit->state->run, bare_loops[visit->number].run, bare_loops[visit->number].less,
               &loop, loop.repetitions, visit->seconds, &visit->row->bare);
}

static void visit(void *state, const void *key, double seconds, void *row)
{
    struct visit visit = {state, row, *(const int *)key, seconds};
    bare_in_turn(visit.state->run, measure_ours, measure_bare, &visit);
}

static bool is_precise(const void *state, const void *key, const void *row)
{
    (void)key;
    return syncbench_is_precise(((const struct state *)state)->run,
                                &((const struct row *)row)->ours);
}

static void conclude(void *memory, const void *key, void *row_memory, void *result)
{
    const struct state *const state = memory;
    struct row *const row = row_memory;
    struct syncbench_result ours;
    syncbench_conclude(state->run, &row->ours, &ours);
    bare_conclude(state->run, bare_loops[*(const int *)key].name, &ours.sync, &ours.outcome,
                  &row->bare, result);
}

static void close_barrier(void *state) { bc_coarray_destroy(&((struct state *)state)->coarray); }

const struct bc_benchmark syncbench_bare_benchmark = {
    .name = "syncbench_bare",
    .summary = "Compares syncbench's MPI barrier with a bare loop.",
    .bytes = {sizeof(struct state), sizeof(int), sizeof(struct bare_result), sizeof(struct row)},
    BARE_BENCHMARK,
    .open = open_barrier,
    .rows = list_rows,
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
    .close = close_barrier,
};
