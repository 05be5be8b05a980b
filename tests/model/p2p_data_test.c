/*
 * Do modelled messages deliver what they should, with the right status, through every call that
 * sends, receives or completes? To be run under the model on 2 ranks with MODEL_P2P=1 and a latency
 * of 200 us, with the expected outcome as the argument:
 *
 *   right       all data as MPI has it
 *   wrong N     the same but for the first byte of every N-th receive, if that gets any
 *   untouched   no data moves; a status says what the receive asked for
 *
 * or with something else to do, which must not get to its end:
 *
 *   too-many    posts messages without end
 *   start-twice starts an active request
 */
#include "check.h"

#include <mpi.h>
#include <string.h>

enum { BYTES = 64, TAG = 3, LATENCY_US = 200, MANY = 8 };
enum { SENT = 17, POISON = 99, WRONG = SENT ^ 0xff };

/* What a receive gets. */
struct received {
    unsigned char bytes[BYTES];
    MPI_Status status;
};

static int rank;
static int peer;
static bool moves;
static long wrong_every; /* 0: none */
static long receives;    /* so far, in the order of their posts, into buffers of some bytes */
static unsigned char payload[BYTES];

static void clear(struct received *received)
{
    memset(received, 0, sizeof *received);
    memset(received->bytes, POISON, sizeof received->bytes);
    received->status.MPI_SOURCE = received->status.MPI_TAG = -77;
}

/* A receive of sent bytes into a buffer of BYTES. */
static void check_received(const char *what, const struct received *received, int sent, bool any)
{
    char text[64];
    receives++;
    const bool damaged = sent > 0 && wrong_every > 0 && receives % wrong_every == 0;
    int unexpected = 0;
    for (int i = 0; i < BYTES; i++) {
        const int arrived = damaged && i == 0 ? WRONG : SENT;
        unexpected += received->bytes[i] != (moves && i < sent ? arrived : POISON);
    }
    int count;
    MPI_Get_count(&received->status, MPI_BYTE, &count);
    (void)snprintf(text, sizeof text, "%s: unexpected bytes", what);
    check_equal(text, unexpected, 0);
    (void)snprintf(text, sizeof text, "%s: source", what);
    check_equal(text, received->status.MPI_SOURCE, any && !moves ? MPI_ANY_SOURCE : peer);
    (void)snprintf(text, sizeof text, "%s: tag", what);
    check_equal(text, received->status.MPI_TAG, any && !moves ? MPI_ANY_TAG : TAG);
    (void)snprintf(text, sizeof text, "%s: count", what);
    check_equal(text, count, moves ? sent : BYTES);
}

static void check_duration(const char *what, double begin_us)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%s: took its time", what);
    check_equal(text, check_now_us() - begin_us >= LATENCY_US, true);
}

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int post_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* Rank 0 sends what rank 1 receives, and then the other way, all blocking. The receive is posted
   first, as Rsend wants it: the barrier is real. */
