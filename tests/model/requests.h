/*
 * Operations in flight, and the requests that stand for them. A modelled request can't be mistaken for a real
 * one, so requests of both kinds may be mixed in the calls that complete them.
 */
#ifndef MODEL_REQUESTS_H
#define MODEL_REQUESTS_H

#include "data.h"
#include "model.h"

#include <stdatomic.h>

struct operation {
    atomic_bool taken;
    struct timing timing;
    struct data data;
    /* While an array of requests is handed to the next definition: see hide_modelled. */
    struct operation *next_hidden;
    int hidden_index;
};

/* An operation without real data, and its request. Aborts the job when too many are in flight. Any thread may call. */
struct operation *operation_take(MPI_Request *request);

/* Gives an operation back whose post failed; returns error. */
int operation_cancel(struct operation *operation, MPI_Request *request, int error);

#endif
