/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * msgrate: an iteration of each pattern with one peer, so both ranks send to each other. By default
 * caches stay warm; -c flushes before each loop.
 */
#define main program_main
#include "msgrate/msgrate.c" /* NOLINT(bugprone-suspicious-include): the loop is in the program's own file */
#undef main

#include "tests/machine/bare.h"

#include <string.h>

enum { MESSAGES = 128, BYTES = 8, TAG = 9 };

struct row {
    struct bare_row bare;
    struct msgrate_row ours;
};

static const char *const names[MSGRATE_PATTERNS] = {"single direction", "pair-based", "pre-post",
                                                    "all-start"};
enum { SINGLE, PAIR_BASED, PRE_POST, ALL_START };

static _Alignas(4096) char sent[MESSAGES][BYTES];
static _Alignas(4096) char received[MESSAGES][BYTES];
static _Alignas(4096) MPI_Request requests[2 * MESSAGES];
static int rank, chosen;
static struct msgrate_bench bench;
/* MPI_STATUSES_IGNORE. Volatile, since gcc takes MPICH's constant for an array of size 0. */
static MPI_Status *volatile no_statuses;

/* ---- the benchmark --------------------------------------------------------------------------- */

static void open_msgrate(void)
{
    msgrate_open(&bench, bare_run);
    rank = bare_run->job.rank;
    no_statuses = MPI_STATUSES_IGNORE;
}

static void close_msgrate(void) { msgrate_close(&bench); }

static bool measure_ours(struct bare_row *bare, double seconds)
{
    const struct msgrate_pattern *const pattern = &msgrate_patterns[bare->number];
    struct msgrate_row *const ours = &((struct row *)bare)->ours;
    ours->pattern = pattern->name;
    ours->one_partner = pattern->one_partner;
    ours->size_bytes = BYTES;
    return measure_pattern(&bench, pattern, seconds, ours);
}

static void conclude(struct bare_row *bare, struct bc_summary *ours, struct bc_outcome *outcome)
{
    struct msgrate_result result = {0};
    msgrate_conclude(&bench, &((struct row *)bare)->ours, &result);
    *ours = result.iterations.repetition;
    *outcome = result.iterations.outcome;
}

/* ---- bare calls ------------------------------------------------------------------------------ */

static void post_sends_from(MPI_Request *request)
{
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(sent[i], BYTES, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, &request[i]);
}

static void post_receives(void)
{
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(received[i], BYTES, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, &requests[i]);
}

static void send_and_wait(void)
{
    post_sends_from(requests + MESSAGES);
    MPI_Waitall(2 * MESSAGES, requests, no_statuses);
}

static void begin_bare(const struct bare_row *row)
{
    chosen = row->number;
    if (chosen == PRE_POST)
        post_receives();
}

static void end_bare(void)
{
    if (chosen == PRE_POST)
        send_and_wait();
}

/* Comes before an iteration, as before msgrate's own. */
static void prepare(void)
{
    static int number;
    bc_cache_flush_run(&bench.flush);
    memset(sent, number++ & 0x7f, sizeof sent);
}

static void iterate(int quantity, int64_t iterations)
{
    (void)quantity;
    (void)iterations; /* 1 */
    if (chosen == SINGLE) {
        if (rank == 0)
            post_sends_from(requests);
        else
            post_receives();
        MPI_Waitall(MESSAGES, requests, no_statuses);
        return;
    }
    if (chosen != PRE_POST)
        post_receives();
    send_and_wait();
    if (chosen == PRE_POST)
        post_receives();
}

static const struct msgrate_parameters defaults = {
    .peers = 1,
    .messages = MESSAGES,
    .sizes = {.text = "8"},
    .cache_text = "0",
    .memory = BC_MEMORY_DEFAULTS,
};

const struct bare_benchmark bare_benchmark = {
    .program = {.name = "msgrate_bare",
                .summary = "Compares msgrate with bare loops.",
                .options = {msgrate_options, MSGRATE_OPTIONS},
                .defaults = &defaults,
                .defaults_bytes = sizeof defaults,
                .state_bytes = sizeof bench,
                .row_bytes = sizeof(struct row),
                .complete = msgrate_complete,
                BARE_PROGRAM},
    .state = &bench,
    .names = names,
    .rows = MSGRATE_PATTERNS,
    .open = open_msgrate,
    .close = close_msgrate,
    .begin_bare = begin_bare,
    .end_bare = end_bare,
    .measure = measure_ours,
    .conclude = conclude,
    .prepare = prepare,
    .repeat = iterate,
};
