/*
 * The calls that complete operations by their requests, start persistent ones, cancel and free.
 *
 * A call may complete some of several requests, and gives their handles up, so these are kept from
 * before it. At MPI_THREAD_MULTIPLE another thread may be given a handle again before this one has
 * looked: there the operations are taken out before the call, and those that were not completed put
 * back.
 */
#include "calls.h"
#include "communicators.h"
#include "next.h"

#include "common/stats/stats.h"

#include <pthread.h>
#include <stdlib.h>

/* A request of a call. */
struct held {
    MPI_Request request;
    bool taken; /* its operation is in `operation` */
    struct operation operation;
};

/* Room for a call's requests: on the stack, or where there are many the thread's own, which grows
   to what its largest call needs and is freed with the thread. */
enum { HELD_ON_STACK = 64 };

struct room {
    struct held *held;
    MPI_Status *statuses;
    int capacity;
    bool busy; /* a call in which MPI called back the program, which made another */
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

/* The thread's room, with place for `count` requests, or NULL. */
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

/* Programs that cancel are few: in the others nobody asks statuses whether their operation was
 * cancelled. */
static bool something_was_cancelled;

static bool is_anything_monitored(void)
{
    return is_monitored(CLASS_POINT_TO_POINT) || is_monitored(CLASS_COLLECTIVE);
}

/* Before the call. */
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
    if (!held->taken) {
        /* Then there is one thread, and nobody has taken anything since. */
        if (monitor_lock_needed || !request_take(held->request, &held->operation))
            return;
    }
    held->taken = false;
    held->request = MPI_REQUEST_NULL; /* done with: see drop_failed */
    const struct operation *const operation = &held->operation;
    int cancelled = 0;
    if (__atomic_load_n(&something_was_cancelled, __ATOMIC_RELAXED))
        PMPI_Test_cancelled(status, &cancelled);
    if (!cancelled)
        operation_end(operation, end_ticks, operation->receives ? received_bytes(status) : 0);
}

/* A call on several requests that fails may say in the statuses that it has completed some of them
 * all the same. */
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

/* The call has failed: what has lost its request is over, and has no end. */
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

/* Puts back what was taken and not completed, the last first, so that the operations of one request
   keep their order. */
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

/* Nobody can follow these operations: there is no room for the call. */
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

void operation_posted_again(const struct operation *operation, MPI_Request request)
{
    int is_complete = 0;
    MPI_Status status;
    /* Not PMPI's: the request may be of an interposer after ours. */
    if (!operation->receives)
        (void)next.Request_get_status(request, &is_complete, &status);
    monitor_lock();
    struct operation former;
    while (request_take(request, &former)) {
        if (is_complete && !former.receives)
            operation_ended_when_posted(&former);
        else
            operation_untracked(&former);
    }
    if (is_complete)
        operation_ended_when_posted(operation);
    else
        request_put_back(request, operation);
    monitor_unlock();
}

uint64_t posted_own_ticks(void)
{
    enum { ROUNDS = 101 };
    double ticks[ROUNDS];
    MPI_Request request; /* like no other */
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

INTERPOSED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (!is_anything_monitored())
        return next.Wait(request, status);
    struct held held;
    MPI_Status own;
    MPI_Status *const known = status_or(status, &own);
    hold(&held, 1, request);
    const int error = next.Wait(request, known);
    const uint64_t end_ticks = ticks_now();
    if (error == MPI_SUCCESS)
        end_held(&held, end_ticks, known);
    else
        drop_failed(&held, 1, request);
    put_back(&held, 1);
    return error;
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
    const uint64_t end_ticks = ticks_now();
    if (error != MPI_SUCCESS)
        drop_failed(&held, 1, request);
    else if (*flag)
        end_held(&held, end_ticks, known);
    put_back(&held, 1);
    return error;
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
    const uint64_t end_ticks = ticks_now();
    if (error == MPI_SUCCESS && *flag)
        end_held(&held, end_ticks, known);
    put_back(&held, 1);
    return error;
}

