/*
 * The calls that complete requests. Real requests go to the next definition, modelled ones are completed here; in
 * an array with both, the real ones go first, so that the last thing the call does is a modelled wait, which
 * accounts for its own time.
 */
#include "requests.h"
#include "next.h"

/* ---- Handles ---- */

enum { OPERATIONS_MAX = 1024 }; /* in flight at a time */

static struct operation operations[OPERATIONS_MAX];

#if defined(OPEN_MPI)

/* A request is a pointer, and only ours point into our array. */
static MPI_Request request_of(struct operation *operation)
{
    return (MPI_Request)operation;
}

static struct operation *operation_of(MPI_Request request)
{
    const uintptr_t offset_bytes = (uintptr_t)request - (uintptr_t)operations;
    return offset_bytes < sizeof operations ? &operations[offset_bytes / sizeof operations[0]] : NULL;
}

#elif defined(MPICH_VERSION)

/* A request is an integer whose top two bits say where the object lies; 00 stands for an invalid handle, so no
   object has such a one. The null handles have 00 too, so the bits below are none of theirs (MPI_REQUEST_NULL is
   0x2c000000). */
enum { HANDLE_MAGIC = 0x1d0e6400, HANDLE_INDEX_MASK = OPERATIONS_MAX - 1 };
_Static_assert((OPERATIONS_MAX & HANDLE_INDEX_MASK) == 0, "OPERATIONS_MAX is a power of two");
_Static_assert((HANDLE_MAGIC & HANDLE_INDEX_MASK) == 0, "the magic number leaves room for the index");

static MPI_Request request_of(struct operation *operation)
{
    return HANDLE_MAGIC | (MPI_Request)(operation - operations);
}

static struct operation *operation_of(MPI_Request request)
{
    return (request & ~HANDLE_INDEX_MASK) == HANDLE_MAGIC ? &operations[request & HANDLE_INDEX_MASK] : NULL;
}

#else
#error "what does MPI_Request look like in this MPI? MPICH, Open MPI and their descendants are known"
#endif

/* ---- Operations ---- */

/* Where to look first: the operation given back last, whose memory is in the cache. */
static atomic_uint first_try;

struct operation *operation_take(MPI_Request *request)
{
    const unsigned first = atomic_load_explicit(&first_try, memory_order_relaxed);
    for (unsigned i = 0; i < OPERATIONS_MAX; i++) {
        struct operation *operation = &operations[(first + i) % OPERATIONS_MAX];
        if (!atomic_exchange_explicit(&operation->taken, true, memory_order_acquire)) {
            data_clear(&operation->data);
            *request = request_of(operation);
            return operation;
        }
    }
    model_abort("more than 1024 operations in flight");
}

static void give_back(struct operation *operation)
{
    atomic_store_explicit(&operation->taken, false, memory_order_release);
    atomic_store_explicit(&first_try, (unsigned)(operation - operations), memory_order_relaxed);
}

int operation_cancel(struct operation *operation, MPI_Request *request, int error)
{
    *request = MPI_REQUEST_NULL;
    give_back(operation);
    return error;
}

/* Whether a test finds the operation complete. Gives MPI a chance to make progress. */
static bool is_ready(struct operation *operation, int64_t now_ns)
{
    if (!data_arrived(&operation->data))
        return false;
    return operation->data.leaves_early || timing_autonomous_done(&operation->timing, now_ns);
}

/* MPI's empty status, which is what a completed collective has. */
static void set_empty(MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        *status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
}

static MPI_Status *status_at(MPI_Status statuses[], int index)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

/* Completes the operation behind *request by a wait called at wait_ns. All is done before the modelled wait, so that
   it is inside what that measures. */
static int complete(struct operation *operation, MPI_Request *request, MPI_Status *status, int64_t wait_ns)
{
    const int error = data_wait(&operation->data);
    const bool leaves_early = operation->data.leaves_early;
    const struct timing timing = operation->timing;
    *request = MPI_REQUEST_NULL;
    set_empty(status);
    give_back(operation);
    if (!leaves_early)
        timing_complete(&timing, wait_ns);
    return error;
}

/* ---- One request ---- */

INTERPOSED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct operation *operation = operation_of(*request);
    if (operation == NULL)
        return next.Wait(request, status);
    return complete(operation, request, status, clock_now_ns());
}

INTERPOSED int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct operation *operation = operation_of(*request);
    if (operation == NULL)
        return next.Test(request, flag, status);
    const int64_t test_ns = clock_now_ns();
    *flag = is_ready(operation, test_ns);
    return *flag ? complete(operation, request, status, test_ns) : MPI_SUCCESS;
}

INTERPOSED int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct operation *operation = operation_of(request);
    if (operation == NULL)
        return next.Request_get_status(request, flag, status);
    *flag = is_ready(operation, clock_now_ns());
    if (*flag)
        set_empty(status);
    return MPI_SUCCESS;
}

INTERPOSED int MPI_Request_free(MPI_Request *request)
{
    if (operation_of(*request) != NULL)
        model_abort("MPI_Request_free of a collective's request is erroneous (MPI 3.1, section 5.12)");
    return next.Request_free(request);
}

/* ---- Arrays of requests ---- */

/*
 * Replaces the modelled requests among requests by MPI_REQUEST_NULL, which the next definition skips, and returns
 * their operations as a list in the order of the array; NULL if there are none. A request is in one call at a
 * time, so the links can be in the operations and nothing is allocated.
 */
