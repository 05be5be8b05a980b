/*
 * The options that msgrate and msgrate_rma share.
 */
#ifndef COMMCOST_MSGRATE_PARAMETERS_H
#define COMMCOST_MSGRATE_PARAMETERS_H

#include "common/run/options.h"
#include "common/run/parse.h"
#include "common/run/run.h"

#include <stdbool.h>
#include <stdint.h>

struct msgrate_parameters {
    int64_t peers;             /* that a rank sends to, and receives from */
    int64_t iterations;        /* 0: adaptive */
    int64_t messages;          /* to a peer in an iteration */
    struct bc_size_list sizes; /* of a message, in bytes */
    const char *cache_text;    /* "llc" or a size */
    int64_t stride;            /* between peers, in ranks ordered by node; 0: chosen */
};

#define MSGRATE_OPTIONS_MAX 12

/* Sets the defaults and writes the shared rows; returns how many. A program's
   own may follow, up to MSGRATE_OPTIONS_MAX in all. */
size_t msgrate_parameters_table(struct msgrate_parameters *parameters, struct bc_option *rows);

/* Checks the parameters against each other and the job, and puts -i in force.
   `buffers`: of peers x messages x size, that a rank needs. On rank 0; false
   with the error set. */
bool msgrate_parameters_validate(struct msgrate_parameters *parameters, struct bc_run *run,
                                 int buffers, struct bc_error *error);

/* The bytes to flush the caches with, by -c; for llc what bc_cache_llc_flush_bytes
   says. Local: the last-level cache is this processor's. False if the text is neither a size nor
   llc, or there is no telling how large that is. */
bool msgrate_cache_bytes(const struct msgrate_parameters *parameters, int64_t *bytes);

/* The largest message, in bytes. */
int64_t msgrate_largest(const struct msgrate_parameters *parameters);

#endif
