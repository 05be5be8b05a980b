/*
 * Is the latency that pingpong reports for MPI Send of 8 bytes that of a bare
 * loop of MPI_Send and MPI_Recv? Both are timed in one process, in turn; prints
 * the ratio of the medians. To be run on 2 ranks, by bare_ratio.py.
 */
#include "common/mpi/coarray.h"
#include "common/run/benchmark.h"
#include "pingpong/measure.h"
#include "pingpong/patterns.h"

#include <math.h>
#include <stdio.h>

enum { BLOCKS = 9, ROUNDS = 300, REPETITIONS = 50, TAG = 2 };

/* Nanoseconds of a ping-pong, in a loop of REPETITIONS, with the same memory, since
   where that lies makes up to 3 %. */
static double bare(int rank, double *value)
{
    const double start = MPI_Wtime();
    for (int i = 0; i < REPETITIONS; i++)
        if (rank == 0) {
            MPI_Send(value, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
            MPI_Recv(value, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(value, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(value, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
        }
    return (MPI_Wtime() - start) * 1e9 / REPETITIONS;
}

static const struct pingpong_pattern *mpi_send(void)
{
    const struct pingpong_pattern *pattern = pingpong_patterns;
    while (pattern->move != NULL)
        pattern++;
    return pattern;
}

/* The ratio of pingpong's time, in a new coarray, to the bare loop's, as rank 0 sees it. */
static double measure_block(const struct bc_run *run)
{
    static double bare_ns[ROUNDS];
    const int rank = run->job.rank;
    struct bc_coarray coarray;
    struct pingpong_row row = {.wrong = 0};
    struct bc_batch_result times;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 1);
    struct pingpong_game game = {
        .pattern = mpi_send(),
        .sync = PINGPONG_SYNC_NONE,
        .coarray = &coarray,
        .shape = {1, 1, 1},
        .partner = 1 - rank,
        .starts = rank == 0,
    };
    bc_amount_create(&game.message, 1, MPI_DOUBLE);
    pingpong_visit(run, &game, INFINITY, &row);
    bc_batch_conclude(run, &row.repetitions, "repetition", &times);
    bc_amount_destroy(&game.message);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        bare_ns[i] = bare(rank, coarray.values);
    }
    bc_coarray_destroy(&coarray);
    return times.repetition.value / bc_median(bare_ns, ROUNDS);
}

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    (void)state;
    return run->job.ranks == 2 || bc_error_set(error, "needs 2 ranks");
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
        printf("MPI Send of 8 bytes: %.4f of the bare loop's latency, in %d "
               "blocks from %.4f to %.4f\n",
               ratio, BLOCKS, ratios[0], ratios[BLOCKS - 1]);
}

const struct bc_benchmark pingpong_bare_benchmark = {
    .name = "pingpong_bare",
    .summary = "Compares pingpong's MPI Send with a bare loop.",
    .fit = fit,
    .open = compare,
};
