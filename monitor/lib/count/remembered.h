/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that were made while nothing is monitored, in this order, not yet described by MPI:
 * see communicators.h. All functions are local and need the monitor's lock, except
 * remembered_count.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* Bits of the table, of which three quarters may be used. */
enum { REMEMBERED_BITS = 14 };

struct remembered {
    MPI_Comm comm;
    const char *maker; /* the MPI function that made it */
};

/* Adds a communicator, or replaces one with this handle. Does nothing if there is no room. */
void remembered_add(MPI_Comm comm, const char *maker);

void remembered_forget(MPI_Comm comm);

/* Takes the first one out. False if there is none. */
bool remembered_take(struct remembered *first);

int remembered_count(void);
