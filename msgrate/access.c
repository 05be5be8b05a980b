/* Iterations with one-sided communication. A put goes into the window of its target, a get comes
   from it. A window that was exposed before the flush must not be written any more: what gets will
   transfer from it is read instead. */
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "msgrate/access.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- data ------------------------------------------------------------------------------------ */

static size_t half_bytes(const struct msgrate_access *x)
{
    return msgrate_block_bytes(&x->messages) * (size_t)x->bench->npeers;
}

/* Where the messages of an iteration begin in every window. */
static size_t half_offset(const struct msgrate_access *x, int64_t iteration)
{
    return (size_t)(iteration % x->halves) * half_bytes(x);
}

/* Whether messages come out of this rank's memory, or, with `into`, go into it. */
static bool takes_part(const struct msgrate_access *x, bool into)
{
    /* In the single direction the lower half accesses the upper half. */
    const bool receives = x->bench->lower != x->puts;
    return !x->pattern->one_partner || (x->messages.npeers > 0 && receives == into);
}

/* The memory of an iteration's messages on this rank: the local buffer, or, where they are in the
   window, a half of it. There local loads and stores come between open_buffer and close_buffer,
   if other ranks may access the window at any time. */
static unsigned char *open_buffer(const struct msgrate_access *x, bool in_window, int64_t iteration)
{
    if (!in_window)
        return x->local_buffer;
    if (x->pattern->locks_all)
        BC_MPI(MPI_Win_sync(x->window));
    else if (!x->pattern->opens_ahead)
        BC_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, x->bench->run->job.rank, 0, x->window));
    return x->window_memory + half_offset(x, iteration);
}

static void close_buffer(const struct msgrate_access *x, bool in_window)
{
    if (in_window && x->pattern->locks_all)
        BC_MPI(MPI_Win_sync(x->window));
    else if (in_window && !x->pattern->opens_ahead)
        BC_MPI(MPI_Win_unlock(x->bench->run->job.rank, x->window));
}

/* Writes what an iteration transfers. What is got must be in the window before the window is
   exposed: one iteration earlier where it is exposed ahead. */
static void write_data(const struct msgrate_access *x, int64_t iteration)
{
    if (!takes_part(x, false))
        return;
    msgrate_write(x->bench->run, &x->messages, open_buffer(x, !x->puts, iteration), iteration);
    close_buffer(x, !x->puts);
}

/* Gets from an exposure that is open already transfer what was written before. */
static bool writes_ahead(const struct msgrate_access *x)
{
    return !x->puts && x->pattern->opens_ahead;
}

/* Brings what is got in this iteration into the caches again, as writing it would have done. */
static void read_data(const struct msgrate_access *x)
{
    const size_t line_bytes = x->bench->flush.line_bytes;
    const volatile unsigned char *const start = x->window_memory + half_offset(x, x->iteration);
    for (size_t i = 0; i < msgrate_block_bytes(&x->messages) * (size_t)x->messages.npeers;
         i += line_bytes)
        (void)start[i];
}

static void verify(struct msgrate_access *x)
{
    if (!takes_part(x, true))
        return;
    x->wrong += msgrate_verify(x->bench->run, &x->messages, open_buffer(x, x->puts, x->iteration),
                               x->iteration);
    close_buffer(x, x->puts);
}

/* ---- iterations ------------------------------------------------------------------------------ */

/* Runs this rank's timed part of an iteration; returns its time in ns, or -INFINITY if it times
   nothing. Collective. */
static double time_iteration(const struct msgrate_access *x)
{
    msgrate_access_fn *time = x->bench->lower ? x->pattern->time_lower : x->pattern->time_upper;
    if (x->messages.npeers == 0)
        time = x->pattern->time_resting;
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    return time != NULL ? (double)time(x) : -INFINITY;
}

static void iterate(void *context, double *time_ns)
{
    struct msgrate_access *const x = context;
    const bool check = x->bench->run->settings.check;
    bc_cache_flush_run(&x->bench->flush);
    if (!writes_ahead(x)) {
        write_data(x, x->iteration);
    } else {
        /* What is exposed already may be read, but not written. */
        if (check)
            write_data(x, x->iteration + 1);
        read_data(x);
    }
    x->offset = (MPI_Aint)half_offset(x, x->iteration);
    *time_ns = time_iteration(x);
    /* The targets of a lock or a flush can't know when its origin is done. */
    bc_harness_barrier(MPI_COMM_WORLD);
    if (check)
        verify(x);
    x->iteration++;
}

/* ---- life ------------------------------------------------------------------------------------ */

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
static struct msgrate_share *share_messages(int64_t messages, int threads)
{
    struct msgrate_share *const shares =
        bc_allocate((size_t)threads, sizeof *shares, "no memory for %d threads", threads);
    for (int t = 0; t < threads; t++)
        shares[t] = (struct msgrate_share){(int)(messages * t / threads),
                                           (int)(messages * (t + 1) / threads)};
    return shares;
}

static void create_window(struct msgrate_access *x)
{
    /* Whole pages: MPICH 4.0.2 puts what goes to a smaller window elsewhere. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = (half_bytes(x) * (size_t)x->halves + page) / page * page;
    BC_MPI(MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &x->window_memory,
                            &x->window));
    BC_MPI(MPI_Win_set_errhandler(x->window, MPI_ERRORS_RETURN));
    memset(x->window_memory, 0, bytes);
}

static void create(struct msgrate_access *x)
{
    const struct msgrate_parameters *const p = &x->bench->parameters;
    const int *const origins = x->puts ? x->messages.receives : x->messages.sends;
    x->targets = x->puts ? x->messages.sends : x->messages.receives;
    x->transfer_share = x->puts ? msgrate_put_share : msgrate_get_share;
    x->team = msgrate_team_create((int)p->threads);
    x->shares = share_messages(p->messages, (int)p->threads);
    x->target_group = group_of(x->targets, x->messages.npeers);
    x->origin_group = group_of(origins, x->messages.npeers);
    x->local_buffer = msgrate_allocate(&x->messages);
    create_window(x);
    if (writes_ahead(x))
        write_data(x, 0);
}

static void destroy(struct msgrate_access *x)
{
    msgrate_team_destroy(x->team);
    BC_MPI(MPI_Win_free(&x->window));
    free_group(&x->target_group);
    free_group(&x->origin_group);
    free(x->local_buffer);
    free(x->shares);
    bc_amount_destroy(&x->messages.amount);
}

void msgrate_access_visit(struct msgrate_bench *bench, const struct msgrate_rma_pattern *pattern,
                          double seconds, struct msgrate_row *row)
{
    struct msgrate_access x = {
        .messages = msgrate_messages_of(bench, row->size_bytes, pattern->one_partner),
        .bench = bench,
        .pattern = pattern,
        .puts = bench->parameters.transfer == MSGRATE_PUT,
        .halves = bench->run->settings.check ? 2 : 1,
    };
    create(&x);
    if (pattern->begin != NULL)
        pattern->begin(&x);
    msgrate_sample(bench->run, iterate, &x, seconds, row);
    if (pattern->end != NULL)
        pattern->end(&x);
    row->wrong += x.wrong;
    destroy(&x);
}
