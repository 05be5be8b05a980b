/*
 * The wrappers of functions.def. functions.c includes this twice, so it has no include guard, and
 * defines COUNT, DISPLACEMENT, FUNCTION, NEXT and LARGE_COUNTS.
 *
 * Each wrapper first asks whether any snapshot counts the function; while the monitor is off that
 * is all it does. Communicators, windows and persistent requests are remembered when they are made,
 * on or off.
 */

/* `parameters` and `arguments` are lists in parentheses already.
   NOLINTBEGIN(bugprone-macro-parentheses) */

/* What is in the parentheses, for lists that something is added to. */
#define UNPACK(...) __VA_ARGS__

/* Wrapper of a blocking function. `begin` begins `operation`; `received` is the status of an
   operation that receives, else NULL. */
#define BLOCKING(Name, Class, parameters, arguments, begin, received)                              \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        if (!is_monitored(Class))                                                                  \
            return NEXT(Name) arguments;                                                           \
        struct operation operation;                                                                \
        begin;                                                                                     \
        return operation_returned(&operation, NEXT(Name) arguments, received);                     \
    }

/* The same of a non-blocking function. */
#define NONBLOCKING(Name, Class, parameters, arguments, begin)                                     \
    INTERPOSED int FUNCTION(Name)(UNPACK parameters, MPI_Request * request)                        \
    {                                                                                              \
        if (!is_monitored(Class))                                                                  \
            return NEXT(Name)(UNPACK arguments, request);                                          \
        struct operation operation;                                                                \
        begin;                                                                                     \
        const int error = NEXT(Name)(UNPACK arguments, request);                                   \
        return operation_posted(&operation, error, *request);                                      \
    }

/* Of a function without a row of its own: after a call that has succeeded, and inside of it, the
   monitor remembers something, which the statements behind the arguments do. */
#define REMEMBERED(Name, parameters, arguments, ...)                                               \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        struct mpi_call call;                                                                      \
        const bool entered = other_enter(&call);                                                   \
        const int error = NEXT(Name) arguments;                                                    \
        if (error == MPI_SUCCESS) {                                                                \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        return other_left(&call, entered, error);                                                  \
    }

/* ---- messages -------------------------------------------------------------------------------- */

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

/* ---- collective operations ------------------------------------------------------------------- */

/* Declares `on`, the communicator's record, and `number`, its number. */
#define KNOW_COMMUNICATOR                                                                          \
    struct communicator described;                                                                 \
    const int number = communicator_index(comm);                                                   \
    const struct communicator *const on = communicator_record(comm, number, &described);           \
    (void)on

/* First of all reads the clock: sums over blocks take time, as does `its_part`. */
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

/* ---- one-sided communication ----------------------------------------------------------------- */

#define BEGIN_ONE_SIDED(Name, moved_bytes)                                                         \
    operation_begin_at(&operation, OPERATION_##Name, window_communicator(win),                     \
                       SENT(moved_bytes, target), false)

#define ONE_SIDED(Name, parameters, arguments, moved_bytes)                                        \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return NEXT(Name) arguments;                                                           \
        struct operation operation;                                                                \
        BEGIN_ONE_SIDED(Name, moved_bytes);                                                        \
        const int error = NEXT(Name) arguments;                                                    \
        if (target == MPI_PROC_NULL)                                                               \
            return operation_returned(&operation, error, NULL);                                    \
        operation_left(&operation, ticks_now());                                                   \
        operation.posted = true;                                                                   \
        if (error == MPI_SUCCESS)                                                                  \
            window_add(win, target, &operation);                                                   \
        return error;                                                                              \
    }

#define ONE_SIDED_REQUEST(Name, parameters, arguments, moved_bytes)                                \
    NONBLOCKING(Name, CLASS_POINT_TO_POINT, parameters, arguments, window_unsure(win);             \
                BEGIN_ONE_SIDED(Name, moved_bytes))

/* ---- windows and communicators --------------------------------------------------------------- */

/* A collective on `comm` that makes something; `remember` remembers it, inside of the call. */
#define MAKING(Name, comm, remember, parameters, arguments)                                        \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        const bool monitored = is_monitored(CLASS_COLLECTIVE);                                     \
        struct operation operation;                                                                \
        if (monitored)                                                                             \
            operation_begin(&operation, OPERATION_##Name, comm, (struct sent){0}, false);          \
        const int error = NEXT(Name) arguments;                                                    \
        const uint64_t end_ticks = monitored ? ticks_now() : 0;                                    \
        if (error == MPI_SUCCESS)                                                                  \
            remember;                                                                              \
        return monitored ? operation_returned_at(&operation, error, 0, end_ticks, ticks_now())     \
                         : error;                                                                  \
    }

