/*
 * To whom a process sends: the destinations of its messages and puts, by function and communicator,
 * and whether a message could have gone with an earlier one.
 *
 * A burst is what a process sends until it next completes a receive, a collective, or something
 * that it waits for. A second message of a function to one destination in the same burst could have
 * been part of the first, which the receiver hadn't answered. All functions are local; the caller
 * has the monitor's lock.
 */
#ifndef COMMCOST_MONITOR_NEIGHBOURS_H
#define COMMCOST_MONITOR_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

struct neighbour {
    uint64_t key;   /* 0: the place is empty */
    uint64_t burst; /* in which the last message went there */
};

enum { NEIGHBOURS_BITS = 14, NEIGHBOURS_MAX = 3 << (NEIGHBOURS_BITS - 2) };

struct neighbour_table {
    struct neighbour *neighbours; /* 1 << NEIGHBOURS_BITS of them, NULL where nobody asks */
    int used;
};

/* False without memory. neighbour_table_free also frees what was never made. */
bool neighbour_table_make(struct neighbour_table *table);
void neighbour_table_free(struct neighbour_table *table);

enum neighbour_found {
    NEIGHBOUR_NEW,     /* nothing went there before */
    NEIGHBOUR_KNOWN,   /* something did, but not in this burst */
    NEIGHBOUR_AGAIN,   /* ... and in this burst */
    NEIGHBOUR_NO_ROOM, /* beyond NEIGHBOURS_MAX destinations */
};

/* Notes a message of this kind to the rank `destination` of the communicator of this number. */
enum neighbour_found neighbour_add(struct neighbour_table *table, int communicator, int kind,
                                   int destination, uint64_t burst);

#endif
