/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timed regions of msgrate_rma: two of msgrate's patterns with one-sided communication, each
 * with four synchronisations. In pre-post, windows are exposed ahead, as msgrate posts receives
 * ahead.
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
 * All of this is timed except lock_all. The targets of lock and flush do nothing and time nothing.
 */
#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "msgrate/rma_exchange.h"

/* ---- transfers ------------------------------------------------------------------------------- */

/* Puts or gets a thread's share of a block. Inlined with a constant `puts`, so that there is no
   branch between transfers. */
__attribute__((always_inline)) static inline void transfer_block(
    const struct msgrate_thread *thread, unsigned char *block, int peer, MPI_Aint offset, bool puts)
{
    const struct msgrate_rma_exchange *const x = thread->exchange;
    const int64_t bytes = x->messages.bytes;
    const struct bc_amount amount = x->messages.amount;
    for (int m = thread->first; m < thread->end; m++)
        if (puts)
            BC_MPI(MPI_Put(block + m * bytes, amount.count, amount.type, peer, offset + m * bytes,
                           amount.count, amount.type, x->window));
        else
            BC_MPI(MPI_Get(block + m * bytes, amount.count, amount.type, peer, offset + m * bytes,
                           amount.count, amount.type, x->window));
}

/* Transfers a thread's share of all messages. Block i of a peer's window is for rank i of the
   peer's own list, in which peer i has this rank at n - 1 - i (msgrate_peers_list). */
__attribute__((always_inline)) static inline void transfer_share(
    const struct msgrate_thread *thread, bool puts)
{
    const struct msgrate_rma_exchange *const x = thread->exchange;
    const int n = x->messages.npeers;
    const MPI_Aint block_bytes = (MPI_Aint)msgrate_block_bytes(&x->messages);
    for (int i = 0; i < n; i++)
        transfer_block(thread, msgrate_block(&x->messages, x->local_buffer, i), x->targets[i],
                       x->offset + block_bytes * (n - 1 - i), puts);
}

void msgrate_put_share(const struct msgrate_thread *thread) { transfer_share(thread, true); }

void msgrate_get_share(const struct msgrate_thread *thread) { transfer_share(thread, false); }

/* ---- steps ----------------------------------------------------------------------------------- */

static void nothing(const struct msgrate_rma_exchange *x) { (void)x; }

static void open_fence(const struct msgrate_rma_exchange *x)
{
    BC_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, x->window));
}

static void fence(const struct msgrate_rma_exchange *x) { BC_MPI(MPI_Win_fence(0, x->window)); }

static void close_fence(const struct msgrate_rma_exchange *x)
{
    BC_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, x->window));
}

static void lock(const struct msgrate_rma_exchange *x)
{
    for (int i = 0; i < x->messages.npeers; i++)
        BC_MPI(MPI_Win_lock(MPI_LOCK_SHARED, x->targets[i], 0, x->window));
}

static void unlock(const struct msgrate_rma_exchange *x)
{
    for (int i = 0; i < x->messages.npeers; i++)
        BC_MPI(MPI_Win_unlock(x->targets[i], x->window));
}

static void post(const struct msgrate_rma_exchange *x)
{
    BC_MPI(MPI_Win_post(x->origin_group, 0, x->window));
}

static void start(const struct msgrate_rma_exchange *x)
{
    BC_MPI(MPI_Win_start(x->target_group, 0, x->window));
}

static void complete(const struct msgrate_rma_exchange *x) { BC_MPI(MPI_Win_complete(x->window)); }

static void await_origins(const struct msgrate_rma_exchange *x) { BC_MPI(MPI_Win_wait(x->window)); }

static void complete_and_post(const struct msgrate_rma_exchange *x)
{
    complete(x);
    await_origins(x);
    post(x);
}

static void close_pscw(const struct msgrate_rma_exchange *x)
{
    start(x);
    complete(x);
    await_origins(x);
}

static void lock_all(const struct msgrate_rma_exchange *x)
{
    BC_MPI(MPI_Win_lock_all(0, x->window));
}

static void unlock_all(const struct msgrate_rma_exchange *x)
{
    BC_MPI(MPI_Win_unlock_all(x->window));
}

static void flush(const struct msgrate_rma_exchange *x)
{
    BC_MPI(MPI_Win_flush(x->targets[0], x->window));
}

static void flush_all(const struct msgrate_rma_exchange *x)
{
    BC_MPI(MPI_Win_flush_all(x->window));
}

/* ---- the timed kernel and the patterns ------------------------------------------------------- */

struct bc_span msgrate_time_steps(const struct msgrate_rma_exchange *x)
{
    const struct msgrate_steps s = *x->steps;
    const int64_t start_ns = bc_now_ns();
    s.open(x);
    s.transfer(x);
    s.close(x);
    return (struct bc_span){start_ns, bc_now_ns()};
}

const struct msgrate_rma_pattern msgrate_rma_patterns[MSGRATE_RMA_PATTERNS] = {
    {"single direction", MSGRATE_FENCE, .one_partner = true,
     .lower = {open_fence, msgrate_transfer, close_fence},
     .upper = {open_fence, nothing, close_fence}, .resting = {open_fence, nothing, close_fence}},
    {"single direction", MSGRATE_LOCK, .one_partner = true,
     .lower = {lock, msgrate_transfer, unlock}},
    {"single direction", MSGRATE_PSCW, .one_partner = true,
     .lower = {start, msgrate_transfer, complete}, .upper = {post, nothing, await_origins}},
    {"single direction", MSGRATE_FLUSH, .one_partner = true, .locks_all = true,
     .lower = {nothing, msgrate_transfer, flush}, .begin = lock_all, .end = unlock_all},
    {"pre-post", MSGRATE_FENCE, .opens_ahead = true, .lower = {nothing, msgrate_transfer, fence},
     .begin = open_fence, .end = close_fence},
    {"pre-post", MSGRATE_LOCK, .lower = {lock, msgrate_transfer, unlock}},
    {"pre-post", MSGRATE_PSCW, .opens_ahead = true,
     .lower = {start, msgrate_transfer, complete_and_post}, .begin = post, .end = close_pscw},
    {"pre-post", MSGRATE_FLUSH, .locks_all = true, .lower = {nothing, msgrate_transfer, flush_all},
     .begin = lock_all, .end = unlock_all},
};
