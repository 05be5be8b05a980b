/*
 * What became of a rank, as a table of values separated by tabs: a row for each stream that DISTURB
 * names, one for jumps if there are any, and one for all.
 *
 *   what       RATE:MICROSECONDS of the stream, "jumps" or "all"
 *   by         "timer" or "readings"
 *   stops      their number
 *   stopped_s  the time of all of them, with what else kept the rank from its work meanwhile
 *   life_s     the time from the end of MPI_Init to the beginning of MPI_Finalize
 *   slept_s    the time asleep in it, without stops
 *   cost_us    the shortest that a stop can be
 *   first_s    of jumps: in CLOCK_MONOTONIC a moment at which they begin
 *   usual_us   the median length of the stops (of the first 4096)
 *
 * What doesn't apply is NA.
 */
#ifndef DISTURBANCE_LOG_H
#define DISTURBANCE_LOG_H

#include "settings.h"

/* After stops_end(). */
void log_write(const struct settings *settings);

#endif
