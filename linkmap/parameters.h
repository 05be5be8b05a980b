/* The options of linkmap. */
#ifndef COMMCOST_LINKMAP_PARAMETERS_H
#define COMMCOST_LINKMAP_PARAMETERS_H

#include "common/run/options.h"
#include "common/run/parse.h"

#include <stdbool.h>
#include <stdint.h>

/* What the links are between. */
enum linkmap_per { LINKMAP_PER_AUTO, LINKMAP_PER_NODE, LINKMAP_PER_RANK };

/* Which pairs have rows of their own. */
enum linkmap_pairs { LINKMAP_PAIRS_OUT_OF_LINE, LINKMAP_PAIRS_ALL };

struct linkmap_parameters {
    int per;   /* enum linkmap_per */
    int pairs; /* enum linkmap_pairs */
    struct bc_size_list sizes;
    double alpha_pct;     /* the chance that anything is suspected where all links are alike */
    double threshold_pct; /* how much slower than the others is out of line */
    const char *exclude;  /* the file that slow nodes are listed in; NULL: none */
};

extern const struct linkmap_parameters linkmap_default_parameters;
enum { LINKMAP_OPTIONS = 6 };
extern const struct bc_option linkmap_options[LINKMAP_OPTIONS];

#endif
