/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that may complete operations by their requests, from their entry to their return.
 *
 * Such a call sets the handles of completed requests to MPI_REQUEST_NULL, so they are copied
 * before it. The monitor's work lies between the two readings of the clock, except the end of the
 * last operation. All functions are local and take the monitor's lock.
 */
#pragma once

#include "monitor/lib/count/requests.h"

struct followed_call {
    struct mpi_call mpi;
    struct completing completing;
    MPI_Request *handles;        /* the requests as they were before the call */
    MPI_Status *statuses;        /* the program's, or the monitor's if the program ignores them */
    int32_t *taken;              /* operations of the requests that the call has completed */
    const MPI_Request *requests; /* the program's */
    void *memory;                /* NULL: on the stack */
};

/* True once the program has cancelled an operation: until then no status is queried. Atomic. */
extern bool something_was_cancelled;

bool followed_make_room(struct followed_call *call, int count);

/* Enters a call on `count` requests, with room for `most` on the stack. Replaces `statuses`, one
   for each request that may complete, if the program ignores them. Returns false if there is no
   room: the ends of these operations then stay unseen. */
static inline bool followed_begin(struct followed_call *call, enum operation_kind kind, int count,
                                  const MPI_Request *requests, MPI_Status **statuses, int most)
{
    call_enter(&call->mpi, kind);
    call->memory = NULL;
    if (count > most && !followed_make_room(call, count))
        return false;
    if (*statuses == MPI_STATUSES_IGNORE || *statuses == MPI_STATUS_IGNORE)
        *statuses = call->statuses;
    call->statuses = *statuses;
    call->requests = requests;
    if (count > 0)
        memcpy(call->handles, requests, (size_t)count * sizeof *requests);
    call->completing.requests = call->handles;
    call->completing.count = count;
    completing_begin(&call->completing);
    return true;
}

/* Leaves a call that has returned `error` and completed `completed` requests, those at `indices`
   (NULL: the first ones), with a status each. Returns `error`. */
int followed_end(struct followed_call *call, int error, int completed, const int *indices);

/* Leaves a call that has completed no request, or for which there was no room. Returns `error`. */
int followed_left(const struct followed_call *call, int error);

/* Measures the monitor's own work between the start and the end of an operation with a request,
   in ticks, with one reading. Takes 10 us, while nothing is monitored. */
uint64_t followed_own_ticks(void);
