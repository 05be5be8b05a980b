/*
 * Wrappers of functions.def. functions.c includes this file twice, so it has no guard, and defines
 * COUNT, DISPLACEMENT, FUNCTION, NEXT and LARGE_COUNTS.
 *
 * A wrapper first asks whether any snapshot counts the function. While the monitor is off, that is
 * all. Communicators, windows and persistent requests are remembered when they are made, on or
 * off.
 */

/* `parameters` and `arguments` are lists in parentheses already.
   NOLINTBEGIN(bugprone-macro-parentheses) */

#define UNPACK(...) __VA_ARGS__

/* Defines a wrapper. If it is monitored, `before` and `after` surround the call, whose result is
   `error`, and `after` returns. */
#define WRAPPER(Name, monitored, parameters, arguments, before, after)                             \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        if (!(monitored))                                                                          \
            return NEXT(Name) arguments;                                                           \
        site_enter(__builtin_return_address(0));                                                   \
        before;                                                                                    \
        const int error = NEXT(Name) arguments;                                                    \
        after;                                                                                     \
    }

/* Defines the wrapper of a blocking function. `begin` begins `operation`; `received` is the
   status of a receiving operation, else NULL. */
#define BLOCKING(Name, Class, parameters, arguments, begin, received)                              \
    WRAPPER(Name, is_monitored(Class), parameters, arguments, struct operation operation;          \
            begin, return operation_returned(&operation, error, received))

/* Defines the wrapper of a non-blocking function. */
#define NONBLOCKING(Name, Class, parameters, arguments, begin)                                     \
    WRAPPER(Name, is_monitored(Class), (UNPACK parameters, MPI_Request * request),                 \
            (UNPACK arguments, request), struct operation operation;                               \
            begin, return operation_posted(&operation, error, *request))

/* Defines the wrapper of a function after whose success the monitor remembers an object, inside the
   call, monitored or not. `leave` returns its result. */
#define REMEMBERING(Name, parameters, arguments, enter, remember, leave)                           \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        site_enter(__builtin_return_address(0));                                                   \
        enter;                                                                                     \
        const int error = NEXT(Name) arguments;                                                    \
        if (error == MPI_SUCCESS) {                                                                \
            remember;                                                                              \
        }                                                                                          \
        return leave;                                                                              \
    }

/* Defines such a wrapper of a function without a row of its own. */
#define REMEMBERED(Name, parameters, arguments, ...)                                               \
    REMEMBERING(Name, parameters, arguments, struct mpi_call call;                                 \
                const bool entered = other_enter(&call), UNPACK(__VA_ARGS__),                      \
                other_left(&call, entered, error))

#define BEGIN_MESSAGE(Name, sent_bytes, destination, does_receive)                                 \
    operation_begin(&operation, OPERATION_##Name, comm, SENT(sent_bytes, destination), does_receive)

#define SEND(Name, parameters, arguments, ...)                                                     \
    BLOCKING(Name, CLASS_POINT_TO_POINT, parameters, arguments, BEGIN_MESSAGE(Name, __VA_ARGS__),  \
             NULL)

#define RECEIVE(Name, parameters, arguments, ...)                                                  \
    BLOCKING(Name, CLASS_POINT_TO_POINT, (UNPACK parameters, MPI_Status * status),                 \
             (UNPACK arguments, status), MPI_Status own;                                           \
             status = status == MPI_STATUS_IGNORE ? &own : status;                                 \
             BEGIN_MESSAGE(Name, __VA_ARGS__), status)

#define MESSAGE(Name, parameters, arguments, ...)                                                  \
    NONBLOCKING(Name, CLASS_POINT_TO_POINT, parameters, arguments, BEGIN_MESSAGE(Name, __VA_ARGS__))

#define PERSISTENT(Name, parameters, arguments, sent_bytes, destination, does_receive)             \
    REMEMBERED(Name, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request),      \
               const struct plan plan = {OPERATION_##Name, communicator_index(comm),               \
                                         SENT(sent_bytes, destination), does_receive};             \
               persistent_made(*request, &plan))

#define KNOW_COMMUNICATOR                                                                          \
    struct communicator described;                                                                 \
    const int number = communicator_index(comm);                                                   \
    const struct communicator *const on = communicator_record(comm, number, &described);           \
    (void)on

