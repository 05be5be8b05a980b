/*
 * The real operation behind a modelled one, for MODEL_DATA=1, and what goes wrong with it, for
 * MODEL_CORRUPT=1. Without MODEL_DATA nothing here calls MPI.
 */
#ifndef MODEL_DATA_H
#define MODEL_DATA_H

#include "model.h"

#include <mpi.h>

struct data {
    MPI_Request operation; /* the real one */
    MPI_Status status;     /* its status, once it is complete */
    bool complete;         /* a test has found it so; a persistent request can't say that itself */
    MPI_Request vote_request;     /* the vote on who gets the wrong byte */
    int vote;                     /* this rank if it receives anything, -1 otherwise */
    int highest_receiver;         /* the vote's outcome */
    unsigned char *received_byte; /* a byte that this rank receives; NULL for none */
    bool may_be_empty;            /* received_byte is only received if the message has any */
    bool leaves_early;            /* this rank doesn't wait for the barrier */
};

/* Before any other function here. */
void data_start(void);

/* Makes *data the state of an operation without a real one behind it. */
void data_clear(struct data *data);

/* The same of one that has a real one, persistent and not active, and no damage planned. */
void data_renew(struct data *data);

/*
 * Prepares the damage to the real operation that was just started in data->operation. Collective
 * over comm, but returns at once. received_byte: where this rank receives some byte, NULL if it
 * receives none.
 */
void data_plan_damage(struct data *data, enum operation_kind kind, MPI_Comm comm,
                      unsigned char *received_byte);

/* The same for a real operation that is complete: does the damage. Collective over comm. */
void data_damage_now(enum operation_kind kind, MPI_Comm comm, unsigned char *received_byte);

/* Counts one more operation that may be damaged, and says whether it is to be. */
bool data_damage_is_due(void);

/* Prepares the damage to an operation of which this rank alone decides: the completion makes the
 * byte wrong. */
void data_plan_local_damage(struct data *data, unsigned char *received_byte);

/* Prepares the damage to the real receive that was just started in data->operation, if it is this
 * one's turn. */
void data_plan_message_damage(struct data *data, unsigned char *received_byte);

/* Whether data_wait would return at once. Gives MPI a chance to make progress. */
bool data_arrived(struct data *data);

/* Completes the real operation and does the damage; returns the real operation's error code. */
int data_wait(struct data *data);

/* Completes the barriers that this rank left early. Before MPI_Finalize. */
void data_finish(void);

#endif
