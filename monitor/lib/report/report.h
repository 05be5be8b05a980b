/* SPDX-License-Identifier: BSD-3-Clause */
/* Report of a snapshot, in the output format of all programs, and its warnings. */
#pragma once

#include "monitor/lib/report/rows.h"

struct warnings {
    int count;
    MPIX_Monitor_warning warning[WARNING_CODES]; /* one of each code */
};

/* Sets the warnings of an ended snapshot and its rows, this rank's or those of all ranks. Local. */
void warnings_of_snapshot(const struct snapshot *snapshot, const struct rows *rows,
                          struct warnings *warnings);

/* Adds a warning if nothing is monitored with this handle. Local. */
void warn_of_handle(const MPIX_Monitor *handle, struct warnings *warnings);

/*
 * Writes the report of an ended snapshot to its file on rank 0 and flushes it: metadata, warnings,
 * the rows of all ranks together and, if rank 0's handle asks for them, those of each rank. `rows`
 * are this rank's; on rank 0 they become those of the report. A rank without memory for its rows
 * calls this with the result of rows_of_snapshot. Numbers have a decimal point in any locale.
 *
 * Collective over MPI_COMM_WORLD. Returns MPIX_MONITOR_SUCCESS, _ERR_OUTPUT, _ERR_MEMORY or
 * _ERR_COMMUNICATORS, the same on all ranks.
 */
int report_write(const struct snapshot *snapshot, struct rows *rows);

/* Makes the communicator of reports, before the program can have used up all (2,046 with MPICH),
   and describes the job. Compares the clocks of ranks, if asked to. Collective over MPI_COMM_WORLD;
   call it in MPI_Init. Returns false on all ranks if there is no room. */
bool report_prepare(bool compares_clocks);

/* Frees that communicator, whose room the program needs, unless a report is being written. A
   later report makes it again if there is room; the last one works without it. Any thread may
   call it. Local, since MPICH frees a communicator locally. */
void report_give_up_comm(void);

/* Notes that the next report is written in MPI_Finalize and frees the communicator. Local. */
void report_is_last(void);

/* Lets a report to this file replace its content. Local. */
void report_replaces(FILE *file);
