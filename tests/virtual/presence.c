/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks in virtual time are forks of one process: all of them have the monitor, or none. */
#include "monitor/lib/wrap/presence.h"

void presence_begin(const char *words) { (void)words; }

bool presence_agree(int rank, int ranks, struct bc_error *error)
{
    (void)rank, (void)ranks, (void)error;
    return true;
}

void presence_end(void) {}
