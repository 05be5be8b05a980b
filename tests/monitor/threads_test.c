/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts at MPI_THREAD_MULTIPLE: threads communicate, each on a communicator and a window of its
 * own, while another thread starts and ends snapshots. On 2 ranks.
 */
#include "check.h"

#include <ctype.h>
#include <mpi.h>
#include <mpirtmon.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TAG = 7,
    THREADS = 4,
    ROUNDS = 20,
    SEVERAL = 3,
    MANY = 35,
    PUTS = 3,
    WINDOW_BYTES = 8192,
    BLOCK = 64
};

static int me, partner;
/* gcc believes that MPICH writes to the constant (-Wstringop-overflow). */
static MPI_Status *no_statuses;

struct worker {
    pthread_t thread;
    char name[32];
    MPI_Comm comm;
    MPI_Win win;
    char send[MANY * BLOCK], receive[MANY * BLOCK];
};

static struct worker workers[THREADS];
static atomic_int working;

/* Messages of 1, 2, ... bytes both ways: receives in the first half, sends in the second. */
static void post(struct worker *worker, int messages, MPI_Request *requests)
{
    for (int i = 0; i < messages; i++)
        MPI_Irecv(&worker->receive[(size_t)i * BLOCK], BLOCK, MPI_BYTE, partner, i, worker->comm,
                  &requests[i]);
    for (int i = 0; i < messages; i++)
        MPI_Isend(&worker->send[(size_t)i * BLOCK], i + 1, MPI_BYTE, partner, i, worker->comm,
                  &requests[messages + i]);
}

static void by_wait(struct worker *worker)
{
    MPI_Request requests[2 * SEVERAL];
    post(worker, SEVERAL, requests);
    for (int i = 2 * SEVERAL - 1; i >= 0; i--)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void by_waitall(struct worker *worker)
{
    MPI_Request requests[2 * MANY];
    post(worker, MANY, requests);
    MPI_Waitall(2 * MANY, requests, no_statuses);
}

static void by_testany(struct worker *worker)
{
    MPI_Request requests[2 * SEVERAL];
    post(worker, SEVERAL, requests);
    for (int done = 0; done < 2 * SEVERAL;) {
        int index = 0, flag = 0;
        MPI_Testany(2 * SEVERAL, requests, &index, &flag, MPI_STATUS_IGNORE);
        done += flag;
    }
}

/* Runs a round of a worker, whose counts whole_end_of_rounds checks. */
static void work(struct worker *worker)
{
    int sum = 0;
    by_wait(worker);
    by_waitall(worker);
    by_testany(worker);
    if (me == 0) {
        MPI_Send(worker->send, 2000, MPI_BYTE, partner, TAG, worker->comm);
        MPI_Recv(worker->receive, 2000, MPI_BYTE, partner, TAG, worker->comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(worker->receive, 2000, MPI_BYTE, partner, TAG, worker->comm, MPI_STATUS_IGNORE);
        MPI_Send(worker->send, 2000, MPI_BYTE, partner, TAG, worker->comm);
    }
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, worker->comm);
    for (int i = 0; i < PUTS; i++)
        MPI_Put(worker->send, 8, MPI_BYTE, partner, 0, 8, MPI_BYTE, worker->win);
    /* To two targets: the second flush follows one that has completed something. */
    MPI_Put(worker->send, 8, MPI_BYTE, me, 0, 8, MPI_BYTE, worker->win);
    MPI_Win_flush(partner, worker->win);
    MPI_Win_flush(me, worker->win);
}

static int64_t sum_to(int64_t n) { return n * (n + 1) / 2; }

/* Counts of an operation on a communicator. */
struct count {
    const char *comm, *operation;
    int64_t calls, completed, bytes;
};

static MPIX_Monitor_row *rows_of(const MPIX_Monitor_request *request, int *count)
{
    MPIX_Get_monitor(request, NULL, 0, count);
    MPIX_Monitor_row *const rows = calloc((size_t)*count + 1, sizeof *rows);
    if (rows == NULL)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    CHECK(MPIX_Get_monitor(request, rows, *count, count) == MPIX_MONITOR_SUCCESS);
    return rows;
}

/* A snapshot that counts everything. */
static struct {
    MPIX_Monitor handle;
    MPIX_Monitor_request request;
} whole;

static void whole_begin(void)
{
    whole.handle = (MPIX_Monitor){.profile = 1, .pttopt = 1, .coll = 1, .msgsize = 1};
    whole.handle.large_bytes = 1000;
    CHECK(MPIX_Start_monitor(&whole.request, &whole.handle, NULL) == MPIX_MONITOR_SUCCESS);
}

/* Ends it. It must have counted this and nothing else. */
static void whole_end(const struct count *counts, int number, int64_t small, int64_t large)
{
    int count = 0, rows_found = 0, right = 0;
    CHECK(MPIX_End_monitor(&whole.request, &whole.handle) == MPIX_MONITOR_SUCCESS);
    MPIX_Monitor_row *const rows = rows_of(&whole.request, &count);
    for (int i = 0; i < count; i++) {
        const MPIX_Monitor_row *const row = &rows[i];
        if (strcmp(row->kind, "workload") == 0) {
            CHECK(row->small == small && row->large == large);
            continue;
        }
        for (int k = 0; k < number; k++)
            right += strcmp(row->comm, counts[k].comm) == 0 &&
                     strcmp(row->operation, counts[k].operation) == 0 &&
                     row->calls == counts[k].calls && row->completed == counts[k].completed &&
                     row->bytes == counts[k].bytes && row->timeouts == 0;
        rows_found++;
    }
    CHECK(right == number && rows_found == number);
    free(rows);
}

/* Counts of workers in all rounds. */
static void whole_end_of_rounds(void)
{
    enum { KINDS = 6 };
    struct count counts[THREADS * KINDS];
    const int64_t messages = ROUNDS * (int64_t)(2 * SEVERAL + MANY);
    const int64_t bytes = ROUNDS * (2 * (int64_t)sum_to(SEVERAL) + sum_to(MANY));
    const int64_t long_bytes = (int64_t)ROUNDS * 2000;
    const int64_t puts = (int64_t)ROUNDS * (PUTS + 1);
    for (int i = 0; i < THREADS; i++) {
        const char *const name = workers[i].name;
        const struct count of[KINDS] = {
            {name, "MPI_Irecv", messages, messages, bytes},
            {name, "MPI_Isend", messages, messages, bytes},
            {name, "MPI_Send", ROUNDS, ROUNDS, long_bytes},
            {name, "MPI_Recv", ROUNDS, ROUNDS, long_bytes},
            {name, "MPI_Allreduce", ROUNDS, ROUNDS, (int64_t)ROUNDS * 4},
            {name, "MPI_Put", puts, puts, puts * 8}};
        memcpy(counts + (size_t)i * KINDS, of, sizeof of);
    }
    whole_end(counts, THREADS * KINDS, messages + puts, ROUNDS);
}

static void *run_worker(void *argument)
{
    for (int i = 0; i < ROUNDS; i++)
        work(argument);
    atomic_fetch_sub(&working, 1);
    return NULL;
}

static void start_workers(void)
{
    atomic_store(&working, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0)
            PMPI_Abort(MPI_COMM_WORLD, 1);
}

static void sleep_us(long us) { (void)nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL); }

