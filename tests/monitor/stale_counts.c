/*
 * A layer under the monitor, so linked after it: an MPI library whose MPI_Isendrecv and
 * MPI_Isendrecv_replace leave in the status what an earlier message left there, as MPICH 5.1 does:
 * here always one byte. They are complete when they return.
 */
#include <mpi.h>
#include <stddef.h>

#if MPI_VERSION >= 4

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
