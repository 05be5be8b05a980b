/*
 * The stops of this rank. One thread calls all of this, the one that is stopped; what may be called
 * by others, too, says so.
 */
#ifndef DISTURBANCE_STOPS_H
#define DISTURBANCE_STOPS_H

#include "settings.h"

#include <stdbool.h>
#include <stdint.h>

/* What became of a stream, of jumps, or of all together. */
struct tally {
    int64_t stops;
    int64_t stopped_ns;
};

/* Reads CLOCK_MONOTONIC without being stopped. Any thread; signal handlers, too. */
int64_t clock_unstopped_ns(void);

/* Starts the streams and jumps. Measures before what a stop by a timer costs, if there are any. */
void stops_begin(const struct settings *settings);

/* No stop comes after this. */
void stops_end(void);

/* When the next stop by readings is due. */
int64_t stops_due_ns(void);

/* Makes the stops by readings that are due, at a reading of now_ns; returns the last reading. */
int64_t stops_make(int64_t now_ns);

/* Around a sleep: holds back the timers' signals; leaves out all stops that were due in it. */
void stops_sleep(void);
void stops_wake(void);

/* See disturbance.h. The first one: any thread. */
double stops_factor(int64_t now_ns);
void stops_modelled_until(int64_t end_ns);

/* ---- for the log ---- */

struct tally stops_of_stream(int stream);
struct tally stops_of_jumps(void);

/* How long a stop by a timer is at least; 0 without such streams. */
int64_t stops_timer_cost_ns(void);

/* From stops_begin to stops_end; asleep in this time. */
int64_t stops_life_ns(void);
int64_t stops_slept_ns(void);

/* The median length of a stream's first stops, up to 4096 of them; 0 without stops. */
int64_t stops_usual_ns(int stream);

/* When jumps begin, in CLOCK_MONOTONIC: this, and each PERIOD_S later. */
int64_t stops_jumps_first_ns(void);

#endif
