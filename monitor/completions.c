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
    struct operation operation;
};

/* Few programs cancel: in the others no status is asked whether its operation was cancelled. */
static bool something_was_cancelled;

/* ---- room for the requests of a call --------------------------------------------------------- */

/* For more requests than fit on the stack. Each thread has its own, which grows to what its largest
   call needs and is freed with the thread. */
struct room {
    struct held *held;
    MPI_Status *statuses;
    int capacity;
    bool busy; /* in use by a call from which MPI has called back the program */
};

static _Thread_local struct room thread_room;
static pthread_key_t room_key;
static pthread_once_t room_key_made = PTHREAD_ONCE_INIT;

static void free_room(void *pointer)
{
    struct room *const room = pointer;
    free(room->held);
    free(room->statuses);
    *room = (struct room){0};
}

static void make_room_key(void)
{
    (void)pthread_key_create(&room_key, free_room);
}

/* The thread's room, for `count` requests. NULL without memory or while it is busy. */
static struct room *take_thread_room(int count)
{
    struct room *const room = &thread_room;
    if (room->busy)
        return NULL;
    if (room->capacity < count) {
        free_room(room);
        room->held = malloc((size_t)count * sizeof *room->held);
        room->statuses = malloc((size_t)count * sizeof *room->statuses);
        if (room->held == NULL || room->statuses == NULL) {
            free_room(room);
            return NULL;
        }
        room->capacity = count;
        (void)pthread_once(&room_key_made, make_room_key);
        (void)pthread_setspecific(room_key, room);
    }
    room->busy = true;
    return room;
}

enum { HELD_ON_STACK = 64 };

/* A call that is followed. */
struct call {
    int count;
    const MPI_Request *requests; /* the program's */
    struct held *held;
    MPI_Status *statuses; /* the program's, or the monitor's where the program ignores them */
    struct room *room;    /* the thread's, or NULL */
    struct held held_on_stack[HELD_ON_STACK];
    MPI_Status statuses_on_stack[HELD_ON_STACK];
};

/* Finds room. False if there is none. call_end gives it back. */
static bool call_begin(struct call *call, int count, const MPI_Request *requests)
{
    call->count = count;
    call->requests = requests;
    call->room = count > HELD_ON_STACK ? take_thread_room(count) : NULL;
    call->held = call->room != NULL ? call->room->held : call->held_on_stack;
    call->statuses = call->room != NULL ? call->room->statuses : call->statuses_on_stack;
    return count <= HELD_ON_STACK || call->room != NULL;
}

static void call_end(const struct call *call)
{
    if (call->room != NULL)
        call->room->busy = false;
}

/* ---- before and after a call ----------------------------------------------------------------- */

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

/* The call has completed this request. */
static void end_held(struct held *held, uint64_t end_ticks, const MPI_Status *status)
{
    /* Without the lock there is one thread, so nobody has taken the operation meanwhile. */
    if (!held->taken && (monitor_lock_needed || !request_take(held->request, &held->operation)))
        return;
    held->taken = false;
    held->request = MPI_REQUEST_NULL; /* for drop_failed */
    const struct operation *const operation = &held->operation;
    int cancelled = 0;
    if (__atomic_load_n(&something_was_cancelled, __ATOMIC_RELAXED))
        PMPI_Test_cancelled(status, &cancelled);
    if (!cancelled)
        operation_end(operation, end_ticks, operation->receives ? bytes_received(status) : 0);
}

/* The call has failed: an operation whose request it has freed is over, without an end. */
static void drop_failed(const struct call *call)
{
    monitor_lock();
    for (int i = 0; i < call->count; i++) {
        struct held *const held = &call->held[i];
        if (call->requests[i] == MPI_REQUEST_NULL && held->request != MPI_REQUEST_NULL) {
            if (!held->taken)
                (void)request_take(held->request, &held->operation);
            held->taken = false;
        }
    }
    monitor_unlock();
}

/* Puts back what was taken and not completed. The last comes first, so that the operations of one
   request keep their order. */
static void put_back(const struct call *call)
{
    if (!monitor_lock_needed)
        return;
    monitor_lock();
    for (int i = call->count - 1; i >= 0; i--)
        if (call->held[i].taken)
            request_put_back(call->held[i].request, &call->held[i].operation);
    monitor_unlock();
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

/* Before a call on `count` requests. False if it is not to be followed, or can't be. `statuses` are
   the program's: one for each request that the call may complete. */
static bool follow(struct call *call, int count, const MPI_Request *requests, MPI_Status *statuses)
{
    if (!is_anything_monitored())
        return false;
    if (!call_begin(call, count, requests)) {
        lose(count, requests);
        return false;
    }
    if (statuses != MPI_STATUSES_IGNORE && statuses != MPI_STATUS_IGNORE)
        call->statuses = statuses;
    hold(call->held, count, requests);
    return true;
}

/* The call has returned `error`, which this returns, too. It has completed `completed` requests,
   those of these indices (NULL: the first ones), and set as many statuses. */
static int followed(const struct call *call, int error, int completed, const int *indices)
{
    const uint64_t end_ticks = ticks_now();
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        PMPI_Error_class(error, &class);
    /* A call on several requests that fails may yet have completed some of them. */
    if (completed == MPI_UNDEFINED || (error != MPI_SUCCESS && class != MPI_ERR_IN_STATUS))
        completed = 0;
    for (int i = 0; i < completed; i++) {
        const MPI_Status *const status = &call->statuses[i];
        if (error == MPI_SUCCESS || status->MPI_ERROR == MPI_SUCCESS)
            end_held(&call->held[indices != NULL ? indices[i] : i], end_ticks, status);
    }
    if (error != MPI_SUCCESS)
        drop_failed(call);
    put_back(call);
    call_end(call);
    return error;
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
        operation_begin_at(&operation, OPERATION_Irecv, OTHER_COMMUNICATORS, (struct sent){0},
                           true);
        (void)operation_posted(&operation, MPI_SUCCESS, request);
        hold(&held, 1, &request);
        ticks[i] = (double)(ticks_now() - operation.start_ticks);
        if (!held.taken)
            (void)request_take(request, &operation);
    }
    return (uint64_t)(bc_median(ticks, ROUNDS) + 0.5);
}

