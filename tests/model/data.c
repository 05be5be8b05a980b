/*
 * Damage, for tests of data checks. The rank whose data goes wrong is the highest one that receives anything:
 * the root of a gather or reduce, never the root of a broadcast. No rank knows by itself who receives
 * (scatterv tells a rank no other's count), so the ranks vote, by a reduction that is started in the post,
 * right behind the operation, and completed with it, past any other interposer. Both are non-blocking and all ranks start them in
 * the same order, so the program may do with the communicator whatever it might do without.
 *
 * A barrier has no data to damage. Instead the highest rank's wait returns without the barrier, whose request
 * is completed later.
 */
#include "data.h"
#include "next.h"

#include <pthread.h>

/* Barriers left early, oldest first from deferred_next on. A barrier as old as that is complete long since. */
enum { DEFERRED_MAX = 1024 };
static MPI_Request deferred[DEFERRED_MAX];
static size_t deferred_next;
static pthread_mutex_t deferring = PTHREAD_MUTEX_INITIALIZER;

void data_start(void)
{
    for (size_t i = 0; i < DEFERRED_MAX; i++)
        deferred[i] = MPI_REQUEST_NULL;
}

void data_clear(struct data *data)
{
    data->operation = MPI_REQUEST_NULL;
    data->vote_request = MPI_REQUEST_NULL;
    data->received_byte = NULL;
    data->leaves_early = false;
}

void data_plan_damage(struct data *data, enum operation_kind kind, MPI_Comm comm, unsigned char *received_byte)
{
    int is_inter;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        model_abort("MODEL_CORRUPT knows intracommunicators only");

    int rank;
    int size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (kind == OPERATION_Ibarrier) {
        data->leaves_early = size > 1 && rank == size - 1;
        return;
    }
    data->received_byte = received_byte;
    data->vote = received_byte != NULL ? rank : -1;
    PMPI_Iallreduce(&data->vote, &data->highest_receiver, 1, MPI_INT, MPI_MAX, comm, &data->vote_request);
}

bool data_arrived(struct data *data)
{
    if (model.data == 0 || data->leaves_early)
        return true;
    int operation_arrived;
    int vote_arrived;
    next.Test(&data->operation, &operation_arrived, MPI_STATUS_IGNORE);
    PMPI_Test(&data->vote_request, &vote_arrived, MPI_STATUS_IGNORE);
    return operation_arrived && vote_arrived;
}

/* An interposer behind this one needn't see calls for nothing. */
static int wait_if_active(MPI_Request *request)
{
    return *request != MPI_REQUEST_NULL ? next.Wait(request, MPI_STATUS_IGNORE) : MPI_SUCCESS;
}

static int defer(MPI_Request request)
{
    (void)pthread_mutex_lock(&deferring);
    MPI_Request *place = &deferred[deferred_next++ % DEFERRED_MAX];
    const int error = wait_if_active(place);
    *place = request;
    (void)pthread_mutex_unlock(&deferring);
    return error;
}

int data_wait(struct data *data)
{
    if (model.data == 0)
        return MPI_SUCCESS;
    if (data->leaves_early)
        return defer(data->operation);

    const int error = next.Wait(&data->operation, MPI_STATUS_IGNORE);
    PMPI_Wait(&data->vote_request, MPI_STATUS_IGNORE);
    if (data->received_byte != NULL && data->highest_receiver == data->vote)
        *data->received_byte ^= 0xff;
    return error;
}

void data_finish(void)
{
    for (size_t i = 0; i < DEFERRED_MAX; i++)
        wait_if_active(&deferred[i]);
}
