/*
 * A monitor of the whole run, for programs without a change: the variable MPIRT_MONITOR, the same
 * on all ranks, whose words monitor/README.md describes. A wrong word or a file that can't be
 * written ends the job in MPI_Init: one line on stderr, exit status 2.
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

/* Parses the variable's text, in any locale. False with the error set, which names the word and
   what would do. Local. */
bool environment_parse(const char *text, struct environment *environment, struct bc_error *error);

/* True if the variable asks for a report. If not, the monitor of the whole run does nothing. */
bool environment_asks(void);

/* Writes into the file that the variable names, if there is such a file, that there is no report,
   and why: an earlier one must not look like this run's. NULL: not yet. Local, also without MPI. */
void environment_note(const char *reason);

/* Starts a monitor if the variable is set on this rank and all others. If it is set on some ranks
   only, or these alone have the library, nothing is monitored, which a line on stderr says, and
   nothing is sent. Call it once, when MPI is initialised, and presence_begin before that. Returns
   whether it has started. */
bool environment_start(void);

/* True if that monitor is active, or switched off. Local. */
bool environment_runs(void);

/* Switches that monitor off or on again: what happens in between doesn't count. Local. */
void environment_switch(bool on);

/* Ends that monitor and writes its report; a line on stderr says if the report is lost. Collective
   over MPI_COMM_WORLD where it runs; call it before MPI is finalised. */
void environment_end(void);
