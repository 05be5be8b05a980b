/*
 * The calls that complete requests. Real requests go to the next definition, modelled ones are
 * completed here; in an array with both, the real ones go first, so that the last thing the call
 * does is the modelled wait, which accounts for its own time. A call that completes several
 * modelled requests waits once, for all of them.
 */
#include "requests.h"
#include "next.h"
#include "statistics.h"

/* ---- Handles --------------------------------------------------------------------------------- */

enum { OPERATIONS_MAX = 8192 }; /* in flight at a time */

static struct operation operations[OPERATIONS_MAX];

#if defined(OPEN_MPI)

/* A request is a pointer, and only ours point into our array. */
static MPI_Request request_of(struct operation *operation) { return (MPI_Request)operation; }

static struct operation *operation_of(MPI_Request request)
{
    const uintptr_t offset_bytes = (uintptr_t)request - (uintptr_t)operations;
    return offset_bytes < sizeof operations ? &operations[offset_bytes / sizeof operations[0]]
                                            : NULL;
}

#elif defined(MPICH_VERSION)

/* A request is an integer whose top two bits say where the object lies; 00 stands for an invalid
   handle, so no object has such a one. The null handles have 00 too, so the bits below are none of
   theirs (MPI_REQUEST_NULL is 0x2c000000). */
enum { HANDLE_MAGIC = 0x1d0e6000, HANDLE_INDEX_MASK = OPERATIONS_MAX - 1 };
_Static_assert((OPERATIONS_MAX & HANDLE_INDEX_MASK) == 0, "OPERATIONS_MAX is a power of two");
_Static_assert((HANDLE_MAGIC & HANDLE_INDEX_MASK) == 0,
               "the magic number leaves room for the index");

static MPI_Request request_of(struct operation *operation)
{
    return HANDLE_MAGIC | (MPI_Request)(operation - operations);
}

static struct operation *operation_of(MPI_Request request)
{
    return (request & ~HANDLE_INDEX_MASK) == HANDLE_MAGIC ? &operations[request & HANDLE_INDEX_MASK]
                                                          : NULL;
}

#else
#error                                                                                             \
    "what does MPI_Request look like in this MPI? MPICH, Open MPI and their descendants are known"
#endif

/* ---- Operations ------------------------------------------------------------------------------ */

/*
 * The operations not in use, the one given back last on top, whose memory is in the cache. The
 * lower half is its index, the upper half counts changes: without it, a thread that was interrupted
 * between reading the top and taking it could not tell that others have taken it and given it back
 * meanwhile, and what was below may be in use.
 */
static _Atomic uint64_t free_top;

void requests_start(void)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        atomic_store_explicit(&operations[i].next_free, i + 1, memory_order_relaxed);
    atomic_store(&free_top, 0);
}

static uint64_t changed_top(uint64_t top, uint32_t index)
{
    return ((top >> 32) + 1) << 32 | index;
}

struct operation *operation_take(MPI_Request *request)
{
    uint64_t top = atomic_load_explicit(&free_top, memory_order_acquire);
    struct operation *operation;
    do {
        const uint32_t index = (uint32_t)top;
        if (index == OPERATIONS_MAX)
            model_abort("more than 8192 operations in flight");
        operation = &operations[index];
    } while (!atomic_compare_exchange_weak_explicit(
        &free_top, &top,
        changed_top(top, atomic_load_explicit(&operation->next_free, memory_order_relaxed)),
        memory_order_acquire, memory_order_acquire));

    data_clear(&operation->data);
    operation->envelope = (struct envelope){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    operation->persistent.is_persistent = false;
    *request = request_of(operation);
    return operation;
}

static void give_back(struct operation *operation)
{
    const uint32_t index = (uint32_t)(operation - operations);
    uint64_t top = atomic_load_explicit(&free_top, memory_order_relaxed);
    do
        atomic_store_explicit(&operation->next_free, (uint32_t)top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&free_top, &top, changed_top(top, index),
                                                  memory_order_release, memory_order_relaxed));
}

