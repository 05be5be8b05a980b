/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of a thread between its MPI calls: the operations that its last call completed, and its
 * computation until the next call. That computation is divided equally among the operations that
 * one call completed. Work that needs none of their data could move before that call.
 *
 * An operation is joinable if it could have been part of an earlier one. A message or put is
 * joinable if an earlier one of the same function went to the same destination in the same burst. A
 * burst is what a process sends until it completes a receive, a collective, or an operation that it
 * has to wait for. A collective is joinable if it follows one of the same function on the same
 * communicator, without a call in between, and with less than JOINABLE_NS of computation.
 *
 * Only outermost calls are followed (inside.h), and only when sizes are counted. All functions are
 * local.
 */
#pragma once

#include "monitor/lib/count/inside.h"
#include "monitor/lib/count/snapshot.h"

enum { JOINABLE_NS = 1000 };

/* Maximum number of kinds of operations that one call may complete. Further kinds get no part. */
enum { SETTLED_MAX = 16 };

/* Number of the burst in progress, from 1. Needs the lock. */
extern uint64_t between_burst;

/* Call it before anything is monitored. */
void between_start(void);

/* End the outermost call of the thread: attribute the computation before it to the operations that
   the previous call completed. The first returns true if the operation follows one of the same kind
   on the same communicator with less than JOINABLE_NS of computation in between. Take the lock. */
bool between_operation_left(enum operation_kind kind, int communicator);
void between_call_left(void);

/* Notes that the last call completed `count` such operations. `ends_burst` is true if it waited for
   them, or if they are receives or collectives. Needs the lock. */
void between_settle(const struct sized_kind *which, int64_t count, bool ends_burst);
