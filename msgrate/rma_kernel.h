/*
 * The timed regions of msgrate_rma: two of msgrate's patterns with one-sided communication, each
 * with four synchronisations. In the halo ("pre-post"), exposure is opened ahead as msgrate posts
 * receives ahead.
 *
 *              single direction            pre-post
 *   fence      fence, transfers, fence     transfers, fence, which ends this iteration's epoch and
 *                                          begins the next
 *   lock       lock, transfers, unlock     the same, all peers locked at once; nothing can be
 *                                          opened ahead
 *   pscw       start, transfers, complete  start, transfers, complete, wait, and the next post
 *              against post, wait
 *   flush      transfers, flush            transfers, flush_all; inside one lock_all
 *
 * All of this is timed but lock_all. The targets of lock and flush do nothing and time nothing.
 */
#ifndef COMMCOST_MSGRATE_RMA_KERNEL_H
#define COMMCOST_MSGRATE_RMA_KERNEL_H

#include "msgrate/bench.h"
#include "msgrate/messages.h"
#include "msgrate/team.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The messages of each block that a thread transfers: first to end - 1. */
struct msgrate_share {
    int first, end;
};

struct msgrate_access;

/* Transfers a share of a block to or from the place `offset`, in bytes, of the peer's window.
   Local. */
typedef void msgrate_transfer_fn(const struct msgrate_access *access, struct msgrate_share share,
                                 unsigned char *block, int peer, MPI_Aint offset);

extern msgrate_transfer_fn *const msgrate_transfers[MSGRATE_TRANSFERS];

/* This rank's part in a pattern. */
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
    int *targets, *origins;      /* the ranks that this one accesses, and those that access this
                                    one: the bench's lists */
    MPI_Group target_group, origin_group; /* of all peers */
    MPI_Group partner_group;              /* of the single direction */
    int64_t iteration;                    /* since the method began */
    MPI_Aint offset; /* in bytes, of the present iteration's messages in every window */
    int64_t wrong;   /* messages with wrong data on this rank */
};

/* Runs the timed part of an iteration; returns its time in ns. */
typedef int64_t msgrate_access_fn(const struct msgrate_access *access);

/* A pattern with a synchronisation. */
struct msgrate_method {
    const char *pattern;
    enum msgrate_sync sync;
    bool one_partner; /* the lower half accesses the upper half */
    bool opens_ahead; /* targets are exposed before the iteration begins */
    bool locks_all;   /* one lock_all lasts from begin to end */
    /* On the lower and on the upper half of the ranks, and on a rank without a partner. NULL:
       nothing, and nothing is timed. */
    msgrate_access_fn *time_lower, *time_upper, *time_resting;
    /* Before the first iteration and after the last one; NULL: nothing. */
    void (*begin)(const struct msgrate_access *access);
    void (*end)(const struct msgrate_access *access);
};

enum { MSGRATE_METHODS = 8 };
extern const struct msgrate_method msgrate_methods[MSGRATE_METHODS];

#endif
