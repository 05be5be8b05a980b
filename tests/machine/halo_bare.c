/*
 * Is the time that halo reports for a swap that of the same swap written out? By shared window it
 * is plain copies of the faces, with the same synchronisation; by messages of derived datatypes it
 * is their sends and receives. Two ranks side by side, so that faces in the first direction go to
 * the other rank and all others to the rank itself. Both are measured on the same memory.
 */
#include "common/coarray/coarray.h"
#include "halo/halo.h"
#include "tests/machine/bare.h"

#include <string.h>

enum { TAG = 99 };

/* The extent of a rank's box, N x N x N. */
enum { N = 50 };

/* The swaps' memory. */
struct arrays {
    double (*own)[N + 2][N + 2];
    /* By shared window only: the other rank's, and a window that is synchronised as halo's is. */
    double (*other)[N + 2][N + 2];
    MPI_Win window;
    int rank;
    MPI_Datatype sent[HALO_FACES], received[HALO_FACES]; /* by messages only */
};

/* ---- by shared window ------------------------------------------------------------------------ */

/* With the other rank. */
static void meet(const struct arrays *arrays)
{
    const int peer = 1 - arrays->rank;
    MPI_Request requests[2];
    MPI_Status statuses[2]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
    MPI_Win_sync(arrays->window);
    MPI_Irecv(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Win_sync(arrays->window);
}

/* What is copied of a row. Volatile, since gcc copies rows of a length that it knows in place,
   which takes 5 % longer than the C library's memcpy. */
static volatile size_t row_bytes = N * sizeof(double);

/* Without the halo's values at its ends. */
static inline void copy_row(double *to, const double *from) { memcpy(to + 1, from + 1, row_bytes); }

static void swap_by_copies(const struct arrays *arrays)
{
    double(*const own)[N + 2][N + 2] = arrays->own;
    double(*const other)[N + 2][N + 2] = arrays->other;
    meet(arrays);
    for (int y = 1; y <= N; y++)
        copy_row(own[0][y], other[N][y]);
    for (int y = 1; y <= N; y++)
        copy_row(own[N + 1][y], other[1][y]);
    for (int x = 1; x <= N; x++)
        copy_row(own[x][0], own[x][N]);
    for (int x = 1; x <= N; x++)
        copy_row(own[x][N + 1], own[x][1]);
    for (int x = 1; x <= N; x++)
        for (int y = 1; y <= N; y++)
            own[x][y][0] = own[x][y][N];
    for (int x = 1; x <= N; x++)
        for (int y = 1; y <= N; y++)
            own[x][y][N + 1] = own[x][y][1];
    meet(arrays);
}

/* The parts of a shared window follow each other in the order of ranks. */
static void find_other(struct arrays *arrays)
{
    const struct halo_box box = {{N, N, N}};
    void *unused;
    MPI_Win_allocate_shared(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&unused, &arrays->window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, arrays->window);
    const MPI_Aint bytes = bc_window_bytes(halo_array_values(&box));
    char *const own = (char *)arrays->own;
    arrays->other = (double(*)[N + 2][N + 2])(arrays->rank == 0 ? own + bytes : own - bytes);
}

static void free_window(struct arrays *arrays)
{
    MPI_Win_unlock_all(arrays->window);
    MPI_Win_free(&arrays->window);
}

/* ---- by messages ----------------------------------------------------------------------------- */

static MPI_Datatype layer(int direction, int position)
{
    const int extents[HALO_DIRECTIONS] = {N + 2, N + 2, N + 2};
    int parts[HALO_DIRECTIONS] = {N, N, N}, starts[HALO_DIRECTIONS] = {1, 1, 1};
    MPI_Datatype type;
    parts[direction] = 1;
    starts[direction] = position;
    MPI_Type_create_subarray(HALO_DIRECTIONS, extents, parts, starts, MPI_ORDER_C, MPI_DOUBLE,
                             &type);
    MPI_Type_commit(&type);
    return type;
}

static void make_types(struct arrays *arrays)
{
    for (int face = 0; face < HALO_FACES; face++) {
        const bool lower = face % 2 == 0;
        arrays->sent[face] = layer(face / 2, lower ? 1 : N);
        arrays->received[face] = layer(face / 2, lower ? 0 : N + 1);
    }
}

static void free_types(struct arrays *arrays)
{
    for (int face = 0; face < HALO_FACES; face++) {
        MPI_Type_free(&arrays->sent[face]);
        MPI_Type_free(&arrays->received[face]);
    }
}

static void swap_by_messages(const struct arrays *arrays)
{
    MPI_Request requests[2 * HALO_FACES];
    MPI_Status statuses[2 * HALO_FACES];
    for (int face = 0; face < HALO_FACES; face++)
        MPI_Irecv(arrays->own[0][0], 1, arrays->received[face],
                  face < 2 ? 1 - arrays->rank : arrays->rank, face, MPI_COMM_WORLD,
                  &requests[face]);
    for (int face = 0; face < HALO_FACES; face++)
        MPI_Isend(arrays->own[0][0], 1, arrays->sent[face],
                  face < 2 ? 1 - arrays->rank : arrays->rank, face ^ 1, MPI_COMM_WORLD,
                  &requests[HALO_FACES + face]);
    MPI_Waitall(2 * HALO_FACES, requests, statuses);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const struct bare_swap {
    const char *name; /* of the method */
    void (*make)(struct arrays *arrays);
    void (*swap)(const struct arrays *arrays);
    void (*free)(struct arrays *arrays);
} swaps[] = {
    {"shared window", find_other, swap_by_copies, free_window},
    {"isend/irecv types", make_types, swap_by_messages, free_types},
};
enum { SWAPS = sizeof swaps / sizeof *swaps };

struct state {
    const struct bc_run *run;
    struct halo_grid grid;
};

struct row {
    int number;
    struct bc_store ours;
    struct bare_row bare;
};

/* What both loops of a visit use. */
struct loops {
    struct halo_exchange exchange;
    const struct bare_swap *bare;
    struct arrays arrays;
    int64_t repetitions; /* in a sample of the bare loop: as many as in halo's */
    const struct bc_run *run;
    struct row *row;
    double seconds;
};

static const struct halo_method *method_of(const struct bare_swap *swap)
{
    const struct halo_method *const *method = halo_methods;
    while (strcmp((*method)->name, swap->name) != 0)
        method++;
    return *method;
}

static double bare(void *context)
{
    const struct loops *const loops = context;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t i = 0; i < bare_leads_in(loops->repetitions); i++)
        loops->bare->swap(&loops->arrays);
    const double start = MPI_Wtime();
    for (int64_t i = 0; i < loops->repetitions; i++)
        loops->bare->swap(&loops->arrays);
    return (MPI_Wtime() - start) * 1e9 / (double)loops->repetitions;
}

static void measure_ours(void *memory)
{
    struct loops *const loops = memory;
    struct bc_rounds *const rounds =
        bc_rounds_of(loops->run, &bare_ours, loops->seconds * BARE_OURS, &loops->row->ours);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        bc_round_release(round, MPI_COMM_WORLD);
        if (round->lead_in > 0)
            halo_time_swaps(&loops->exchange, round->lead_in);
        bc_round_time(round, 0, halo_time_swaps(&loops->exchange, round->repetitions));
    }
}

