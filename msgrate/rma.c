#include "msgrate/rma.h"

#include "common/clock.h"
#include "common/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- places ------------------------------------------------------------------- */

static size_t half_bytes(const struct msgrate_access *x)
{
    return msgrate_block_bytes(&x->messages) * (size_t)x->bench->npeers;
}

/* Where the messages of an iteration begin in every window. */
static size_t half_offset(const struct msgrate_access *x, int64_t iteration)
{
    return (size_t)(iteration % x->halves) * half_bytes(x);
}

static unsigned char *block_of(const struct msgrate_access *x,
                               unsigned char *start, int place)
{
    return start + msgrate_block_bytes(&x->messages) * (size_t)place;
}

/* ---- transfers ------------------------------------------------------------------- */

/* The messages that a thread of the team transfers of each block. */
struct share {
    int first, end;
};

static struct share share_of(const struct msgrate_access *x, int thread)
{
    const int64_t count = x->messages.count;
    return (struct share){(int)(count * thread / x->threads),
                          (int)(count * (thread + 1) / x->threads)};
}

/* A block's messages of one share, put into or got from a peer's window. */
static void put_block(const struct msgrate_access *x, struct share share,
                      const unsigned char *block, int peer, size_t offset)
{
    const int bytes = x->messages.bytes;
    for (int m = share.first; m < share.end; m++)
        BC_MPI(MPI_Put(block + (size_t)m * (size_t)bytes, bytes, MPI_BYTE, peer,
                       (MPI_Aint)(offset + (size_t)m * (size_t)bytes), bytes,
                       MPI_BYTE, x->window));
}

static void get_block(const struct msgrate_access *x, struct share share,
                      unsigned char *block, int peer, size_t offset)
{
    const int bytes = x->messages.bytes;
    for (int m = share.first; m < share.end; m++)
        BC_MPI(MPI_Get(block + (size_t)m * (size_t)bytes, bytes, MPI_BYTE, peer,
                       (MPI_Aint)(offset + (size_t)m * (size_t)bytes), bytes,
                       MPI_BYTE, x->window));
}

static void transfer_block(const struct msgrate_access *x, struct share share,
                           unsigned char *block, int peer, size_t offset)
{
    if (x->transfer == MSGRATE_PUT)
        put_block(x, share, block, peer, offset);
    else
        get_block(x, share, block, peer, offset);
}

static void transfer_share_to_partner(const void *context, int thread)
{
    const struct msgrate_access *const x = context;
    transfer_block(x, share_of(x, thread), x->local_buffer, x->bench->partner,
                   half_offset(x, x->iteration));
}

/* Block i of a peer's window is for the rank that it has at place i of its own
   list, which is the mirror image of this rank's: see msgrate_peers_list. */
static void transfer_share_to_peers(const void *context, int thread)
{
    const struct msgrate_access *const x = context;
    const struct share share = share_of(x, thread);
    const int n = x->bench->npeers;
    const size_t start = half_offset(x, x->iteration);
    for (int i = 0; i < n; i++)
        transfer_block(x, share, block_of(x, x->local_buffer, i), x->targets[i],
                       start + msgrate_block_bytes(&x->messages) *
                                   (size_t)(n - 1 - i));
}

static void transfer_to_partner(const struct msgrate_access *x)
{
    msgrate_team_run(x->team, transfer_share_to_partner, x);
}

static void transfer_to_peers(const struct msgrate_access *x)
{
    msgrate_team_run(x->team, transfer_share_to_peers, x);
}

/* ---- fence --------------------------------------------------------------------------- */

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

/* ---- lock and unlock ------------------------------------------------------------------ */

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

/* ---- post, start, complete, wait ------------------------------------------------------- */

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

/* ---- lock_all and flush ------------------------------------------------------------------ */

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
    {SINGLE, .synchronisation = "fence", .time_lower = time_fence_single,
     .time_upper = time_fence_alone, .time_resting = time_fence_alone},
    {SINGLE, .synchronisation = "lock", .time_lower = time_lock_single},
    {SINGLE, .synchronisation = "pscw", .time_lower = time_pscw_origin,
     .time_upper = time_pscw_target},
    {SINGLE, .synchronisation = "flush", .locks_all = true,
     .time_lower = time_flush_single, .begin = begin_flush, .end = end_flush},
    {HALO, .synchronisation = "fence", .opens_ahead = true,
     .time_lower = time_fence_halo, .time_upper = time_fence_halo,
     .begin = begin_fence_halo, .end = end_fence_halo},
    {HALO, .synchronisation = "lock", .time_lower = time_lock_halo,
     .time_upper = time_lock_halo},
    {HALO, .synchronisation = "pscw", .opens_ahead = true,
     .time_lower = time_pscw_halo, .time_upper = time_pscw_halo,
     .begin = begin_pscw_halo, .end = end_pscw_halo},
    {HALO, .synchronisation = "flush", .locks_all = true,
     .time_lower = time_flush_halo, .time_upper = time_flush_halo,
     .begin = begin_flush, .end = end_flush},
};

