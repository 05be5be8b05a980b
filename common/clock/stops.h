/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The share of time in which a rank is interrupted: by daemons, devices, the host of a virtual
 * machine. The kernel's counters miss a host's interruptions; a loop that reads the clock
 * continuously sees them as gaps between two readings.
 */
#pragma once

#include <stdint.h>

/* A gap is an interruption if it is longer than this and than ten of the steps between readings. */
#define BC_STOP_NS 500

/* Sums so far. */
struct bc_stops {
    int64_t watched_ns;
    int64_t lost_ns; /* in gaps */
};

/* Reads the clock for about `seconds` and adds the gaps. Not for a timed region. Local. */
void bc_stops_watch(struct bc_stops *stops, double seconds);
