/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends a planted matrix of messages: rank i sends message_count(i, j) messages of message_bytes(i,
 * j) bytes to rank j, on MPI_COMM_WORLD, on a communicator of reversed ranks or on one of ranks in
 * irregular order, by (i + j) mod 3. Those on the reversed one are received from MPI_ANY_SOURCE.
 * Then a line of MPI_Sendrecv from each rank to the next one, persistent messages round a ring,
 * puts, gets and MPI_Fetch_and_op. Last, rank 0 computes LATE_US and sends an empty message to each
 * other rank. Knows nothing of the monitor; peers_test.py has the same matrix.
 *
 * usage: monitor_peers uniform|skewed LATE_US
 */
#include "common/work/work.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 14, COMMS = 3, WORLD = 0, REVERSED = 1, SHUFFLED = 2, ROUNDS = 4 };
#define UNITS_PER_US 800 /* VIRTUAL_WORK_NS is 1.25 */

static bool skewed;
static int rank, ranks;
static MPI_Comm comms[COMMS];
static int *places[COMMS]; /* rank in the communicator by rank in MPI_COMM_WORLD */
static char buffer[BYTES_MAX];

static int log2_of(int distance)
{
    int power = 0;
    while (1 << (power + 1) <= distance)
        power++;
    return power;
}

static int message_count(int from, int to)
{
    const int distance = (to - from + ranks) % ranks;
    if (from == to)
        return 0;
    if (!skewed)
        return 3;
    if (to == 0)
        return 5;
    return (distance & (distance - 1)) == 0 ? 1 + log2_of(distance) : 0;
}

static int message_bytes(int from, int to)
{
    return skewed ? 8 << log2_of((to - from + ranks) % ranks) : 100;
}

static int comm_of(int from, int to) { return (from + to) % COMMS; }

static void make_comm(int which, int key)
{
    int group_rank;
    places[which] = malloc((size_t)ranks * sizeof(int));
    MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comms[which]);
    MPI_Comm_rank(comms[which], &group_rank);
    MPI_Allgather(&group_rank, 1, MPI_INT, places[which], 1, MPI_INT, MPI_COMM_WORLD);
}

static void send_matrix(void)
{
    static char received[BYTES_MAX];
    int messages = 0, of_any = 0, count = 0;
    for (int i = 0; i < ranks; i++)
        messages += message_count(i, rank) + message_count(rank, i);
    MPI_Request *const requests = malloc(((size_t)messages + 1) * sizeof *requests);
    for (int from = 0; from < ranks; from++)
        for (int k = 0; k < message_count(from, rank); k++)
            if (comm_of(from, rank) == REVERSED)
                of_any++;
            else
                MPI_Irecv(received, BYTES_MAX, MPI_BYTE, places[comm_of(from, rank)][from], 0,
                          comms[comm_of(from, rank)], &requests[count++]);
    for (int to = 0; to < ranks; to++)
        for (int k = 0; k < message_count(rank, to); k++)
            MPI_Isend(buffer, message_bytes(rank, to), MPI_BYTE, places[comm_of(rank, to)][to], 0,
                      comms[comm_of(rank, to)], &requests[count++]);
    for (int k = 0; k < of_any; k++)
        MPI_Recv(received, BYTES_MAX, MPI_BYTE, MPI_ANY_SOURCE, 0, comms[REVERSED],
                 MPI_STATUS_IGNORE);
    MPI_Status *const statuses = malloc(((size_t)count + 1) * sizeof *statuses);
    MPI_Waitall(count, requests, statuses);
    free(statuses);
    free(requests);
}

static void send_in_line(void)
{
    char received[16];
    MPI_Sendrecv(buffer, 16, MPI_BYTE, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, 1, received, 16,
                 MPI_BYTE, rank > 0 ? rank - 1 : MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void send_persistently(void)
{
    char received[32];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Recv_init(received, 32, MPI_BYTE, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Send_init(buffer, 32, MPI_BYTE, (rank + 1) % ranks, 2, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void put_and_get(void)
{
    void *memory;
    MPI_Win window;
    int64_t one = 1, before;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, comms[REVERSED], &memory, &window);
    memset(memory, 0, 64);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Put(buffer, 24, MPI_BYTE, places[REVERSED][(rank + 1) % ranks], 8, 24, MPI_BYTE,
                window);
    MPI_Win_flush(places[REVERSED][(rank + 1) % ranks], window);
    MPI_Get(buffer, 48, MPI_BYTE, places[REVERSED][(rank + 2) % ranks], 8, 48, MPI_BYTE, window);
    MPI_Win_flush_all(window);
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, places[REVERSED][0], 0, MPI_SUM, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void send_late(double late_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        bc_work((uint64_t)(late_us * UNITS_PER_US));
    for (int to = 1; rank == 0 && to < ranks; to++)
        MPI_Send(NULL, 0, MPI_BYTE, to, 3, MPI_COMM_WORLD);
    if (rank != 0)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    skewed = strcmp(argv[1], "skewed") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_comm(WORLD, rank);
    make_comm(REVERSED, -rank);
    make_comm(SHUFFLED, rank * 7 % 16 * ranks + rank);
    send_matrix();
    send_in_line();
    send_persistently();
    put_and_get();
    send_late(strtod(argv[2], NULL));
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_free(&comms[i]);
        free(places[i]);
    }
    return MPI_Finalize();
}
