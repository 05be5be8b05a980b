/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "linkmap/linkmap.h"

#include <stdlib.h>

/* Smaller messages are mostly latency, so a low share is no fault. */
enum { BYTES_MIN = 1 << 20 };

/* Max listed links of a point; the first ones. */
enum { OF_POINT_MAX = 16 };

/* Finds this point's links to later points, at most OF_POINT_MAX. Returns the number of all. */
static int find_own(const struct linkmap_links *links, double min_share, struct linkmap_pair *own)
{
    const int self = links->points->own;
    int found = 0;
    for (int to = self + 1; to < links->points->count; to++)
        if (linkmap_share(links, to) < min_share) {
            if (found < OF_POINT_MAX)
                own[found] = (struct linkmap_pair){self, to};
            found++;
        }
    return found;
}

/* Moves the listed links to the front, in order. Returns their number. */
static int pack(struct linkmap_pair *pairs, int places)
{
    int count = 0;
    for (int i = 0; i < places; i++)
        if (pairs[i].to > 0) /* a later point */
            pairs[count++] = pairs[i];
    return count;
}

void linkmap_find_low(struct linkmap_low_links *low, const struct linkmap_links *links,
                      double min_share)
{
    const int points = links->points->count;
    struct linkmap_pair own[OF_POINT_MAX] = {{0}};
    if (links->times.ways == LINKMAP_WAYS || links->times.visits < LINKMAP_VISITS_MIN ||
        links->bytes < BYTES_MIN)
        return;
    const int64_t found = find_own(links, min_share, own);
    BC_MPI(MPI_Allreduce(&found, &low->all, 1, MPI_INT64_T, MPI_SUM, links->points->comm));
    low->are_most = 4 * low->all > (int64_t)points * (points - 1);
    if (low->all == 0 || low->are_most)
        return;
    low->pairs = bc_allocate((size_t)points, sizeof own, "no memory for links");
    BC_MPI(MPI_Allgather(own, sizeof own, MPI_BYTE, low->pairs, sizeof own, MPI_BYTE,
                         links->points->comm));
    low->count = pack(low->pairs, points * OF_POINT_MAX);
}

bool linkmap_next_low(const struct linkmap_low_links *low, struct linkmap_pair *pair)
{
    for (int i = 0; i < low->count; i++) {
        const struct linkmap_pair *const next = &low->pairs[i];
        if (next->from > pair->from || (next->from == pair->from && next->to > pair->to)) {
            *pair = *next;
            return true;
        }
    }
    return false;
}
