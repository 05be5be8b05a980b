/*
 * One row of mpi_overhead: the host overhead of a message of one size in one direction.
 */
#ifndef COMMCOST_MPI_OVERHEAD_MEASURE_H
#define COMMCOST_MPI_OVERHEAD_MEASURE_H

#include "common/clock/work.h"
#include "common/machine/node_order.h"
#include "common/run/run.h"
#include "mpi_overhead/kernel.h"
#include "mpi_overhead/parameters.h"

#include <stdbool.h>
#include <stdint.h>

struct overhead_bench {
    struct overhead_parameters parameters;
    struct bc_run *run;
    struct bc_output *verbose;    /* the run's with --verbose, else NULL */
    struct bc_node_order by_node; /* in which ranks are paired */
    struct bc_work_rate rate;     /* of rank 0 */
    struct overhead_exchange exchange;
};

/* Times in ns an iteration. All but overhead and transfer have the barrier between two iterations
   in them; iter and work also the token (kernel.h), if any. Complete on rank 0 only. */
struct overhead_result {
    int64_t iterations; /* at the amount of work that gave the overhead */
    double iter_ns, work_ns, base_ns;
    struct bc_summary overhead_ns, transfer_ns; /* values and intervals; NAN where there are none */
    double available_pct, available_lo_pct, available_hi_pct;
    double available_base_pct; /* over base_ns, as specified; NAN without an overhead */
    int64_t samples;
    bool knee;    /* the knee was found */
    bool in_time; /* -b auto: the precision was reached before the time was up; -b RATIO: the
                     search ended by itself, with or without a knee */
};

/* Measures bench->exchange within `seconds` (significant on rank 0; INFINITY: as long as it
   takes): by the fit of a plateau and a line to all points (-b auto), or with the thresholds of
   the specification (-b RATIO). The result must begin as zeros. Collective over MPI_COMM_WORLD. */
void overhead_measure(struct overhead_bench *bench, double seconds, struct overhead_result *result);

#endif
