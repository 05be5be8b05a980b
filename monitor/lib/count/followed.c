/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/followed.h"

#include "common/stats/stats.h"
#include "monitor/lib/count/calls.h"

#include <stdlib.h>

bool something_was_cancelled;

bool followed_make_room(struct followed_call *call, int count)
{
    const size_t requests = (size_t)count;
    call->memory =
        malloc(requests * (sizeof *call->statuses + sizeof *call->handles + sizeof *call->taken));
    if (call->memory == NULL)
        return false;
    _Static_assert(sizeof(MPI_Request) % _Alignof(MPI_Status) == 0, "statuses are aligned");
    call->handles = call->memory;
    call->statuses = (void *)(call->handles + requests);
    call->taken = (void *)(call->statuses + requests);
    return true;
}

static int32_t take(struct followed_call *call, int index)
{
    const int32_t number = completing_take(&call->completing, call->handles[index]);
    call->handles[index] = MPI_REQUEST_NULL; /* for drop_failed */
    return number;
}

/* Drops operations whose requests a failed call has freed: they have no end. */
static void drop_failed(struct followed_call *call)
{
    for (int i = 0; i < call->completing.count; i++)
        if (call->requests[i] == MPI_REQUEST_NULL && call->handles[i] != MPI_REQUEST_NULL) {
            const int32_t number = take(call, i);
            if (number != NONE)
                request_release(number);
        }
}

/* Takes out the operations of the completed requests. Returns their number. */
static int take_completed(struct followed_call *call, int error, int completed, const int *indices)
{
    int taken = 0;
    monitor_lock();
    for (int i = 0; i < completed; i++) {
        const bool is_good = error == MPI_SUCCESS || call->statuses[i].MPI_ERROR == MPI_SUCCESS;
        call->taken[i] = is_good ? take(call, indices != NULL ? indices[i] : i) : NONE;
        taken += call->taken[i] != NONE;
    }
    if (__builtin_expect(error != MPI_SUCCESS, 0))
        drop_failed(call);
    completing_end(&call->completing);
    monitor_unlock();
    return taken;
}

static void end_taken(const struct followed_call *call, int i, uint64_t share, uint64_t end_ticks)
{
    const struct operation *const operation = request_operation(call->taken[i]);
    const MPI_Status *const status = &call->statuses[i];
    int cancelled = 0;
    if (__atomic_load_n(&something_was_cancelled, __ATOMIC_RELAXED))
        PMPI_Test_cancelled(status, &cancelled);
    const int64_t bytes = operation->receives && !cancelled ? bytes_received(status) : 0;
    if (cancelled)
        call_completed(&call->mpi, operation, share);
    else
        operation_completed(operation, &call->mpi, share, end_ticks, bytes);
    if (operation->receives && !cancelled && are_peers_counted())
        operation_received(operation, status->MPI_SOURCE, bytes, share);
}

/* Returns the time of leaving the call: with one request there is no work after its return. */
static uint64_t exit_of(int completed, uint64_t end_ticks)
{
    return completed == 1 ? end_ticks : 0;
}

static void end_all_taken(const struct followed_call *call, int completed, int taken,
                          uint64_t end_ticks)
{
    call_completes(&call->mpi);
    struct shares shares = shares_begin(&call->mpi, taken, end_ticks);
    for (int i = 0; i < completed; i++)
        if (call->taken[i] != NONE)
            end_taken(call, i, shares_take(&shares, 1, exit_of(completed, end_ticks)), end_ticks);
    monitor_lock();
    for (int i = 0; i < completed; i++)
        if (call->taken[i] != NONE)
            request_release(call->taken[i]);
    monitor_unlock();
}

/* Leaves the call, which has completed no operation, at exit_ticks (0: now). */
static int left(const struct followed_call *call, int error, uint64_t exit_ticks)
{
    if (call->memory != NULL)
        free(call->memory);
    call_left(&call->mpi, NO_COMMUNICATOR, exit_ticks);
    return error;
}

int followed_left(const struct followed_call *call, int error) { return left(call, error, 0); }

int followed_end(struct followed_call *call, int error, int completed, const int *indices)
{
    const uint64_t end_ticks = completed > 0 ? ticks_now() : 0;
    int class = MPI_SUCCESS;
    if (__builtin_expect(error != MPI_SUCCESS, 0))
        PMPI_Error_class(error, &class);
    /* A call on several requests that fails may yet have completed some of them. */
    if (completed == MPI_UNDEFINED || (error != MPI_SUCCESS && class != MPI_ERR_IN_STATUS))
        completed = 0;
    const int taken = take_completed(call, error, completed, indices);
    if (taken == 0)
        return left(call, error, exit_of(completed, end_ticks));
    end_all_taken(call, completed, taken, end_ticks);
    if (call->memory != NULL)
        free(call->memory);
    return error;
}

uint64_t followed_own_ticks(void)
{
    enum { ROUNDS = 101 };
    double ticks[ROUNDS];
    MPI_Request request; /* a value that no request has */
    memset(&request, 0x5a, sizeof request);
    for (int i = 0; i < ROUNDS; i++) {
        struct operation operation;
        MPI_Request handle;
        int32_t taken;
        MPI_Status own, *status = &own;
        struct followed_call call = {.handles = &handle, .statuses = &own, .taken = &taken};
        operation_begin_at(&operation, OPERATION_Irecv, OTHER_COMMUNICATORS, (struct sent){0},
                           true);
        (void)operation_posted(&operation, MPI_SUCCESS, request);
        (void)followed_begin(&call, OPERATION_Wait, 1, &request, &status, 1);
        const uint64_t end_ticks = ticks_now();
        ticks[i] = (double)(end_ticks - operation.start_ticks);
        (void)take_completed(&call, MPI_SUCCESS, 1, NULL);
        call_left(&call.mpi, NO_COMMUNICATOR, end_ticks);
        request_release(taken);
    }
    return (uint64_t)(bc_median(ticks, ROUNDS) + 0.5);
}
