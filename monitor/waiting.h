/*
 * What ranks waited for late ones, in the rows of a report.
 */
#pragma once

#include "monitor/rows.h"

/* Finds what this rank waited for late ranks in collectives that synchronise, and sets that in its
   rows of these. With `compare_clocks`, the same on all ranks, also in rooted ones, for which it
   compares the ranks' clocks, and sets what `rows` says of these. Collective over `comm`, a
   duplicate of MPI_COMM_WORLD. */
void rows_find_late(struct rows *rows, const struct snapshot *snapshot, bool compare_clocks,
                    MPI_Comm comm);
