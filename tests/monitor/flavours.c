/* SPDX-License-Identifier: BSD-3-Clause */
/* The same calls as in flavours.F90. */
#include <mpi.h>
#include <stddef.h>

enum { N = 8 };

static int rank, other, sent[2 * N], received[2 * N];
static MPI_Comm pair, grid;
static MPI_Request requests[3];
static MPI_Status status, statuses[3];
/* gcc believes that MPICH writes to the constant (-Wstringop-overflow). */
static MPI_Status *no_statuses;

#define RECEIVED received, N, MPI_INT
#define INTS(...) ((const int[]){__VA_ARGS__})

static void messages(MPI_Datatype vector)
{
    for (int i = 1; i <= 2; i++) {
        MPI_Irecv(RECEIVED, other, 0, pair, &requests[0]);
        MPI_Isend(sent, i, MPI_INT, other, 0, pair, &requests[1]);
        MPI_Waitall(2, requests, no_statuses);
        MPI_Sendrecv(sent, i, MPI_INT, other, 0, RECEIVED, other, 0, pair, MPI_STATUS_IGNORE);
        MPI_Sendrecv(sent, 1, vector, other, 0, RECEIVED, other, 0, pair, &status);
        MPI_Sendrecv(sent, 1, MPI_INT, MPI_PROC_NULL, 0, RECEIVED, MPI_PROC_NULL, 0, pair, &status);
    }
    if (rank == 0)
        MPI_Send(sent, 3, MPI_INT, other, 0, pair);
    else
        MPI_Recv(RECEIVED, other, 0, pair, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Ssend(sent, 4, MPI_INT, other, 0, pair);
    } else {
        MPI_Probe(other, 0, pair, &status);
        MPI_Recv(RECEIVED, MPI_ANY_SOURCE, 0, pair, &status);
    }
}

static void complete(int way)
{
    int flag = 0, found = 0, indices[3];
    switch (way) {
    case 1:
        for (int i = 0; i < 3; i++)
            MPI_Waitany(3, requests, &found, MPI_STATUS_IGNORE);
        MPI_Waitany(3, requests, &found, &status);
        break;
    case 2:
        while (found != MPI_UNDEFINED)
            MPI_Waitsome(3, requests, &found, indices, statuses);
        break;
    case 3:
        while (!flag)
            MPI_Testall(3, requests, &flag, no_statuses);
        break;
    case 4:
        for (int i = 0; i < 3; i += flag)
            MPI_Testany(3, requests, &found, &flag, &status);
        break;
    default:
        for (int i = 0; i < 3; i++)
            for (flag = 0; !flag;)
                MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    }
}

static void completions(void)
{
    for (int way = 1; way <= 5; way++) {
        for (int i = 1; i <= 3; i++)
            MPI_Irecv(RECEIVED, other, i, pair, &requests[i - 1]);
        for (int i = 3; i >= 1; i--)
            MPI_Send(sent, i, MPI_INT, other, i, pair);
        complete(way);
    }
    MPI_Send_init(sent, 2, MPI_INT, other, 0, pair, &requests[0]);
    MPI_Recv_init(RECEIVED, other, 0, pair, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], &status);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void collectives(void)
{
    const int counts[] = {1, 2}, places[] = {0, 1}, ones[] = {1, 1};
    MPI_Barrier(pair);
    MPI_Ibarrier(pair, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Bcast(sent, N, MPI_INT, 1, pair);
    MPI_Allreduce(MPI_IN_PLACE, sent, N, MPI_INT, MPI_SUM, pair);
    MPI_Reduce(sent, RECEIVED, MPI_SUM, 0, pair);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, RECEIVED, pair);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, counts, places, MPI_INT, pair);
    MPI_Gatherv(sent, rank + 1, MPI_INT, received, counts, places, MPI_INT, 0, pair);
    MPI_Alltoallv(sent, ones, places, MPI_INT, received, ones, places, MPI_INT, pair);
    MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, pair);
    MPI_Scan(sent, RECEIVED, MPI_SUM, pair);
    MPI_Neighbor_allgather(sent, 1, MPI_INT, received, 1, MPI_INT, grid);
}

static void window(void)
{
    MPI_Win win;
    MPI_Win_create(sent, N * sizeof(int), sizeof(int), MPI_INFO_NULL, pair, &win);
    MPI_Win_fence(0, win);
    MPI_Put(received, 2, MPI_INT, other, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    MPI_Get(received, 3, MPI_INT, other, 0, 3, MPI_INT, win);
    MPI_Win_flush(other, win);
    MPI_Win_unlock(other, win);
    MPI_Win_free(&win);
}

int main(void)
{
    int ranks;
    MPI_Datatype vector;
    MPI_Init(NULL, NULL);
    no_statuses = MPI_STATUSES_IGNORE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    other = 1 - rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_set_name(pair, "pair of ranks");
    MPI_Cart_create(pair, 1, INTS(2), INTS(1), 0, &grid);
    MPI_Type_contiguous(2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    messages(vector);
    completions();
    collectives();
    window();
    MPI_Type_free(&vector);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
