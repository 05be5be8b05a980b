/*
 * Wrappers of the functions that complete operations by their requests, start persistent ones,
 * cancel and free.
 *
 * A call may complete some of several requests and sets their handles to MPI_REQUEST_NULL, so the
 * handles are copied before it. All that the monitor does for the call lies between the two
 * readings of the clock that are its entry and its exit, but for ending its last operation.
 */
#include "common/stats/stats.h"
#include "monitor/lib/count/calls.h"

#include <stdlib.h>

/* Few programs cancel: in the others no status is asked whether its operation was cancelled. */
static bool something_was_cancelled;

/* ---- calls that complete --------------------------------------------------------------------- */

enum { MANY = 64 }; /* requests that have room on the stack */

/* A call that is followed. */
struct call {
    struct mpi_call mpi;
    struct completing completing;
    MPI_Request *handles; /* the requests as they were before the call */
    MPI_Status *statuses; /* the program's, or the monitor's where the program ignores them */
    int32_t *taken;       /* of the requests that the call has completed: the operations */
    const MPI_Request *requests; /* the program's */
    void *memory;                /* NULL: on the stack */
};

/* Makes room for a call on more requests than fit on the stack. */
static bool make_room(struct call *call, int count)
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

/* Enters a call on `count` requests, which has room for `most` on the stack. `statuses`, one for
   each request that the call may complete, become the monitor's where the program ignores them.
   Returns whether there is room to follow it. */
static inline bool follow(struct call *call, enum operation_kind kind, int count,
                          const MPI_Request *requests, MPI_Status **statuses, int most)
{
    call_enter(&call->mpi, kind);
    call->memory = NULL;
    if (count > most && !make_room(call, count))
        return false; /* nobody sees the ends of these operations */
    if (*statuses == MPI_STATUSES_IGNORE || *statuses == MPI_STATUS_IGNORE)
        *statuses = call->statuses;
    call->statuses = *statuses;
    call->requests = requests;
    if (count > 0)
        memcpy(call->handles, requests, (size_t)count * sizeof *requests);
    call->completing.requests = call->handles;
    call->completing.count = count;
    completing_begin(&call->completing);
    return true;
}

/* Takes out the operation of a request that the call has completed, if it is known. */
static int32_t take(struct call *call, int index)
{
    const int32_t number = completing_take(&call->completing, call->handles[index]);
    call->handles[index] = MPI_REQUEST_NULL; /* for drop_failed */
    return number;
}

/* The call has failed: an operation whose request it has freed is over, without an end. */
static void drop_failed(struct call *call)
{
    for (int i = 0; i < call->completing.count; i++)
        if (call->requests[i] == MPI_REQUEST_NULL && call->handles[i] != MPI_REQUEST_NULL) {
            const int32_t number = take(call, i);
            if (number != NONE)
                request_release(number);
        }
}

/* The call has returned `error`. Takes out the operations of the requests that it has completed,
   and returns how many these are. */
static int take_completed(struct call *call, int error, int completed, const int *indices)
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

/* Ends an operation that was taken out, with its share of the time of the call. */
static void end_taken(const struct call *call, int i, uint64_t share, uint64_t end_ticks)
{
    const struct operation *const operation = request_operation(call->taken[i]);
    const MPI_Status *const status = &call->statuses[i];
    int cancelled = 0;
    if (__atomic_load_n(&something_was_cancelled, __ATOMIC_RELAXED))
        PMPI_Test_cancelled(status, &cancelled);
    if (cancelled)
        call_completed(&call->mpi, operation, share);
    else
        operation_completed(operation, &call->mpi, share, end_ticks,
                            operation->receives ? bytes_received(status) : 0);
}

/* When the call is left: with one request there is nothing to do since it returned. */
static uint64_t exit_of(int completed, uint64_t end_ticks)
{
    return completed == 1 ? end_ticks : 0;
}

/* Ends the operations that were taken out. */
static void end_all_taken(const struct call *call, int completed, int taken, uint64_t end_ticks)
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

/* The call has completed none of the operations. Returns `error`. */
static int left(const struct call *call, int error, uint64_t exit_ticks)
{
    call_left(&call->mpi, NO_COMMUNICATOR, exit_ticks != 0 ? exit_ticks : ticks_now());
    if (call->memory != NULL)
        free(call->memory);
    return error;
}

/* The call has returned `error`, which this returns, too. It has completed `completed` requests,
   those of these indices (NULL: the first ones), and set as many statuses. */
