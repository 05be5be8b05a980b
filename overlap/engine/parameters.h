/*
 * The options and environment variables of the overlap suite.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_PARAMETERS_H
#define COMMCOST_OVERLAP_ENGINE_PARAMETERS_H

#include "common/run/options.h"

#include <stdbool.h>
#include <stdint.h>

struct overlap_parameters {
    const struct overlap_collective *collective; /* the program's; no option */

    int64_t min_elements, max_elements;
    int64_t validation_steps;
    bool verbose, debug;
    bool data_driven;
    double cutoff_ms;
    double acceptance_pct;
    int64_t default_iterations; /* 0: adaptive */
    int64_t max_iterations;     /* 0: as --max-samples says */
    int64_t root;
};

/* The defaults, as initialisers of the struct. */
#define OVERLAP_DEFAULTS                                                                           \
    .min_elements = 1, .max_elements = 131072, .validation_steps = 2, .cutoff_ms = 1.0,            \
    .acceptance_pct = 0.5

/* The table; the struct lies at the beginning of the caller's. For a collective without elements,
   the options that are about their number are left in: sweeps pass the same options to all. */
#define OVERLAP_OPTIONS 11
extern const struct bc_option overlap_options[OVERLAP_OPTIONS];

#endif
