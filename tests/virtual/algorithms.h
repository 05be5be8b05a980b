/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking collectives that go by messages, with MODEL_ALGORITHM: when each member leaves,
 * by when each one came.
 *
 * A message of n bytes keeps its sender busy for G n, and is there L after that; the receiver waits
 * for it. So a member that only sends leaves before the others have anything, and the next
 * collective begins there while this one continues.
 */
#ifndef VIRTUAL_ALGORITHMS_H
#define VIRTUAL_ALGORITHMS_H

#include <stdint.h>

enum algorithm {
    ALGORITHM_NONE, /* a collective takes the duration of the plan */
    ALGORITHM_LINEAR,
    ALGORITHM_BINOMIAL,
    ALGORITHM_RING,
    ALGORITHM_RECURSIVE_DOUBLING
};

/* Where data goes. */
enum algorithm_flow { FLOW_FROM_ROOT, FLOW_TO_ROOT, FLOW_TO_ALL, FLOW_UP };

struct algorithm_case {
    enum algorithm algorithm;
    enum algorithm_flow flow;
    int size, root;
    /* The bytes that a member sends, or gets from the root. With `blocks` each member's is another
       block, which trees and rings collect or divide; else each message is one of these. */
    const int64_t *bytes;
    int blocks;
    double latency_ns, per_byte_ns; /* L, G */
};

/* MODEL_ALGORITHM: linear, binomial, ring, recursive_doubling; unset: ALGORITHM_NONE. */
enum algorithm algorithm_chosen(void);

/* at_ns: when each member comes, then when it leaves. */
void algorithm_run(const struct algorithm_case *c, int64_t *at_ns);

#endif
