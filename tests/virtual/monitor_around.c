/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes for known times after known calls, and makes calls that could have been part of others:
 * TIMES times each, between two ranks on a communicator called "pair". Knows nothing of the
 * monitor.
 *
 * usage: monitor_around TIMES WORK_US
 */
#include "common/work/work.h"

#include <mpi.h>
#include <stdlib.h>

static MPI_Comm comm;
static int rank, partner;
static char out[8], in[2][8];

#define UNITS_PER_US 800 /* VIRTUAL_WORK_NS is 1.25 */

static void work(double us) { bc_work((uint64_t)(us * UNITS_PER_US)); }

/* A wait for two receives, and work after it. */
static void work_after_a_wait(double us)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(in[i], 8, MPI_CHAR, partner, i, comm, &requests[i]);
    MPI_Ssend(out, 8, MPI_CHAR, partner, 0, comm);
    MPI_Ssend(out, 8, MPI_CHAR, partner, 1, comm);
    MPI_Waitall(2, requests, statuses);
    work(us);
}

/* Of the work after it, half belongs to each of the two. */
static void work_after_both(double us)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(in[0], 8, MPI_CHAR, partner, 0, comm, &requests[0]);
    MPI_Isend(out, 8, MPI_CHAR, partner, 0, comm, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    work(us);
}

/* Of one function three at once and one with work before it, and one after another function. */
static void reduce(double us)
{
    double one = 1.0, sum;
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    work(us);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, in[0], 1, MPI_CHAR, comm);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Barrier(comm);
}

/* Two messages to the partner before it answers, and one after each answer. Rank 0 begins. */
static void send(void)
{
    static const int before_answers[] = {2, 1, 1};
    for (int i = 0; i < 3; i++)
        for (int turn = 0; turn < 2; turn++)
            for (int k = 0; k < before_answers[i]; k++)
                if (turn == rank)
                    MPI_Send(out, 8, MPI_CHAR, partner, 0, comm);
                else
                    MPI_Recv(in[0], 8, MPI_CHAR, partner, 0, comm, MPI_STATUS_IGNORE);
}

/* Three puts with one flush, and one with its own; rank 0 only. */
static void put(MPI_Win win)
{
    for (int i = 0; i < 4; i++) {
        MPI_Put(out, 8, MPI_CHAR, partner, 0, 8, MPI_CHAR, win);
        if (i >= 2)
            MPI_Win_flush(partner, win);
    }
}

/* Flushes that complete nothing that the monitor sees: one has nothing to do, but two complete at
   the target what was complete here; rank 0 only. */
static void flush(MPI_Win win)
{
    MPI_Request request;
    MPI_Win_flush(partner, win);
    MPI_Rput(out, 8, MPI_CHAR, partner, 0, 8, MPI_CHAR, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(partner, win);
    MPI_Win_flush_all(win);
    MPI_Put(out, 8, MPI_CHAR, partner, 0, 8, MPI_CHAR, win);
    MPI_Win_flush_local(partner, win);
    MPI_Win_flush(partner, win);
    MPI_Win_flush_all(win);
}

enum { POLLS = 100 };

/* Calls that take no time themselves, one after the other. */
static void poll(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int flag;
    for (int i = 0; i < POLLS; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int times = (int)strtol(argv[1], NULL, 10);
    const double work_us = strtod(argv[2], NULL);
    MPI_Win win;
    void *memory;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "pair");
    MPI_Comm_rank(comm, &rank);
    partner = 1 - rank;
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < times; i++) {
        work_after_a_wait(work_us);
        work_after_both(work_us);
        reduce(work_us);
        send();
        if (rank == 0) {
            put(win);
            flush(win);
        }
        poll();
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
