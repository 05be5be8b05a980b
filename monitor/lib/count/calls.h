/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting of calls by wrappers. All functions are local.
 */
#pragma once

#include "common/mpi/counts.h"
#include "monitor/lib/count/requests.h"
#include "monitor/lib/count/type_sizes.h"

static inline int64_t bytes_of(MPI_Count count, MPI_Datatype datatype)
{
    if (count == 0 || datatype == MPI_DATATYPE_NULL)
        return 0;
    return (int64_t)count * type_size(datatype);
}

/* A message to `destination`, which may be MPI_PROC_NULL. */
#define SENT(message_bytes, destination)                                                           \
    ((destination) == MPI_PROC_NULL                                                                \
         ? (struct sent){0}                                                                        \
         : (struct sent){.bytes = (message_bytes), .size = SIZE_OF_MESSAGE_TO(destination)})

static inline int64_t bytes_received(const MPI_Status *status)
{
    int bytes = MPI_UNDEFINED;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    if (__builtin_expect(bytes != MPI_UNDEFINED, 1))
        return bytes;
    MPI_Count many = 0;
    BC_PMPI_GET_ELEMENTS(status, MPI_BYTE, &many);
    return many == MPI_UNDEFINED ? 0 : (int64_t)many;
}

/* Begins an operation if its class is monitored. True if it is. */
static inline bool begin_if_monitored(struct operation *operation, enum operation_kind kind,
                                      int communicator, struct sent sent, bool receives)
{
    const bool monitored = is_monitored(operation_traits[kind].class);
    if (monitored)
        operation_begin_at(operation, kind, communicator, sent, receives);
    return monitored;
}

/* Ends an operation at end_ticks with its call, which is left at exit_ticks. Returns `error`,
   the result of the call. */
static inline int operation_returned_at(struct operation *operation, int error,
                                        int64_t received_bytes, uint64_t end_ticks,
                                        uint64_t exit_ticks)
{
    if (error == MPI_SUCCESS)
        operation_end(operation, end_ticks, received_bytes);
    operation_left(operation, exit_ticks);
    if (error == MPI_SUCCESS)
        operation_sized(operation, end_ticks, received_bytes);
    return error;
}

/* Ends an operation with its call, now. `status` has the received bytes; NULL: none. Returns
   `error`. */
__attribute__((always_inline)) static inline int operation_returned(struct operation *operation,
                                                                    int error,
                                                                    const MPI_Status *status)
{
    const uint64_t end_ticks = ticks_now();
    const bool has_received = error == MPI_SUCCESS && status != NULL;
    const int64_t bytes = has_received ? bytes_received(status) : 0;
    (void)operation_returned_at(operation, error, bytes, end_ticks, end_ticks);
    if (has_received && are_peers_counted())
        operation_received(operation, status->MPI_SOURCE, bytes, 0);
    return error;
}

/* Leaves the call of a non-blocking operation, which is in flight from now on, unless it is
   complete already. Returns `error`, the result of the call. */
__attribute__((always_inline)) static inline int operation_posted(struct operation *operation,
                                                                  int error, MPI_Request request)
{
    const uint64_t exit_ticks = ticks_now();
    if (error == MPI_SUCCESS && (request == MPI_REQUEST_NULL || request_is_complete(request)))
        return operation_returned_at(operation, error, 0, exit_ticks, exit_ticks);
    operation_left(operation, exit_ticks);
    if (error != MPI_SUCCESS)
        return error;
    operation->posted = true;
    if (!operation->receives)
        operation->posted_ticks = exit_ticks;
    monitor_lock();
    const enum request_added added = request_add(request, operation);
    if (added == REQUEST_WITHOUT_ROOM)
        operation_untracked(operation);
    monitor_unlock();
    if (__builtin_expect(added == REQUEST_REPEATED, 0))
        request_repeated(request, operation);
    return error;
}

/* Enters a call if calls are monitored. True if they are. */
static inline bool call_enter_if_monitored(struct mpi_call *call, enum operation_kind kind)
{
    const bool monitored = is_monitored(CLASS_CALLS);
    if (monitored)
        call_enter(call, kind);
    return monitored;
}

/* Leaves a call on this communicator that has completed no operation. Returns `error`. */
static inline int call_returned(const struct mpi_call *call, int communicator, int error)
{
    call_left(call, communicator, 0);
    return error;
}
