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
    struct bc_names patterns;
    struct bc_names arrangements;
    int sync; /* enum pingpong_sync of puts and gets; PINGPONG_SYNC_NONE: both */
    bool full;
    struct pingpong_limits limits; /* max_ndata 0: by `full`; `step` is no option */
};

extern const struct pingpong_parameters pingpong_default_parameters;

/* The table; the struct lies at the beginning of the caller's. */
#define PINGPONG_OPTIONS 7
extern const struct bc_option pingpong_options[PINGPONG_OPTIONS];

/* Completes the limits, but for max_blocks. False with the error set. Local. */
bool pingpong_parameters_complete(struct pingpong_parameters *parameters, struct bc_error *error);

/* The default of max_ndata. */
int64_t pingpong_default_ndata(const struct pingpong_parameters *parameters);

#endif
