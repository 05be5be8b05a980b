/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the wrappers of functions.def, which wrap.h makes for each language. All functions are
 * local.
 */
#pragma once

#include "monitor/lib/count/calls.h"
#include "monitor/lib/count/windows.h"
#include "monitor/lib/report/report.h"
#include "monitor/lib/wrap/next.h"
#include "monitor/lib/wrap/observed.h"

/* Finds the definitions first if the constructor of another library calls MPI. */
static inline bool is_found_and_monitored(bool is_found)
{
    if (__builtin_expect(!is_found, 0))
        find_next_definitions();
    return is_monitored(CLASS_CALLS);
}

enum { SENDS_ONLY = false, RECEIVES = true };

/* True if a rooted collective sends from this process. */
static inline bool is_root(const struct communicator *on, int root)
{
    return on->is_inter ? root == MPI_ROOT : root == on->rank;
}

/* True if this process sends to the root, possibly itself; in an intercommunicator, only the
   other group does. */
static inline bool contributes(const struct communicator *on, int root)
{
    return !on->is_inter || (root != MPI_ROOT && root != MPI_PROC_NULL);
}

static inline bool is_absent(uint64_t absent, int neighbour)
{
    return neighbour < 64 && (absent >> neighbour & 1) != 0;
}

static inline int present_neighbours(const struct communicator *on)
{
    return on->neighbours - __builtin_popcountll(on->absent);
}

/* Returns one of several counts, of the size of an int or of an MPI_Count. */
static inline int64_t count_at(const void *counts, size_t size, int block)
{
    return size == sizeof(int) ? ((const int *)counts)[block] : ((const MPI_Count *)counts)[block];
}

/* Datatypes of blocks: one for all, or an array of handles, of C or of Fortran. */
enum datatypes { ONE_TYPE, EACH_OF_C, EACH_OF_FORTRAN };

static inline MPI_Datatype datatype_at(const MPI_Datatype datatypes[], enum datatypes form,
                                       int block)
{
    if (form == EACH_OF_FORTRAN)
        return PMPI_Type_f2c(((const MPI_Fint *)datatypes)[block]);
    return datatypes[form == ONE_TYPE ? 0 : block];
}

/* Returns the bytes of the blocks for several peers, except the `absent` ones. */
static inline int64_t bytes_of_blocks(int blocks, uint64_t absent, const void *counts, size_t size,
                                      const MPI_Datatype datatypes[], enum datatypes form)
{
    int64_t bytes = 0, elements = 0;
    for (int i = 0; i < blocks; i++) {
        if (is_absent(absent, i))
            continue;
        const int64_t count = count_at(counts, size, i);
        if (form != ONE_TYPE)
            bytes += bytes_of(count, datatype_at(datatypes, form, i));
        elements += count;
    }
    return form != ONE_TYPE || elements == 0 ? bytes : elements * bytes_of(1, datatypes[0]);
}

static inline int64_t mean_of(int64_t bytes, int blocks) { return blocks > 0 ? bytes / blocks : 0; }

/* True if each other process of the communicator has data for this one. */
static inline bool needs_all(const struct communicator *on, const void *counts, size_t size,
                             const MPI_Datatype datatypes[], enum datatypes form)
{
    for (int i = 0; i < on->peers; i++)
        if (i != on->rank &&
            (count_at(counts, size, i) == 0 ||
             (form != ONE_TYPE && bytes_of(1, datatype_at(datatypes, form, i)) == 0)))
            return false;
    return form != ONE_TYPE || bytes_of(1, datatypes[0]) > 0;
}

/* Counts a one-sided operation. Returns `error`, the result of its call. */
static inline int one_sided_returned(struct operation *operation, int error, MPI_Win win,
                                     int target)
{
    if (target == MPI_PROC_NULL)
        return operation_returned(operation, error, NULL);
    operation_left(operation, ticks_now());
    operation->posted = true;
    if (error == MPI_SUCCESS)
        window_add(win, target, operation);
    return error;
}

#define IS_LOCAL(kind)                                                                             \
    ((kind) == OPERATION_Win_flush_local || (kind) == OPERATION_Win_flush_local_all)

