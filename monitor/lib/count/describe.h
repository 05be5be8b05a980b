/*
 * What MPI says of a communicator, for communicators.c. All functions are local and need no lock.
 */
#pragma once

#include "monitor/lib/count/communicators.h"

/* Before the others, while MPI is initialised; after them. */
void describe_start(void);
void describe_end(void);

/* Sizes, rank and neighbours. */
struct communicator describe_shape(MPI_Comm comm);

/* All that is kept, but for names. The identity is only the hash of the members yet. */
struct communicator describe(MPI_Comm comm);

/* Sets `members` of the record of this number, which a snapshot holds: takes time by the number of
   members. Without the lock. */
void communicator_find_members(int number);
