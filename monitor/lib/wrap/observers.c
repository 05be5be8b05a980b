/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/wrap/observers.h"

bool other_enter(struct mpi_call *call)
{
    return call_enter_if_monitored(call, OPERATION_OTHER_MPI);
}

int other_left(const struct mpi_call *call, bool entered, int error)
{
    return entered ? call_returned(call, NO_COMMUNICATOR, error) : error;
}

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

static void change_datatypes(int change)
{
    depth_prepare();
    monitor_lock();
    depth_add(DEPTH_DATATYPES, change);
    monitor_unlock();
}

void datatype_made(void) { change_datatypes(1); }
void datatype_freed(void) { change_datatypes(-1); }

/* Returns how many datatypes a datatype is made of, and sets its combiner. */
static MPI_Count datatypes_in(MPI_Datatype datatype, int *combiner)
{
#if MPI_VERSION >= 4
    MPI_Count integers, addresses, counts, datatypes;
    PMPI_Type_get_envelope_c(datatype, &integers, &addresses, &counts, &datatypes, combiner);
#else
    int integers, addresses, datatypes;
    PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, combiner);
#endif
    return datatypes;
}

void datatypes_copied(MPI_Datatype whole, MPI_Count room, const MPI_Datatype parts[],
                      enum datatypes form)
{
    int combiner;
    const MPI_Count count = datatypes_in(whole, &combiner);
    for (MPI_Count i = 0; i < count && i < room; i++) {
        (void)datatypes_in(datatype_at(parts, form, (int)i), &combiner);
        if (combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
            combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER)
            datatype_made();
    }
}
