/*
 * Communicators that were made while nothing is monitored, in the order in which they were made,
 * without what MPI says of them: see communicators.h. All functions are local; the caller has the
 * monitor's lock, unless they say otherwise.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* 2^bits handles have a place, of which three quarters are used at a time. */
enum { REMEMBERED_BITS = 14 };

struct remembered {
    MPI_Comm comm;
    const char *maker; /* the MPI function that made it */
};

/* Adds a communicator, in place of a former one with this handle. Nothing without room. */
void remembered_add(MPI_Comm comm, const char *maker);

/* Forgets a communicator that is freed, if it is remembered. */
void remembered_forget(MPI_Comm comm);

/* Takes the first one out. False if there is none: then it is MPI_COMM_NULL. */
bool remembered_take(struct remembered *first);

/* Returns how many there are. Takes no lock. */
int remembered_count(void);
