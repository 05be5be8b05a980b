/*
 * Operations in flight, and the requests that stand for them. A modelled request can't be mistaken
 * for a real one, so requests of both kinds may be mixed in the calls that complete them.
 *
 * operations.c has the operations, requests.c the calls for one request and for persistent ones,
 * request_arrays.c those for several.
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
    bool is_persistent; /* or nothing else here counts, and is_behind is false */
    bool is_active;     /* started and not complete */
    bool is_behind;     /* a barrier left early: the real one is still active */
    bool leaves_early;  /* each time: see struct data */
    enum operation_kind kind;
    int64_t bytes;
    unsigned char *received_byte; /* see struct data; of a collective NULL if it stays right */
};

struct operation {
    struct timing timing;
    struct envelope envelope;
    struct data data;
    struct persistent persistent;
    struct partitions *partitions; /* of a partitioned send; NULL of others */
    /* While an array of requests is handed to the next definition: see hide_modelled. */
    struct operation *next_hidden;
    int hidden_index;
    bool is_ready; /* what operation_progress said in the same call */
    /* While the operation isn't in use. */
    _Atomic uint32_t next_free;
};

enum { OPERATIONS_MAX = 8192 }; /* in flight at a time */

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

/* Decides which rank of a persistent collective gets wrong data, or leaves a barrier early, each
 * time. Collective over comm. */
void operation_persist_damage(struct operation *operation, MPI_Comm comm,
                              unsigned char *received_byte);

/* Whether it is started and not complete; one that isn't persistent is always. */
static inline bool operation_is_active(const struct operation *operation)
{
    return !operation->persistent.is_persistent || operation->persistent.is_active;
}

/* The post of a persistent operation, as that of a non-blocking one. */
int operation_start(struct operation *operation);

/*
 * What a call for this operation does that came in at since_ns and decides at now_ns: stages go on
 * (see timing_progress), and MPI gets a chance to make progress. Returns whether the operation is
 * complete but for its host part, as one that isn't active is.
 */
bool operation_progress(struct operation *operation, int64_t since_ns, int64_t now_ns);

/* Does all that completes the operation behind *request but the modelled wait, which is left to the
   end of completion, so that this is inside what that measures. One that isn't active has nothing
   to wait for. */
int operation_finish(struct operation *operation, MPI_Request *request, MPI_Status *status,
                     struct completion *completion);

/* Completes the operation behind *request by a wait called at wait_ns. */
int operation_complete(struct operation *operation, MPI_Request *request, MPI_Status *status,
                       int64_t wait_ns);

/* What the status of the operation says when it is complete, and the empty status. */
void operation_set_status(MPI_Status *status, const struct operation *operation);
void operation_set_empty(MPI_Status *status);

/* Gives it back without completing it: returns the error of freeing the real one. */
int operation_free(struct operation *operation, MPI_Request *request);

/* MPI_Wait for a request that is modelled. */
int operation_wait(MPI_Request *request, MPI_Status *status);

/* MPI_Waitall, of any requests. */
int requests_wait_all(int count, MPI_Request requests[], MPI_Status statuses[]);

/* ---- Handles --------------------------------------------------------------------------------- */

extern struct operation operations[OPERATIONS_MAX];

#if defined(MPICH_VERSION) && !(MPI_ABI_VERSION > 0)

/* A request is an integer whose top two bits say where the object lies; 00 stands for an invalid
   handle, so no object has such a one. The null handles have 00 too, so the bits below are none of
   theirs (MPI_REQUEST_NULL is 0x2c000000). */
enum { HANDLE_MAGIC = 0x1d0e6000, HANDLE_INDEX_MASK = OPERATIONS_MAX - 1 };
_Static_assert((OPERATIONS_MAX & HANDLE_INDEX_MASK) == 0, "OPERATIONS_MAX is a power of two");
_Static_assert((HANDLE_MAGIC & HANDLE_INDEX_MASK) == 0,
               "the magic number leaves room for the index");

static inline MPI_Request request_of(struct operation *operation)
{
    return HANDLE_MAGIC | (MPI_Request)(operation - operations);
}

/* NULL if the request isn't modelled. */
static inline struct operation *operation_of(MPI_Request request)
{
    return (request & ~HANDLE_INDEX_MASK) == HANDLE_MAGIC ? &operations[request & HANDLE_INDEX_MASK]
                                                          : NULL;
}

#else

/* A request is a pointer, as in Open MPI and in MPI 5.0's ABI, and only ours point into our array.
 */
static inline MPI_Request request_of(struct operation *operation) { return (MPI_Request)operation; }

/* NULL if the request isn't modelled. */
static inline struct operation *operation_of(MPI_Request request)
{
    const uintptr_t offset_bytes = (uintptr_t)request - (uintptr_t)operations;
    return offset_bytes < sizeof operations ? &operations[offset_bytes / sizeof operations[0]]
                                            : NULL;
}

#endif

#endif
