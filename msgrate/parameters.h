/*
 * The options of msgrate and msgrate_rma.
 */
#ifndef COMMCOST_MSGRATE_PARAMETERS_H
#define COMMCOST_MSGRATE_PARAMETERS_H

#include "common/run/options.h"
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

    int64_t cache_bytes; /* from the text; llc: by this rank's last-level cache, 0 if its size
                            isn't known */
};

extern const struct msgrate_parameters msgrate_default_parameters;

/* The tables of the two programs; the struct lies at the beginning of the caller's. */
#define MSGRATE_OPTIONS 7
#define MSGRATE_RMA_OPTIONS 9
extern const struct bc_option msgrate_options[MSGRATE_OPTIONS];
extern const struct bc_option msgrate_rma_options[MSGRATE_RMA_OPTIONS];

/* What both programs do with the options (struct bc_benchmark). `state` begins with the struct. */
bool msgrate_complete(void *state, struct bc_error *error);
bool msgrate_fit(void *state, struct bc_run *run, struct bc_error *error);

#endif
