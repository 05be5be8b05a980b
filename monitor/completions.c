/*
 * Wrappers of the functions that complete operations by their requests, start persistent ones,
 * cancel and free.
 *
 * A call may complete some of several requests and sets their handles to MPI_REQUEST_NULL, so the
 * handles are copied before it. At MPI_THREAD_MULTIPLE another thread may be given a handle again
 * before this one has looked: there the operations are taken out before the call, and those that
 * were not completed are put back.
 */
#include "common/stats/stats.h"
#include "monitor/calls.h"

#include <pthread.h>
#include <stdlib.h>

/* A request of a call. */
struct held {
    MPI_Request request;
    bool taken; /* its operation is in `operation` */
    bool ends;  /* ... and the call has completed it */
    struct operation operation;
};

/* Room for more requests than fit on the stack. Each thread has its own, which grows to what its
   largest call needs and is freed with the thread. */
struct room {
    int capacity;
    bool busy;          /* in use by a call from which MPI has called back the program */
    struct held held[]; /* capacity of them, then as many statuses */
};

static pthread_key_t room_key;
static bool has_room_key;

__attribute__((constructor)) static void make_room_key(void)
{
    has_room_key = pthread_key_create(&room_key, free) == 0;
}

/* The thread's room, for `count` requests. NULL without memory or while it is busy. */
static struct room *take_room(int count)
{
    if (!has_room_key)
        return NULL;
    struct room *room = pthread_getspecific(room_key);
    if (room != NULL && room->busy)
        return NULL;
    if (room == NULL || room->capacity < count) {
        (void)pthread_setspecific(room_key, NULL);
        free(room);
        room = malloc(sizeof *room + (size_t)count * (sizeof *room->held + sizeof(MPI_Status)));
        if (room == NULL || pthread_setspecific(room_key, room) != 0) {
            free(room);
            return NULL;
        }
        room->capacity = count;
    }
    room->busy = true;
    return room;
}

/* Few programs cancel: in the others no status is asked whether its operation was cancelled. */
static bool something_was_cancelled;

/* Copies the handles before the call. */
static void hold(struct held *held, int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        held[i] = (struct held){.request = requests[i]};
    if (!monitor_lock_needed)
        return;
    monitor_lock();
    for (int i = 0; i < count; i++)
        held[i].taken = request_take(held[i].request, &held[i].operation);
    monitor_unlock();
}

/* The call has completed this request. Takes its operation out; false if there is none. */
static bool take_completed(struct held *held)
{
    /* Without the lock there is one thread, so nobody has taken the operation meanwhile. */
    if (!held->taken && !monitor_lock_needed)
        held->taken = request_take(held->request, &held->operation);
    held->ends = held->taken;
    return held->ends;
}

/* Ends the operation that was taken out, with its share of the time of the call. */
static void end_taken(struct held *held, const struct mpi_call *call, uint64_t share,
                      uint64_t end_ticks, const MPI_Status *status)
{
    const struct operation *const operation = &held->operation;
    int cancelled = 0;
    held->taken = false;
    held->request = MPI_REQUEST_NULL; /* for drop_failed */
    if (__atomic_load_n(&something_was_cancelled, __ATOMIC_RELAXED))
        PMPI_Test_cancelled(status, &cancelled);
    const int64_t received_bytes = !cancelled && operation->receives ? bytes_received(status) : 0;
    if (!cancelled)
        operation_end(operation, end_ticks, received_bytes);
    call_completed(call, operation, share);
    if (!cancelled)
        operation_sized(operation, end_ticks, received_bytes, call, share);
}

/* The call has failed: an operation whose request it has freed is over, without an end. */
static void drop_failed(struct held *held, int count, const MPI_Request *requests)
{
    monitor_lock();
    for (int i = 0; i < count; i++)
        if (requests[i] == MPI_REQUEST_NULL && held[i].request != MPI_REQUEST_NULL) {
            if (!held[i].taken)
                (void)request_take(held[i].request, &held[i].operation);
            held[i].taken = false;
        }
    monitor_unlock();
}

