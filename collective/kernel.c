#include "collective/collective.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/operations/buffers.h"

/* Ranks start together each time, so that no operation runs into the next one: a root that is done
   early waits. */
static void release(const struct op_instance *operation, struct bc_start_window *window)
{
    if (window != NULL)
        bc_start_window_wait(window);
    else
        bc_harness_release(operation->comm);
}

/* Nothing but the call, or the call and its copies, lies between the readings of the clock. */

double collective_time(struct op_instance *operation, struct bc_start_window *window)
{
    release(operation, window);
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    return bc_start_window_time(window, COLLECTIVE_TIME, start_ns, bc_now_ns());
}

double collective_time_staged(struct op_instance *operation, struct op_instance *staged,
                              struct bc_start_window *window)
{
    release(operation, window);
    const int64_t start_ns = bc_now_ns();
    op_copy_sent(staged, operation);
    staged->start(staged);
    op_copy_received(operation, staged);
    return bc_start_window_time(window, COLLECTIVE_STAGED, start_ns, bc_now_ns());
}
