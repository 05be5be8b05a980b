/*
 * The operations that the monitor counts, one for each OPERATION of functions.def.
 */
#ifndef COMMCOST_MONITOR_OPERATIONS_H
#define COMMCOST_MONITOR_OPERATIONS_H

#include <mpi.h>

/* In the order of reports. */
enum operation_kind {
#define LARGE_COUNTS 0
#define OPERATION(Name, Class) OPERATION_##Name,
#include "monitor/functions.def"
    OPERATIONS
};

enum operation_class { CLASS_POINT_TO_POINT, CLASS_COLLECTIVE, OPERATION_CLASSES };

struct operation_traits {
    const char *name; /* of the MPI function */
    enum operation_class class;
};

extern const struct operation_traits operation_traits[OPERATIONS];

#endif
