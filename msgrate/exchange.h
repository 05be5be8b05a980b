/*
 * Iterations of a message pattern, and how they become a row.
 *
 * Before each iteration, and outside its time, the caches are flushed, what is transferred is
 * written, and all ranks meet in a barrier, so that no rank times the flush of another one.
 */
#ifndef COMMCOST_MSGRATE_EXCHANGE_H
#define COMMCOST_MSGRATE_EXCHANGE_H

#include "common/large_count/large_count.h"
#include "common/mpi/mpi_check.h"
#include "msgrate/bench.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- messages -------------------------------------------------------------------------------- */

/* The messages of an iteration. A block holds those to one peer, or from it; a buffer holds the
   blocks of all peers, one after the other. With --check a message's data follows from the
   iteration, its sender, its receiver and its number, so that a message that was lost, went to the
   wrong place or is of another iteration is found. All functions are local. */
struct msgrate_messages {
    int count;               /* to a peer */
    int64_t bytes;           /* of a message */
    struct bc_amount amount; /* these bytes, as MPI takes them */
};

/* The bytes from one block to the next. */
static inline size_t msgrate_block_bytes(const struct msgrate_messages *messages)
{
    return (size_t)messages->count * (size_t)messages->bytes;
}

/* Block number `place` of a buffer. */
static inline unsigned char *msgrate_block(const struct msgrate_messages *messages,
                                           unsigned char *buffer, int place)
{
    return buffer + msgrate_block_bytes(messages) * (size_t)place;
}

/* Allocates a buffer as bc_allocate_pages does. Ends the job without memory. */
unsigned char *msgrate_allocate(const struct msgrate_messages *messages, int blocks);

/* Writes what `sender` sends to `receiver` in an iteration. */
void msgrate_write_block(const struct msgrate_messages *messages, unsigned char *block,
                         int64_t iteration, int sender, int receiver);

/* The number of messages of the block that are not what was sent. */
int64_t msgrate_count_wrong(const struct msgrate_messages *messages, const unsigned char *block,
                            int64_t iteration, int sender, int receiver);

/* ---- threads --------------------------------------------------------------------------------- */

/* A team of threads that call one function together, again and again. Between calls they spin (and
   yield), so that a call begins without a system call. All functions are local. */
struct msgrate_team;

/* Gets the context and the thread's number, 0 to threads - 1. */
typedef void msgrate_team_fn(const void *context, int thread);

/* Starts all threads but the calling one, number 0. Ends the job if a thread can't be started. */
struct msgrate_team *msgrate_team_create(int threads);

/* Calls `work` on every thread; returns when all calls have returned. */
void msgrate_team_run(struct msgrate_team *team, msgrate_team_fn *work, const void *context);

void msgrate_team_destroy(struct msgrate_team *team);

/* ---- patterns -------------------------------------------------------------------------------- */

struct msgrate_exchange;

/* Runs the timed part of an iteration; returns its time in ns. */
typedef int64_t msgrate_time_fn(const struct msgrate_exchange *exchange);

/* A pattern; of msgrate_rma, with a synchronisation. */
struct msgrate_pattern {
    const char *name;
    enum msgrate_sync sync; /* msgrate_rma only, as the next two */
    bool opens_ahead;       /* targets are exposed before the iteration begins */
    bool locks_all;         /* one lock_all lasts from begin to end */
    bool one_partner;       /* lower half to upper half; else all peers, both ways */
    /* On the lower and the upper half of the ranks, and without a partner. NULL: times nothing. */
    msgrate_time_fn *time_lower, *time_upper, *time_resting;
    /* Before the first iteration and after the last one, in no sample; NULL: nothing. */
    void (*begin)(const struct msgrate_exchange *exchange);
    void (*end)(const struct msgrate_exchange *exchange);
};

enum { MSGRATE_PATTERNS = 4, MSGRATE_RMA_PATTERNS = 8 };
extern const struct msgrate_pattern msgrate_patterns[MSGRATE_PATTERNS];
extern const struct msgrate_pattern msgrate_rma_patterns[MSGRATE_RMA_PATTERNS];

/* Put, or get, a thread's share of an exchange's messages (msgrate_rma only; timed). Local. */
msgrate_team_fn msgrate_put_share, msgrate_get_share;

/* The messages of each block that a thread transfers: first to end - 1. */
struct msgrate_share {
    int first, end;
};

/* This rank's part in a pattern. */
struct msgrate_exchange {
    struct msgrate_bench *bench;
    struct msgrate_messages messages;
    const struct msgrate_pattern *pattern; /* this and the next two: see msgrate_choose */
    int npeers;                            /* length of both lists: 0 on a rank that rests */
    const int *sends, *receives;           /* the ranks that this one sends to, receives from */
    int64_t iteration;                     /* since the pattern began */
    int64_t wrong;                         /* messages with wrong data on this rank so far */
    /* Runs one iteration with what comes before and after it; sets its time in ns, or -INFINITY on
       a rank that times nothing. Collective over MPI_COMM_WORLD. */
    void (*iterate)(void *exchange, double *time_ns);

    /* msgrate only. */
    unsigned char *send_buffer;
    /* For even and odd iterations: two buffers with --check, since what is posted ahead must not
       touch what is still to be verified; else one. */
    unsigned char *receive_buffers[2];
    MPI_Request *requests; /* 2 x peers x messages */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE */

    /* msgrate_rma only. */
    bool puts;                       /* else it gets */
    msgrate_team_fn *transfer_share; /* msgrate_put_share or msgrate_get_share */
    struct msgrate_team *team;
    struct msgrate_share *shares; /* one a thread */
    MPI_Win window;
    unsigned char *window_memory;
    unsigned char *local_buffer; /* what is put, or where gets go */
    int halves;                  /* of the window: 2 with --check, as with receive_buffers */
    MPI_Aint offset;             /* in bytes, of this iteration's messages in every window */
    const int *targets; /* the ranks that this one accesses: `sends`, or, with gets, `receives` */
    MPI_Group target_group, origin_group; /* those, and the ranks that access this one */
};