static void measure_bare(void *memory)
{
    struct loops *const loops = memory;
    loops->repetitions = bare_repetitions(loops->row->ours.repetitions);
    bare_visit_apart(loops->run, bare, loops, loops->repetitions, loops->seconds,
                     &loops->row->bare);
}

static void measure(const struct state *state, struct bc_visit *visit)
{
    const struct bc_run *const run = state->run;
    const struct halo_box box = {{N, N, N}};
    struct row *const row = visit->row;
    struct loops loops = {
        .bare = &swaps[row->number], .run = run, .row = row, .seconds = visit->seconds};
    halo_exchange_create(&loops.exchange, method_of(loops.bare), &box, &state->grid, MPI_COMM_WORLD,
                         run->job.node_comm, NULL);
    loops.arrays.rank = run->job.rank;
    loops.arrays.own = (double(*)[N + 2][N + 2]) loops.exchange.values;
    loops.bare->make(&loops.arrays);
    bare_in_turn(run, measure_ours, measure_bare, &loops);
    loops.bare->free(&loops.arrays);
    halo_exchange_destroy(&loops.exchange);
    visit->is_precise = bc_store_is_precise(run, &bare_ours, &row->ours);
}

static void write_row(struct bc_run *run, struct row *row)
{
    struct bc_repetition_result ours;
    bc_store_conclude(run, &row->ours, "swap", &ours);
    bare_write_row(run, swaps[row->number].name, &ours.repetition, &ours.outcome, &row->bare);
}

static const struct bc_program halo_bare_program = {
    .name = "halo_bare",
    .summary = "Compares halo's swaps with bare ones.",
    .state_bytes = sizeof(struct state),
    BARE_PROGRAM,
};

int main(int argc, char **argv)
{
    struct state state;
    struct bc_run *const run = bc_start(&halo_bare_program, &state, argc, argv);
    bc_open_result(run, &bare_table, "");
    state.run = run;
    state.grid = halo_grid_of((const int[]){2, 1, 1}, run->job.rank);
    bare_list(run, SWAPS);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&state, visit);
        else
            write_row(run, visit->row);
    return bc_finish(run);
}
