#include "collective/collective.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"

/* Nothing but the call lies between the readings of the clock. Ranks start together each time, so
   that no operation runs into the next one: a root that is done early waits. */
double collective_time(struct op_instance *operation, struct bc_start_window *window)
{
    if (window != NULL)
        bc_start_window_wait(window);
    else
        bc_harness_release(operation->comm);
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    return bc_start_window_time(window, COLLECTIVE_TIME, start_ns, bc_now_ns());
}
