/*
 * Damage to collectives, for tests of data checks. The rank whose data goes wrong is the highest
 * one that receives anything: the root of a gather or reduce, never the root of a broadcast. No
 * rank knows by itself who receives (scatterv tells a rank no other's count), so the ranks vote, by
 * a reduction that is started in the post, right behind the operation, and completed with it, past
 * any other interposer. Both are non-blocking and all ranks start them in the same order, so the
 * program may do with the communicator whatever it might do without.
 *
 * A barrier has no data to damage. Instead the highest rank's wait returns without the barrier,
 * whose request is completed later.
 *
 * Of a message received the first byte goes wrong, by the receiver alone.
 */
#include "data.h"
#include "next.h"

#include <pthread.h>
#include <stdatomic.h>

/* Barriers left early, oldest first from deferred_next on. A barrier as old as that is complete
 * long since. */
enum { DEFERRED_MAX = 1024 };
static MPI_Request deferred[DEFERRED_MAX];
static size_t deferred_next;
/* Receives and one-sided operations that might be damaged, so far. */
static atomic_uint_fast64_t operations_counted;

static pthread_mutex_t deferring = PTHREAD_MUTEX_INITIALIZER;

void data_start(void)
{
    for (size_t i = 0; i < DEFERRED_MAX; i++)
        deferred[i] = MPI_REQUEST_NULL;
}

void data_clear(struct data *data)
{
    data->operation = MPI_REQUEST_NULL;
    data_renew(data);
}

void data_renew(struct data *data)
{
    data->complete = false;
    data->vote_request = MPI_REQUEST_NULL;
    data->received_byte = NULL;
    data->may_be_empty = false;
    data->leaves_early = false;
}

void data_plan_damage(struct data *data, enum operation_kind kind, MPI_Comm comm,
                      unsigned char *received_byte)
{
    int is_inter;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        model_abort("MODEL_CORRUPT knows intracommunicators only");

    int rank;
    int size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (kind == OPERATION_Ibarrier || kind == OPERATION_Barrier_init) {
        data->leaves_early = size > 1 && rank == size - 1;
        return;
    }
    data->received_byte = received_byte;
    data->vote = received_byte != NULL ? rank : -1;
    PMPI_Iallreduce(&data->vote, &data->highest_receiver, 1, MPI_INT, MPI_MAX, comm,
                    &data->vote_request);
}

void data_damage_now(enum operation_kind kind, MPI_Comm comm, unsigned char *received_byte)
{
    struct data data;
    data_clear(&data);
    data_plan_damage(&data, kind, comm, received_byte);
    (void)data_wait(&data);
}

bool data_damage_is_due(void)
{
    const uint64_t number =
        atomic_fetch_add_explicit(&operations_counted, 1, memory_order_relaxed) + 1;
    return number % (uint64_t)model.corrupt_every == 0;
}

void data_plan_local_damage(struct data *data, unsigned char *received_byte)
{
    data->received_byte = received_byte;
    data->vote = data->highest_receiver = 0; /* nobody else has a say */
}

void data_plan_message_damage(struct data *data, unsigned char *received_byte)
{
    if (received_byte == NULL || !data_damage_is_due())
        return;
    data_plan_local_damage(data, received_byte);
    data->may_be_empty = true;
}

bool data_arrived(struct data *data)
{
    if (model.data == 0 || data->leaves_early)
        return true;
    int vote_arrived;
    if (data->operation == MPI_REQUEST_NULL)
        data->complete = true;
    if (!data->complete) {
        int arrived;
        next.Test(&data->operation, &arrived, &data->status);
        data->complete = arrived;
    }
    PMPI_Test(&data->vote_request, &vote_arrived, MPI_STATUS_IGNORE);
    return data->complete && vote_arrived;
}

/* An interposer behind this one needn't see calls for nothing. */
static int wait_if_active(MPI_Request *request, MPI_Status *status)
{
    return *request != MPI_REQUEST_NULL ? next.Wait(request, status) : MPI_SUCCESS;
}

static int defer(MPI_Request request)
{
    (void)pthread_mutex_lock(&deferring);
    MPI_Request *place = &deferred[deferred_next++ % DEFERRED_MAX];
    const int error = wait_if_active(place, MPI_STATUS_IGNORE);
    *place = request;
    (void)pthread_mutex_unlock(&deferring);
    return error;
}

static bool is_empty(const MPI_Status *status)
{
    int cancelled;
    int bytes;
    PMPI_Test_cancelled(status, &cancelled);
    if (cancelled)
        return true;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    return bytes == 0;
}

int data_wait(struct data *data)
{
    if (model.data == 0)
        return MPI_SUCCESS;
    if (data->leaves_early)
        return defer(data->operation);

    const int error =
        data->complete ? MPI_SUCCESS : wait_if_active(&data->operation, &data->status);
    PMPI_Wait(&data->vote_request, MPI_STATUS_IGNORE);
    if (data->received_byte != NULL && data->highest_receiver == data->vote &&
        !(data->may_be_empty && is_empty(&data->status)))
        *data->received_byte ^= 0xff;
    return error;
}

void data_finish(void)
{
    for (size_t i = 0; i < DEFERRED_MAX; i++)
        wait_if_active(&deferred[i], MPI_STATUS_IGNORE);
}
