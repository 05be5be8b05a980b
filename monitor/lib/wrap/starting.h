/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts of persistent requests, for the wrappers of all languages. All functions are local. */
#pragma once

#include "monitor/lib/count/operations.h"

enum { MANY = 64 }; /* requests that have room on the stack */

/* Begins the operation of a start. False if the request is unknown or its operations aren't
   monitored. */
bool starting_begin(MPI_Request request, struct operation *operation);

/* A call that starts several requests. */
struct starting_all {
    struct mpi_call call;
    struct started {
        bool begins; /* begins a monitored operation */
        struct operation operation;
    } on_stack[MANY], *started;
    int count, begun;
};

/* Begins the call, and the operations of its requests. */
void starting_all_begin(struct starting_all *all, int count, const MPI_Request *requests);

/* Ends the call, which has returned `error`. Returns that. */
int starting_all_end(struct starting_all *all, const MPI_Request *requests, int error);
