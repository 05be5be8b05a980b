/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Depths: how many operations and MPI objects of this process are open at a time, and the most so
 * far (flag `depth`).
 *
 * Open receives, sends and requests are operations with a request, from the return of the call that
 * starts them until the program completes them or frees their request. A send that is complete when
 * its call returns isn't open. Open puts are one-sided operations without a request, until a
 * synchronisation completes them. Objects are those that the program has made and not freed.
 *
 * The numbers of objects are always kept, those of operations while a snapshot asks for depths. All
 * functions are local and need the monitor's lock.
 */
#pragma once

#include "monitor/lib/count/sites.h"

enum depth_kind {
    DEPTH_RECEIVES,
    DEPTH_SENDS,
    DEPTH_REQUESTS,   /* of all kinds */
    DEPTH_PUTS,       /* also gets and accumulates */
    DEPTH_UNEXPECTED, /* see unexpected.h */
    DEPTH_WINDOWS,
    DEPTH_COMMUNICATORS,
    DEPTH_DATATYPES,
    DEPTH_KINDS
};

/* High-water mark of a snapshot. */
struct depth_mark {
    int64_t high;  /* -1: unknown */
    uint16_t site; /* call site at which it was reached first, or OTHER_SITES */
};

/* Finds the site of a new mark, if no operation of the call has found it. Call it before the lock
   is taken. */
static inline void depth_prepare(void)
{
    if (are_depths_counted() && inside.callers == 0)
        site_prepare(OPERATION_OTHER_MPI);
}

/* Adds to a number, which may raise the marks. */
void depth_add(enum depth_kind kind, int64_t change);

/* Sets a number, which may raise the marks. */
void depth_set(enum depth_kind kind, int64_t now);

/* Begins to raise these marks, DEPTH_KINDS of them, which are 0 or those of an earlier time, to the
   present numbers first; ends it. */
void depths_watch(struct depth_mark marks[]);
void depths_unwatch(const struct depth_mark marks[]);
