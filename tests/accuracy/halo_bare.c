/*
 * Is the time that halo reports for a swap by shared window that of plain copies of the same faces,
 * with the same synchronisation written out? Both are timed in one process, in turn, on the same
 * memory; prints the ratio of the medians. To be run on 2 ranks of one node, by bare_ratio.py.
 */
#include "common/mpi/coarray.h"
#include "common/run/benchmark.h"
#include "common/stats/batch.h"
#include "halo/methods.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 9, ROUNDS = 300, REPETITIONS = 2, TAG = 99 };

/* The extent of the box that two ranks have side by side, N x N x N. */
enum { N = 50 };

typedef double array[N + 2][N + 2][N + 2];

/* With the other rank. */
static void meet(int peer)
{
    MPI_Request requests[2];
    MPI_Status statuses[2]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
    atomic_thread_fence(memory_order_seq_cst);
    MPI_Irecv(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    atomic_thread_fence(memory_order_seq_cst);
}

/* What is copied of a row. Volatile, since gcc copies rows of a length that it knows
   in place, which takes 5 % longer than the C library's memcpy. */
static volatile size_t row_bytes = N * sizeof(double);

/* Without the halo's values at its ends. */
static inline void copy_row(double *to, const double *from) { memcpy(to + 1, from + 1, row_bytes); }

/* Nanoseconds of a swap, in a loop of REPETITIONS, of the faces in the first direction
   with the other rank, in the others with itself. */
static double bare(array own, array other, int peer)
{
    const double start = MPI_Wtime();
    for (int i = 0; i < REPETITIONS; i++) {
        meet(peer);
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
        meet(peer);
    }
    return (MPI_Wtime() - start) * 1e9 / REPETITIONS;
}

static const struct halo_method *shared_window(void)
{
    const struct halo_method *method = halo_methods;
    while (!method->shares_node)
        method++;
    return method;
}

static double repeat(void *exchange, int64_t repetitions)
{
    return halo_swap_often(shared_window(), exchange, repetitions, NULL);
}

/* The ratio of halo's time, in a new window, to the bare loop's, as rank 0 sees it. */
static double measure_block(const struct bc_run *run)
{
    static double bare_ns[ROUNDS];
    struct bc_batch_row row = {.repetitions = 0};
    struct bc_batch_result swaps;
    static const int dims[] = {2, 1, 1};
    const struct halo_box box = {{N, N, N}};
    const int rank = run->job.rank;
    const struct halo_grid grid = halo_grid_of(dims, rank);
    struct halo_exchange exchange;
    halo_exchange_init(&exchange, &box, &grid, MPI_COMM_WORLD, run->job.node_comm);
    shared_window()->create(&exchange);
    /* The parts of a shared window follow each other in the order of ranks. */
    char *const own = (char *)exchange.values;
    const MPI_Aint bytes = bc_window_bytes(halo_array_values(&box));
    char *const other = rank == 0 ? own + bytes : own - bytes;
    const struct bc_batch batch = {.repeat = repeat, .context = &exchange, .clock_readings = 1.0};
    bc_batch_visit(run, &batch, INFINITY, &row);
    bc_batch_conclude(run, &row, "swap", &swaps);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        bare_ns[i] = bare((double(*)[N + 2][N + 2]) own, (double(*)[N + 2][N + 2]) other, 1 - rank);
    }
    shared_window()->destroy(&exchange);
    return swaps.repetition.value / bc_median(bare_ns, ROUNDS);
}

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    (void)state;
    return (run->job.ranks == 2 && run->job.nodes == 1) ||
           bc_error_set(error, "needs 2 ranks of one node");
}

static void compare(void *state, struct bc_run *run)
{
    double ratios[BLOCKS];
    (void)state;
    run->settings.samples = ROUNDS;
    run->visits = 1;
    for (int block = 0; block < BLOCKS; block++)
        ratios[block] = measure_block(run);
    const double ratio = bc_median(ratios, BLOCKS);
    if (run->job.rank == 0)
        printf("shared window, %d values a side: %.4f of the bare loop's time, "
               "in %d blocks from %.4f to %.4f\n",
               N, ratio, BLOCKS, ratios[0], ratios[BLOCKS - 1]);
}

const struct bc_benchmark halo_bare_benchmark = {
    .name = "halo_bare",
    .summary = "Compares halo's shared window with plain copies.",
    .fit = fit,
    .open = compare,
};
