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

/* Puts, or gets, a share of a block. Inlined where `puts` is a constant, so that nothing looks at
   it between transfers. */
__attribute__((always_inline)) static inline void transfer_block(const struct msgrate_access *x,
                                                                 struct msgrate_share share,
                                                                 unsigned char *block, int peer,
                                                                 MPI_Aint offset, bool puts)
{
    const size_t bytes = (size_t)x->messages.bytes;
    const struct bc_amount amount = x->messages.amount;
    for (int m = share.first; m < share.end; m++)
        if (puts)
            BC_MPI(MPI_Put(block + (size_t)m * bytes, amount.count, amount.type, peer,
                           offset + (MPI_Aint)((size_t)m * bytes), amount.count, amount.type,
                           x->window));
        else
            BC_MPI(MPI_Get(block + (size_t)m * bytes, amount.count, amount.type, peer,
                           offset + (MPI_Aint)((size_t)m * bytes), amount.count, amount.type,
                           x->window));
}

/* Transfers a thread's share of all messages. Block i of a peer's window is for the rank at place i
   of the peer's own list, which is the mirror image of this rank's list: see msgrate_peers_list. */
__attribute__((always_inline)) static inline void transfer_share(const struct msgrate_access *x,
                                                                 int thread, bool puts)
{
    const int n = x->messages.npeers;
    const MPI_Aint block_bytes = (MPI_Aint)msgrate_block_bytes(&x->messages);
    for (int i = 0; i < n; i++)
        transfer_block(x, x->shares[thread], msgrate_block(&x->messages, x->local_buffer, i),
                       x->targets[i], x->offset + block_bytes * (n - 1 - i), puts);
}

void msgrate_put_share(const void *access, int thread) { transfer_share(access, thread, true); }

void msgrate_get_share(const void *access, int thread) { transfer_share(access, thread, false); }

/* ---- steps ----------------------------------------------------------------------------------- */

typedef void step_fn(const struct msgrate_access *x);

static void transfer(const struct msgrate_access *x)
{
    msgrate_team_run(x->team, x->transfer_share, x);
}

static void nothing(const struct msgrate_access *x) { (void)x; }

static void open_fence(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, x->window));
}

static void fence(const struct msgrate_access *x) { BC_MPI(MPI_Win_fence(0, x->window)); }

static void close_fence(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, x->window));
}

static void post(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_post(x->origin_group, 0, x->window));
}

static void start(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_start(x->target_group, 0, x->window));
}

static void complete(const struct msgrate_access *x) { BC_MPI(MPI_Win_complete(x->window)); }

static void await_origins(const struct msgrate_access *x) { BC_MPI(MPI_Win_wait(x->window)); }

static void complete_and_post(const struct msgrate_access *x)
{
    complete(x);
    await_origins(x);
    post(x);
}

static void close_pscw(const struct msgrate_access *x)
{
    start(x);
    complete(x);
    await_origins(x);
}

static void lock_all(const struct msgrate_access *x) { BC_MPI(MPI_Win_lock_all(0, x->window)); }

static void unlock_all(const struct msgrate_access *x) { BC_MPI(MPI_Win_unlock_all(x->window)); }

static void flush(const struct msgrate_access *x)
{
    BC_MPI(MPI_Win_flush(x->targets[0], x->window));
}

static void flush_all(const struct msgrate_access *x) { BC_MPI(MPI_Win_flush_all(x->window)); }

/* ---- the timed kernels ----------------------------------------------------------------------- */

/* Inlined where the steps are named, so that nothing but what they do is timed. */
__attribute__((always_inline)) static inline int64_t time_steps(const struct msgrate_access *x,
                                                                step_fn *first, step_fn *second,
                                                                step_fn *third)
{
    const int64_t start_ns = bc_now_ns();
    first(x);
    second(x);
    third(x);
    return bc_now_ns() - start_ns;
}

#define TIMED(name, first, second, third)                                                          \
    static int64_t name(const struct msgrate_access *x)                                            \
    {                                                                                              \
        return time_steps(x, first, second, third);                                                \
    }

TIMED(time_fence, open_fence, transfer, close_fence)
TIMED(time_fence_alone, open_fence, nothing, close_fence)
TIMED(time_fence_halo, nothing, transfer, fence)
TIMED(time_pscw_origin, start, transfer, complete)
TIMED(time_pscw_target, post, nothing, await_origins)
TIMED(time_pscw_halo, start, transfer, complete_and_post)
TIMED(time_flush, nothing, transfer, flush)
TIMED(time_flush_halo, nothing, transfer, flush_all)

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

const struct msgrate_rma_pattern msgrate_rma_patterns[MSGRATE_RMA_PATTERNS] = {
    {"single direction", MSGRATE_FENCE, .one_partner = true, .time_lower = time_fence,
     .time_upper = time_fence_alone, .time_resting = time_fence_alone},
    {"single direction", MSGRATE_LOCK, .one_partner = true, .time_lower = time_lock},
    {"single direction", MSGRATE_PSCW, .one_partner = true, .time_lower = time_pscw_origin,
     .time_upper = time_pscw_target},
    {"single direction", MSGRATE_FLUSH, .one_partner = true, .locks_all = true,
     .time_lower = time_flush, .begin = lock_all, .end = unlock_all},
    {"pre-post", MSGRATE_FENCE, .opens_ahead = true, .time_lower = time_fence_halo,
     .time_upper = time_fence_halo, .begin = open_fence, .end = close_fence},
    {"pre-post", MSGRATE_LOCK, .time_lower = time_lock, .time_upper = time_lock},
    {"pre-post", MSGRATE_PSCW, .opens_ahead = true, .time_lower = time_pscw_halo,
     .time_upper = time_pscw_halo, .begin = post, .end = close_pscw},
    {"pre-post", MSGRATE_FLUSH, .locks_all = true, .time_lower = time_flush_halo,
     .time_upper = time_flush_halo, .begin = lock_all, .end = unlock_all},
};
