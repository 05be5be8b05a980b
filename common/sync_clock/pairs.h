/*
 * How the clock of rank 0 is found on all ranks. For global_clock.c, and for the monitor
 * (monitor/common_clock.h), which read different clocks.
 *
 * The lowest ranks of the nodes (their leaders) form a binomial tree from rank 0, and the ranks of
 * each node one from their leader. In step 1, 2, 4 ... of a tree rank r + step is compared with
 * rank r, for all r < step: so a tree takes O(log P) steps, in each of which pairs of ranks measure
 * at the same time. What is known of clocks along the way to rank 0 is chained.
 *
 * Source: the hierarchy, the drift and the chaining are those of Hunold and Carpen-Amarie,
 * "Hierarchical Clock Synchronization in MPI", CLUSTER 2018. There, as in their ReproMPI, the two
 * directions of a round trip are measured by different calls, which shows as a bias; here both
 * ranks make the same calls and begin in turn.
 *
 * Messages are sent with PMPI_ functions, so interposers don't see them. An MPI error ends the job.
 */
#pragma once

#include "common/sync_clock/clock_model.h"

#include <mpi.h>

/* How much a clock's rate may change by itself, as with the temperature. */
#define BC_RATE_CHANGE 1e-8

/* In crowded jobs a rank looks for a message this often before it yields its processor. */
enum { BC_PAIR_LOOKS = 2000 };

/* What is known of a rank's clock against another: a model, and how far it may be off, which adds
   up along the way to rank 0. */
struct bc_known_clock {
    struct bc_clock_model model;
    double error_ns; /* as in struct bc_clock_model_quality: estimated ... */
    double bound_ns; /* ... and max; both just after the measurement */
    double growth;   /* of the error, in each nanosecond that passes */
};

struct bc_pair_tree {
    MPI_Comm comm;  /* MPI_COMM_NULL on a rank that isn't in the tree */
    int rank, size; /* 0 on such a rank */
};

struct bc_pair_clock {
    /* Set by the user, the same on all ranks. */
    int64_t (*now_ns)(void); /* reads this rank's clock */
    double reading_ns;       /* the cost of a reading */
    int looks; /* how often a rank looks for a message before it yields its processor; 0: it never
                  does */
    bool naps; /* one rank of a pair sleeps for a while before a run: a rank that wakes up gets a
                  free processor, while two that share one may keep sharing it */
    void (*barrier)(MPI_Comm); /* where the ranks of a node wait, on crowded nodes, while others
                                  measure; NULL: all pairs measure at the same time */
    int node_at_once;          /* pairs of the node that may measure then */
    bool every_rank;           /* assumes of no ranks of a node that they read one clock */
    bool bounds_one_clock; /* of ranks that seem to read one clock finds how far it may differ */
    double growth_max;  /* of the error against the rank above, if rates don't change; INFINITY: no
                           limit */
    double rate_change; /* by which a rate may change; the growth includes it */

    /* What has been found. */
    struct bc_pair_tree leaders, node;
    bool one_clock; /* compared with a rank of its node whose clock it seems to read */
    struct bc_exchange exchanges[BC_EXCHANGES_MAX]; /* with the rank above, in order */
    size_t count;
    size_t consistent;           /* the newest exchanges, to which the model is fitted */
    struct bc_known_clock known; /* against rank 0 */
};

/* Makes the trees of the ranks of `comm`. `node` is a communicator of the ranks of this node, in
   their order, which becomes the clock's. Collective over `comm`. */
void bc_pair_clock_make(struct bc_pair_clock *clock, MPI_Comm comm, MPI_Comm node);

/* The turns in which all pairs of a tree of this size measure. Local. */
int bc_pair_turns(int size, int at_once);

/* Measures all pairs, each for pair_s seconds. Collective. */
void bc_pair_clock_measure(struct bc_pair_clock *clock, double pair_s);

/* Sets what is known, from all that was measured. Collective. */
void bc_pair_clock_learn(struct bc_pair_clock *clock);

/* Waits for a request, looking as the clock says. Local. */
void bc_pair_wait(const struct bc_pair_clock *clock, MPI_Request *request);

/* Frees the trees. Collective. */
void bc_pair_clock_free(struct bc_pair_clock *clock);
