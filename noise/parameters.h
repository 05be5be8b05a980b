/* The options of noise. */
#pragma once

#include "common/run/options.h"
#include "common/run/parse.h"

/* Which parts of the job get a row. */
enum noise_per { NOISE_PER_HOST, NOISE_PER_RANK };

/* The operations that end a step. */
enum noise_operation { NOISE_BARRIER, NOISE_ALLREDUCE, NOISE_OPERATIONS };

struct noise_parameters {
    double quantum_us;  /* of work */
    double min_stop_us; /* min time by which an interrupted quantum takes longer than usual */
    int per;            /* enum noise_per */
    struct bc_names operations;
    struct bc_size_list grain_us; /* the work in a step */
    double alpha_pct;             /* probability that a source is named although there is none */
    double threshold_pct;         /* min share of a rank's time that an irregular source takes */
};

extern const struct noise_parameters noise_default_parameters;
enum { NOISE_OPTIONS = 7 };
extern const struct bc_option noise_options[NOISE_OPTIONS];

/* The name of an operation. */
const char *noise_operation_name(int operation);