/* Reads the clock first of all: sums over blocks and `its_part` take time. */
#define BEGIN_COLLECTIVE(Name, its_part, sent_bytes, size_bytes)                                   \
    const uint64_t called_ticks = ticks_now();                                                     \
    KNOW_COMMUNICATOR;                                                                             \
    const enum late_part part = (its_part);                                                        \
    operation_begin_called(                                                                        \
        &operation, OPERATION_##Name, number,                                                      \
        (struct sent){.bytes = (sent_bytes), .size = are_sizes_counted() ? (size_bytes) : 0},      \
        called_ticks);                                                                             \
    operation.part = (uint8_t)part

#if MPI_VERSION >= 4
#define PERSISTENT_COLLECTIVE(Name, parameters, arguments, sent_bytes, size_bytes)                 \
    REMEMBERED(Name, (UNPACK parameters, MPI_Info info, MPI_Request * request),                    \
               (UNPACK arguments, info, request), KNOW_COMMUNICATOR;                               \
               const struct plan plan = {OPERATION_##Name,                                         \
                                         number,                                                   \
                                         {.bytes = (sent_bytes), .size = (size_bytes)},            \
                                         false};                                                   \
               persistent_made(*request, &plan))
#else
#define PERSISTENT_COLLECTIVE(Name, parameters, arguments, sent_bytes, size_bytes)
#endif

