/*
 * A monitor of the whole run, for programs without a change: the variable MPIRT_MONITOR on rank 0,
 * words separated by commas: flags (flags.h; `all`), `per-rank`, and large=SIZE, timeout=TIME and
 * output=FILE as monitor/README.md says.
 *
 * Without any flag it monitors everything; where the variable is empty or not set, nothing. Of a
 * word that comes twice the last one counts. The name of a file may have commas, unless a word
 * follows the comma. A wrong word or a file that can't be written ends the job in MPI_Init: one
 * line on stderr, exit status 2.
 *
 * Processes that a program spawns have their own MPI_COMM_WORLD and report: FILE.spawned-PID, with
 * the process number of their rank 0.
 */
#ifndef COMMCOST_MONITOR_ENVIRONMENT_H
#define COMMCOST_MONITOR_ENVIRONMENT_H

#include "common/run/options.h"
#include "monitor/mpirtmon.h"

struct environment {
    MPIX_Monitor handle;
    char output[4096]; /* empty: stderr */
};

/* Parses the variable's text, in any locale. False with the error set, which names the word and
   what would do. Local. */
bool environment_parse(const char *text, struct environment *environment, struct bc_error *error);

/* Starts a monitor if the variable is set: one that began when MPI_Init was entered, at
   entry_ticks, and has the time in it until that was left. Collective over MPI_COMM_WORLD; call it
   once, when MPI is initialised. */
void environment_start(uint64_t entry_ticks, uint64_t exit_ticks);

/* Whether that monitor is active. Local. */
bool environment_runs(void);

/* Ends that monitor and writes its report; a line on stderr says if the report is lost. Collective
   over MPI_COMM_WORLD; call it before MPI is finalised. */
void environment_end(void);

#endif
