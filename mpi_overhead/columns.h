/* What a row of mpi_overhead says. */
#pragma once

#include "common/result/output.h"
#include "common/stats/stats.h"

/* Times in ns an iteration. All but overhead and transfer have the barrier between two iterations
   in them; iter and work also the token (kernel.c), if any. Complete on rank 0 only. */
struct overhead_result {
    const char *direction;
    int pair; /* the measuring rank */
    int64_t msgsize;
    int64_t iterations; /* at the amount of work that gave the overhead */
    double iter_ns, work_ns, base_ns;
    struct bc_summary overhead_ns, transfer_ns; /* values and intervals; NAN where there are none */
    struct bc_summary available_pct; /* what the overhead leaves of base_ns, as specified */
    struct bc_summary transfer_available_pct; /* ... of transfer_ns; NAN without an overhead */
    struct bc_outcome outcome;                /* BC_NO_KNEE without an overhead */
};

extern const struct bc_table overhead_table;
