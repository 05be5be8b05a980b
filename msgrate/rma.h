/*
 * Two of the message patterns with one-sided communication: single direction,
 * and the halo whose exposure is opened ahead as receives are posted ahead
 * ("pre-post"), each with four synchronisations.
 *
 *              single direction            pre-post
 *   fence      fence, transfers, fence     transfers, fence: it ends this
 *                                          iteration's epoch and begins the next
 *   lock       lock, transfers, unlock     the same, all peers locked at once;
 *                                          nothing can be opened ahead
 *   pscw       start, transfers, complete  start, transfers, complete, wait, and
 *              against post, wait          the next post
 *   flush      transfers, flush            transfers, flush_all; inside one
 *                                          lock_all
 *
 * All of it is timed; the targets of lock and flush do nothing and time
 * nothing. The message lies in the window at its target (put) or where it comes
 * from (get). What is transferred has been written after the flush of the caches;
 * but for gets from an exposure that was opened before it, where it must not be
 * written any more, and is read.
 */
#ifndef COMMCOST_MSGRATE_RMA_H
#define COMMCOST_MSGRATE_RMA_H

#include "msgrate/bench.h"
#include "msgrate/messages.h"
#include "msgrate/team.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum msgrate_transfer { MSGRATE_PUT, MSGRATE_GET };

/* The messages of each block that a thread transfers: first to end - 1. */
struct msgrate_share {
    int first, end;
};

struct msgrate_access;

/* Transfers a share of a block to or from the place `offset`, in bytes, of the
   peer's window. Local. */
typedef void msgrate_transfer_fn(const struct msgrate_access *access, struct msgrate_share share,
                                 unsigned char *block, int peer, MPI_Aint offset);

/* This rank's part. */
struct msgrate_access {
    struct msgrate_bench *bench;
    struct msgrate_messages messages;
    bool puts; /* else it gets */
    msgrate_transfer_fn *transfer_block;
    struct msgrate_team *team;
    struct msgrate_share *shares; /* one a thread */
    MPI_Win window;
    unsigned char *window_memory;
    unsigned char *local_buffer; /* what is put, or where gets go */
    int halves;                  /* of the window, for even and odd iterations: 2 with --check,
                                    since the next exposure must not touch what is still to be
                                    verified; else 1 */
    int *targets, *origins;      /* the ranks accessed; those that access this
                                    one: the bench's lists */
    MPI_Group target_group, origin_group; /* of all peers */
    MPI_Group partner_group;              /* of the single direction */
    int64_t iteration;                    /* since the method began */
    MPI_Aint offset;                      /* of its half in every window, in bytes */
    int64_t wrong;                        /* messages with wrong data on this rank */
};

typedef int64_t msgrate_access_fn(const struct msgrate_access *access);

/* A pattern with a synchronisation. */
struct msgrate_method {
    const char *pattern, *synchronisation;
    bool one_partner; /* the lower half accesses the upper half */
    bool opens_ahead; /* targets are exposed before the iteration begins */
    bool locks_all;   /* all of it happens inside a lock_all */
    /* The timed part of an iteration, in ns, on the lower and on the upper half
       of the ranks, and what a rank without a partner does meanwhile. NULL:
       nothing, and nothing is timed. */
    msgrate_access_fn *time_lower, *time_upper, *time_resting;
    /* Before the first iteration and after the last one; NULL: nothing. */
    void (*begin)(const struct msgrate_access *access);
    void (*end)(const struct msgrate_access *access);
};

/* rma_methods.c: the transfers, and the methods. */
msgrate_transfer_fn msgrate_put_block, msgrate_get_block;

enum { MSGRATE_METHODS = 8 };
extern const struct msgrate_method msgrate_methods[MSGRATE_METHODS];

/* Makes buffers, window and threads for messages of so many bytes. Collective
   over MPI_COMM_WORLD. */
void msgrate_access_create(struct msgrate_access *access, struct msgrate_bench *bench,
                           enum msgrate_transfer transfer, int threads, int64_t size_bytes);
void msgrate_access_destroy(struct msgrate_access *access);

/* Measures a row within so many seconds (significant on rank 0). Collective. */
void msgrate_measure_access(struct msgrate_access *access, const struct msgrate_method *method,
                            double seconds, struct msgrate_result *result);

#endif
