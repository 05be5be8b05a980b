/*
 * Wrappers of the functions that complete operations by their requests, start persistent ones,
 * cancel and free.
 *
 * A call may complete some of several requests and sets their handles to MPI_REQUEST_NULL, so the
 * handles are copied before it. At MPI_THREAD_MULTIPLE another thread may be given a handle again
 * before this one has looked: there the operations are taken out before the call, and those that
 * were not completed are put back.
 */
#include "monitor/completions.h"

#include "common/stats/stats.h"
#include "monitor/calls.h"
#include "monitor/next.h"

#include <pthread.h>
#include <stdlib.h>

/* A request of a call. */
struct held {
    MPI_Request request;
    bool taken; /* its operation is in `operation` */
    struct operation operation;
};

/* Room for more requests than fit on the stack. Each thread has its own, which grows to what its
   largest call needs and is freed with the thread. */
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

/* Whether the statuses are valid: a call on several requests that fails may yet have completed some
   of them. */
static bool has_statuses(int error)
{
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        PMPI_Error_class(error, &class);
    return error == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
}

static bool has_completed(int error, const MPI_Status *status)
{
    return error == MPI_SUCCESS || status->MPI_ERROR == MPI_SUCCESS;
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

/* ---- calls on one request -------------------------------------------------------------------- */

/* The call has returned `error`, which this returns, too. */
static int end_one(struct held *held, const MPI_Request *request, int error, bool is_complete,
                   const MPI_Status *status)
{
    const uint64_t end_ticks = ticks_now();
    if (error != MPI_SUCCESS)
        drop_failed(held, 1, request);
    else if (is_complete)
        end_held(held, end_ticks, status);
    put_back(held, 1);
    return error;
}

INTERPOSED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (!is_anything_monitored())
        return next.Wait(request, status);
    struct held held;
    MPI_Status own;
    MPI_Status *const known = status_or(status, &own);
    hold(&held, 1, request);
    const int error = next.Wait(request, known);
    return end_one(&held, request, error, true, known);
}

INTERPOSED int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!is_anything_monitored())
        return next.Test(request, flag, status);
    struct held held;
    MPI_Status own;
    MPI_Status *const known = status_or(status, &own);
    hold(&held, 1, request);
    const int error = next.Test(request, flag, known);
    return end_one(&held, request, error, error == MPI_SUCCESS && *flag, known);
}

INTERPOSED int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    if (!is_anything_monitored())
        return next.Request_get_status(request, flag, status);
    struct held held;
    MPI_Status own;
    MPI_Status *const known = status_or(status, &own);
    hold(&held, 1, &request);
    const int error = next.Request_get_status(request, flag, known);
    return end_one(&held, &request, error, error == MPI_SUCCESS && *flag, known);
}

/* ---- calls on several requests --------------------------------------------------------------- */

enum { HELD_ON_STACK = 64 };

struct many {
    struct held on_stack[HELD_ON_STACK];
    MPI_Status statuses_on_stack[HELD_ON_STACK];
    int count;
    const MPI_Request *requests; /* the program's */
    struct held *held;
    MPI_Status *statuses; /* the program's, or the monitor's where the program ignores them */
    struct room *room;
};

/* Finds room for a call on `count` requests. */
static bool many_begin(struct many *many, int count)
{
    many->room = NULL;
    many->held = many->on_stack;
    many->statuses = many->statuses_on_stack;
    if (count > HELD_ON_STACK) {
        many->room = take_thread_room(count);
        if (many->room == NULL)
            return false;
        many->held = many->room->held;
        many->statuses = many->room->statuses;
    }
    return true;
}

static void many_end(const struct many *many)
{
    if (many->room != NULL)
        many->room->busy = false;
}

/* Before the call. False if it is not to be followed, or can't be. `statuses` are the program's, or
   the one status of MPI_Waitany and MPI_Testany. */
static bool many_hold(struct many *many, int count, const MPI_Request *requests,
                      MPI_Status *statuses)
{
    if (!is_anything_monitored())
        return false;
    if (!many_begin(many, count)) {
        lose(count, requests);
        return false;
    }
    if (statuses != MPI_STATUSES_IGNORE && statuses != MPI_STATUS_IGNORE)
        many->statuses = statuses;
    many->count = count;
    many->requests = requests;
    hold(many->held, count, requests);
    return true;
}

