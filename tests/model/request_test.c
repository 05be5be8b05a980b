/*
 * Do modelled and real requests mix in every call that completes requests, and do threads get
 * different ones? To be run under the model on 2 ranks with a duration of 200 us, some of which
 * needs the host. With an argument it does one thing wrong instead, and must not get to its end:
 *
 *   too-many   posts operations without end
 *   free       frees a collective's request
 */
#include "check.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>

enum { DURATION_US = 200, REQUESTS = 5, THREADS = 4, HELD = 64, ROUNDS = 20 };

/* Positions in the mixed array; the last one stays MPI_REQUEST_NULL. */
enum { REAL_RECEIVE, MODELLED_FIRST, REAL_SEND, MODELLED_SECOND, INACTIVE };

struct mixed {
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    int sent;
    int received;
    int sum_in;
    int sum_out;
    double begin_us;
};

static int rank;
static int peer;

static void post_mixed(struct mixed *mixed)
{
    enum { TAG = 7 };
    memset(mixed, 0, sizeof *mixed);
    mixed->sent = 100 + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    mixed->begin_us = check_now_us();
    MPI_Irecv(&mixed->received, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD,
              &mixed->requests[REAL_RECEIVE]);
    MPI_Iallreduce(&mixed->sum_in, &mixed->sum_out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                   &mixed->requests[MODELLED_FIRST]);
    MPI_Isend(&mixed->sent, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, &mixed->requests[REAL_SEND]);
    MPI_Ibarrier(MPI_COMM_WORLD, &mixed->requests[MODELLED_SECOND]);
    mixed->requests[INACTIVE] = MPI_REQUEST_NULL;
}

static int active_requests(const struct mixed *mixed)
{
    int active = 0;
    for (int i = 0; i < REQUESTS; i++)
        active += mixed->requests[i] != MPI_REQUEST_NULL;
    return active;
}

static void check_mixed(const char *call, const struct mixed *mixed, int completed)
{
    const double elapsed_us = check_now_us() - mixed->begin_us;
    char what[64];
    (void)snprintf(what, sizeof what, "%s: completed", call);
    check_equal(what, completed, REQUESTS - 1);
    (void)snprintf(what, sizeof what, "%s: still active", call);
    check_equal(what, active_requests(mixed), 0);
    (void)snprintf(what, sizeof what, "%s: received", call);
    check_equal(what, mixed->received, 100 + peer);
    (void)snprintf(what, sizeof what, "%s: took its time", call);
    check_equal(what, elapsed_us >= DURATION_US, true);
}

/* A real status is the message's, a modelled one MPI's empty status. */
static void check_status(const char *call, int position, const MPI_Status *status)
{
    char what[64];
    (void)snprintf(what, sizeof what, "%s: source in status %d", call, position);
    if (position == REAL_RECEIVE)
        check_equal(what, status->MPI_SOURCE, peer);
    else if (position != REAL_SEND)
        check_equal(what, status->MPI_SOURCE, MPI_ANY_SOURCE);
}

static void test_all(void)
{
    struct mixed mixed;

    post_mixed(&mixed);
    MPI_Waitall(REQUESTS, mixed.requests, mixed.statuses);
    check_mixed("Waitall", &mixed, REQUESTS - 1);
    for (int i = 0; i < REQUESTS; i++)
        check_status("Waitall", i, &mixed.statuses[i]);

    int flag = 0;
    int polls = 0;
    post_mixed(&mixed);
    for (; !flag; polls++)
        MPI_Testall(REQUESTS, mixed.requests, &flag, mixed.statuses);
    check_mixed("Testall", &mixed, REQUESTS - 1);
    check_equal("Testall: some polls in vain", polls > 1, true);
    for (int i = 0; i < REQUESTS; i++)
        check_status("Testall", i, &mixed.statuses[i]);
}

