/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/rank_peers.h"

#include <stdlib.h>

/* Returns the peers of `count` ranks of a group, or NULL if memory runs out. */
static int32_t *list_peers(MPI_Group group, int count)
{
    int *const ranks = malloc(((size_t)count + 1) * sizeof *ranks);
    int32_t *const list = malloc(((size_t)count + 1) * sizeof *list);
    for (int rank = 0; ranks != NULL && rank < count; rank++)
        ranks[rank] = rank;
    if (ranks != NULL && list != NULL) {
        translate_ranks(group, count, ranks, list);
        for (int rank = 0; rank < count; rank++)
            list[rank] = list[rank] < 0 ? PEER_OTHER : list[rank] + 1;
    }
    free(ranks);
    return list;
}

int32_t rank_peer_ask(int communicator, int rank)
{
    struct communicator *const record = &communicators[communicator];
    if (rank < 0 || communicator == NULL_COMMUNICATOR)
        return PEER_NONE;
    if (communicator == OTHER_COMMUNICATORS)
        return PEER_OTHER;
    monitor_lock();
    const MPI_Group group = record->group[record->is_inter];
    const int count = record->is_inter ? record->peers : record->size;
    const bool has_room = !record->world.is_without_room;
    monitor_unlock();
    if (rank >= count)
        return PEER_NONE;
    int32_t *const list = has_room ? list_peers(group, count) : NULL;
    int32_t peer;
    if (list != NULL) {
        peer = list[rank];
        monitor_lock();
        world_ranks_learn(&record->world, list, count);
        monitor_unlock();
        return peer;
    }
    translate_ranks(group, 1, &rank, &peer);
    return peer < 0 ? PEER_OTHER : peer + 1;
}
