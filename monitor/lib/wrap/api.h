/*
 * What the library itself asks of the functions of mpirtmon.h, see there. All functions are local.
 */
#pragma once

#include "monitor/lib/mpirtmon.h"

#include <stdbool.h>

/* Whether MPI is initialised and not finalised. If so, the monitor is ready afterwards. */
bool mpi_is_there(void);

/* Call it before MPI is finalised: ends the snapshots that are still active, without a report and
   with a line on stderr. */
void monitors_abandon(void);

/* The same without a line. Returns how many there were. */
int monitors_drop(void);

/* Makes an active snapshot count nothing from now on, or go on: the time between is none of its
   own, and what was in flight when it went off counts as not completed. False if it can't go on. */
bool monitor_switch(const MPIX_Monitor_request *request, bool on);
