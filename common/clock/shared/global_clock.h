/*
 * A clock that all ranks share, across nodes: rank 0's, as each rank can tell it
 * from its own by a line of its own (common/clock/shared/clock_model.h: offset and drift).
 *
 * The lines are found along a tree: the leaders of the nodes (their lowest ranks) in
 * a binomial one from rank 0 on, then the ranks of each node from their leader on; so
 * it takes O(log P) steps, in which pairs of ranks measure at the same time, and the
 * lines of a way are chained. All pairs are measured once, then again when time has
 * passed, which gives the drift; the wait is one for all of them. Each later update
 * makes that time longer.
 *
 * Source: the hierarchy, the drift and the chaining are those of Hunold and
 * Carpen-Amarie, "Hierarchical Clock Synchronization in MPI", CLUSTER 2018. There, as
 * in their ReproMPI, the two ways of a message are measured by different calls, which
 * shows as a bias; here they are the same on both ranks, who begin in turn.
 *
 * Ranks of a node mostly read one clock. That is believed only of those whose messages
 * don't contradict it (none arrived before it was sent, in either direction, now and
 * later), and they have their leader's line then.
 *
 * In oversubscribed jobs no more pairs of a node measure at a time than have two
 * processors each; all others sleep. What is exchanged passes by what intercepts MPI
 * calls.
 */
#ifndef COMMCOST_COMMON_CLOCK_SHARED_GLOBAL_CLOCK_H
#define COMMCOST_COMMON_CLOCK_SHARED_GLOBAL_CLOCK_H

#include "common/clock/shared/clock_model.h"
#include "common/machine/job.h"

#include <stdbool.h>
#include <stdint.h>

struct bc_global_clock;

/* What is known of the clock; the worst of all ranks. */
struct bc_global_clock_report {
    double error_ns; /* by how much it is off on a rank right after it was measured,
                        as far as measurements that ought to agree tell */
    double growth;   /* ... and how much more for each nanosecond that passes */
    double bound_ns; /* by how much it can be off at most right after, even if messages
                        take no time at all one way: half the way's round trips; 0 for
                        ranks that are believed to read one clock */
    double took_s;   /* the last measurement */
    int shared;      /* ranks that read the clock of the one they were compared with */
};

/*
 * Measures the clocks against each other, for about so many seconds (0.1 to 2), of
 * which most is waiting; where that isn't enough for the pairs of a crowded node it
 * takes longer, some 10 ms a pair. With `every_rank` ranks of a node that may read one
 * clock are measured, too. Collective over MPI_COMM_WORLD, of which `job` is and which
 * it must outlive; the same arguments on all ranks. The clock must have been selected,
 * and stay.
 */
struct bc_global_clock *bc_global_clock_create(const struct bc_job *job, double seconds,
                                               bool every_rank);

/* Measures again, in some milliseconds a step of the tree, and goes by all that was
   measured so far, as long as rates stayed the same. Collective. */
void bc_global_clock_update(struct bc_global_clock *clock);

/* From this rank's clock (the line's other one) to the global one (its reference);
   until the next update. Local. */
const struct bc_clock_model *bc_global_clock_model(const struct bc_global_clock *clock);

/* By how much that line is off when this rank's clock shows now_ns, as far as that
   can be seen. Local. */
double bc_global_clock_error_ns(const struct bc_global_clock *clock, int64_t now_ns);

/* Collective; the same on every rank. */
struct bc_global_clock_report bc_global_clock_report(const struct bc_global_clock *clock);

/* Collective. */
void bc_global_clock_destroy(struct bc_global_clock *clock);

#endif
