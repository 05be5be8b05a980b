/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts shared by msgrate and msgrate_rma: options, peers, cache flush, the messages of an
 * iteration, and a pattern's samples and result.
 *
 * Before each iteration, untimed, ranks flush their caches, write the data to be transferred, and
 * enter a barrier, so that no rank times the flush of another rank.
 */
#pragma once

#include "common/device/memory.h"
#include "common/mpi/large_count.h"
#include "common/job/node_order.h"
#include "common/measure/result.h"
#include "common/memory/cache.h"
#include "common/run/parse.h"
#include "common/run/run.h"

/* ---- options (parameters.c) ------------------------------------------------------------------ */

enum msgrate_transfer { MSGRATE_PUT, MSGRATE_GET, MSGRATE_TRANSFERS };

/* Synchronisation of one-sided transfers. MSGRATE_ALL means a row for each. */
enum msgrate_sync {
    MSGRATE_ALL,
    MSGRATE_FENCE,
    MSGRATE_LOCK,  /* lock and unlock */
    MSGRATE_PSCW,  /* post, start, complete and wait */
    MSGRATE_FLUSH, /* inside one lock_all */
    MSGRATE_SYNCS
};

struct msgrate_parameters {
    int64_t peers;             /* of a rank, to send to and to receive from */
    int64_t iterations;        /* 0: adaptive */
    int64_t messages;          /* per peer and iteration */
    struct bc_size_list sizes; /* of a message, in bytes */
    const char *cache_text;    /* "llc" or a size */
    int64_t stride;            /* between peers, in ranks ordered by node; 0: automatic */

    /* msgrate only. */
    bool machine_readable;
    struct bc_memory_options memory;
    int buffers; /* enum bc_buffers */

    /* msgrate_rma only. */
    int transfer; /* enum msgrate_transfer */
    int sync;     /* enum msgrate_sync */
    int64_t threads;

    bool lowers_peers; /* the job is too small for the default `peers`; rank 0 */

    int64_t cache_bytes; /* from cache_text; for llc the max over ranks after msgrate_open; 0 if not
                            known */
};

extern const struct msgrate_parameters msgrate_default_parameters;
enum { MSGRATE_OPTIONS = 10, MSGRATE_RMA_OPTIONS = 9 };
extern const struct bc_option msgrate_options[MSGRATE_OPTIONS];
extern const struct bc_option msgrate_rma_options[MSGRATE_RMA_OPTIONS];

/* Functions of both programs (struct bc_program); `state` is a struct msgrate_bench. */
bool msgrate_complete(void *state, struct bc_error *error);
bool msgrate_fit(void *state, struct bc_run *run, struct bc_error *error);

/* Returns the bytes of all buffers that a rank of msgrate has at a time, possibly on a GPU. */
double msgrate_device_bytes(const struct msgrate_parameters *parameters, const struct bc_run *run);

/* Members of struct bc_program that both programs share. */
#define MSGRATE_PROGRAM                                                                            \
    .defaults = &msgrate_default_parameters, .defaults_bytes = sizeof msgrate_default_parameters,  \
    .state_bytes = sizeof(struct msgrate_bench), .budget_s = BC_BUDGET_S,                          \
    .complete = msgrate_complete

/* ---- shared state ---------------------------------------------------------------------------- */

/* The state of both programs. */
struct msgrate_bench {
    struct msgrate_parameters parameters;
    struct bc_run *run;
    struct bc_device *device; /* NULL if all buffers are in host memory */
    struct bc_cache_flush flush;
    struct bc_node_order by_node; /* order in which peers and partners are chosen */
    int npeers;                   /* length of `sends` and of `receives` */
    int *sends, *receives;        /* ranks that this one sends to, receives from */
    int stride;                   /* between peers, in ranks ordered by node */
    int partner;                  /* in the single direction; -1 if this rank has none */
    bool lower;                   /* this rank is in the lower half of the ranks ordered by node */
};

/* Remedy if buffers don't fit into a GPU's memory. */
#define MSGRATE_MEMORY_ADVICE "a smaller --size, or fewer --messages"

/* True if each iteration has a counterpart that stages its messages. */
static inline bool msgrate_has_staged(const struct msgrate_bench *bench)
{
    return bench->device != NULL && !bench->parameters.machine_readable;
}

/* Creates peers and flush, and writes notes. Collective. */
void msgrate_open(struct msgrate_bench *bench, struct bc_run *run);
void msgrate_close(struct msgrate_bench *bench);

/* ---- peers (peers.c) ------------------------------------------------------------------------- */

/* Chooses peers and partner, and prints notes on their nodes. Collective. */
void msgrate_peers_create(struct msgrate_bench *bench);

/* Choice of peers. All functions are pure. Ranks here are positions in common/job/node_order.h, so
   that the ranks of a node are adjacent, and they form a ring. Half of a rank's `count` peers are
   below it, half above, a stride apart, in ascending order. If `count` is odd, the extra peer is
   above for sending and below for receiving, so that one peer makes a ring. */

/* True if `count` peers, `stride` ranks apart, are different ranks other than the rank itself. */
bool msgrate_peers_distinct(int ranks, int count, int stride);

