/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo: by shared window, plain copies of the faces with the same synchronisation; by messages of
 * derived datatypes, their sends and receives. The ranks are side by side, so faces in the first
 * direction go to the other rank, and all others to the rank itself. Both loops use the same
 * memory.
 */
#include "common/coarray/coarray.h"
#include "halo/halo.h"
#include "tests/machine/bare.h"

#include <string.h>

enum { TAG = 99 };

/* The extent of a rank's box, N x N x N. */
enum { N = 50 };

typedef double array[N + 2][N + 2];

static const char *const names[] = {"shared window", "isend/irecv types"}; /* of methods */
enum { SHARED_WINDOW, TYPES, ROWS };

static struct halo_exchange exchange;
static int rank, chosen;

/* ---- by shared window ------------------------------------------------------------------------ */

static array *own, *other;
static MPI_Win window; /* synchronised as halo's is */

/* Meets the other rank. */
static void meet(void)
{
    const int peer = 1 - rank;
    MPI_Request requests[2];
    MPI_Status statuses[2]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
    MPI_Win_sync(window);
    MPI_Irecv(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Win_sync(window);
}

/* The part of a row that is copied. Volatile, since gcc copies rows of a length that it knows in
   place, which takes 5 % longer than the C library's memcpy. */
static volatile size_t row_bytes = N * sizeof(double);

static inline void copy_row(double *to, const double *from) { memcpy(to + 1, from + 1, row_bytes); }

static void swap_by_copies(void)
{
    meet();
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
    meet();
}

/* The ranks' parts of halo's window follow each other in the order of ranks. */
static void find_other(void)
{
    const ptrdiff_t bytes = bc_window_bytes(halo_array_values(&exchange.box));
    void *unused;
    MPI_Win_allocate_shared(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&unused, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    other = (array *)((char *)own + (rank == 0 ? bytes : -bytes));
}

static void free_window(void)
{
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* ---- by messages ----------------------------------------------------------------------------- */

static MPI_Datatype sent[HALO_FACES], received[HALO_FACES];

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

static void make_types(void)
{
    for (int face = 0; face < HALO_FACES; face++) {
        const bool lower = face % 2 == 0;
        sent[face] = layer(face / 2, lower ? 1 : N);
        received[face] = layer(face / 2, lower ? 0 : N + 1);
    }
}

static void free_types(void)
{
    for (int face = 0; face < HALO_FACES; face++) {
        MPI_Type_free(&sent[face]);
        MPI_Type_free(&received[face]);
    }
}

static void swap_by_messages(void)
{
    MPI_Request requests[2 * HALO_FACES];
    MPI_Status statuses[2 * HALO_FACES];
    for (int face = 0; face < HALO_FACES; face++)
        MPI_Irecv(own[0][0], 1, received[face], face < 2 ? 1 - rank : rank, face, MPI_COMM_WORLD,
                  &requests[face]);
    for (int face = 0; face < HALO_FACES; face++)
        MPI_Isend(own[0][0], 1, sent[face], face < 2 ? 1 - rank : rank, face ^ 1, MPI_COMM_WORLD,
                  &requests[HALO_FACES + face]);
    MPI_Waitall(2 * HALO_FACES, requests, statuses);
}

/* ---- the benchmark --------------------------------------------------------------------------- */

static void open(void) { rank = bare_run->job.rank; }

static void begin_visit(const struct bare_row *row)
{
    static const struct halo_box box = {{N, N, N}};
    const struct halo_grid grid = halo_grid_of((const int[]){2, 1, 1}, rank);
    chosen = row->number;
    halo_exchange_create(&exchange,
                         chosen == SHARED_WINDOW ? &halo_method_shared : &halo_method_types, &box,
                         &grid, MPI_COMM_WORLD, bare_run->job.node_comm, NULL);
    own = (array *)exchange.values;
    if (chosen == SHARED_WINDOW)
        find_other();
    else
        make_types();
}

static void end_visit(void)
{
    if (chosen == SHARED_WINDOW)
        free_window();
    else
        free_types();
    halo_exchange_destroy(&exchange);
}

static struct bc_span swap_halos(int64_t repetitions)
{
    return halo_time_swaps(&exchange, repetitions);
}

static bool measure(struct bare_row *row, double seconds)
{
    return bare_measure(row, seconds, swap_halos);
}

static void repeat(int quantity, int64_t repetitions)
{
    (void)quantity;
    for (int64_t i = 0; i < repetitions && chosen == SHARED_WINDOW; i++)
        swap_by_copies();
    for (int64_t i = 0; i < repetitions && chosen == TYPES; i++)
        swap_by_messages();
}

const struct bare_benchmark bare_benchmark = {
    .program = {.name = "halo_bare",
                .summary = "Compares halo's swaps with bare ones.",
                .row_bytes = sizeof(struct bare_row),
                BARE_PROGRAM},
    .names = names,
    .rows = ROWS,
    .leads_in = true,
    .open = open,
    .begin_visit = begin_visit,
    .end_visit = end_visit,
    .measure = measure,
    .conclude = bare_conclude,
    .repeat = repeat,
};
