/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of functions.def. functions.c includes this file for each language and size of counts,
 * so it has no guard. An includer defines LARGE_COUNTS, COUNT, DISPLACEMENT, ADDRESS, and:
 *
 *   FUNCTION(Name, parameters, arguments, remembers)  the head of a definition; `remembers` is true
 *                           if it does more than to count
 *   KEY(Name)                what identifies the function in all languages
 *   IS_OBSERVED(key, return_address)  true if another wrapper observes this call
 *   PASS(Name, arguments)    the next definition's call, without an observer
 *   NEXT(Name, arguments)    the same, observed: returns the error
 *   PASS_FREE(Name, arguments)  PASS of a call that frees a communicator
 *   IS_FOUND(Name)           true if the next definitions have been found
 *   TAKE(parameters, arguments)  declares the C arguments in another language's wrapper
 *   HANDLE_AT(Kind, address) the handle at this address
 *   KEEP_STATUS(arguments)   replaces the status, the last argument, if the program ignores it
 *   RETURNED_STATUS          that status after the call
 *   RETURN_ADDRESS           of the wrapper's call
 *   EACH_TYPE                how an array of datatypes is stored: see bytes_of_blocks
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
    OBSERVER(Name, monitored, parameters, arguments, TAKE(parameters, arguments) before, after)

/* Defines such a wrapper, which doesn't look at the arguments. */
#define OBSERVER(Name, monitored, parameters, arguments, before, after)                            \
    FUNCTION(Name, parameters, arguments, false)                                                   \
    {                                                                                              \
        if (!(monitored) || IS_OBSERVED(KEY(Name), RETURN_ADDRESS))                                \
            return PASS(Name, arguments);                                                          \
        site_enter(RETURN_ADDRESS);                                                                \
        before;                                                                                    \
        const int error = NEXT(Name, arguments);                                                   \
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
            begin, return operation_posted(&operation, error, HANDLE_AT(Request, request)))

/* Defines the wrapper of a function after whose success the monitor remembers an object, inside the
   call, monitored or not. `leave` returns its result. */
#define REMEMBERING(Name, parameters, arguments, enter, remember, leave)                           \
    FUNCTION(Name, parameters, arguments, true)                                                    \
    {                                                                                              \
        if (IS_OBSERVED(KEY(Name), RETURN_ADDRESS))                                                \
            return PASS(Name, arguments);                                                          \
        site_enter(RETURN_ADDRESS);                                                                \
        TAKE(parameters, arguments) enter;                                                         \
        const int error = NEXT(Name, arguments);                                                   \
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
             (UNPACK arguments, status), KEEP_STATUS((UNPACK arguments, status));                  \
             BEGIN_MESSAGE(Name, __VA_ARGS__), RETURNED_STATUS)

#define MESSAGE(Name, parameters, arguments, ...)                                                  \
    NONBLOCKING(Name, CLASS_POINT_TO_POINT, parameters, arguments, BEGIN_MESSAGE(Name, __VA_ARGS__))

#define PERSISTENT(Name, parameters, arguments, sent_bytes, destination, does_receive)             \
    REMEMBERED(Name, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request),      \
               const struct plan plan = {OPERATION_##Name, communicator_index(comm),               \
                                         SENT(sent_bytes, destination), does_receive};             \
               persistent_made(HANDLE_AT(Request, request), &plan))

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
               persistent_made(HANDLE_AT(Request, request), &plan))
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
    MAKING(Name, comm, making_ends(&making); window_created(HANDLE_AT(Win, win), comm),            \
                                             making_returned(&making, error), parameters,          \
                                             arguments)
