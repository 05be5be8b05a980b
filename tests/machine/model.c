/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A few operations of the model MPI in real time, to compare with virtual time: a library to be
 * preloaded, in which MPI_Iallreduce, MPI_Isend and MPI_Irecv with MPI_Wait spin for the times of
 * tests/virtual/plan.h. Each rank's operations are independent and move no data. Parameters are
 * those of tests/virtual/parameters.def.
 */
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/plan.h"
#include "tests/virtual/world.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- what plan.c and parameters.c ask of the virtual machine -----------------------------------
 */

static struct world one_launch;
struct world *world = &one_launch;
int world_rank;
int64_t world_now_ns;

double clock_factor(void) { return 1.0; }

double clock_recorded_factor(uint64_t chances)
{
    (void)chances;
    return 1.0;
}

double world_random(uint64_t *state) { return (double)(*state = 0); }

void world_abort(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    exit(1);
}

/* ---- time --------------------------------------------------------------------------------------
 */

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Reads the clock once more at the end, since the branch that ends the loop is guessed wrong. */
static void spin_until(int64_t end_ns)
{
    while (now_ns() < end_ns)
        continue;
    (void)now_ns();
}

/* ---- operations --------------------------------------------------------------------------------
 */

enum { OPERATIONS = 1024, BASE = 0x51000000 };
static struct plan plans[OPERATIONS];
static bool used[OPERATIONS];

static int post(enum plan_kind kind, MPI_Count bytes, MPI_Request *request)
{
    const int64_t post_ns = now_ns();
    int i = 0;
    while (used[i])
        i++;
    used[i] = true;
    plan_make(&plans[i], kind, (int64_t)bytes, 0, 1.0);
    plan_start(&plans[i], post_ns);
    *request = (MPI_Request)(uintptr_t)(BASE + i);
    spin_until(post_ns + (int64_t)parameters.post_ns);
    return MPI_SUCCESS;
}

static MPI_Count bytes_of(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return (MPI_Count)count * size;
}

int MPI_Iallreduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    (void)sent;
    (void)received;
    (void)op;
    (void)comm;
    return post(PLAN_COLLECTIVE, bytes_of(count, type), request);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int destination, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    (void)buffer;
    (void)destination;
    (void)tag;
    (void)comm;
    return post(PLAN_SEND, bytes_of(count, type), request);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)buffer;
    (void)source;
    (void)tag;
    (void)comm;
    return post(PLAN_RECEIVE, bytes_of(count, type), request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    const int64_t call_ns = now_ns();
    const uintptr_t i = (uintptr_t)*request - BASE;
    if (i >= OPERATIONS)
        return PMPI_Wait(request, status);
    used[i] = false;
    *request = MPI_REQUEST_NULL;
    spin_until(plan_end_ns(&plans[i], call_ns) + (int64_t)(plans[i].host_ns + parameters.wait_ns));
    return MPI_SUCCESS;
}

__attribute__((constructor)) static void begin(void) { parameters_read(); }
