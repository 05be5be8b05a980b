/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer under the monitor, so linked after it: other MPI libraries' ways.
 *
 * After MPI_Pcontrol(n) MPI_Isend gives one request to all sends that are complete when they are
 * posted, or one to each kind of them, of which the monitor can't know before the program sends
 * (Open MPI 6 has one for sends to other processes, another for those to MPI_PROC_NULL): MPI_Isend
 * is a blocking send, which small messages survive without a posted receive, and returns the shared
 * request of kind n, from 1 on. After MPI_Pcontrol(0) it is the MPI library's again; the program
 * must have waited for all requests.
 *
 * MPI_Isendrecv and MPI_Isendrecv_replace leave in the status what an earlier message left there,
 * as in MPICH 5.1: here always one byte. They are complete when they return.
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
    MPI_Status_set_elements(status, MPI_BYTE, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
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

static int make_complete(MPI_Request *request)
{
    PMPI_Grequest_start(query, do_nothing, cancel_nothing, NULL, request);
    return PMPI_Grequest_complete(*request);
}

int MPI_Pcontrol(const int level, ...)
{
    for (int i = 0; i < KINDS && level > 0 && kind_in_use == 0; i++)
        make_complete(&shared[i]);
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

#if MPI_VERSION >= 4
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define AS_BLOCKING(Name, Blocking, parameters, arguments)                                         \
    int Name parameters                                                                            \
    {                                                                                              \
        const int error = Blocking arguments;                                                      \
        return error != MPI_SUCCESS ? error : make_complete(request);                              \
    }

#define ISENDRECV(Prefix, c, Count)                                                                \
    AS_BLOCKING(Prefix##_Isendrecv##c, PMPI_Sendrecv##c,                                           \
                (const void *sent, Count sent_count, MPI_Datatype sent_type, int dest, int tag,    \
                 void *received, Count received_count, MPI_Datatype received_type, int source,     \
                 int received_tag, MPI_Comm comm, MPI_Request *request),                           \
                (sent, sent_count, sent_type, dest, tag, received, received_count, received_type,  \
                 source, received_tag, comm, MPI_STATUS_IGNORE))                                   \
    AS_BLOCKING(Prefix##_Isendrecv_replace##c, PMPI_Sendrecv_replace##c,                           \
                (void *buffer, Count count, MPI_Datatype type, int dest, int tag, int source,      \
                 int received_tag, MPI_Comm comm, MPI_Request *request),                           \
                (buffer, count, type, dest, tag, source, received_tag, comm, MPI_STATUS_IGNORE))

ISENDRECV(MPI, , int)
ISENDRECV(PMPI, , int)
ISENDRECV(MPI, _c, MPI_Count)
ISENDRECV(PMPI, _c, MPI_Count)
/* NOLINTEND(bugprone-macro-parentheses) */
#endif
