/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations with one-sided communication. A put goes into the window of its target, a get comes
   from it. A window that is exposed before the flush must not be written afterwards: data of gets
   is read instead. */
#include "msgrate/rma_exchange.h"

#include "common/coarray/coarray.h"
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/memory/placement.h"
#include "common/mpi/mpi_check.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- threads --------------------------------------------------------------------------------- */

/* Polls of a waiting thread before it yields its processor. */
#define LOOKS 1000

/* Threads that transfer together. Between transfers they spin and yield, so that a transfer begins
   without a system call. */
struct msgrate_team {
    int threads;
    bool ends;
    atomic_uint calls;  /* of msgrate_transfer so far */
    atomic_int at_work; /* threads that have not finished the last call */
    struct msgrate_thread members[];
};

static void pause_a_little(int *looks)
{
    if (++*looks < LOOKS)
        return;
    *looks = 0;
    sched_yield();
}

static void *serve(void *argument)
{
    const struct msgrate_thread *const me = argument;
    struct msgrate_team *const team = me->exchange->team;
    for (unsigned call = 1;; call++) {
        int looks = 0;
        while (atomic_load_explicit(&team->calls, memory_order_acquire) != call)
            pause_a_little(&looks);
        if (team->ends)
            return NULL;
        me->exchange->transfer_share(me);
        atomic_fetch_sub_explicit(&team->at_work, 1, memory_order_release);
    }
}

static void create_team(struct msgrate_rma_exchange *x)
{
    const int64_t messages = x->messages.count;
    const int threads = (int)x->bench->parameters.threads;
    struct msgrate_team *const team = x->team =
        bc_allocate(1, sizeof *team + (size_t)threads * sizeof *team->members,
                    "no memory for %d threads", threads);
    team->threads = threads;
    for (int t = 0; t < threads; t++) {
        struct msgrate_thread *const member = &team->members[t];
        *member = (struct msgrate_thread){.exchange = x,
                                          .first = (int)(messages * t / threads),
                                          .end = (int)(messages * (t + 1) / threads)};
        if (t > 0 && pthread_create(&member->thread, NULL, serve, member) != 0)
            bc_abort("could not start thread %d of %d: use fewer", t + 1, threads);
    }
}

void msgrate_transfer(const struct msgrate_rma_exchange *x)
{
    struct msgrate_team *const team = x->team;
    if (team->threads == 1) {
        x->transfer_share(&team->members[0]);
        return;
    }
    atomic_store_explicit(&team->at_work, team->threads - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&team->calls, 1, memory_order_release);
    x->transfer_share(&team->members[0]);
    int looks = 0;
    while (atomic_load_explicit(&team->at_work, memory_order_acquire) > 0)
        pause_a_little(&looks);
}

static void destroy_team(struct msgrate_team *team)
{
    team->ends = true;
    atomic_fetch_add_explicit(&team->calls, 1, memory_order_release);
    for (int t = 1; t < team->threads; t++)
        pthread_join(team->members[t].thread, NULL);
    free(team);
}

/* ---- data ------------------------------------------------------------------------------------ */

static size_t half_bytes(const struct msgrate_rma_exchange *x)
{
    return msgrate_block_bytes(&x->messages) * (size_t)x->bench->npeers;
}

/* Returns the offset of an iteration's messages in every window. */
static size_t half_offset(const struct msgrate_rma_exchange *x, int64_t iteration)
{
    return (size_t)(iteration % x->halves) * half_bytes(x);
}

/* True if messages leave this rank's memory, or with `into` enter it. */
static bool takes_part(const struct msgrate_rma_exchange *x, bool into)
{
    /* In the single direction the lower half accesses the upper half. */
    const bool receives = x->bench->lower != x->puts;
    return !x->pattern->one_partner || (x->messages.npeers > 0 && receives == into);
}

/* Returns the memory of an iteration's messages on this rank: the local buffer, or a half of the
   window. Local loads and stores in a window that other ranks may access at any time are enclosed
   by open_buffer and close_buffer. */
static unsigned char *open_buffer(const struct msgrate_rma_exchange *x, bool in_window,
                                  int64_t iteration)
{
    if (!in_window)
        return x->local_buffer;
    if (x->pattern->locks_all)
        BC_MPI(MPI_Win_sync(x->window));
    else if (!x->pattern->opens_ahead)
        BC_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, x->bench->run->job.rank, 0, x->window));
    return x->window_memory + half_offset(x, iteration);
}

