/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that this process knows. Each has a number, by which snapshots count, and an
 * identity, the same on all its processes, by which a report adds up counts.
 *
 * The identity is found without communication. It is a hash of the creating function, of the ranks
 * in MPI_COMM_WORLD of the members 0, 1, 2, 4, 8 ... and of the last one, and of an ordinal: the
 * lowest that no such communicator has. So a communicator costs log2(P) steps, and one that differs
 * only in other members is counted with the first, except by peers. A freed communicator gives its
 * ordinal back, unless the program has named it: a library that duplicates a communicator in each
 * of a thousand calls has one row.
 *
 * While nothing is monitored, a new communicator is only remembered, without asking MPI anything
 * (except for duplicates of MPI_Comm_idup, whose originals are known then). It is entered, in the
 * order of creation, when a snapshot starts, or when a window or persistent request is made. Its
 * handle is valid until then, since every freeing is seen, also one that bypasses the monitor. The
 * identity is wrong only if ranks make communicators of the same members in different orders, or if
 * only some of them name one. It is also wrong if they free, at different times, one that was made
 * while nothing was monitored.
 *
 * Communicators without room are counted together on each rank, but have their own ordinals, up to
 * 12,288 handles. A new communicator takes some 2,000 instructions, 1/30 of MPI's own work, and no
 * message. A record outlives its communicator while a snapshot has counts of it. All functions are
 * local and take the monitor's lock, unless their comment differs.
 */
#pragma once

#include "monitor/lib/count/describe.h"
#include "monitor/lib/count/handles.h"

/* Number 0 stands for all communicators without room, 1 for calls on a null handle, and a number
   after the last one for calls without a communicator. */
enum {
    COMMUNICATORS_MAX = 512,
    OTHER_COMMUNICATORS = 0,
    NULL_COMMUNICATOR = 1,
    COMMUNICATORS_FIRST = 2, /* lowest number of a communicator with counts of its own */
    NO_COMMUNICATOR = COMMUNICATORS_MAX
};

/* Communicators known at a time; OTHER_COMMUNICATORS counts those from COMMUNICATORS_MAX on. */
enum { COMMUNICATORS_KNOWN = COMMUNICATORS_MAX + 12288 };

/* Room of the MPI library, with MPI_COMM_WORLD and MPI_COMM_SELF: MPICH has 2,048 context ids. */
#if defined(MPICH_VERSION)
enum { COMMUNICATORS_OF_MPI = 2048 };
#else
enum { COMMUNICATORS_OF_MPI = 1 << 30 };
#endif

extern struct communicator communicators[COMMUNICATORS_KNOWN];
extern struct handle_map communicator_records; /* by communicator_key */

/* Enters MPI_COMM_WORLD, MPI_COMM_SELF and, in a spawned job, the parent. Call it once. */
void communicators_start(void);

/* Frees MPI's objects of the records. Call it after monitoring has ended. */
void communicators_end(void);

/* True if ranks compare their calls on this communicator: it has several processes in one group,
   and room. The caller has the lock. */
static inline bool communicator_is_compared(int number)
{
    return number != OTHER_COMMUNICATORS && communicators[number].processes > 1 &&
           !communicators[number].is_inter;
}

/* Returns the number of a communicator, or HANDLE_UNKNOWN. The caller has the lock. */
static inline int communicator_find(MPI_Comm comm)
{
    const int record = handle_find(&communicator_records, communicator_key(comm));
    return record < COMMUNICATORS_MAX ? record : OTHER_COMMUNICATORS;
}

/* Returns the record of a communicator. If it has no number of its own, writes its shape to
   `described` and returns that. */
const struct communicator *communicator_record(MPI_Comm comm, int number,
                                               struct communicator *described);

/* Returns the number of a communicator; an unknown one is entered as made by "communicator". */
int communicator_index(MPI_Comm comm);

/* Enters a new communicator, made by the MPI function of this name, or remembers it. Does nothing
   for MPI_COMM_NULL or before communicators_start. */
void communicator_created(MPI_Comm comm, const char *maker);

/* Enters a duplicate, which need not be complete yet, so that only the original can be asked. */
void communicator_duplicated(MPI_Comm comm, MPI_Comm original, const char *maker);

/* True if the MPI library has room for `count` communicators in addition to the program's. Takes
   no lock. */
bool communicators_have_room(int count);

/* Enters the remembered communicators. Call it before a snapshot starts. */
void communicators_enter_remembered(void);

/* Returns the number of a communicator that is about to be freed, or HANDLE_UNKNOWN if it isn't
   entered. */
int communicator_before_free(MPI_Comm comm);

/* Returns the number of a communicator whose freeing bypasses the monitor, without entering it. */
int communicator_before_unseen_free(MPI_Comm comm);

/* Forgets the communicator of this handle and number, which has been freed. MPI may have given
   its handle to another thread already. */
void communicator_freed(MPI_Comm comm, int number);

/* Hold and release a number for a window, a persistent request or a snapshot. Need the lock. */
void communicator_hold(int communicator);
void communicator_release(int communicator);

/* Notes the name that the program has given a communicator. Reports replace a blank name by the
   creating function. */
void communicator_named(MPI_Comm comm);

/* Sets the depth of communicators: those known, except the predefined ones. Needs the lock. */
void communicators_count_depth(void);

/* Gives up the records of freed communicators, while nothing is monitored. Needs the lock. */
void communicators_tidy(void);
