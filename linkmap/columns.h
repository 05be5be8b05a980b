/* What a row of linkmap says. */
#pragma once

#include "common/result/output.h"
#include "common/stats/stats.h"
#include "linkmap/links.h"

struct linkmap_result {
    const char *scope; /* whole, node (or rank), pair */
    const char *a, *b; /* labels of hosts */
    int64_t bytes;
    struct bc_summary time;               /* half a round trip, ns */
    struct bc_summary ways[LINKMAP_WAYS]; /* bandwidths, MB/s */
    double alone_pct;
    const char *verdict;
    int group;
    struct bc_outcome outcome;
};

extern const struct bc_table linkmap_table;
