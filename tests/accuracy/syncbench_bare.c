/*
 * Is what syncbench reports for MPI barrier what a bare loop of MPI_Barrier takes?
 */
#include "common/clock/work.h"
#include "syncbench/measure.h"
#include "tests/accuracy/bare.h"

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

/* As many as syncbench's loop has, since long loops meet more stops. */
static double bare_barrier(void *context)
{
    const int64_t repetitions = ((const struct row *)context)->ours.inner;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int64_t k = 0; k < repetitions; k++)
        MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - start) * 1e9 / (double)repetitions;
}

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
    bare_list(rows, 1);
}

static void visit(void *memory, const void *key, double seconds, void *row_memory)
{
    const struct state *const state = memory;
    struct row *const row = row_memory;
    (void)key;
    syncbench_visit(state->run, &state->loop, true, seconds * BARE_OURS, &row->ours);
    bare_visit(state->run, bare_barrier, row, row->ours.inner, seconds, &row->bare);
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
    (void)key;
    syncbench_conclude(state->run, &row->ours, &ours);
    bare_conclude(state->run, "MPI barrier", &ours.sync, &ours.outcome, &row->bare, result);
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
