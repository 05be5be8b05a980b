#include "monitor/lib/wrap/observers.h"

static struct handle_map message_communicators = HANDLE_MAP(12);

void message_found(MPI_Message message, MPI_Comm comm)
{
    const int communicator = communicator_index(comm);
    monitor_lock();
    (void)handle_set(&message_communicators, message_key(message), communicator);
    monitor_unlock();
}

bool begin_matched(struct operation *operation, enum operation_kind kind, MPI_Message message)
{
    monitor_lock();
    const int found = handle_remove(&message_communicators, message_key(message));
    monitor_unlock();
    const int communicator = found != HANDLE_UNKNOWN       ? found
                             : message == MPI_MESSAGE_NULL ? NULL_COMMUNICATOR
                                                           : OTHER_COMMUNICATORS;
    return begin_if_monitored(operation, kind, communicator, (struct sent){0}, true);
}

