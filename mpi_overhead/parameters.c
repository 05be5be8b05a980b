#include "mpi_overhead/parameters.h"

#include "common/mpi/large_count.h"

#include <string.h>

size_t overhead_parameters_table(struct overhead_parameters *parameters, struct bc_option *rows)
{
    struct overhead_parameters *const p = parameters;
    *p = (struct overhead_parameters){.threshold = 1.5, .base_text = "auto"};
    bc_parse_size_list("8", &p->sizes);
    const struct bc_option table[] = {
        {.long_name = "recv",
         .short_name = 'r',
         .kind = BC_FLAG,
         .value = &p->receive,
         .help = "measure receive overhead; default is send"},
        {.long_name = "both",
         .kind = BC_FLAG,
         .value = &p->both,
         .help = "measure send overhead, then receive overhead"},
        {.long_name = "all-pairs",
         .kind = BC_FLAG,
         .value = &p->all_pairs,
         .help = "a row for each pair of ranks, not for rank 0's only"},
        {.long_name = "iterations",
         .short_name = 'i',
         .kind = BC_SIZE,
         .value = &p->iterations,
         .argument = "N",
         .min = 1,
         .max = 1e9,
         .zero = "calculated",
         .help = "iterations where the overhead is measured, in about 25 loops; "
                 "with -b RATIO in the loop for each amount of work"},
        {.long_name = "msgsize",
         .short_name = 'm',
         .kind = BC_SIZE_LIST,
         .value = &p->sizes,
         .argument = "SIZES",
         .min = 0,
         .max = BC_ELEMENTS_MAX,
         .help = "message sizes in bytes: one, a list (0,8,1K), a range "
                 "(1:4M, doubling) or both"},
        {.long_name = "thresh",
         .short_name = 't',
         .kind = BC_REAL,
         .value = &p->threshold,
         .argument = "RATIO",
         .min = 1.0,
         .max = 1000,
         .help = "raise the work until an iteration takes so many times "
                 "base_t"},
        {.long_name = "bthresh",
         .short_name = 'b',
         .kind = BC_TEXT,
         .value = &p->base_text,
         .argument = "auto|RATIO",
         .help = "auto: find the knee by a fit to all points; RATIO: as specified, "
                 "base_t is the running average of the iterations that take at most "
                 "RATIO times that, without intervals, and the search runs in full "
                 "unless --max-time is given"},
        {.long_name = "nohdr",
         .short_name = 'n',
         .kind = BC_FLAG,
         .value = &p->no_header,
         .help = "the same as --no-header"},
        {.long_name = "verbose",
         .short_name = 'v',
         .kind = BC_FLAG,
         .value = &p->verbose,
         .help = "print partial results: the times for each amount of work"},
        {.long_name = "usage",
         .short_name = 'q',
         .kind = BC_FLAG,
         .value = &p->usage,
         .internal = true,
         .help = "the same as --help"},
    };
    _Static_assert(sizeof table / sizeof *table <= OVERHEAD_OPTIONS_MAX,
                   "make OVERHEAD_OPTIONS_MAX larger");
    memcpy(rows, table, sizeof table);
    return sizeof table / sizeof *table;
}
