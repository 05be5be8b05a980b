/*
 * The rows of a report: those of this process, from its counts, and those of all ranks. The report,
 * in the output format of all programs of commcost, and its warnings.
 */
#pragma once

#include "monitor/snapshot.h"

/* In the order of reports. */
enum row_kind {
    KIND_PTTOPT,
    KIND_COLL,
    KIND_CALLS,
    KIND_SIZES,
    KIND_COMM,
    KIND_WORKLOAD,
    KIND_OTHER,
    KIND_TOTAL,
};

/* A row and its sort key. Rows of two ranks are merged if their kinds, identities, operations and
   names of operations are the same. */
struct keyed_row {
    enum row_kind kind;
    int order;         /* of the communicator, see communicators.h */
    uint64_t identity; /* of the communicator */
    int operation;     /* in the order of reports, within the kind */
    MPIX_Monitor_row row;
};

/* The rows of one snapshot, sorted by kind, then communicator (order, name, members, identity),
   then operation. */
struct rows {
    struct keyed_row *rows; /* freed by rows_free */
    int count, capacity;
    bool incomplete;     /* for want of memory */
    double seconds;      /* length of the snapshot; of all ranks: the longest */
    warning_cases cases; /* of all ranks: their sums */
    /* Of a report with a common clock, the same on all ranks: how often the ranks' clocks were
       compared, by how much a clock may have been off then at most, and the calls of rooted
       collectives in which waiting isn't known all the same. */
    int clock_comparisons;
    double clock_error_ns;
    int64_t untold_rooted;
};

/* Makes the rows that the handle of an ended snapshot asks for, with this process's rank. Local,
   but MPI must be initialised. False without memory: then there are no rows, and `incomplete` tells
   rows_gather. */
bool rows_of_snapshot(const struct snapshot *snapshot, struct rows *rows);

/* The order in which rows are merged, for qsort: those that compare equal are one row. Names and
   members don't count: processes may name a communicator differently. Local, as the next. */
int rows_compare_identities(const void *first, const void *second);

void rows_sort_for_report(struct rows *rows);

/* Sets the mean time of a row from its total. Local, as the next. */
void rows_set_mean(MPIX_Monitor_row *row);

/* A new last row, for the caller to fill in. Without memory sets `incomplete`, and the row is none
   of these. */
struct keyed_row *rows_add(struct rows *rows);
void rows_free(struct rows *rows);

/* Finds what this rank waited for late ranks in collectives that synchronise, and sets that in its
   rows of these. With `compare_clocks`, the same on all ranks, also in rooted ones, for which it
   compares the ranks' clocks, and sets what `rows` says of these. Collective over `comm`, a
   duplicate of MPI_COMM_WORLD. */
void rows_find_late(struct rows *rows, const struct snapshot *snapshot, bool compare_clocks,
                    MPI_Comm comm);

/*
 * Merges the rows of all ranks of `comm` on its rank 0, along a binomial tree: no rank receives
 * those of more than log2(P) others, each the rows of a whole subtree. Counts, times and services
 * are summed; a communicator's span is the longest; frequencies are the summed counts over the
 * longest snapshot; max and slowest are maxima, with the lowest rank that has them; the rank
 * becomes NA. Where processes name a communicator differently, the name on the lowest rank counts;
 * where the members differ (each process has its own MPI_COMM_SELF), they become "NA". After these
 * rows come, with `per_rank`, which is the same on all ranks, all rows of each rank, which it sends
 * to rank 0; else among them each rank's total time inside MPI is a row of its own.
 * Collective over `comm`, on which nobody else may send. False on rank 0 if any rank lacked memory.
 * Else rank 0 frees `all` with rows_free; on other ranks it has no rows.
 */
bool rows_gather(const struct rows *own, bool per_rank, MPI_Comm comm, struct rows *all);

/* ---- the report ------------------------------------------------------------------------------ */

struct warnings {
    int count;
    MPIX_Monitor_warning warning[MPIX_MONITOR_WARNING_ROOTED]; /* one of each code */
};

/* Sets the warnings of an ended snapshot and its rows, this rank's or those of all ranks. Local. */
void warnings_of_snapshot(const struct snapshot *snapshot, const struct rows *rows,
                          struct warnings *warnings);

/* Adds a warning if nothing is monitored with this handle. Local. */
void warn_of_handle(const MPIX_Monitor *handle, struct warnings *warnings);

/*
 * Writes the report of an ended snapshot to the snapshot's file on rank 0 and flushes it: metadata,
 * warnings, the rows of all ranks together and, if rank 0's handle asks for them, the rows of each
 * rank. `rows` are this rank's; on rank 0 they become those of the report. A rank without memory
 * for its rows must call this too, with what rows_of_snapshot left. The locale stays as it is;
 * numbers have a decimal point in any locale.
 *
 * Collective over MPI_COMM_WORLD, whose attributes are not copied. Returns MPIX_MONITOR_SUCCESS,
 * _ERR_OUTPUT, _ERR_MEMORY or _ERR_COMMUNICATORS, the same on all ranks. Writes nothing if rank 0
 * has no memory for the rows of all ranks, or MPI no room for the communicators of the report.
 */
int report_write(const struct snapshot *snapshot, struct rows *rows);

/* A report makes communicators, and a program may have taken all that MPI has room for (2,046 with
   MPICH). Makes some now, for reports to free when they need the room: each makes them again when
   it is written. Collective over MPI_COMM_WORLD. False, on all ranks, if there is no room. */
bool report_reserve(void);

/* Nothing needs to be reserved after the next report. Local. */
void report_is_last(void);
