/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots: counts and lifetime. The memory of counts is allocated when a snapshot is created. All
 * functions are local. "Needs the lock": the caller has the monitor's lock, see handles.h.
 */
#pragma once

#include "monitor/lib/count/communicators.h"
#include "monitor/lib/count/depths.h"
#include "monitor/lib/count/kinds.h"
#include "monitor/lib/count/services.h"
#include "monitor/lib/count/sizes.h"
#include "monitor/lib/count/ticks.h"
#include "monitor/lib/mpirtmon.h"

/* Destination of messages and puts, by function and communicator. */
struct destination {
    uint64_t key;   /* 0: the place is empty */
    uint64_t burst; /* burst in which the last one went there, see between.h */
};

enum { DESTINATIONS_BITS = 14 };

struct destination_table {
    struct destination *entries; /* 1 << DESTINATIONS_BITS; NULL if sizes aren't counted */
    int used;
};

/* Counts of one kind of operation on one communicator. Times are in ticks, minus the monitor's
   own. */
struct count {
    int64_t calls, completed, timeouts;
    int64_t bytes;
    double total_ticks;    /* from start to end */
    uint64_t max_ticks;    /* of one operation */
    uint64_t inside_ticks; /* inside MPI ... */
    uint64_t wait_ticks;   /* ... of which in calls that complete them */
    int64_t idle;          /* calls that had nothing to complete */
    int32_t neighbours;    /* number of destinations, if sizes are counted */
};

/* First start and last end; 0 if nothing has started or ended. */
struct span {
    uint64_t first, last;
};

struct messages {
    int64_t count, bytes;
};

enum message_size { SMALL, LARGE, MESSAGE_SIZES };

struct communicator_counts {
    bool used;
    struct count operation[OPERATIONS];
    struct span span[CLASS_CALLS];
    struct messages messages[MESSAGE_SIZES];
};

enum { WARNING_CODES = MPIX_MONITOR_WARNING_PEERS + 1 };

/* Number of cases of each warning, by its code. */
typedef int64_t warning_cases[WARNING_CODES];

/* Calls of functions that any thread may call at any time, which snapshots find at their end.
   Atomic. */
extern struct any_thread {
    int64_t calls;
    uint64_t inside_ticks;
} any_thread;

struct snapshot {
    /* Set at the start. */
    int64_t serial;
    uint32_t epoch, first_epoch; /* of the latest start, which may be a restart; of the first one */
    MPIX_Monitor asked;          /* the handle's values, defaults filled in */
    const MPIX_Monitor *handle;  /* to recognise it at the end */
    FILE *file;
    uint64_t start_ticks;
    uint64_t timeout_ticks;       /* UINT64_MAX: none */
    struct services services;     /* readings at the start, if asked for */
    struct any_thread any_thread; /* the process's calls until the start */

    /* Counts. */
    struct communicator_counts *communicators; /* by number; the last is NO_COMMUNICATOR */
    struct late *late;                         /* NULL: no report, or no collectives in it */
    struct size_table sizes;                   /* empty if sizes aren't asked for */
    struct destination_table destinations;     /* empty if sizes aren't asked for */
    struct site_count *sites;                  /* by number; NULL if sites aren't asked for */
    struct peer_table peers;                   /* empty if peers aren't asked for */
    int threads;                               /* that called MPI, at MPI_THREAD_MULTIPLE */
    struct depth_mark depths[DEPTH_KINDS];     /* if depths are asked for */
    warning_cases cases;

    uint64_t end_ticks; /* set at the end */
};

/* Active snapshots. Need the lock. */
extern struct snapshot *active[MPIX_MONITOR_ACTIVE_MAX];
extern int active_count;

/* Epoch of the latest snapshot. Atomic. */
extern uint32_t latest_epoch;

/* Returns the counts of a communicator, which the snapshot holds from now on. Needs the lock. */
static inline struct communicator_counts *snapshot_counts(struct snapshot *snapshot,
                                                          int communicator)
{
    struct communicator_counts *const counts = &snapshot->communicators[communicator];
    if (__builtin_expect(!counts->used, 0)) {
        if (communicator != NO_COMMUNICATOR)
            communicator_hold(communicator);
        counts->used = true;
    }
    return counts;
}

/* Counts `calls` calls of a function with their ticks. Returns the count. Needs the lock. */
static inline struct count *snapshot_count_calls(struct snapshot *snapshot,
                                                 enum operation_kind kind, int communicator,
                                                 int64_t calls, uint64_t ticks)
{
    struct count *const count = &snapshot_counts(snapshot, communicator)->operation[kind];
    count->calls += calls;
    count->inside_ticks += ticks;
    return count;
}

/* Counts a call at its site, with its ticks, after site_prepare. Needs the lock. */
static inline void snapshot_count_site(struct snapshot *snapshot, enum operation_kind kind,
                                       uint64_t ticks)
{
    if (__builtin_expect(snapshot->sites == NULL, 1))
        return;
    struct site_count *const site = &snapshot->sites[site_now(kind)];
    site->calls++;
    site->inside_ticks += ticks;
    if (ticks > site->max_ticks)
        site->max_ticks = ticks;
}

/* Counts the thread in the snapshots that have started since its last call. Needs the lock. */
void snapshots_count_thread(void);

/* Adds amounts of a peer, which is not PEER_NONE, to the snapshots that have counted the
   operation's beginning. Needs the lock. */
void snapshots_add_peer(uint32_t epoch, int32_t peer, enum peer_way way,
                        const struct peer_amounts *amounts);

/* Adds amounts of such operations to the snapshots in which they count. Needs the lock. */
void snapshots_add_sizes(const struct sized_kind *which, const struct size_amounts *amounts);

/* Note a window or persistent request that found no room, and its freeing. Need the lock. */
void object_without_room(void);
void object_without_room_freed(void);

/* True if an active snapshot counts timeouts. Needs the lock. */
bool snapshots_count_timeouts(void);

/* Makes an inactive snapshot. Returns NULL if memory runs out. */
struct snapshot *snapshot_create(const MPIX_Monitor *handle, FILE *file);

/* Makes it active. False if MPIX_MONITOR_ACTIVE_MAX snapshots already are. Needs the lock. */
bool snapshot_start(struct snapshot *snapshot);

/* Makes the active snapshots begin with a call of MPI_Init or MPI_Init_thread, which took
   `ticks`. Takes the lock. */
void snapshots_begin_with(enum operation_kind kind, uint64_t ticks);

/* Makes it inactive and sets its end. Both functions take the lock. */
void snapshot_stop(struct snapshot *snapshot);
void snapshot_free(struct snapshot *snapshot);
