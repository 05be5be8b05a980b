/*
 * The communicators that this process knows: a number for each, by which snapshots count, and an identity that is
 * the same on all its processes, by which a report puts their counts together.
 *
 * The identity is found without communication: a hash of the members' ranks in MPI_COMM_WORLD, and how many
 * communicators of the same members there were before. Communicators of one process are put together over all
 * processes, by the same count.
 *
 * Records outlive their communicator as long as an active snapshot has counts of it. All functions are local and
 * want the monitor's lock.
 */
#ifndef MONITOR_COMMUNICATORS_H
#define MONITOR_COMMUNICATORS_H

#include "operations.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Index 0 stands for all communicators that found no room. */
enum { COMMUNICATORS_MAX = 512, OTHER_COMMUNICATORS = 0 };

struct communicator {
    uint64_t identity;
    char name[64];    /* see communicator_name */
    char members[64]; /* ranks in MPI_COMM_WORLD, as in bc_format_ranks; cut where it is longer */
    int order;        /* for reports: MPI_COMM_WORLD 0, MPI_COMM_SELF 1, others 2 */
    int processes;    /* of both groups */
    int size, peers;  /* of the own group; of the group that collectives send to */
    int rank;
    bool is_inter;
    int neighbours;   /* that neighborhood collectives send to */
};

extern struct communicator communicators[COMMUNICATORS_MAX];

/* Knows MPI_COMM_WORLD and MPI_COMM_SELF; once, when MPI is initialised. */
void communicators_start(void);

/* The number of a communicator. One that is not known yet becomes known, as made by "communicator". */
int communicator_index(MPI_Comm comm);

/* A new communicator, made by MPI_`Maker`; MPI_COMM_NULL is nothing. */
void communicator_created(MPI_Comm comm, const char *maker);

/* Not yet complete, but a duplicate of another one. */
void communicator_duplicated(MPI_Comm comm, MPI_Comm original, const char *maker);

/* It was freed, or will be: its handle may come again. */
void communicator_freed(MPI_Comm comm);

/* The program gave it a name, which is what reports call it. Else it is the function that made it and a number:
   "MPI_Comm_split 2". */
void communicator_named(MPI_Comm comm, const char *name);

#endif
