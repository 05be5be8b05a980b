/* Calls of each kind at lines of their own: blocking and non-blocking, persistent, in inlined and
   in nested functions. */
#include "call_sites.h"

static MPI_Request requests[2];

static inline __attribute__((always_inline)) void meet(void) { AT(MPI_Barrier(MPI_COMM_WORLD)); }

/* Not a jump at the end, whose return address would be the caller's. */
static __attribute__((noinline)) int wait_for_both(void)
{
    AT(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    return puts("waited");
}

void exchange(int rank)
{
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
    AT(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
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
