/* The options of syncbench. */
#pragma once

#include "common/run/options.h"

#include <stdint.h>

struct syncbench_parameters {
    struct bc_names types;
    int64_t outer;       /* 0: adaptive */
    int64_t inner;       /* 0: at most SYNCBENCH_INNER */
    int64_t delay_units; /* -1: auto */
    int64_t max_neighbours;
    int64_t seed;
};

extern const struct syncbench_parameters syncbench_default_parameters;
enum { SYNCBENCH_OPTIONS = 6 };
extern const struct bc_option syncbench_options[SYNCBENCH_OPTIONS];

/* The specification's repetitions of a loop, and loops. */
enum { SYNCBENCH_INNER = 200, SYNCBENCH_OUTER = 100 };
