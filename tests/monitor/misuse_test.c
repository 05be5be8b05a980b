/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong use of the monitor's functions, and their limits; what MPI allows that looks like wrong
 * use. On 3 ranks.
 */
#include "check.h"

#include <math.h>
#include <mpi.h>
#include <mpirtmon.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Before MPI_Init or after MPI_Finalize. */
static void without_mpi(void)
{
    MPIX_Monitor handle = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request request = {.serial = 1};
    CHECK(MPIX_Start_monitor(&request, &handle, NULL) == MPIX_MONITOR_ERR_MPI);
    CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_ERR_MPI);
    CHECK(MPIX_Start_monitor(NULL, &handle, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
}

/* The rows of a snapshot or, with `warnings`, its warnings. */
static int get(bool warnings, const MPIX_Monitor_request *request, void *into, int capacity,
               int *count)
{
    return warnings ? MPIX_Get_monitor_warnings(request, into, capacity, count)
                    : MPIX_Get_monitor(request, into, capacity, count);
}

static void wrong_arguments(void)
{
    static const MPIX_Monitor wrong[] = {{.large_bytes = -1},
                                         {.timeout_us = -1e-9},
                                         {.timeout_us = (double)NAN},
                                         {.timeout_us = (double)INFINITY}};
    MPIX_Monitor handle = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request request = {.serial = 0};
    MPIX_Monitor_row row;
    MPIX_Monitor_warning warning;
    int count = -5;
    CHECK(MPIX_Start_monitor(NULL, &handle, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
    CHECK(MPIX_Start_monitor(&request, NULL, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        MPIX_Monitor copy = wrong[i];
        CHECK(MPIX_Start_monitor(&request, &copy, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
    }
    CHECK(request.serial == 0);
    CHECK(MPIX_End_monitor(NULL, &handle) == MPIX_MONITOR_ERR_ARGUMENT);
    CHECK(MPIX_End_monitor(&request, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
    for (int i = 0; i < 2; i++) {
        void *const into = i == 0 ? (void *)&row : (void *)&warning;
        CHECK(get(i, NULL, into, 1, &count) == MPIX_MONITOR_ERR_ARGUMENT);
        CHECK(get(i, &request, into, 1, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
        CHECK(get(i, &request, NULL, 1, &count) == MPIX_MONITOR_ERR_ARGUMENT);
        CHECK(get(i, &request, into, -1, &count) == MPIX_MONITOR_ERR_ARGUMENT);
    }
    CHECK(count == -5);
}

static void wrong_requests(void)
{
    static const int64_t never[] = {-1, 0, 1000000};
    MPIX_Monitor handle = {.profile = 1, .coll = 1}, other = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request request, copy;
    MPIX_Monitor_row row;
    int count = -5;
    for (size_t i = 0; i < COUNT(never); i++) {
        request.serial = never[i];
        CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_ERR_REQUEST);
        CHECK(get(false, &request, NULL, 0, &count) == MPIX_MONITOR_ERR_REQUEST);
        CHECK(get(true, &request, NULL, 0, &count) == MPIX_MONITOR_ERR_REQUEST);
    }
    MPIX_Start_monitor(&request, &handle, NULL);
    copy = request;
    MPI_Barrier(MPI_COMM_SELF);
    CHECK(get(false, &request, NULL, 0, &count) == MPIX_MONITOR_ERR_ACTIVE);
    CHECK(get(true, &request, NULL, 0, &count) == MPIX_MONITOR_ERR_ACTIVE);
    CHECK(MPIX_End_monitor(&request, &other) == MPIX_MONITOR_ERR_HANDLE);
    CHECK(count == -5 && handle.coll == 1);
    MPI_Barrier(MPI_COMM_SELF);
    CHECK(MPIX_End_monitor(&copy, &handle) == MPIX_MONITOR_SUCCESS);
    CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_ERR_ENDED);
    CHECK(MPIX_Get_monitor(&request, &row, 1, &count) == MPIX_MONITOR_SUCCESS);
    CHECK(count == 1 && row.calls == 2);
}

/* The first snapshot of a process, when the program has taken all communicators that MPI has room
   for: it starts, and the program's error handler isn't called. */
static void without_room_in_mpi(void)
{
    enum { MAX = 3000 }; /* not every MPI library has a limit */
    static MPI_Comm taken[MAX];
    int count = 0;
    MPIX_Monitor handle = {.profile = 1, .coll = 1};
    MPIX_Monitor_request request;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (count < MAX && MPI_Comm_dup(MPI_COMM_SELF, &taken[count]) == MPI_SUCCESS)
        count++;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    CHECK(MPIX_Start_monitor(&request, &handle, NULL) == MPIX_MONITOR_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_SUCCESS);
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&taken[i]);
}

/* Starts MPIX_MONITOR_ACTIVE_MAX snapshots, one more, and the same when they have ended. */
static void too_many_active(void)
{
    MPIX_Monitor handles[MPIX_MONITOR_ACTIVE_MAX + 1];
    MPIX_Monitor_request requests[MPIX_MONITOR_ACTIVE_MAX + 1] = {{0}};
    for (int times = 0; times < 2; times++) {
        for (int i = 0; i <= MPIX_MONITOR_ACTIVE_MAX; i++) {
            const int code =
                i < MPIX_MONITOR_ACTIVE_MAX ? MPIX_MONITOR_SUCCESS : MPIX_MONITOR_ERR_LIMIT;
            handles[i] = (MPIX_Monitor){.profile = 1, .coll = 1};
            CHECK(MPIX_Start_monitor(&requests[i], &handles[i], NULL) == code);
        }
        CHECK(requests[MPIX_MONITOR_ACTIVE_MAX].serial == 0);
        MPI_Barrier(MPI_COMM_SELF);
        for (int i = 0; i < MPIX_MONITOR_ACTIVE_MAX; i++) {
            int count = 0;
            CHECK(MPIX_End_monitor(&requests[i], &handles[i]) == MPIX_MONITOR_SUCCESS);
            MPIX_Get_monitor(&requests[i], NULL, 0, &count);
            CHECK(count == 1);
        }
    }
}

/* Of two barriers, on MPI_COMM_SELF and on MPI_COMM_WORLD. */
static MPIX_Monitor_request short_snapshot(void)
{
    MPIX_Monitor handle = {.profile = 1, .coll = 1};
    MPIX_Monitor_request request;
    MPIX_Start_monitor(&request, &handle, NULL);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_WORLD);
    MPIX_End_monitor(&request, &handle);
    return request;
}

/* Rows are kept until 64 later snapshots have ended, however many are active, and are given up some
   time later. Rows and warnings are copied up to the capacity. */
static void kept_rows(void)
{
    enum { KEPT = 64, GONE = 128, ACTIVE = MPIX_MONITOR_ACTIVE_MAX - 1 };
    MPIX_Monitor handles[ACTIVE], handle = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request active[ACTIVE];
    MPIX_Monitor_row rows[2] = {{.calls = -5}, {.calls = -5}};
    int count = 0;
    for (int i = 0; i < ACTIVE; i++) {
        handles[i] = (MPIX_Monitor){.profile = 1, .coll = 1};
        MPIX_Start_monitor(&active[i], &handles[i], NULL);
    }
    MPIX_Monitor_request request = short_snapshot();
    for (int i = 0; i < KEPT - 1; i++)
        (void)short_snapshot();
    CHECK(MPIX_Get_monitor(&request, rows, 1, &count) == MPIX_MONITOR_SUCCESS);
    CHECK(count == 2 && rows[0].calls == 1 && rows[1].calls == -5);
    for (int i = 0; i < GONE; i++)
        (void)short_snapshot();
    CHECK(MPIX_Get_monitor(&request, NULL, 0, &count) == MPIX_MONITOR_ERR_REQUEST);
    for (int i = 0; i < ACTIVE; i++)
        CHECK(MPIX_End_monitor(&active[i], &handles[i]) == MPIX_MONITOR_SUCCESS);
    CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_ERR_ENDED);
}

static void copied_warnings(void)
{
    MPIX_Monitor handle = {.pttopt = 1};
    MPIX_Monitor_request request;
    MPIX_Monitor_warning warnings[2] = {{.code = 0}};
    int count = -5;
    MPIX_Start_monitor(&request, &handle, NULL);
    MPIX_End_monitor(&request, &handle);
    MPIX_Get_monitor_warnings(&request, NULL, 0, &count);
    CHECK(count == 1);
    MPIX_Get_monitor_warnings(&request, warnings, 2, &count);
    CHECK(count == 1 && warnings[0].code == MPIX_MONITOR_WARNING_OFF && warnings[1].code == 0);
}

/* Each code has a line of text, and no other has the same. */
static void error_strings(void)
{
    for (int code = -1; code <= MPIX_MONITOR_ERR_COMMUNICATORS + 1; code++) {
        const char *const text = MPIX_Monitor_error_string(code);
        CHECK(text != NULL && text[0] != '\0' && strchr(text, '\n') == NULL);
        for (int before = 0; before < code && code <= MPIX_MONITOR_ERR_COMMUNICATORS; before++)
            CHECK(strcmp(text, MPIX_Monitor_error_string(before)) != 0);
    }
}

/* ---- what MPI allows ------------------------------------------------------------------------- */

enum { CALLS_OF_THREAD = 250000, KINDS_OF_CALLS = 4, THREADS = 3 };

/* Any thread may call these, whatever the level of thread support is. */
static void *call_from_thread(void *unused)
{
    int value = 0;
    for (int i = 0; i < CALLS_OF_THREAD; i++) {
        MPI_Query_thread(&value);
        MPI_Is_thread_main(&value);
        MPI_Initialized(&value);
        MPI_Finalized(&value);
    }
    return unused;
}

static int64_t calls_of_other_mpi(const MPIX_Monitor_request *request)
{
    MPIX_Monitor_row rows[64];
    int count = 0;
    MPIX_Get_monitor(request, rows, COUNT(rows), &count);
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].operation, "other MPI") == 0)
            return rows[i].calls;
    return 0;
}

/* All their calls count, once, while other snapshots start and end and the main thread calls, too.
 */
static void calls_of_any_thread(void)
{
    pthread_t threads[THREADS];
    MPIX_Monitor handle = {.profile = 1, .calls = 1};
    MPIX_Monitor_request request;
    MPIX_Start_monitor(&request, &handle, NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, call_from_thread, NULL) == 0);
    for (int i = 0; i < CALLS_OF_THREAD; i++) {
        MPIX_Monitor brief = {.profile = 1, .calls = 1};
        MPIX_Monitor_request of_brief;
        int size = 0;
        MPI_Type_size(MPI_INT, &size);
        if (i % (CALLS_OF_THREAD / 8) != 0)
            continue;
        MPIX_Start_monitor(&of_brief, &brief, NULL);
        MPIX_End_monitor(&of_brief, &brief);
    }
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    MPIX_End_monitor(&request, &handle);
    CHECK(calls_of_other_mpi(&request) ==
          (KINDS_OF_CALLS * THREADS + 1) * (int64_t)CALLS_OF_THREAD);
}

/* In a rooted collective between two groups, processes of the root's group pass MPI_PROC_NULL, and
   nothing else that they pass means anything. Ranks 0 and 1 are a group, rank 2 is the other. */
static void insignificant_arguments(void)
{
    int rank, values[3] = {0, 0, 0};
    MPI_Comm own, inter;
    MPI_Datatype nonsense;
    MPIX_Monitor handle = {.profile = 1, .coll = 1, .sizes = 1};
    MPIX_Monitor_request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0, &inter);
    memset(&nonsense, rank == 1 ? 0x5a : 0, sizeof nonsense);
    const int root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;
    const MPI_Datatype type = rank == 1 ? nonsense : MPI_INT;
#ifdef OPEN_MPI
    const MPI_Datatype of_reduce = MPI_INT; /* Open MPI 4.1.4 looks at it itself */
#else
    const MPI_Datatype of_reduce = type;
#endif
    const int counts[] = {1, 1, 1}, at[] = {0, 1, 2};
    MPIX_Start_monitor(&request, &handle, NULL);
    MPI_Reduce(values, values + 1, 1, of_reduce, MPI_SUM, root, inter);
    MPI_Gather(values, 1, type, values + 1, 1, type, root, inter);
    MPI_Gatherv(values, 1, type, values + 1, counts, at, type, root, inter);
    MPI_Scatter(values, 1, type, values + 1, 1, type, root, inter);
    MPI_Scatterv(values, counts, at, type, values + 1, 1, type, root, inter);
    MPIX_End_monitor(&request, &handle);
    MPIX_Monitor_row rows[64];
    int count = 0, found = 0;
    MPIX_Get_monitor(&request, rows, COUNT(rows), &count);
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].kind, "sizes") == 0) {
            /* The root of MPI_Gatherv receives blocks of any size. */
            const bool has_none = rank == 1 || (rank == 0 && strstr(rows[i].operation, "Gatherv"));
            CHECK(rows[i].size_bytes == (has_none ? 0 : 4));
            found++;
        }
    CHECK(found == 5);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&own);
}

int main(int argc, char **argv)
{
    without_mpi();
    MPI_Init(&argc, &argv);
    without_room_in_mpi();
    wrong_arguments();
    wrong_requests();
    too_many_active();
    kept_rows();
    copied_warnings();
    error_strings();
    calls_of_any_thread();
    insignificant_arguments();
    MPI_Finalize();
    without_mpi();
    return check_failures > 0;
}