static void test_any(void)
{
    struct mixed mixed;
    int index;
    int completed = 0;

    post_mixed(&mixed);
    while (active_requests(&mixed) > 0) {
        MPI_Waitany(REQUESTS, mixed.requests, &index, &mixed.statuses[0]);
        check_status("Waitany", index, &mixed.statuses[0]);
        completed++;
    }
    check_mixed("Waitany", &mixed, completed);
    MPI_Waitany(REQUESTS, mixed.requests, &index, MPI_STATUS_IGNORE);
    check_equal("Waitany: nothing left", index, MPI_UNDEFINED);

    post_mixed(&mixed);
    for (completed = 0; active_requests(&mixed) > 0;) {
        int flag;
        MPI_Testany(REQUESTS, mixed.requests, &index, &flag, &mixed.statuses[0]);
        if (flag) {
            check_status("Testany", index, &mixed.statuses[0]);
            completed++;
        }
    }
    check_mixed("Testany", &mixed, completed);
}

static void test_some(int (*some)(int, MPI_Request[], int *, int[], MPI_Status[]), const char *call)
{
    struct mixed mixed;
    int indices[REQUESTS];
    int completed = 0;

    post_mixed(&mixed);
    while (active_requests(&mixed) > 0) {
        int outcount;
        some(REQUESTS, mixed.requests, &outcount, indices, mixed.statuses);
        for (int i = 0; i < outcount; i++)
            check_status(call, indices[i], &mixed.statuses[i]);
        completed += outcount;
    }
    check_mixed(call, &mixed, completed);
}

static void test_one(void)
{
    struct mixed mixed;
    int completed = 0;

    /* A status says the request is complete, and leaves it to be completed. */
    post_mixed(&mixed);
    for (int i = 0; i < REQUESTS - 1; i++) {
        for (int flag = 0; !flag;)
            MPI_Request_get_status(mixed.requests[i], &flag, &mixed.statuses[i]);
        check_status("Request_get_status", i, &mixed.statuses[i]);
        check_equal("Request_get_status: still active", mixed.requests[i] != MPI_REQUEST_NULL,
                    true);
        MPI_Wait(&mixed.requests[i], MPI_STATUS_IGNORE);
        completed++;
    }
    check_mixed("Request_get_status", &mixed, completed);

    post_mixed(&mixed);
    for (completed = 0; completed < REQUESTS - 1; completed++)
        for (int flag = 0; !flag;)
            MPI_Test(&mixed.requests[completed], &flag, MPI_STATUS_IGNORE);
    check_mixed("Test", &mixed, completed);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static MPI_Request held[THREADS][HELD];
static pthread_barrier_t step;

/* What a thread does: a round is HELD operations at a time. */
static void *hold_requests(void *argument)
{
    const int thread = *(const int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < HELD; i++)
            MPI_Ibarrier(MPI_COMM_WORLD, &held[thread][i]);
        (void)pthread_barrier_wait(&step); /* main checks between these two */
        (void)pthread_barrier_wait(&step);
        for (int i = 0; i < HELD; i++)
            MPI_Wait(&held[thread][i], MPI_STATUS_IGNORE);
    }
    return NULL;
}

static bool all_distinct(const MPI_Request *requests, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (requests[i] == requests[j])
                return false;
    return true;
}

/* Without MODEL_DATA no real collective runs, so threads may share a communicator. */
static void test_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    (void)pthread_barrier_init(&step, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, hold_requests, &numbers[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int rounds_distinct = 0;
    for (int round = 0; round < ROUNDS; round++) {
        (void)pthread_barrier_wait(&step);
        rounds_distinct += all_distinct(&held[0][0], THREADS * HELD);
        (void)pthread_barrier_wait(&step);
    }
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    check_equal("threads: rounds with distinct requests", rounds_distinct, ROUNDS);
}

static void do_wrong(const char *what)
{
    MPI_Request request;
    if (strcmp(what, "too-many") == 0)
        for (;;)
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    check_begin(rank == 0);
    if (argc == 2)
        do_wrong(argv[1]);

    test_all();
    test_any();
    test_some(MPI_Waitsome, "Waitsome");
    test_some(MPI_Testsome, "Testsome");
    test_one();
    const char *data = getenv("MODEL_DATA"); /* before any thread. NOLINT(concurrency-mt-unsafe) */
    if (data == NULL || strcmp(data, "0") == 0)
        test_threads();

    MPI_Finalize();
    return check_end();
}