static inline int synchronisation_returned(struct mpi_call *call, const struct ending *ending,
                                           int error)
{
    const uint64_t end_ticks = ticks_now();
    call->is_idle = ending->is_idle;
    if (!ending_finish(ending, error, call, end_ticks))
        call_left(call, ending->communicator, end_ticks);
    return error;
}

/* Collective that makes an object, which the monitor remembers inside the call. */
struct making {
    bool monitored;
    struct operation operation;
    uint64_t end_ticks;
};

static inline struct making making_begin(enum operation_kind kind, MPI_Comm comm)
{
    struct making making = {.monitored = is_monitored(CLASS_COLLECTIVE)};
    if (__builtin_expect(!communicators_have_room(2), 0)) /* for a new one and the report's */
        report_give_up_comm();
    if (making.monitored)
        operation_begin(&making.operation, kind, comm, (struct sent){0}, false);
    return making;
}

static inline void making_ends(struct making *making)
{
    making->end_ticks = making->monitored ? ticks_now() : 0;
}

static inline int making_returned(struct making *making, int error)
{
    return making->monitored
               ? operation_returned_at(&making->operation, error, 0, making->end_ticks, ticks_now())
               : error;
}

static inline int making_posted(struct making *making, int error, MPI_Request request)
{
    return making->monitored ? operation_posted(&making->operation, error, request) : error;
}

/* Remembers the communicator of a message that a probe has found. */
void message_found(MPI_Message message, MPI_Comm comm);

/* Begins the receive of a message, if receives are monitored, and forgets the message. */
bool begin_matched(struct operation *operation, enum operation_kind kind, MPI_Message message);

struct freeing {
    MPI_Comm comm;
    int number; /* HANDLE_UNKNOWN if monitoring has begun meanwhile: the call preceded it */
    bool monitored;
    struct operation operation;
};

static inline struct freeing freeing_begin(enum operation_kind kind, MPI_Comm comm)
{
    struct freeing freeing = {.comm = comm, .number = communicator_before_free(comm)};
    freeing.monitored =
        freeing.number != HANDLE_UNKNOWN &&
        begin_if_monitored(&freeing.operation, kind, freeing.number, (struct sent){0}, false);
    return freeing;
}

static inline int freeing_end(struct freeing *freeing, int error)
{
    if (error == MPI_SUCCESS)
        communicator_freed(freeing->comm, freeing->number);
    return freeing->monitored ? operation_returned(&freeing->operation, error, NULL) : error;
}

struct closing {
    struct ending ending;
    struct operation operation;
    MPI_Win win;
    bool monitored; /* as a collective */
};

static inline struct closing closing_begin(enum operation_kind kind, MPI_Win win)
{
    const uint64_t called_ticks = ticks_now();
    struct closing closing = {.ending = window_take(win, EVERY_TARGET, false),
                              .win = win,
                              .monitored = is_monitored(CLASS_COLLECTIVE)};
    if (closing.monitored)
        operation_begin_called(&closing.operation, kind, closing.ending.communicator,
                               (struct sent){0}, called_ticks);
    return closing;
}

static inline int closing_end(struct closing *closing, int error)
{
    const uint64_t end_ticks = ticks_now();
    (void)ending_finish(&closing->ending, error, NULL, end_ticks);
    return closing->monitored
               ? operation_returned_at(&closing->operation, error, 0, end_ticks, ticks_now())
               : error;
}

static inline void window_closed(const struct closing *closing, int error)
{
    if (error == MPI_SUCCESS)
        window_freed(closing->win, closing->ending.window);
}

/* Enter, if calls are monitored, and leave a call of a function that has no row of its own. The
   second returns `error`. */
bool other_enter(struct mpi_call *call);
int other_left(const struct mpi_call *call, bool entered, int error);

/* Count derived datatypes that the program has made or freed. */
void datatype_made(void);
void datatype_freed(void);

/* Counts the datatypes that MPI has returned as parts of another, up to `room`, which the program
   frees. */
void datatypes_copied(MPI_Datatype whole, MPI_Count room, const MPI_Datatype parts[],
                      enum datatypes form);

typedef int RANGE[3]; /* of ranks: the first, the last and the step */
