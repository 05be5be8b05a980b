/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronisations that don't wait, for the test that syncbench notices: preloaded, with LAZY
 * naming the function that does nothing for communicators and windows other than the job's.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_lazy(const char *function)
{
    const char *const lazy = getenv("LAZY"); /* NOLINT(concurrency-mt-unsafe) */
    return lazy != NULL && strcmp(lazy, function) == 0;
}

int MPI_Barrier(MPI_Comm comm)
{
    return is_lazy("barrier") && comm != MPI_COMM_WORLD ? MPI_SUCCESS : PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    if (!is_lazy("ibarrier"))
        return PMPI_Ibarrier(comm, request);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    return is_lazy("allreduce") && comm != MPI_COMM_WORLD
               ? MPI_SUCCESS
               : PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Win_fence(int assertions, MPI_Win win)
{
    return is_lazy("fence") ? MPI_SUCCESS : PMPI_Win_fence(assertions, win);
}

/* Post and wait without the others: an epoch of nobody. */
int MPI_Win_post(MPI_Group group, int assertions, MPI_Win win)
{
    return is_lazy("pscw") ? MPI_SUCCESS : PMPI_Win_post(group, assertions, win);
}

int MPI_Win_start(MPI_Group group, int assertions, MPI_Win win)
{
    return is_lazy("pscw") ? MPI_SUCCESS : PMPI_Win_start(group, assertions, win);
}

int MPI_Win_complete(MPI_Win win) { return is_lazy("pscw") ? MPI_SUCCESS : PMPI_Win_complete(win); }

int MPI_Win_wait(MPI_Win win) { return is_lazy("pscw") ? MPI_SUCCESS : PMPI_Win_wait(win); }

/* The notifications of sync images. */
int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (!is_lazy("images") || count > 0)
        return PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (!is_lazy("images") || count > 0)
        return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* They don't reach other ranks, but values of this one: nobody else is in a queue. */
int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype datatype, int target,
                     MPI_Aint displacement, MPI_Op op, MPI_Win win)
{
    static int64_t alone[512]; /* by displacement */
    if (!is_lazy("atomics"))
        return PMPI_Fetch_and_op(origin, result, datatype, target, displacement, op, win);
    memcpy(result, &alone[displacement], sizeof *alone);
    memcpy(&alone[displacement], origin, sizeof *alone);
    return MPI_SUCCESS;
}

/* Everybody may hold it. */
int MPI_Win_lock(int type, int target, int assertions, MPI_Win win)
{
    return PMPI_Win_lock(is_lazy("lock") ? MPI_LOCK_SHARED : type, target, assertions, win);
}
