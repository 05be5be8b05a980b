/*
 * Brings the rows of all ranks together.
 */
#pragma once

#include "monitor/lib/report/rows.h"

/*
 * Merges the rows of all ranks of `comm` on its rank 0, along a binomial tree: no rank receives
 * those of more than log2(P) others, each the rows of a whole subtree. On other ranks `rows` stays
 * as it was. Counts, times and services are summed; a communicator's span is the longest;
 * frequencies are the summed counts over the longest snapshot; max and slowest are maxima, with the
 * lowest rank that has them; the rank becomes NA. With `totals` the total time inside MPI of each
 * rank is a row of its own, after that of all; only rank 0 has these, for which each other rank
 * sends it a message. Where processes name a communicator differently, the name on the lowest rank
 * counts; where the members differ (each process has its own MPI_COMM_SELF), they become "NA".
 * Collective over `comm`, on which nobody else may send. False on rank 0 if any rank lacked memory:
 * then `rows` stays as it was there, too, except `incomplete`.
 */
bool rows_gather(struct rows *rows, bool totals, MPI_Comm comm);

/* Sends the rows of rank `from`, not 0, of `comm` to rank 0, which frees them with rows_free. Both
   ranks call it. False on rank 0 if either rank lacks memory: then there are no rows. */
bool rows_fetch(struct rows *rows, int from, MPI_Comm comm);