static void meet(void) { PMPI_Barrier(MPI_COMM_WORLD); }

static void join_workers(void)
{
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(workers[i].thread, NULL);
}

/* A snapshot of an unknown part of the work. No more operations can end than began. */
static void brief_snapshot(void)
{
    MPIX_Monitor handle = {
        .profile = 1, .pttopt = 1, .coll = 1, .sizes = 1, .calls = 1, .timeout_us = 1e7};
    handle.site = MPIX_MONITOR_CALLERS_MAX;
    handle.peers = handle.depth = 1;
    MPIX_Monitor_request request;
    int count = 0;
    CHECK(MPIX_Start_monitor(&request, &handle, NULL) == MPIX_MONITOR_SUCCESS);
    sleep_us(500);
    CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_SUCCESS);
    MPIX_Monitor_row *const rows = rows_of(&request, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].kind, "pttopt") == 0 || strcmp(rows[i].kind, "coll") == 0)
            CHECK(rows[i].completed <= rows[i].calls && rows[i].timeouts == 0);
    free(rows);
}

/* The counts of all work are exact while other snapshots start and end. */
static void exact(void)
{
    whole_begin();
    start_workers();
    while (atomic_load(&working) > 0)
        brief_snapshot();
    join_workers();
    whole_end_of_rounds();
}

/* Monitoring starts and ends in the middle of the work. */
static void on_and_off(void)
{
    start_workers();
    while (atomic_load(&working) > 0) {
        brief_snapshot();
        sleep_us(200);
    }
    join_workers();
}

/* ---- communicators that come and go ---------------------------------------------------------- */

static atomic_bool is_over;

/* Barriers on the communicator named `n`: mostly more than on the next one. */
static int barriers_on(int n) { return 7 - n % 7; }