static void close_buffer(const struct msgrate_rma_exchange *x, bool in_window)
{
    if (in_window && x->pattern->locks_all)
        BC_MPI(MPI_Win_sync(x->window));
    else if (in_window && !x->pattern->opens_ahead)
        BC_MPI(MPI_Win_unlock(x->bench->run->job.rank, x->window));
}

/* Writes the data of an iteration. Data for gets must be in the window before the window is
   exposed: one iteration earlier if it is exposed ahead. */
static void write_data(const struct msgrate_rma_exchange *x, int64_t iteration)
{
    if (!takes_part(x, false))
        return;
    msgrate_write(x->bench->run, &x->messages, open_buffer(x, !x->puts, iteration), iteration);
    close_buffer(x, !x->puts);
}

/* True if data of gets is written before its iteration, since its exposure opens earlier. */
static bool writes_ahead(const struct msgrate_rma_exchange *x)
{
    return !x->puts && x->pattern->opens_ahead;
}

/* Loads the data of this iteration's gets into the caches, as writing it would. */
static void read_data(const struct msgrate_rma_exchange *x)
{
    const size_t line_bytes = x->bench->flush.line_bytes;
    const volatile unsigned char *const start = x->window_memory + half_offset(x, x->iteration);
    for (size_t i = 0; i < msgrate_buffer_bytes(&x->messages); i += line_bytes)
        (void)start[i];
}

static int64_t count_wrong(const struct msgrate_rma_exchange *x)
{
    if (!takes_part(x, true))
        return 0;
    const int64_t wrong = msgrate_verify(x->bench->run, &x->messages,
                                         open_buffer(x, x->puts, x->iteration), x->iteration);
    close_buffer(x, x->puts);
    return wrong;
}

/* ---- iterations ------------------------------------------------------------------------------ */

void msgrate_rma_exchange_prepare(struct msgrate_rma_exchange *x)
{
    bc_cache_flush_run(&x->bench->flush);
    if (!writes_ahead(x)) {
        write_data(x, x->iteration);
    } else {
        /* An exposed window may be read, but not written. */
        if (x->bench->run->settings.check)
            write_data(x, x->iteration + 1);
        read_data(x);
    }
    x->offset = (MPI_Aint)half_offset(x, x->iteration);
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

int64_t msgrate_rma_exchange_finish(struct msgrate_rma_exchange *x)
{
    /* Targets of lock and flush don't know when their origins are done. */
    bc_harness_barrier(MPI_COMM_WORLD);
    const int64_t wrong = x->bench->run->settings.check ? count_wrong(x) : 0;
    x->iteration++;
    return wrong;
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

static const struct msgrate_steps *steps_of(const struct msgrate_rma_exchange *x)
{
    const struct msgrate_rma_pattern *const pattern = x->pattern;
    if (!pattern->one_partner || x->bench->lower)
        return &pattern->lower;
    return x->messages.npeers > 0 ? &pattern->upper : &pattern->resting;
}

void msgrate_rma_exchange_create(struct msgrate_rma_exchange *x, struct msgrate_bench *bench,
                                 const struct msgrate_rma_pattern *pattern, int64_t size_bytes)
{
    double *memory;
    *x = (struct msgrate_rma_exchange){
        .messages = msgrate_messages_of(bench, size_bytes, pattern->one_partner),
        .bench = bench,
        .pattern = pattern,
        .puts = bench->parameters.transfer == MSGRATE_PUT,
        .halves = bench->run->settings.check ? 2 : 1,
    };
    const int *const sends = x->messages.sends, *const receives = x->messages.receives;
    const int64_t values = (int64_t)(half_bytes(x) * (size_t)x->halves / sizeof(double)) + 1;
    x->steps = steps_of(x);
    x->targets = x->puts ? sends : receives;
    x->transfer_share = x->puts ? msgrate_put_share : msgrate_get_share;
    create_team(x);
    x->target_group = group_of(x->targets, x->messages.npeers);
    x->origin_group = group_of(x->puts ? receives : sends, x->messages.npeers);
    x->local_buffer = msgrate_allocate(&x->messages);
    x->window = bc_window_create(MPI_COMM_WORLD, values, 1, &memory);
    x->window_memory = (unsigned char *)memory;
    if (writes_ahead(x))
        write_data(x, 0);
    if (pattern->begin != NULL)
        pattern->begin(x);
}

void msgrate_rma_exchange_destroy(struct msgrate_rma_exchange *x)
{
    if (x->pattern->end != NULL)
        x->pattern->end(x);
    destroy_team(x->team);
    BC_MPI(MPI_Win_free(&x->window));
    free_group(&x->target_group);
    free_group(&x->origin_group);
    bc_free_buffer(x->local_buffer);
    bc_amount_destroy(&x->messages.amount);
}
