/*
 * Who exchanges messages with whom. Pure.
 *
 * A rank's peers are so many ranks below it and above it, a stride apart, the
 * ranks being a ring: half are below, half above, in ascending order. Where
 * their number is odd, the extra one is above for sending and below for
 * receiving, so that one peer makes a ring.
 */
#ifndef COMMCOST_MSGRATE_PEERS_H
#define COMMCOST_MSGRATE_PEERS_H

#include <stdbool.h>

/* Whether `count` peers, `stride` ranks apart, are different ranks in a job of
   so many, and none is the rank itself. */
bool msgrate_peers_distinct(int ranks, int count, int stride);

/* The ranks that `rank` sends to and receives from; both arrays hold `count`.
   What it sends to sends[count - 1 - i] goes as far in one direction as what
   it receives from receives[i] comes: all ranks can pass on messages so in
   step, i = 0, 1 ..., and none waits for one that is not sent before the next
   step. */
void msgrate_peers_list(int rank, int ranks, int count, int stride,
                        int *sends, int *receives);

/* The rank at the other end in a job cut in halves, the lower of which sends
   to the upper; -1 for the last rank of an odd job, which rests. */
int msgrate_partner(int rank, int ranks);

#endif
