/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of operations and other calls, one for each function of functions.def, and the classes
 * that are counted.
 */
#pragma once

#include "monitor/lib/count/late.h"
#include "monitor/lib/count/names.h"
#include "monitor/lib/count/peers.h"

#include <stdbool.h>

enum operation_kind {
#define LARGE_COUNTS 0
#define ROW NAMES
#define UNCOUNTED(Name)
#define OPERATION(Name, Class) OPERATION_##Name,
#include "monitor/lib/count/functions.def"
    OPERATION_OTHER_MPI, /* all calls of functions that have no row of their own */
    OPERATION_MONITOR,   /* the monitor's work around calls */
    OPERATIONS
};

/* Classes of functions. Those of CLASS_CALLS are not operations: their calls are counted if they
   complete no operation. CLASS_FILES are operations without communicator and size. */
enum operation_class {
    CLASS_POINT_TO_POINT,
    CLASS_COLLECTIVE,
    COMMUNICATION_CLASSES, /* number of the classes above */
    CLASS_FILES = COMMUNICATION_CLASSES,
    CLASS_CALLS,
    OPERATION_CLASSES,
    /* No classes: see monitored_classes. */
    SIZES = OPERATION_CLASSES,
    SITES,
    PEERS,
    DEPTHS
};

/* Classes that any snapshot counts, bit 1 << class, and 1 << SIZES for sizes, 1 << SITES for call
   sites and so on. Atomic; mostly 0. */
extern unsigned monitored_classes;

static inline bool is_monitored(enum operation_class class)
{
    return __builtin_expect(__atomic_load_n(&monitored_classes, __ATOMIC_RELAXED) & (1u << class),
                            0);
}

static inline bool is_anything_monitored(void)
{
    return __builtin_expect(__atomic_load_n(&monitored_classes, __ATOMIC_RELAXED) != 0, 0);
}

static inline bool are_sizes_counted(void) { return is_monitored(SIZES); }
static inline bool are_sites_counted(void) { return is_monitored(SITES); }
static inline bool are_peers_counted(void) { return is_monitored(PEERS); }
static inline bool are_depths_counted(void) { return is_monitored(DEPTHS); }

extern const struct operation_traits {
    const char *name; /* of the MPI function, "other MPI" or "libmpirtmon" */
    enum operation_class class;
} operation_traits[OPERATIONS];

static inline enum peer_way operation_way(enum operation_kind kind)
{
    switch (kind) {
    case OPERATION_Put:
    case OPERATION_Rput:
    case OPERATION_Accumulate:
    case OPERATION_Raccumulate:
        return PEER_PUTS;
    case OPERATION_Get:
    case OPERATION_Rget:
    case OPERATION_Get_accumulate:
    case OPERATION_Rget_accumulate:
    case OPERATION_Fetch_and_op:
    case OPERATION_Compare_and_swap:
        return PEER_GETS;
    default:
        return PEER_SENDS;
    }
}

static inline enum late_wait operation_wait(enum operation_kind kind)
{
    switch (kind) {
    case OPERATION_Bcast:
    case OPERATION_Scatter:
    case OPERATION_Scatterv:
        return OTHERS_WAIT;
    case OPERATION_Gather:
    case OPERATION_Gatherv:
    case OPERATION_Reduce:
        return THE_ROOT_WAITS;
    default:
        return ALL_WAIT;
    }
}