int operation_cancel(struct operation *operation, MPI_Request *request, int error)
{
    *request = MPI_REQUEST_NULL;
    give_back(operation);
    return error;
}

void operation_persist(struct operation *operation, enum operation_kind kind, int64_t bytes,
                       unsigned char *received_byte)
{
    operation->persistent = (struct persistent){.is_persistent = true,
                                                .is_active = false,
                                                .kind = kind,
                                                .bytes = bytes,
                                                .received_byte = received_byte};
}

static bool is_active(const struct operation *operation)
{
    return !operation->persistent.is_persistent || operation->persistent.is_active;
}

/* Whether a test finds the operation complete, as one that isn't active is. Gives MPI a chance to
 * make progress. */
static bool is_ready(struct operation *operation, int64_t now_ns)
{
    if (!is_active(operation))
        return true;
    if (!data_arrived(&operation->data))
        return false;
    return operation->data.leaves_early || timing_autonomous_done(&operation->timing, now_ns);
}

static const MPI_Status empty_status = {
    .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};

static void set_status(MPI_Status *status, const struct operation *operation)
{
    const struct envelope *envelope = &operation->envelope;
    if (status == MPI_STATUS_IGNORE)
        return;
    if (envelope->received && model.data != 0) {
        *status = operation->data.status;
        return;
    }
    *status = empty_status;
    status->MPI_SOURCE = envelope->source;
    status->MPI_TAG = envelope->tag;
    if (envelope->bytes > 0)
        PMPI_Status_set_elements_x(status, MPI_BYTE,
                                   (MPI_Count)envelope->bytes); /* local, and no more than stores */
}

static void set_empty(MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        *status = empty_status;
}

static MPI_Status *status_at(MPI_Status statuses[], int index)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

/* Does all that completes the operation behind *request but the modelled wait, which is left to the
   end of completion, so that this is inside what that measures. One that isn't active has nothing
   to wait for. */
static int finish(struct operation *operation, MPI_Request *request, MPI_Status *status,
                  struct completion *completion)
{
    if (!is_active(operation)) {
        *request = request_of(operation);
        set_empty(status);
        return MPI_SUCCESS;
    }
    const int error = data_wait(&operation->data);
    set_status(status, operation);
    if (!operation->data.leaves_early)
        completion_add(completion, &operation->timing);
    if (operation->persistent.is_persistent) {
        operation->persistent.is_active = false;
        *request = request_of(operation);
    } else {
        *request = MPI_REQUEST_NULL;
        give_back(operation);
    }
    return error;
}

/* Completes the operation behind *request by a wait called at wait_ns. */
static int complete(struct operation *operation, MPI_Request *request, MPI_Status *status,
                    int64_t wait_ns)
{
    struct completion completion;
    completion_begin(&completion, wait_ns);
    const int error = finish(operation, request, status, &completion);
    completion_end(&completion);
    return error;
}

int operation_wait(MPI_Request *request, MPI_Status *status)
{
    return complete(operation_of(*request), request, status, clock_now_ns());
}

/* Whether this is a message; anything else may neither be cancelled nor freed before it is
 * complete. */
static bool is_message(const struct operation *operation)
{
    return operation->persistent.is_persistent ||
           operation_traits[operation->timing.series->kind].class != CLASS_COLLECTIVE;
}

/* ---- One request ----------------------------------------------------------------------------- */

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
    if (*flag && !is_active(operation))
        set_empty(status);
    else if (*flag)
        set_status(status, operation);
    return MPI_SUCCESS;
}

