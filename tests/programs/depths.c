/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a known number of operations and MPI objects at a time, on two ranks, most on rank 1. Rank
 * 0 prints each depth's name, its maximum and the line at which rank 1 reaches it.
 *
 * usage: depths [threads]   with "threads", 4 threads of each rank open receives
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 64, BYTES = 1 << 20, THREADS = 4, OF_THREAD = 5 };

static int rank, other;
static char large[BYTES];
static int small[MOST];

static void reached(const char *name, int high, int line)
{
    if (rank == 0)
        printf("%s\t%d\t%d\n", name, high, line);
}

/* Makes a call on rank 1 alone, with which a depth is at its maximum. */
#define ON_1(name, high, call)                                                                     \
    do {                                                                                           \
        reached(name, high, __LINE__);                                                             \
        if (rank == 1)                                                                             \
            (void)(call);                                                                          \
    } while (0)

/* The same arguments in all calls. */
#define FOR(tag) 1, MPI_INT, other, tag, MPI_COMM_WORLD
#define THERE(target) 1, MPI_INT, target, 0, 1, MPI_INT

/* 7 receives, 4 of them persistent, after one that is cancelled. */
static void receive(MPI_Request requests[])
{
    MPI_Request cancelled;
    MPI_Irecv(&small[20], FOR(9), &cancelled);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&small[i], FOR(i), &requests[i]);
    for (int i = 2; i < 6; i++)
        MPI_Recv_init(&small[i], FOR(i), &requests[i]);
    MPI_Cancel(&cancelled);
    MPI_Wait(&cancelled, MPI_STATUS_IGNORE);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(4, &requests[2]);
        ON_1("open receives", 7, MPI_Irecv(&small[6], FOR(6), &requests[6]));
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = round == 0 ? 0 : 2; i < (rank == 0 ? 7 : 6); i++)
            MPI_Send(&small[32], FOR(i));
        if (round == 0)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Waitall(rank == 1 ? 5 : 4, &requests[2], MPI_STATUSES_IGNORE);
    }
    for (int i = 2; i < 6; i++)
        MPI_Request_free(&requests[i]);
}

/* 3 sends that wait for their receives, after one whose request is freed. Then 6 receives, 2 sends
   and a barrier are 9 requests. */
static void send(MPI_Request requests[])
{
    MPI_Request freed;
    MPI_Issend(small, FOR(20), &freed);
    MPI_Request_free(&freed);
    for (int i = 0; i < 2; i++)
        MPI_Issend(small, FOR(i), &requests[i]);
    ON_1("open sends", 3, MPI_Issend(small, FOR(2), &requests[2]));
    MPI_Recv(&small[20], FOR(20), MPI_STATUS_IGNORE);
    for (int i = 0; i < (rank == 0 ? 3 : 2); i++)
        MPI_Recv(&small[1], FOR(i), MPI_STATUS_IGNORE);
    MPI_Waitall(rank == 1 ? 3 : 2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 6; i++)
        MPI_Irecv(&small[i], FOR(i), &requests[i]);
    MPI_Issend(small, FOR(20), &requests[6]);
    if (rank == 1)
        MPI_Issend(small, FOR(21), &requests[8]);
    else
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[7]);
    ON_1("open requests", 9, MPI_Ibarrier(MPI_COMM_WORLD, &requests[7]));
    for (int i = 0; i < 6; i++)
        MPI_Send(small, FOR(i));
    MPI_Recv(&small[20], FOR(20), MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Recv(&small[20], FOR(21), MPI_STATUS_IGNORE);
    MPI_Waitall(rank == 1 ? 9 : 8, requests, MPI_STATUSES_IGNORE);
}

/* A call that fails opens nothing. */
static void fail(void)
{
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 20; i++)
        (void)MPI_Irecv(small, 1, MPI_INT, 99, 0, MPI_COMM_WORLD, &request);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* 3 windows; 11 puts and gets on two of them, since a flush completes those of one. */
