/* Operations: taken and given back, started, and what completes them. */
#include "common/mpi/counts.h"
#include "next.h"
#include "partitioned.h"
#include "requests.h"
#include "statistics.h"

struct operation operations[OPERATIONS_MAX];

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
    operation->persistent.is_behind = false;
    operation->partitions = NULL;
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

void operation_persist_damage(struct operation *operation, MPI_Comm comm,
                              unsigned char *received_byte)
{
    struct data vote;
    data_clear(&vote);
    data_plan_damage(&vote, operation->persistent.kind, comm, received_byte);
    operation->persistent.leaves_early = vote.leaves_early;
    if (vote.leaves_early)
        return;
    (void)PMPI_Wait(&vote.vote_request, MPI_STATUS_IGNORE);
    if (vote.highest_receiver == vote.vote)
        operation->persistent.received_byte = vote.received_byte;
}

/* A barrier that was left early is still to be completed, if it is persistent before its next
 * start. MPICH 4.0.2 never returns from a wait for one that isn't active. */
static int catch_up(struct operation *operation)
{
    if (!operation->persistent.is_behind)
        return MPI_SUCCESS;
    operation->persistent.is_behind = false;
    return next.Wait(&operation->data.operation, MPI_STATUS_IGNORE);
}

static bool autonomous_done(struct operation *operation, int64_t since_ns, int64_t now_ns)
{
    if (operation->partitions != NULL)
        return partitions_progress(operation->partitions, &operation->timing, since_ns, now_ns);
    timing_progress(&operation->timing, since_ns, now_ns);
    return timing_autonomous_done(&operation->timing, now_ns);
}

bool operation_progress(struct operation *operation, int64_t since_ns, int64_t now_ns)
{
    if (!operation_is_active(operation))
        return true;
    const bool done = autonomous_done(operation, since_ns, now_ns);
    return data_arrived(&operation->data) && (done || operation->data.leaves_early);
}

static MPI_Status empty_status(void)
{
    return (MPI_Status){
        .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
}

void operation_set_status(MPI_Status *status, const struct operation *operation)
{
    const struct envelope *envelope = &operation->envelope;
    if (status == MPI_STATUS_IGNORE)
        return;
    if (envelope->received && model.data != 0) {
        *status = operation->data.status;
        return;
    }
    *status = empty_status();
    status->MPI_SOURCE = envelope->source;
    status->MPI_TAG = envelope->tag;
    if (envelope->bytes > 0)
        BC_PMPI_STATUS_SET_ELEMENTS(
            status, MPI_BYTE, (MPI_Count)envelope->bytes); /* local, and no more than stores */
}

void operation_set_empty(MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        *status = empty_status();
}

int operation_finish(struct operation *operation, MPI_Request *request, MPI_Status *status,
                     struct completion *completion)
{
    if (!operation_is_active(operation)) {
        *request = request_of(operation);
        operation_set_empty(status);
        return MPI_SUCCESS;
    }
    if (operation->partitions != NULL)
        partitions_await(operation->partitions);
    if (operation->persistent.is_persistent)
        operation->persistent.is_behind = operation->data.leaves_early;
    const int error = operation->persistent.is_behind ? MPI_SUCCESS : data_wait(&operation->data);
    operation_set_status(status, operation);
    if (!operation->data.leaves_early)
        completion_add(completion, &operation->timing);
    if (operation->partitions != NULL)
        partitions_add(operation->partitions, completion);
    if (operation->persistent.is_persistent) {
        operation->persistent.is_active = false;
        *request = request_of(operation);
    } else {
        *request = MPI_REQUEST_NULL;
        give_back(operation);
    }
    return error;
}

int operation_complete(struct operation *operation, MPI_Request *request, MPI_Status *status,
                       int64_t wait_ns)
{
    struct completion completion;
    completion_begin(&completion, wait_ns);
    const int error = operation_finish(operation, request, status, &completion);
    completion_end(&completion);
    return error;
}

int operation_wait(MPI_Request *request, MPI_Status *status)
{
    return operation_complete(operation_of(*request), request, status, clock_now_ns());
}

/* Of what a start has started. */
static void plan_damage(struct operation *operation)
{
    const struct persistent *persistent = &operation->persistent;
    if (operation_traits[persistent->kind].class != CLASS_COLLECTIVE) {
        data_plan_message_damage(&operation->data, persistent->received_byte);
        /* What the status of a partitioned receive says about bytes isn't known. */
        operation->data.may_be_empty &= persistent->kind != OPERATION_Precv_init;
        return;
    }
    operation->data.leaves_early = persistent->leaves_early;
    if (persistent->received_byte != NULL)
        data_plan_local_damage(&operation->data, persistent->received_byte);
}

int operation_start(struct operation *operation)
{
    const int64_t post_ns = clock_now_ns();
    struct persistent *persistent = &operation->persistent;
    if (operation_is_active(operation))
        model_abort("MPI_Start of a request that is active is erroneous (MPI 3.1, section 3.9)");
    if (model.data != 0) {
        data_renew(&operation->data);
        const int caught_up = catch_up(operation);
        const int error =
            caught_up == MPI_SUCCESS ? next.Start(&operation->data.operation) : caught_up;
        if (error != MPI_SUCCESS)
            return error;
        if (model.corrupt != 0)
            plan_damage(operation);
    }
    persistent->is_active = true;
    if (operation->partitions != NULL) {
        partitions_start(operation->partitions, &operation->timing, persistent->bytes, post_ns);
        return MPI_SUCCESS;
    }
    timing_post(&operation->timing, persistent->kind, persistent->bytes, post_ns);
    return MPI_SUCCESS;
}

int operation_free(struct operation *operation, MPI_Request *request)
{
    int error = MPI_SUCCESS;
    if (operation->data.operation != MPI_REQUEST_NULL) {
        error = catch_up(operation);
        const int own_error = next.Request_free(&operation->data.operation);
        error = error != MPI_SUCCESS ? error : own_error;
    }
    partitions_free(operation->partitions);
    *request = MPI_REQUEST_NULL;
    give_back(operation);
    return error;
}
