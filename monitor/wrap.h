/*
 * The wrappers of functions.def, in their forms with or without large counts, for functions.c,
 * which defines COUNT, DISPLACEMENT, FUNCTION, NEXT, BYTES_OF_BLOCKS, BYTES_OF_TYPES and
 * LARGE_COUNTS. Included twice, so without a guard.
 *
 * Each wrapper asks first whether anybody wants to know, which is all that it does while the
 * monitor is off. What makes communicators, windows and persistent requests is remembered, on or
 * off.
 */

/* `parameters` and `arguments` are lists in parentheses already.
   NOLINTBEGIN(bugprone-macro-parentheses) */

/* What is in the parentheses, for lists that something is added to. */
#define UNPACK(...) __VA_ARGS__

#define SEND(Name, parameters, arguments, sent_bytes, destination)                                 \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return NEXT(Name) arguments;                                                           \
        struct operation operation;                                                                \
        operation_begin(&operation, OPERATION_##Name, comm, SENT(sent_bytes, destination), false); \
        return operation_returned(&operation, NEXT(Name) arguments);                               \
    }

#define RECEIVE(Name, parameters, arguments, sent_bytes, destination)                              \
    INTERPOSED int FUNCTION(Name)(UNPACK parameters, MPI_Status * status)                          \
    {                                                                                              \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return NEXT(Name)(UNPACK arguments, status);                                           \
        MPI_Status own;                                                                            \
        MPI_Status *const known = status_or(status, &own);                                         \
        struct operation operation;                                                                \
        operation_begin(&operation, OPERATION_##Name, comm, SENT(sent_bytes, destination), true);  \
        return operation_received(&operation, NEXT(Name)(UNPACK arguments, known), known);         \
    }

#define MESSAGE(Name, parameters, arguments, sent_bytes, destination, does_receive)                \
    INTERPOSED int FUNCTION(Name)(UNPACK parameters, MPI_Request * request)                        \
    {                                                                                              \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return NEXT(Name)(UNPACK arguments, request);                                          \
        struct operation operation;                                                                \
        operation_begin(&operation, OPERATION_##Name, comm, SENT(sent_bytes, destination),         \
                        does_receive);                                                             \
        const int error = NEXT(Name)(UNPACK arguments, request);                                   \
        return operation_posted(&operation, error, *request);                                      \
    }

#define PERSISTENT(Name, parameters, arguments, sent_bytes, destination, does_receive)             \
    INTERPOSED int FUNCTION(Name)(UNPACK parameters, MPI_Request * request)                        \
    {                                                                                              \
        const int error = NEXT(Name)(UNPACK arguments, request);                                   \
        return persistent_made(error, *request,                                                    \
                               &(struct persistent){.kind = OPERATION_##Name,                      \
                                                    .communicator = communicator_index(comm),      \
                                                    .sent = SENT(sent_bytes, destination),         \
                                                    .receives = (does_receive)});                  \
    }

/* Declares `on`, the communicator's record, and `number`, its number. */
#define KNOW_COMMUNICATOR                                                                          \
    struct communicator described;                                                                 \
    const int number = communicator_index(comm);                                                   \
    const struct communicator *const on = communicator_record(comm, number, &described);           \
    (void)on;

#define BLOCKING_COLLECTIVE(Name, parameters, arguments, sent_bytes)                               \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        if (!is_monitored(CLASS_COLLECTIVE))                                                       \
            return NEXT(Name) arguments;                                                           \
        KNOW_COMMUNICATOR                                                                          \
        struct operation operation;                                                                \
        operation_begin_at(&operation, OPERATION_##Name, number,                                   \
                           (struct sent){.bytes = (sent_bytes)}, false);                           \
        return operation_returned(&operation, NEXT(Name) arguments);                               \
    }

#define NONBLOCKING_COLLECTIVE(Name, parameters, arguments, sent_bytes)                            \
    INTERPOSED int FUNCTION(Name)(UNPACK parameters, MPI_Request * request)                        \
    {                                                                                              \
        if (!is_monitored(CLASS_COLLECTIVE))                                                       \
            return NEXT(Name)(UNPACK arguments, request);                                          \
        KNOW_COMMUNICATOR                                                                          \
        struct operation operation;                                                                \
        operation_begin_at(&operation, OPERATION_##Name, number,                                   \
                           (struct sent){.bytes = (sent_bytes)}, false);                           \
        const int error = NEXT(Name)(UNPACK arguments, request);                                   \
        return operation_posted(&operation, error, *request);                                      \
    }

