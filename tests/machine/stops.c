/* SPDX-License-Identifier: BSD-3-Clause */
/* The share of time that a thread loses, by bc_stops_watch, beside a bare loop of readings of the
   clock. A signal interrupts the thread for 100 us in every ms. */
#include "common/clock/clock.h"
#include "common/clock/stops.h"
#include "tests/machine/in_process.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

enum { PERIOD_US = 1000, HANDLER_NS = 100000, WATCH_MS = 5, TURNS = 10 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void spin(int number)
{
    (void)number;
    const int64_t start_ns = now_ns();
    while (now_ns() - start_ns < HANDLER_NS)
        ;
}

static double watched_share(void *context)
{
    (void)context;
    struct bc_stops stops = {0, 0};
    bc_stops_watch(&stops, WATCH_MS * 1e-3);
    return (double)stops.lost_ns / (double)stops.watched_ns;
}

/* A step that is longer than this is no mere reading of a clock: the shortest handler is a hundred
   times as long. */
#define LONG_NS 1000

static double bare_share(void *context)
{
    (void)context;
    const int64_t start_ns = now_ns();
    int64_t lost_ns = 0, last_ns = start_ns;
    while (last_ns - start_ns < (int64_t)WATCH_MS * 1000000) {
        const int64_t now = now_ns();
        if (now - last_ns > LONG_NS)
            lost_ns += now - last_ns;
        last_ns = now;
    }
    return (double)lost_ns / (double)(last_ns - start_ns);
}

void stops_pairs(void)
{
    const struct sigaction action = {.sa_handler = spin, .sa_flags = SA_RESTART};
    const struct itimerval period = {{0, PERIOD_US}, {0, PERIOD_US}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &period, NULL);
    in_process_pair("share of time lost", watched_share, bare_share, NULL, TURNS);
    setitimer(ITIMER_REAL, &never, NULL);
}