/* The buffer into which the messages of the present iteration go (msgrate only). */
static inline unsigned char *msgrate_arriving(const struct msgrate_exchange *exchange)
{
    return exchange->receive_buffers[exchange->iteration % 2];
}

/* What a row says. Filled on rank 0. */
struct msgrate_result {
    const char *pattern;
    int job_size, npeers;
    int64_t nmsgs, nbytes, cache_size;
    int ppn;
    struct bc_summary iteration; /* the slowest rank's time, ns */
    int64_t iterations;
    double rate_per_s, rate_lo_per_s, rate_hi_per_s; /* of a rank */
    double total_rate_per_s;                         /* of all ranks that take part */
    struct bc_outcome outcome;
    double rates_per_s[MSGRATE_PATTERNS];   /* msgrate -o only */
    const char *synchronisation, *transfer; /* msgrate_rma only */
    int64_t threads;                        /* msgrate_rma only */
};

/* Columns that tables of both programs have. */
#define MSGRATE_JOB_COLUMNS                                                                        \
    BC_COLUMN("job_size", BC_KEY, 0, msgrate_result, job_size),                                    \
        BC_COLUMN("npeers", BC_KEY, 0, msgrate_result, npeers),                                    \
        BC_COLUMN("niters", BC_INFO, 0, msgrate_result, iterations),                               \
        BC_COLUMN("nmsgs", BC_KEY, 0, msgrate_result, nmsgs),                                      \
        BC_COLUMN("nbytes", BC_KEY, 0, msgrate_result, nbytes),                                    \
        BC_COLUMN("cache_size", BC_KEY, 0, msgrate_result, cache_size),                            \
        BC_COLUMN("ppn", BC_KEY, 0, msgrate_result, ppn)
#define MSGRATE_COLUMNS                                                                            \
    MSGRATE_JOB_COLUMNS, BC_COLUMN("rate_per_s", BC_MORE, 1, msgrate_result, rate_per_s),          \
        BC_COLUMN("rate_lo_per_s", BC_INFO, 1, msgrate_result, rate_lo_per_s),                     \
        BC_COLUMN("rate_hi_per_s", BC_INFO, 1, msgrate_result, rate_hi_per_s),                     \
        BC_COLUMN("total_rate_per_s", BC_INFO, 1, msgrate_result, total_rate_per_s),               \
        BC_TIME_COLUMNS("iter", BC_INFO, 3, msgrate_result, iteration),                            \
        BC_OUTCOME_COLUMNS(msgrate_result, outcome)

/* What is known of a pattern; all zeros before the first visit. */
struct msgrate_row {
    struct bc_samples iterations;
    int64_t wrong; /* messages, on this rank */
    bool in_time;  /* the last visit was precise before its time was up; rank 0 */
};

/* Of a row. */
struct msgrate_key {
    int64_t size_bytes; /* of a message */
    const struct msgrate_pattern *pattern;
};

/* The members of struct bc_program that both programs have. A run with defaults ends within the
   budget. */
#define MSGRATE_PROGRAM                                                                            \
    .defaults = &msgrate_default_parameters, .defaults_bytes = sizeof msgrate_default_parameters,  \
    .state_bytes = sizeof(struct msgrate_bench), .row_bytes = sizeof(struct row),                  \
    .budget_s = 20.0, .complete = msgrate_complete

/* Allocates for the iterations of a row with two-sided communication. Local. */
void msgrate_exchange_create(struct msgrate_exchange *exchange, struct msgrate_bench *bench,
                             const struct msgrate_key *key);
void msgrate_exchange_destroy(struct msgrate_exchange *exchange);

/* Makes buffers, window and threads for the iterations of a row with one-sided communication.
   Collective over MPI_COMM_WORLD. */
void msgrate_access_create(struct msgrate_exchange *exchange, struct msgrate_bench *bench,
                           const struct msgrate_key *key);
void msgrate_access_destroy(struct msgrate_exchange *exchange);

/* Makes the next iterations those of a pattern, between this rank and its partner or all its
   peers. msgrate_exchange_create and msgrate_access_create call it. Local. */
void msgrate_choose(struct msgrate_exchange *exchange, const struct msgrate_pattern *pattern);

/* One visit: measures the pattern within `seconds` (significant on rank 0). Collective. */
void msgrate_visit(struct msgrate_exchange *exchange, double seconds, struct msgrate_row *row);

/* Whether the pattern's rate is as precise as the settings ask for. Local; rank 0. */
bool msgrate_is_precise(const struct msgrate_bench *bench, const struct msgrate_row *row);

/* Makes the result of all visits, on rank 0, warns of wrong data, and frees what the row holds.
   Collective. */
void msgrate_conclude(const struct msgrate_bench *bench, const struct msgrate_key *key,
                      struct msgrate_row *row, struct msgrate_result *result);

/* For the iterations of both kinds: meets all ranks in a barrier, then runs this rank's timed part.
   Returns its time in ns, or -INFINITY on a rank that times nothing. Collective. */
double msgrate_time(const struct msgrate_exchange *exchange);

/* Writes into a buffer what this rank sends in an iteration: with --check so that msgrate_verify
   can verify it on the receiver. Local. */
void msgrate_write(const struct msgrate_exchange *exchange, unsigned char *buffer,
                   int64_t iteration);

/* With --check, counts the wrong messages of those sent to this rank in this iteration. Local. */
void msgrate_verify(struct msgrate_exchange *exchange, unsigned char *buffer);

#endif
