#include "msgrate/rma_kernel.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

/* ---- transfers ------------------------------------------------------------------------------- */

static void put_block(const struct msgrate_access *x, struct msgrate_share share,
                      unsigned char *block, int peer, MPI_Aint offset)
{
    const size_t bytes = (size_t)x->messages.bytes;
    const struct bc_amount amount = x->messages.amount;
    for (int m = share.first; m < share.end; m++)
        BC_MPI(MPI_Put(block + (size_t)m * bytes, amount.count, amount.type, peer,
                       offset + (MPI_Aint)((size_t)m * bytes), amount.count, amount.type,
                       x->window));
}

static void get_block(const struct msgrate_access *x, struct msgrate_share share,
                      unsigned char *block, int peer, MPI_Aint offset)
{
    const size_t bytes = (size_t)x->messages.bytes;
    const struct bc_amount amount = x->messages.amount;
    for (int m = share.first; m < share.end; m++)
        BC_MPI(MPI_Get(block + (size_t)m * bytes, amount.count, amount.type, peer,
                       offset + (MPI_Aint)((size_t)m * bytes), amount.count, amount.type,
                       x->window));
}

msgrate_transfer_fn *const msgrate_transfers[MSGRATE_TRANSFERS] = {
    [MSGRATE_PUT] = put_block,
    [MSGRATE_GET] = get_block,
};

static void transfer_share_to_partner(const void *context, int thread)
{
    const struct msgrate_access *const x = context;
    x->transfer_block(x, x->shares[thread], x->local_buffer, x->bench->partner, x->offset);
}

/* Block i of a peer's window is for the rank at place i of the peer's own list, which is the mirror
   image of this rank's list: see msgrate_peers_list. */
static void transfer_share_to_peers(const void *context, int thread)
{
    const struct msgrate_access *const x = context;
    const int n = x->bench->npeers;
    const MPI_Aint block_bytes = (MPI_Aint)msgrate_block_bytes(&x->messages);
    for (int i = 0; i < n; i++)
        x->transfer_block(x, x->shares[thread], msgrate_block(&x->messages, x->local_buffer, i),
                          x->targets[i], x->offset + block_bytes * (n - 1 - i));
}

static void transfer_to_partner(const struct msgrate_access *x)
{
    msgrate_team_run(x->team, transfer_share_to_partner, x);
}

static void transfer_to_peers(const struct msgrate_access *x)
{
    msgrate_team_run(x->team, transfer_share_to_peers, x);
}

/* ---- fence ----------------------------------------------------------------------------------- */

static int64_t time_fence_single(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, x->window));
    transfer_to_partner(x);
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
    transfer_to_peers(x);
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

static int64_t time_lock_single(const struct msgrate_access *x)
{
    const int partner = x->bench->partner;
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_lock(MPI_LOCK_SHARED, partner, 0, x->window));
    transfer_to_partner(x);
    BC_MPI(MPI_Win_unlock(partner, x->window));
    return bc_now_ns() - start_ns;
}

static int64_t time_lock_halo(const struct msgrate_access *x)
{
    const int n = x->bench->npeers;
    const int64_t start_ns = bc_now_ns();
    for (int i = 0; i < n; i++)
        BC_MPI(MPI_Win_lock(MPI_LOCK_SHARED, x->targets[i], 0, x->window));
    transfer_to_peers(x);
    for (int i = 0; i < n; i++)
        BC_MPI(MPI_Win_unlock(x->targets[i], x->window));
    return bc_now_ns() - start_ns;
}

/* ---- post, start, complete, wait ------------------------------------------------------------- */

static int64_t time_pscw_origin(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_start(x->partner_group, 0, x->window));
    transfer_to_partner(x);
    BC_MPI(MPI_Win_complete(x->window));
    return bc_now_ns() - start_ns;
}

static int64_t time_pscw_target(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_post(x->partner_group, 0, x->window));
    BC_MPI(MPI_Win_wait(x->window));
    return bc_now_ns() - start_ns;
}

static int64_t time_pscw_halo(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    BC_MPI(MPI_Win_start(x->target_group, 0, x->window));
    transfer_to_peers(x);
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
    transfer_to_partner(x);
    BC_MPI(MPI_Win_flush(x->bench->partner, x->window));
    return bc_now_ns() - start_ns;
}

static int64_t time_flush_halo(const struct msgrate_access *x)
{
    const int64_t start_ns = bc_now_ns();
    transfer_to_peers(x);
    BC_MPI(MPI_Win_flush_all(x->window));
    return bc_now_ns() - start_ns;
}

static void begin_flush(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_lock_all(0, x->window));
}

static void end_flush(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_unlock_all(x->window));
}

#define SINGLE .pattern = "single direction", .one_partner = true
#define HALO .pattern = "pre-post"

const struct msgrate_method msgrate_methods[MSGRATE_METHODS] = {
    {SINGLE, .sync = MSGRATE_FENCE, .time_lower = time_fence_single, .time_upper = time_fence_alone,
     .time_resting = time_fence_alone},
    {SINGLE, .sync = MSGRATE_LOCK, .time_lower = time_lock_single},
    {SINGLE, .sync = MSGRATE_PSCW, .time_lower = time_pscw_origin, .time_upper = time_pscw_target},
    {SINGLE, .sync = MSGRATE_FLUSH, .locks_all = true, .time_lower = time_flush_single,
     .begin = begin_flush, .end = end_flush},
    {HALO, .sync = MSGRATE_FENCE, .opens_ahead = true, .time_lower = time_fence_halo,
     .time_upper = time_fence_halo, .begin = begin_fence_halo, .end = end_fence_halo},
    {HALO, .sync = MSGRATE_LOCK, .time_lower = time_lock_halo, .time_upper = time_lock_halo},
    {HALO, .sync = MSGRATE_PSCW, .opens_ahead = true, .time_lower = time_pscw_halo,
     .time_upper = time_pscw_halo, .begin = begin_pscw_halo, .end = end_pscw_halo},
    {HALO, .sync = MSGRATE_FLUSH, .locks_all = true, .time_lower = time_flush_halo,
     .time_upper = time_flush_halo, .begin = begin_flush, .end = end_flush},
};
