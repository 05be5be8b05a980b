/*
 * Operations in flight by their requests, and persistent requests.
 *
 * Libraries give one and the same request to all operations that are complete when their call
 * returns (MPICH and Open MPI do). Those that are known to be such end there, since by their
 * request nobody could tell which one of them a wait is for. Some are known from the start. Others
 * show when MPI hands out a request again of which an operation is in flight: either its operations
 * share it, being complete, or nobody saw the end of that one (a call that went around the
 * monitor). Only MPI can tell, and is asked from then on whenever it hands out this request.
 *
 * So a request has one operation, but for a moment in which another thread has taken that out: a
 * request is a queue.
 *
 * A fixed number of operations can be in flight. All functions are local and want the monitor's
 * lock.
 */
#ifndef MONITOR_REQUESTS_H
#define MONITOR_REQUESTS_H

#include "snapshot.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { REQUESTS_MAX = 1 << 16, PERSISTENT_MAX = 3 << 14 };

/* Finds the requests of operations that are complete at once, by a few of them to nobody and to
   this process itself. Once, when MPI is initialised; calls MPI. */
void requests_start(void);

/* Whether this is one of them. Any thread may ask, without the lock. */
bool request_is_complete(MPI_Request request);

enum request_added {
    REQUEST_ADDED,
    REQUEST_WITHOUT_ROOM,
    REQUEST_REPEATED, /* handed out while an operation of it was in flight, now or once before: not
                         added */
};

/* Adds an operation that was given this request. */
enum request_added request_add(MPI_Request request, const struct operation *operation);

/* Takes the oldest operation of a request out. False if there is none: no operation of ours. */
bool request_take(MPI_Request request, struct operation *operation);

/* Puts it back, in front of the others. */
void request_put_back(MPI_Request request, const struct operation *operation);

/* Forgets all operations, not the persistent requests. */
void requests_clear(void);

/* What each start of a persistent request begins. */
struct persistent {
    enum operation_kind kind;
    int communicator;
    struct sent sent;
    bool receives;
};

/* False if there is no room. */
bool persistent_add(MPI_Request request, const struct persistent *persistent);

/* NULL if it isn't persistent. Valid until persistent_remove. */
const struct persistent *persistent_find(MPI_Request request);

/* Nothing if it isn't persistent. */
void persistent_remove(MPI_Request request);

#endif
