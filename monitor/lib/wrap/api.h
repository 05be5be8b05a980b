/* SPDX-License-Identifier: BSD-3-Clause */
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

/* Stops an active snapshot, or continues it. The time in between isn't counted, and operations in
   flight at the stop are counted as not completed. Returns false if it can't continue. */
bool monitor_switch(const MPIX_Monitor_request *request, bool on);
