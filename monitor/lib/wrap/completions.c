/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of functions that complete operations by their requests, start persistent ones, cancel
 * and free.
 */
#include "monitor/lib/count/followed.h"
#include "monitor/lib/wrap/next.h"
#include "monitor/lib/wrap/observed.h"
#include "monitor/lib/wrap/observers.h"
#include "monitor/lib/wrap/starting.h"

#include <stdlib.h>

/* Wrapper of a function that gets `count` requests and completes `completed` of them: those at
   `indices`, or the first ones if NULL. Up to `most` requests are saved on the stack.
   NOLINTBEGIN(bugprone-macro-parentheses) */
#define COMPLETES(Name, most, parameters, arguments, count, requests, completed, indices)          \
    INTERPOSED int MPI_##Name parameters                                                           \
    {                                                                                              \
        if (!is_anything_monitored() ||                                                            \
            is_of_fortran_layer(&next.Name, __builtin_return_address(0)))                          \
            return next.Name arguments;                                                            \
        site_enter(__builtin_return_address(0));                                                   \
        MPI_Request handles[most];                                                                 \
        MPI_Status own[most];                                                                      \
        int32_t taken[most];                                                                       \
        struct followed_call call;                                                                 \
        call.handles = handles, call.statuses = own, call.taken = taken;                           \
        const bool is_followed =                                                                   \
            followed_begin(&call, OPERATION_##Name, count, requests, &status, most);               \
        const int error = next.Name arguments;                                                     \
        return is_followed && (monitor_lock_needed || error != MPI_SUCCESS || (completed) > 0)     \
                   ? followed_end(&call, error, completed, indices)                                \
                   : followed_left(&call, error);                                                  \
    }

COMPLETES(Wait, 1, (MPI_Request * request, MPI_Status *status), (request, status), 1, request,
          error == MPI_SUCCESS, NULL)
COMPLETES(Test, 1, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status),
          1, request, error == MPI_SUCCESS && *flag, NULL)
COMPLETES(Request_get_status, 1, (MPI_Request request, int *flag, MPI_Status *status),
          (request, flag, status), 1, &request, error == MPI_SUCCESS && *flag, NULL)
COMPLETES(Waitall, MANY, (int count, MPI_Request requests[], MPI_Status status[]),
          (count, requests, status), count, requests, count, NULL)
COMPLETES(Testall, MANY, (int count, MPI_Request requests[], int *flag, MPI_Status status[]),
          (count, requests, flag, status), count, requests,
          error != MPI_SUCCESS || *flag ? count : 0, NULL)
COMPLETES(Waitany, MANY, (int count, MPI_Request requests[], int *index, MPI_Status *status),
          (count, requests, index, status), count, requests,
          error == MPI_SUCCESS && *index != MPI_UNDEFINED, index)
COMPLETES(Testany, MANY,
          (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
          (count, requests, index, flag, status), count, requests,
          error == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED, index)
COMPLETES(Waitsome, MANY,
          (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status status[]),
          (count, requests, completed, indices, status), count, requests, *completed, indices)
COMPLETES(Testsome, MANY,
          (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status status[]),
          (count, requests, completed, indices, status), count, requests, *completed, indices)
/* NOLINTEND(bugprone-macro-parentheses) */

INTERPOSED int MPI_Cancel(MPI_Request *request)
{
    struct mpi_call call;
    if (is_of_fortran_layer(&next.Cancel, __builtin_return_address(0)))
        return next.Cancel(request);
    site_enter(__builtin_return_address(0));
    const bool entered = other_enter(&call);
    __atomic_store_n(&something_was_cancelled, true, __ATOMIC_RELAXED);
    return other_left(&call, entered, next.Cancel(request));
}

INTERPOSED int MPI_Request_free(MPI_Request *request)
{
    struct mpi_call call;
    if (is_of_fortran_layer(&next.Request_free, __builtin_return_address(0)))
        return next.Request_free(request);
    site_enter(__builtin_return_address(0));
    const bool entered = other_enter(&call);
    request_forget(*request);
    return other_left(&call, entered, next.Request_free(request));
}

static bool begin_operation(MPI_Request request, struct operation *operation)
{
    monitor_lock();
    const struct plan *const found = persistent_find(request);
    /* A persistent request has one operation at a time: one that is still there has failed, or
     * nobody saw its end. */
    while (found != NULL && request_take(request, operation))
        ;
    const struct plan plan = found != NULL ? *found : (struct plan){0};
    monitor_unlock();
    return found != NULL &&
           begin_if_monitored(operation, plan.kind, plan.communicator, plan.sent, plan.receives);
}

static bool begin(struct started *started, MPI_Request request, bool monitored)
{
    started->request = request;
    started->begins = monitored && begin_operation(request, &started->operation);
    return started->begins;
}

void starting_begin(struct starting *starting, MPI_Request request)
{
    starting->monitored = is_anything_monitored();
    if (!begin(&starting->one, request, starting->monitored) && starting->monitored)
        call_enter(&starting->call, OPERATION_Start);
}

int starting_end(struct starting *starting, MPI_Request request, int error)
{
    persistent_started(starting->one.request, request);
    if (starting->one.begins)
        return operation_posted(&starting->one.operation, error, request);
    return starting->monitored ? call_returned(&starting->call, NO_COMMUNICATOR, error) : error;
}

void starting_all_begin(struct starting_all *all, int count, const MPI_Request *requests)
{
    all->monitored = is_anything_monitored();
    if (all->monitored)
        call_enter(&all->call, OPERATION_Startall);
    all->count = count;
    all->begun = 0;
    all->started = count > MANY ? malloc((size_t)count * sizeof *all->started) : all->on_stack;
    /* Operations that begin within this call are inner ones, which have no time of their own. */
    for (int i = 0; all->started != NULL && i < count; i++)
        all->begun += begin(&all->started[i], requests[i], all->monitored);
}

static void end_operations(const struct starting_all *all, const MPI_Request *requests, int error)
{
    call_completes(&all->call);
    struct shares shares = shares_begin(&all->call, all->begun, ticks_now());
    for (int i = 0; i < all->count; i++) {
        if (!all->started[i].begins)
            continue;
        struct operation *const operation = &all->started[i].operation;
        operation->inside_ticks = shares_take(&shares, 1, 0);
        call_completed(&all->call, operation, operation->inside_ticks);
        (void)operation_posted(operation, error, requests[i]);
    }
}

int starting_all_end(struct starting_all *all, const MPI_Request *requests, int error)
{
    for (int i = 0; all->started != NULL && i < all->count; i++)
        persistent_started(all->started[i].request, requests[i]);
    if (all->begun > 0)
        end_operations(all, requests, error);
    else if (all->monitored)
        call_left(&all->call, NO_COMMUNICATOR, 0);
    if (all->started != all->on_stack)
        free(all->started);
    return error;
}

INTERPOSED int MPI_Start(MPI_Request *request)
{
    struct starting starting;
    if (is_of_fortran_layer(&next.Start, __builtin_return_address(0)))
        return next.Start(request);
    site_enter(__builtin_return_address(0));
    starting_begin(&starting, *request);
    const int error = next.Start(request);
    return starting_end(&starting, *request, error);
}

INTERPOSED int MPI_Startall(int count, MPI_Request requests[])
{
    struct starting_all all;
    if (is_of_fortran_layer(&next.Startall, __builtin_return_address(0)))
        return next.Startall(count, requests);
    site_enter(__builtin_return_address(0));
    starting_all_begin(&all, count, requests);
    return starting_all_end(&all, requests, next.Startall(count, requests));
}
