/* SPDX-License-Identifier: BSD-3-Clause */
/* Round trips between two ranks, as timestamps for a clock model. Internal to common/sync_clock. */
#pragma once

#include "common/sync_clock/clock_model.h"

#include <mpi.h>

/* A pair measures in BC_PAIR_RUNS runs of round trips, which its ranks begin alternately; each run
   is an exchange, with up to BC_PAIR_ROUNDS_MAX messages in each direction. */
enum { BC_PAIR_RUNS = 8, BC_PAIR_ROUNDS_MAX = 400 };

struct bc_clock_tree {
    MPI_Comm comm;  /* MPI_COMM_NULL on a rank that isn't in the tree */
    int rank, size; /* 0 on such a rank */
};

/* State of a rank in its pairs. */
struct bc_clock_pair {
    bool shares_processors;
    bool is_slow;     /* a run of this rank's pair was slow */
    double give_up_s; /* the end of that pair's time; 0: not set */
    struct bc_timestamps timestamps[BC_PAIR_ROUNDS_MAX]; /* of the messages received in one run */
};

/* Sends to and receives from a rank of the tree, by PMPI_ functions. */
void bc_pair_send(const struct bc_clock_tree *tree, const void *data, size_t bytes, int peer);
void bc_pair_receive(const struct bc_clock_pair *pair, const struct bc_clock_tree *tree, void *data,
                     size_t bytes, int peer);

/* Measures for about `seconds` with a rank of the tree, which does the same. Stores up to
   BC_PAIR_RUNS exchanges on the rank that is compared with the reference, and returns their number;
   0 on the reference. */
size_t bc_pair_measure(struct bc_clock_pair *pair, const struct bc_clock_tree *tree, int peer,
                       bool is_reference, double seconds, struct bc_exchange *exchanges);
