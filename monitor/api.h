/*
 * What the start and the end of MPI mean for monitors. The functions that programs call are in
 * mpirtmon.h. All are local.
 */
#ifndef COMMCOST_MONITOR_API_H
#define COMMCOST_MONITOR_API_H

#include <stdbool.h>

/* Whether MPI is initialised and not finalised. If so, the monitor is ready afterwards. */
bool mpi_is_there(void);

/* Call it before MPI is finalised: ends the snapshots that are still active, without a report and
   with a line on stderr. */
void monitors_abandon(void);

#endif
