/*
 * Time inside MPI.
 *
 * A thread is inside MPI while one of its calls of MPI functions is in progress. Calls nest: MPI
 * calls functions of the program (reductions, attributes), and these may call MPI again. Only the
 * outermost call counts, so a thread's time inside is never more than the time that passed.
 *
 * The rest of the time is the thread's computation. Each thread has a clock that stands still while
 * it is inside, the computing clock: two of its readings differ by what the thread computed between
 * them. All functions are local and need no lock.
 */
#ifndef COMMCOST_MONITOR_INSIDE_H
#define COMMCOST_MONITOR_INSIDE_H

#include "monitor/ticks.h"

/* Of this thread. In the memory that every thread has from its start, so that reading it takes no
   call. */
extern _Thread_local struct inside {
    uint64_t ticks; /* inside MPI so far */
    uint32_t depth; /* calls in progress */
} inside __attribute__((tls_model("initial-exec")));

/* What a reading of the clock takes, in ticks; each call has one in its time. */
extern uint64_t inside_reading_ticks;

/* Enters a call. Whether it is the outermost one. The caller reads the clock after that. */
static inline bool inside_enter(void) { return inside.depth++ == 0; }

/* Leaves the call that was entered at entry_ticks. Returns the ticks that count: 0 if it is not the
   outermost one. */
static inline uint64_t inside_leave(bool is_outermost, uint64_t entry_ticks, uint64_t exit_ticks)
{
    inside.depth--;
    const uint64_t entry = entry_ticks + inside_reading_ticks;
    if (!is_outermost || exit_ticks <= entry)
        return 0;
    inside.ticks += exit_ticks - entry;
    return exit_ticks - entry;
}

/* The computing clock at the time `now_ticks`, at which the thread enters its outermost call or has
   left it. */
static inline uint64_t computing_ticks(uint64_t now_ticks) { return now_ticks - inside.ticks; }

#endif