#define CREATION(Name, comm, newcomm, parameters, arguments)                                       \
    MAKING(Name, comm, making_ends(&making);                                                       \
           communicator_created(HANDLE_AT(Comm, newcomm), "MPI_" #Name),                           \
           making_returned(&making, error), parameters, arguments)

/* The duplicate has its handle at once; the program may use it when the request is complete. */
#define DUPLICATION(Name, comm, newcomm, request, parameters, arguments)                           \
    MAKING(Name, comm, communicator_duplicated(HANDLE_AT(Comm, newcomm), comm, "MPI_" #Name),      \
           making_posted(&making, error, HANDLE_AT(Request, request)), parameters, arguments)

#define BEGIN_OF_FILE(Name, asked_bytes)                                                           \
    operation_begin_at(&operation, OPERATION_##Name, NO_COMMUNICATOR,                              \
                       (struct sent){.bytes = (asked_bytes)}, false)

#define FILE_CALL(Name, asked_bytes, parameters, arguments)                                        \
    BLOCKING(Name, CLASS_FILES, parameters, arguments, BEGIN_OF_FILE(Name, asked_bytes), NULL)

#define FILE_START(Name, asked_bytes, request, parameters, arguments)                              \
    WRAPPER(Name, is_monitored(CLASS_FILES), parameters, arguments, struct operation operation;    \
            BEGIN_OF_FILE(Name, asked_bytes),                                                      \
            return operation_posted(&operation, error, HANDLE_AT(Request, request)))

/* Completes the operations on `win` at one target or at all targets. */
#define SYNCHRONISATION(Name, win, target, parameters, arguments)                                  \
    WRAPPER(Name, is_monitored(CLASS_POINT_TO_POINT), parameters, arguments, struct mpi_call call; \
            call_enter(&call, OPERATION_##Name);                                                   \
            const struct ending ending = window_take(win, target, IS_LOCAL(OPERATION_##Name)),     \
            return synchronisation_returned(&call, &ending, error))

#define CALL(Name, communicator, parameters, arguments)                                            \
    WRAPPER(Name, is_monitored(CLASS_CALLS), parameters, arguments, struct mpi_call call;          \
            call_enter(&call, OPERATION_##Name), return call_returned(&call, communicator, error))

#define WITH_NAMED(MACRO, ...) MACRO(__VA_ARGS__)
#define OTHER(Name, ...) WITH_NAMED(OTHER_CALL, Name, NAMED(__VA_ARGS__))
#define OTHER_CALL(Name, parameters, arguments)                                                    \
    OBSERVER(Name, is_monitored(CLASS_CALLS), parameters, arguments, struct mpi_call call;         \
             const bool entered = other_enter(&call), return other_left(&call, entered, error))
#define DATATYPE(Name, ...) WITH_NAMED(REMEMBERED, Name, NAMED(__VA_ARGS__), datatype_made())
/* Programs call these also before MPI_Init. */
#define ANY_THREAD(Name, ...) WITH_NAMED(CALL_OF_ANY_THREAD, Name, NAMED(__VA_ARGS__))
#define CALL_OF_ANY_THREAD(Name, parameters, arguments)                                            \
    OBSERVER(Name, is_found_and_monitored(IS_FOUND(Name)), parameters, arguments,                  \
             struct mpi_call call;                                                                 \
             call_enter(&call, OPERATION_OTHER_MPI), call_left_by_any_thread(&call, ticks_now());  \
             return error)

#define MATCHED_PROBE(Name, is_found, parameters, arguments)                                       \
    REMEMBERING(Name, parameters, arguments, struct mpi_call call;                                 \
                const bool entered = call_enter_if_monitored(&call, OPERATION_##Name),             \
                if (is_found) message_found(HANDLE_AT(Message, message), comm),                    \
                entered ? call_returned(&call, communicator_index(comm), error) : error)

/* Receives of a message that a probe has found. */
#define MATCHED_RECEIVE(Name, parameters, arguments)                                               \
    BLOCKING_MATCHED(Name, (UNPACK parameters, MPI_Status * status), (UNPACK arguments, status))
#define BLOCKING_MATCHED(Name, parameters, arguments)                                              \
    FUNCTION(Name, parameters, arguments, true)                                                    \
    {                                                                                              \
        if (IS_OBSERVED(KEY(Name), RETURN_ADDRESS))                                                \
            return PASS(Name, arguments);                                                          \
        site_enter(RETURN_ADDRESS);                                                                \
        TAKE(parameters, arguments) struct operation operation;                                    \
        if (!begin_matched(&operation, OPERATION_##Name, HANDLE_AT(Message, message)))             \
            return PASS(Name, arguments);                                                          \
        KEEP_STATUS(arguments);                                                                    \
        const int error = NEXT(Name, arguments);                                                   \
        return operation_returned(&operation, error, RETURNED_STATUS);                             \
    }
#define MATCHED_START(Name, parameters, arguments)                                                 \
    REMEMBERING(Name, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request),     \
                struct operation operation;                                                        \
                const bool monitored =                                                             \
                    begin_matched(&operation, OPERATION_##Name, HANDLE_AT(Message, message)),      \
                (void)operation,                                                                   \
                monitored ? operation_posted(&operation, error, HANDLE_AT(Request, request))       \
                          : error)

/* Frees of communicators. One stays known until it is freed, since the program's functions that
   delete its attributes may use it. */
#define FREEING(Name, comm, parameters, arguments)                                                 \
    FUNCTION(Name, parameters, arguments, true)                                                    \
    {                                                                                              \
        if (IS_OBSERVED(KEY(Name), RETURN_ADDRESS))                                                \
            return PASS_FREE(Name, arguments);                                                     \
        site_enter(RETURN_ADDRESS);                                                                \
        TAKE(parameters, arguments)                                                                \
        struct freeing freeing = freeing_begin(OPERATION_##Name, HANDLE_AT(Comm, comm));           \
        const int error = NEXT(Name, arguments);                                                   \
        return freeing_end(&freeing, error);                                                       \
    }

/* Collectives that complete the operations on a window, and may free it. */
#define CLOSING(Name, win, monitored, closed, parameters, arguments)                               \
    FUNCTION(Name, parameters, arguments, true)                                                    \
    {                                                                                              \
        if (!(monitored) || IS_OBSERVED(KEY(Name), RETURN_ADDRESS))                                \
            return PASS(Name, arguments);                                                          \
        site_enter(RETURN_ADDRESS);                                                                \
        TAKE(parameters, arguments) struct closing closing = closing_begin(OPERATION_##Name, win); \
        const int error = closing_end(&closing, NEXT(Name, arguments));                            \
        closed;                                                                                    \
        return error;                                                                              \
    }

#define BY_HAND(Name, Class)
#define BY_HAND_OTHER(Name)

#define ROW(KIND, ...) KIND(__VA_ARGS__)
#include "monitor/lib/count/functions.def"

#undef COUNT
#undef DISPLACEMENT
#undef ADDRESS
#undef FUNCTION
#undef KEY
#undef PASS

/* NOLINTEND(bugprone-macro-parentheses) */