#define COLLECTIVE(Name, Nonblocking, parameters, arguments, sent_bytes, size_bytes, part)         \
    BLOCKING(Name, CLASS_COLLECTIVE, parameters, arguments,                                        \
             BEGIN_COLLECTIVE(Name, part, sent_bytes, size_bytes), NULL)                           \
    NONBLOCKING(Nonblocking, CLASS_COLLECTIVE, parameters, arguments,                              \
                BEGIN_COLLECTIVE(Nonblocking, LATE_NOT_COMPARED, sent_bytes, size_bytes))          \
    PERSISTENT_COLLECTIVE(Name##_init, parameters, arguments, sent_bytes, size_bytes)

#define BEGIN_ONE_SIDED(Name, moved_bytes)                                                         \
    operation_begin_at(&operation, OPERATION_##Name, window_communicator(win),                     \
                       SENT(moved_bytes, target), false)

#define ONE_SIDED(Name, parameters, arguments, moved_bytes)                                        \
    WRAPPER(Name, is_monitored(CLASS_POINT_TO_POINT), parameters, arguments,                       \
            struct operation operation;                                                            \
            BEGIN_ONE_SIDED(Name, moved_bytes),                                                    \
            return one_sided_returned(&operation, error, win, target))

#define ONE_SIDED_REQUEST(Name, parameters, arguments, moved_bytes)                                \
    NONBLOCKING(Name, CLASS_POINT_TO_POINT, parameters, arguments, window_unsure(win);             \
                BEGIN_ONE_SIDED(Name, moved_bytes))

/* Defines the wrapper of a collective on `comm` that makes an object. */
#define MAKING(Name, comm, remember, leave, parameters, arguments)                                 \
    REMEMBERING(Name, parameters, arguments,                                                       \
                struct making making = making_begin(OPERATION_##Name, comm), remember, leave)

#define WINDOW_CREATION(Name, comm, win, parameters, arguments)                                    \
    MAKING(Name, comm, making_ends(&making);                                                       \
           window_created(*(win), comm), making_returned(&making, error), parameters, arguments)
#define CREATION(Name, comm, newcomm, parameters, arguments)                                       \
    MAKING(Name, comm, making_ends(&making); communicator_created(*(newcomm), "MPI_" #Name),       \
                                             making_returned(&making, error), parameters,          \
                                             arguments)

/* The duplicate has its handle at once; the program may use it when the request is complete. */
#define DUPLICATION(Name, comm, newcomm, request, parameters, arguments)                           \
    MAKING(Name, comm, communicator_duplicated(*(newcomm), comm, "MPI_" #Name),                    \
           making_posted(&making, error, *(request)), parameters, arguments)

#define BEGIN_OF_FILE(Name, asked_bytes)                                                           \
    operation_begin_at(&operation, OPERATION_##Name, NO_COMMUNICATOR,                              \
                       (struct sent){.bytes = (asked_bytes)}, false)

#define FILE_CALL(Name, asked_bytes, parameters, arguments)                                        \
    BLOCKING(Name, CLASS_FILES, parameters, arguments, BEGIN_OF_FILE(Name, asked_bytes), NULL)

#define FILE_START(Name, asked_bytes, request, parameters, arguments)                              \
    WRAPPER(Name, is_monitored(CLASS_FILES), parameters, arguments, struct operation operation;    \
            BEGIN_OF_FILE(Name, asked_bytes),                                                      \
            return operation_posted(&operation, error, *(request)))

/* Completes the operations on `win` at one target or at all targets. */
#define SYNCHRONISATION(Name, win, target, parameters, arguments)                                  \
    WRAPPER(Name, is_monitored(CLASS_POINT_TO_POINT), parameters, arguments, struct mpi_call call; \
            call_enter(&call, OPERATION_##Name);                                                   \
            const struct ending ending = window_take(win, target, IS_LOCAL(OPERATION_##Name)),     \
            return synchronisation_returned(&call, &ending, error))

#define TIMED_CALL(Name, Kind, communicator, parameters, arguments)                                \
    WRAPPER(Name, is_monitored(CLASS_CALLS), parameters, arguments, struct mpi_call call;          \
            call_enter(&call, Kind), return call_returned(&call, communicator, error))
#define CALL(Name, communicator, parameters, arguments)                                            \
    TIMED_CALL(Name, OPERATION_##Name, communicator, parameters, arguments)

#define WITH_NAMED(MACRO, ...) MACRO(__VA_ARGS__)
#define OTHER(Name, ...)                                                                           \
    WITH_NAMED(TIMED_CALL, Name, OPERATION_OTHER_MPI, NO_COMMUNICATOR, NAMED(__VA_ARGS__))
/* Programs call these also before MPI_Init. */
#define ANY_THREAD(Name, ...) WITH_NAMED(CALL_OF_ANY_THREAD, Name, NAMED(__VA_ARGS__))
#define CALL_OF_ANY_THREAD(Name, parameters, arguments)                                            \
    WRAPPER(Name, is_found_and_monitored(NEXT(Name) != NULL), parameters, arguments,               \
            struct mpi_call call;                                                                  \
            call_enter(&call, OPERATION_OTHER_MPI), call_left_by_any_thread(&call, ticks_now());   \
            return error)

#define MATCHED_PROBE(Name, is_found, parameters, arguments)                                       \
    REMEMBERING(Name, parameters, arguments, struct mpi_call call;                                 \
                const bool entered = call_enter_if_monitored(&call, OPERATION_##Name),             \
                if (is_found) message_found(*message, comm),                                       \
                entered ? call_returned(&call, communicator_index(comm), error) : error)

#define BY_HAND(Name, Class)
#define BY_HAND_OTHER(Name)

#define ROW(KIND, ...) KIND(__VA_ARGS__)
#include "monitor/lib/count/functions.def"

INTERPOSED int FUNCTION(Mrecv)(void *buf, COUNT count, MPI_Datatype datatype, MPI_Message *message,
                               MPI_Status *status)
{
    struct operation operation;
    MPI_Status own;
    site_enter(__builtin_return_address(0));
    if (!begin_matched(&operation, OPERATION_Mrecv, *message))
        return NEXT(Mrecv)(buf, count, datatype, message, status);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    const int error = NEXT(Mrecv)(buf, count, datatype, message, status);
    return operation_returned(&operation, error, status);
}

INTERPOSED int FUNCTION(Imrecv)(void *buf, COUNT count, MPI_Datatype datatype, MPI_Message *message,
                                MPI_Request *request)
{
    struct operation operation;
    site_enter(__builtin_return_address(0));
    const bool monitored = begin_matched(&operation, OPERATION_Imrecv, *message);
    const int error = NEXT(Imrecv)(buf, count, datatype, message, request);
    return monitored ? operation_posted(&operation, error, *request) : error;
}

#undef COUNT
#undef DISPLACEMENT
#undef ADDRESS
#undef FUNCTION
#undef NEXT

/* NOLINTEND(bugprone-macro-parentheses) */
