/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Presence of the monitor on all ranks of the job, with the same words in MPIRT_MONITOR.
 *
 * MPI can't be asked, since the program of a rank without the monitor may receive the message. Each
 * rank leaves a mark in a file of the shared working directory, `.mpirtmon-` and a number made of
 * the launcher's variables and the words. A rank that sees all marks decides that all are present.
 * A rank that has waited too long decides that they aren't. The decision is a symbolic link, which
 * only the first rank can make and all follow. A late rank can make the answer no, but never
 * different answers. All functions are local, and none calls MPI.
 */
#pragma once

#include "common/run/options.h"

#include <stdbool.h>

/* Removes the files of a job that was killed. Call it before MPI_Init, with the variable's
   words: no rank leaves its mark before all ranks have called it. */
void presence_begin(const char *words);

/* True if all ranks are present, the same on all ranks that have the monitor. Waits up to 10 s. If
   not, the error names the absent ranks on the lowest rank present, and is empty elsewhere. */
bool presence_agree(int rank, int ranks, struct bc_error *error);

/* Removes the files. Call it when all ranks have returned from presence_agree. If the answer was
   no, that is after MPI_Finalize. */
void presence_end(void);
