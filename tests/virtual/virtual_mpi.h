/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model MPI in virtual time: what its files share.
 *
 * It is an MPI library for one process of the real one, which it divides into ranks in MPI_Init by
 * fork(). Ranks communicate by the memory of world.h only. The real library serves each rank
 * alone: its datatypes, operations, errors, and handles of communicators and windows.
 */
#ifndef VIRTUAL_MPI_H
#define VIRTUAL_MPI_H

#include "tests/virtual/plan.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Gives a function that is defined by its PMPI_ name the other one, too; a tool may define that. */
#define MPI_NAME(Name)                                                                             \
    extern __typeof__(PMPI_##Name) MPI_##Name __attribute__((weak, alias("PMPI_" #Name)));

/* The real library's function; NULL if it has none. */
void *real_function(const char *name);
#define REAL(Name) ((__typeof__(PMPI_##Name) *)real_function("PMPI_" #Name))

/* ---- communicators (comm.c) ------------------------------------------------------------------ */

struct message;    /* of messages.c */
struct receive;    /* of messages.c */
struct collective; /* of collectives.c */

/* Messages to a member, and its receives, in order. */
struct mailbox {
    struct message *messages;
    struct receive *receives;
};

enum { DIMENSIONS_MAX = 8 };

/* In shared memory. Members are numbered as their ranks in the communicator. */
struct comm {
    int id, size;
    int *members;     /* their ranks in the world */
    int users;        /* members that haven't freed it */
    uint64_t *posted; /* number of collectives that each member has posted */
    struct collective *collectives;
    struct mailbox *mailboxes;
    int dimensions; /* of a Cartesian one; 0: none */
    int extents[DIMENSIONS_MAX];
    bool periodic[DIMENSIONS_MAX];
};

/* A communicator as this rank knows it. */
struct own_comm {
    struct comm *comm;
    int rank;
};

/* Ends the job if there is no such communicator. */
struct own_comm comm_find(MPI_Comm handle);

/* Makes the communicators of all ranks, and of this one. */
void comm_begin(void);

/* Where the member's neighbours in a Cartesian communicator are, in MPI's order, two a dimension;
   MPI_PROC_NULL beyond an edge. Returns how many they are. */
int comm_neighbours(const struct comm *comm, int rank, int neighbours[2 * DIMENSIONS_MAX]);

/* The node of a rank of the world. */
int node_of(int world_rank);

/* ---- data (data.c) --------------------------------------------------------------------------- */

/* Data of an operation of more bytes doesn't move, unless MODEL_DATA is 1: buffers stay as they
   are, since nobody looks at them. */
#define DATA_BYTES 65536

/* Packed data in shared memory; start is NULL if it doesn't move. */
struct packed {
    char *start;
    size_t bytes;
    bool kept; /* by data_keep */
};

int64_t bytes_of(int64_t count, MPI_Datatype type);
struct packed data_pack(const void *buffer, int64_t count, MPI_Datatype type);

/* The same, with the gaps of its type left in, as MPI_Reduce_local takes it. */
struct packed data_keep(const void *buffer, int64_t count, MPI_Datatype type);
void data_unpack(const struct packed *packed, void *buffer, int64_t count, MPI_Datatype type);
void data_release(struct packed *packed);

/* The library sees a buffer before a message, a collective or a one-sided operation starts, and
   when data has arrived (as by rendezvous), or a window's memory: that takes MODEL_REGISTER_US if a
   page of it is new. Of a collective this is each member's block. */
void data_register(const void *buffer, int64_t bytes);

/* Returns MODEL_APART_SHARE if two buffers of at least APART_BYTES, off the stack, are at different
   places in 64 bytes; else 0. */
#define APART_BYTES 4096
double data_apart_share(const void *one, const void *other, int64_t bytes);

/* Forgets whole pages of memory that is freed. */
void data_forget(const void *start, size_t bytes);

/* Called with each buffer that data is taken from or put into; the model of a GPU sets it. False:
   nothing may be put into it. NULL: there is none. */
extern bool (*data_device)(const void *buffer, int64_t bytes);

/* True if memory is the device's, on which nothing may be put; the model of a GPU sets it, too. */
extern bool (*data_is_stale)(const void *memory);

/* Makes a byte of packed data wrong. */
void data_damage(const struct packed *packed);

/* ---- requests (requests.c) ------------------------------------------------------------------- */

struct request;

/* The functions of a kind of operation. */
struct request_kind {
    /* Plans a persistent operation again. NULL: it isn't persistent. */
    void (*start)(struct request *request);
    /* Sets when the operation starts, if that has become known; true once it is. */
    bool (*resolve)(struct request *request);
    /* When the message starts that the request receives, without the gap to the one before;
       PLAN_UNKNOWN: not known yet. NULL: it receives none. */
    int64_t (*arrival_ns)(struct request *request);
    /* The operation is complete: moves data and fills in the status, which may be
       MPI_STATUS_IGNORE. */
    void (*deliver)(struct request *request, MPI_Status *status);
    /* Frees what a request that isn't active has. NULL: nothing. */
    void (*release)(struct request *request);
};

struct request {
    const struct request_kind *kind; /* NULL: free */
    int number;
    bool active, persistent;
    const char *name; /* in the truth */
    enum plan_kind plan_kind;
    int64_t bytes;
    double longer_share; /* of its duration */
    struct plan plan;
    void *operation; /* the kind's own */
};

/* A new request, and its handle. */
struct request *request_make(const struct request_kind *kind, const char *name,
                             enum plan_kind plan_kind, int64_t bytes, void *operation,
                             MPI_Request *handle);
struct request *request_find(MPI_Request handle);

/* Plans the request's operation, which begins now; the other one then takes the time of its post,
   too. */
void request_plan(struct request *request, uint64_t number);
void request_post(struct request *request, uint64_t number);

/* Frees a request. */
void request_forget(struct request *request);

/* Completes operations as MPI_Waitall does. Requests of one-time operations are freed. */
void request_wait(struct request *const requests[], int count, MPI_Status *statuses);

/* A status of an operation that brought nothing. */
void status_fill(MPI_Status *status, int source, int tag, int64_t bytes);

/* ---- collectives (collectives.c) ------------------------------------------------------------- */

/* Brings all members together, at the time of the last. Each contributes `bytes` bytes of `own`.
   meeting_of has what a member contributed; what is allocated for the member `place` by whoever
   comes first is in meeting_made. Ends with meeting_end. */
struct collective *meeting(const struct own_comm *own, const void *data, size_t bytes);
const void *meeting_of(const struct collective *meeting, int rank);
void **meeting_made(struct collective *meeting, int place);
void meeting_end(struct collective *meeting, const struct own_comm *own);

/* ---- handles (handles.c) --------------------------------------------------------------------- */

/* Ends the job if this rank has not freed all that it made, unless MODEL_MAY_KEEP is set. */
void handles_must_be_freed(void);

/* How many this rank has not freed, in the files that make them. */
int comms_left(void);
int groups_left(void);
int windows_left(void);
int requests_left(void);

/* ---- the truth (truth.c) --------------------------------------------------------------------- */

/* Counts an operation that is posted; that is completed. */
void truth_posted(const char *name, enum plan_kind kind, int64_t bytes);
void truth_completed(const char *name, enum plan_kind kind, int64_t bytes);

/* Notes that this rank sent to another rank of the world. */
void truth_sent(int to_rank);

/* Writes the truth of rank 0's operations into the file that MODEL_REPORT names. */
void truth_write(void);

#endif
