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
#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "msgrate/access.h"

/* ---- transfers ------------------------------------------------------------------------------- */

static inline void put_block(const struct msgrate_access *x, struct msgrate_share share,
                             unsigned char *block, int peer, MPI_Aint offset)
{
    const size_t bytes = (size_t)x->messages.bytes;
    const struct bc_amount amount = x->messages.amount;
    for (int m = share.first; m < share.end; m++)
        BC_MPI(MPI_Put(block + (size_t)m * bytes, amount.count, amount.type, peer,
                       offset + (MPI_Aint)((size_t)m * bytes), amount.count, amount.type,
                       x->window));
}

static inline void get_block(const struct msgrate_access *x, struct msgrate_share share,
                             unsigned char *block, int peer, MPI_Aint offset)
{
    const size_t bytes = (size_t)x->messages.bytes;
    const struct bc_amount amount = x->messages.amount;
    for (int m = share.first; m < share.end; m++)
        BC_MPI(MPI_Get(block + (size_t)m * bytes, amount.count, amount.type, peer,
                       offset + (MPI_Aint)((size_t)m * bytes), amount.count, amount.type,
                       x->window));
}

typedef void block_fn(const struct msgrate_access *x, struct msgrate_share share,
                      unsigned char *block, int peer, MPI_Aint offset);

/* Transfers a thread's share of all messages. Block i of a peer's window is for the rank at place i
   of the peer's own list, which is the mirror image of this rank's list: see msgrate_peers_list.
   Inlined where the kind of transfer is named, so that nothing looks at it between transfers. */
__attribute__((always_inline)) static inline void transfer_share(const struct msgrate_access *x,
                                                                 int thread,
                                                                 block_fn *transfer_block)
{
    const int n = x->messages.npeers;
    const MPI_Aint block_bytes = (MPI_Aint)msgrate_block_bytes(&x->messages);
    for (int i = 0; i < n; i++)
        transfer_block(x, x->shares[thread], msgrate_block(&x->messages, x->local_buffer, i),
                       x->targets[i], x->offset + block_bytes * (n - 1 - i));
}

void msgrate_put_share(const void *access, int thread)
{
    transfer_share(access, thread, put_block);
}

void msgrate_get_share(const void *access, int thread)
{
    transfer_share(access, thread, get_block);
}

static void transfer(const struct msgrate_access *x)
{
    msgrate_team_run(x->team, x->transfer_share, x);
}

/* ---- fence ----------------------------------------------------------------------------------- */

static int64_t time_fence_single(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, x->window));
    transfer(x);
    BC_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, x->window));
    return bc_now_ns() - start_ns;
}

static int64_t time_fence_alone(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, x->window));
    BC_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, x->window));
    return bc_now_ns() - start_ns;
}

static int64_t time_fence_halo(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    transfer(x);
    BC_MPI(MPI_Win_fence(0, x->window));
    return bc_now_ns() - start_ns;
}

static void begin_fence_halo(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, x->window));
}

static void end_fence_halo(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, x->window));
}

/* ---- lock and unlock ------------------------------------------------------------------------- */

static int64_t time_lock(const struct msgrate_access *x)
{
    const int n = x->messages.npeers;
    const int64_t start_ns = bc_now_ns();
    for (int i = 0; i < n; i++)
        BC_MPI(MPI_Win_lock(MPI_LOCK_SHARED, x->targets[i], 0, x->window));
    transfer(x);
    for (int i = 0; i < n; i++)
        BC_MPI(MPI_Win_unlock(x->targets[i], x->window));
    return bc_now_ns() - start_ns;
}

/* ---- post, start, complete, wait ------------------------------------------------------------- */

static int64_t time_pscw_origin(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_start(x->target_group, 0, x->window));
    transfer(x);
    BC_MPI(MPI_Win_complete(x->window));
    return bc_now_ns() - start_ns;
}

static int64_t time_pscw_target(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_post(x->origin_group, 0, x->window));
    BC_MPI(MPI_Win_wait(x->window));
    return bc_now_ns() - start_ns;
}

static int64_t time_pscw_halo(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_start(x->target_group, 0, x->window));
    transfer(x);
    BC_MPI(MPI_Win_complete(x->window));
    BC_MPI(MPI_Win_wait(x->window));
    BC_MPI(MPI_Win_post(x->origin_group, 0, x->window));
    return bc_now_ns() - start_ns;
}

static void begin_pscw_halo(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_post(x->origin_group, 0, x->window));
}

static void end_pscw_halo(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_start(x->target_group, 0, x->window));
    BC_MPI(MPI_Win_complete(x->window));
    BC_MPI(MPI_Win_wait(x->window));
}

/* ---- lock_all and flush ---------------------------------------------------------------------- */

static int64_t time_flush_single(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    transfer(x);
    BC_MPI(MPI_Win_flush(x->targets[0], x->window));
    return bc_now_ns() - start_ns;
}

static int64_t time_flush_halo(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    transfer(x);
    BC_MPI(MPI_Win_flush_all(x->window));
    return bc_now_ns() - start_ns;
}

static void begin_flush(const struct msgrate_access *x) { BC_MPI(MPI_Win_lock_all(0, x->window)); }

static void end_flush(const struct msgrate_access *x) { BC_MPI(MPI_Win_unlock_all(x->window)); }

const struct msgrate_rma_pattern msgrate_rma_patterns[MSGRATE_RMA_PATTERNS] = {
    {"single direction", MSGRATE_FENCE, .one_partner = true, .time_lower = time_fence_single,
     .time_upper = time_fence_alone, .time_resting = time_fence_alone},
    {"single direction", MSGRATE_LOCK, .one_partner = true, .time_lower = time_lock},
    {"single direction", MSGRATE_PSCW, .one_partner = true, .time_lower = time_pscw_origin,
     .time_upper = time_pscw_target},
    {"single direction", MSGRATE_FLUSH, .one_partner = true, .locks_all = true,
     .time_lower = time_flush_single, .begin = begin_flush, .end = end_flush},
    {"pre-post", MSGRATE_FENCE, .opens_ahead = true, .time_lower = time_fence_halo,
     .time_upper = time_fence_halo, .begin = begin_fence_halo, .end = end_fence_halo},
    {"pre-post", MSGRATE_LOCK, .time_lower = time_lock, .time_upper = time_lock},
    {"pre-post", MSGRATE_PSCW, .opens_ahead = true, .time_lower = time_pscw_halo,
     .time_upper = time_pscw_halo, .begin = begin_pscw_halo, .end = end_pscw_halo},
    {"pre-post", MSGRATE_FLUSH, .locks_all = true, .time_lower = time_flush_halo,
     .time_upper = time_flush_halo, .begin = begin_flush, .end = end_flush},
};
