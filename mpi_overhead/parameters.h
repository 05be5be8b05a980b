/*
 * The options of mpi_overhead.
 */
#ifndef COMMCOST_MPI_OVERHEAD_PARAMETERS_H
#define COMMCOST_MPI_OVERHEAD_PARAMETERS_H

#include "common/run/options.h"
#include "common/run/parse.h"

#include <stdbool.h>
#include <stdint.h>

struct overhead_parameters {
    bool receive, both;
    bool all_pairs;
    int64_t iterations;        /* 0: calculated */
    struct bc_size_list sizes; /* of messages, in bytes */
    double threshold;          /* iter_t over base_t at which the work ends */
    double base_threshold;     /* 0: auto */
    bool no_header, verbose, usage;
};

extern const struct overhead_parameters overhead_default_parameters;

/* The table; the struct lies at the beginning of the caller's. */
#define OVERHEAD_OPTIONS 10
extern const struct bc_option overhead_options[OVERHEAD_OPTIONS];

#endif
