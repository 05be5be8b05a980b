/* The report of a snapshot, in the output format of all programs of commcost, and its warnings. */
#pragma once

#include "monitor/lib/report/rows.h"

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

/* Makes the communicators that reports need, which a program may have taken all of later (2,046
   communicators with MPICH): one communicator, from which all others of a report are made if there
   is room, and the job as it is. Compares the clocks of ranks, if asked to. Collective over
   MPI_COMM_WORLD; call it in MPI_Init. False, on all ranks, if there is no room. */
bool report_prepare(bool compares_clocks);

/* Frees that communicator, whose room the program needs, unless a report is being written. Reports
   make it again if there is room, and the last one, in MPI_Finalize, does without. Any thread may
   call it. Local, since MPICH frees a communicator locally. */
void report_give_up_comm(void);

/* Notes that the next report is written in MPI_Finalize, and frees all that. Local. */
void report_is_last(void);

/* Lets a report to this file take the place of its content when the report is written. Local. */
void report_replaces(FILE *file);
