/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations in flight by their requests, and persistent requests.
 *
 * MPICH and Open MPI give one request to all operations that are complete when their call returns.
 * Such an operation ends then, since a later wait may be for any of them. Some of these requests
 * are known from the start. Others are noticed when MPI hands out a request again while an
 * operation of it is in flight. Either its operations are complete and share it, or nobody saw the
 * end of the first (in a call that bypasses the monitor). MPI is asked whenever it hands out this
 * request again.
 *
 * At MPI_THREAD_MULTIPLE, another thread's call may have completed the first operation without
 * having looked yet. So calls that may complete operations are known while they are in progress,
 * and keep their operations when MPI hands out a request again. A request then has a queue of
 * operations. All functions are local and need the monitor's lock, unless their comment differs.
 */
#pragma once

#include "monitor/lib/count/operations.h"

enum { REQUESTS_MAX = 1 << 16, PERSISTENT_MAX = 3 << 14 };

/* Finds the requests of operations that are complete at once, by a few operations to MPI_PROC_NULL
   and to this process. Call it once, when MPI is initialised. Needs no lock. */
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

/* Asks MPI whether the operations of a REQUEST_REPEATED are complete, and ends or follows them,
   together with the new one. Takes the lock. */
void request_repeated(MPI_Request request, const struct operation *operation);

/* Next definition of MPI_Request_get_status, for request_repeated. Not PMPI's: the request may
   belong to an interposer below the monitor. */
extern int (*request_get_status)(MPI_Request request, int *is_complete, MPI_Status *status);

/* A call in progress that may complete operations. */
struct completing {
    const MPI_Request *requests; /* as they were before the call */
    int count;
    bool keeps; /* keeps operations whose requests MPI has handed out again */
    struct completing *next;
};

/* Begin and end the call if the lock is needed. */
void completing_enter(struct completing *call);
void completing_leave(struct completing *call);

/* Begins such a call, with requests and count set. It must not move until its end. Takes the
   lock. */
static inline void completing_begin(struct completing *call)
{
    call->keeps = false;
    /* Without the lock there is one thread, so no request is handed out meanwhile. */
    if (monitor_lock_needed)
        completing_enter(call);
}

/* Takes out the operation of a request that the call has completed. Returns its number, to be
   given back by request_release, or NONE. */
int32_t completing_take(const struct completing *call, MPI_Request request);

/* Ends the call. Operations kept for it and not taken are in flight. */
static inline void completing_end(struct completing *call)
{
    if (monitor_lock_needed)
        completing_leave(call);
}

/* Returns the operation of a number. Needs no lock. */
const struct operation *request_operation(int32_t number);

void request_release(int32_t number);

/* Forgets the operation of a request that the program frees, and a persistent request. Takes the
   lock. */
void request_forget(MPI_Request request);

void requests_clear(void);

/* Counts the open requests again, before a snapshot asks for depths. */
void requests_count_depths(void);

/* Keeps a new persistent request, whose starts begin this operation. Takes the lock. */
void persistent_made(MPI_Request request, const struct plan *plan);

/* Gives the plan of a persistent request to the one that MPI has replaced it by. Takes the lock. */
void persistent_move(MPI_Request former, MPI_Request request);

/* Call it after each start: Open MPI replaces a request whose message has not left. */
static inline void persistent_started(MPI_Request former, MPI_Request request)
{
    if (__builtin_expect(former != request, 0))
        persistent_move(former, request);
}

/* Returns the plan of a persistent request, valid until request_forget, or NULL. */
const struct plan *persistent_find(MPI_Request request);
