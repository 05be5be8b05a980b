/*
 * For readers of functions.def that want the names of its functions: with ROW defined as NAMES each
 * row is an OPERATION(Name, class) or, where it counts as "other MPI", an UNCOUNTED(Name).
 */
#ifndef COMMCOST_MONITOR_NAMES_H
#define COMMCOST_MONITOR_NAMES_H

#define NAMES(KIND, ...) NAMES_OF_##KIND(__VA_ARGS__)

#define NAMES_OF_SEND(Name, ...) OPERATION(Name, CLASS_POINT_TO_POINT)
#define NAMES_OF_RECEIVE NAMES_OF_SEND
#define NAMES_OF_MESSAGE NAMES_OF_SEND
#define NAMES_OF_PERSISTENT NAMES_OF_SEND
#define NAMES_OF_ONE_SIDED NAMES_OF_SEND
#define NAMES_OF_ONE_SIDED_REQUEST NAMES_OF_SEND
#define NAMES_OF_WINDOW_CREATION(Name, ...) OPERATION(Name, CLASS_COLLECTIVE)
#define NAMES_OF_CREATION NAMES_OF_WINDOW_CREATION
#define NAMES_OF_CALL(Name, ...) OPERATION(Name, CLASS_CALLS)
#define NAMES_OF_SYNCHRONISATION NAMES_OF_CALL
#define NAMES_OF_OTHER(Name, ...) UNCOUNTED(Name)
#define NAMES_OF_ANY_THREAD NAMES_OF_OTHER
#define NAMES_OF_REMEMBERED NAMES_OF_OTHER
#define NAMES_OF_BY_HAND OPERATION
#define NAMES_OF_BY_HAND_OTHER UNCOUNTED
#define NAMES_OF_COLLECTIVE(Name, Nonblocking, ...)                                                \
    OPERATION(Name, CLASS_COLLECTIVE)                                                              \
    OPERATION(Nonblocking, CLASS_COLLECTIVE) NAMES_OF_PERSISTENT_COLLECTIVE(Name##_init)
#if MPI_VERSION >= 4
#define NAMES_OF_PERSISTENT_COLLECTIVE(Name) OPERATION(Name, CLASS_COLLECTIVE)
#else
#define NAMES_OF_PERSISTENT_COLLECTIVE(Name)
#endif

#endif
