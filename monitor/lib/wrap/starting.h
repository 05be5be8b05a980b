/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts of persistent requests, for the wrappers of all languages. All functions are local. */
#pragma once

#include "monitor/lib/count/operations.h"

enum { MANY = 64 }; /* requests that have room on the stack */

/* The start of a request. */
struct started {
    MPI_Request request; /* before the call */
    bool begins;         /* begins a monitored operation; false if the request is unknown */
    struct operation operation;
};

/* A call that starts one request or several. */
struct starting {
    struct started one;
    struct mpi_call call;
    bool monitored;
};
struct starting_all {
    struct started on_stack[MANY], *started;
    struct mpi_call call;
    int count, begun;
    bool monitored;
};

/* Begin the call, and the operations of its requests. */
void starting_begin(struct starting *starting, MPI_Request request);
void starting_all_begin(struct starting_all *all, int count, const MPI_Request *requests);

/* End the call, which has returned `error` and may have replaced the requests. Return `error`. */
int starting_end(struct starting *starting, MPI_Request request, int error);
int starting_all_end(struct starting_all *all, const MPI_Request *requests, int error);
