/* The report of a snapshot, in the output format of all programs of commcost, and its warnings. */
#pragma once

#include "monitor/rows.h"

struct warnings {
    int count;
    MPIX_Monitor_warning warning[MPIX_MONITOR_WARNING_ROOTED]; /* one of each code */
};

/* Sets the warnings of an ended snapshot and its rows, this rank's or those of all ranks. Local. */
void warnings_of_snapshot(const struct snapshot *snapshot, const struct rows *rows,
                          struct warnings *warnings);

/* Adds a warning if nothing is monitored with this handle. Local. */
void warn_of_handle(const MPIX_Monitor *handle, struct warnings *warnings);

/*
 * Writes the report of an ended snapshot to the snapshot's file on rank 0 and flushes it: metadata,
 * warnings, the rows of all ranks together and, if rank 0's handle asks for them, the rows of each
 * rank. `rows` are this rank's; on rank 0 they become those of the report. A rank without memory
 * for its rows must call this too, with what rows_of_snapshot left. The locale stays as it is;
 * numbers have a decimal point in any locale.
 *
 * Collective over MPI_COMM_WORLD, whose attributes are not copied. Returns MPIX_MONITOR_SUCCESS,
 * _ERR_OUTPUT, _ERR_MEMORY or _ERR_COMMUNICATORS, the same on all ranks. Writes nothing if rank 0
 * has no memory for the rows of all ranks, or MPI no room for the communicators of the report.
 */
int report_write(const struct snapshot *snapshot, struct rows *rows);

/* A report makes communicators, and a program may have taken all that MPI has room for (2,046 with
   MPICH). Makes some now, for reports to free when they need the room: each makes them again when
   it is written. Collective over MPI_COMM_WORLD. False, on all ranks, if there is no room. */
bool report_reserve(void);

/* Nothing needs to be reserved after the next report. Local. */
void report_is_last(void);

/* A report to this file takes the place of what is there when the report is written. Local. */
void report_replaces(FILE *file);
