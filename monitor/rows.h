/*
 * From counts to the rows of a report, this process's and those of all ranks put together.
 */
#ifndef MONITOR_ROWS_H
#define MONITOR_ROWS_H

#include "mpirtmon.h"
#include "snapshot.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* A row and what it is sorted and put together by: rows of two ranks are one if their kinds,
   identities, operations and names of operations are the same. */
struct keyed_row {
    int kind;          /* in the order of reports */
    int order;         /* of the communicator, see communicators.h */
    uint64_t identity; /* of the communicator; 0 where the row has none */
    int operation;     /* in the order of reports, within the kind */
    MPIX_Monitor_row row;
};

/* The rows of one snapshot, sorted: by kind, then communicator (order, name, members, identity),
 * then operation. */
struct rows {
    struct keyed_row *rows; /* allocated; rows_free */
    int count;
    bool incomplete; /* for want of memory */
    double seconds;  /* how long the snapshot was; of all ranks: the longest */
    /* What could not be followed or told (see struct snapshot); and what counted for all
       communicators together, for want of room. Summed over ranks. */
    int64_t untracked, untold, unplaced, unknown;
};

/* The rows of an ended snapshot, of what its handle asked for, with this process's rank. Local, but
   MPI must be initialised. False without memory: then there are no rows, and `incomplete` says so
   to rows_gather. */
bool rows_of_snapshot(const struct snapshot *snapshot, struct rows *rows);

/*
 * Puts the rows of all ranks of `comm` together on its rank 0 in O(log P) steps, by PMPI calls;
 * elsewhere `rows` stays as it was. Counts, times and services are summed, a communicator's span is
 * the longest, frequencies are of the summed counts over the longest snapshot; max and slowest are
 * the greatest with the lowest of their ranks; the rank becomes NA. Where processes have different
 * names for a communicator, that of the lowest rank counts; where its members differ (MPI_COMM_SELF
 * is one of each process), they become "NA". Collective over `comm`, which nobody else may send on.
 * False on rank 0 if any rank lacked memory: then `rows` stays as it was there, too, but for
 * `incomplete`.
 */
bool rows_gather(struct rows *rows, MPI_Comm comm);

/* Brings the rows of a rank of `comm` other than 0 to its rank 0. Called by these two, by rank 0
   with rows to be freed with rows_free. False on rank 0 without memory on either; then there are
   none. */
bool rows_fetch(struct rows *rows, int from, MPI_Comm comm);

/* Appends those of another one, or leaves both as they are and returns false without memory. Local.
 */
bool rows_append(struct rows *rows, const struct rows *more);

/* Local. */
void rows_free(struct rows *rows);

#endif
