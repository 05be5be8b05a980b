/*
 * Point-to-point: the post of every function in p2p.def, MPI_Sendrecv and MPI_Sendrecv_replace.
 * What differs between functions is in their rows; what completes requests is in requests.c.
 */
#include "buffers.h"
#include "next.h"
#include "requests.h"

#include <stdlib.h>

static bool is_modelled(int peer) { return model.p2p != 0 && peer != MPI_PROC_NULL; }

/* The post of a message, at post_ns, whose data, if it is to move, goes by mover. */
static int post_send(int64_t post_ns, enum operation_kind kind, __typeof__(MPI_Isend) *mover,
                     const void *buffer, int count, MPI_Datatype datatype, int destination, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    struct operation *operation = operation_take(request);
    if (model.data != 0) {
        const int error =
            mover(buffer, count, datatype, destination, tag, comm, &operation->data.operation);
        if (error != MPI_SUCCESS)
            return operation_cancel(operation, request, error);
    }
    timing_post(&operation->timing, kind, bytes_of(count, datatype), post_ns);
    return MPI_SUCCESS;
}

static int post_receive(int64_t post_ns, enum operation_kind kind, __typeof__(MPI_Irecv) *mover,
                        void *buffer, int count, MPI_Datatype datatype, int source, int tag,
                        MPI_Comm comm, MPI_Request *request)
{
    const int64_t bytes = bytes_of(count, datatype);
    struct operation *operation = operation_take(request);
    operation->envelope =
        (struct envelope){.source = source, .tag = tag, .bytes = bytes, .received = true};
    if (model.data != 0) {
        const int error =
            mover(buffer, count, datatype, source, tag, comm, &operation->data.operation);
        if (error != MPI_SUCCESS)
            return operation_cancel(operation, request, error);
        if (model.corrupt != 0)
            data_plan_message_damage(&operation->data, byte_in(buffer, count, datatype));
    }
    timing_post(&operation->timing, kind, bytes, post_ns);
    return MPI_SUCCESS;
}

/* A persistent request: its real one, which the starts start, by mover, if data is to move. */
static int persist_send(enum operation_kind kind, __typeof__(MPI_Send_init) *mover,
                        const void *buffer, int count, MPI_Datatype datatype, int destination,
                        int tag, MPI_Comm comm, MPI_Request *request)
{
    struct operation *operation = operation_take(request);
    if (model.data != 0) {
        const int error =
            mover(buffer, count, datatype, destination, tag, comm, &operation->data.operation);
        if (error != MPI_SUCCESS)
            return operation_cancel(operation, request, error);
    }
    operation_persist(operation, kind, bytes_of(count, datatype), NULL);
    return MPI_SUCCESS;
}

static int persist_receive(enum operation_kind kind, __typeof__(MPI_Recv_init) *mover, void *buffer,
                           int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                           MPI_Request *request)
{
    const int64_t bytes = bytes_of(count, datatype);
    struct operation *operation = operation_take(request);
    operation->envelope =
        (struct envelope){.source = source, .tag = tag, .bytes = bytes, .received = true};
    if (model.data != 0) {
        const int error =
            mover(buffer, count, datatype, source, tag, comm, &operation->data.operation);
        if (error != MPI_SUCCESS)
            return operation_cancel(operation, request, error);
    }
    operation_persist(operation, kind, bytes, byte_in(buffer, count, datatype));
    return MPI_SUCCESS;
}

#define SEND_PARAMETERS                                                                            \
    const void *buffer, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm
#define RECEIVE_PARAMETERS                                                                         \
    void *buffer, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm
#define ARGUMENTS buffer, count, datatype, peer, tag, comm

