/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time inside MPI.
 *
 * A thread is inside MPI while one of its MPI calls is in progress. Calls nest: MPI calls functions
 * of the program (reductions, attributes), and these may call MPI again. Only the outermost call
 * counts, so a thread's time inside is never more than the time that passed.
 *
 * The monitor's work around a call belongs to the call. The clock is read at the call's entry and
 * exit. The work outside these readings is known from measurements at the start (inside_own), but
 * never exceeds the time between two calls. The rest of that time is computation if it is longer
 * than the monitor's own work for a call may be. A shorter time may be an error of these
 * measurements, which a rank that polls makes millions of times. An interruption between two calls
 * looks like computation, so a call that completes nothing, as most polls do, reads its exit after
 * the monitor's work.
 *
 * Each thread has a computing clock, which stands still while it is inside. All functions are local
 * and need no lock.
 */
#pragma once

#include "monitor/lib/count/ticks.h"

/* State of this thread, in memory that exists from its start, so reading it needs no call. */
extern _Thread_local struct inside {
    uint64_t entry_ticks;     /* when the outermost call in progress was entered */
    uint64_t left_ticks;      /* when the last outermost call was left */
    uint64_t computing_ticks; /* the computing clock at the entry of the last outermost call */
    uint32_t depth;           /* calls in progress */
    uint32_t epoch;           /* of the latest snapshot when it called MPI, see snapshot.h */
    /* Since the last call of another kind: time in file calls, and the computing clock at the
       first. */
    uint64_t file_ticks, file_computing_ticks;
    /* Of the outermost call: see sites.h. */
    const void *return_address;   /* in the program */
    const void *outer_callers[2]; /* addresses to which its callers return */
    uint64_t given_ticks;         /* ticks of the call that its operations have so far */
    uint16_t site;                /* number of its site, for this kind */
    uint8_t site_kind, callers;   /* callers: 0 until they are known */
} inside __attribute__((tls_model("initial-exec")));

/* Ticks of a clock reading, and of the monitor's work before and after a call's readings, including
   one reading. */
extern struct inside_own {
    uint64_t reading;
    uint64_t posted;           /* what measuring adds to an operation with a request */
    uint64_t before_operation; /* before the start of an operation is read */
    uint64_t after_operation;  /* after the exit of a call that is, begins or ends one */
    uint64_t before_exit;      /* before the exit of any other call is read ... */
    uint64_t after_call;       /* ... and after it */
    uint64_t gap;              /* maximum around a call: a time between two calls that is no longer
                                  is not computation */
} inside_own;

/* Enters a call. True if it is the outermost one. */
static inline bool inside_enter(uint64_t entry_ticks)
{
    if (inside.depth++ > 0)
        return false;
    const uint64_t gap_ticks =
        entry_ticks > inside.left_ticks ? entry_ticks - inside.left_ticks : 0;
    const uint64_t computed_ticks = gap_ticks > inside_own.gap ? gap_ticks : 0;
    inside.computing_ticks += computed_ticks;
    inside.entry_ticks = inside.left_ticks + computed_ticks;
    return true;
}

/* Returns the ticks inside MPI of the call in progress until now_ticks; 0 for an inner call. */
static inline uint64_t inside_ticks(bool is_outermost, uint64_t now_ticks)
{
    return is_outermost && now_ticks > inside.entry_ticks ? now_ticks - inside.entry_ticks : 0;
}

/* Returns the ticks between two readings of the clock, minus one reading. */
static inline uint64_t between_readings(uint64_t entry_ticks, uint64_t exit_ticks)
{
    const uint64_t entry = entry_ticks + inside_own.reading;
    return exit_ticks > entry ? exit_ticks - entry : 0;
}

/* Leaves the call. Returns its ticks inside. */
static inline uint64_t inside_leave(bool is_outermost, uint64_t left_ticks)
{
    const uint64_t ticks = inside_ticks(is_outermost, left_ticks);
    inside.depth--;
    if (ticks > 0)
        inside.left_ticks = left_ticks;
    return ticks;
}

static inline void inside_follow_files(bool is_of_file, uint64_t ticks)
{
    if (inside.file_ticks == 0)
        inside.file_computing_ticks = inside.computing_ticks;
    inside.file_ticks = is_of_file ? inside.file_ticks + ticks : 0;
}

/* True if the thread comes from file calls, which took longer than its computation since the first
   of them. */
static inline bool inside_is_behind_files(void)
{
    return inside.file_ticks > inside.computing_ticks - inside.file_computing_ticks;
}
