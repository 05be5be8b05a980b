/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations and other MPI calls, from their beginning to their end, and their counts in snapshots.
 *
 * An operation begins (its call and its sent bytes are counted) and ends (it is counted as
 * completed, with its time and its received bytes). It ends in the snapshots that were active when
 * it began. Each snapshot has an epoch, the number of its start, and an operation keeps the epoch
 * of its beginning.
 *
 * The time of a call counts in the snapshots that were active when the call began: for the
 * operation that the call is or starts, in equal parts for those that it completes, else for the
 * function. The monitor's own time is attributed to OPERATION_MONITOR. So the times of all
 * operations and functions add up to that of the process. If an operation began before a snapshot,
 * its part counts there for the function.
 *
 * All functions are local. "Needs the lock": the caller has the monitor's lock, see handles.h.
 */
#pragma once

#include "monitor/lib/count/between.h"
#include "monitor/lib/count/snapshot.h"

struct sent {
    int64_t bytes;
    int64_t size; /* of the block that the count argument describes, or SIZE_OF_MESSAGE_TO */
};

/* Value of `size` for bytes that are counted as a message to this rank. */
#define SIZE_OF_MESSAGE_TO(destination) (INT64_C(-1) - (destination))

static inline bool is_message(struct sent sent) { return sent.size < 0; }
static inline int destination_of(struct sent sent) { return (int)(INT64_C(-1) - sent.size); }

/* Operation that each start of a persistent request begins. */
struct plan {
    enum operation_kind kind;
    int communicator; /* its number */
    struct sent sent;
    bool receives; /* for messages: the status at the end has the bytes and the source */
};

/* An operation in flight. */
struct operation {
    uint64_t start_ticks;
    uint32_t epoch;
    int16_t communicator;  /* its number */
    uint8_t kind;          /* enum operation_kind */
    bool receives;         /* for messages: the status at the end has the bytes */
    bool posted;           /* nonblocking: another call ends it */
    bool joinable;         /* see between.h; set if sizes are counted */
    bool is_outermost;     /* its call, or the call that started it, is outermost: see inside.h */
    uint8_t part;          /* for blocking collectives: enum late_part */
    uint16_t site;         /* number of the call site that started it, see sites.h */
    uint32_t before_ticks; /* blocking collectives: from the program's call to the start */
    int32_t peer;          /* to which it sends, or PEER_NONE; set if peers are counted */
    uint64_t posted_ticks; /* when the call that started it returned; 0 if it was complete by then,
                              or receives: a receive has a status, so it shares no request */
    int64_t size;          /* in bytes; for a receive known at its end */
    uint64_t inside_ticks; /* in the call that started it */
    uint64_t computing_ticks;    /* the computing clock in that call, see inside.h */
    const struct inside *thread; /* the thread of that clock */
};

_Static_assert(OPERATIONS < UINT8_MAX, "a kind of operation fits into an operation");

/* A call of a function that is no operation, in progress. */
struct mpi_call {
    uint64_t entered_ticks;   /* when the clock was read at its entry */
    uint64_t computing_ticks; /* the computing clock in it, see inside.h */
    uint32_t epoch;
    uint8_t kind; /* enum operation_kind, of CLASS_CALLS */
    bool is_outermost;
    bool is_idle; /* a flush that has nothing to complete, see windows.h */
};

/* Begin an operation on a communicator, or on that of this number: count the call, then read the
   clock, last of all. Take the lock. */
void operation_begin(struct operation *operation, enum operation_kind kind, MPI_Comm comm,
                     struct sent sent, bool receives);
void operation_begin_at(struct operation *operation, enum operation_kind kind, int communicator,
                        struct sent sent, bool receives);

/* Begins an operation whose arguments take time to find, called at called_ticks. Takes the lock. */
void operation_begin_called(struct operation *operation, enum operation_kind kind, int communicator,
                            struct sent sent, uint64_t called_ticks);

/* Ends an operation at `end_ticks`. Takes the lock. */
void operation_end(const struct operation *operation, uint64_t end_ticks, int64_t received_bytes);

/* Counts the time inside MPI of the call that is the operation, or started it, and returned at
   exit_ticks. Takes the lock. */
void operation_left(struct operation *operation, uint64_t exit_ticks);

/* Counts an operation that ended in its own call by its size, or by its received bytes if they
   are more. Call it after operation_left. Takes the lock. */
void operation_sized(const struct operation *operation, uint64_t end_ticks, int64_t received_bytes);

