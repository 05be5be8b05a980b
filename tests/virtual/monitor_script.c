/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes each kind of operation TIMES times, with BYTES bytes, on a communicator called "ring" on
 * which each rank sends to the next one and receives from the one before. On a machine whose ranks
 * start together and whose operations take known times, ranks stay together. The number of ranks is
 * even. Knows nothing of the monitor. Rank 0 prints how long all of it took in seconds.
 *
 * usage: monitor_script TIMES BYTES
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int times, bytes, rank, ranks, left, right;
static char *sent, *received;
static MPI_Comm ring;
static MPI_Win window;

#define SENT sent, bytes, MPI_CHAR, right, 0, ring
#define RECEIVED received, bytes, MPI_CHAR, left, 0, ring
#define BLOCK bytes, MPI_CHAR
#define THERE right, 0, bytes, MPI_CHAR, window

#define REPEAT for (int i = 0; i < times; i++)

/* Even ranks send first. */
static void send_in_turn(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm))
{
    for (int turn = 0; turn < 2; turn++)
        if (rank % 2 == turn)
            send(SENT);
        else
            MPI_Recv(RECEIVED, MPI_STATUS_IGNORE);
}

static void messages(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    REPEAT
    {
        MPI_Irecv(RECEIVED, &requests[0]);
        MPI_Isend(SENT, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
    REPEAT send_in_turn(MPI_Send);
    REPEAT send_in_turn(MPI_Ssend);
    REPEAT MPI_Sendrecv(sent, BLOCK, right, 0, received, BLOCK, left, 0, ring, statuses);
    MPI_Recv_init(RECEIVED, &requests[0]);
    MPI_Send_init(SENT, &requests[1]);
    REPEAT
    {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void one_sided(void)
{
    MPI_Request request;
    MPI_Win_lock_all(0, window);
    REPEAT
    {
        MPI_Put(sent, BLOCK, THERE);
        MPI_Win_flush(right, window);
    }
    REPEAT
    {
        MPI_Get(received, BLOCK, THERE);
        MPI_Win_flush_all(window);
    }
    REPEAT
    {
        MPI_Rput(sent, BLOCK, THERE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(window);
}

#define REPEAT_WAITED(...)                                                                         \
    REPEAT                                                                                         \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                     \
    }

static void collectives(void)
{
    MPI_Request request;
    REPEAT_WAITED(MPI_Ibarrier(ring, &request))
    REPEAT_WAITED(MPI_Ibcast(sent, BLOCK, 0, ring, &request))
    REPEAT_WAITED(MPI_Iallreduce(sent, received, BLOCK, MPI_MAX, ring, &request))
    REPEAT_WAITED(MPI_Ialltoall(sent, BLOCK, received, BLOCK, ring, &request))
    REPEAT MPI_Neighbor_allgather(sent, BLOCK, received, BLOCK, ring);
    REPEAT MPI_Neighbor_alltoall(sent, BLOCK, received, BLOCK, ring);
    REPEAT MPI_Barrier(ring);
    REPEAT MPI_Bcast(sent, BLOCK, 0, ring);
    REPEAT MPI_Scatter(sent, BLOCK, received, BLOCK, 0, ring);
    REPEAT MPI_Gather(sent, BLOCK, received, BLOCK, 0, ring);
    REPEAT MPI_Reduce(sent, received, BLOCK, MPI_MAX, 0, ring);
    REPEAT MPI_Allreduce(sent, received, BLOCK, MPI_MAX, ring);
    REPEAT MPI_Allgather(sent, BLOCK, received, BLOCK, ring);
    REPEAT MPI_Alltoall(sent, BLOCK, received, BLOCK, ring);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 3) {
        (void)fprintf(stderr, "usage: monitor_script TIMES BYTES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const double begin_s = MPI_Wtime();
    times = (int)strtol(argv[1], NULL, 10);
    bytes = (int)strtol(argv[2], NULL, 10);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const size_t blocks = ranks > 2 ? (size_t)ranks : 2;
    sent = calloc((size_t)bytes, blocks);
    received = calloc((size_t)bytes, blocks);
    if (sent == NULL || received == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &(int){1}, 0, &ring);
    MPI_Comm_set_name(ring, "ring");
    MPI_Comm_rank(ring, &rank);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    void *memory;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, ring, &memory, &window);
    messages();
    one_sided();
    collectives();
    MPI_Win_free(&window);
    MPI_Comm_free(&ring);
    free(received);
    free(sent);
    if (rank == 0)
        (void)printf("seconds\n%.9f\n", MPI_Wtime() - begin_s);
    return MPI_Finalize();
}