/* ---- calls that complete --------------------------------------------------------------------- */

INTERPOSED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct call call;
    if (!follow(&call, 1, request, status))
        return next.Wait(request, status);
    const int error = next.Wait(request, call.statuses);
    return followed(&call, error, error == MPI_SUCCESS, NULL);
}

INTERPOSED int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct call call;
    if (!follow(&call, 1, request, status))
        return next.Test(request, flag, status);
    const int error = next.Test(request, flag, call.statuses);
    return followed(&call, error, error == MPI_SUCCESS && *flag, NULL);
}

INTERPOSED int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct call call;
    if (!follow(&call, 1, &request, status))
        return next.Request_get_status(request, flag, status);
    const int error = next.Request_get_status(request, flag, call.statuses);
    return followed(&call, error, error == MPI_SUCCESS && *flag, NULL);
}

INTERPOSED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct call call;
    if (!follow(&call, count, requests, statuses))
        return next.Waitall(count, requests, statuses);
    return followed(&call, next.Waitall(count, requests, call.statuses), count, NULL);
}

INTERPOSED int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct call call;
    if (!follow(&call, count, requests, statuses))
        return next.Testall(count, requests, flag, statuses);
    const int error = next.Testall(count, requests, flag, call.statuses);
    return followed(&call, error, error != MPI_SUCCESS || *flag ? count : 0, NULL);
}

INTERPOSED int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct call call;
    if (!follow(&call, count, requests, status))
        return next.Waitany(count, requests, index, status);
    const int error = next.Waitany(count, requests, index, call.statuses);
    return followed(&call, error, error == MPI_SUCCESS && *index != MPI_UNDEFINED, index);
}

INTERPOSED int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                           MPI_Status *status)
{
    struct call call;
    if (!follow(&call, count, requests, status))
        return next.Testany(count, requests, index, flag, status);
    const int error = next.Testany(count, requests, index, flag, call.statuses);
    return followed(&call, error, error == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED, index);
}

INTERPOSED int MPI_Waitsome(int count, MPI_Request requests[], int *completed, int indices[],
                            MPI_Status statuses[])
{
    struct call call;
    if (!follow(&call, count, requests, statuses))
        return next.Waitsome(count, requests, completed, indices, statuses);
    const int error = next.Waitsome(count, requests, completed, indices, call.statuses);
    return followed(&call, error, *completed, indices);
}

INTERPOSED int MPI_Testsome(int count, MPI_Request requests[], int *completed, int indices[],
                            MPI_Status statuses[])
{
    struct call call;
    if (!follow(&call, count, requests, statuses))
        return next.Testsome(count, requests, completed, indices, statuses);
    const int error = next.Testsome(count, requests, completed, indices, call.statuses);
    return followed(&call, error, *completed, indices);
}

/* ---- cancelling, freeing and starting -------------------------------------------------------- */

INTERPOSED int MPI_Cancel(MPI_Request *request)
{
    __atomic_store_n(&something_was_cancelled, true, __ATOMIC_RELAXED);
    return next.Cancel(request);
}

INTERPOSED int MPI_Request_free(MPI_Request *request)
{
    monitor_lock();
    struct operation without_end;
    (void)request_take(*request, &without_end);
    persistent_remove(*request);
    monitor_unlock();
    return next.Request_free(request);
}

/* Begins the operation that a start of this request begins. False if the request isn't known or its
   operations aren't monitored. */
static bool begin_start(MPI_Request request, struct operation *operation)
{
    monitor_lock();
    const struct persistent *const found = persistent_find(request);
    /* It has one operation at a time: one that is still there has failed, or nobody saw its end. */
    while (found != NULL && request_take(request, operation))
        ;
    const struct persistent persistent = found != NULL ? *found : (struct persistent){0};
    monitor_unlock();
    if (found == NULL || !is_monitored(operation_traits[persistent.kind].class))
        return false;
    operation_begin_at(operation, persistent.kind, persistent.communicator, persistent.sent,
                       persistent.receives);
    return true;
}

INTERPOSED int MPI_Start(MPI_Request *request)
{
    struct operation operation;
    if (!is_anything_monitored() || !begin_start(*request, &operation))
        return next.Start(request);
    const int error = next.Start(request);
    return operation_posted(&operation, error, *request);
}

INTERPOSED int MPI_Startall(int count, MPI_Request requests[])
{
    struct call call;
    if (!is_anything_monitored() || !call_begin(&call, count, requests))
        return next.Startall(count, requests);
    for (int i = 0; i < count; i++)
        call.held[i].taken = begin_start(requests[i], &call.held[i].operation);
    const int error = next.Startall(count, requests);
    for (int i = 0; i < count; i++)
        if (call.held[i].taken)
            (void)operation_posted(&call.held[i].operation, error, requests[i]);
    call_end(&call);
    return error;
}
