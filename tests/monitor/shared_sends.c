/*
 * A layer under the monitor, so linked after it: an MPI library that gives one request to all sends
 * that are complete when they are posted, or one to each of several kinds of them, which the
 * monitor can't know before the program sends (Open MPI 6 has one for sends to other processes,
 * another for those to MPI_PROC_NULL).
 *
 * After MPI_Pcontrol(n) MPI_Isend is a blocking send, which small messages survive without a posted
 * receive, and returns the shared request of kind n, from 1 on. After MPI_Pcontrol(0) it is the MPI
 * library's again; the program must have waited for all requests.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { KINDS = 12 };

/* Generalized requests, which stay complete until they are freed. */
static MPI_Request shared[KINDS];
static int kind_in_use; /* of all sends from now on; 0: sends aren't shared */

static int query(void *unused, MPI_Status *status)
{
    (void)unused;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int do_nothing(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *unused, int complete)
{
    (void)unused, (void)complete;
    return MPI_SUCCESS;
}

int MPI_Pcontrol(const int level, ...)
{
    for (int i = 0; i < KINDS && level > 0 && kind_in_use == 0; i++) {
        PMPI_Grequest_start(query, do_nothing, cancel_nothing, NULL, &shared[i]);
        PMPI_Grequest_complete(shared[i]);
    }
    for (int i = 0; i < KINDS && level == 0 && kind_in_use != 0; i++)
        PMPI_Request_free(&shared[i]);
    kind_in_use = level;
    return MPI_SUCCESS;
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (kind_in_use == 0)
        return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
    *request = shared[kind_in_use - 1];
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

static bool is_shared(MPI_Request request)
{
    for (int i = 0; kind_in_use != 0 && i < KINDS; i++)
        if (request == shared[i])
            return true;
    return false;
}

/* A shared request only seems to be freed. */
int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (!is_shared(*request))
        return PMPI_Wait(request, status);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
