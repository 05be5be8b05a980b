/*
 * A round of the sampler: the loops of the post-work-wait method, one after the other.
 */
#ifndef COMMCOST_MPI_OVERHEAD_ROUND_H
#define COMMCOST_MPI_OVERHEAD_ROUND_H

#include "common/stats/sampling.h"
#include "mpi_overhead/kernel.h"

#include <stdint.h>

/* The quantities of a round, in ns an iteration. */
enum overhead_quantity {
    OVERHEAD_BASE,  /* post and wait, no work */
    OVERHEAD_EMPTY, /* neither message nor work: the barrier */
    OVERHEAD_ITER,  /* post, work, wait; with the token, if any */
    OVERHEAD_WORK,  /* the work, without a message; likewise */
    OVERHEAD_QUANTITIES
};

struct overhead_round {
    struct overhead_exchange *exchange;
    uint64_t units;     /* of work */
    int64_t iterations; /* in each loop */
};

/* A source of all four quantities, or of the last two alone (as 0 and 1). */
struct bc_source overhead_full_source(struct overhead_round *round);
struct bc_source overhead_work_source(struct overhead_round *round);

#endif
