/*
 * The warnings of a snapshot: that its handle asks for nothing, or what could not be collected.
 */
#ifndef COMMCOST_MONITOR_WARNINGS_H
#define COMMCOST_MONITOR_WARNINGS_H

#include "monitor/mpirtmon.h"
#include "monitor/rows.h"
#include "monitor/snapshot.h"

enum { WARNINGS_MAX = 7 };

struct warnings {
    int count;
    MPIX_Monitor_warning warning[WARNINGS_MAX];
};

/* Sets the warnings of an ended snapshot and its rows, this rank's or those of all ranks. Local. */
void warnings_of_snapshot(const struct snapshot *snapshot, const struct rows *rows,
                          struct warnings *warnings);

/* Adds a warning if nothing is monitored with this handle. Local. */
void warn_of_handle(const MPIX_Monitor *handle, struct warnings *warnings);

#endif
