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
    const char *base_text;     /* "auto" or a number */
    double base_threshold;     /* the number; 0: auto */
    bool no_header, verbose, usage;
};

#define OVERHEAD_OPTIONS_MAX 12

size_t overhead_parameters_table(struct overhead_parameters *parameters, struct bc_option *rows);

#endif
