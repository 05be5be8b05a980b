/* The wrappers of communicators and windows that are no rows of functions.def. */
#include "monitor/calls.h"
#include "monitor/windows.h"

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
    struct closing closing = {.ending = window_take(win, EVERY_TARGET, false),
                              .monitored = is_monitored(CLASS_COLLECTIVE)};
    if (closing.monitored)
        operation_begin_called(&closing.operation, kind, closing.ending.communicator,
                               (struct sent){0}, called_ticks);
    return closing;
}

static int closing_end(struct closing *closing, int error)
{
    const uint64_t end_ticks = ticks_now();
    (void)ending_finish(&closing->ending, error, NULL, end_ticks);
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
    struct closing closing = closing_begin(OPERATION_Win_free, freed);
    const int error = closing_end(&closing, next.Win_free(win));
    if (error == MPI_SUCCESS)
        window_freed(freed, closing.ending.window);
    return error;
}
