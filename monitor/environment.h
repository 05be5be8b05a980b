/*
 * A monitor without a change to the program: the variable MPIRT_MONITOR, a list of words separated
 * by commas.
 *
 *   pttopt coll comm msgsize traffic other   the handle's flags; `all` is all of them
 *   per-rank           a row for each rank, too
 *   large=SIZE         from where a message is large (K, M, G; at least 1); 64K
 *   timeout=TIME       what takes longer counts as a timeout: a number with ns, us, ms or s; 0s:
 * nothing does output=FILE        where the report goes; stderr without it. The name may have
 * commas, unless one of these words stands behind the comma
 *
 * Only of words that are no flags, it monitors everything; empty or not set, nothing. Rank 0's
 * variable counts for all ranks. Of a word that comes twice the last one counts. Wrong words, and a
 * file that can't be written, end the job in MPI_Init: one line on stderr, exit status 2.
 *
 * Processes that a program spawns have an MPI_COMM_WORLD and a report of their own: in
 * FILE.spawned-PID, with the process number of their rank 0.
 */
#ifndef MONITOR_ENVIRONMENT_H
#define MONITOR_ENVIRONMENT_H

#include "common/run/options.h"
#include "mpirtmon.h"

#include <stdbool.h>

struct environment {
    MPIX_Monitor handle;
    char output[4096]; /* empty: stderr */
};

/* Understands the variable's text, in any locale. False with the error set, which names the word
   and what would do. Local. */
bool environment_parse(const char *text, struct environment *environment, struct bc_error *error);

/* Starts a monitor if the variable is set. Collective over MPI_COMM_WORLD, once, when MPI is
 * initialised. */
void environment_start(void);

/* Ends it and writes its report; if that is lost, a line on stderr says so. Collective over
   MPI_COMM_WORLD, before MPI is finalised. */
void environment_end(void);

#endif
