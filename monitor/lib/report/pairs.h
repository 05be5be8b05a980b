/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of kind peer: amounts between pairs of ranks, of one rank and then of all.
 *
 * A rank contributes its PAIRS_OF_RANK heaviest peers, half of them by time and half by bytes, and
 * the sum of the rest. Of all ranks together, rank 0 has at most PAIRS_MAX pairs, chosen in the
 * same way at each step of the merging tree, so a report of any number of ranks takes a rank at
 * most 4 * PAIRS_MAX pairs of memory (29 MiB) and log2(P) messages. Pairs become rows only when
 * they are written. All functions are local, except those that send.
 */
#pragma once

#include "monitor/lib/count/snapshot.h"

enum { PAIRS_OF_RANK = 64, PAIRS_MAX = 72 << 10 }; /* 1,100 ranks have room for all their pairs */

/* Values of a pair's peer, after the ranks. */
enum { PAIR_REST = INT32_MAX - 1, PAIR_OTHER_JOBS = INT32_MAX };

struct pair {
    int32_t rank, peer; /* in MPI_COMM_WORLD; the rank is MPIX_MONITOR_NA in the rest of all */
    struct pair_amounts {
        int64_t messages, bytes;
        double seconds; /* of the rank, inside MPI */
    } amounts[PEER_WAYS];
};

struct pairs {
    struct pair *list; /* sorted by rank and peer; freed by pairs_free */
    int count;
    struct pair rest; /* sum of the pairs that the list of all ranks has no room for */
    int64_t missed;   /* bytes and messages that a pair may lack, see peers.h; 0: all are exact */
};

/* Makes the pairs of this process. False if memory runs out: then there are none. */
bool pairs_of_table(const struct peer_table *table, int rank, double tick_s, struct pairs *pairs);

/* Copies pairs. False if memory runs out: then `copy` has none. */
bool pairs_copy(const struct pairs *pairs, struct pairs *copy);

/* Adds the pairs of other ranks. False if memory runs out: then `sum` stays as it is. */
bool pairs_merge(struct pairs *sum, const struct pairs *more);

/* Makes the next row of the report, beginning with place 0, and sets `place` for the one after it.
   False if there is none. */
bool pairs_next_row(const struct pairs *pairs, int *place, MPIX_Monitor_row *row);

void pairs_free(struct pairs *pairs);
