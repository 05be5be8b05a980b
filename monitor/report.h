/*
 * The report of a snapshot: TSV as all programs of this collection write it.
 */
#ifndef MONITOR_REPORT_H
#define MONITOR_REPORT_H

#include "rows.h"
#include "snapshot.h"

#include <stdbool.h>

/*
 * Writes the report of an ended snapshot of all ranks to the snapshot's file on rank 0, and flushes
 * it: metadata (where the program ran, and what was asked for), warnings, the rows of all ranks
 * together and, if rank 0's handle asks for them, those of each rank, one rank after the other.
 * `rows` are this rank's; on rank 0 they become those of the report. A rank that lacked memory for
 * its rows calls this, too, with what rows_of_snapshot left. The locale stays as it is, and numbers
 * have a decimal point in any.
 *
 * Collective over MPI_COMM_WORLD, whose attributes are not copied. MPIX_MONITOR_SUCCESS,
 * _ERR_OUTPUT or _ERR_MEMORY, the same on all ranks. Without memory for the rows of all nothing is
 * written.
 */
int report_write(const struct snapshot *snapshot, struct rows *rows);

#endif
