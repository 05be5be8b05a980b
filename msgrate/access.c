#include "msgrate/access.h"

#include "common/machine/memory.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- places ---------------------------------------------------------------------------------- */

static size_t half_bytes(const struct msgrate_access *x)
{
    return msgrate_block_bytes(&x->messages) * (size_t)x->bench->npeers;
}

/* Where the messages of an iteration begin in every window. */
static size_t half_offset(const struct msgrate_access *x, int64_t iteration)
{
    return (size_t)(iteration % x->halves) * half_bytes(x);
}

/* ---- data ------------------------------------------------------------------------------------ */

static int rank_of(const struct msgrate_access *x)
{
    return x->bench->run->job.rank;
}

/* Whether messages come out of this rank's memory. */
static bool gives(const struct msgrate_access *x, const struct msgrate_method *method)
{
    if (!method->one_partner)
        return true;
    return x->bench->partner >= 0 && x->bench->lower == x->puts;
}

/* Whether messages go into this rank's memory. */
static bool takes(const struct msgrate_access *x, const struct msgrate_method *method)
{
    if (!method->one_partner)
        return true;
    return x->bench->partner >= 0 && x->bench->lower != x->puts;
}

/* Where other ranks may access the window at any time, local loads and stores in it come between
   open_window and close_window. */
static void open_window(const struct msgrate_access *x, const struct msgrate_method *method)
{
    if (method->locks_all)
        BC_MPI(MPI_Win_sync(x->window));
    else if (!method->opens_ahead)
        BC_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_of(x), 0, x->window));
}

static void close_window(const struct msgrate_access *x, const struct msgrate_method *method)
{
    if (method->locks_all)
        BC_MPI(MPI_Win_sync(x->window));
    else if (!method->opens_ahead)
        BC_MPI(MPI_Win_unlock(rank_of(x), x->window));
}

/* Writes what an iteration transfers. What is got must be in the window before the window is
   exposed: one iteration earlier where it is exposed ahead. */
static void write_gifts(const struct msgrate_access *x, const struct msgrate_method *method,
                        int64_t iteration)
{
    if (!gives(x, method))
        return;
    if (x->puts) {
        msgrate_write_buffer(x->bench, &x->messages, method->one_partner, x->local_buffer,
                             iteration);
        return;
    }
    open_window(x, method);
    msgrate_write_buffer(x->bench, &x->messages, method->one_partner,
                         x->window_memory + half_offset(x, iteration), iteration);
    close_window(x, method);
}

/* Gets from an exposure that is open already transfer what was written before. */
static bool writes_ahead(const struct msgrate_access *x, const struct msgrate_method *method)
{
    return !x->puts && method->opens_ahead;
}

/* Brings what is got in this iteration into the caches again, as writing it would have done. */
static void read_gifts(const struct msgrate_access *x, const struct msgrate_method *method)
{
    enum { LINE_BYTES = 64 };
    const volatile unsigned char *const start = x->window_memory + half_offset(x, x->iteration);
    const size_t bytes = method->one_partner ? msgrate_block_bytes(&x->messages) : half_bytes(x);
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        (void)start[i];
}

/* The wrong messages that this rank got in this iteration. */
static int64_t verify(const struct msgrate_access *x, const struct msgrate_method *method)
{
    if (!takes(x, method))
        return 0;
    if (!x->puts)
        return msgrate_verify_buffer(x->bench, &x->messages, method->one_partner, x->local_buffer,
                                     x->iteration);
    open_window(x, method);
    const int64_t wrong =
        msgrate_verify_buffer(x->bench, &x->messages, method->one_partner,
                              x->window_memory + half_offset(x, x->iteration), x->iteration);
    close_window(x, method);
    return wrong;
}

/* ---- iterations ------------------------------------------------------------------------------ */

static msgrate_access_fn *part_of(const struct msgrate_access *x,
                                  const struct msgrate_method *method)
{
    if (method->one_partner && x->bench->partner < 0)
        return method->time_resting;
    return x->bench->lower ? method->time_lower : method->time_upper;
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
    /* What is exposed already may be read, but not written. */
    if (!writes_ahead(x, method))
        write_gifts(x, method, x->iteration);
    if (writes_ahead(x, method) && check)
        write_gifts(x, method, x->iteration + 1);
    if (writes_ahead(x, method))
        read_gifts(x, method);
    x->offset = (MPI_Aint)half_offset(x, x->iteration);
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    values[0] = -INFINITY;
    if (time != NULL)
        values[0] = (double)time(x);
    /* The targets of a lock or a flush can't know when its origin is done. */
    bc_harness_barrier(MPI_COMM_WORLD);
    if (check)
        x->wrong += verify(x, method);
    x->iteration++;
}

void msgrate_measure_access(struct msgrate_access *access, const struct msgrate_method *method,
                            double seconds, struct msgrate_result *result)
{
    struct msgrate_access *const x = access;
    struct accesses accesses = {x, method};
    const struct bc_source source = {.quantities = 1, .take = take, .context = &accesses};
    x->iteration = x->wrong = 0;
    if (writes_ahead(x, method))
        write_gifts(x, method, 0);
    if (method->begin != NULL)
        method->begin(x);
    msgrate_sample(x->bench, &source, method->pattern, seconds, result);
    if (method->end != NULL)
        method->end(x);
    msgrate_conclude(x->bench, &x->messages, method->one_partner, x->wrong, result);
}

/* ---- life ------------------------------------------------------------------------------------ */

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

/* Divides the messages of a block among the threads. */
static struct msgrate_share *share_messages(int messages, int threads)
{
    struct msgrate_share *const shares =
        bc_allocate((size_t)threads, sizeof *shares, "no memory for %d threads", threads);
    for (int t = 0; t < threads; t++) {
        const int64_t count = messages;
        shares[t].first = (int)(count * t / threads);
        shares[t].end = (int)(count * (t + 1) / threads);
    }
    return shares;
}

void msgrate_access_create(struct msgrate_access *access, struct msgrate_bench *bench,
                           int64_t size_bytes)
{
    const struct msgrate_parameters *const p = &bench->parameters;
    struct msgrate_access *const x = access;
    const bool puts = p->transfer == MSGRATE_PUT;
    *x = (struct msgrate_access){
        .bench = bench,
        .messages = msgrate_messages_create((int)p->messages, size_bytes),
        .puts = puts,
        .transfer_block = msgrate_transfers[p->transfer],
        .team = msgrate_team_create((int)p->threads),
        .shares = share_messages((int)p->messages, (int)p->threads),
        .halves = bench->run->settings.check ? 2 : 1,
        .targets = puts ? bench->sends : bench->receives,
        .origins = puts ? bench->receives : bench->sends,
    };
    x->local_buffer = msgrate_allocate(&x->messages, bench->npeers);
    const MPI_Aint bytes = window_bytes(x);
    BC_MPI(
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &x->window_memory, &x->window));
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
    free(access->shares);
    msgrate_messages_destroy(&access->messages);
}