static void put(void)
{
    MPI_Win windows[3], freed;
    MPI_Win_create(large, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &freed);
    for (int i = 0; i < 2; i++)
        MPI_Win_create(large, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
    MPI_Win_free(&freed);
    MPI_Win_create(large, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[2]);
    for (int i = 0; i < 2; i++)
        MPI_Win_lock_all(0, windows[i]);
    for (int i = 0; i < 6; i++)
        MPI_Put(small, 1, MPI_INT, 0, 0, 1, MPI_INT, windows[0]);
    MPI_Win_flush(0, windows[0]);
    for (int i = 0; i < 5; i++)
        MPI_Put(small, 1, MPI_INT, i % 2, 0, 1, MPI_INT, windows[0]);
    for (int i = 0; i < 5; i++)
        MPI_Get(&small[i], 1, MPI_INT, other, 64, 1, MPI_INT, windows[1]);
    ON_1("open puts and gets", 11, MPI_Put(small, THERE(0), windows[1]));
    for (int i = 0; i < 2; i++)
        MPI_Win_unlock_all(windows[i]);
    for (int i = 0; i < 3; i++)
        MPI_Win_free(&windows[i]);
}

/* 4 communicators on rank 1, 3 on rank 0. */
static void make_communicators(void)
{
    MPI_Comm comms[4], freed;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    MPI_Comm_free(&freed);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comms[1]);
    MPI_Comm_idup(MPI_COMM_WORLD, &comms[2], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ON_1("communicators", 4, MPI_Comm_dup(MPI_COMM_SELF, &comms[3]));
    for (int i = 0; i < (rank == 1 ? 4 : 3); i++)
        MPI_Comm_free(&comms[i]);
}

/* 6 datatypes on rank 1: 4 that are made, a duplicate, and the part of one. */
static void make_datatypes(void)
{
    MPI_Datatype types[8], freed, parts[1];
    int integers[4], lengths[2] = {1, 2}, places[2] = {0, 4};
    MPI_Aint addresses[1], displacements[2] = {0, 64};
    MPI_Type_dup(MPI_INT, &freed);
    MPI_Type_free(&freed);
    MPI_Type_contiguous(3, MPI_INT, &freed);
    MPI_Type_vector(2, 1, 2, freed, &types[0]);
    MPI_Type_free(&freed);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &types[1]);
    MPI_Type_create_hindexed(2, lengths, displacements, MPI_INT, &types[2]);
    MPI_Type_create_resized(MPI_INT, 0, 64, &types[3]);
    MPI_Type_dup(types[1], &types[4]);
    ON_1("datatypes", 6, MPI_Type_get_contents(types[0], 3, 0, 1, integers, addresses, parts));
    if (rank == 1)
        MPI_Type_free(&parts[0]);
    MPI_Type_get_contents(types[3], 0, 2, 1, integers, displacements, parts); /* MPI_INT */
    for (int i = 0; i < 5; i++)
        MPI_Type_free(&types[i]);
}

/* 41 messages that arrive before their receives. */
static void arrive_early(void)
{
    if (rank == 0) {
        for (int i = 0; i < 40; i++)
            MPI_Send(small, FOR(30));
        MPI_Send(small, FOR(31));
        MPI_Recv(small, FOR(32), MPI_STATUS_IGNORE);
    } else {
        /* The monitor pauses between two readings. */
        const struct timespec pause = {.tv_nsec = 100000000};
        MPI_Probe(0, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        nanosleep(&pause, NULL);
        MPI_Recv(small, FOR(31), MPI_STATUS_IGNORE);
        for (int i = 0; i < 40; i++)
            MPI_Recv(small, FOR(30), MPI_STATUS_IGNORE);
        MPI_Send(small, FOR(32));
    }
}

static pthread_barrier_t together;

static void *receive_in_thread(void *number)
{
    const int tag = *(int *)number;
    int got[OF_THREAD];
    MPI_Request requests[OF_THREAD];
    for (int i = 0; i < OF_THREAD; i++)
        MPI_Irecv(&got[i], FOR(tag), &requests[i]);
    pthread_barrier_wait(&together);
    for (int i = 0; i < OF_THREAD; i++)
        MPI_Send(&rank, FOR(tag));
    MPI_Waitall(OF_THREAD, requests, MPI_STATUSES_IGNORE);
    return NULL;
}

static void use_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, receive_in_thread, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    reached("open receives", THREADS * OF_THREAD, 0);
}

int main(int argc, char **argv)
{
    const int level = argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int provided;
    MPI_Request requests[MOST];
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    if (level == MPI_THREAD_MULTIPLE) {
        use_threads();
    } else {
        receive(requests);
        send(requests);
        fail();
        put();
        make_communicators();
        make_datatypes();
        arrive_early();
        reached("windows", 3, 0);
        reached("unexpected messages", 41, 0);
        MPI_Pcontrol(0); /* the maxima stay, also when MPI_Finalize switches the monitor on */
    }
    MPI_Finalize();
    return 0;
}
