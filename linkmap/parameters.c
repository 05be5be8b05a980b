/* SPDX-License-Identifier: BSD-3-Clause */
#include "linkmap/linkmap.h"

#include <limits.h>

const struct linkmap_parameters linkmap_default_parameters = {
    .sizes = {.text = "8,1M"},
    .alpha_pct = 1.0,
    .threshold_pct = 20.0,
    .min_share_pct = 20.0,
    .memory = BC_MEMORY_DEFAULTS,
};

#define AT(member) offsetof(struct linkmap_parameters, member)

const struct bc_option linkmap_options[LINKMAP_OPTIONS] = {
    {"per", BC_CHOICE, AT(per), .argument = "WHAT", .choices = "auto|node|rank",
     .help = "links between nodes or ranks; auto: nodes if the job has several"},
    {"sizes", BC_SIZE_LIST, AT(sizes), .argument = "SIZES", .min = 0, .max = INT_MAX,
     .help = "message sizes in bytes: a list (8,1M), a range (8:1M) or both"},
    {"pairs", BC_CHOICE, AT(pairs), .argument = "WHICH", .choices = "out-of-line|all",
     .help = "pairs that get a row"},
    {"alpha", BC_PERCENT, AT(alpha_pct), .argument = "PERCENT", .min = 1e-6, .max = 50,
     .help = "probability that any node or link is suspected if all are alike"},
    {"threshold", BC_PERCENT, AT(threshold_pct), .argument = "PERCENT", .min = 1, .max = 1000,
     .help = "min excess time over other links, for the verdict slow"},
    {"exclude", BC_TEXT, AT(exclude), .argument = "FILE",
     .help = "write the slow nodes to a file, as sbatch --exclude takes them"},
    BC_LINK_RATE_OPTION(AT(link_gbits)),
    {"min-share", BC_PERCENT, AT(min_share_pct), .argument = "PERCENT", .min = 0, .max = 100,
     .help = "name links that reach less than this share of the expected rate"},
    BC_MEMORY_OPTIONS(AT(memory)),
};