/* ---- data ---------------------------------------------------------------------------------- */

static int rank_of(const struct msgrate_access *x)
{
    return x->bench->run->job.rank;
}

static bool is_lower(const struct msgrate_access *x)
{
    return rank_of(x) < x->bench->run->job.ranks / 2;
}

/* Whether this rank's messages go somewhere, or come from somewhere. */
static bool gives(const struct msgrate_access *x,
                  const struct msgrate_method *method)
{
    if (!method->one_partner)
        return true;
    return x->bench->partner >= 0 &&
           is_lower(x) == (x->transfer == MSGRATE_PUT);
}

static bool takes(const struct msgrate_access *x,
                  const struct msgrate_method *method)
{
    if (!method->one_partner)
        return true;
    return x->bench->partner >= 0 &&
           is_lower(x) == (x->transfer == MSGRATE_GET);
}

/* Local loads and stores in the window come between these two, where other
   ranks may access it at any time. */
static void open_window(const struct msgrate_access *x,
                        const struct msgrate_method *method)
{
    if (method->locks_all)
        BC_MPI(MPI_Win_sync(x->window));
    else if (!method->opens_ahead)
        BC_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_of(x), 0, x->window));
}

static void close_window(const struct msgrate_access *x,
                         const struct msgrate_method *method)
{
    if (method->locks_all)
        BC_MPI(MPI_Win_sync(x->window));
    else if (!method->opens_ahead)
        BC_MPI(MPI_Win_unlock(rank_of(x), x->window));
}

/* Writes what this rank gives in an iteration; with --check so that it can be
   verified. */
static void write_messages(const struct msgrate_access *x,
                           const struct msgrate_method *method,
                           unsigned char *start, int64_t iteration)
{
    const struct msgrate_bench *const bench = x->bench;
    const int blocks = method->one_partner ? 1 : bench->npeers;
    if (!bench->run->settings.check) {
        memset(start, (int)(iteration & 0x7f),
               msgrate_block_bytes(&x->messages) * (size_t)blocks);
        return;
    }
    for (int i = 0; i < blocks; i++)
        msgrate_write_block(&x->messages, block_of(x, start, i), iteration,
                            rank_of(x),
                            method->one_partner ? bench->partner
                                                : bench->sends[i]);
}

/* Writes what an iteration transfers. What is got must be in the window before
   that is exposed: one iteration earlier where that is done ahead. */
static void write_gifts(const struct msgrate_access *x,
                        const struct msgrate_method *method, int64_t iteration)
{
    if (!gives(x, method))
        return;
    if (x->transfer == MSGRATE_PUT) {
        write_messages(x, method, x->local_buffer, iteration);
        return;
    }
    open_window(x, method);
    write_messages(x, method, x->window_memory + half_offset(x, iteration),
                   iteration);
    close_window(x, method);
}

/* Gets from an exposure that is open already read what was written before. */
static bool writes_ahead(const struct msgrate_access *x,
                         const struct msgrate_method *method)
{
    return x->transfer == MSGRATE_GET && method->opens_ahead;
}

static int64_t count_wrong(const struct msgrate_access *x,
                           const struct msgrate_method *method)
{
    const struct msgrate_bench *const bench = x->bench;
    const int blocks = method->one_partner ? 1 : bench->npeers;
    unsigned char *start = x->local_buffer;
    if (!takes(x, method))
        return 0;
    if (x->transfer == MSGRATE_PUT)
        start = x->window_memory + half_offset(x, x->iteration);
    int64_t wrong = 0;
    for (int i = 0; i < blocks; i++)
        wrong += msgrate_count_wrong(&x->messages, block_of(x, start, i),
                                     x->iteration,
                                     method->one_partner ? bench->partner
                                                         : bench->receives[i],
                                     rank_of(x));
    return wrong;
}

