/*
 * Who exchanges messages with whom. Pure. Ranks are numbered by node here: they are
 * places of common/machine/node_order.h, so that those of a node follow each other.
 *
 * A rank's `count` peers are ranks below it and above it, a stride apart, the
 * ranks being a ring: half are below, half above, in ascending order. Where
 * `count` is odd, the extra one is above for sending and below for
 * receiving, so that one peer makes a ring.
 */
#ifndef COMMCOST_MSGRATE_PEERS_H
#define COMMCOST_MSGRATE_PEERS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether `count` peers, `stride` ranks apart, are different ranks in a job of
   `ranks`, and none is the rank itself. */
bool msgrate_peers_distinct(int ranks, int count, int stride);

/* Of all peers of the ranks of a node, how many are on that node. The node has
   `node_ranks` ranks; peers must be distinct. */
int64_t msgrate_peers_within(int node_ranks, int ranks, int count, int stride);

/* Writes that number, summed over all nodes, for each of `strides` strides from `first`
   on. */
typedef void msgrate_within_fn(void *context, int first, int strides, int64_t *within);

/* The smallest stride with distinct peers that puts the largest share of them on other
   nodes. Asks for strides up to ranks / 2, since beyond that lie the same distances the
   other way round; stops after one that puts all peers on other nodes. There must be
   more ranks than peers. */
int msgrate_peers_stride(int ranks, int count, msgrate_within_fn *within_of, void *context);

/* The ranks that `rank` sends to and receives from; both arrays hold `count`.
   What it sends to sends[count - 1 - i] goes as far in one direction as what
   it receives from receives[i] comes: all ranks can pass on messages so in
   step, i = 0, 1 ..., and none waits for one that is not sent before the next
   step. */
void msgrate_peers_list(int rank, int ranks, int count, int stride, int *sends, int *receives);

/* The rank at the other end in a job cut in halves, the lower of which sends
   to the upper; -1 for the last rank of an odd job, which rests. */
int msgrate_partner(int rank, int ranks);

#endif
