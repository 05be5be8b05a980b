/*
 * Is the time that pingpong reports for MPI Send of 8 bytes that of a bare loop of MPI_Send and
 * MPI_Recv? Times are of a repetition, there and back.
 */
#include "common/mpi/coarray.h"
#include "pingpong/measure.h"
#include "pingpong/patterns.h"
#include "tests/accuracy/bare.h"

enum { TAG = 2 };

struct state {
    const struct bc_run *run;
};

struct row {
    struct pingpong_row ours;
    struct bare_row bare;
};

/* Of the same memory as pingpong's, since where that lies makes up to 3 %, and as many repetitions,
   since long loops meet more stops. */
struct loop {
    double *value;
    int64_t repetitions;
};

static double bare_pingpong(void *context)
{
    const struct loop *const loop = context;
    double *const value = loop->value;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int64_t i = 0; i < loop->repetitions; i++)
        if (rank == 0) {
            MPI_Send(value, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
            MPI_Recv(value, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(value, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(value, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
        }
    return (MPI_Wtime() - start) * 1e9 / (double)loop->repetitions;
}

static const struct pingpong_pattern *mpi_send(void)
{
    const struct pingpong_pattern *pattern = pingpong_patterns;
    while (pattern->move != NULL)
        pattern++;
    return pattern;
}

static void open_pingpong(void *state, struct bc_run *run) { ((struct state *)state)->run = run; }

static void list_rows(void *state, struct bc_rows *rows)
{
    (void)state;
    bare_list(rows, 1);
}

static void visit(void *state, const void *key, double seconds, void *row_memory)
{
    const struct bc_run *const run = ((const struct state *)state)->run;
    struct row *const row = row_memory;
    struct bc_coarray coarray;
    (void)key;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 1);
    struct pingpong_game game = {
        .pattern = mpi_send(),
        .sync = PINGPONG_SYNC_NONE,
        .coarray = &coarray,
        .shape = {1, 1, 1},
        .partner = 1 - run->job.rank,
        .starts = run->job.rank == 0,
    };
    bc_amount_create(&game.message, 1, MPI_DOUBLE);
    pingpong_visit(run, &game, seconds * BARE_OURS, &row->ours);
    bc_amount_destroy(&game.message);
    struct loop loop = {coarray.values, row->ours.repetitions.repetitions};
    bare_visit(run, bare_pingpong, NULL, &loop, loop.repetitions, seconds, &row->bare);
    bc_coarray_destroy(&coarray);
}

static bool is_precise(const void *state, const void *key, const void *row)
{
    (void)key;
    return bc_batch_is_precise(((const struct state *)state)->run,
                               &((const struct row *)row)->ours.repetitions);
}

static void conclude(void *state, const void *key, void *row_memory, void *result)
{
    const struct bc_run *const run = ((const struct state *)state)->run;
    struct row *const row = row_memory;
    struct bc_batch_result ours;
    (void)key;
    bc_batch_conclude(run, &row->ours.repetitions, "repetition", &ours);
    bare_conclude(run, "MPI Send", &ours.repetition, &ours.outcome, &row->bare, result);
}

const struct bc_benchmark pingpong_bare_benchmark = {
    .name = "pingpong_bare",
    .summary = "Compares pingpong's MPI Send with a bare loop.",
    .bytes = {sizeof(struct state), sizeof(int), sizeof(struct bare_result), sizeof(struct row)},
    BARE_BENCHMARK,
    .open = open_pingpong,
    .rows = list_rows,
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
};