static void *come_and_go(void *unused)
{
    (void)unused;
    for (int n = 0; !atomic_load(&is_over); n++) {
        char name[32];
        MPI_Comm brief;
        (void)snprintf(name, sizeof name, "%d", n);
        MPI_Comm_dup(MPI_COMM_SELF, &brief);
        MPI_Comm_set_name(brief, name);
        for (int i = 0; i < barriers_on(n); i++)
            MPI_Barrier(brief);
        MPI_Comm_free(&brief);
    }
    return NULL;
}

/* A row has the name that belongs to its counts, even if the communicator has been freed and its
   handle given to another one. Communicators that find no room are "(other communicators)". */
static void named_when_gone(void)
{
    enum { SNAPSHOTS = 200 };
    pthread_t thread;
    atomic_store(&is_over, false);
    if (pthread_create(&thread, NULL, come_and_go, NULL) != 0)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < SNAPSHOTS; i++) {
        /* Between the end and the rows the monitor reads the services: time for communicators to be
           made. */
        MPIX_Monitor handle = {.profile = 1, .coll = 1, .other = 1};
        MPIX_Monitor_request request;
        int count = 0;
        MPIX_Start_monitor(&request, &handle, NULL);
        sleep_us(200);
        MPIX_End_monitor(&request, &handle);
        MPIX_Monitor_row *const rows = rows_of(&request, &count);
        for (int j = 0; j < count; j++) {
            if (strcmp(rows[j].operation, "MPI_Barrier") == 0 &&
                isdigit((unsigned char)rows[j].comm[0]))
                CHECK(rows[j].calls <= barriers_on((int)strtol(rows[j].comm, NULL, 10)));
        }
        free(rows);
    }
    atomic_store(&is_over, true);
    (void)pthread_join(thread, NULL);
}

/* ---- monitoring that ends and starts during a synchronisation -------------------------------- */

static MPI_Win fenced;
static atomic_bool is_fencing;

/* Rank 1 calls the fence on request. */
static void *fence(void *unused)
{
    (void)unused;
    MPI_Put(workers[0].send, 8, MPI_BYTE, partner, 0, 8, MPI_BYTE, fenced);
    atomic_store(&is_fencing, true);
    MPI_Win_fence(0, fenced);
    return NULL;
}

static void switched_during_fence(void)
{
    pthread_t thread;
    whole_begin();
    if (pthread_create(&thread, NULL, fence, NULL) != 0)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    while (!atomic_load(&is_fencing))
        sleep_us(1000);
    sleep_us(100000); /* now the thread is probably in the fence */
    whole_end((const struct count[]){{workers[0].name, "MPI_Put", 1, 0, 8},
                                     {workers[0].name, "MPI_Win_fence", 1, 0, 0}},
              2, 1, 0);

    whole_begin();
    MPI_Put(workers[1].send, 16, MPI_BYTE, partner, 0, 16, MPI_BYTE, workers[1].win);
    PMPI_Send(NULL, 0, MPI_BYTE, partner, TAG, MPI_COMM_WORLD);
    (void)pthread_join(thread, NULL);
    whole_end((const struct count[]){{workers[1].name, "MPI_Put", 1, 0, 16}}, 1, 1, 0);
    MPI_Win_flush(partner, workers[1].win);
}

static void allocate(int bytes, MPI_Comm comm, MPI_Win *win)
{
    void *base;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, &base, win);
}

int main(int argc, char **argv)
{
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    partner = 1 - me;
    no_statuses = MPI_STATUSES_IGNORE;
    for (int i = 0; i < THREADS; i++) {
        (void)snprintf(workers[i].name, sizeof workers[i].name, "thread %d", i);
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
        MPI_Comm_set_name(workers[i].comm, workers[i].name);
        allocate(WINDOW_BYTES, workers[i].comm, &workers[i].win);
        PMPI_Win_lock_all(0, workers[i].win);
    }
    exact();
    on_and_off();
    meet();
    exact();
    meet();

    allocate(WINDOW_BYTES, workers[0].comm, &fenced);
    PMPI_Win_fence(0, fenced);
    if (me == 0) {
        switched_during_fence();
    } else {
        PMPI_Recv(NULL, 0, MPI_BYTE, partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        PMPI_Win_fence(0, fenced);
    }
    MPI_Win_free(&fenced);
    meet();
    exact();
    named_when_gone();
    meet();

    for (int i = 0; i < THREADS; i++) {
        PMPI_Win_unlock_all(workers[i].win);
        MPI_Win_free(&workers[i].win);
        MPI_Comm_free(&workers[i].comm);
    }
    MPI_Finalize();
    return check_failures > 0;
}
