/*
 * Wrappers of the functions that duplicate, name and free communicators; those that create them are
 * rows of functions.def.
 */
#include "monitor/calls.h"
#include "monitor/communicators.h"
#include "monitor/next.h"

/* The duplicate has its handle at once; the program may use it when the request is complete. */
#define DUPLICATION(Name, parameters, arguments)                                                   \
    INTERPOSED int MPI_##Name parameters                                                           \
    {                                                                                              \
        const bool monitored = is_monitored(CLASS_COLLECTIVE);                                     \
        struct operation operation;                                                                \
        if (monitored)                                                                             \
            operation_begin(&operation, OPERATION_##Name, comm, (struct sent){0}, false);          \
        const int error = next.Name arguments;                                                     \
        if (error == MPI_SUCCESS)                                                                  \
            communicator_duplicated(*newcomm, comm, "MPI_" #Name);                                 \
        return monitored ? operation_posted(&operation, error, *request) : error;                  \
    }

DUPLICATION(Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request),
            (comm, newcomm, request))

#if MPI_VERSION >= 4
DUPLICATION(Comm_idup_with_info,
            (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request),
            (comm, info, newcomm, request))

/* These communicators are made of groups, so there is no communicator that the call could count
   on. */
INTERPOSED int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info,
                                          MPI_Errhandler handler, MPI_Comm *newcomm)
{
    const int error = next.Comm_create_from_group(group, tag, info, handler, newcomm);
    if (error == MPI_SUCCESS)
        communicator_created(*newcomm, "MPI_Comm_create_from_group");
    return error;
}

INTERPOSED int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                                MPI_Group remote_group, int remote_leader,
                                                const char *tag, MPI_Info info,
                                                MPI_Errhandler handler, MPI_Comm *newcomm)
{
    const int error = next.Intercomm_create_from_groups(local_group, local_leader, remote_group,
                                                        remote_leader, tag, info, handler, newcomm);
    if (error == MPI_SUCCESS)
        communicator_created(*newcomm, "MPI_Intercomm_create_from_groups");
    return error;
}
#endif

/* The communicator stays known until it is freed: the program's functions that delete its
   attributes may still use it. */
static int free_communicator(enum operation_kind kind, int (*free_it)(MPI_Comm *), MPI_Comm *comm)
{
    const bool monitored = is_monitored(CLASS_COLLECTIVE);
    const MPI_Comm freed = *comm;
    const int number = communicator_index(freed);
    struct operation operation;
    if (monitored)
        operation_begin_at(&operation, kind, number, (struct sent){0}, false);
    const int error = free_it(comm);
    if (error == MPI_SUCCESS)
        communicator_freed(freed, number);
    return monitored ? operation_returned(&operation, error) : error;
}

INTERPOSED int MPI_Comm_free(MPI_Comm *comm)
{
    return free_communicator(OPERATION_Comm_free, next.Comm_free, comm);
}

INTERPOSED int MPI_Comm_disconnect(MPI_Comm *comm)
{
    return free_communicator(OPERATION_Comm_disconnect, next.Comm_disconnect, comm);
}

INTERPOSED int MPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    const int error = next.Comm_set_name(comm, name);
    if (error == MPI_SUCCESS)
        communicator_named(comm, name);
    return error;
}
