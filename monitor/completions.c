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

#include <stdlib.h>

/* A request of a call. */
struct held {
    MPI_Request request;
    bool taken; /* its operation is in `operation` */
    struct operation operation;
};

/* Few programs cancel: in the others no status is asked whether its operation was cancelled. */
static bool something_was_cancelled;

/* A call that is followed. */
struct call {
    int room; /* for how many requests `held` and `statuses` have room */
    struct held *held;
    MPI_Status *statuses; /* the program's, or the monitor's where the program ignores them */
    void *allocated;
    int count;
    const MPI_Request *requests; /* the program's */
};

enum { MANY = 64 }; /* requests that have room on the stack */

/* Finds room, of which `allocated` must be freed. False if there is none. */
static bool call_begin(struct call *call, int count, const MPI_Request *requests)
{
    call->count = count;
    call->requests = requests;
    if (count <= call->room)
        return true;
    call->allocated = malloc((size_t)count * (sizeof *call->held + sizeof *call->statuses));
    if (call->allocated == NULL)
        return false;
    call->held = call->allocated;
    call->statuses = (void *)(call->held + count);
    return true;
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

/* Before a call on `count` requests. False if there is no room to follow it. `statuses`, one for
   each request that the call may complete, become the monitor's where the program ignores them. */
static inline bool follow(struct call *call, int count, const MPI_Request *requests,
                          MPI_Status **statuses)
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
    free(call->allocated);
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
        operation_begin_at(&operation,
                           &(struct plan){OPERATION_Irecv, OTHER_COMMUNICATORS, {0}, true});
        (void)operation_posted(&operation, MPI_SUCCESS, request);
        hold(&held, 1, &request);
        ticks[i] = (double)(ticks_now() - operation.start_ticks);
        if (!held.taken)
            (void)request_take(request, &operation);
    }
    return (uint64_t)(bc_median(ticks, ROUNDS) + 0.5);
}

/* ---- calls that complete --------------------------------------------------------------------- */

/* Wrapper of a function that completes, of `count` requests, the `completed` ones of these indices
   (NULL: the first ones). `Room` is 1 or MANY. NOLINTBEGIN(bugprone-macro-parentheses) */
#define COMPLETES(Name, parameters, arguments, Room, count, requests, completed, indices)          \
    INTERPOSED int MPI_##Name parameters                                                           \
    {                                                                                              \
        if (!is_anything_monitored())                                                              \
            return next.Name arguments;                                                            \
        struct held held[Room];                                                                    \
        MPI_Status own[Room];                                                                      \
        struct call call = {.room = Room, .held = held, .statuses = own};                          \
        const bool is_followed = follow(&call, count, requests, &status);                          \
        const int error = next.Name arguments;                                                     \
        return is_followed ? followed(&call, error, completed, indices) : error;                   \
    }

COMPLETES(Wait, (MPI_Request * request, MPI_Status *status), (request, status), 1, 1, request,
          error == MPI_SUCCESS, NULL)
COMPLETES(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status), 1,
          1, request, error == MPI_SUCCESS && *flag, NULL)
COMPLETES(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
          (request, flag, status), 1, 1, &request, error == MPI_SUCCESS && *flag, NULL)
COMPLETES(Waitall, (int count, MPI_Request requests[], MPI_Status status[]),
          (count, requests, status), MANY, count, requests, count, NULL)
COMPLETES(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status status[]),
          (count, requests, flag, status), MANY, count, requests,
          error != MPI_SUCCESS || *flag ? count : 0, NULL)
COMPLETES(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
          (count, requests, index, status), MANY, count, requests,
          error == MPI_SUCCESS && *index != MPI_UNDEFINED, index)
COMPLETES(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
          (count, requests, index, flag, status), MANY, count, requests,
          error == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED, index)
COMPLETES(Waitsome,
          (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status status[]),
          (count, requests, completed, indices, status), MANY, count, requests, *completed, indices)
COMPLETES(Testsome,
          (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status status[]),
          (count, requests, completed, indices, status), MANY, count, requests, *completed, indices)
/* NOLINTEND(bugprone-macro-parentheses) */

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
    const struct plan *const found = persistent_find(request);
    /* It has one operation at a time: one that is still there has failed, or nobody saw its end. */
    while (found != NULL && request_take(request, operation))
        ;
    const struct plan plan = found != NULL ? *found : (struct plan){0};
    monitor_unlock();
    return found != NULL && begin_if_monitored(operation, &plan);
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
    struct held held[MANY];
    struct call call = {.room = MANY, .held = held};
    if (!is_anything_monitored() || !call_begin(&call, count, requests))
        return next.Startall(count, requests);
    for (int i = 0; i < count; i++)
        call.held[i].taken = begin_start(requests[i], &call.held[i].operation);
    const int error = next.Startall(count, requests);
    for (int i = 0; i < count; i++)
        if (call.held[i].taken)
            (void)operation_posted(&call.held[i].operation, error, requests[i]);
    free(call.allocated);
    return error;
}
