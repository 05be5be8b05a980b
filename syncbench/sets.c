/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/grid.h"
#include "common/stats/random.h"
#include "syncbench/syncbench.h"

#include <stddef.h>
#include <string.h>

const char *syncbench_lacks(enum syncbench_set set, int ranks, int n)
{
    switch (set) {
    case SYNCBENCH_PAIR:
        return ranks % 2 == 0 ? NULL : "an even number of processes";
    case SYNCBENCH_RANDOM:
    case SYNCBENCH_RING:
        return n <= ranks - 2 ? NULL : "at least 4 processes";
    case SYNCBENCH_GRID:
        return ranks >= 8 ? NULL : "at least 8 processes";
    default:
        return NULL;
    }
}

/* Durstenfeld's form of the Fisher-Yates shuffle (Knuth, The Art of Computer
   Programming, vol. 2, 3rd ed., 3.4.2, algorithm P). */
void syncbench_permute(uint64_t seed, int ranks, int *order)
{
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    for (int i = ranks - 1; i > 0; i--) {
        const int j = (int)(bc_random_next(&seed) % ((uint64_t)i + 1));
        const int rank = order[i];
        order[i] = order[j];
        order[j] = rank;
    }
}

/* Inserts a rank into an ascending list, unless it is present or is `self`. Returns the length. */
static int insert(int *list, int count, int rank, int self)
{
    int place = count;
    while (place > 0 && list[place - 1] > rank)
        place--;
    if (rank == self || (place > 0 && list[place - 1] == rank))
        return count;
    memmove(list + place + 1, list + place, (size_t)(count - place) * sizeof *list);
    list[place] = rank;
    return count + 1;
}

/* The ring follows `order`, or ascending ranks if `order` is NULL. */
static int ring_neighbours(int rank, int ranks, int n, const int *order, int *neighbours)
{
    int here = order == NULL ? rank : 0, count = 0;
    while (order != NULL && order[here] != rank)
        here++;
    for (int distance = -n / 2; distance <= n / 2; distance++) {
        const int place = (here + distance + ranks) % ranks;
        count = insert(neighbours, count, order == NULL ? place : order[place], rank);
    }
    return count;
}

int syncbench_neighbours(enum syncbench_set set, int rank, int ranks, int n, const int *dims,
                         const int *order, int *neighbours)
{
    int sides[BC_GRID_SIDES], count = 0;
    switch (set) {
    case SYNCBENCH_PAIR:
        neighbours[0] = (rank + ranks / 2) % ranks;
        return 1;
    case SYNCBENCH_RANDOM:
        return ring_neighbours(rank, ranks, n, order, neighbours);
    case SYNCBENCH_RING:
        return ring_neighbours(rank, ranks, n, NULL, neighbours);
    case SYNCBENCH_GRID:
        bc_grid_neighbours(dims, rank, sides);
        for (int i = 0; i < BC_GRID_SIDES; i++)
            count = insert(neighbours, count, sides[i], rank);
        return count;
    default:
        return 0;
    }
}
