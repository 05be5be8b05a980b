/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Monitor of the whole run, for unchanged programs: the variable MPIRT_MONITOR, whose words
 * monitor/README.md describes.
 *
 * Processes that a program spawns have their own MPI_COMM_WORLD and report: FILE.spawned-PID, with
 * the process number of their rank 0.
 */
#pragma once

#include "common/run/options.h"
#include "monitor/lib/mpirtmon.h"

struct environment {
    MPIX_Monitor handle;
    char output[4096]; /* empty: stderr */
};

/* Parses the variable's text, in any locale. False with the error set. Local. */
bool environment_parse(const char *text, struct environment *environment, struct bc_error *error);

/* True if the variable asks for a report. */
bool environment_asks(void);

/* Replaces the content of the variable's file, if it exists, by a line that there is no report,
   and why (NULL: not yet), so an earlier report isn't taken for this run's. Local, also without
   MPI. */
void environment_note(const char *reason);

/* Starts the monitor if all ranks have the library and the variable. Otherwise a line on stderr
   reports that nothing is monitored, and nothing is sent. Call presence_begin before MPI_Init, and
   this once after it. Returns true if it has started. */
bool environment_start(void);

/* True if the monitor is active, or switched off. Local. */
bool environment_runs(void);

/* Switches the monitor off or on again. Nothing in between is counted. Local. */
void environment_switch(bool on);

/* Ends the monitor and writes its report. A line on stderr reports a lost report. Collective over
   MPI_COMM_WORLD if the monitor runs; call it before MPI is finalised. */
void environment_end(void);