static struct operation *hide_modelled(int count, MPI_Request requests[])
{
    struct operation *first = NULL;
    struct operation **link = &first;
    for (int i = 0; i < count; i++) {
        struct operation *operation = operation_of(requests[i]);
        if (operation == NULL)
            continue;
        requests[i] = MPI_REQUEST_NULL;
        operation->hidden_index = i;
        *link = operation;
        link = &operation->next_hidden;
        *link = NULL;
    }
    return first;
}

static void restore(struct operation *hidden, MPI_Request requests[])
{
    for (; hidden != NULL; hidden = hidden->next_hidden)
        requests[hidden->hidden_index] = request_of(hidden);
}

static bool any_modelled(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (operation_of(requests[i]) != NULL)
            return true;
    return false;
}

/* Whether the next definition has anything to do. Asked before it is called, since its time isn't modelled. */
static bool any_left(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            return true;
    return false;
}

static void set_all_empty(int count, MPI_Status statuses[])
{
    if (statuses != MPI_STATUSES_IGNORE)
        for (int i = 0; i < count; i++)
            set_empty(&statuses[i]);
}

/* Completes all operations in the list, one after the other; returns the first error, or error if that is one. */
static int complete_all(struct operation *hidden, MPI_Request requests[], MPI_Status statuses[], int error)
{
    while (hidden != NULL) {
        struct operation *operation = hidden;
        const int i = operation->hidden_index;
        hidden = operation->next_hidden; /* before the operation is given back */
        const int own_error = complete(operation, &requests[i], status_at(statuses, i), clock_now_ns());
        error = error != MPI_SUCCESS ? error : own_error;
    }
    return error;
}

INTERPOSED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct operation *hidden = hide_modelled(count, requests);
    if (hidden == NULL)
        return next.Waitall(count, requests, statuses);

    int error = MPI_SUCCESS;
    if (any_left(count, requests))
        error = next.Waitall(count, requests, statuses);
    else
        set_all_empty(count, statuses);
    return complete_all(hidden, requests, statuses, error);
}

INTERPOSED int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct operation *hidden = hide_modelled(count, requests);
    if (hidden == NULL)
        return next.Testall(count, requests, flag, statuses);

    *flag = true;
    for (struct operation *operation = hidden; operation != NULL; operation = operation->next_hidden)
        *flag &= is_ready(operation, clock_now_ns());

    int error = MPI_SUCCESS;
    if (*flag && any_left(count, requests))
        error = next.Testall(count, requests, flag, statuses);
    else if (*flag)
        set_all_empty(count, statuses);

    if (*flag)
        return complete_all(hidden, requests, statuses, error);
    restore(hidden, requests);
    return error;
}

/* MPI_Testany with a modelled request among them, on behalf of a call that came in at wait_ns. */
static int test_any(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status, int64_t wait_ns)
{
    struct operation *hidden = hide_modelled(count, requests);
    int error = MPI_SUCCESS;
    *index = MPI_UNDEFINED;
    if (any_left(count, requests))
        error = next.Testany(count, requests, index, flag, status);
    restore(hidden, requests);

    /* "No active request" is what the next definition says of what it sees; there are ours. */
    *flag = *index != MPI_UNDEFINED;
    if (*flag || error != MPI_SUCCESS)
        return error;

    for (struct operation *operation = hidden; operation != NULL; operation = operation->next_hidden) {
        if (is_ready(operation, clock_now_ns())) {
            *index = operation->hidden_index;
            *flag = true;
            return complete(operation, &requests[*index], status, wait_ns);
        }
    }
    return MPI_SUCCESS;
}

INTERPOSED int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    if (!any_modelled(count, requests))
        return next.Testany(count, requests, index, flag, status);
    return test_any(count, requests, index, flag, status, clock_now_ns());
}

INTERPOSED int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (!any_modelled(count, requests))
        return next.Waitany(count, requests, index, status);

    const int64_t wait_ns = clock_now_ns();
    int error;
    int flag;
    do
        error = test_any(count, requests, index, &flag, status, wait_ns);
    while (!flag && error == MPI_SUCCESS);
    return error;
}

/* MPI_Testsome with a modelled request among them, on behalf of a call that came in at wait_ns. */
static int test_some(int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[],
                     int64_t wait_ns)
{
    struct operation *hidden = hide_modelled(count, requests);
    int error = MPI_SUCCESS;
    *outcount = 0;
    if (any_left(count, requests))
        error = next.Testsome(count, requests, outcount, indices, statuses);
    if (*outcount == MPI_UNDEFINED)
        *outcount = 0;
    restore(hidden, requests);

    while (hidden != NULL) {
        struct operation *operation = hidden;
        hidden = operation->next_hidden; /* before the operation is given back */
        if (!is_ready(operation, clock_now_ns()))
            continue;
        const int i = operation->hidden_index;
        const int out = (*outcount)++;
        indices[out] = i;
        /* What completed before this one has kept the host until now. */
        const int64_t start_ns = out == 0 ? wait_ns : clock_now_ns();
        const int own_error = complete(operation, &requests[i], status_at(statuses, out), start_ns);
        error = error != MPI_SUCCESS ? error : own_error;
    }
    return error;
}

INTERPOSED int MPI_Testsome(int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    if (!any_modelled(count, requests))
        return next.Testsome(count, requests, outcount, indices, statuses);
    return test_some(count, requests, outcount, indices, statuses, clock_now_ns());
}

INTERPOSED int MPI_Waitsome(int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    if (!any_modelled(count, requests))
        return next.Waitsome(count, requests, outcount, indices, statuses);

    const int64_t wait_ns = clock_now_ns();
    int error;
    do
        error = test_some(count, requests, outcount, indices, statuses, wait_ns);
    while (*outcount == 0 && error == MPI_SUCCESS);
    return error;
}
