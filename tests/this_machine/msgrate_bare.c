/*
 * Is the rate that msgrate reports that of a bare loop of the same calls? Times are of an iteration
 * of the slowest rank, for each pattern. With one peer, both ranks send to each other. By default
 * caches stay warm; -c flushes before each loop.
 */
#include "msgrate/exchange.h"
#include "tests/this_machine/bare.h"

#include <string.h>

enum { MESSAGES = 128, BYTES = 8, TAG = 9 };

static _Alignas(4096) char sent[MESSAGES][BYTES];
static _Alignas(4096) char received[MESSAGES][BYTES];
static _Alignas(4096) MPI_Request requests[2 * MESSAGES];
/* MPI_STATUSES_IGNORE. Volatile, since gcc takes MPICH's constant for an array of size 0. */
static MPI_Status *volatile no_statuses;
static int rank, peer;

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

/* Iterations of each pattern. */

static void bare_single(void)
{
    if (rank == 0)
        post_sends(requests);
    else
        post_receives(requests);
    MPI_Waitall(MESSAGES, requests, no_statuses);
}

static void bare_both(void)
{
    post_receives(requests);
    post_sends(requests + MESSAGES);
    MPI_Waitall(2 * MESSAGES, requests, no_statuses);
}

/* Receives were posted before: in the iteration before it, or ahead. */
static void bare_pre_post(void)
{
    post_sends(requests + MESSAGES);
    MPI_Waitall(2 * MESSAGES, requests, no_statuses);
    post_receives(requests);
}

static void (*const bare[MSGRATE_PATTERNS])(void) = {bare_single, bare_both, bare_pre_post,
                                                     bare_both};

struct round {
    struct msgrate_bench *bench;
    int pattern;
    int number;
    struct row *row;
    double seconds;
};

/* What comes before an iteration is what comes before msgrate's own. */
static double bare_iteration(void *context)
{
    struct round *const round = context;
    bc_cache_flush_run(&round->bench->flush);
    memset(sent, round->number++ & 0x7f, sizeof sent);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    bare[round->pattern]();
    return (MPI_Wtime() - start) * 1e9;
}

struct row {
    struct msgrate_row ours;
    struct bare_row bare;
};

static const struct msgrate_parameters defaults = {
    .peers = 1,
    .messages = MESSAGES,
    .sizes = {.text = "8"},
    .cache_text = "0",
};

static struct msgrate_key key_of(int pattern)
{
    return (struct msgrate_key){BYTES, &msgrate_patterns[pattern]};
}

static void open_msgrate(void *state, struct bc_run *run)
{
    msgrate_open(state, run);
    rank = run->job.rank;
    peer = 1 - rank;
    no_statuses = MPI_STATUSES_IGNORE;
}

static void list_rows(void *state, struct bc_rows *rows)
{
    (void)state;
    bare_list(rows, MSGRATE_PATTERNS);
}

static void measure_ours(void *memory)
{
    struct round *const round = memory;
    const struct msgrate_key key = key_of(round->pattern);
    struct msgrate_exchange exchange;
    msgrate_exchange_create(&exchange, round->bench, &key);
    msgrate_visit(&exchange, round->seconds * BARE_OURS, &round->row->ours);
    msgrate_exchange_destroy(&exchange);
}

static void measure_bare(void *memory)
{
    struct round *const round = memory;
    const bool posts_ahead = bare[round->pattern] == bare_pre_post;
    if (posts_ahead)
        post_receives(requests);
    bare_visit(round->bench->run, bare_iteration, NULL, round, 1, round->seconds,
               &round->row->bare);
    if (posts_ahead) {
        post_sends(requests + MESSAGES);
        MPI_Waitall(2 * MESSAGES, requests, no_statuses);
    }
}

static void visit(void *state, const void *key, double seconds, void *row)
{
    struct round round = {
        .bench = state, .pattern = *(const int *)key, .row = row, .seconds = seconds};
    bare_in_turn(round.bench->run, measure_ours, measure_bare, &round);
}

static bool is_precise(const void *state, const void *key, const void *row)
{
    (void)key;
    return msgrate_is_precise(state, &((const struct row *)row)->ours);
}

static void conclude(void *state, const void *key, void *row_memory, void *result)
{
    const struct msgrate_bench *const bench = state;
    const struct msgrate_key own_key = key_of(*(const int *)key);
    struct row *const row = row_memory;
    struct msgrate_result ours;
    memset(&ours, 0, sizeof ours);
    msgrate_conclude(bench, &own_key, &row->ours, &ours);
    bare_conclude(bench->run, own_key.pattern->name, &ours.iteration, &ours.outcome, &row->bare,
                  result);
}

const struct bc_benchmark msgrate_bare_benchmark = {
    .name = "msgrate_bare",
    .summary = "Compares msgrate with bare loops.",
    .options = {msgrate_options, MSGRATE_OPTIONS, &defaults, sizeof defaults},
    .bytes = {sizeof(struct msgrate_bench), sizeof(int), sizeof(struct bare_result),
              sizeof(struct row)},
    BARE_BENCHMARK,
    .complete = msgrate_complete,
    .open = open_msgrate,
    .rows = list_rows,
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
    .close = msgrate_close,
};
