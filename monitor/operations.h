/*
 * The operations that the monitor counts: one for each row of functions.def, three for a
 * collective's.
 */
#ifndef MONITOR_OPERATIONS_H
#define MONITOR_OPERATIONS_H

#include <mpi.h>

/* The table without its _c functions, which count as the others: COUNT and DISPLACEMENT are not
 * looked at. */
#define LARGE_COUNTS 0

enum operation_kind {
#define SEND(Name, ...) OPERATION_##Name,
#define RECEIVE(Name, ...) OPERATION_##Name,
#define MESSAGE(Name, ...) OPERATION_##Name,
#define PERSISTENT(Name, ...) OPERATION_##Name,
#define COLLECTIVE(Name, Nonblocking, ...)                                                         \
    OPERATION_##Name, OPERATION_##Nonblocking, OPERATION_##Name##_init,
#define ONE_SIDED(Name, ...) OPERATION_##Name,
#define ONE_SIDED_REQUEST(Name, ...) OPERATION_##Name,
#define CREATION(Name, ...) OPERATION_##Name,
#define WINDOW_CREATION(Name, ...) OPERATION_##Name,
#include "functions.def"
    /* Not in the table, since no other is like them: messages.c, communicator_calls.c,
       synchronisations.c. */
    OPERATION_Mrecv,
    OPERATION_Imrecv,
    OPERATION_Comm_idup,
    OPERATION_Comm_idup_with_info,
    OPERATION_Comm_free,
    OPERATION_Comm_disconnect,
    OPERATION_Win_fence,
    OPERATION_Win_free,
    OPERATIONS
};

enum operation_class { CLASS_POINT_TO_POINT, CLASS_COLLECTIVE, OPERATION_CLASSES };

struct operation_traits {
    const char *name; /* of the MPI function */
    enum operation_class class;
};

extern const struct operation_traits operation_traits[OPERATIONS];

#endif