#define WINDOW_CREATION(Name, comm, win, parameters, arguments)                                    \
    MAKING(Name, comm, window_created(*(win), comm), parameters, arguments)
#define CREATION(Name, comm, newcomm, parameters, arguments)                                       \
    MAKING(Name, comm, communicator_created(*(newcomm), "MPI_" #Name), parameters, arguments)

/* The duplicate has its handle at once; the program may use it when the request is complete. */
#define DUPLICATION(Name, comm, newcomm, request, parameters, arguments)                           \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        const bool monitored = is_monitored(CLASS_COLLECTIVE);                                     \
        struct operation operation;                                                                \
        if (monitored)                                                                             \
            operation_begin(&operation, OPERATION_##Name, comm, (struct sent){0}, false);          \
        const int error = NEXT(Name) arguments;                                                    \
        if (error == MPI_SUCCESS)                                                                  \
            communicator_duplicated(*(newcomm), comm, "MPI_" #Name);                               \
        return monitored ? operation_posted(&operation, error, *(request)) : error;                \
    }

/* ---- calls that are no operations ------------------------------------------------------------ */

/* Completes the operations on `win` at a target, or at all. */
#define SYNCHRONISATION(Name, win, target, parameters, arguments)                                  \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return NEXT(Name) arguments;                                                           \
        struct mpi_call call;                                                                      \
        call_enter(&call, OPERATION_##Name);                                                       \
        const int communicator = window_communicator(win);                                         \
        const struct ending ending = window_take(win, target);                                     \
        const bool is_local = OPERATION_##Name == OPERATION_Win_flush_local ||                     \
                              OPERATION_##Name == OPERATION_Win_flush_local_all;                   \
        call.is_idle = window_flush_is_idle(win, target, is_local, ending);                        \
        const int error = NEXT(Name) arguments;                                                    \
        const uint64_t end_ticks = ticks_now();                                                    \
        if (!ending_finish(ending, error, &call, end_ticks))                                       \
            call_left(&call, communicator, end_ticks);                                             \
        return error;                                                                              \
    }

#define TIMED_CALL(Name, Kind, communicator, parameters, arguments)                                \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        if (!is_monitored(CLASS_CALLS))                                                            \
            return NEXT(Name) arguments;                                                           \
        struct mpi_call call;                                                                      \
        call_enter(&call, Kind);                                                                   \
        const int error = NEXT(Name) arguments;                                                    \
        const int number = communicator;                                                           \
        call_left(&call, number, ticks_now());                                                     \
        return error;                                                                              \
    }

#define CALL(Name, communicator, parameters, arguments)                                            \
    TIMED_CALL(Name, OPERATION_##Name, communicator, parameters, arguments)
/* MACRO(...), where one of the arguments is a NAMED. */
#define WITH_NAMED(MACRO, ...) MACRO(__VA_ARGS__)
#define OTHER(Name, ...)                                                                           \
    WITH_NAMED(TIMED_CALL, Name, OPERATION_OTHER_MPI, NO_COMMUNICATOR, NAMED(__VA_ARGS__))
/* Programs call these also before MPI_Init. */
#define ANY_THREAD(Name, ...) WITH_NAMED(CALL_OF_ANY_THREAD, Name, NAMED(__VA_ARGS__))
#define CALL_OF_ANY_THREAD(Name, parameters, arguments)                                            \
    INTERPOSED int FUNCTION(Name) parameters                                                       \
    {                                                                                              \
        if (__builtin_expect(NEXT(Name) == NULL, 0))                                               \
            find_next_definitions();                                                               \
        if (!is_monitored(CLASS_CALLS))                                                            \
            return NEXT(Name) arguments;                                                           \
        struct mpi_call call;                                                                      \
        call_enter(&call, OPERATION_OTHER_MPI);                                                    \
        const int error = NEXT(Name) arguments;                                                    \
        call_left_by_any_thread(&call, ticks_now());                                               \
        return error;                                                                              \
    }

#define BY_HAND(Name, Class)
#define BY_HAND_OTHER(Name)

#define ROW(KIND, ...) KIND(__VA_ARGS__)
#include "monitor/functions.def"

#undef COUNT
#undef DISPLACEMENT
#undef ADDRESS
#undef FUNCTION
#undef NEXT

/* NOLINTEND(bugprone-macro-parentheses) */
