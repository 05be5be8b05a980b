/*
 * The options and environment variables of the overlap suite.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_PARAMETERS_H
#define COMMCOST_OVERLAP_ENGINE_PARAMETERS_H

#include "common/run/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct overlap_parameters {
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

#define OVERLAP_OPTIONS_MAX 16

/* Sets the defaults and fills `rows` with the table for them; returns the
   number of rows. For a collective without elements, the options that are
   about their number are left in: sweeps pass the same options to all. */
size_t overlap_parameters_table(struct overlap_parameters *parameters, struct bc_option *rows);

#endif
