/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers of this process: the processes that it sends to and receives from, with the messages, bytes
 * and time of each.
 *
 * A peer is known by its number: its rank in MPI_COMM_WORLD plus 1, or PEER_OTHER for all processes
 * of other jobs together. world_ranks.h finds it. PEER_NONE is no process: a message to or from
 * MPI_PROC_NULL counts nothing.
 *
 * A send, put or get counts for its destination or target when it begins. A receive counts when it
 * completes, since only its status has the source (MPI_ANY_SOURCE). The time of an operation is
 * that inside MPI: in the call that starts it, and its part of the calls that complete it. An
 * operation that sends and receives (MPI_Sendrecv) counts its time for the source, which it waits
 * for, unless that is MPI_PROC_NULL.
 *
 * Counts are exact for up to PEERS_MAX peers. With more, the table is the Space-Saving sketch of
 * A. Metwally, D. Agrawal, A. El Abbadi, "Efficient Computation of Frequent and Top-k Elements in
 * Data Streams", ICDT 2005. A new peer takes the place of the lightest one, with its weight. A
 * weight is bytes plus messages, so a peer of more than total / PEERS_MAX of both is always in the
 * table. A replaced peer's amounts go to `rest`: sums over all peers stay exact, and a peer lacks
 * at most `missed` bytes and messages. All functions are local and need the monitor's lock.
 */
#pragma once

#include "monitor/lib/count/handles.h"

enum { PEERS_MAX = 1 << 14, PEERS_BITS = 15 };

/* Numbers of peers. MPI_COMM_WORLD has fewer processes. */
enum { PEER_NONE = 0, PEER_OTHER = 0x7fffffff };

/* From this process's point of view. */
enum peer_way { PEER_SENDS, PEER_RECEIVES, PEER_PUTS, PEER_GETS, PEER_WAYS };

struct peer_amounts {
    int64_t messages, bytes;
    uint64_t ticks; /* inside MPI */
};

struct peer {
    int32_t number;
    int64_t weight; /* at least its bytes and messages, at most `missed` more */
    int64_t missed; /* weight of the peer that it replaced; 0: its amounts are exact */
    struct peer_amounts amounts[PEER_WAYS];
};

struct peer_table {
    struct peer *peers; /* PEERS_MAX + 1, from 1 on in the order of their first message; NULL: not
                           counted */
    int32_t used;
    int32_t latest; /* index of the peer that counted last */
    struct handle_map indexes;
    struct light_peer {
        int64_t weight; /* when it came to its place: its weight now may be more */
        int32_t index;
    } * lightest;     /* heap, the lightest first; in use once the table is full */
    struct peer rest; /* sums of replaced peers; its `missed` is the greatest of the table */
};

/* Makes an empty table: 0.2 KiB for each peer that is used, 2.6 MiB at most. False if memory runs
   out. peer_table_free frees what there is. */
bool peer_table_make(struct peer_table *table);
void peer_table_free(struct peer_table *table);

/* Adds amounts of a peer, which is not PEER_NONE. */
void peer_table_add(struct peer_table *table, int32_t number, enum peer_way way,
                    const struct peer_amounts *amounts);
