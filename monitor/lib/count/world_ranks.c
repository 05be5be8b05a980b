/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/world_ranks.h"

#include <stdlib.h>

static int listed; /* ranks in all lists */

static bool has_stride(const int32_t *list, int count)
{
    for (int rank = 2; rank < count; rank++)
        if ((int64_t)list[rank] - list[rank - 1] != (int64_t)list[1] - list[0])
            return false;
    return true;
}

void world_ranks_learn(struct world_ranks *ranks, int32_t *list, int count)
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

void world_ranks_forget(struct world_ranks *ranks)
{
    if (ranks->list != NULL)
        listed -= ranks->count;
    free(ranks->list);
    *ranks = (struct world_ranks){0};
}