/* Puts back what was taken and not completed. The last comes first, so that the operations of one
   request keep their order. */
static void put_back(const struct held *held, int count)
{
    if (!monitor_lock_needed)
        return;
    monitor_lock();
    for (int i = count - 1; i >= 0; i--)
        if (held[i].taken)
            request_put_back(held[i].request, &held[i].operation);
    monitor_unlock();
}

uint64_t posted_own_ticks(void)
{
    enum { ROUNDS = 101 };
    double ticks[ROUNDS];
    MPI_Request request; /* a value that no request has */
    memset(&request, 0x5a, sizeof request);
    for (int i = 0; i < ROUNDS; i++) {
        struct operation operation;
        struct held held;
        struct mpi_call call;
        operation_begin_at(&operation, OPERATION_Irecv, OTHER_COMMUNICATORS, (struct sent){0},
                           true);
        (void)operation_posted(&operation, MPI_SUCCESS, request);
        hold(&held, 1, &request);
        call_enter(&call, OPERATION_Wait);
        ticks[i] = (double)(ticks_now() - operation.start_ticks);
        (void)call_ticks(&call, ticks_now());
        if (!held.taken)
            (void)request_take(request, &operation);
    }
    return (uint64_t)(bc_median(ticks, ROUNDS) + 0.5);
}

/* ---- calls on one request -------------------------------------------------------------------- */

/* The call has returned `error`, which this returns, too. */
static int end_one(struct held *held, const struct mpi_call *call, const MPI_Request *request,
                   int error, bool is_complete, const MPI_Status *status)
{
    const uint64_t end_ticks = ticks_now();
    if (error == MPI_SUCCESS && is_complete && take_completed(held))
        end_taken(held, call, call_ticks(call, end_ticks), end_ticks, status);
    else
        call_left(call, NO_COMMUNICATOR, end_ticks);
    if (error != MPI_SUCCESS)
        drop_failed(held, 1, request);
    put_back(held, 1);
    return error;
}

/* Wrapper of a function that completes one request. NOLINTBEGIN(bugprone-macro-parentheses) */
#define COMPLETES_ONE(Name, parameters, arguments, handle, is_complete)                            \
    INTERPOSED int MPI_##Name parameters                                                           \
    {                                                                                              \
        if (!is_anything_monitored())                                                              \
            return next.Name arguments;                                                            \
        struct held held;                                                                          \
        MPI_Status own;                                                                            \
        if (status == MPI_STATUS_IGNORE)                                                           \
            status = &own;                                                                         \
        struct mpi_call call;                                                                      \
        hold(&held, 1, handle);                                                                    \
        call_enter(&call, OPERATION_##Name);                                                       \
        const int error = next.Name arguments;                                                     \
        return end_one(&held, &call, handle, error, is_complete, status);                          \
    }

COMPLETES_ONE(Wait, (MPI_Request * request, MPI_Status *status), (request, status), request, true)
COMPLETES_ONE(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status),
              request, error == MPI_SUCCESS && *flag)
COMPLETES_ONE(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
              (request, flag, status), &request, error == MPI_SUCCESS && *flag)
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- calls on several requests --------------------------------------------------------------- */

enum { MANY = 64 }; /* requests that have room on the stack */

/* A call that is followed. */
struct call {
    struct mpi_call mpi;
    struct held *held;
    MPI_Status *statuses; /* the program's, or the monitor's where the program ignores them */
    struct room *room;    /* NULL: on the stack */
    int count;
    const MPI_Request *requests; /* the program's */
};

/* Finds room for a call, which has that for MANY on the stack. False if there is none. */
static bool call_begin(struct call *call, int count, const MPI_Request *requests)
{
    call->count = count;
    call->requests = requests;
    if (count <= MANY)
        return true;
    call->room = take_room(count);
    if (call->room == NULL)
        return false;
    call->held = call->room->held;
    call->statuses = (void *)(call->held + count);
    return true;
}

