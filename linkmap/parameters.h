/* The options of linkmap. */
#pragma once

#include "common/run/options.h"
#include "common/run/parse.h"

#include <stdbool.h>
#include <stdint.h>

/* What links connect. */
enum linkmap_per { LINKMAP_PER_AUTO, LINKMAP_PER_NODE, LINKMAP_PER_RANK };

/* Which pairs get a row. */
enum linkmap_pairs { LINKMAP_PAIRS_OUT_OF_LINE, LINKMAP_PAIRS_ALL };

struct linkmap_parameters {
    int per;   /* enum linkmap_per */
    int pairs; /* enum linkmap_pairs */
    struct bc_size_list sizes;
    double alpha_pct;     /* probability that anything is suspected although all links are alike */
    double threshold_pct; /* how much longer than others a slow node or link takes, at least */
    const char *exclude;  /* file for the list of slow nodes; NULL: none */
};

extern const struct linkmap_parameters linkmap_default_parameters;
enum { LINKMAP_OPTIONS = 6 };
extern const struct bc_option linkmap_options[LINKMAP_OPTIONS];
