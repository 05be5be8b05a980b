/*
 * To whom a process sends: the destinations of its messages and puts, by function and communicator,
 * and whether a message could have gone with an earlier one.
 *
 * A burst is what a process sends until it next completes a receive, a collective, or something
 * that it waits for. A second message of a function to one destination in the same burst could have
 * been part of the first, which the receiver hadn't answered. All functions are local; the caller
 * has the monitor's lock.
 */
#ifndef COMMCOST_MONITOR_DESTINATIONS_H
#define COMMCOST_MONITOR_DESTINATIONS_H

#include <stdint.h>

struct destination {
    uint64_t key;   /* 0: the place is empty */
    uint64_t burst; /* in which the last message went there */
};

enum { DESTINATIONS_BITS = 14, DESTINATIONS_MAX = 3 << (DESTINATIONS_BITS - 2) };

struct destination_table {
    struct destination *entries; /* 1 << DESTINATIONS_BITS; NULL where sizes aren't counted */
    int used;
};

enum destination_found {
    DESTINATION_NEW,     /* nothing went there before */
    DESTINATION_KNOWN,   /* something did, but not in this burst */
    DESTINATION_AGAIN,   /* ... and in this burst */
    DESTINATION_NO_ROOM, /* beyond DESTINATIONS_MAX destinations */
};

/* Notes a message of this kind to a rank of the communicator of this number. */
enum destination_found destination_add(struct destination_table *table, int communicator, int kind,
                                       int rank, uint64_t burst);

#endif
