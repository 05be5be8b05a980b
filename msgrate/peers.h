/*
 * Who exchanges messages with whom. Pure. Ranks here are places of common/layout/node_order.h, so
 * that the ranks of a node follow each other.
 *
 * The ranks are a ring. Half of a rank's `count` peers are below it, half above, a stride apart, in
 * ascending order. Where `count` is odd, the extra peer is above for sending and below for
 * receiving, so that one peer makes a ring.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether `count` peers, `stride` ranks apart, are different ranks and none is the rank itself. */
bool msgrate_peers_distinct(int ranks, int count, int stride);

/* The number of all peers of a node's ranks that are on that node; peers must be distinct. */
int64_t msgrate_peers_within(int node_ranks, int ranks, int count, int stride);

/* Writes that number, summed over all nodes, for each of `strides` strides from `first` on. */
typedef void msgrate_within_fn(void *context, int first, int strides, int64_t *within);

/* The smallest stride with distinct peers that puts the largest share of them on other nodes. Asks
   `within_of` for strides up to ranks / 2 (larger ones are the same distances the other way round),
   and stops after a stride that puts all peers on other nodes. Needs more ranks than peers. */
int msgrate_peers_stride(int ranks, int count, msgrate_within_fn *within_of, void *context);

/* Lists the `count` ranks that `rank` sends to and receives from. A message to sends[count - 1 - i]
   goes as far in one direction as one from receives[i] comes, so all ranks can exchange messages in
   steps i = 0, 1 ..., and none waits for a message that is sent in a later step. */
void msgrate_peers_list(int rank, int ranks, int count, int stride, int *sends, int *receives);

/* The partner in a job cut in halves, the lower of which sends to the upper; -1 for the last rank
   of an odd job, which rests. */
int msgrate_partner(int rank, int ranks);
