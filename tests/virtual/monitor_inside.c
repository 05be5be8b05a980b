/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spends known times in known calls, for the monitor's time inside MPI: TIMES times each, between
 * two ranks on a communicator called "pair". Knows nothing of the monitor.
 *
 * usage: monitor_inside TIMES WORK_US
 */
#include "common/work/work.h"

#include <mpi.h>
#include <stdlib.h>

static MPI_Comm comm;
static int partner;
static char out[8], in[8];
static MPI_Status statuses[2];

#define UNITS_PER_US 800 /* VIRTUAL_WORK_NS is 1.25 */

static void work(double us) { bc_work((uint64_t)(us * UNITS_PER_US)); }

static void post(MPI_Request requests[2])
{
    MPI_Irecv(in, 8, MPI_CHAR, partner, 0, comm, &requests[0]);
    MPI_Isend(out, 8, MPI_CHAR, partner, 0, comm, &requests[1]);
}

/* The wait is as long as the messages. */
static void exchange(void)
{
    MPI_Request requests[2];
    post(requests);
    MPI_Waitall(2, requests, statuses);
}

/* The work hides the messages. */
static void exchange_with_work(double us)
{
    MPI_Request requests[2];
    post(requests);
    work(us);
    MPI_Waitall(2, requests, statuses);
}

/* A test that finds nothing, one that finds half of the messages, and a wait for the other half. */
static void test_twice(double us)
{
    MPI_Request requests[2];
    int flag;
    post(requests);
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    work(us);
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void start_persistent(MPI_Request requests[2])
{
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
}

/* A put with its flush, and a flush of nothing. */
static void put(MPI_Win win)
{
    MPI_Put(out, 8, MPI_CHAR, partner, 0, 8, MPI_CHAR, win);
    MPI_Win_flush(partner, win);
    MPI_Win_flush(partner, win);
}

/* Calls that neither communicate nor complete. */
static void all_else(void)
{
    MPI_Datatype type;
    int size;
    MPI_Type_contiguous(8, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    MPI_Type_free(&type);
}

/* A reduction's function calls MPI, inside a call of MPI, for a time that would show if it counted
   twice. */
static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)type;
    MPI_Barrier(MPI_COMM_SELF);
    for (int i = 0; i < *count; i++)
        ((double *)to)[i] += ((const double *)from)[i];
}

static void nested(MPI_Op op)
{
    double one = 1.0, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, op, comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int times = (int)strtol(argv[1], NULL, 10);
    const double work_us = strtod(argv[2], NULL);
    MPI_Request persistent[2];
    MPI_Win win;
    MPI_Op op;
    void *memory;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "pair");
    MPI_Comm_rank(comm, &partner);
    partner = 1 - partner;
    MPI_Recv_init(in, 8, MPI_CHAR, partner, 0, comm, &persistent[0]);
    MPI_Send_init(out, 8, MPI_CHAR, partner, 0, comm, &persistent[1]);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_lock_all(0, win);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < times; i++) {
        exchange();
        exchange_with_work(work_us);
        test_twice(work_us);
        start_persistent(persistent);
        put(win);
        all_else();
        nested(op);
    }
    MPI_Op_free(&op);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
