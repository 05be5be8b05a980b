/*
 * The share of time in which a rank is interrupted: by daemons, by devices, by the host of a
 * virtual machine. The kernel's counters see nothing of a host's interruptions; a loop that reads
 * the clock all the time does, as a gap between two readings.
 */
#pragma once

#include <stdint.h>

struct bc_stops {
    int64_t watched_ns; /* so far */
    int64_t lost_ns;    /* in gaps */
};

/* Reads the clock for about `seconds` and adds what it sees. A gap counts if it is longer than
   BC_STOP_NS and than ten of the steps between readings. Not for a timed region. Local. */
void bc_stops_watch(struct bc_stops *stops, double seconds);

#define BC_STOP_NS 500
