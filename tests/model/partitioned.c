/*
 * Partitioned communication (MPI 4). A send is a persistent operation whose partitions have timings
 * of their own; a receive is a persistent operation like any other.
 */
#include "partitioned.h"
#include "buffers.h"
#include "next.h"
#include "requests.h"

#include <stdatomic.h>
#include <stdlib.h>

struct partition {
    struct timing timing;
    atomic_bool is_ready; /* marked, and its timing is known */
};

struct partitions {
    int count;
    int64_t bytes;     /* of each */
    atomic_int marked; /* how many are, or just become so */
    atomic_int ready;  /* how many are, with all that follows from it */
    struct partition all[];
};

void partitions_start(struct partitions *partitions, struct timing *whole, int64_t bytes,
                      int64_t post_ns)
{
    for (int i = 0; i < partitions->count; i++)
        atomic_store_explicit(&partitions->all[i].is_ready, false, memory_order_relaxed);
    atomic_store(&partitions->marked, 0);
    atomic_store(&partitions->ready, 0);
    timing_plan_nothing(whole, OPERATION_Psend_init, bytes, post_ns);
    timing_spend(whole, post_ns);
}

static bool all_ready(const struct partitions *partitions)
{
    return atomic_load_explicit(&partitions->ready, memory_order_acquire) == partitions->count;
}

bool partitions_progress(struct partitions *partitions, struct timing *whole, int64_t since_ns,
                         int64_t now_ns)
{
    bool done = all_ready(partitions);
    if (done) {
        timing_progress(whole, since_ns, now_ns);
        done = timing_autonomous_done(whole, now_ns);
    }
    for (int i = 0; i < partitions->count; i++) {
        struct partition *partition = &partitions->all[i];
        if (!atomic_load_explicit(&partition->is_ready, memory_order_acquire))
            continue;
        timing_progress(&partition->timing, since_ns, now_ns);
        done &= timing_autonomous_done(&partition->timing, now_ns);
    }
    return done;
}

void partitions_await(const struct partitions *partitions)
{
    while (!all_ready(partitions))
        ;
}

void partitions_add(const struct partitions *partitions, struct completion *completion)
{
    for (int i = 0; i < partitions->count; i++)
        completion_add_part(completion, &partitions->all[i].timing);
}

void partitions_free(struct partitions *partitions) { free(partitions); }

#if MPI_VERSION >= 4

static bool is_modelled(int peer) { return model.p2p != 0 && peer != MPI_PROC_NULL; }

INTERPOSED int MPI_Psend_init(const void *buffer, int partitions, MPI_Count count,
                              MPI_Datatype datatype, int peer, int tag, MPI_Comm comm,
                              MPI_Info info, MPI_Request *request)
{
    if (!is_modelled(peer))
        return next.Psend_init(buffer, partitions, count, datatype, peer, tag, comm, info, request);
    struct operation *operation = operation_take(request);
    if (model.data != 0) {
        const int error = next.Psend_init(buffer, partitions, count, datatype, peer, tag, comm,
                                          info, &operation->data.operation);
        if (error != MPI_SUCCESS)
            return operation_cancel(operation, request, error);
    }
    struct partitions *made = calloc(1, sizeof *made + (size_t)partitions * sizeof made->all[0]);
    if (made == NULL)
        model_abort("out of memory for partitions");
    made->count = partitions;
    made->bytes = count * bytes_of(1, datatype);
    operation->partitions = made;
    operation_persist(operation, OPERATION_Psend_init, partitions * made->bytes, NULL);
    return MPI_SUCCESS;
}

INTERPOSED int MPI_Precv_init(void *buffer, int partitions, MPI_Count count, MPI_Datatype datatype,
                              int peer, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    if (!is_modelled(peer))
        return next.Precv_init(buffer, partitions, count, datatype, peer, tag, comm, info, request);
    struct operation *operation = operation_take(request);
    const int64_t bytes = partitions * count * bytes_of(1, datatype);
    operation->envelope =
        (struct envelope){.source = peer, .tag = tag, .bytes = bytes, .received = true};
    if (model.data != 0) {
        const int error = next.Precv_init(buffer, partitions, count, datatype, peer, tag, comm,
                                          info, &operation->data.operation);
        if (error != MPI_SUCCESS)
            return operation_cancel(operation, request, error);
    }
    operation_persist(operation, OPERATION_Precv_init, bytes,
                      bytes > 0 ? byte_in(buffer, 1, datatype) : NULL);
    return MPI_SUCCESS;
}

