/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of a report, made from the counts of this process. waiting.h and gather.h add the other
 * ranks. All functions are local.
 */
#pragma once

#include "monitor/lib/report/pairs.h"

/* In the order of reports. */
enum row_kind {
    KIND_PTTOPT,
    KIND_COLL,
    KIND_CALLS,
    KIND_SIZES,
    KIND_COMM,
    KIND_WORKLOAD,
    KIND_OTHER,
    KIND_SITE,
    KIND_MODULE, /* `operation` is the name of a module of the program, `site` its path */
    KIND_PEER,
    KIND_DEPTH,
    KIND_TOTAL,
};

/* Row and its sort key. Rows of two ranks are merged if their kinds, identities, operations and
   operation names are equal. */
struct keyed_row {
    enum row_kind kind;
    int order;         /* of the communicator, see communicators.h; KIND_SITE: number of the site */
    uint64_t identity; /* of the communicator; 0 if the row has none */
    int operation;     /* in the order of reports, within the kind */
    MPIX_Monitor_row row;
};

/* Times of ranks outside MPI, the basis of efficiencies, see efficiency.h. */
struct times_outside {
    int ranks;                /* whose times these are */
    double useful_s;          /* sum over ranks of their useful computation */
    double longest_s;         /* of a rank */
    double longest_ideal_s;   /* with its waiting for late ranks */
    double longest_unknown_s; /* of a rank, in calls whose waiting isn't known */
};

/* Rows of one snapshot, sorted by kind, communicator (order, name, members, identity),
   operation. */
struct rows {
    struct keyed_row *rows; /* freed by rows_free */
    int count;
    bool incomplete;     /* memory ran out */
    double seconds;      /* length of the snapshot; of all ranks: the longest */
    warning_cases cases; /* of all ranks: their sums */
    unsigned languages;  /* see languages.h; of all ranks */
    /* Only with a common clock, and then equal on all ranks: comparisons of the clocks, their max
       error, and calls of rooted collectives whose waiting is unknown. */
    int clock_comparisons;
    double clock_error_ns;
    int64_t unknown_rooted;
    struct times_outside outside;
    struct pairs pairs; /* rows of kind peer */
};

/* Makes the rows that the handle of an ended snapshot asks for. MPI must be initialised. Returns
   false if memory runs out: then there are no rows, and `incomplete` is set. */
bool rows_of_snapshot(const struct snapshot *snapshot, struct rows *rows);

/* Compares in the order of merging: equal rows are merged. Names and members are ignored. */
int rows_compare_identities(const void *first, const void *second);

/* Compares in the order of reports. */
int rows_compare_in_report(const void *first, const void *second);

void rows_sort(struct rows *rows, int (*compare)(const void *, const void *));

/* Sets the mean time of a row from its total. */
void rows_set_mean(MPIX_Monitor_row *row);

/* Appends the rows of `more`. Returns false if memory runs out: then both stay as they are. */
bool rows_append(struct rows *rows, const struct rows *more);
void rows_free(struct rows *rows);
