#include "common/clock/clock.h"
#include "common/work/work.h"
#include "common/sync_clock/start_window.h"
#include "syncbench/syncbench.h"

/* The delay, then the synchronisation. One comes before the time starts, so that ranks come out of
   it as out of all that follow, and not as out of the barrier before the loop. */
static double time_delays(const struct syncbench_loop *loop, int quantity, syncbench_fn *enter,
                          syncbench_fn *leave)
{
    struct syncbench_team *const team = loop->team;
    const int64_t repetitions = loop->inner;
    const uint64_t units = loop->delay_units;
    enter(team);
    leave(team);
    bc_start_window_wait(loop->run->window);
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        bc_work(units);
        enter(team);
        leave(team);
    }
    return bc_start_window_time(loop->run->window, quantity, start_ns, bc_now_ns());
}

/* The delay inside. Timed from the barrier on, since the first rank may keep the lock as long as it
   has turns while others wait: the slowest rank's time is that of all turns, in any order. */
static double time_turns(const struct syncbench_loop *loop, int quantity, syncbench_fn *enter,
                         syncbench_fn *leave, int64_t repetitions)
{
    struct syncbench_team *const team = loop->team;
    const uint64_t units = loop->delay_units;
    bc_start_window_wait(loop->run->window);
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        enter(team);
        bc_work(units);
        leave(team);
    }
    return bc_start_window_time(loop->run->window, quantity, start_ns, bc_now_ns());
}

double syncbench_time_loop(const struct syncbench_loop *loop)
{
    const struct syncbench_kind *const kind = loop->kind;
    if (kind->set == SYNCBENCH_TURNS)
        return time_turns(loop, SYNCBENCH_LOOP, kind->enter, kind->leave,
                          loop->inner / loop->run->job.ranks);
    return time_delays(loop, SYNCBENCH_LOOP, kind->enter, kind->leave);
}

/* Where ranks take turns, rank 0 does all of them. */
double syncbench_time_reference(const struct syncbench_loop *loop)
{
    if (loop->kind->set != SYNCBENCH_TURNS)
        return time_delays(loop, SYNCBENCH_REFERENCE, syncbench_nothing, syncbench_nothing);
    return time_turns(loop, SYNCBENCH_REFERENCE, syncbench_nothing, syncbench_nothing,
                      loop->run->job.rank == 0 ? loop->inner : 0);
}