static int followed(struct call *call, int error, int completed, const int *indices)
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

/* Wrapper of a function that completes, of `count` requests, the `completed` ones of these indices
   (NULL: the first ones). It has room on the stack for `most`.
   NOLINTBEGIN(bugprone-macro-parentheses) */
#define COMPLETES(Name, most, parameters, arguments, count, requests, completed, indices)          \
    INTERPOSED int MPI_##Name parameters                                                           \
    {                                                                                              \
        if (!is_anything_monitored())                                                              \
            return next.Name arguments;                                                            \
        MPI_Request handles[most];                                                                 \
        MPI_Status own[most];                                                                      \
        int32_t taken[most];                                                                       \
        struct call call;                                                                          \
        call.handles = handles, call.statuses = own, call.taken = taken;                           \
        const bool is_followed = follow(&call, OPERATION_##Name, count, requests, &status, most);  \
        const int error = next.Name arguments;                                                     \
        return is_followed && (monitor_lock_needed || error != MPI_SUCCESS || (completed) > 0)     \
                   ? followed(&call, error, completed, indices)                                    \
                   : left(&call, error, 0);                                                        \
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

uint64_t posted_own_ticks(void)
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
        struct call call = {.handles = &handle, .statuses = &own, .taken = &taken};
        operation_begin_at(&operation, OPERATION_Irecv, OTHER_COMMUNICATORS, (struct sent){0},
                           true);
        (void)operation_posted(&operation, MPI_SUCCESS, request);
        (void)follow(&call, OPERATION_Wait, 1, &request, &status, 1);
        const uint64_t end_ticks = ticks_now();
        ticks[i] = (double)(end_ticks - operation.start_ticks);
        (void)take_completed(&call, MPI_SUCCESS, 1, NULL);
        call_left(&call.mpi, NO_COMMUNICATOR, end_ticks);
        request_release(taken);
    }
    return (uint64_t)(bc_median(ticks, ROUNDS) + 0.5);
}

/* ---- starting, cancelling and freeing -------------------------------------------------------- */

void operation_posted_again(const struct operation *operation, MPI_Request request)
{
    int is_complete = 0;
    MPI_Status status;
    /* Not PMPI's: the request may be that of an interposer below the monitor. */
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

INTERPOSED int MPI_Cancel(MPI_Request *request)
{
    struct mpi_call call;
    const bool entered = other_enter(&call);
    __atomic_store_n(&something_was_cancelled, true, __ATOMIC_RELAXED);
    return other_left(&call, entered, next.Cancel(request));
}

INTERPOSED int MPI_Request_free(MPI_Request *request)
{
    struct mpi_call call;
    const bool entered = other_enter(&call);
    request_forget(*request);
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

/* A request of MPI_Startall. */
struct started {
    bool begins; /* an operation, which is monitored */
    struct operation operation;
};

/* An MPI_Startall has returned `error` and has started `begun` operations of these requests. */
static void all_started(const struct mpi_call *call, struct started *started, int count,
                        const MPI_Request *requests, int error, int begun)
{
    call_completes(call);
    struct shares shares = shares_begin(call, begun, ticks_now());
    for (int i = 0; i < count; i++) {
        if (!started[i].begins)
            continue;
        struct operation *const operation = &started[i].operation;
        operation->inside_ticks = shares_take(&shares, 1, 0);
        call_completed(call, operation, operation->inside_ticks);
        (void)operation_posted(operation, error, requests[i]);
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
    return call_returned(&call, NO_COMMUNICATOR, next.Start(request));
}

INTERPOSED int MPI_Startall(int count, MPI_Request requests[])
{
    struct started on_stack[MANY], *started = on_stack;
    struct mpi_call call;
    int begun = 0;
    if (!is_anything_monitored())
        return next.Startall(count, requests);
    call_enter(&call, OPERATION_Startall);
    if (count > MANY)
        started = malloc((size_t)count * sizeof *started);
    /* Within this call those that begin are inner ones, which have no time of their own. */
    for (int i = 0; started != NULL && i < count; i++)
        begun += started[i].begins = begin_start(requests[i], &started[i].operation);
    const int error = next.Startall(count, requests);
    if (begun > 0)
        all_started(&call, started, count, requests, error, begun);
    else
        call_left(&call, NO_COMMUNICATOR, ticks_now());
    if (started != on_stack)
        free(started);
    return error;
}
