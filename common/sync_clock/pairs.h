/*
 * Trees of ranks that are compared with each other, and the messages by which a pair of them
 * compares its clocks. For global_clock.c, and for the monitor (monitor/common_clock.h), which read
 * different clocks and make different things of the timestamps.
 *
 * The lowest ranks of the nodes (their leaders) form a binomial tree from rank 0, and the ranks of
 * each node one from their leader. In step 1, 2, 4 ... of a tree rank r + step is compared with
 * rank r, for all r < step: so a tree takes O(log P) steps, in each of which pairs of ranks measure
 * at the same time.
 *
 * Messages are sent with PMPI_ functions, so interposers don't see them.
 */
#pragma once

#include "common/sync_clock/clock_model.h"

#include <mpi.h>

struct bc_pair_tree {
    MPI_Comm comm;  /* MPI_COMM_NULL on a rank that isn't in the tree */
    int rank, size; /* 0 on such a rank */
};

struct bc_pair_trees {
    struct bc_pair_tree leaders, node;
};

/* The trees of the ranks of `comm`. `node` is a communicator of the ranks of this node, in their
   order, which becomes the trees'. Collective over `comm`. */
struct bc_pair_trees bc_pair_trees_make(MPI_Comm comm, MPI_Comm node);

/* Collective over both communicators. */
void bc_pair_trees_free(struct bc_pair_trees *trees);

/* The number of pairs of a step in a tree of this size. */
static inline int bc_pair_count(int size, int step)
{
    return size - step < step ? size - step : step;
}

/* In crowded jobs a rank looks for a message this often before it yields its processor, and one
   rank of a pair sleeps for a while before a run: a rank that wakes up gets a free processor, while
   two that share one may keep sharing it. */
enum { BC_PAIR_LOOKS = 2000, BC_PAIR_NAP_NS = 50000 };

/* How much a clock's rate may change by itself, as with the temperature. */
#define BC_RATE_CHANGE 1e-8

/* How a rank takes part. All that follows ends the job where MPI fails. */
struct bc_pair_reader {
    int64_t (*now_ns)(void); /* reads the clock that is compared */
    int looks; /* how often the rank looks for a message before it yields its processor;
                  0: it never does */
};

/* Waits for a request as the reader says. Local. */
void bc_pair_wait(const struct bc_pair_reader *reader, MPI_Request *request);

/* A message between the two ranks of a pair, each of which makes one of these calls. */
void bc_pair_send(const struct bc_pair_tree *tree, const void *data, size_t bytes, int peer);
void bc_pair_receive(const struct bc_pair_reader *reader, const struct bc_pair_tree *tree,
                     void *data, size_t bytes, int peer);

/* The messages of a run in each direction: at least min, at most max, and `seconds` decide between
   these. */
struct bc_pair_run {
    size_t min, max;
    double seconds;
};

/* Sends timestamps to and fro, with the same calls in the same order on both ranks of a pair: a
   receive is posted before its message arrives. `begins` on one of them, `run` the same on both.
   Stores the timestamps of the messages received, at most run->max, and returns their number. */
size_t bc_pair_round_trips(const struct bc_pair_reader *reader, const struct bc_pair_tree *tree,
                           int peer, bool begins, const struct bc_pair_run *run,
                           struct bc_timestamps timestamps[]);

/* What is known of a rank's clock against another: a model, and how far it may be off, which adds
   up along the way to rank 0. */
struct bc_known_clock {
    struct bc_clock_model model;
    double error_ns[2]; /* each user names its two */
    double growth;      /* of the error, in each nanosecond that passes */
};

/* Hands what is known against rank 0 down a tree: each rank chains what the rank above knows with
   its own knowledge, which is against that rank. */
void bc_pair_hand_down(const struct bc_pair_reader *reader, const struct bc_pair_tree *tree,
                       struct bc_known_clock *known);
