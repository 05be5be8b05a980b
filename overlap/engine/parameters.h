/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the suite. */
#pragma once

#include "common/device/memory.h"
#include "common/operations/operation.h"
#include "common/run/program.h"
#include "overlap/engine/work.h"

enum { OVERLAP_TEST_CALLS_MAX = 64, OVERLAP_SIZES_MAX = 64 };

/* Stands for the number of MPI_Test calls that gives the least exposed time. */
#define OVERLAP_AUTO INT64_C(-1)

/* Max number of calls. */
#define OVERLAP_TEST_CALLS_LIMIT 1000000

struct overlap_parameters {
    /* Constants of the program. */
    const char *name; /* "iallreduce" */
    const struct op_kind *kind;
    bool variants_have_forms; /* each variant of the kind implies its form */

    int64_t min_elements, max_elements;
    const char *sizes_text; /* bytes, or NULL */
    int64_t validation_steps;
    bool verbose, debug;
    bool data_driven;
    double cutoff_ms;
    double acceptance_pct;
    int64_t default_iterations; /* 0: adaptive */
    int64_t max_iterations;     /* 0: --max-samples */
    int64_t root;

    int form;                    /* enum op_form, or OP_FORMS: all */
    const char *test_calls_text; /* numbers, or `auto` */
    double plenty; /* the amount of work that counts as plenty, over the reference time */
    double threshold_pct;
    bool no_blocking;
    struct bc_memory_options memory;
    int buffers; /* enum bc_buffers */
    int work;    /* enum overlap_work */

    /* From the texts. */
    int64_t test_calls[OVERLAP_TEST_CALLS_MAX];
    int test_calls_count;
    int64_t elements[OVERLAP_SIZES_MAX]; /* of a data-driven run, each once */
    int elements_count;                  /* 0: doubling from the min to the max */
};

/* The defaults, as initialisers of the struct. */
#define OVERLAP_DEFAULTS                                                                           \
    .min_elements = 1, .max_elements = 131072, .validation_steps = 2, .cutoff_ms = 1.0,            \
    .acceptance_pct = 0.5, .test_calls_text = "0", .plenty = 2.0, .threshold_pct = 2.0,            \
    .memory = BC_MEMORY_DEFAULTS

/* Collectives without elements keep options about elements: sweeps pass the same options to all. */
enum { OVERLAP_OPTIONS = 21 };
extern const struct bc_option overlap_options[OVERLAP_OPTIONS];

/* Parses the texts of a state that begins with the parameters. False with the error set. Local. */
bool overlap_parameters_complete(void *state, struct bc_error *error);

/* Checks the options against the job, and lowers defaults to its limits. Local; rank 0. */
bool overlap_fit(void *state, struct bc_run *run, struct bc_error *error);

static inline bool overlap_is_data_driven(const struct overlap_parameters *parameters)
{
    return parameters->data_driven || parameters->kind->no_elements;
}
