/*
 * Which ranks a rank synchronises with. Symmetric: a rank is a neighbour of its neighbours. Pure.
 */
#ifndef COMMCOST_SYNCBENCH_NEIGHBOURS_H
#define COMMCOST_SYNCBENCH_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

enum syncbench_set {
    SYNCBENCH_EVERYONE, /* all ranks */
    SYNCBENCH_NOBODY,   /* no rank waits for another */
    SYNCBENCH_TURNS,    /* all ranks, one after the other */
    SYNCBENCH_PAIR,     /* rank r and rank r + P / 2, numbered by node: as places of
                           common/machine/node_order.h */
    SYNCBENCH_RANDOM,   /* N neighbours in a ring whose ranks are permuted */
    SYNCBENCH_RING,     /* the N nearest ranks, half of them on either side */
    SYNCBENCH_GRID      /* the neighbours in a periodic 3D grid */
};

/* What `ranks` ranks lack to be arranged like this, with n neighbours in a ring (an even number, at
   least 2): "an even number of processes", in a ring what n = 2 needs; NULL: nothing. */
const char *syncbench_lacks(enum syncbench_set set, int ranks, int n);

/* The maximum number of neighbours of a rank in any set but everyone, where rings have up to n. */
int syncbench_max_neighbours(int n);

/* Writes the order of the ranks in a ring, which the seed chooses, to `order` of `ranks` entries.
   All orders are equally likely. */
void syncbench_permute(uint64_t seed, int ranks, int *order);

/* Writes a rank's neighbours, in ascending order and each one once, and returns their number: 0 for
   everyone, nobody and turns. `dims`, whose product is `ranks`, is used for grids, and `order` for
   random sets. */
int syncbench_neighbours(enum syncbench_set set, int rank, int ranks, int n, const int *dims,
                         const int *order, int *neighbours);

#endif