/* A call on several requests. */
struct many {
    struct held on_stack[HELD_ON_STACK];
    MPI_Status statuses_on_stack[HELD_ON_STACK];
    struct held *held;
    MPI_Status *statuses; /* the program's or, where it wants none, ours */
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

/* Holds a call's requests; `statuses` are the program's, or NULL. False if it can't be followed. */
static bool many_hold(struct many *many, int count, const MPI_Request *requests,
                      MPI_Status *statuses)
{
    if (!many_begin(many, count)) {
        lose(count, requests);
        return false;
    }
    if (statuses != NULL)
        many->statuses = statuses;
    hold(many->held, count, requests);
    return true;
}

static void many_release(struct many *many, int count, const MPI_Request *requests, int error)
{
    if (error != MPI_SUCCESS)
        drop_failed(many->held, count, requests);
    put_back(many->held, count);
    many_end(many);
}

/* The program's statuses, or NULL where it wants none. */
static MPI_Status *statuses_of(MPI_Status *statuses)
{
    return statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
}

static MPI_Status *status_of(MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE ? NULL : status;
}

/* MPI_Waitall and MPI_Testall have completed them all, or what the statuses say. */
static void end_all(struct many *many, int count, int error, uint64_t end_ticks)
{
    for (int i = 0; i < count; i++)
        if (has_completed(error, &many->statuses[i]))
            end_held(&many->held[i], end_ticks, &many->statuses[i]);
}

INTERPOSED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct many many;
    if (!is_anything_monitored() || !many_hold(&many, count, requests, statuses_of(statuses)))
        return next.Waitall(count, requests, statuses);
    const int error = next.Waitall(count, requests, many.statuses);
    const uint64_t end_ticks = ticks_now();
    if (has_statuses(error))
        end_all(&many, count, error, end_ticks);
    many_release(&many, count, requests, error);
    return error;
}

INTERPOSED int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct many many;
    if (!is_anything_monitored() || !many_hold(&many, count, requests, statuses_of(statuses)))
        return next.Testall(count, requests, flag, statuses);
    const int error = next.Testall(count, requests, flag, many.statuses);
    const uint64_t end_ticks = ticks_now();
    if (has_statuses(error) && (error != MPI_SUCCESS || *flag))
        end_all(&many, count, error, end_ticks);
    many_release(&many, count, requests, error);
    return error;
}

INTERPOSED int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct many many;
    if (!is_anything_monitored() || !many_hold(&many, count, requests, status_of(status)))
        return next.Waitany(count, requests, index, status);
    const int error = next.Waitany(count, requests, index, many.statuses);
    const uint64_t end_ticks = ticks_now();
    if (error == MPI_SUCCESS && *index != MPI_UNDEFINED)
        end_held(&many.held[*index], end_ticks, many.statuses);
    many_release(&many, count, requests, error);
    return error;
}

INTERPOSED int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                           MPI_Status *status)
{
    struct many many;
    if (!is_anything_monitored() || !many_hold(&many, count, requests, status_of(status)))
        return next.Testany(count, requests, index, flag, status);
    const int error = next.Testany(count, requests, index, flag, many.statuses);
    const uint64_t end_ticks = ticks_now();
    if (error == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED)
        end_held(&many.held[*index], end_ticks, many.statuses);
    many_release(&many, count, requests, error);
    return error;
}

/* MPI_Waitsome and MPI_Testsome have the statuses in the order of their indices. */
static void end_some(struct many *many, int error, int completed, const int indices[],
                     uint64_t end_ticks)
{
    if (!has_statuses(error) || completed == MPI_UNDEFINED)
        return;
    for (int i = 0; i < completed; i++)
        if (has_completed(error, &many->statuses[i]))
            end_held(&many->held[indices[i]], end_ticks, &many->statuses[i]);
}

INTERPOSED int MPI_Waitsome(int count, MPI_Request requests[], int *completed, int indices[],
                            MPI_Status statuses[])
{
    struct many many;
    if (!is_anything_monitored() || !many_hold(&many, count, requests, statuses_of(statuses)))
        return next.Waitsome(count, requests, completed, indices, statuses);
    const int error = next.Waitsome(count, requests, completed, indices, many.statuses);
    const uint64_t end_ticks = ticks_now();
    end_some(&many, error, *completed, indices, end_ticks);
    many_release(&many, count, requests, error);
    return error;
}

INTERPOSED int MPI_Testsome(int count, MPI_Request requests[], int *completed, int indices[],
                            MPI_Status statuses[])
{
    struct many many;
    if (!is_anything_monitored() || !many_hold(&many, count, requests, statuses_of(statuses)))
        return next.Testsome(count, requests, completed, indices, statuses);
    const int error = next.Testsome(count, requests, completed, indices, many.statuses);
    const uint64_t end_ticks = ticks_now();
    end_some(&many, error, *completed, indices, end_ticks);
    many_release(&many, count, requests, error);
    return error;
}

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

/* A start of this request begins an operation, if it is one of ours and monitored. */
static bool begin_start(MPI_Request request, struct operation *operation)
{
    monitor_lock();
    const struct persistent *const found = persistent_find(request);
    /* It has one operation at a time: what is still there has failed, or was completed where nobody
     * saw it. */
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
