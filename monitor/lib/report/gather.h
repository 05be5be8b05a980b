/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merging of rows of all ranks.
 */
#pragma once

#include "monitor/lib/report/rows.h"

/*
 * Merges the rows of all ranks of `comm` on its rank 0, along a binomial tree, so a rank receives
 * the rows of at most log2(P) subtrees. columns.c has the merge of each column. The name of a
 * communicator is that of its lowest rank; different members become "NA". Pairs of ranks travel
 * with the rows. With `totals`, each rank's total time inside MPI is a row of its own on rank 0. On
 * other ranks `rows` stays as it was. Collective over `comm`, on which nobody else may send. False
 * on rank 0 if any rank lacked memory: then only `incomplete` changes.
 */
bool rows_gather(struct rows *rows, bool totals, MPI_Comm comm);

/* Sends the rows of rank `from`, not 0, of `comm` to rank 0, which frees them with rows_free. Both
   ranks call it. False on rank 0 if either rank lacks memory: then there are no rows. */
bool rows_fetch(struct rows *rows, int from, MPI_Comm comm);
