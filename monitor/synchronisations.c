/*
 * Wrappers of the synchronisations, which complete one-sided operations. A fence and the freeing of
 * a window are collective operations, too.
 */
#include "monitor/calls.h"
#include "monitor/next.h"
#include "monitor/windows.h"

/* The synchronisation has returned `error`: the operations have ended, or are still in flight. */
static void finish(struct ending ending, int error, uint64_t end_ticks)
{
    if (error == MPI_SUCCESS)
        ending_end(ending, end_ticks);
    else
        ending_cancel(ending);
}

#define LARGE_COUNTS 0
#define SYNCHRONISATION(Name, parameters, arguments, completed_target)                             \
    INTERPOSED int MPI_##Name parameters                                                           \
    {                                                                                              \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return next.Name arguments;                                                            \
        const struct ending ending = window_take(win, completed_target);                           \
        const int error = next.Name arguments;                                                     \
        finish(ending, error, ticks_now());                                                        \
        return error;                                                                              \
    }
#include "monitor/functions.def"

/* What a fence and the freeing of a window do before and after the call. */
struct closing {
    struct ending ending;
    struct operation operation;
    bool monitored; /* as a collective */
};

static struct closing closing_begin(enum operation_kind kind, MPI_Win win)
{
    struct closing closing = {.monitored = is_monitored(CLASS_COLLECTIVE),
                              .ending = window_take(win, EVERY_TARGET)};
    if (closing.monitored)
        operation_begin_at(&closing.operation, kind, window_communicator(win), (struct sent){0},
                           false);
    return closing;
}

static int closing_end(const struct closing *closing, int error)
{
    const uint64_t end_ticks = ticks_now();
    finish(closing->ending, error, end_ticks);
    if (closing->monitored && error == MPI_SUCCESS)
        operation_end(&closing->operation, end_ticks, 0);
    return error;
}

INTERPOSED int MPI_Win_fence(int assertions, MPI_Win win)
{
    if (!is_anything_monitored())
        return next.Win_fence(assertions, win);
    const struct closing closing = closing_begin(OPERATION_Win_fence, win);
    return closing_end(&closing, next.Win_fence(assertions, win));
}

INTERPOSED int MPI_Win_free(MPI_Win *win)
{
    const MPI_Win freed = *win;
    const int number = window_number(freed);
    const struct closing closing = closing_begin(OPERATION_Win_free, freed);
    const int error = closing_end(&closing, next.Win_free(win));
    if (error == MPI_SUCCESS)
        window_freed(freed, number);
    return error;
}
