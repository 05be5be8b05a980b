/*
 * The options of pingpong.
 */
#ifndef COMMCOST_PINGPONG_PARAMETERS_H
#define COMMCOST_PINGPONG_PARAMETERS_H

#include "common/run/options.h"
#include "pingpong/arrangement.h"
#include "pingpong/patterns.h"
#include "pingpong/shape.h"

#include <stdbool.h>
#include <stdint.h>

struct pingpong_parameters {
    const char *patterns_text; /* names with commas; or "all" */
    const char *arrangements_text;
    int sync; /* enum pingpong_sync; both after them */
    bool full;
    struct pingpong_limits limits; /* max_ndata 0: by `full` */

    /* From the texts. */
    bool pattern_chosen[PINGPONG_PATTERNS];
    bool arrangement_chosen[PINGPONG_ARRANGEMENTS];
};

#define PINGPONG_OPTIONS_MAX 8

size_t pingpong_parameters_table(struct pingpong_parameters *parameters, struct bc_option *rows);

/* Takes the texts apart and completes the limits. Local, on every rank; false
   with the error set. */
bool pingpong_parameters_complete(struct pingpong_parameters *parameters, struct bc_error *error);

/* The largest number of values where none is asked for. */
int64_t pingpong_default_ndata(const struct pingpong_parameters *parameters);

/* Whether this synchronisation was asked for. */
bool pingpong_sync_chosen(const struct pingpong_parameters *parameters, enum pingpong_sync sync);

#endif