#if MPI_VERSION >= 4
#define PERSISTENT_COLLECTIVE(Name, parameters, arguments, sent_bytes)                             \
    INTERPOSED int FUNCTION(Name)(UNPACK parameters, MPI_Info info, MPI_Request * request)         \
    {                                                                                              \
        KNOW_COMMUNICATOR                                                                          \
        const int error = NEXT(Name)(UNPACK arguments, info, request);                             \
        return persistent_made(error, *request,                                                    \
                               &(struct persistent){.kind = OPERATION_##Name,                      \
                                                    .communicator = number,                        \
                                                    .sent = {.bytes = (sent_bytes)}});             \
    }
#else
#define PERSISTENT_COLLECTIVE(Name, parameters, arguments, sent_bytes)
#endif

#define COLLECTIVE(Name, Nonblocking, parameters, arguments, sent_bytes)                           \
    BLOCKING_COLLECTIVE(Name, parameters, arguments, sent_bytes)                                   \
    NONBLOCKING_COLLECTIVE(Nonblocking, parameters, arguments, sent_bytes)                         \
    PERSISTENT_COLLECTIVE(Name##_init, parameters, arguments, sent_bytes)

#define ONE_SIDED(Name, parameters, arguments, moved_bytes)                                        \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return NEXT(Name) arguments;                                                           \
        struct operation operation;                                                                \
        operation_begin_at(&operation, OPERATION_##Name, window_communicator(win),                 \
                           SENT(moved_bytes, target), false);                                      \
        const int error = NEXT(Name) arguments;                                                    \
        if (target == MPI_PROC_NULL)                                                               \
            return operation_returned(&operation, error);                                          \
        operation.posted = true;                                                                   \
        if (error == MPI_SUCCESS)                                                                  \
            window_add(win, target, &operation);                                                   \
        return error;                                                                              \
    }

#define ONE_SIDED_REQUEST(Name, parameters, arguments, moved_bytes)                                \
    INTERPOSED int FUNCTION(Name)(UNPACK parameters, MPI_Request * request)                        \
    {                                                                                              \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return NEXT(Name)(UNPACK arguments, request);                                          \
        struct operation operation;                                                                \
        operation_begin_at(&operation, OPERATION_##Name, window_communicator(win),                 \
                           SENT(moved_bytes, target), false);                                      \
        const int error = NEXT(Name)(UNPACK arguments, request);                                   \
        return operation_posted(&operation, error, *request);                                      \
    }

/* A collective that makes something, which `remember` does something with. */
#define MAKING(Name, parameters, arguments, parent, remember)                                      \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        const bool monitored = is_monitored(CLASS_COLLECTIVE);                                     \
        struct operation operation;                                                                \
        if (monitored)                                                                             \
            operation_begin(&operation, OPERATION_##Name, parent, (struct sent){0}, false);        \
        const int error = NEXT(Name) arguments;                                                    \
        if (monitored)                                                                             \
            (void)operation_returned(&operation, error);                                           \
        if (error == MPI_SUCCESS)                                                                  \
            remember;                                                                              \
        return error;                                                                              \
    }

#define CREATION(Name, parameters, arguments, parent, created)                                     \
    MAKING(Name, parameters, arguments, parent, communicator_created(*(created), "MPI_" #Name))
#define WINDOW_CREATION(Name, parameters, arguments)                                               \
    MAKING(Name, parameters, arguments, comm, window_created(*win, comm))

#include "functions.def"

#undef UNPACK
#undef KNOW_COMMUNICATOR
#undef BLOCKING_COLLECTIVE
#undef NONBLOCKING_COLLECTIVE
#undef PERSISTENT_COLLECTIVE
#undef MAKING
#undef COUNT
#undef DISPLACEMENT
#undef FUNCTION
#undef NEXT
#undef BYTES_OF_BLOCKS
#undef BYTES_OF_TYPES

/* NOLINTEND(bugprone-macro-parentheses) */
