/*
 * The waiting of ranks for late ones, in the rows of a report.
 */
#pragma once

#include "common/job/job.h"
#include "monitor/lib/report/rows.h"

/* Finds the waiting of this rank for late ranks in collectives that synchronise, and sets that in
   its rows of these. With a job (NULL: without, the same on all ranks) also in rooted ones, for
   which it compares the ranks' clocks, and sets what `rows` says of these. Collective over `comm`,
   a duplicate of MPI_COMM_WORLD. */
void rows_find_late(struct rows *rows, const struct snapshot *snapshot, const struct bc_job *job,
                    MPI_Comm comm);