INTERPOSED int MPI_Request_free(MPI_Request *request)
{
    struct operation *operation = operation_of(*request);
    if (operation == NULL)
        return next.Request_free(request);
    if (!is_message(operation))
        model_abort(
            "MPI_Request_free of a collective's request is erroneous (MPI 3.1, section 5.12)");
    const int error = operation->data.operation != MPI_REQUEST_NULL
                          ? next.Request_free(&operation->data.operation)
                          : MPI_SUCCESS;
    *request = MPI_REQUEST_NULL;
    give_back(operation);
    return error;
}

/* Without data, or after it has arrived, there is nothing to cancel, and the message completes. */
INTERPOSED int MPI_Cancel(MPI_Request *request)
{
    struct operation *operation = operation_of(*request);
    if (operation == NULL)
        return next.Cancel(request);
    if (!is_message(operation))
        model_abort("MPI_Cancel of a collective's request is erroneous (MPI 3.1, section 5.12)");
    return operation->data.operation != MPI_REQUEST_NULL ? next.Cancel(&operation->data.operation)
                                                         : MPI_SUCCESS;
}

/* ---- Persistent requests --------------------------------------------------------------------- */

/* The post of the operation, as that of a non-blocking message. */
static int start(struct operation *operation)
{
    const int64_t post_ns = clock_now_ns();
    struct persistent *persistent = &operation->persistent;
    if (is_active(operation))
        model_abort("MPI_Start of a request that is active is erroneous (MPI 3.1, section 3.9)");
    if (model.data != 0) {
        data_renew(&operation->data);
        const int error = next.Start(&operation->data.operation);
        if (error != MPI_SUCCESS)
            return error;
        if (model.corrupt != 0)
            data_plan_message_damage(&operation->data, persistent->received_byte);
    }
    persistent->is_active = true;
    timing_post(&operation->timing, persistent->kind, persistent->bytes, post_ns);
    return MPI_SUCCESS;
}

INTERPOSED int MPI_Start(MPI_Request *request)
{
    struct operation *operation = operation_of(*request);
    return operation != NULL ? start(operation) : next.Start(request);
}

INTERPOSED int MPI_Startall(int count, MPI_Request requests[])
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && error == MPI_SUCCESS; i++) {
        struct operation *operation = operation_of(requests[i]);
        error = operation != NULL ? start(operation) : next.Start(&requests[i]);
    }
    return error;
}

/* ---- Arrays of requests ---------------------------------------------------------------------- */

/*
 * Replaces the modelled requests among requests by MPI_REQUEST_NULL, which the next definition
 * skips, and returns their operations as a list in the order of the array; NULL if there are none.
 * A request is in one call at a time, so the links can be in the operations and nothing is
 * allocated.
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

static bool any_active(const struct operation *hidden)
{
    for (; hidden != NULL; hidden = hidden->next_hidden)
        if (is_active(hidden))
            return true;
    return false;
}

/* Whether the next definition has anything to do. Asked before it is called, since its time isn't
 * modelled. */
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

/* Completes all operations in the list, by a call that began to wait for them at wait_ns; returns
   the first error, or error if that is one. */
static int complete_all(struct operation *hidden, MPI_Request requests[], MPI_Status statuses[],
                        int64_t wait_ns, int error)
{
    struct completion completion;
    completion_begin(&completion, wait_ns);
    while (hidden != NULL) {
        struct operation *operation = hidden;
        const int i = operation->hidden_index;
        hidden = operation->next_hidden; /* before the operation is given back */
        const int own_error = finish(operation, &requests[i], status_at(statuses, i), &completion);
        error = error != MPI_SUCCESS ? error : own_error;
    }
    completion_end(&completion);
    return error;
}

int requests_wait_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    if (!any_modelled(count, requests))
        return next.Waitall(count, requests, statuses);

    int64_t wait_ns = clock_now_ns();
    struct operation *hidden = hide_modelled(count, requests);
    int error = MPI_SUCCESS;
    if (any_left(count, requests)) {
        error = next.Waitall(count, requests, statuses);
        wait_ns = clock_now_ns(); /* real operations' time isn't modelled */
    } else {
        set_all_empty(count, statuses);
    }
    return complete_all(hidden, requests, statuses, wait_ns, error);
}

