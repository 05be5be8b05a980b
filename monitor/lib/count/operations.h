/*
 * Operations and other calls of MPI, from their beginning to their end, and how they count in
 * snapshots.
 *
 * An operation begins (its call counts, and what it sends) and ends (it counts as completed, with
 * its time and what it received). It ends in the snapshots that were active when it began: each
 * snapshot has an epoch, the number of its start, and an operation keeps that in which it began.
 *
 * The time inside MPI of a call counts in the snapshots that were active when the call began: for
 * the operation that the call is or starts, for those that it completes, in equal parts, and else
 * for the function itself. What the monitor takes for a call, its readings of the clock and what it
 * does before and after them, counts for OPERATION_MONITOR. So the time inside of all operations
 * and functions is that of the process. A part that belongs to an operation which began before a
 * snapshot counts in it for the function.
 *
 * All functions are local. "Wants the lock": the caller has the monitor's lock, see handles.h.
 */
#pragma once

#include "monitor/lib/count/between.h"
#include "monitor/lib/count/snapshot.h"

/* The amounts that an operation sends. */
struct sent {
    int64_t bytes;
    int64_t size; /* of the block that the count argument is about, or SIZE_OF_MESSAGE_TO */
};

/* The size is `bytes`, which count as a small or a large message to this rank. */
#define SIZE_OF_MESSAGE_TO(destination) (INT64_C(-1) - (destination))

static inline bool is_message(struct sent sent) { return sent.size < 0; }
static inline int destination_of(struct sent sent) { return (int)(INT64_C(-1) - sent.size); }

/* The operation that each start of a persistent request begins. */
struct plan {
    enum operation_kind kind;
    int communicator; /* its number */
    struct sent sent;
    bool receives; /* messages: the status of the end says how many bytes */
};

/* An operation in flight. */
struct operation {
    uint64_t start_ticks;
    uint32_t epoch;
    int16_t communicator;  /* its number */
    uint8_t kind;          /* enum operation_kind */
    bool receives;         /* messages: the status of the end says how many bytes */
    bool posted;           /* another call ends it */
    bool joinable;         /* see between.h; where sizes are counted */
    bool is_outermost;     /* the call that is it, or started it: see inside.h */
    uint8_t part;          /* collectives, blocking: enum late_part */
    uint32_t before_ticks; /* the same: how long before its start the program called */
    uint64_t posted_ticks; /* when the call that started it returned; 0 if it was complete by then,
                              or receives: a receive has a status, so it shares no request */
    int64_t size;          /* in bytes; of a receive the end knows */
    uint64_t inside_ticks; /* in the call that started it */
    uint64_t computing_ticks;    /* the computing clock in that call, see inside.h ... */
    const struct inside *thread; /* ... of this thread */
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

/* Begins an operation on a communicator, or on the one of this number: counts the call, then, last
   of all, reads the clock. Both take the lock. Their arguments fit into registers. */
void operation_begin(struct operation *operation, enum operation_kind kind, MPI_Comm comm,
                     struct sent sent, bool receives);
void operation_begin_at(struct operation *operation, enum operation_kind kind, int communicator,
                        struct sent sent, bool receives);

/* Begins an operation whose arguments take time to find: the program called at called_ticks. */
void operation_begin_called(struct operation *operation, enum operation_kind kind, int communicator,
                            struct sent sent, uint64_t called_ticks);

/* Ends an operation at `end_ticks`. Takes the lock. */
void operation_end(const struct operation *operation, uint64_t end_ticks, int64_t received_bytes);

/* Counts the time inside MPI of the call that is the operation, or started it, and returns at
   `exit_ticks`. Takes the lock. */
void operation_left(struct operation *operation, uint64_t exit_ticks);

/* Counts an operation that ended at end_ticks in its own call by its size, or by what it received
   if that is more, after operation_left. Nothing where sizes aren't counted. Takes the lock. */
void operation_sized(const struct operation *operation, uint64_t end_ticks, int64_t received_bytes);

static inline struct sized_kind sized_kind_of(const struct operation *operation)
{
    return (struct sized_kind){
        .epoch = operation->epoch,
        .communicator = operation->communicator,
        .kind = operation->kind,
        .size_class = (uint8_t)size_class(operation->size),
    };
}

/* Ends an operation that was complete when the call that started it returned, at its posted_ticks.
   Wants the lock. */
void operation_ended_when_posted(const struct operation *operation);

/* Returns the sum of the times of `count` operations from their starts to their end, without what
   measuring added. Only the first one is known in full: the sum of the others' starts after its
   start is offset_ticks. The sum may exceed what an integer holds. Local. */
double operations_ticks(const struct operation *first, int64_t count, double offset_ticks,
                        uint64_t end_ticks);

/* Ends these operations. Wants the lock. */
void operations_ended(const struct operation *first, int64_t count, double offset_ticks,
                      uint64_t end_ticks, int64_t received_bytes);

/* ---- calls that are no operations ------------------------------------------------------------ */

/* Begins a call; first of all it reads the clock. */
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

/* Counts a call of a function that any thread may call at any thread level, also while another one
   is in a call of MPI and where the lock isn't needed. Takes no lock. */
void call_left_by_any_thread(const struct mpi_call *call, uint64_t exit_ticks);

/* Ends a call that has completed or started operations, to which its ticks are given. Takes the
   lock. */
void call_completes(const struct mpi_call *call);

/* Returns the ticks of the call until now_ticks. Local. */
static inline uint64_t call_ticks(const struct mpi_call *call, uint64_t now_ticks)
{
    return call->is_outermost ? between_readings(call->entered_ticks, now_ticks) : 0;
}

/* The ticks of such a call: equal parts of those until it returned, and for the last operations
   what is left, with what the monitor does for the others. */
struct shares {
    const struct mpi_call *call;
    uint64_t each_ticks, given_ticks;
    int64_t operations; /* that have none yet */
};

/* Divides the ticks of a call, after call_completes, that returned at end_ticks with this number of
   operations. */
static inline struct shares shares_begin(const struct mpi_call *call, int64_t operations,
                                         uint64_t end_ticks)
{
    return (struct shares){
        .call = call,
        .each_ticks = call_ticks(call, end_ticks) / (uint64_t)operations,
        .operations = operations,
    };
}

/* Returns the ticks of the next `operations` operations. With the last ones the call is left, at
   exit_ticks (0: now). Local. */
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

/* Gives ticks of a call to an operation that it has completed (MPI_Startall: started), or to
   `count` operations of the kind, communicator and epoch of `operation`. Takes the lock, or wants
   it. */
void call_completed(const struct mpi_call *call, const struct operation *operation, uint64_t ticks);
void call_completed_locked(const struct mpi_call *call, const struct operation *operation,
                           uint64_t ticks);

/* Gives ticks of a call to an operation, and ends it at end_ticks. Takes the lock. */
void operation_completed(const struct operation *operation, const struct mpi_call *call,
                         uint64_t ticks, uint64_t end_ticks, int64_t received_bytes);

/* Notes that the end of an operation can't be followed. Wants the lock. */
void operation_untracked(const struct operation *operation);
