#include "overlap/engine/parameters.h"

#include "common/mpi/large_count.h"

#include <string.h>

size_t overlap_parameters_table(struct overlap_parameters *parameters, struct bc_option *rows)
{
    struct overlap_parameters *const p = parameters;
    *p = (struct overlap_parameters){
        .min_elements = 1,
        .max_elements = 131072,
        .validation_steps = 2,
        .cutoff_ms = 1.0,
        .acceptance_pct = 0.5,
    };
    const struct bc_option table[] = {
        {.long_name = "min-num-elts",
         .kind = BC_SIZE,
         .value = &p->min_elements,
         .argument = "N",
         .min = 1,
         .max = BC_ELEMENTS_MAX,
         .variables = "OPENHPCA_OVERLAP_MIN_NUM_ELTS",
         .help = "fewest elements (doubles) of the count argument"},
        {.long_name = "max-num-elts",
         .kind = BC_SIZE,
         .value = &p->max_elements,
         .argument = "N",
         .min = 1,
         .max = BC_ELEMENTS_MAX,
         .variables = "OPENHPCA_OVERLAP_MAX_NUM_ELTS",
         .help = "most elements (doubles) of the count argument"},
        {.long_name = "data-driven-execution",
         .alias = "data-driven",
         .kind = BC_FLAG,
         .value = &p->data_driven,
         .variables = "OPENHPCA_DATA_DRIVEN_EXECUTION",
         .help = "measure every size from the fewest to the most elements, "
                 "doubling, instead of finding one whose operation takes the "
                 "cutoff time"},
        {.long_name = "cutoff-time",
         .kind = BC_REAL,
         .value = &p->cutoff_ms,
         .argument = "MS",
         .min = 1e-6,
         .max = 1e6,
         .range_hint = "milliseconds above 0, say 1",
         .variables = "OPENHPCA_OVERLAP_CUTOFF_TIME",
         .help = "time-driven model: the operation must take at least so many "
                 "milliseconds"},
        {.long_name = "acceptance-threshold",
         .kind = BC_PERCENT,
         .value = &p->acceptance_pct,
         .argument = "PERCENT",
         .min = 0.001,
         .max = 100,
         .variables = "OPENHPCA_OVERLAP_ACCEPTANCE_THRESHOLD",
         .help = "stop when the least work known not to fit is within this "
                 "share of the most work known to fit"},
        {.long_name = "validation-steps",
         .kind = BC_SIZE,
         .value = &p->validation_steps,
         .argument = "N",
         .min = 0,
         .max = 1000,
         .variables = "OPENHPCA_OVERLAP_VALIDATION_STEPS",
         .help = "times that work found not to fit is tried again before that "
                 "is believed"},
        {.long_name = "default-tdm-n-iters",
         .kind = BC_SIZE,
         .value = &p->default_iterations,
         .argument = "N",
         .min = 1,
         .max = 1e9,
         .variables = "OPENHPCA_OVERLAP_DEFAULT_TDM_N_ITERS "
                      "OVERLAP_DEFAULT_TDM_N_ITERS_ENVVAR",
         .zero = "as many as the precision needs",
         .help = "operations for each amount of work"},
        {.long_name = "max-tdm-iters",
         .kind = BC_SIZE,
         .value = &p->max_iterations,
         .argument = "N",
         .min = 1,
         .max = 1e9,
         .variables = "OPENHPCA_OVERLAP_MAX_TDM_ITERS "
                      "OVERLAP_MAX_TDM_ITERS_ENVVAR",
         .zero = "--max-samples",
         .help = "operations for each amount of work, at most"},
        {.long_name = "root",
         .kind = BC_SIZE,
         .value = &p->root,
         .argument = "RANK",
         .min = 0,
         .max = 2147483647.0,
         .help = "the root of rooted operations"},
        {.long_name = "verbose",
         .short_name = 'v',
         .kind = BC_FLAG,
         .value = &p->verbose,
         .variables = "OPENHPCA_OVERLAP_VERBOSE",
         .help = "show each phase in comment lines"},
        {.long_name = "debug",
         .kind = BC_FLAG,
         .value = &p->debug,
         .variables = "OPENHPCA_OVERLAP_DEBUG",
         .help = "show each trial in comment lines"},
    };
    _Static_assert(sizeof table / sizeof *table <= OVERLAP_OPTIONS_MAX,
                   "make OVERLAP_OPTIONS_MAX larger");
    memcpy(rows, table, sizeof table);
    return sizeof table / sizeof *table;
}
