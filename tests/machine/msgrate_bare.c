/*
 * Is the rate that msgrate reports that of a bare loop of the same calls? Times are of an iteration
 * of the slowest rank, for each pattern. With one peer, both ranks send to each other. By default
 * caches stay warm; -c flushes before each loop.
 */
#include "tests/machine/program.h"

#include "msgrate/msgrate.c" /* NOLINT(bugprone-suspicious-include): the loop is in the program's own file */

#undef main
#undef measure
#undef write_row
#undef list_rows

#include "tests/machine/bare.h"

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
    bool is_precise;
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
    int pattern;
    struct msgrate_row ours;
    struct bare_row bare;
};

static const struct msgrate_parameters defaults = {
    .peers = 1,
    .messages = MESSAGES,
    .sizes = {.text = "8"},
    .cache_text = "0",
    .memory = BC_MEMORY_DEFAULTS,
};

static void measure_ours(void *memory)
{
    struct round *const round = memory;
    const struct msgrate_pattern *const pattern = &msgrate_patterns[round->pattern];
    struct msgrate_row *const row = &round->row->ours;
    row->pattern = pattern->name;
    row->one_partner = pattern->one_partner;
    row->size_bytes = BYTES;
    round->is_precise = measure_pattern(round->bench, pattern, round->seconds * BARE_OURS, row);
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

static void measure(struct msgrate_bench *bench, struct bc_visit *visit)
{
    struct row *const row = visit->row;
    struct round round = {
        .bench = bench, .pattern = row->pattern, .row = row, .seconds = visit->seconds};
    bare_in_turn(bench->run, measure_ours, measure_bare, &round);
    visit->is_precise = round.is_precise;
}

static void write_row(const struct msgrate_bench *bench, struct row *row)
{
    struct msgrate_result ours = {0};
    msgrate_conclude(bench, &row->ours, &ours);
    bare_write_row(bench->run, row->ours.pattern, &ours.iterations.repetition,
                   &ours.iterations.outcome, &row->bare);
}

static const struct bc_program msgrate_bare_program = {
    .name = "msgrate_bare",
    .summary = "Compares msgrate with bare loops.",
    .options = {msgrate_options, MSGRATE_OPTIONS},
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .state_bytes = sizeof(struct msgrate_bench),
    .complete = msgrate_complete,
    BARE_PROGRAM,
};

int main(int argc, char **argv)
{
    struct msgrate_bench bench;
    struct bc_run *const run = bc_start(&msgrate_bare_program, &bench, argc, argv);
    bc_open_result(run, &bare_table, "");
    msgrate_open(&bench, run);
    rank = run->job.rank;
    peer = 1 - rank;
    no_statuses = MPI_STATUSES_IGNORE;
    bare_list(run, MSGRATE_PATTERNS);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&bench, visit);
        else
            write_row(&bench, visit->row);
    msgrate_close(&bench);
    return bc_finish(run);
}
