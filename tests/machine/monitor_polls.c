/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cost of polling under the monitor: loops of calls through the monitor and of the same calls
 * around it are timed alternately in one process, while everything is monitored. Prints a line a
 * pair, again and again: name, ours and the bare one, with tabs in between.
 *
 *   what MPI_Test takes more  a monitored call less a bare one, and two readings of the clock
 *   MPI_Waitany ...           a call on 2,000 requests, and a bare one
 *   time in calls ...         of a loop of calls, by the monitor, and the time of the loop
 *   not computed ...          a loop of tests of a receive that completes after it: its time less
 *                             the computation that the monitor reports, and its time
 *
 * usage: monitor_polls single|multiple    the level of thread support
 */
#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"
#include "monitor/lib/count/ticks.h"
#include "monitor/lib/flags.h"
#include "monitor/lib/mpirtmon.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 2000, SEVERAL = 1000, TESTS = 30000, SOME = 50, TURNS_MAX = 6 };

static MPI_Request never[SEVERAL]; /* receives that nothing is sent to */
static char received[MANY];
static MPI_Comm comm;
static int indices[SEVERAL];
static MPI_Status statuses[SEVERAL];
static volatile uint64_t sink;
static double tick_ns; /* measured once: measuring it takes longer than a hundred tests */

static void post_all(void)
{
    for (int i = 0; i < SEVERAL; i++)
        BC_MPI(MPI_Irecv(&received[i], 1, MPI_CHAR, 0, i, comm, &never[i]));
}

static void cancel_all(void)
{
    for (int i = 0; i < SEVERAL; i++) {
        BC_MPI(MPI_Cancel(&never[i]));
        BC_MPI(MPI_Wait(&never[i], MPI_STATUS_IGNORE));
    }
}

/* Times `times` repetitions; the loops differ in what they call. */
#define LOOP(name, times, ...)                                                                     \
    static double name(void)                                                                       \
    {                                                                                              \
        int flag;                                                                                  \
        (void)flag;                                                                                \
        const uint64_t start_ticks = ticks_now();                                                  \
        for (int i = 0; i < (times); i++) {                                                        \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        return (double)(ticks_now() - start_ticks) * tick_ns / (times);                            \
    }

LOOP(test, TESTS, MPI_Test(&never[0], &flag, MPI_STATUS_IGNORE);)
LOOP(bare_test, TESTS, PMPI_Test(&never[0], &flag, MPI_STATUS_IGNORE);)
LOOP(two_readings, TESTS, sink = ticks_now(); sink = ticks_now();)
LOOP(testsome, SOME, MPI_Testsome(SEVERAL, never, &flag, indices, statuses);)

/* Completes MANY receives of messages that are there, one by one. */
#define WAITANY(name, Mpi)                                                                         \
    static double name(void)                                                                       \
    {                                                                                              \
        static MPI_Request requests[MANY];                                                         \
        int index;                                                                                 \
        for (int i = 0; i < MANY; i++)                                                             \
            Mpi##_Irecv(&received[i], 1, MPI_CHAR, 0, MANY, comm, &requests[i]);                   \
        for (int i = 0; i < MANY; i++)                                                             \
            PMPI_Send("", 1, MPI_CHAR, 0, MANY, comm);                                             \
        const uint64_t start_ticks = ticks_now();                                                  \
        for (int i = 0; i < MANY; i++)                                                             \
            Mpi##_Waitany(MANY, requests, &index, MPI_STATUS_IGNORE);                              \
        return (double)(ticks_now() - start_ticks) * tick_ns / MANY;                               \
    }
WAITANY(waitany, MPI)
WAITANY(bare_waitany, PMPI)

static double added_to_test(void) { return test() - bare_test(); }

/* Measures both alternately, in the order that cancels drift. */
static void pair(const char *name, double (*ours)(void), double (*bare)(void), int turns)
{
    double ours_ns[TURNS_MAX], bare_ns[TURNS_MAX];
    for (int turn = 0; turn < turns; turn++) {
        if (turn % 2 == 0)
            ours_ns[turn] = ours();
        bare_ns[turn] = bare();
        if (turn % 2 == 1)
            ours_ns[turn] = ours();
    }
    (void)printf("%s\t%.9g\t%.9g\n", name, bc_median(ours_ns, (size_t)turns),
                 bc_median(bare_ns, (size_t)turns));
}

/* The time in calls of a loop, which does nothing else, by a snapshot of its own. */
static void inside_of(const char *name, double (*loop)(void), int times)
{
    MPIX_Monitor handle = {.profile = 1, .calls = 1};
    MPIX_Monitor_request request;
    static MPIX_Monitor_row rows[64];
    int count = 0;
    (void)MPIX_Start_monitor(&request, &handle, NULL);
    const double took_ns = loop() * times;
    (void)MPIX_End_monitor(&request, &handle);
    (void)MPIX_Get_monitor(&request, rows, 64, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].kind, "total") == 0)
            (void)printf("%s\t%.9g\t%.9g\n", name, rows[i].in_calls_s * 1e9, took_ns);
}

/* Tests a receive whose message comes after the loop, by a snapshot of everything. */
static void poll_receive(void)
{
#define SET_FLAG(Flag) .Flag = 1,
    MPIX_Monitor handle = {.profile = 1, MONITOR_FLAGS(SET_FLAG)};
#undef SET_FLAG
    MPIX_Monitor_request request;
    static MPIX_Monitor_row rows[256];
    int count = 0;
    (void)MPIX_Start_monitor(&request, &handle, NULL);
    MPI_Irecv(received, 1, MPI_CHAR, 0, 0, comm, &never[0]);
    const double took_ns = test() * TESTS;
    MPI_Send("", 1, MPI_CHAR, 0, 0, comm);
    MPI_Wait(&never[0], MPI_STATUS_IGNORE);
    (void)MPIX_End_monitor(&request, &handle);
    (void)MPIX_Get_monitor(&request, rows, 256, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].kind, "sizes") == 0 && strcmp(rows[i].operation, "MPI_Irecv") == 0)
            (void)printf("not computed while MPI_Test polls\t%.9g\t%.9g\n",
                         took_ns - rows[i].computed_s * 1e9, took_ns);
}

int main(int argc, char **argv)
{
    const bool multiple = argc == 2 && strcmp(argv[1], "multiple") == 0;
    int provided;
    BC_MPI(MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                           &provided));
    BC_MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    tick_ns = ticks_ns();
    while (fflush(stdout) == 0) {
        MPIX_Monitor handle = {.profile = 1, .pttopt = 1, .coll = 1, .calls = 1};
        MPIX_Monitor_request request;
        (void)MPIX_Start_monitor(&request, &handle, NULL);
        pair("MPI_Waitany of 2,000 requests", waitany, bare_waitany, 2);
        post_all();
        if (!multiple)
            pair("what MPI_Test takes more", added_to_test, two_readings, TURNS_MAX);
        (void)MPIX_End_monitor(&request, &handle);
        inside_of("time in calls of MPI_Test", test, TESTS);
        inside_of("time in calls of MPI_Testsome of 1,000", testsome, SOME);
        cancel_all();
        poll_receive();
    }
    return 1;
}
