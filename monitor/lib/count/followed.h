/*
 * Calls that may complete operations by their requests, followed from their entry to their return.
 *
 * Such a call may complete some of several requests and sets their handles to MPI_REQUEST_NULL, so
 * the handles are copied before it. All that the monitor does for the call lies between the two
 * readings of the clock that are its entry and its exit, except the end of its last operation. All
 * functions are local and take the monitor's lock.
 */
#pragma once

#include "monitor/lib/count/requests.h"

struct followed_call {
    struct mpi_call mpi;
    struct completing completing;
    MPI_Request *handles; /* the requests as they were before the call */
    MPI_Status *statuses; /* the program's, or the monitor's where the program ignores them */
    int32_t *taken;       /* of the requests that the call has completed: the operations */
    const MPI_Request *requests; /* the program's */
    void *memory;                /* NULL: on the stack */
};

/* True once the program has cancelled an operation. Atomic. Few programs cancel: in the others no
   status is asked whether its operation was cancelled. */
extern bool something_was_cancelled;

/* Makes room for a call on more requests than fit on the stack. False without memory. */
bool followed_make_room(struct followed_call *call, int count);

/* Enters a call on `count` requests, which has room for `most` on the stack. `statuses`, one for
   each request that the call may complete, become the monitor's where the program ignores them.
   False without room: nobody sees the ends of these operations. */
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

/* Leaves a call that has returned `error`: this returns it, too. The call has completed `completed`
   requests, those of these indices (NULL: the first ones), and set as many statuses. */
int followed_end(struct followed_call *call, int error, int completed, const int *indices);

/* Leaves a call, also one without room, that has returned `error`, which this returns, too, and has
   completed none of the operations. */
int followed_left(const struct followed_call *call, int error);

/* Measures the monitor's own work between the start and the end of an operation with a request, in
   ticks, including the reading of the clock. Takes about 10 us, while nothing is monitored. */
uint64_t followed_own_ticks(void);
