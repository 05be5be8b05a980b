#include "monitor/lib/count/world_ranks.h"

#include "monitor/lib/count/communicators.h"

#include <stdlib.h>

static int listed; /* ranks in all lists */

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

static bool has_stride(const int32_t *list, int count)
{
    for (int rank = 2; rank < count; rank++)
        if ((int64_t)list[rank] - list[rank - 1] != (int64_t)list[1] - list[0])
            return false;
    return true;
}

/* Sets the ranks from this list, which they keep if they need it. */
static void learn(struct world_ranks *ranks, int32_t *list, int count)
{
    if (ranks->is_known) { /* another thread was quicker */
        free(list);
        return;
    }
    *ranks = (struct world_ranks){.is_known = true, .count = count, .first = list[0]};
    if (has_stride(list, count)) {
        ranks->stride = count > 1 ? list[1] - list[0] : 0;
        free(list);
    } else if (listed + count <= WORLD_RANKS_MAX) {
        listed += count;
        ranks->list = list;
    } else {
        ranks->is_known = false;
        ranks->is_without_room = true;
        free(list);
    }
}

int32_t world_ranks_ask(int communicator, int rank)
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
        learn(&record->world, list, count);
        monitor_unlock();
        return peer;
    }
    translate_ranks(group, 1, &rank, &peer);
    return peer < 0 ? PEER_OTHER : peer + 1;
}

void world_ranks_forget(struct world_ranks *ranks)
{
    if (ranks->list != NULL)
        listed -= ranks->count;
    free(ranks->list);
    *ranks = (struct world_ranks){0};
}
