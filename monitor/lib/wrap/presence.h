/*
 * Finds whether all ranks of the job have the monitor, and the variable MPIRT_MONITOR with the same
 * words.
 *
 * A message, a collective's too, may be received by the program of a rank without the monitor, so
 * MPI can't be asked. Each rank leaves a mark in a file of the working directory, which all ranks
 * have in common, `.mpirtmon-` and a number that is the job's (of what the launcher tells, and of
 * the words). Who sees the marks of all decides that they are there; who has waited too long, that
 * they aren't. The decision is a symbolic link, which only the first of them can make: all follow
 * it. A rank that comes late, or files that are seen late, can make the answer no, but never
 * different ones. All functions are local, and none calls MPI.
 */
#pragma once

#include "common/run/options.h"

#include <stdbool.h>

/* Call it before MPI_Init, with the variable's words: removes what a job that was killed has left.
   MPI_Init returns when all ranks have called it, so no mark of this job is among that. */
void presence_begin(const char *words);

/* True if all are there: the same on all ranks that have the monitor. Waits for the others for up
   to 10 s. If not, the error says who isn't there, but only on the lowest rank that is; elsewhere
   its text is empty. */
bool presence_agree(int rank, int ranks, struct bc_error *error);

/* Removes the files. Call it when all ranks have come back from presence_agree: where the answer
   was no, after MPI_Finalize. */
void presence_end(void);
