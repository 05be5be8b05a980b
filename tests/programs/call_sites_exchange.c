/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of each kind at lines of their own: blocking and non-blocking, persistent, one-sided, in
 * inlined and in nested functions, and in a reduction.
 */
#include "call_sites.h"

static MPI_Request requests[2];

static inline __attribute__((always_inline)) void meet(void) { AT(MPI_Barrier(MPI_COMM_WORLD)); }

/* Not a jump at the end, whose return address would be the caller's. */
static __attribute__((noinline)) int wait_for_both(void)
{
    AT(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    return puts("waited");
}

static int reducing_line;

/* A call inside another one counts at the line of that. */
static void add(void *in, void *sum, int *length, MPI_Datatype *datatype)
{
    int flag;
    (void)length, (void)datatype;
    *(int *)sum += *(int *)in;
    MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    printf("MPI_Iprobe() %s:%d\n", __FILE__, reducing_line);
}

static void put(int rank)
{
    static int memory[64];
    const int value = rank;
    MPI_Win window;
    AT(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    AT(MPI_Win_fence(0, window));
    AT(MPI_Put(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window));
    AT(MPI_Put(&value, 1, MPI_INT, 1 - rank, 8, 1, MPI_INT, window));
    AT(MPI_Win_fence(0, window));
    AT(MPI_Win_free(&window));
}

void exchange(int rank)
{
    MPI_Op op;
    int received[8], sum, sent[8] = {rank};
    for (int i = 0; i < 3; i++) {
        AT(MPI_Irecv(received, 8, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]));
        AT(MPI_Isend(sent, 8, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]));
        wait_for_both();
    }
    meet();
    if (rank == 0)
        AT(MPI_Send(sent, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    else
        AT(MPI_Recv(received, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Op_create(add, 1, &op);
    reducing_line = __LINE__ + 1;
    AT(MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD));
    MPI_Op_free(&op);
    put(rank);
    AT(MPI_Send_init(sent, 2, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &requests[0]));
    AT(MPI_Recv_init(received, 2, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 2; i++) {
        AT(MPI_Startall(2, requests));
        wait_for_both();
    }
    AT(MPI_Request_free(&requests[0]));
    AT(MPI_Request_free(&requests[1]));
    meet();
}