static int mark_ready(struct operation *operation, int index)
{
    const int64_t post_ns = clock_now_ns();
    struct partitions *partitions = operation->partitions;
    if (partitions == NULL || index < 0 || index >= partitions->count)
        model_abort("MPI_Pready of what is no partition of a send");
    if (!operation->persistent.is_active)
        model_abort(
            "MPI_Pready of a request that isn't active is erroneous (MPI 4.0, section 4.2)");
    struct partition *partition = &partitions->all[index];
    if (atomic_load_explicit(&partition->is_ready, memory_order_relaxed))
        model_abort("MPI_Pready of a partition that is ready is erroneous (MPI 4.0, section 4.2)");
    if (model.data != 0) {
        const int error = next.Pready(index, operation->data.operation);
        if (error != MPI_SUCCESS)
            return error;
    }
    if (model.early_partitions != 0)
        timing_plan(&partition->timing, OPERATION_Pready, partitions->bytes, post_ns);
    else
        timing_plan_nothing(&partition->timing, OPERATION_Pready, partitions->bytes, post_ns);
    atomic_store_explicit(&partition->is_ready, true, memory_order_release);
    const bool is_last = atomic_fetch_add(&partitions->marked, 1) + 1 == partitions->count;
    if (is_last && model.early_partitions == 0)
        timing_plan(&operation->timing, OPERATION_Psend_init, operation->persistent.bytes, post_ns);
    /* Once the last is ready, others may complete the operation, and start it anew. */
    const struct timing timing = partition->timing;
    atomic_fetch_add_explicit(&partitions->ready, 1, memory_order_release);
    timing_spend(&timing, post_ns);
    return MPI_SUCCESS;
}

INTERPOSED int MPI_Pready(int partition, MPI_Request request)
{
    struct operation *operation = operation_of(request);
    return operation != NULL ? mark_ready(operation, partition) : next.Pready(partition, request);
}

INTERPOSED int MPI_Pready_range(int low, int high, MPI_Request request)
{
    struct operation *operation = operation_of(request);
    if (operation == NULL)
        return next.Pready_range(low, high, request);
    int error = MPI_SUCCESS;
    for (int partition = low; partition <= high && error == MPI_SUCCESS; partition++)
        error = mark_ready(operation, partition);
    return error;
}

INTERPOSED int MPI_Pready_list(int length, COMMCOST_PREADY_LIST_CONST int partitions[],
                               MPI_Request request)
{
    struct operation *operation = operation_of(request);
    if (operation == NULL)
        return next.Pready_list(length, partitions, request);
    int error = MPI_SUCCESS;
    for (int i = 0; i < length && error == MPI_SUCCESS; i++)
        error = mark_ready(operation, partitions[i]);
    return error;
}

/* As MPI_Request_get_status, but the real one is asked for the partition. */
INTERPOSED int MPI_Parrived(MPI_Request request, int partition, int *flag)
{
    struct operation *operation = operation_of(request);
    if (operation == NULL)
        return next.Parrived(request, partition, flag);
    *flag = true;
    if (!operation_is_active(operation))
        return MPI_SUCCESS;
    struct test test;
    test_begin(&test, clock_now_ns());
    int error = MPI_SUCCESS;
    if (model.data != 0 && !operation->data.complete)
        error = next.Parrived(operation->data.operation, partition, flag);
    timing_progress(&operation->timing, test.decided_ns, test.decided_ns);
    *flag = *flag && timing_autonomous_done(&operation->timing, test.decided_ns);
    test_add(&test, &operation->timing);
    test_end(&test);
    return error;
}

#endif
