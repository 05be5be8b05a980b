/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of MPI, for the wrappers of all languages. */
#pragma once

#include "monitor/lib/count/kinds.h"

#include <stdint.h>

/* Before MPI_Init or MPI_Init_thread: returns the time of the entry. Ends the program if its MPI
   library can't take this library's calls. Local. */
uint64_t init_begin(void);

/* After it, with the return address of its call: starts the monitor of the whole run if it is asked
   for. Returns `error`. Collective. */
int init_end(enum operation_kind kind, int error, uint64_t entry_ticks, const void *return_address);

/* Before MPI_Finalize: ends that monitor. Collective. */
void finalize_begin(const void *return_address);

/* After it. Returns `error`. Local. */
int finalize_end(int error);

/* Before and after MPI_Pcontrol, whose level 0 switches the monitor off and 1 on. Local. */
void pcontrol_begin(int level);
void pcontrol_end(int level);

/* Before MPI_Session_init. Local. */
void session_begin(void);
