/*
 * Makes the rows of a report from counts: those of this process, and those of all ranks together.
 */
#ifndef COMMCOST_MONITOR_ROWS_H
#define COMMCOST_MONITOR_ROWS_H

#include "monitor/snapshot.h"

/* A row and its sort key. Rows of two ranks are merged if their kinds, identities, operations and
   names of operations are the same. */
struct keyed_row {
    int kind;          /* in the order of reports */
    int order;         /* of the communicator, see communicators.h */
    uint64_t identity; /* of the communicator; 0 if the row has none */
    int operation;     /* in the order of reports, within the kind */
    MPIX_Monitor_row row;
};

/* The rows of one snapshot, sorted by kind, then communicator (order, name, members, identity),
   then operation. */
struct rows {
    struct keyed_row *rows; /* freed by rows_free */
    int count;
    bool incomplete;                    /* for want of memory */
    double seconds;                     /* length of the snapshot; of all ranks: the longest */
    int64_t untracked, untold, unknown; /* see struct snapshot; summed over ranks */
    int64_t unplaced; /* operations on OTHER_COMMUNICATORS, for want of room; summed over ranks */
    int64_t unkept;   /* calls whose times found no room, see late.h; summed over ranks */
    int64_t unsized;  /* operations that are in no row of their size, for want of room; summed */
};

/* Makes the rows that the handle of an ended snapshot asks for, with this process's rank. Local,
   but MPI must be initialised. False without memory: then there are no rows, and `incomplete` tells
   rows_gather. */
bool rows_of_snapshot(const struct snapshot *snapshot, struct rows *rows);

/* Finds what this rank waited for late ranks in collectives that synchronise, and sets that in its
   rows of these. Collective over `comm`, a duplicate of MPI_COMM_WORLD. */
void rows_find_late(struct rows *rows, const struct snapshot *snapshot, MPI_Comm comm);

/*
 * Merges the rows of all ranks of `comm` on its rank 0, in O(log P) steps of PMPI calls; on other
 * ranks `rows` stays as it was. Counts, times and services are summed; a communicator's span is the
 * longest; frequencies are the summed counts over the longest snapshot; max and slowest are maxima,
 * with the lowest rank that has them; the rank becomes NA. With `totals` the total time inside MPI
 * of each rank stays as a row of its own, after that of all. Where processes name a communicator
 * differently, the name on the lowest rank counts; where the members differ (each process has its
 * own MPI_COMM_SELF), they become "NA". Collective over `comm`, on which nobody else may send.
 * False on rank 0 if any rank lacked memory: then `rows` stays as it was there, too, except
 * `incomplete`.
 */
bool rows_gather(struct rows *rows, bool totals, MPI_Comm comm);

/* Sends the rows of rank `from`, not 0, of `comm` to rank 0, which frees them with rows_free. Both
   ranks call it. False on rank 0 if either rank lacks memory: then there are no rows. */
bool rows_fetch(struct rows *rows, int from, MPI_Comm comm);

/* Appends the rows of `more`. False without memory: then both stay as they are. Both are local. */
bool rows_append(struct rows *rows, const struct rows *more);
void rows_free(struct rows *rows);

#endif
