/*
 * The monitor's one lock. It is taken only at MPI_THREAD_MULTIPLE: below that level MPI is never
 * called by two threads at a time. It is held for some ten nanoseconds, longer where a call
 * completes many operations or a snapshot starts, and never during a call of MPI.
 */
#ifndef COMMCOST_MONITOR_LOCK_H
#define COMMCOST_MONITOR_LOCK_H

#include <sched.h>
#include <stdbool.h>

/* True until MPI has been initialised, then set once. */
extern bool monitor_lock_needed;
extern bool monitor_lock_taken;

static inline void monitor_lock(void)
{
    if (!monitor_lock_needed)
        return;
    enum { SPINS = 100 }; /* after these the holder has probably lost its processor */
    for (int spins = 0; __atomic_exchange_n(&monitor_lock_taken, true, __ATOMIC_ACQUIRE); spins++)
        if (spins >= SPINS)
            (void)sched_yield();
}

static inline void monitor_unlock(void)
{
    if (monitor_lock_needed)
        __atomic_store_n(&monitor_lock_taken, false, __ATOMIC_RELEASE);
}

#endif
