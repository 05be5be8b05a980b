/*
 * The communicators that this process knows. Each has a number, by which snapshots count, and an
 * identity that is the same on all its processes, by which a report adds up their counts.
 *
 * The identity is found without communication: a hash of the function that made the communicator,
 * of some of the members' ranks in MPI_COMM_WORLD, and of an ordinal, the lowest that no such
 * communicator has. The ranks are those of the members 0, 1, 2, 4, 8 ... and of the last one: a
 * communicator costs log2(P) steps, and so does one that differs from another of its size in none
 * of these count with that. A freed communicator gives its ordinal up, unless the program has named
 * it: a library that duplicates a communicator in each of a thousand calls has one row.
 * Communicators of one process are added up over all processes, by the same ordinal.
 *
 * While nothing is monitored a new communicator is only remembered, without asking MPI anything
 * (but for the duplicates of MPI_Comm_idup, whose originals are known then). What is remembered is
 * entered, in the order in which it was made, when a snapshot starts, or a window or persistent
 * request is made. Its handle is valid until then: every freeing is seen, also one around the
 * monitor. The identity is wrong only if ranks make (or, where the monitor did not see that, first
 * use) communicators of the same members in different orders, if only some of the ranks name them,
 * or if ranks free a communicator that was made while nothing is monitored, one before and one
 * after that.
 *
 * A communicator that finds no room counts with others in the same condition, on this rank. Its
 * ordinal is its own nevertheless, as on ranks where it has room: for up to 12,288 handles at a
 * time, and as many names of freed communicators.
 *
 * Nothing is sent when a communicator is made, nor to number it for a report. A new one takes some
 * 2,000 instructions, about 1/30 of what MPI takes to make it.
 *
 * A record outlives its communicator while a snapshot has counts of it. All functions are local and
 * take the monitor's lock, unless they say otherwise.
 */
#pragma once

#include "monitor/lib/count/describe.h"
#include "monitor/lib/count/handles.h"

/* Number 0 stands for all communicators that found no room, 1 for calls on a null handle, which
   fail, and a number after the last one for calls that have no communicator. */
enum {
    COMMUNICATORS_MAX = 512,
    OTHER_COMMUNICATORS = 0,
    NULL_COMMUNICATOR = 1,
    COMMUNICATORS_FIRST = 2, /* of those that are told apart */
    NO_COMMUNICATOR = COMMUNICATORS_MAX
};

/* Communicators that are known at a time. Those from COMMUNICATORS_MAX on found no room, and count
   for OTHER_COMMUNICATORS. */
enum { COMMUNICATORS_KNOWN = COMMUNICATORS_MAX + 12288 };

/* Communicators that the MPI library has room for, with MPI_COMM_WORLD and MPI_COMM_SELF: the
   context ids of MPICH. Open MPI has room for many more. */
#if defined(MPICH_VERSION)
enum { COMMUNICATORS_OF_MPI = 2048 };
#else
enum { COMMUNICATORS_OF_MPI = 1 << 30 };
#endif

extern struct communicator communicators[COMMUNICATORS_KNOWN];
extern struct handle_map communicator_records; /* by communicator_key */

/* Enters MPI_COMM_WORLD, MPI_COMM_SELF and, in a spawned job, the parent. Call it once, when MPI is
   initialised. */
void communicators_start(void);

/* Frees what MPI keeps for the records. Call it when nothing is monitored any more. Local. */
void communicators_end(void);

/* True if ranks compare what they know of the calls on the communicator of this number: one of
   several processes, that are one group and have room. The caller has the lock. */
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

/* Returns the record of a communicator. If it has no number of its own, its shape is written to
   `described` and that is returned. */
const struct communicator *communicator_record(MPI_Comm comm, int number,
                                               struct communicator *described);

/* Returns the number of a communicator; an unknown one is entered as made by "communicator". */
int communicator_index(MPI_Comm comm);

/* Enters a new communicator, made by the MPI function of this name, or remembers it. Nothing for
   MPI_COMM_NULL or before communicators_start. */
void communicator_created(MPI_Comm comm, const char *maker);

/* Enters a duplicate, which need not be complete yet, so that only the original can be asked. */
void communicator_duplicated(MPI_Comm comm, MPI_Comm original, const char *maker);

/* True if the MPI library has room for this number of communicators in addition to the program's.
   Takes no lock. */
bool communicators_have_room(int count);

/* Enters what is remembered. Call it before a snapshot starts. */
void communicators_enter_remembered(void);

/* Returns the number of a communicator that is about to be freed, or HANDLE_UNKNOWN if it isn't
   entered, which it is if anything is monitored. */
int communicator_before_free(MPI_Comm comm);

/* Returns the number where a tool, or the MPI library for another language, frees it around the
   monitor. It isn't entered. */
int communicator_before_unseen_free(MPI_Comm comm);

/* Forgets the communicator of this handle and number, which has been freed. MPI may have given the
   handle out again already, to another thread. */
void communicator_freed(MPI_Comm comm, int number);

/* Keeps this number for a window, a persistent request or a snapshot until it is released. The
   caller has the lock. */
void communicator_hold(int communicator);
void communicator_release(int communicator);

/* Takes the name that the program has given a communicator, for reports. A blank name is none: then
   reports say what made it. */
void communicator_named(MPI_Comm comm, const char *name);

/* Gives up the records of freed communicators. Only while nothing is monitored; the caller has the
   lock. */
void communicators_tidy(void);
