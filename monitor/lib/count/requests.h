/*
 * Operations in flight by their requests, and persistent requests.
 *
 * MPICH and Open MPI give the same request to all operations that are complete when their call
 * returns. An operation with such a request ends there, since the request doesn't tell which
 * operation a later wait is for. Some of these requests are known from the start. Others show when
 * MPI hands a request out again while an operation of it is in flight: either its operations share
 * it, being complete, or nobody saw the end of the first (in a call that went around the monitor).
 * Only MPI knows which, and is asked whenever it hands this request out again.
 *
 * At MPI_THREAD_MULTIPLE there is one more reason: another thread's call has completed the first,
 * and that thread has not looked yet. So calls that may complete operations are known while they
 * are in progress, and an operation of theirs is kept for them when MPI hands its request out.
 *
 * So a request has one operation, or several after one that was kept was not complete: a queue. All
 * functions are local; the caller has the monitor's lock, unless they say otherwise.
 */
#pragma once

#include "monitor/lib/count/operations.h"

enum { REQUESTS_MAX = 1 << 16, PERSISTENT_MAX = 3 << 14 };

/* Finds the requests of operations that are complete at once, with a few operations to nobody and
   to this process itself. Call it once, when MPI is initialised. Needs no lock. */
void requests_start(void);

/* True if this is one of those requests. Needs no lock. */
bool request_is_complete(MPI_Request request);

enum request_added {
    REQUEST_ADDED,
    REQUEST_WITHOUT_ROOM,
    REQUEST_REPEATED, /* not added: handed out while an operation of it was in flight, now or at any
                         time before */
};

/* Adds an operation that was given this request. */
enum request_added request_add(MPI_Request request, const struct operation *operation);

/* Takes out the oldest operation of a request. False if there is none. */
bool request_take(MPI_Request request, struct operation *operation);

/* Asks MPI whether the operations of a request that is REQUEST_REPEATED are complete, and ends or
   follows them accordingly, with the one that was given it now. Takes the lock. */
void request_repeated(MPI_Request request, const struct operation *operation);

/* The next definition of MPI_Request_get_status, which request_repeated asks. Not PMPI's: the
   request may be that of an interposer below the monitor. Set when the library is loaded. */
extern int (*request_get_status)(MPI_Request request, int *is_complete, MPI_Status *status);

/* A call in progress that may complete operations. */
struct completing {
    const MPI_Request *requests; /* as they were before the call */
    int count;
    bool keeps; /* operations of these, whose requests MPI has handed out again */
    struct completing *next;
};

/* Begin and end the call where the lock is needed. */
void completing_enter(struct completing *call);
void completing_leave(struct completing *call);

/* Begins such a call, with requests and count set; it stays where it is until its end. Takes the
   lock. */
static inline void completing_begin(struct completing *call)
{
    call->keeps = false;
    /* Without the lock there is one thread, so no request is handed out meanwhile. */
    if (monitor_lock_needed)
        completing_enter(call);
}

/* Takes out the operation of a request that the call has completed. Returns its number, which is
   the caller's until request_release, or NONE. */
int32_t completing_take(const struct completing *call, MPI_Request request);

/* Ends the call: what was kept for it and not taken is in flight. */
static inline void completing_end(struct completing *call)
{
    if (monitor_lock_needed)
        completing_leave(call);
}

/* Returns the operation of a number that was taken out. Needs no lock. */
const struct operation *request_operation(int32_t number);

/* Gives the number up. */
void request_release(int32_t number);

/* Forgets the operation of a request that the program frees, and the request if it is persistent.
   Takes the lock. */
void request_forget(MPI_Request request);

/* Forgets all operations, but no persistent requests. */
void requests_clear(void);

/* Keeps a new persistent request, each start of which begins this operation. Takes the lock. */
void persistent_made(MPI_Request request, const struct plan *plan);

/* Returns the plan of a persistent request, valid until request_forget. NULL if it isn't a known
   one. */
const struct plan *persistent_find(MPI_Request request);
