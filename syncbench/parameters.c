#include "syncbench/parameters.h"

#include "common/run/names.h"
#include "common/run/parse.h"

#include <string.h>

/* The specification's limit of neighbours, and what an int of ranks allows. */
#define MAX_NEIGHBOURS 12
#define NEIGHBOURS_MOST 65536

/* A thousand seconds of the quickest work. */
#define DELAY_MOST (INT64_C(1) << 40)

size_t syncbench_parameters_table(struct syncbench_parameters *parameters, struct bc_option *rows)
{
    struct syncbench_parameters *const p = parameters;
    *p = (struct syncbench_parameters){
        .types_text = "all",
        .delay_text = "auto",
        .max_neighbours = MAX_NEIGHBOURS,
        .seed = 1,
    };
    const struct bc_option table[] = {
        {.long_name = "types",
         .kind = BC_TEXT,
         .value = &p->types_text,
         .argument = "NAMES",
         .help = "synchronisations, with commas: sync all, MPI barrier, "
                 "pairwise, random, ring, 3D grid, lock, critical, ibarrier, "
                 "allreduce 0 bytes, allreduce 1 byte, fence, PSCW, "
                 "lock_all+flush; or all. Case, spaces and dashes don't count"},
        {.long_name = "outer",
         .kind = BC_SIZE,
         .value = &p->outer,
         .argument = "N",
         .min = 1,
         .max = 1e9,
         .zero = "adaptive",
         .help = "time each loop exactly N times; 100 with --estimator=mean"},
        {.long_name = "inner",
         .kind = BC_SIZE,
         .value = &p->inner,
         .argument = "N",
         .min = 1,
         .max = 1e9,
         .zero = "up to 200",
         .help = "synchronisations in a loop; 200 with --estimator=mean; a "
                 "multiple of the processes for lock and critical"},
        {.long_name = "delay",
         .kind = BC_TEXT,
         .value = &p->delay_text,
         .argument = "auto|N",
         .help = "work in every repetition, with the synchronisation and "
                 "without: N steps of a loop, or auto, about 0.1 microseconds"},
        {.long_name = "max-neighbours",
         .kind = BC_SIZE,
         .value = &p->max_neighbours,
         .argument = "N",
         .min = 2,
         .max = NEIGHBOURS_MOST,
         .help = "random and ring: 2, 4 ... N neighbours, and never more than "
                 "processes less 2"},
        {.long_name = "seed",
         .kind = BC_INTEGER,
         .value = &p->seed,
         .argument = "N",
         .min = 0,
         .max = 9007199254740992.0,
         .help = "chooses the neighbours of random"},
    };
    _Static_assert(sizeof table / sizeof *table <= SYNCBENCH_OPTIONS_MAX,
                   "make SYNCBENCH_OPTIONS_MAX larger");
    memcpy(rows, table, sizeof table);
    return sizeof table / sizeof *table;
}

static const char *kind_name(int i)
{
    return syncbench_kinds[i].name;
}

bool syncbench_parameters_complete(struct syncbench_parameters *parameters, struct bc_error *error)
{
    struct syncbench_parameters *const p = parameters;
    if (!bc_names_choose("types", p->types_text, kind_name, p->chosen, SYNCBENCH_KINDS, error))
        return false;
    if (strcmp(p->delay_text, "auto") == 0) {
        p->delay_units = -1;
        return true;
    }
    if (!bc_parse_size(p->delay_text, &p->delay_units) || p->delay_units > DELAY_MOST)
        return bc_error_set(error,
                            "--delay: '%.80s' is no number of steps from "
                            "0 to 1024G: use auto, or 500, say",
                            p->delay_text);
    return true;
}

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
