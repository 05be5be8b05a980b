/*
 * A program that makes each kind of operation a number of times that is known beforehand, for the
 * monitor to be tested on: MPI only, no word of the monitor. Ranks may be any number; each sends to
 * the next and receives from the one before. Prints what each rank itself saw of each operation:
 * its name and the sum of its times in seconds.
 *
 * usage: monitor_script TIMES BYTES
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int times, bytes, left, right;
static char *sent, *received;
static MPI_Comm ring;
static MPI_Win window;

#define SENT sent, bytes, MPI_CHAR, right, 0, ring
#define RECEIVED received, bytes, MPI_CHAR, left, 0, ring

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Does it so many times, and sees how long that takes each time. */
#define REPEAT(name, operation)                                                                    \
    do {                                                                                           \
        double seen_s = 0.0;                                                                       \
        for (int i = 0; i < times; i++) {                                                          \
            const double start_s = now_s();                                                        \
            operation;                                                                             \
            seen_s += now_s() - start_s;                                                           \
        }                                                                                          \
        (void)printf("%s %.9f\n", name, seen_s);                                                   \
    } while (0)

/* The same for an operation that is waited for at once. */
#define REPEAT_WAITED(name, post)                                                                  \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        REPEAT(name, post; MPI_Wait(&request, MPI_STATUS_IGNORE));                                 \
    } while (0)

static void messages(void)
{
    MPI_Status status;
    REPEAT_WAITED("MPI_Irecv", MPI_Irecv(RECEIVED, &request));
    REPEAT_WAITED("MPI_Isend", MPI_Isend(SENT, &request));
    REPEAT_WAITED("MPI_Issend", MPI_Issend(SENT, &request));
    REPEAT("MPI_Send", MPI_Send(SENT));
    REPEAT("MPI_Recv", MPI_Recv(RECEIVED, &status));
    REPEAT("MPI_Sendrecv", MPI_Sendrecv(sent, bytes, MPI_CHAR, right, 0, received, bytes, MPI_CHAR,
                                        left, 0, ring, &status));
    MPI_Request persistent;
    MPI_Send_init(SENT, &persistent);
    REPEAT("MPI_Send_init", MPI_Start(&persistent); MPI_Wait(&persistent, MPI_STATUS_IGNORE));
    MPI_Request_free(&persistent);
}

static void one_sided(void)
{
    MPI_Win_lock_all(0, window);
    REPEAT("MPI_Put", MPI_Put(sent, bytes, MPI_CHAR, right, 0, bytes, MPI_CHAR, window);
           MPI_Win_flush(right, window));
    REPEAT("MPI_Get", MPI_Get(received, bytes, MPI_CHAR, right, 0, bytes, MPI_CHAR, window);
           MPI_Win_flush_all(window));
    REPEAT_WAITED("MPI_Rput",
                  MPI_Rput(sent, bytes, MPI_CHAR, right, 0, bytes, MPI_CHAR, window, &request));
    MPI_Win_unlock_all(window);
}

static void collectives(void)
{
    REPEAT_WAITED("MPI_Ibarrier", MPI_Ibarrier(ring, &request));
    REPEAT_WAITED("MPI_Ibcast", MPI_Ibcast(sent, bytes, MPI_CHAR, 0, ring, &request));
    REPEAT_WAITED("MPI_Iallreduce",
                  MPI_Iallreduce(sent, received, bytes, MPI_CHAR, MPI_MAX, ring, &request));
    REPEAT_WAITED("MPI_Ialltoall", MPI_Ialltoall(sent, bytes / 2, MPI_CHAR, received, bytes / 2,
                                                 MPI_CHAR, ring, &request));
    REPEAT("MPI_Neighbor_allgather",
           MPI_Neighbor_allgather(sent, bytes / 2, MPI_CHAR, received, bytes / 2, MPI_CHAR, ring));
    /* Whoever is early waits here for the others. */
    MPI_Barrier(MPI_COMM_WORLD);
    REPEAT("MPI_Barrier", MPI_Barrier(ring));
    REPEAT("MPI_Allreduce", MPI_Allreduce(sent, received, bytes, MPI_CHAR, MPI_MAX, ring));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 3) {
        (void)fprintf(stderr, "usage: monitor_script TIMES BYTES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    times = (int)strtol(argv[1], NULL, 10);
    bytes = (int)strtol(argv[2], NULL, 10);
    sent = calloc((size_t)bytes, 4);
    received = calloc((size_t)bytes, 4);
    if (sent == NULL || received == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &(int){1}, 0, &ring);
    MPI_Comm_set_name(ring, "ring");
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    void *memory;
    MPI_Win_allocate(65536, 1, MPI_INFO_NULL, ring, &memory, &window);
    messages();
    one_sided();
    collectives();
    MPI_Win_free(&window);
    MPI_Comm_free(&ring);
    free(received);
    free(sent);
    return MPI_Finalize();
}
