/*
 * The options of syncbench.
 */
#ifndef COMMCOST_SYNCBENCH_PARAMETERS_H
#define COMMCOST_SYNCBENCH_PARAMETERS_H

#include "common/run/options.h"
#include "common/run/run.h"
#include "syncbench/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct syncbench_parameters {
    const char *types_text; /* names with commas; or "all" */
    int64_t outer;          /* 0: adaptive */
    int64_t inner;          /* 0: at most SYNCBENCH_INNER */
    const char *delay_text; /* "auto" or a number */
    int64_t max_neighbours;
    int64_t seed;

    /* From the texts. */
    bool chosen[SYNCBENCH_KINDS];
    int64_t delay_units; /* -1: auto */
};

/* The specification's repetitions of a loop, and loops. */
enum { SYNCBENCH_INNER = 200, SYNCBENCH_OUTER = 100 };

#define SYNCBENCH_OPTIONS_MAX 8

size_t syncbench_parameters_table(struct syncbench_parameters *parameters, struct bc_option *rows);

/* Takes the texts apart. Local, on every rank; false with the error set. */
bool syncbench_parameters_complete(struct syncbench_parameters *parameters, struct bc_error *error);

/* Settings that the estimator and --outer ask for: the specification's numbers
   under the mean. Rank 0, before they are broadcast. */
void syncbench_parameters_settle(struct syncbench_parameters *parameters, struct bc_run *run);

#endif
