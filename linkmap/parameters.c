#include "linkmap/linkmap.h"

#include <limits.h>

const struct linkmap_parameters linkmap_default_parameters = {
    .sizes = {.text = "8,1M"},
    .alpha_pct = 1.0,
    .threshold_pct = 20.0,
};

#define AT(member) offsetof(struct linkmap_parameters, member)

const struct bc_option linkmap_options[LINKMAP_OPTIONS] = {
    {"per", BC_CHOICE, AT(per), .argument = "WHAT", .choices = "auto|node|rank",
     .help =
         "links between nodes, each by its lowest rank, or between ranks; auto: nodes if the job "
         "has several"},
    {"sizes", BC_SIZE_LIST, AT(sizes), .argument = "SIZES", .min = 0, .max = INT_MAX,
     .help = "message sizes in bytes: one, a list (8,1M), a range (8:1M, doubling) or both; below "
             "4K half of a round trip is timed, from 4K on each way separately"},
    {"pairs", BC_CHOICE, AT(pairs), .argument = "WHICH", .choices = "out-of-line|all",
     .help = "which pairs get a row"},
    {"alpha", BC_PERCENT, AT(alpha_pct), .argument = "PERCENT", .min = 1e-6, .max = 50,
     .help = "probability that a node or link is called slow although all are alike"},
    {"threshold", BC_PERCENT, AT(threshold_pct), .argument = "PERCENT", .min = 1, .max = 1000,
     .help = "a node or link is slow if it takes longer than others by at least this"},
    {"exclude", BC_TEXT, AT(exclude), .argument = "FILE",
     .help = "write the names of slow nodes to a file, in one line with commas, as sbatch's "
             "--exclude takes them; an empty file if there are none"},
};