/* Counts the message of `bytes` that an operation received from `source`, a rank of its
   communicator, and its time inside MPI; `share` is its part of the call that completed it. Call it
   if peers are counted, after operation_left or operation_completed. Takes the lock. */
void operation_received(const struct operation *operation, int source, int64_t bytes,
                        uint64_t share);

/* Returns the kind of an operation of this size in bytes. */
static inline struct sized_kind sized_kind_of(const struct operation *operation, int64_t bytes)
{
    return (struct sized_kind){
        .epoch = operation->epoch,
        .communicator = operation->communicator,
        .kind = operation->kind,
        .size_class = (uint8_t)size_class(bytes),
    };
}

/* Ends an operation at its posted_ticks. Needs the lock. */
void operation_ended_when_posted(const struct operation *operation);

/* Returns the sum of the times of `count` operations from their starts to their common end, minus
   the monitor's own time. Only the first is known in full; offset_ticks is the sum of the other
   starts, each relative to its start. The sum may exceed an integer. */
double operations_ticks(const struct operation *first, int64_t count, double offset_ticks,
                        uint64_t end_ticks);

/* Ends these operations. Needs the lock. */
void operations_ended(const struct operation *first, int64_t count, double offset_ticks,
                      uint64_t end_ticks, int64_t received_bytes);

/* Begins a call. Reads the clock first of all. */
static inline void call_enter(struct mpi_call *call, enum operation_kind kind)
{
    call->entered_ticks = ticks_now();
    call->is_outermost = inside_enter(call->entered_ticks);
    call->computing_ticks = inside.computing_ticks;
    call->kind = (uint8_t)kind;
    call->is_idle = false;
    call->epoch = __atomic_load_n(&latest_epoch, __ATOMIC_RELAXED);
}

/* Counts a call that has completed no operation, with its time, for its function on the
   communicator of this number. It returned at exit_ticks; 0: just now. Takes the lock. */
void call_left(const struct mpi_call *call, int communicator, uint64_t exit_ticks);

/* Counts a call of a function that any thread may call at any thread level. Takes no lock. */
void call_left_by_any_thread(const struct mpi_call *call, uint64_t exit_ticks);

/* Ends a call that has completed or started operations, which get its ticks. Takes the lock. */
void call_completes(const struct mpi_call *call);

static inline uint64_t call_ticks(const struct mpi_call *call, uint64_t now_ticks)
{
    return call->is_outermost ? between_readings(call->entered_ticks, now_ticks) : 0;
}

/* Division of the ticks of such a call: equal parts of those until its return. The last operations
   also get the ticks of the monitor's work for the others. */
struct shares {
    const struct mpi_call *call;
    uint64_t each_ticks, given_ticks;
    int64_t operations; /* operations that have no ticks yet */
};

/* Divides the ticks of a call that returned at end_ticks. Call it after call_completes. */
static inline struct shares shares_begin(const struct mpi_call *call, int64_t operations,
                                         uint64_t end_ticks)
{
    return (struct shares){
        .call = call,
        .each_ticks = call_ticks(call, end_ticks) / (uint64_t)operations,
        .operations = operations,
    };
}

/* Returns the ticks of the next `operations` operations. The last ones leave the call, at
   exit_ticks (0: now). */
static inline uint64_t shares_take(struct shares *shares, int64_t operations, uint64_t exit_ticks)
{
    uint64_t ticks = (uint64_t)operations * shares->each_ticks;
    shares->operations -= operations;
    if (shares->operations == 0) {
        const uint64_t left_ticks = exit_ticks != 0 ? exit_ticks : ticks_now();
        ticks = call_ticks(shares->call, left_ticks) - shares->given_ticks;
        (void)inside_leave(shares->call->is_outermost, left_ticks + inside_own.after_operation);
    }
    shares->given_ticks += ticks;
    return ticks;
}

/* Give ticks of a call to an operation that it has completed or started, or to several of its
   kind, communicator and epoch. The first takes the lock, the second needs it. */
void call_completed(const struct mpi_call *call, const struct operation *operation, uint64_t ticks);
void call_completed_locked(const struct mpi_call *call, const struct operation *operation,
                           uint64_t ticks);

/* Gives ticks of a call to an operation and ends it at end_ticks. Takes the lock. */
void operation_completed(const struct operation *operation, const struct mpi_call *call,
                         uint64_t ticks, uint64_t end_ticks, int64_t received_bytes);

/* Notes that the end of an operation can't be followed. Needs the lock. */
void operation_untracked(const struct operation *operation);
