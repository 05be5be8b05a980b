/*
 * Wrappers of matched probes and receives. The communicator of a message is that of its probe.
 */
#include "monitor/calls.h"
#include "monitor/communicators.h"
#include "monitor/next.h"

enum { MESSAGE_BITS = 12 };

static struct handle_slot message_slots[1 << MESSAGE_BITS];
static struct handle_map message_communicators = {.slots = message_slots, .bits = MESSAGE_BITS};

static void remember(MPI_Message message, MPI_Comm comm)
{
    const int communicator = communicator_index(comm);
    monitor_lock();
    (void)handle_set(&message_communicators, message_key(message), communicator);
    monitor_unlock();
}

static int recall(MPI_Message message)
{
    monitor_lock();
    const int communicator = handle_remove(&message_communicators, message_key(message));
    monitor_unlock();
    return communicator == HANDLE_UNKNOWN ? OTHER_COMMUNICATORS : communicator;
}

INTERPOSED int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                          MPI_Status *status)
{
    const int error = next.Mprobe(source, tag, comm, message, status);
    if (error == MPI_SUCCESS)
        remember(*message, comm);
    return error;
}

INTERPOSED int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                           MPI_Status *status)
{
    const int error = next.Improbe(source, tag, comm, flag, message, status);
    if (error == MPI_SUCCESS && *flag)
        remember(*message, comm);
    return error;
}

#define MATCHED_RECEIVES(suffix, Count)                                                            \
    INTERPOSED int MPI_Mrecv##suffix(void *buf, Count count, MPI_Datatype datatype,                \
                                     MPI_Message *message, MPI_Status *status)                     \
    {                                                                                              \
        const int communicator = recall(*message);                                                 \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return next.Mrecv##suffix(buf, count, datatype, message, status);                      \
        MPI_Status own;                                                                            \
        MPI_Status *const known = status_or(status, &own);                                         \
        struct operation operation;                                                                \
        operation_begin_at(&operation, OPERATION_Mrecv, communicator, (struct sent){0}, true);     \
        const int error = next.Mrecv##suffix(buf, count, datatype, message, known);                \
        return operation_received(&operation, error, known);                                       \
    }                                                                                              \
    INTERPOSED int MPI_Imrecv##suffix(void *buf, Count count, MPI_Datatype datatype,               \
                                      MPI_Message *message, MPI_Request *request)                  \
    {                                                                                              \
        const int communicator = recall(*message);                                                 \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return next.Imrecv##suffix(buf, count, datatype, message, request);                    \
        struct operation operation;                                                                \
        operation_begin_at(&operation, OPERATION_Imrecv, communicator, (struct sent){0}, true);    \
        const int error = next.Imrecv##suffix(buf, count, datatype, message, request);             \
        return operation_posted(&operation, error, *request);                                      \
    }

MATCHED_RECEIVES(, int)
#if MPI_VERSION >= 4
MATCHED_RECEIVES(_c, MPI_Count)
#endif
