/* The options of pingpong, and the arrangements that one of them chooses from: which ranks play
   ping-pong with which. */
#pragma once

#include "common/run/options.h"
#include "pingpong/patterns.h"
#include "pingpong/shape.h"

#include <stdbool.h>
#include <stdint.h>

/* Ranks are numbered by node here: they are places of common/layout/node_order.h. */
enum pingpong_arrangement {
    PINGPONG_SINGLE,   /* the first rank with the last; all others are idle */
    PINGPONG_MULTIPLE, /* rank r with rank r + P / 2 */
    PINGPONG_CROSSING, /* the same, but every other pair starts at the other end */
    PINGPONG_ARRANGEMENTS
};

/* A rank's part. */
struct pingpong_part {
    int partner; /* -1: idle */
    bool starts; /* moves the data first; its partner moves it back */
};

struct pingpong_parameters {
    struct bc_names patterns;
    struct bc_names arrangements;
    int sync; /* enum pingpong_sync of puts and gets; PINGPONG_SYNC_NONE: both */
    bool full;
    struct pingpong_limits limits; /* max_ndata 0: by `full`; `step` is no option */
};

extern const struct pingpong_parameters pingpong_default_parameters;
enum { PINGPONG_OPTIONS = 7 };
extern const struct bc_option pingpong_options[PINGPONG_OPTIONS];

/* Completes the limits of a struct pingpong_parameters, but for max_blocks. Local. */
bool pingpong_parameters_complete(void *parameters, struct bc_error *error);

/* The default of max_ndata: the specification's with --full, else a thinned sweep's. */
int64_t pingpong_default_ndata(const struct pingpong_parameters *parameters);

/* "single", "multiple", "crossing". */
const char *pingpong_arrangement_name(int arrangement);

/* Whether `ranks` ranks can be arranged like this: single needs 2, the others an even number of at
   least 4 (with 2 they are single). */
bool pingpong_can_arrange(int arrangement, int ranks);

struct pingpong_part pingpong_part_of(int arrangement, int rank, int ranks);
