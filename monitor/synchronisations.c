/*
 * The calls that end one-sided operations. Fences and the freeing of windows are collective
 * operations, too.
 */
#include "calls.h"
#include "next.h"
#include "windows.h"

#define SYNCHRONISATION(Name, parameters, arguments, completed_target)                             \
    INTERPOSED int MPI_##Name parameters                                                           \
    {                                                                                              \
        if (!is_monitored(CLASS_POINT_TO_POINT))                                                   \
            return next.Name arguments;                                                            \
        const struct ending ending = window_take(win, completed_target);                           \
        const int error = next.Name arguments;                                                     \
        const uint64_t end_ticks = ticks_now();                                                    \
        if (error == MPI_SUCCESS)                                                                  \
            ending_end(ending, end_ticks);                                                         \
        else                                                                                       \
            ending_cancel(ending);                                                                 \
        return error;                                                                              \
    }

SYNCHRONISATION(Win_flush, (int target, MPI_Win win), (target, win), target)
SYNCHRONISATION(Win_flush_local, (int target, MPI_Win win), (target, win), target)
SYNCHRONISATION(Win_flush_all, (MPI_Win win), (win), EVERY_TARGET)
SYNCHRONISATION(Win_flush_local_all, (MPI_Win win), (win), EVERY_TARGET)
SYNCHRONISATION(Win_unlock, (int target, MPI_Win win), (target, win), target)
SYNCHRONISATION(Win_unlock_all, (MPI_Win win), (win), EVERY_TARGET)
SYNCHRONISATION(Win_complete, (MPI_Win win), (win), EVERY_TARGET)

/* What a fence and the freeing of a window do before and after. */
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
    if (error == MPI_SUCCESS)
        ending_end(closing->ending, end_ticks);
    else
        ending_cancel(closing->ending);
    if (closing->monitored && error == MPI_SUCCESS)
        operation_end(&closing->operation, end_ticks, 0);
    return error;
}

INTERPOSED int MPI_Win_fence(int assertions, MPI_Win win)
{
    if (!is_monitored(CLASS_POINT_TO_POINT) && !is_monitored(CLASS_COLLECTIVE))
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
