/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of peers (peers.h) of the ranks of a communicator.
 *
 * The ranks that messages on a communicator name are translated to MPI_COMM_WORLD at the first
 * message that needs it, once per communicator: to a start and a stride if that is enough, as in
 * MPI_COMM_WORLD itself, else to a list. Lists have WORLD_RANKS_MAX ranks in all (1 MiB); a further
 * communicator's rank is translated for each message.
 */
#pragma once

#include "monitor/lib/count/peers.h"

enum { WORLD_RANKS_MAX = 1 << 18 };

/* Part of a communicator's record; 0: nothing is known. */
struct world_ranks {
    bool is_known, is_without_room; /* without room: has neither a stride nor a list */
    int count;                      /* ranks, in an intercommunicator of the remote group */
    int32_t first, stride;          /* rank r is peer first + r * stride, if there is no list */
    int32_t *list;                  /* by rank */
};

enum { PEER_UNKNOWN = -1 };

/* Returns the peer of a rank, PEER_NONE for a negative or wrong rank such as MPI_PROC_NULL, or
   PEER_UNKNOWN if MPI must be asked. Needs the lock. */
static inline int32_t world_ranks_find(const struct world_ranks *of, int member)
{
    if (!of->is_known)
        return PEER_UNKNOWN;
    if (member < 0 || member >= of->count)
        return PEER_NONE;
    return of->list != NULL ? of->list[member] : of->first + member * of->stride;
}

/* Sets the ranks from a list of `count` peers, which they keep if they need it, else free. Needs
   the lock. */
void world_ranks_learn(struct world_ranks *ranks, int32_t *list, int count);

/* Forgets the ranks. Needs the lock. */
void world_ranks_forget(struct world_ranks *ranks);
