/* The options of the overlap suite. */
#pragma once

#include "common/run/options.h"

#include <stdbool.h>
#include <stdint.h>

enum { OVERLAP_TEST_CALLS_MAX = 64 };

/* As a number of calls of MPI_Test: the one with the min exposed time is looked for. */
#define OVERLAP_AUTO INT64_C(-1)

/* The max number of calls that may be asked for. */
#define OVERLAP_TEST_CALLS_LIMIT 1000000

struct overlap_kind;

struct overlap_parameters {
    const struct overlap_kind *kind; /* the program's; no option */

    int64_t min_elements, max_elements;
    int64_t validation_steps;
    bool verbose, debug;
    bool data_driven;
    double cutoff_ms;
    double acceptance_pct;
    int64_t default_iterations; /* 0: adaptive */
    int64_t max_iterations;     /* 0: as --max-samples says */
    int64_t root;

    int form;                    /* enum overlap_form, or OVERLAP_FORMS: all */
    const char *test_calls_text; /* numbers, or `auto` */
    double plenty;               /* of work, in reference times */
    double threshold_pct;
    bool no_blocking;

    /* From the text. */
    int64_t test_calls[OVERLAP_TEST_CALLS_MAX];
    int test_calls_count;
};

/* The defaults, as initialisers of the struct. */
#define OVERLAP_DEFAULTS                                                                           \
    .min_elements = 1, .max_elements = 131072, .validation_steps = 2, .cutoff_ms = 1.0,            \
    .acceptance_pct = 0.5, .test_calls_text = "0", .plenty = 2.0, .threshold_pct = 2.0

/* Collectives without elements keep options about elements: sweeps pass the same options to all. */
enum { OVERLAP_OPTIONS = 16 };
extern const struct bc_option overlap_options[OVERLAP_OPTIONS];

/* Parses the texts of a state that begins with the parameters. False with the error set. Local. */
bool overlap_parameters_complete(void *state, struct bc_error *error);
