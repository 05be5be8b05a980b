/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What unit tests with MPI share: who this process is (0 of 1 without MPI). starter.c sets it.
 */
#ifndef COMMCOST_TESTS_UNIT_RANKS_H
#define COMMCOST_TESTS_UNIT_RANKS_H

#include "helpers.h"

#include <mpi.h>
#include <stdbool.h>

extern int rank, ranks;  /* of MPI_COMM_WORLD */
extern char **arguments; /* argv of the program */

/* Returns true on all ranks if all have the same value. Collective. */
static inline bool same_everywhere(int64_t value)
{
    int64_t extremes[2] = {value, -value};
    MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return extremes[0] == -extremes[1];
}

#endif
