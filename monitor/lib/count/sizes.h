/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts by size (powers of two) of each kind of operation on each communicator. A count for which
 * there is no room is lost. All functions are local and need the monitor's lock.
 */
#pragma once

#include "monitor/lib/count/handles.h"

/* Classes of sizes: 0 bytes, 1 byte, 2 to 3, 4 to 7 and so on. */
enum { SIZE_CLASSES = 64 };

static inline int size_class(int64_t bytes)
{
    return bytes <= 0 ? 0 : 64 - __builtin_clzll((unsigned long long)bytes);
}

static inline int64_t size_of_class(int size_class)
{
    return size_class == 0 ? 0 : INT64_C(1) << (size_class - 1);
}

struct size_amounts {
    int64_t completed, bytes; /* bytes: the sum of their sizes */
    double total_ticks;       /* from start to end */
    uint64_t inside_ticks;    /* in the calls that are, start or complete them ... */
    uint64_t wait_ticks;      /* ... of which in calls that complete them */
    double computed_ticks;    /* the thread's computation between the call that starts one and the
                                 call that completes it */
    uint64_t after_ticks;     /* the thread's computation after that, see between.h */
    int64_t joinable;         /* number of joinable operations, see between.h */
};

struct sized_kind {
    uint32_t epoch; /* not in tables */
    int16_t communicator;
    uint8_t kind, size_class;
};

struct size_count {
    uint64_t key; /* 0: the place is empty */
    struct sized_kind of;
    struct size_amounts amounts;
};

enum { SIZE_COUNTS_BITS = 13, SIZE_COUNTS_MAX = 3 << (SIZE_COUNTS_BITS - 2) };

struct size_table {
    struct size_count *counts; /* 1 << SIZE_COUNTS_BITS of them, NULL if sizes aren't counted */
    int used;
};

/* Adds operations of this kind. Returns false if there is no room. */
static inline bool size_table_add(struct size_table *table, const struct sized_kind *of,
                                  const struct size_amounts *amounts)
{
    const uint64_t place = (uint64_t)of->communicator << 8 | of->kind;
    struct size_count *const count = table_add(table->counts, sizeof *count, SIZE_COUNTS_BITS,
                                               &table->used, (place << 8 | of->size_class) + 1);
    if (count == NULL)
        return false;
    count->of = *of;
    count->amounts.completed += amounts->completed;
    count->amounts.bytes += amounts->bytes;
    count->amounts.total_ticks += amounts->total_ticks;
    count->amounts.inside_ticks += amounts->inside_ticks;
    count->amounts.wait_ticks += amounts->wait_ticks;
    count->amounts.computed_ticks += amounts->computed_ticks;
    count->amounts.after_ticks += amounts->after_ticks;
    count->amounts.joinable += amounts->joinable;
    return true;
}
