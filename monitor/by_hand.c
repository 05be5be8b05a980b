/* The wrappers of messages, communicators and windows that are no rows of functions.def. */
#include "monitor/calls.h"
#include "monitor/windows.h"

/* ---- matched probes and receives ------------------------------------------------------------- */

/* The communicator of a message is that of its probe. */
static struct handle_map message_communicators = HANDLE_MAP(12);

static void remember(MPI_Message message, MPI_Comm comm)
{
    const int communicator = communicator_index(comm);
    monitor_lock();
    (void)handle_set(&message_communicators, message_key(message), communicator);
    monitor_unlock();
}

/* Begins the receive of a message, if receives are monitored. Forgets the message in any case. */
static bool begin_receive(struct operation *operation, enum operation_kind kind,
                          MPI_Message message)
{
    monitor_lock();
    const int found = handle_remove(&message_communicators, message_key(message));
    monitor_unlock();
    const int communicator = found != HANDLE_UNKNOWN       ? found
                             : message == MPI_MESSAGE_NULL ? NULL_COMMUNICATOR
                                                           : OTHER_COMMUNICATORS;
    return begin_if_monitored(operation, kind, communicator, (struct sent){0}, true);
}

#define MATCHED_PROBE(Name, parameters, arguments, is_found)                                       \
    INTERPOSED int MPI_##Name parameters                                                           \
    {                                                                                              \
        struct mpi_call call;                                                                      \
        const bool monitored = is_monitored(CLASS_CALLS);                                          \
        if (monitored)                                                                             \
            call_enter(&call, OPERATION_##Name);                                                   \
        const int error = next.Name arguments;                                                     \
        if (error == MPI_SUCCESS && (is_found))                                                    \
            remember(*message, comm);                                                              \
        if (monitored) {                                                                           \
            const int communicator = communicator_index(comm);                                     \
            call_left(&call, communicator, ticks_now());                                           \
        }                                                                                          \
        return error;                                                                              \
    }

MATCHED_PROBE(Mprobe,
              (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
              (source, tag, comm, message, status), true)
MATCHED_PROBE(Improbe,
              (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
               MPI_Status *status),
              (source, tag, comm, flag, message, status), *flag)

#define MATCHED_RECEIVES(suffix, Count)                                                            \
    INTERPOSED int MPI_Mrecv##suffix(void *buf, Count count, MPI_Datatype datatype,                \
                                     MPI_Message *message, MPI_Status *status)                     \
    {                                                                                              \
        struct operation operation;                                                                \
        if (!begin_receive(&operation, OPERATION_Mrecv, *message))                                 \
            return next.Mrecv##suffix(buf, count, datatype, message, status);                      \
        MPI_Status own;                                                                            \
        if (status == MPI_STATUS_IGNORE)                                                           \
            status = &own;                                                                         \
        const int error = next.Mrecv##suffix(buf, count, datatype, message, status);               \
        return operation_returned(&operation, error, status);                                      \
    }                                                                                              \
    INTERPOSED int MPI_Imrecv##suffix(void *buf, Count count, MPI_Datatype datatype,               \
                                      MPI_Message *message, MPI_Request *request)                  \
    {                                                                                              \
        struct operation operation;                                                                \
        const bool monitored = begin_receive(&operation, OPERATION_Imrecv, *message);              \
        const int error = next.Imrecv##suffix(buf, count, datatype, message, request);             \
        return monitored ? operation_posted(&operation, error, *request) : error;                  \
    }

MATCHED_RECEIVES(, int)
#if MPI_VERSION >= 4
MATCHED_RECEIVES(_c, MPI_Count)
#endif

/* ---- freeing communicators ------------------------------------------------------------------ */

/* The communicator stays known until it is freed: the program's functions that delete its
   attributes may still use it. */
static int free_communicator(enum operation_kind kind, int (*free_it)(MPI_Comm *), MPI_Comm *comm)
{
    const MPI_Comm freed = *comm;
    const int number = communicator_before_free(freed);
    struct operation operation;
    /* Unknown where monitoring begins meanwhile: then the call was before it. */
    const bool monitored = number != HANDLE_UNKNOWN &&
                           begin_if_monitored(&operation, kind, number, (struct sent){0}, false);
    const int error = free_it(comm);
    if (error == MPI_SUCCESS)
        communicator_freed(freed, number);
    return monitored ? operation_returned(&operation, error, NULL) : error;
}

INTERPOSED int MPI_Comm_free(MPI_Comm *comm)
{
    return free_communicator(OPERATION_Comm_free, next.Comm_free, comm);
}

INTERPOSED int MPI_Comm_disconnect(MPI_Comm *comm)
{
    return free_communicator(OPERATION_Comm_disconnect, next.Comm_disconnect, comm);
}

/* Frees around the monitor: of tools that come before it, of layers for other languages. They don't
   count, but a handle that was remembered is no longer valid. The monitor's own come here, too. */
static int free_around(int (*free_it)(MPI_Comm *), MPI_Comm *comm)
{
    const MPI_Comm freed = *comm;
    const int number = communicator_before_unseen_free(freed);
    const int error = free_it(comm);
    if (error == MPI_SUCCESS)
        communicator_freed(freed, number);
    return error;
}

INTERPOSED int PMPI_Comm_free(MPI_Comm *comm)
{
    return free_around(freeing_around.Comm_free, comm);
}

INTERPOSED int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    return free_around(freeing_around.Comm_disconnect, comm);
}

/* ---- fences and the freeing of windows ------------------------------------------------------- */

/* What a fence and the freeing of a window do before and after the call. */
struct closing {
    struct ending ending;
    struct operation operation;
    bool monitored; /* as a collective */
};

static struct closing closing_begin(enum operation_kind kind, MPI_Win win)
{
    const uint64_t called_ticks = ticks_now();
    struct closing closing = {.ending = window_take(win, EVERY_TARGET),
                              .monitored = is_monitored(CLASS_COLLECTIVE)};
    if (closing.monitored)
        operation_begin_called(&closing.operation, kind, window_communicator(win), (struct sent){0},
                               called_ticks);
    return closing;
}

static int closing_end(struct closing *closing, int error)
{
    const uint64_t end_ticks = ticks_now();
    (void)ending_finish(closing->ending, error, NULL, end_ticks);
    return closing->monitored
               ? operation_returned_at(&closing->operation, error, 0, end_ticks, ticks_now())
               : error;
}

INTERPOSED int MPI_Win_fence(int assertions, MPI_Win win)
{
    if (!is_anything_monitored())
        return next.Win_fence(assertions, win);
    struct closing closing = closing_begin(OPERATION_Win_fence, win);
    return closing_end(&closing, next.Win_fence(assertions, win));
}

INTERPOSED int MPI_Win_free(MPI_Win *win)
{
    const MPI_Win freed = *win;
    const int number = window_number(freed);
    struct closing closing = closing_begin(OPERATION_Win_free, freed);
    const int error = closing_end(&closing, next.Win_free(win));
    if (error == MPI_SUCCESS)
        window_freed(freed, number);
    return error;
}