static void call_end(const struct call *call)
{
    if (call->room != NULL)
        call->room->busy = false;
}

/* There is no room for the call, so these operations can't be followed. */
static void lose(int count, const MPI_Request *requests)
{
    monitor_lock();
    for (int i = 0; i < count; i++) {
        struct operation operation;
        if (request_take(requests[i], &operation))
            operation_untracked(&operation);
    }
    monitor_unlock();
}

/* Before a call on `count` requests. False if there is no room to follow it. `statuses`, one for
   each request that the call may complete, become the monitor's where the program ignores them. */
static bool follow(struct call *call, int count, const MPI_Request *requests, MPI_Status **statuses)
{
    if (!call_begin(call, count, requests)) {
        lose(count, requests);
        return false;
    }
    if (*statuses == MPI_STATUSES_IGNORE || *statuses == MPI_STATUS_IGNORE)
        *statuses = call->statuses;
    call->statuses = *statuses;
    hold(call->held, count, requests);
    return true;
}

/* Ends the operations that were taken out of the completed requests; each has an equal share of the
   time of the call. */
static void end_all_taken(const struct call *call, int completed, const int *indices,
                          uint64_t taken, uint64_t end_ticks)
{
    const uint64_t ticks = call_ticks(&call->mpi, end_ticks);
    uint64_t share = ticks / taken + ticks % taken; /* of the first one */
    for (int i = 0; i < completed; i++) {
        struct held *const held = &call->held[indices != NULL ? indices[i] : i];
        if (!held->ends)
            continue;
        end_taken(held, &call->mpi, share, end_ticks, &call->statuses[i]);
        share = ticks / taken;
    }
}

static int not_followed(const struct call *call, int error)
{
    call_left(&call->mpi, NO_COMMUNICATOR, ticks_now());
    return error;
}

/* The call has returned `error`, which this returns, too. It has completed `completed` requests,
   those of these indices (NULL: the first ones), and set as many statuses. */
static int followed(const struct call *call, int error, int completed, const int *indices)
{
    const uint64_t end_ticks = ticks_now();
    uint64_t taken = 0;
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        PMPI_Error_class(error, &class);
    /* A call on several requests that fails may yet have completed some of them. */
    if (completed == MPI_UNDEFINED || (error != MPI_SUCCESS && class != MPI_ERR_IN_STATUS))
        completed = 0;
    for (int i = 0; i < completed; i++)
        if (error == MPI_SUCCESS || call->statuses[i].MPI_ERROR == MPI_SUCCESS)
            taken += take_completed(&call->held[indices != NULL ? indices[i] : i]);
    if (taken == 0)
        call_left(&call->mpi, NO_COMMUNICATOR, end_ticks);
    else
        end_all_taken(call, completed, indices, taken, end_ticks);
    if (error != MPI_SUCCESS)
        drop_failed(call->held, call->count, call->requests);
    put_back(call->held, call->count);
    call_end(call);
    return error;
}

/* Wrapper of a function that completes, of `count` requests, the `completed` ones of these indices
   (NULL: the first ones). NOLINTBEGIN(bugprone-macro-parentheses) */
#define COMPLETES(Name, parameters, arguments, completed, indices)                                 \
    INTERPOSED int MPI_##Name parameters                                                           \
    {                                                                                              \
        if (!is_anything_monitored())                                                              \
            return next.Name arguments;                                                            \
        struct held held[MANY];                                                                    \
        MPI_Status own[MANY];                                                                      \
        struct call call = {.held = held, .statuses = own};                                        \
        const bool is_followed = follow(&call, count, requests, &status);                          \
        call_enter(&call.mpi, OPERATION_##Name);                                                   \
        const int error = next.Name arguments;                                                     \
        return is_followed ? followed(&call, error, completed, indices)                            \
                           : not_followed(&call, error);                                           \
    }

COMPLETES(Waitall, (int count, MPI_Request requests[], MPI_Status status[]),
          (count, requests, status), count, NULL)
COMPLETES(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status status[]),
          (count, requests, flag, status), error != MPI_SUCCESS || *flag ? count : 0, NULL)
