#include "syncbench/parameters.h"

#include "syncbench/kinds.h"

const struct syncbench_parameters syncbench_default_parameters = {
    .types = {.text = "all"},
    .delay_units = -1,
    .max_neighbours = 12, /* the specification's */
    .seed = 1,
};

static const char *kind_name(int i)
{
    return syncbench_kinds[i].name;
}

#define AT(member) offsetof(struct syncbench_parameters, member)

const struct bc_option syncbench_options[SYNCBENCH_OPTIONS] = {
    {"types", BC_NAMES, AT(types), .argument = "NAMES", .name_at = kind_name,
     .name_count = SYNCBENCH_KINDS, .help = "synchronisations"},
    {"outer", BC_SIZE, AT(outer), .argument = "N", .min = 1, .max = 1e9, .zero = "adaptive",
     .help = "time each loop exactly N times; 100 with --estimator=mean"},
    {"inner", BC_SIZE, AT(inner), .argument = "N", .min = 1, .max = 1e9, .zero = "up to 200",
     .help = "synchronisations in a loop; 200 with --estimator=mean; a multiple of the processes "
             "for lock and critical"},
    {.long_name = "delay",
     .kind = BC_SIZE,
     .at = AT(delay_units),
     .argument = "N",
     .min = 0,
     .max = 1099511627776.0, /* 2^40: a thousand seconds of the quickest work */
     .word = "auto",
     .word_value = -1,
     .help = "work in every repetition, with the synchronisation and without: N steps of a loop, "
             "or auto, about 0.1 microseconds"},
    {"max-neighbours", BC_SIZE, AT(max_neighbours), .argument = "N", .min = 2, .max = 65536,
     .help = "random and ring: 2, 4 ... N neighbours, and never more than processes less 2"},
    {"seed", BC_INTEGER, AT(seed), .argument = "N", .min = 0, .max = 9007199254740992.0,
     .help = "chooses the neighbours of random"},
};

void syncbench_parameters_settle(struct syncbench_parameters *parameters, struct bc_run *run)
{
    struct syncbench_parameters *const p = parameters;
    struct bc_settings *const s = &run->settings;
    const bool specified = s->estimator == BC_MEAN;
    const bool samples_given = bc_option_given(&run->options, "samples");
    if (specified && p->outer == 0 && !samples_given)
        p->outer = SYNCBENCH_OUTER;
    if (specified && p->inner == 0)
        p->inner = SYNCBENCH_INNER;
    if (p->outer > 0)
        s->samples = p->outer;
    /* The first outer repetition is discarded. */
    if (specified && !bc_option_given(&run->options, "warmup"))
        s->warmup = 1;
}
