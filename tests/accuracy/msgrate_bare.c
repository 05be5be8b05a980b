/*
 * Is the rate that msgrate reports that of a bare loop of the same calls? Both are timed in one
 * process, in turn; the ratio is of the medians of the slowest rank's times, for each pattern. To
 * be run on 2 ranks: with one peer, both ranks send to each other. By default caches stay warm and
 * there are 7 blocks of 300 rounds; -c flushes before each loop, -i N makes it one block of N
 * rounds, for a look at how much the machine itself varies.
 *
 * The bare loops are written from the specification's text, with MPI_Wtime, and without anything of
 * this project.
 */
#include "common/run/benchmark.h"
#include "msgrate/exchange.h"

#include <stdio.h>
#include <string.h>

enum { BLOCKS = 7, ROUNDS = 300, ROUNDS_MAX = 10000, MESSAGES = 128, BYTES = 8, TAG = 9 };

static _Alignas(4096) char sent[MESSAGES][BYTES];
static _Alignas(4096) char received[MESSAGES][BYTES];
static _Alignas(4096) MPI_Request requests[2 * MESSAGES];
/* Volatile, since gcc takes MPICH's constant for an array of size 0. */
static MPI_Status *volatile no_statuses = MPI_STATUSES_IGNORE;
static int peer;

static void post_sends(MPI_Request *request)
{
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(sent[i], BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request[i]);
}

static void post_receives(MPI_Request *request)
{
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(received[i], BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request[i]);
}

/* The time of an iteration without flush, in ns. */
static double bare_single(int rank)
{
    const double start = MPI_Wtime();
    if (rank == 0)
        post_sends(requests);
    else
        post_receives(requests);
    MPI_Waitall(MESSAGES, requests, no_statuses);
    return (MPI_Wtime() - start) * 1e9;
}

static double bare_both(int rank)
{
    (void)rank;
    const double start = MPI_Wtime();
    post_receives(requests);
    post_sends(requests + MESSAGES);
    MPI_Waitall(2 * MESSAGES, requests, no_statuses);
    return (MPI_Wtime() - start) * 1e9;
}

static double bare_pre_post(int rank)
{
    (void)rank;
    const double start = MPI_Wtime();
    post_sends(requests + MESSAGES);
    MPI_Waitall(2 * MESSAGES, requests, no_statuses);
    post_receives(requests);
    return (MPI_Wtime() - start) * 1e9;
}

static double (*const bare[MSGRATE_PATTERNS])(int rank) = {bare_single, bare_both, bare_pre_post,
                                                           bare_both};

/* The median over rounds of the slowest rank's time, on rank 0. Collective. */
static double slowest_median(const double *local, int rounds)
{
    static double slowest[ROUNDS_MAX];
    MPI_Reduce(local, slowest, rounds, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return bc_median(slowest, (size_t)rounds);
}

/* Times a pattern, in new buffers, and its bare loop in turn; the ratio of their
   rates, and the bare one's in messages a second, on rank 0. */
static double measure_block(struct msgrate_bench *bench, int pattern, int rounds,
                            double *bare_per_s)
{
    static double ours_ns[ROUNDS_MAX], bare_ns[ROUNDS_MAX];
    const int rank = bench->run->job.rank;
    const bool posts_ahead = msgrate_patterns[pattern].begin != NULL;
    struct msgrate_exchange exchange;
    msgrate_exchange_create(&exchange, bench,
                            &(struct msgrate_key){BYTES, &msgrate_patterns[pattern]});
    for (int round = 0; round < rounds; round++) {
        /* What is posted ahead must not wait in the other's queue: each does its
           last iteration's sends before the other's begin. */
        if (posts_ahead)
            msgrate_patterns[pattern].begin(&exchange);
        exchange.iterate(&exchange, &ours_ns[round]);
        if (posts_ahead)
            msgrate_patterns[pattern].end(&exchange);

        if (posts_ahead)
            post_receives(requests);
        bc_cache_flush_run(&bench->flush);
        memset(sent, round & 0x7f, sizeof sent);
        MPI_Barrier(MPI_COMM_WORLD);
        bare_ns[round] = bare[pattern](rank);
        if (posts_ahead) {
            post_sends(requests + MESSAGES);
            MPI_Waitall(2 * MESSAGES, requests, no_statuses);
        }
    }
    msgrate_exchange_destroy(&exchange);
    const double ours = slowest_median(ours_ns, rounds);
    const double reference = slowest_median(bare_ns, rounds);
    const int messages = msgrate_patterns[pattern].one_partner ? MESSAGES : 2 * MESSAGES;
    *bare_per_s = messages / reference * 1e9;
    return reference / ours;
}

/* The same, the median of several: where buffers happen to lie makes blocks differ. */
static void measure(struct msgrate_bench *bench, int pattern)
{
    const int asked = (int)bench->parameters.iterations;
    const int blocks = asked > 0 ? 1 : BLOCKS;
    double ratios[BLOCKS], bare_per_s = 0.0;
    for (int block = 0; block < blocks; block++)
        ratios[block] = measure_block(bench, pattern, asked > 0 ? asked : ROUNDS, &bare_per_s);
    const double ratio = bc_median(ratios, (size_t)blocks);
    if (bench->run->job.rank == 0)
        printf("%s: rate %.4f of the bare loop's, %.0f a second; in %d blocks "
               "from %.3f to %.3f\n",
               msgrate_patterns[pattern].name, ratio, bare_per_s, blocks, ratios[0],
               ratios[blocks - 1]);
}

static const struct msgrate_parameters defaults = {
    .peers = 1,
    .messages = MESSAGES,
    .sizes = {.text = "8"},
    .cache_text = "0",
};

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    const struct msgrate_bench *const bench = state;
    if (run->job.ranks != 2 || bench->parameters.iterations > ROUNDS_MAX)
        return bc_error_set(error, "needs 2 ranks, and at most %d iterations", ROUNDS_MAX);
    return true;
}

static void compare(void *state, struct bc_run *run)
{
    struct msgrate_bench *const bench = state;
    msgrate_open(bench, run);
    peer = 1 - run->job.rank;
    for (int i = 0; i < MSGRATE_PATTERNS; i++)
        measure(bench, i);
}

const struct bc_benchmark msgrate_bare_benchmark = {
    .name = "msgrate_bare",
    .summary = "Compares msgrate with bare loops.",
    .options = {msgrate_options, MSGRATE_OPTIONS, &defaults, sizeof defaults},
    .bytes = {.state = sizeof(struct msgrate_bench)},
    .complete = msgrate_complete,
    .fit = fit,
    .open = compare,
    .close = msgrate_close,
};
