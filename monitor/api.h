/*
 * What the program's end means for monitors. The functions that programs call are in mpirtmon.h.
 */
#ifndef COMMCOST_MONITOR_API_H
#define COMMCOST_MONITOR_API_H

/* Call it before MPI is finalised: ends the snapshots that are still active, without a report and
   with a line on stderr. Local. */
void monitors_abandon(void);

#endif
