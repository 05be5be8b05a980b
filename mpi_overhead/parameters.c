/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_overhead/mpi_overhead.h"

const struct overhead_parameters overhead_default_parameters = {
    .sizes = {.text = "8"},
    .threshold = 1.5,
    .memory = BC_MEMORY_DEFAULTS,
};

#define AT(member) offsetof(struct overhead_parameters, member)

const struct bc_option overhead_options[OVERHEAD_OPTIONS] = {
    {"recv", BC_FLAG, AT(receive), .short_name = 'r',
     .help = "measure receive overhead; default is send"},
    {"both", BC_FLAG, AT(both), .help = "measure send overhead, then receive overhead"},
    {"all-pairs", BC_FLAG, AT(all_pairs),
     .help = "a row for each pair of ranks, not for rank 0's only"},
    {"iterations", BC_SIZE, AT(iterations), .short_name = 'i', .argument = "N", .min = 1,
     .max = 1e9, .zero = "calculated",
     .help = "total iterations of a row; with -b RATIO those of each loop"},
    {"msgsize", BC_SIZE_LIST, AT(sizes), .short_name = 'm', .alias = "sizes", .argument = "SIZES",
     .min = 0, .max = BC_ELEMENTS_MAX,
     .help = "message sizes in bytes: a list (0,8,1K), a range (1:4M) or both"},
    {"thresh", BC_REAL, AT(threshold), .short_name = 't', .argument = "RATIO", .min = 1.0,
     .max = 1000,
     .help = "increase work until iterations take RATIO times as long as without work"},
    {"bthresh", BC_REAL, AT(base_threshold), .short_name = 'b', .argument = "RATIO", .word = "auto",
     .word_value = 0, .min = 1.0, .max = 1000,
     .help = "auto: find the knee by a fit; RATIO: by the specification's search"},
    {"nohdr", BC_FLAG, AT(no_header), .short_name = 'n', .help = "the same as --no-header"},
    {"verbose", BC_FLAG, AT(verbose), .short_name = 'v',
     .help = "print partial results: the times for each amount of work"},
    {"usage", BC_FLAG, AT(usage), .short_name = 'q', .asks_help = true, .internal = true,
     .help = "the same as --help"},
    BC_MEMORY_OPTIONS(AT(memory)),
    BC_BUFFERS_OPTION(AT(buffers)),
};
