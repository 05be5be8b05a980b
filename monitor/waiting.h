/*
 * What ranks waited for late ones, in the rows of a report.
 */
#ifndef COMMCOST_MONITOR_WAITING_H
#define COMMCOST_MONITOR_WAITING_H

#include "monitor/rows.h"

/* Finds what this rank waited for late ranks in collectives that synchronise, and sets that in its
   rows of these. Collective over `comm`, a duplicate of MPI_COMM_WORLD. */
void rows_find_late(struct rows *rows, const struct snapshot *snapshot, MPI_Comm comm);

/* The same in rooted collectives, for which it compares the ranks' clocks; and sets what `rows`
   says of these. Collective in the same way: call it on all ranks or on none. */
void rows_find_late_rooted(struct rows *rows, const struct snapshot *snapshot, MPI_Comm comm);

#endif
