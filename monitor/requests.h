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
 * So a request has one operation, or several while another thread has taken one out: a queue. All
 * functions are local; the caller has the monitor's lock, unless they say otherwise.
 */
#ifndef COMMCOST_MONITOR_REQUESTS_H
#define COMMCOST_MONITOR_REQUESTS_H

#include "monitor/snapshot.h"

enum { REQUESTS_MAX = 1 << 16, PERSISTENT_MAX = 3 << 14 };

/* Finds the requests of operations that are complete at once, with a few operations to nobody and
   to this process itself. Call it once, when MPI is initialised. Needs no lock. */
void requests_start(void);

/* Whether this is one of those requests. Needs no lock. */
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

/* Puts it back, in front of the others. */
void request_put_back(MPI_Request request, const struct operation *operation);

/* Forgets all operations, but no persistent requests. */
void requests_clear(void);

/* The call that made a persistent request, each start of which begins this operation, has returned
   `error`, which this returns, too. Takes the lock. */
int persistent_made(int error, MPI_Request request, const struct plan *plan);

/* NULL if the request isn't a known persistent one. Valid until persistent_remove. */
const struct plan *persistent_find(MPI_Request request);

/* Nothing if the request isn't a known persistent one. */
void persistent_remove(MPI_Request request);

#endif
