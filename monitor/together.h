/*
 * What the ranks of communicators know together of the calls that they kept.
 *
 * Ranks hand their parts up a binomial tree of all ranks, a series after the other by rising key,
 * until a rank has those of all of the communicator's processes; that one hands the result back.
 * Each rank sends and receives for a series of its own, and for those that it passes on, two
 * messages for each rank below it: no collectives, and no memory that grows with the ranks.
 */
#ifndef COMMCOST_MONITOR_TOGETHER_H
#define COMMCOST_MONITOR_TOGETHER_H

#include "monitor/late.h"

#include <stddef.h>

/* How parts, one for each call that was kept, are made, added up, and read. `item` is the index of
   the series among those of this rank. */
struct together {
    size_t size; /* of a part, in bytes; up to TOGETHER_PART_MAX */
    void (*set_own)(const void *context, int item, void *parts);
    void (*add)(void *sum, const void *more, int kept);
    /* `parts` are of all ranks, if all of the communicator have kept the same calls, and any. */
    void (*read)(const void *context, int item, bool is_whole, const void *parts);
    const void *context;
};

enum { TOGETHER_PART_MAX = 40 };

/* Calls read() for each of this rank's items, which are by rising key. Collective over `comm`, on
   which nobody else may send; not thread-safe. */
void together(int count, const struct late_item items[], const struct together *how, MPI_Comm comm);

#endif
