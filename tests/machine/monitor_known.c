/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers in place of the monitor that add a known time to each call, for monitor_overhead to
 * find.
 *
 * Each wrapper reads the clock until a time has passed: KNOWN_NS outside of a snapshot and twice
 * that inside. A row's mode "on" less its mode "off" is thus the time by which wrappers took longer
 * inside, which they note; the cost of readings cancels. Without KNOWN_NS, and with 0, wrappers
 * only call the function.
 *
 * At the end stderr has that time and the cost of a reading of the clock.
 */
#include "monitor/lib/count/ticks.h"
#include "monitor/lib/mpirtmon.h"

#include <stdbool.h>
#include <stdlib.h>

/* A wrapper that took longer than it was told to by more than this was stopped: it isn't counted,
   as the medians of monitor_overhead are not moved by its batch. */
#define STOP_NS 500.0

/* The wrappers of one mode. */
struct mode {
    uint64_t wanted_ticks, spent_ticks, times;
};

static struct mode off, on;
static struct mode *now_in = &off;
static bool spends;
static uint64_t stop_ticks;

__attribute__((constructor)) static void begin(void)
{
    const char *const text = getenv("KNOWN_NS");
    const double known_ns = text != NULL ? strtod(text, NULL) : 0.0;
    spends = known_ns > 0.0;
    off.wanted_ticks = (uint64_t)(known_ns / ticks_ns());
    on.wanted_ticks = 2 * off.wanted_ticks;
    stop_ticks = (uint64_t)(STOP_NS / ticks_ns());
}

static double mean_ns(const struct mode *mode)
{
    return mode->times > 0 ? (double)mode->spent_ticks / (double)mode->times * ticks_ns() : 0.0;
}

__attribute__((destructor)) static void end(void)
{
    (void)fprintf(stderr, "known: %.2f ns, reading: %.2f ns\n", mean_ns(&on) - mean_ns(&off),
                  (double)ticks_cost() * ticks_ns());
}

static void spend(void)
{
    struct mode *const mode = now_in;
    const uint64_t start = ticks_now();
    uint64_t now;
    do
        now = ticks_now();
    while (now - start < mode->wanted_ticks);
    if (now - start < mode->wanted_ticks + stop_ticks) {
        mode->spent_ticks += now - start;
        mode->times++;
    }
}

#define SLOW(Name, parameters, arguments)                                                          \
    int MPI_##Name parameters                                                                      \
    {                                                                                              \
        if (spends)                                                                                \
            spend();                                                                               \
        return PMPI_##Name arguments;                                                              \
    }

SLOW(Isend,
     (const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
      MPI_Request *request),
     (buf, count, type, to, tag, comm, request))
SLOW(Irecv,
     (void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
      MPI_Request *request),
     (buf, count, type, from, tag, comm, request))
SLOW(Send, (const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
     (buf, count, type, to, tag, comm))
SLOW(Recv,
     (void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
      MPI_Status *status),
     (buf, count, type, from, tag, comm, status))
SLOW(Wait, (MPI_Request * request, MPI_Status *status), (request, status))
SLOW(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
     (count, requests, statuses))
SLOW(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))
SLOW(Start, (MPI_Request * request), (request))
SLOW(Put,
     (const void *origin, int count, MPI_Datatype type, int target, MPI_Aint displacement,
      int target_count, MPI_Datatype target_type, MPI_Win win),
     (origin, count, type, target, displacement, target_count, target_type, win))
SLOW(Win_flush, (int target, MPI_Win win), (target, win))
SLOW(Barrier, (MPI_Comm comm), (comm))
SLOW(Allreduce,
     (const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sent, received, count, type, op, comm))
SLOW(Iallreduce,
     (const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
      MPI_Request *request),
     (sent, received, count, type, op, comm, request))

int MPIX_Start_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle, FILE *f)
{
    (void)request, (void)handle, (void)f;
    now_in = &on;
    return MPIX_MONITOR_SUCCESS;
}

int MPIX_End_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle)
{
    (void)request, (void)handle;
    now_in = &off;
    return MPIX_MONITOR_SUCCESS;
}

const char *MPIX_Monitor_error_string(int code)
{
    (void)code;
    return "";
}
