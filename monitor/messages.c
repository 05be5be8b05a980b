/*
 * Matched probes and receives: a message's communicator is that of its probe.
 */
#include "calls.h"
#include "communicators.h"
#include "next.h"

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

#define MATCHED_RECEIVE(Function, Next, Count)                                                     \
    INTERPOSED int Function(void *buf, Count count, MPI_Datatype datatype, MPI_Message *message,   \
                            MPI_Status *status)                                                    \
    {                                                                                              \
        const int communicator = recall(*message);                                                 \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return next.Next(buf, count, datatype, message, status);                               \
        MPI_Status own;                                                                            \
        MPI_Status *const known = status_or(status, &own);                                         \
        struct operation operation;                                                                \
        operation_begin_at(&operation, OPERATION_Mrecv, communicator, (struct sent){0}, true);     \
        return operation_received(&operation, next.Next(buf, count, datatype, message, known),     \
                                  known);                                                          \
    }

#define MATCHED_NONBLOCKING_RECEIVE(Function, Next, Count)                                         \
    INTERPOSED int Function(void *buf, Count count, MPI_Datatype datatype, MPI_Message *message,   \
                            MPI_Request *request)                                                  \
    {                                                                                              \
        const int communicator = recall(*message);                                                 \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return next.Next(buf, count, datatype, message, request);                              \
        struct operation operation;                                                                \
        operation_begin_at(&operation, OPERATION_Imrecv, communicator, (struct sent){0}, true);    \
        const int error = next.Next(buf, count, datatype, message, request);                       \
        return operation_posted(&operation, error, *request);                                      \
    }

MATCHED_RECEIVE(MPI_Mrecv, Mrecv, int)
MATCHED_NONBLOCKING_RECEIVE(MPI_Imrecv, Imrecv, int)
#if MPI_VERSION >= 4
MATCHED_RECEIVE(MPI_Mrecv_c, Mrecv_c, MPI_Count)
MATCHED_NONBLOCKING_RECEIVE(MPI_Imrecv_c, Imrecv_c, MPI_Count)
#endif
