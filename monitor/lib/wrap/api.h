/*
 * Snapshots, for the library itself. All functions are local.
 */
#pragma once

#include "monitor/lib/mpirtmon.h"

#include <stdbool.h>

/* True if MPI is initialised and not finalised. Then the monitor is ready. */
bool mpi_is_active(void);

/* Ends the active snapshots without a report, with a line on stderr. Call it before MPI is
   finalised. */
void monitors_abandon(void);

/* Ends the active snapshots without a line. Returns their number. */
int monitors_drop(void);

/* Stops an active snapshot, or continues it. The time in between is not its own, and operations
   in flight at the stop count as not completed. False if it can't continue. */
bool monitor_switch(const MPIX_Monitor_request *request, bool on);
