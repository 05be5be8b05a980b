/*
 * Snapshots, for the library itself, in addition to mpirtmon.h. All functions are local.
 */
#pragma once

#include "monitor/lib/mpirtmon.h"

#include <stdbool.h>

/* True if MPI is initialised and not finalised. Then the monitor is ready. */
bool mpi_is_there(void);

/* Ends the snapshots that are still active, without a report and with a line on stderr. Call it
   before MPI is finalised. */
void monitors_abandon(void);

/* Ends them without a line. Returns how many there were. */
int monitors_drop(void);

/* Makes an active snapshot count nothing from now on, or go on: the time between is none of its
   own, and what was in flight when it went off counts as not completed. False if it can't go on. */
bool monitor_switch(const MPIX_Monitor_request *request, bool on);
