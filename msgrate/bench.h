/* What msgrate and msgrate_rma share: options, and for all rows peers and the cache flush. */
#pragma once

#include "common/machine/cache.h"
#include "common/layout/node_order.h"
#include "common/run/parse.h"
#include "common/run/run.h"

#include <stdbool.h>
#include <stdint.h>

enum msgrate_transfer { MSGRATE_PUT, MSGRATE_GET, MSGRATE_TRANSFERS };

/* How one-sided transfers are completed; MSGRATE_ALL: by each of the others in turn. */
enum msgrate_sync {
    MSGRATE_ALL,
    MSGRATE_FENCE,
    MSGRATE_LOCK,  /* lock and unlock */
    MSGRATE_PSCW,  /* post, start, complete and wait */
    MSGRATE_FLUSH, /* inside one lock_all */
    MSGRATE_SYNCS
};

struct msgrate_parameters {
    int64_t peers;             /* that a rank sends to, and receives from */
    int64_t iterations;        /* 0: adaptive */
    int64_t messages;          /* to a peer in an iteration */
    struct bc_size_list sizes; /* of a message, in bytes */
    const char *cache_text;    /* "llc" or a size */
    int64_t stride;            /* between peers, in ranks ordered by node; 0: chosen */

    bool machine_readable; /* msgrate only */

    /* msgrate_rma only. */
    int transfer; /* enum msgrate_transfer */
    int sync;     /* enum msgrate_sync */
    int64_t threads;

    int64_t cache_bytes; /* from the text; llc: for this rank's last-level cache, 0: not known */
};

extern const struct msgrate_parameters msgrate_default_parameters;
enum { MSGRATE_OPTIONS = 7, MSGRATE_RMA_OPTIONS = 9 };
extern const struct bc_option msgrate_options[MSGRATE_OPTIONS];
extern const struct bc_option msgrate_rma_options[MSGRATE_RMA_OPTIONS];

/* The state of both programs. */
struct msgrate_bench {
    struct msgrate_parameters parameters;
    struct bc_run *run;
    struct bc_cache_flush flush;
    int64_t cache_bytes;          /* of the flush; the same on every rank */
    struct bc_node_order by_node; /* in which peers and partners are chosen */
    int npeers;                   /* length of both lists */
    int *sends, *receives;        /* the ranks that this one sends to, receives from */
    int stride;                   /* between peers, in ranks ordered by node */
    int partner;                  /* in the single direction; -1: this rank rests */
    bool lower;                   /* this rank is in the lower half of the ranks ordered by node */
};

/* Functions of both programs (struct bc_program); `state` is a struct msgrate_bench. */
bool msgrate_complete(void *state, struct bc_error *error);
bool msgrate_fit(void *state, struct bc_run *run, struct bc_error *error);

/* The members of struct bc_program that both programs have. A run with defaults ends within the
   budget. */
#define MSGRATE_PROGRAM                                                                            \
    .defaults = &msgrate_default_parameters, .defaults_bytes = sizeof msgrate_default_parameters,  \
    .state_bytes = sizeof(struct msgrate_bench), .row_bytes = sizeof(struct row),                  \
    .budget_s = 20.0, .complete = msgrate_complete

/* Makes what all rows share, and writes notes. Collective. */
void msgrate_open(struct msgrate_bench *bench, struct bc_run *run);
void msgrate_close(struct msgrate_bench *bench);