INTERPOSED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    return requests_wait_all(count, requests, statuses);
}

static bool all_ready(struct operation *hidden, int64_t now_ns)
{
    for (; hidden != NULL; hidden = hidden->next_hidden)
        if (!is_ready(hidden, now_ns))
            return false;
    return true;
}

INTERPOSED int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    if (!any_modelled(count, requests))
        return next.Testall(count, requests, flag, statuses);

    int64_t test_ns = clock_now_ns();
    struct operation *hidden = hide_modelled(count, requests);
    *flag = all_ready(hidden, test_ns);

    int error = MPI_SUCCESS;
    if (*flag && any_left(count, requests)) {
        error = next.Testall(count, requests, flag, statuses);
        test_ns = clock_now_ns(); /* as in MPI_Waitall */
    } else if (*flag) {
        set_all_empty(count, statuses);
    }

    if (*flag)
        return complete_all(hidden, requests, statuses, test_ns, error);
    restore(hidden, requests);
    return error;
}

/* MPI_Testany with a modelled request among them, on behalf of a call that came in at wait_ns. */
static int test_any(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status,
                    int64_t wait_ns)
{
    struct operation *hidden = hide_modelled(count, requests);
    int error = MPI_SUCCESS;
    *index = MPI_UNDEFINED;
    *flag = true;
    if (any_left(count, requests))
        error = next.Testany(count, requests, index, flag, status);
    else
        set_empty(status);
    restore(hidden, requests);

    /* "No active request" is what the next definition says of what it sees; there may be ours. */
    if (*index != MPI_UNDEFINED || error != MPI_SUCCESS || !any_active(hidden))
        return error;
    *flag = false;

    const int64_t now_ns = clock_now_ns();
    for (struct operation *operation = hidden; operation != NULL;
         operation = operation->next_hidden) {
        if (is_active(operation) && is_ready(operation, now_ns)) {
            *index = operation->hidden_index;
            *flag = true;
            return complete(operation, &requests[*index], status, wait_ns);
        }
    }
    return MPI_SUCCESS;
}

INTERPOSED int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                           MPI_Status *status)
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
static int test_some(int count, MPI_Request requests[], int *outcount, int indices[],
                     MPI_Status statuses[], int64_t wait_ns)
{
    struct operation *hidden = hide_modelled(count, requests);
    int error = MPI_SUCCESS;
    *outcount = MPI_UNDEFINED;
    if (any_left(count, requests))
        error = next.Testsome(count, requests, outcount, indices, statuses);
    restore(hidden, requests);
    if (*outcount == MPI_UNDEFINED && any_active(hidden))
        *outcount = 0;

    const int64_t now_ns = clock_now_ns();
    struct completion completion;
    completion_begin(&completion, wait_ns);
    while (hidden != NULL) {
        struct operation *operation = hidden;
        hidden = operation->next_hidden; /* before the operation is given back */
        if (!is_active(operation) || !is_ready(operation, now_ns))
            continue;
        const int i = operation->hidden_index;
        const int out = (*outcount)++;
        indices[out] = i;
        const int own_error =
            finish(operation, &requests[i], status_at(statuses, out), &completion);
        error = error != MPI_SUCCESS ? error : own_error;
    }
    completion_end(&completion);
    return error;
}

INTERPOSED int MPI_Testsome(int count, MPI_Request requests[], int *outcount, int indices[],
                            MPI_Status statuses[])
{
    if (!any_modelled(count, requests))
        return next.Testsome(count, requests, outcount, indices, statuses);
    return test_some(count, requests, outcount, indices, statuses, clock_now_ns());
}

INTERPOSED int MPI_Waitsome(int count, MPI_Request requests[], int *outcount, int indices[],
                            MPI_Status statuses[])
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
