/*
 * Operations in flight, and the requests that stand for them. A modelled request can't be mistaken
 * for a real one, so requests of both kinds may be mixed in the calls that complete them.
 */
#ifndef MODEL_REQUESTS_H
#define MODEL_REQUESTS_H

#include "data.h"
#include "model.h"

#include <stdatomic.h>

/* What the status of a completed operation says. Operations that receive nothing have MPI's empty
 * status. */
struct envelope {
    int source; /* MPI_ANY_SOURCE and MPI_ANY_TAG if nobody knows */
    int tag;
    int64_t bytes;
    bool received; /* if data moves, the real status has it all */
};

/* What each start of a persistent request needs. */
struct persistent {
    bool is_persistent; /* or nothing else here counts */
    bool is_active;     /* started and not complete */
    enum operation_kind kind;
    int64_t bytes;
    unsigned char *received_byte; /* see struct data */
};

struct operation {
    struct timing timing;
    struct envelope envelope;
    struct data data;
    struct persistent persistent;
    /* While an array of requests is handed to the next definition: see hide_modelled. */
    struct operation *next_hidden;
    int hidden_index;
    /* While the operation isn't in use. */
    _Atomic uint32_t next_free;
};

/* Before any other function here. */
void requests_start(void);

/* An operation without real data and with an empty envelope, and its request. Aborts the job when
   too many are in flight. Any thread may call. */
struct operation *operation_take(MPI_Request *request);

/* Gives an operation back whose post failed; returns error. */
int operation_cancel(struct operation *operation, MPI_Request *request, int error);

/* Makes the operation just taken a persistent one of this kind, whose real one, if data moves, is
 * in its data. */
void operation_persist(struct operation *operation, enum operation_kind kind, int64_t bytes,
                       unsigned char *received_byte);

/* MPI_Wait for a request that is modelled. */
int operation_wait(MPI_Request *request, MPI_Status *status);

/* MPI_Waitall, of any requests. */
int requests_wait_all(int count, MPI_Request requests[], MPI_Status statuses[]);

#endif
