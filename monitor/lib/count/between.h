/*
 * A thread between its calls of MPI: the operations that its last call completed, and what it
 * computes until the next. Operations that one call completed have equal parts of the computation
 * that follows: work that could be done before that call, if it needs nothing that the call
 * brought.
 *
 * An operation is joinable if it could have been part of an earlier one: a message or put of a
 * function to a destination to which one went in the same burst, which is what a process sends
 * until it next completes a receive, a collective, or something that it waits for; a collective
 * that follows one of the same function on the same communicator, without another call between, and
 * with less than JOINABLE_NS of computation.
 *
 * Calls are followed while sizes are counted, and outermost ones only, see inside.h. All functions
 * are local.
 */
#pragma once

#include "monitor/lib/count/inside.h"
#include "monitor/lib/count/snapshot.h"

enum { JOINABLE_NS = 1000 };

/* A call that completes operations of more kinds than these gives the rest no part. */
enum { SETTLED_MAX = 16 };

/* The number of the burst in progress, from 1 on. Read and counted with the lock. */
extern uint64_t between_burst;

/* Call it before anything is monitored. */
void between_start(void);

/* Ends the outermost call of the thread: counts the computation before the call for the operations
   that the call before it completed. Of an operation also returns whether it follows one of its
   kind on the same communicator with less than JOINABLE_NS of computation between. Both take the
   lock. */
bool between_operation_left(enum operation_kind kind, int communicator);
void between_call_left(void);

/* Notes that the call which the thread has just left completed `count` such operations.
   `ends_burst`: it waited for them, or they are receives or collectives. Wants the lock. */
void between_settle(const struct sized_kind *which, int64_t count, bool ends_burst);