COMPLETES(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
          (count, requests, index, status), error == MPI_SUCCESS && *index != MPI_UNDEFINED, index)
COMPLETES(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
          (count, requests, index, flag, status),
          error == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED, index)
COMPLETES(Waitsome,
          (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status status[]),
          (count, requests, completed, indices, status), *completed, indices)
COMPLETES(Testsome,
          (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status status[]),
          (count, requests, completed, indices, status), *completed, indices)
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- cancelling, freeing and starting -------------------------------------------------------- */

INTERPOSED int MPI_Cancel(MPI_Request *request)
{
    struct mpi_call call;
    __atomic_store_n(&something_was_cancelled, true, __ATOMIC_RELAXED);
    const bool entered = other_enter(&call);
    return other_left(&call, entered, next.Cancel(request));
}

INTERPOSED int MPI_Request_free(MPI_Request *request)
{
    monitor_lock();
    struct operation without_end;
    (void)request_take(*request, &without_end);
    persistent_remove(*request);
    monitor_unlock();
    struct mpi_call call;
    const bool entered = other_enter(&call);
    return other_left(&call, entered, next.Request_free(request));
}

/* Begins the operation that a start of this request begins. False if the request isn't known or its
   operations aren't monitored. */
static bool begin_start(MPI_Request request, struct operation *operation)
{
    monitor_lock();
    const struct plan *const found = persistent_find(request);
    /* It has one operation at a time: one that is still there has failed, or nobody saw its end. */
    while (found != NULL && request_take(request, operation))
        ;
    const struct plan plan = found != NULL ? *found : (struct plan){0};
    monitor_unlock();
    return found != NULL &&
           begin_if_monitored(operation, plan.kind, plan.communicator, plan.sent, plan.receives);
}

/* An MPI_Startall has returned `error` and has started operations of these requests. Each has an
   equal share of the time of the call. */
static void all_started(const struct call *call, const MPI_Request *requests, int error,
                        uint64_t started, uint64_t exit_ticks)
{
    const uint64_t ticks = call_ticks(&call->mpi, exit_ticks);
    uint64_t share = ticks / started + ticks % started;
    for (int i = 0; i < call->count; i++) {
        struct operation *const operation = &call->held[i].operation;
        if (!call->held[i].taken)
            continue;
        operation->inside_ticks = share;
        call_completed(&call->mpi, operation, share);
        (void)operation_posted(operation, error, requests[i]);
        share = ticks / started;
    }
}

INTERPOSED int MPI_Start(MPI_Request *request)
{
    struct operation operation;
    if (!is_anything_monitored())
        return next.Start(request);
    if (begin_start(*request, &operation)) {
        const int error = next.Start(request);
        return operation_posted(&operation, error, *request);
    }
    struct mpi_call call;
    call_enter(&call, OPERATION_Start);
    const int error = next.Start(request);
    call_left(&call, NO_COMMUNICATOR, ticks_now());
    return error;
}

INTERPOSED int MPI_Startall(int count, MPI_Request requests[])
{
    struct held held[MANY];
    struct call call = {.held = held};
    if (!is_anything_monitored())
        return next.Startall(count, requests);
    const bool has_room = call_begin(&call, count, requests);
    uint64_t started = 0;
    /* Within this call those that begin are inner ones, which have no time of their own. */
    call_enter(&call.mpi, OPERATION_Startall);
    for (int i = 0; has_room && i < count; i++)
        started += call.held[i].taken = begin_start(requests[i], &call.held[i].operation);
    call.mpi.entry_ticks = ticks_now();
    const int error = next.Startall(count, requests);
    const uint64_t exit_ticks = ticks_now();
    if (started > 0)
        all_started(&call, requests, error, started, exit_ticks);
    else
        call_left(&call.mpi, NO_COMMUNICATOR, exit_ticks);
    call_end(&call);
    return error;
}
