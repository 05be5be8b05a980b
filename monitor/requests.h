/*
 * Operations in flight by their requests, and persistent requests.
 *
 * A library may give one and the same request to several operations that were complete at once (MPICH and Open MPI
 * do), so a request is a queue of operations: waiting for it ends the oldest one.
 *
 * A fixed number of operations can be in flight. All functions are local and want the monitor's lock.
 */
#ifndef MONITOR_REQUESTS_H
#define MONITOR_REQUESTS_H

#include "snapshot.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { REQUESTS_MAX = 1 << 16, PERSISTENT_MAX = 3 << 12 };

/* Puts an operation behind the others of its request; false if there is no room. */
bool request_add(MPI_Request request, const struct operation *operation);

/* Takes the oldest operation of a request out. False if there is none: no operation of ours. */
bool request_take(MPI_Request request, struct operation *operation);

/* Puts it back, in front of the others. */
void request_put_back(MPI_Request request, const struct operation *operation);

/* MPI_Cancel was called for the oldest operation of this request. */
void request_cancel(MPI_Request request);

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