static int many_release(struct many *many, int error)
{
    if (error != MPI_SUCCESS)
        drop_failed(many->held, many->count, many->requests);
    put_back(many->held, many->count);
    many_end(many);
    return error;
}

/* MPI_Waitall or MPI_Testall has returned `error`, which this returns, too. */
static int end_all(struct many *many, int error, bool are_complete)
{
    const uint64_t end_ticks = ticks_now();
    if (has_statuses(error) && are_complete)
        for (int i = 0; i < many->count; i++)
            if (has_completed(error, &many->statuses[i]))
                end_held(&many->held[i], end_ticks, &many->statuses[i]);
    return many_release(many, error);
}

INTERPOSED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct many many;
    if (!many_hold(&many, count, requests, statuses))
        return next.Waitall(count, requests, statuses);
    const int error = next.Waitall(count, requests, many.statuses);
    return end_all(&many, error, true);
}

INTERPOSED int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct many many;
    if (!many_hold(&many, count, requests, statuses))
        return next.Testall(count, requests, flag, statuses);
    const int error = next.Testall(count, requests, flag, many.statuses);
    return end_all(&many, error, error != MPI_SUCCESS || *flag);
}

/* The same for MPI_Waitany and MPI_Testany. */
static int end_any(struct many *many, int error, bool is_complete, const int *index)
{
    const uint64_t end_ticks = ticks_now();
    if (error == MPI_SUCCESS && is_complete && *index != MPI_UNDEFINED)
        end_held(&many->held[*index], end_ticks, many->statuses);
    return many_release(many, error);
}

INTERPOSED int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct many many;
    if (!many_hold(&many, count, requests, status))
        return next.Waitany(count, requests, index, status);
    const int error = next.Waitany(count, requests, index, many.statuses);
    return end_any(&many, error, true, index);
}

INTERPOSED int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                           MPI_Status *status)
{
    struct many many;
    if (!many_hold(&many, count, requests, status))
        return next.Testany(count, requests, index, flag, status);
    const int error = next.Testany(count, requests, index, flag, many.statuses);
    return end_any(&many, error, error == MPI_SUCCESS && *flag, index);
}

/* The same for MPI_Waitsome and MPI_Testsome, whose statuses are in the order of the indices. */
static int end_some(struct many *many, int error, int completed, const int indices[])
{
    const uint64_t end_ticks = ticks_now();
    if (has_statuses(error) && completed != MPI_UNDEFINED)
        for (int i = 0; i < completed; i++)
            if (has_completed(error, &many->statuses[i]))
                end_held(&many->held[indices[i]], end_ticks, &many->statuses[i]);
    return many_release(many, error);
}

INTERPOSED int MPI_Waitsome(int count, MPI_Request requests[], int *completed, int indices[],
                            MPI_Status statuses[])
{
    struct many many;
    if (!many_hold(&many, count, requests, statuses))
        return next.Waitsome(count, requests, completed, indices, statuses);
    const int error = next.Waitsome(count, requests, completed, indices, many.statuses);
    return end_some(&many, error, *completed, indices);
}

INTERPOSED int MPI_Testsome(int count, MPI_Request requests[], int *completed, int indices[],
                            MPI_Status statuses[])
{
    struct many many;
    if (!many_hold(&many, count, requests, statuses))
        return next.Testsome(count, requests, completed, indices, statuses);
    const int error = next.Testsome(count, requests, completed, indices, many.statuses);
    return end_some(&many, error, *completed, indices);
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
    struct many many;
    if (!is_anything_monitored() || !many_begin(&many, count))
        return next.Startall(count, requests);
    for (int i = 0; i < count; i++)
        many.held[i].taken = begin_start(requests[i], &many.held[i].operation);
    const int error = next.Startall(count, requests);
    for (int i = 0; i < count; i++)
        if (many.held[i].taken)
            (void)operation_posted(&many.held[i].operation, error, requests[i]);
    many_end(&many);
    return error;
}