static void test_blocking(const char *what, send_function *send, int sent, bool any)
{
    for (int sender = 0; sender < 2; sender++) {
        const double begin_us = check_now_us();
        if (rank == sender) {
            send(payload, sent, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        } else {
            struct received received;
            clear(&received);
            MPI_Recv(received.bytes, BYTES, MPI_BYTE, any ? MPI_ANY_SOURCE : peer,
                     any ? MPI_ANY_TAG : TAG, MPI_COMM_WORLD, &received.status);
            check_received(what, &received, sent, any);
        }
        check_duration(what, begin_us);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void test_rsend(const char *what, send_function *send, post_function *post)
{
    struct received received;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    clear(&received);
    MPI_Irecv(received.bytes, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (send != NULL)
        send(payload, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    else
        post(payload, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], &received.status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    check_received(what, &received, BYTES, false);
}

static void test_nonblocking(const char *what, post_function *post)
{
    struct received received;
    MPI_Request requests[2];
    MPI_Status status;
    int flag = 0;
    int polls = 0;
    for (int tested = 0; tested < 2; tested++) {
        const double begin_us = check_now_us();
        clear(&received);
        MPI_Irecv(received.bytes, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
        post(payload, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
        if (tested == 0) {
            MPI_Wait(&requests[0], &received.status);
        } else {
            for (; !flag; polls++)
                MPI_Request_get_status(requests[0], &flag, &status);
            check_equal("Request_get_status: in vain at first", polls > 1, true);
            for (flag = polls = 0; !flag; polls++)
                MPI_Test(&requests[0], &flag, &received.status);
        }
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        check_received(what, &received, BYTES, false);
        check_duration(what, begin_us);
    }
}

static void test_sendrecv(void)
{
    struct received received;
    clear(&received);
    const double begin_us = check_now_us();
    MPI_Sendrecv(payload, BYTES / 2, MPI_BYTE, peer, TAG, received.bytes, BYTES, MPI_BYTE, peer,
                 TAG, MPI_COMM_WORLD, &received.status);
    check_received("Sendrecv", &received, BYTES / 2, false);
    check_duration("Sendrecv", begin_us);

    /* One side to nobody, each in turn, then both. */
    for (int sender = 0; sender < 2; sender++) {
        clear(&received);
        MPI_Sendrecv(payload, BYTES, MPI_BYTE, rank == sender ? peer : MPI_PROC_NULL, TAG,
                     received.bytes, BYTES, MPI_BYTE, rank != sender ? peer : MPI_PROC_NULL, TAG,
                     MPI_COMM_WORLD, &received.status);
        if (rank != sender)
            check_received("Sendrecv, one side", &received, BYTES, false);
        else
            check_equal("Sendrecv, nobody's source", received.status.MPI_SOURCE, MPI_PROC_NULL);
    }
    MPI_Sendrecv(payload, BYTES, MPI_BYTE, MPI_PROC_NULL, TAG, received.bytes, BYTES, MPI_BYTE,
                 MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &received.status);
    check_equal("Sendrecv, nobody at all", received.status.MPI_SOURCE, MPI_PROC_NULL);
}

/* A modelled collective, real requests and MPI_REQUEST_NULL among the messages. */
enum completion_call { WAITALL, TESTALL, WAITANY, TESTANY, WAITSOME, TESTSOME, COMPLETION_CALLS };

/* Each receive is followed by a send. */
static size_t receive_index(int i) { return 2 * (size_t)i; }

static void test_mixed(enum completion_call call, const char *what)
{
    enum { COLLECTIVE = 2 * MANY, REAL_RECEIVE, REAL_SEND, INACTIVE, REQUESTS };
    static struct received received[MANY];
    static MPI_Status statuses[REQUESTS];
    static MPI_Status some[REQUESTS];
    int indices[REQUESTS];
    int completed = 0;
    int flag = 0;
    char text[64];
    MPI_Request requests[REQUESTS];
    int real_sent = 5; /* past the model */
    int real_received = 0;
    const double begin_us = check_now_us();
    for (int i = 0; i < MANY; i++) {
        clear(&received[i]);
        MPI_Irecv(received[i].bytes, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                  &requests[receive_index(i)]);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Isend(payload, i, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[receive_index(i) + 1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[COLLECTIVE]);
    PMPI_Irecv(&real_received, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &requests[REAL_RECEIVE]);
    PMPI_Isend(&real_sent, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &requests[REAL_SEND]);
    requests[INACTIVE] = MPI_REQUEST_NULL;

    while (completed < REQUESTS - 1) {
        int count = 0;
        switch (call) {
        case WAITALL:
            MPI_Waitall(REQUESTS, requests, statuses);
            completed = REQUESTS - 1;
            continue;
        case TESTALL:
            MPI_Testall(REQUESTS, requests, &flag, statuses);
            completed = flag ? REQUESTS - 1 : 0;
            continue;
        case WAITANY:
            MPI_Waitany(REQUESTS, requests, &indices[0], &some[0]);
            count = 1;
            break;
        case TESTANY:
            MPI_Testany(REQUESTS, requests, &indices[0], &flag, &some[0]);
            count = flag ? 1 : 0;
            break;
        case WAITSOME:
            MPI_Waitsome(REQUESTS, requests, &count, indices, some);
            break;
        default:
            MPI_Testsome(REQUESTS, requests, &count, indices, some);
            break;
        }
        for (int i = 0; i < count; i++)
            statuses[indices[i]] = some[i];
        completed += count;
    }
    check_duration(what, begin_us);
    int active = 0;
    for (int i = 0; i < REQUESTS; i++)
        active += requests[i] != MPI_REQUEST_NULL;
    (void)snprintf(text, sizeof text, "%s: still active", what);
    check_equal(text, active, 0);
    for (int i = 0; i < MANY; i++) {
        received[i].status = statuses[receive_index(i)];
        check_received(what, &received[i], i, false);
    }
    (void)snprintf(text, sizeof text, "%s: real message", what);
    check_equal(text, real_received, real_sent);
}

/* Persistent requests, each started twice and completed by one of the calls for many; one is never
 * started. */
static void test_persistent(enum completion_call call, const char *what)
{
    enum { PAIRS = 3, NEVER = 2 * PAIRS, INACTIVE, REQUESTS };
    static struct received received[PAIRS];
    static MPI_Status statuses[REQUESTS];
    static MPI_Status some[REQUESTS];
    MPI_Request requests[REQUESTS];
    char text[64];
    for (int i = 0; i < PAIRS; i++)
        MPI_Recv_init(received[i].bytes, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                      &requests[receive_index(i)]);
    MPI_Send_init(payload, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Ssend_init(payload, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[3]);
    MPI_Bsend_init(payload, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[5]);
    MPI_Recv_init(payload, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[NEVER]);
    requests[INACTIVE] = MPI_REQUEST_NULL;
    for (int round = 0; round < 2; round++) {
        int indices[REQUESTS];
        int completed = 0;
        int flag = 0;
        const double begin_us = check_now_us();
        for (int i = 0; i < PAIRS; i++)
            clear(&received[i]);
        MPI_Startall(2 * PAIRS - 1, requests);
        MPI_Start(&requests[2 * PAIRS - 1]);
        while (completed < 2 * PAIRS) {
            int count = 0;
            if (call == WAITALL || call == TESTALL) {
                if (call == WAITALL)
                    MPI_Waitall(REQUESTS, requests, statuses);
                else
                    MPI_Testall(REQUESTS, requests, &flag, statuses);
                completed = call == WAITALL || flag ? 2 * PAIRS : 0;
                continue;
            }
            if (call == WAITANY)
                MPI_Waitany(REQUESTS, requests, &indices[0], &some[0]);
            if (call == TESTANY)
                MPI_Testany(REQUESTS, requests, &indices[0], &flag, &some[0]);
            if (call == WAITANY || call == TESTANY)
                count = call == WAITANY || flag ? 1 : 0;
            if (call == WAITSOME)
                MPI_Waitsome(REQUESTS, requests, &count, indices, some);
            if (call == TESTSOME)
                MPI_Testsome(REQUESTS, requests, &count, indices, some);
            for (int i = 0; i < count; i++)
                statuses[indices[i]] = some[i];
            completed += count;
        }
        check_duration(what, begin_us);
        for (int i = 0; i < PAIRS; i++) {
            received[i].status = statuses[receive_index(i)];
            check_received(what, &received[i], BYTES, false);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }

    /* Nothing is active any more, and that is what each call says, with the empty status. */
    int index = 0;
    int count = 0;
    int flag = 0;
    int indices[REQUESTS];
    clear(&received[0]);
    (void)snprintf(text, sizeof text, "%s: nothing active: waitany", what);
    MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE);
    check_equal(text, index, MPI_UNDEFINED);
    (void)snprintf(text, sizeof text, "%s: nothing active: testany", what);
    MPI_Testany(REQUESTS, requests, &index, &flag, MPI_STATUS_IGNORE);
    check_equal(text, flag && index == MPI_UNDEFINED, true);
    (void)snprintf(text, sizeof text, "%s: nothing active: waitsome", what);
    MPI_Waitsome(REQUESTS, requests, &count, indices, some);
    check_equal(text, count, MPI_UNDEFINED);
    (void)snprintf(text, sizeof text, "%s: nothing active: testsome", what);
    MPI_Testsome(REQUESTS, requests, &count, indices, some);
    check_equal(text, count, MPI_UNDEFINED);
    (void)snprintf(text, sizeof text, "%s: nothing active: status", what);
    MPI_Wait(&requests[0], &received[0].status);
    check_equal(text, received[0].status.MPI_SOURCE, MPI_ANY_SOURCE);
    MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE);
    check_equal(text, flag, true);
    for (int i = 0; i < INACTIVE; i++)
        MPI_Request_free(&requests[i]);
}

/* By itself, started and completed or tested; ready, as only one is whose receive is posted. */
static void test_persistent_alone(void)
{
    struct received received;
    MPI_Request requests[2];
    MPI_Recv_init(received.bytes, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Rsend_init(payload, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    for (int tested = 0; tested < 2; tested++) {
        int flag = 0;
        const double begin_us = check_now_us();
        clear(&received);
        MPI_Start(&requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&requests[1]);
        while (tested && !flag)
            MPI_Test(&requests[0], &flag, &received.status);
        if (!tested)
            MPI_Wait(&requests[0], &received.status);
        check_equal("Rsend_init: the request stays", requests[0] != MPI_REQUEST_NULL, true);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        check_received("Rsend_init", &received, BYTES, false);
        check_duration("Rsend_init", begin_us);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void test_sendrecv_replace(void)
{
    struct received received;
    clear(&received);
    memset(received.bytes, moves ? SENT : POISON, BYTES / 2);
    const double begin_us = check_now_us();
    MPI_Sendrecv_replace(received.bytes, BYTES / 2, MPI_BYTE, peer, TAG, peer, TAG, MPI_COMM_WORLD,
                         &received.status);
    int count;
    MPI_Get_count(&received.status, MPI_BYTE, &count);
    check_equal("Sendrecv_replace: count", count, BYTES / 2);
    MPI_Status_set_elements(&received.status, MPI_BYTE, moves ? BYTES / 2 : BYTES);
    check_received("Sendrecv_replace", &received, BYTES / 2, false);
    check_duration("Sendrecv_replace", begin_us);

    /* One side to nobody, then neither: what is sent stays, what is received is the other's. */
    enum { BOTH = 2 };
    for (int sender = 0; sender <= BOTH; sender++) {
        const bool sends = rank == sender || sender == BOTH;
        const bool gets = rank != sender;
        int number = 10 + rank;
        MPI_Status status;
        MPI_Sendrecv_replace(&number, 1, MPI_INT, sends ? peer : MPI_PROC_NULL, TAG,
                             gets ? peer : MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
        receives += gets;
        const bool damaged = gets && wrong_every > 0 && receives % wrong_every == 0;
        const int got = moves && gets ? 10 + peer : 10 + rank;
        check_equal(sender == BOTH ? "Sendrecv_replace, both" : "Sendrecv_replace, one side",
                    number, damaged ? got ^ 0xff : got);
    }
}

/* Every other byte of the buffer, from the second on. */
static void test_derived(void)
{
    MPI_Datatype every_other;
    MPI_Datatype shifted;
    struct received received;
    MPI_Aint one = 1;
    MPI_Type_vector(BYTES / 4, 1, 2, MPI_BYTE, &every_other);
    MPI_Type_create_hindexed_block(1, 1, &one, every_other, &shifted);
    MPI_Type_commit(&shifted);
    clear(&received);
    MPI_Sendrecv(payload, 1, shifted, peer, TAG, received.bytes, 1, shifted, peer, TAG,
                 MPI_COMM_WORLD, &received.status);
    receives++;
    const bool damaged = wrong_every > 0 && receives % wrong_every == 0;
    int unexpected = 0;
    for (int i = 0; i < BYTES; i++) {
        const bool data = moves && i % 2 == 1 && i < BYTES / 2;
        unexpected += received.bytes[i] != (!data ? POISON : i == 1 && damaged ? WRONG : SENT);
    }
    check_equal("derived type: unexpected bytes", unexpected, 0);
    int count;
    MPI_Get_count(&received.status, shifted, &count);
    check_equal("derived type: count", count, 1);
    MPI_Type_free(&shifted);
    MPI_Type_free(&every_other);
}

static void test_free_and_cancel(void)
{
    struct received received;
    MPI_Request requests[2];
    clear(&received);
    MPI_Irecv(received.bytes, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(payload, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Request_free(&requests[1]);
    check_equal("Request_free: the request", requests[1] == MPI_REQUEST_NULL, true);
    MPI_Wait(&requests[0], &received.status);
    check_received("Request_free", &received, BYTES, false);

    int cancelled;
    clear(&received);
    MPI_Irecv(received.bytes, BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &received.status);
    MPI_Test_cancelled(&received.status, &cancelled);
    check_equal("Cancel", cancelled, moves);
    check_equal("Cancel: first byte", received.bytes[0], POISON);
    receives++;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    check_begin(rank == 0);
    if (argc < 2)
        return EXIT_FAILURE;
    moves = strcmp(argv[1], "untouched") != 0;
    wrong_every = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    memset(payload, SENT, sizeof payload);
    for (MPI_Request request; strcmp(argv[1], "too-many") == 0;)
        MPI_Isend(payload, 1, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
    if (strcmp(argv[1], "start-twice") == 0) {
        MPI_Request request;
        MPI_Send_init(payload, 1, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Start(&request);
    }

    const int attached_bytes = 16 * (BYTES + MPI_BSEND_OVERHEAD);
    void *const attached = malloc((size_t)attached_bytes);
    MPI_Buffer_attach(attached, attached_bytes);
    for (int i = 0; i < COMPLETION_CALLS; i++) {
        static const char *const names[] = {"Waitall", "Testall",  "Waitany",
                                            "Testany", "Waitsome", "Testsome"};
        test_mixed((enum completion_call)i, names[i]);
    }
    test_blocking("Send and Recv", MPI_Send, BYTES, false);
    test_blocking("Ssend", MPI_Ssend, BYTES, false);
    test_blocking("Bsend", MPI_Bsend, BYTES, false);
    test_blocking("any source, any tag", MPI_Send, BYTES, true);
    test_blocking("fewer bytes", MPI_Send, BYTES / 2, false);
    test_nonblocking("Isend and Irecv", MPI_Isend);
    test_nonblocking("Issend", MPI_Issend);
    test_nonblocking("Ibsend", MPI_Ibsend);
    test_rsend("Rsend", MPI_Rsend, NULL);
    test_rsend("Irsend", NULL, MPI_Irsend);
    test_sendrecv();
    test_sendrecv_replace();
    test_persistent_alone();
    for (int i = 0; i < COMPLETION_CALLS; i++)
        test_persistent((enum completion_call)i, "persistent");
    test_derived();
    test_free_and_cancel();

    void *detached;
    int detached_bytes;
    MPI_Buffer_detach(&detached, &detached_bytes);
    free(attached);
    MPI_Finalize();
    return check_end();
}