#define NONBLOCKING(Name, make, ...)                                                               \
    INTERPOSED int MPI_##Name(__VA_ARGS__, MPI_Request *request)                                   \
    {                                                                                              \
        if (!is_modelled(peer))                                                                    \
            return next.Name(ARGUMENTS, request);                                                  \
        return make(OPERATION_##Name, next.Name, ARGUMENTS, request);                              \
    }

#define BLOCKING_BODY(Name, post, Mover, status, ...)                                              \
    {                                                                                              \
        if (!is_modelled(peer))                                                                    \
            return next.Name(__VA_ARGS__);                                                         \
        MPI_Request request;                                                                       \
        const int error = post(clock_now_ns(), OPERATION_##Name, next.Mover, ARGUMENTS, &request); \
        return error == MPI_SUCCESS ? operation_wait(&request, status) : error;                    \
    }

#define MESSAGE_ROWS 0
#define POST_SEND(...) post_send(clock_now_ns(), __VA_ARGS__)
#define POST_RECEIVE(...) post_receive(clock_now_ns(), __VA_ARGS__)
#define NONBLOCKING_SEND(Name, name) NONBLOCKING(Name, POST_SEND, SEND_PARAMETERS)
#define NONBLOCKING_RECEIVE(Name, name) NONBLOCKING(Name, POST_RECEIVE, RECEIVE_PARAMETERS)
#define PERSISTENT_SEND(Name, name) NONBLOCKING(Name, persist_send, SEND_PARAMETERS)
#define PERSISTENT_RECEIVE(Name, name) NONBLOCKING(Name, persist_receive, RECEIVE_PARAMETERS)
#define BLOCKING_SEND(Name, name, Mover)                                                           \
    INTERPOSED int MPI_##Name(SEND_PARAMETERS)                                                     \
        BLOCKING_BODY(Name, post_send, Mover, MPI_STATUS_IGNORE, ARGUMENTS)
#define BLOCKING_RECEIVE(Name, name, Mover)                                                        \
    INTERPOSED int MPI_##Name(RECEIVE_PARAMETERS, MPI_Status *status)                              \
        BLOCKING_BODY(Name, post_receive, Mover, status, ARGUMENTS, status)

#include "p2p.def"

INTERPOSED int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            int destination, int sendtag, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                            MPI_Status *status)
{
    /* One of the two may be MPI_PROC_NULL. */
    if (!is_modelled(destination) && !is_modelled(source))
        return next.Sendrecv(sendbuf, sendcount, sendtype, destination, sendtag, recvbuf, recvcount,
                             recvtype, source, recvtag, comm, status);

    /* With a duration of its own the call is one whole, and both start when it is called. */
    const int64_t call_ns = clock_now_ns();
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int error = MPI_SUCCESS;
    if (is_modelled(source))
        error = post_receive(call_ns, OPERATION_Recv, next.Irecv, recvbuf, recvcount, recvtype,
                             source, recvtag, comm, &requests[0]);
    if (error == MPI_SUCCESS && is_modelled(destination))
        error =
            post_send(model_has_blocking() ? call_ns : clock_now_ns(), OPERATION_Send, next.Isend,
                      sendbuf, sendcount, sendtype, destination, sendtag, comm, &requests[1]);
    if (error != MPI_SUCCESS)
        return error;

    MPI_Status statuses[2];
    error = requests_wait_all(2, requests, statuses);
    if (!is_modelled(source)) /* returns at once; the status is MPI_PROC_NULL's */
        return error != MPI_SUCCESS
                   ? error
                   : next.Recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status);
    if (status != MPI_STATUS_IGNORE)
        *status = statuses[0];
    return error;
}

INTERPOSED int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype datatype, int destination,
                                    int sendtag, int source, int recvtag, MPI_Comm comm,
                                    MPI_Status *status)
{
    if (!is_modelled(destination) && !is_modelled(source))
        return next.Sendrecv_replace(buffer, count, datatype, destination, sendtag, source, recvtag,
                                     comm, status);
    if (model.data == 0 || !is_modelled(destination) || !is_modelled(source))
        return MPI_Sendrecv(buffer, count, datatype, destination, sendtag, buffer, count, datatype,
                            source, recvtag, comm, status);

    /* A copy is sent, so that the buffer is free for what is received. */
    int bytes;
    int packed_bytes = 0;
    PMPI_Pack_size(count, datatype, comm, &bytes);
    void *copy = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (copy == NULL)
        model_abort("out of memory for MPI_Sendrecv_replace");
    PMPI_Pack(buffer, count, datatype, copy, bytes, &packed_bytes, comm);
    const int error = MPI_Sendrecv(copy, packed_bytes, MPI_PACKED, destination, sendtag, buffer,
                                   count, datatype, source, recvtag, comm, status);
    free(copy);
    return error;
}
