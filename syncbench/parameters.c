/* SPDX-License-Identifier: BSD-3-Clause */
#include "syncbench/syncbench.h"

const struct syncbench_parameters syncbench_default_parameters = {
    .types = {.text = "all"},
    .delay_units = -1,
    .max_neighbours = 12, /* as specified by EPCC */
    .seed = 1,
};

static const char *kind_name(int i) { return syncbench_kinds[i].name; }

/* 2^40 steps: a thousand seconds of the fastest work. */
#define DELAY_MAX 1099511627776.0

#define AT(member) offsetof(struct syncbench_parameters, member)

const struct bc_option syncbench_options[SYNCBENCH_OPTIONS] = {
    {"types", BC_NAMES, AT(types), .argument = "NAMES", .name_at = kind_name,
     .name_count = SYNCBENCH_KINDS, .help = "synchronisations"},
    {"outer", BC_SIZE, AT(outer), .argument = "N", .min = 1, .max = 1e9, .zero = "adaptive",
     .help = "number of loops, 100 with --estimator=mean"},
    {"inner", BC_SIZE, AT(inner), .argument = "N", .min = 1, .max = 1e9, .zero = "up to 200",
     .help = "synchronisations in a loop, 200 with --estimator=mean"},
    {"delay", BC_SIZE, AT(delay_units), .argument = "N", .max = DELAY_MAX, .word = "auto",
     .word_value = -1, .help = "work in each repetition, in steps, auto: about 0.1 us"},
    {"max-neighbours", BC_SIZE, AT(max_neighbours), .argument = "N", .min = 2, .max = 65536,
     .help = "max neighbours in random and ring"},
    {"seed", BC_INTEGER, AT(seed), .argument = "N", .min = 0, .max = 9007199254740992.0,
     .help = "seed of the random neighbours"},
};
