/*
 * Is what bc_clock_measure says of a clock's cost what a reading takes in a bare loop of readings,
 * which CLOCK_MONOTONIC times from outside?
 */
#include "common/clock/clock.h"
#include "tests/this_machine/in_process.h"

#include <time.h>

enum { READINGS = 40000, TURNS = 10 };

static double measured_ns(void *context)
{
    (void)context;
    return bc_clock_measure().read_ns;
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double bare_ns(void *context)
{
    (void)context;
    const double start_ns = now_ns();
    for (int i = 0; i < READINGS; i++)
        bc_now_ns();
    return (now_ns() - start_ns) / READINGS;
}

static void pairs_of(enum bc_clock_kind kind, const char *name)
{
    if (!bc_clock_select(kind))
        in_process_not_here("there is no time stamp counter of constant rate");
    in_process_pair(name, measured_ns, bare_ns, NULL, TURNS);
}

void clock_pairs(void)
{
    pairs_of(BC_CLOCK_MONOTONIC, "clock_gettime");
    pairs_of(BC_CLOCK_WTIME, "MPI_Wtime");
}

void tsc_pairs(void) { pairs_of(BC_CLOCK_TSC, "time stamp counter"); }