static int64_t verify(const struct msgrate_access *x,
                      const struct msgrate_method *method)
{
    if (x->transfer == MSGRATE_GET)
        return count_wrong(x, method);
    open_window(x, method);
    const int64_t wrong = count_wrong(x, method);
    close_window(x, method);
    return wrong;
}

/* ---- iterations ------------------------------------------------------------------------------ */

static msgrate_access_fn *part_of(const struct msgrate_access *x,
                                  const struct msgrate_method *method)
{
    if (method->one_partner && x->bench->partner < 0)
        return method->time_resting;
    return is_lower(x) ? method->time_lower : method->time_upper;
}

struct accesses {
    struct msgrate_access *access;
    const struct msgrate_method *method;
};

static void take(void *context, double *values)
{
    const struct accesses *const accesses = context;
    struct msgrate_access *const x = accesses->access;
    const struct msgrate_method *const method = accesses->method;
    const bool check = x->bench->run->settings.check;
    msgrate_access_fn *const time = part_of(x, method);
    bc_cache_flush_run(&x->bench->flush);
    /* In a window of one half, what is exposed already must not be touched. */
    if (!writes_ahead(x, method))
        write_gifts(x, method, x->iteration);
    else if (check)
        write_gifts(x, method, x->iteration + 1);
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    values[0] = -INFINITY;
    if (time != NULL)
        values[0] = (double)time(x);
    /* The targets of a lock or a flush can't know when its origin is done. */
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (check)
        x->wrong += verify(x, method);
    x->iteration++;
}

void msgrate_measure_access(struct msgrate_access *access,
                            const struct msgrate_method *method,
                            double seconds, struct msgrate_result *result)
{
    struct msgrate_access *const x = access;
    struct accesses accesses = {x, method};
    const struct bc_source source = {
        .quantities = 1,
        .take = take,
        .context = &accesses,
    };
    x->iteration = x->wrong = 0;
    *result =
        msgrate_begin_result(x->bench, &x->messages, method->one_partner);
    if (writes_ahead(x, method))
        write_gifts(x, method, 0);
    if (method->begin != NULL)
        method->begin(x);
    msgrate_sample(x->bench, &source, seconds, result);
    if (method->end != NULL)
        method->end(x);
    msgrate_add_wrong(result, x->wrong);
}

/* ---- life ---------------------------------------------------------------------------------------- */

/* Whole pages: MPICH 4.0.2 puts what goes to a smaller window elsewhere. */
static MPI_Aint window_bytes(const struct msgrate_access *x)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = half_bytes(x) * (size_t)x->halves;
    return (MPI_Aint)((bytes + page) / page * page);
}

static MPI_Group group_of(const int *ranks, int count)
{
    MPI_Group world, group;
    BC_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    BC_MPI(MPI_Group_incl(world, count, ranks, &group));
    BC_MPI(MPI_Group_free(&world));
    return group;
}

static void free_group(MPI_Group *group)
{
    if (*group != MPI_GROUP_EMPTY)
        BC_MPI(MPI_Group_free(group));
}

void msgrate_access_create(struct msgrate_access *access,
                           struct msgrate_bench *bench,
                           enum msgrate_transfer transfer, int threads,
                           int64_t size_bytes)
{
    struct msgrate_access *const x = access;
    const bool put = transfer == MSGRATE_PUT;
    *x = (struct msgrate_access){
        .bench = bench,
        .messages = {.count = (int)bench->parameters->messages,
                     .bytes = (int)size_bytes},
        .transfer = transfer,
        .team = msgrate_team_create(threads),
        .threads = threads,
        .halves = bench->run->settings.check ? 2 : 1,
        .targets = put ? bench->sends : bench->receives,
        .origins = put ? bench->receives : bench->sends,
    };
    x->local_buffer = msgrate_allocate(&x->messages, bench->npeers);
    const MPI_Aint bytes = window_bytes(x);
    BC_MPI(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            &x->window_memory, &x->window));
    BC_MPI(MPI_Win_set_errhandler(x->window, MPI_ERRORS_RETURN));
    memset(x->window_memory, 0, (size_t)bytes);
    x->target_group = group_of(x->targets, bench->npeers);
    x->origin_group = group_of(x->origins, bench->npeers);
    x->partner_group = group_of(&bench->partner, bench->partner >= 0);
}

void msgrate_access_destroy(struct msgrate_access *access)
{
    msgrate_team_destroy(access->team);
    BC_MPI(MPI_Win_free(&access->window));
    free_group(&access->target_group);
    free_group(&access->origin_group);
    free_group(&access->partner_group);
    free(access->local_buffer);
}
