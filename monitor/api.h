/*
 * What the program's end means for monitors; the functions that programs call are in mpirtmon.h.
 */
#ifndef MONITOR_API_H
#define MONITOR_API_H

/* MPI is about to be finalised: snapshots that are still active end without a report, with a
 * warning on stderr. Local. */
void monitors_abandon(void);

#endif
