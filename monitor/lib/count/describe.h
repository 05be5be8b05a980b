/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Record of a communicator. All functions are local and need no lock.
 */
#pragma once

#include "monitor/lib/count/world_ranks.h"

struct communicator {
    uint64_t identity;
    char name[64];    /* see communicators.h */
    char made[64];    /* the function that made it and the ordinal: "MPI_Comm_split 2" is the second
                         one with these members */
    char members[64]; /* ranks in MPI_COMM_WORLD, as bc_format_ranks writes them; cut, with "..." at
                         the end, if longer. Set by communicator_find_members */
    int order;        /* in reports: MPI_COMM_WORLD 0, MPI_COMM_SELF 1, others 2 */
    int processes;    /* of both groups of an intercommunicator */
    int size, peers;  /* of this rank's group; of the group that collectives send to */
    int rank;
    bool is_inter;
    struct origin {
        uint64_t alike; /* the identity without the ordinal */
        int ordinal;
        bool is_named;  /* by the program */
    } origin;           /* basis of the identity */
    bool is_ambiguous;  /* the name is one of MPI's; set by rows_of_snapshot */
    MPI_Group group[2]; /* this rank's group, then the remote group or MPI_GROUP_NULL */
    int neighbours;     /* blocks that neighborhood collectives send */
    uint64_t absent;    /* bit per neighbour: beyond the edge of a grid, so nothing is sent there */
    struct world_ranks world; /* learned at the first message, if peers are counted */
};

/* Make and free the group of MPI_COMM_WORLD, which the other functions need. */
void describe_start(void);
void describe_end(void);

/* Translates ranks in a group to those in MPI_COMM_WORLD; MPI_UNDEFINED for other jobs. */
void translate_ranks(MPI_Group group, int count, const int ranks[], int world[]);

/* Returns sizes, rank and neighbours. */
struct communicator describe_shape(MPI_Comm comm);

/* Returns all members except names. The identity is a hash of the members. */
struct communicator describe(MPI_Comm comm);

/* Sets `members` of a record that a snapshot holds, if they are not known. */
void communicator_find_members(struct communicator *record);
