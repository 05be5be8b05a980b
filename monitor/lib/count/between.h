/*
 * Thread between its MPI calls: the operations that its last call completed, and its computation
 * until the next call. Operations that one call completed have equal parts of that computation.
 * Work that needs none of their data could move before that call.
 *
 * An operation is joinable if it could have been part of an earlier one. A message or put is
 * joinable if one of its function went to its destination in the same burst. A burst is what a
 * process sends until it completes a receive, a collective, or an operation that it has to wait
 * for. A collective is joinable if it follows one of its function on its communicator, without
 * another call, and with less than JOINABLE_NS of computation.
 *
 * Only outermost calls are followed (inside.h), while sizes are counted. All functions are local.
 */
#pragma once

#include "monitor/lib/count/inside.h"
#include "monitor/lib/count/snapshot.h"

enum { JOINABLE_NS = 1000 };

/* Kinds of operations that one call may complete. Those beyond get no part. */
enum { SETTLED_MAX = 16 };

/* Number of the burst in progress, from 1 on. Needs the lock. */
extern uint64_t between_burst;

/* Call it before anything is monitored. */
void between_start(void);

/* End the outermost call of the thread: count the computation before it for the operations that
   the call before it completed. The first returns whether the operation follows one of its kind
   on its communicator with less than JOINABLE_NS of computation between. Take the lock. */
bool between_operation_left(enum operation_kind kind, int communicator);
void between_call_left(void);

/* Notes that the last call completed `count` such operations. `ends_burst`: it waited for them,
   or they are receives or collectives. Needs the lock. */
void between_settle(const struct sized_kind *which, int64_t count, bool ends_burst);
