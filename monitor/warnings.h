/*
 * What the rows of a snapshot don't say of themselves: that nothing was asked for, or what could
 * not be collected.
 */
#ifndef MONITOR_WARNINGS_H
#define MONITOR_WARNINGS_H

#include "mpirtmon.h"
#include "rows.h"
#include "snapshot.h"

enum { WARNINGS_MAX = 7 };

struct warnings {
    int count;
    MPIX_Monitor_warning warning[WARNINGS_MAX];
};

/* The warnings of an ended snapshot and its rows, this rank's or those of all. Local. */
void warnings_of_snapshot(const struct snapshot *snapshot, const struct rows *rows,
                          struct warnings *warnings);

/* Adds the warning of a handle with which nothing is monitored, if it is one. Local. */
void warn_of_handle(const MPIX_Monitor *handle, struct warnings *warnings);

#endif
