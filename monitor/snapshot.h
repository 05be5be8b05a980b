/*
 * Snapshots: what operations count in while a monitor is on.
 *
 * An operation begins (its call counts, and what it sends) and ends (it counts as completed, with
 * its time and what it received). It ends in those snapshots that were active when it began: each
 * snapshot has an epoch, the number of its start, and an operation keeps the latest one that it
 * began in.
 *
 * Memory is taken when a snapshot starts, and none later. All functions are local; those that say
 * so want the monitor's lock, see lock.h.
 */
#ifndef MONITOR_SNAPSHOT_H
#define MONITOR_SNAPSHOT_H

#include "communicators.h"
#include "lock.h"
#include "mpirtmon.h"
#include "operations.h"
#include "services.h"
#include "ticks.h"

#include <stdbool.h>
#include <stdint.h>

/* What of one kind of operation on one communicator was counted. Times are in ticks, less what
 * measuring adds. */
struct count {
    int64_t calls, completed, timeouts;
    int64_t bytes;
    uint64_t total_ticks, max_ticks;
};

/* From the first start to the last end; first is 0 if nothing has started, last if nothing has
 * ended. */
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
    struct span span[OPERATION_CLASSES];
    struct messages messages[MESSAGE_SIZES];
};

struct snapshot {
    /* Set at the start. */
    int64_t serial;
    uint32_t epoch;
    MPIX_Monitor asked;         /* the handle's values, with its defaults filled in */
    const MPIX_Monitor *handle; /* to know it again at the end */
    FILE *file;
    uint64_t start_ticks;
    uint64_t timeout_ticks;   /* UINT64_MAX: none */
    struct services services; /* as they were, if they were asked for */

    /* Counted. */
    struct communicator_counts *communicators; /* COMMUNICATORS_MAX, by their index */
    int64_t untracked; /* operations of which the end could not be followed */
    int64_t untold;    /* one-sided operations that may have timed out or not, for want of room */
    int64_t unknown;   /* windows and persistent requests without room; set at the end */

    /* Set at the end. */
    uint64_t end_ticks;
    struct snapshot *next_stopped;
};

/* Whether any snapshot wants operations of a class counted: bit 1 << class. 0 most of the time;
   read by every wrapper, without the lock. */
extern unsigned monitored_classes;

static inline bool is_monitored(enum operation_class class)
{
    return __builtin_expect(__atomic_load_n(&monitored_classes, __ATOMIC_RELAXED) & (1u << class),
                            0);
}

/* An operation in flight. */
struct operation {
    uint64_t start_ticks;
    uint32_t epoch;
    int16_t communicator;  /* its index */
    uint8_t kind;          /* enum operation_kind */
    bool receives;         /* messages: the status of its end says how much */
    bool posted;           /* its end is another call's */
    uint64_t posted_ticks; /* the return of the call that started it, of what is not complete then
                              and may share its request; else 0. A receive can't share one: the
                              status of its end is its own */
};

_Static_assert(OPERATIONS <= UINT8_MAX, "a kind of operation fits into an operation");

/* What an operation sends. */
struct sent {
    int64_t bytes;
    bool is_message; /* counts as small or large */
};

/* An operation begins: counts its call, then reads the clock, which is the last thing it does. On a
   communicator, or on the one of this number. Take the lock. */
void operation_begin(struct operation *operation, enum operation_kind kind, MPI_Comm comm,
                     struct sent sent, bool receives);
void operation_begin_at(struct operation *operation, enum operation_kind kind, int communicator,
                        struct sent sent, bool receives);

/* It ended at `end_ticks`, having received so many bytes. The first takes the lock, the second
 * wants it. */
void operation_end(const struct operation *operation, uint64_t end_ticks, int64_t received_bytes);
void operation_ended(const struct operation *operation, uint64_t end_ticks, int64_t received_bytes);

/* It was complete when the call that started it returned, at its posted_ticks. Wants the lock. */
void operation_ended_when_posted(const struct operation *operation);

/* The same as operation_ended for `count` operations of which only the first is known in full: the
   others started after it, all together by offset_ticks. Wants the lock. */
void operations_ended(const struct operation *first, int64_t count, uint64_t offset_ticks,
                      uint64_t end_ticks);

/* The end of an operation can't be followed. Wants the lock. */
void operation_untracked(const struct operation *operation);

/* What measuring adds to a time, in ticks, and is subtracted: to that of one call, which is what
   reading the clock takes, and to that of an operation with a request, which has some of the
   monitor's own work in it, too. Set before anything is monitored. */
void snapshots_set_own_ticks(uint64_t of_call, uint64_t of_posted);

/* A window or a persistent request found no room: its operations can't be followed. Wants the lock.
 */
void object_without_room(void);

/* Whether any active snapshot counts timeouts. Wants the lock. */
bool snapshots_count_timeouts(void);

/* True while this communicator is in the counts of a snapshot that has not been freed. Wants the
 * lock. */
bool snapshot_uses_communicator(int communicator);

/* Makes a snapshot active: MPIX_MONITOR_SUCCESS, _ERR_LIMIT or _ERR_MEMORY. Takes the lock. */
int snapshot_start(const MPIX_Monitor *handle, FILE *file, struct snapshot **snapshot);

/* Takes it out again and sets its end. Its counts stay, until snapshot_free. Both take the lock. */
void snapshot_stop(struct snapshot *snapshot);
void snapshot_free(struct snapshot *snapshot);

#endif
