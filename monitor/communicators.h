/*
 * The communicators that this process knows: a number for each, by which snapshots count, and an
 * identity that is the same on all its processes, by which a report puts their counts together.
 *
 * The identity is found without communication: a hash of what made it, of the members' ranks in
 * MPI_COMM_WORLD, and the lowest number that no such communicator has. One that was freed has given
 * its number up, unless the program had given it a name: a library that duplicates a communicator
 * for each of a thousand calls has one row, and communicators that the program calls differently
 * have one each. Communicators of one process are put together over all processes, by the same
 * number. Only a program whose ranks make (or, if the monitor did not see that, first use)
 * communicators of the same members in different orders can mislead it, or one in which only some
 * ranks name them.
 *
 * Records outlive their communicator as long as a snapshot has counts of it. All functions are
 * local, and take the monitor's lock but where they say otherwise.
 */
#ifndef MONITOR_COMMUNICATORS_H
#define MONITOR_COMMUNICATORS_H

#include "handles.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Index 0 stands for all communicators that found no room. */
enum { COMMUNICATORS_MAX = 512, OTHER_COMMUNICATORS = 0 };

struct communicator {
    uint64_t identity;
    char name[64];    /* see communicator_named */
    char members[64]; /* ranks in MPI_COMM_WORLD, as in bc_format_ranks; where that is longer, cut,
                         and "..." */
    int order;        /* for reports: MPI_COMM_WORLD 0, MPI_COMM_SELF 1, others 2 */
    int processes;    /* of both groups */
    int size, peers;  /* of the own group; of the group that collectives send to */
    int rank;
    bool is_inter;
    uint64_t alike;  /* the hash without the number ... */
    int ordinal;     /* ... and the number */
    bool is_named;   /* by the program */
    int neighbours;  /* blocks that neighborhood collectives send ... */
    uint64_t absent; /* ... but for those of which the bit is set here: beyond the edge of a grid */
};

extern struct communicator communicators[COMMUNICATORS_MAX];
extern struct handle_map communicator_numbers; /* by communicator_key */

/* Knows MPI_COMM_WORLD, MPI_COMM_SELF and, in a spawned job, its parent; once, when MPI is
 * initialised. */
void communicators_start(void);

/* The number of a communicator, or HANDLE_UNKNOWN. The caller has the lock. */
static inline int communicator_find(MPI_Comm comm)
{
    return handle_find(&communicator_numbers, communicator_key(comm));
}

/* The record of a communicator, and of one without a number of its own what it would be, in
 * `described`. */
const struct communicator *communicator_record(MPI_Comm comm, int number,
                                               struct communicator *described);

/* The number of a communicator, which becomes known as one made by "communicator" if it isn't yet.
 */
int communicator_index(MPI_Comm comm);

/* A new communicator, made by the MPI function of this name; MPI_COMM_NULL is nothing. Before
   communicators_start nothing is remembered. */
void communicator_created(MPI_Comm comm, const char *maker);

/* The same for a duplicate, which need not be complete yet. */
void communicator_duplicated(MPI_Comm comm, MPI_Comm original, const char *maker);

/* The communicator of this handle and number has been freed: the handle may come again, and may
   have done so already in another thread. */
void communicator_freed(MPI_Comm comm, int number);

/* Something that lives longer (a window, a persistent request) counts for this number until it is
   released. The caller has the lock. */
void communicator_hold(int communicator);
void communicator_release(int communicator);

/* The program gave it a name, which is what reports call it. Else it is the function that made it
   and a number: "MPI_Comm_split 2" is the second one of these members at a time. */
void communicator_named(MPI_Comm comm, const char *name);

/* Gives up the records of communicators that were freed. While no snapshot is active; the caller
 * has the lock. */
void communicators_tidy(void);

#endif