/* Counts the peers of all ranks that share the rank's node, for each of `strides` strides from
   `first` on. */
typedef void msgrate_within_fn(void *context, int first, int strides, int64_t *within);

/* Returns the smallest stride with distinct peers that puts the largest share of them on other
   nodes. Calls `within_of` for strides up to ranks / 2 (larger ones are the same distances in the
   other direction), and stops after a stride that puts all peers on other nodes. Needs more ranks
   than peers. */
int msgrate_peers_stride(int ranks, int count, msgrate_within_fn *within_of, void *context);

/* Lists the `count` ranks that `rank` sends to and receives from. The rank sends to sends[count - 1
   - i] at the same distance as it receives from receives[i] on the other side. So all ranks can
   exchange messages in steps i = 0, 1 ..., and none waits for a message that is sent in a later
   step. */
void msgrate_peers_list(int rank, int ranks, int count, int stride, int *sends, int *receives);

/* Returns the partner in a job whose lower half sends to the upper half, or -1 for the last rank of
   an odd number. */
int msgrate_partner(int rank, int ranks);

/* ---- messages -------------------------------------------------------------------------------- */

/* The messages of an iteration. A block holds those to or from one peer; a buffer holds the blocks
   of all peers. With --check a message's data depends on the iteration, its sender, its receiver
   and its number. All functions are local. */
struct msgrate_messages {
    int count;                   /* per peer */
    int64_t bytes;               /* of a message */
    struct bc_amount amount;     /* these bytes as a count and a type */
    int npeers;                  /* length of both lists; 0 on a rank without a partner */
    const int *sends, *receives; /* ranks that this one sends to, receives from */
};

/* Returns the messages between this rank and all its peers, or its partner in the single direction.
   The caller frees `amount`. */
struct msgrate_messages msgrate_messages_of(const struct msgrate_bench *bench, int64_t bytes,
                                            bool one_partner);

/* Return the bytes of a block and of a buffer. */
static inline size_t msgrate_block_bytes(const struct msgrate_messages *messages)
{
    return (size_t)messages->count * (size_t)messages->bytes;
}
static inline size_t msgrate_buffer_bytes(const struct msgrate_messages *messages)
{
    return msgrate_block_bytes(messages) * (size_t)messages->npeers;
}

/* Returns block number `place` of a buffer. */
static inline unsigned char *msgrate_block(const struct msgrate_messages *messages,
                                           unsigned char *buffer, int place)
{
    return buffer + msgrate_block_bytes(messages) * (size_t)place;
}

/* Allocates a buffer, to be freed by bc_free_buffer. */
unsigned char *msgrate_allocate(const struct msgrate_messages *messages);

/* Writes the data that this rank sends in an iteration. */
void msgrate_write(const struct bc_run *run, const struct msgrate_messages *messages,
                   unsigned char *buffer, int64_t iteration);

/* Returns the number of wrong messages to this rank in an iteration (--check). */
int64_t msgrate_verify(const struct bc_run *run, const struct msgrate_messages *messages,
                       unsigned char *buffer, int64_t iteration);

/* ---- rows ------------------------------------------------------------------------------------ */

enum { MSGRATE_PATTERNS = 4 }; /* of msgrate */

/* Filled on rank 0. */
struct msgrate_result {
    const char *pattern;
    int job_size, npeers;
    int64_t nmsgs, nbytes, cache_size;
    int ppn;
    struct bc_repetition_result iterations;          /* one is a repetition */
    double rate_per_s, rate_lo_per_s, rate_hi_per_s; /* of a rank */
    double total_rate_per_s;                         /* of all ranks that take part */
    double rates_per_s[MSGRATE_PATTERNS];            /* msgrate -o only */
    const char *buffers;                             /* msgrate only */
    struct bc_staged staged;                         /* msgrate only, of an iteration */
    const char *synchronisation, *transfer;          /* msgrate_rma only */
    int64_t threads;                                 /* msgrate_rma only */
};

/* Tables of msgrate without and with -o, and of msgrate_rma. */
extern const struct bc_table msgrate_table, msgrate_machine_table, msgrate_rma_table;

/* A key with --buffers=new. */
extern const struct bc_column msgrate_buffers_column;

/* The quantities of a round: an iteration, and its staged counterpart if there is one. */
enum msgrate_quantity { MSGRATE_DIRECT, MSGRATE_STAGED, MSGRATE_QUANTITIES };

/* For iterations without a counterpart. */
extern const struct bc_quantities msgrate_quantities;

/* A pattern at a size, and its state kept between visits. */
struct msgrate_row {
    const char *pattern;
    bool one_partner;   /* lower half to upper half; otherwise all peers, both ways */
    int64_t size_bytes; /* of a message */
    struct bc_store iterations;
    int64_t wrong; /* messages with wrong data on this rank */
};

/* Computes the result of all visits, warns of wrong data, and frees the samples. Collective. */
void msgrate_conclude(const struct msgrate_bench *bench, struct msgrate_row *row,
                      struct msgrate_result *result);
