/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows and their synchronisations, each of which completes operations (transfers.c), then takes
 * MODEL_SYNC_US and w.
 *
 * Ranks that want a lock get it in the order in which they asked for it, the lower rank first where
 * two asked at the same time.
 */
#include "tests/virtual/windows.h"

#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/world.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- windows --------------------------------------------------------------------------------- */

static struct own_window **windows;
static int window_count;

int windows_left(void) { return window_count; }

struct own_window *window_find(MPI_Win handle)
{
    for (int i = 0; i < window_count; i++)
        if (windows[i]->handle == handle)
            return windows[i];
    world_abort("no such window");
}

static struct pair *pair_of(const struct own_window *own, int target, int origin)
{
    return &own->window->pairs[target * own->own.comm->size + origin];
}

/* Makes a window of what the members expose. */
static int make_window(void *base, MPI_Aint bytes, int unit, bool shared, MPI_Comm comm,
                       MPI_Win *handle)
{
    MPI_Comm copy;
    PMPI_Comm_dup(comm, &copy);
    struct own_window *const own = calloc(1, sizeof *own);
    own->own = comm_find(copy);
    own->comm = copy;
    const struct exposed mine = {.base = base,
                                 .bytes = bytes,
                                 .unit = unit,
                                 .process = getpid(),
                                 .shared = shared,
                                 .stale = data_is_stale != NULL && data_is_stale(base)};
    data_register(base, (int64_t)bytes);
    struct collective *const all = meeting(&own->own, &mine, sizeof mine);
    const int size = own->own.comm->size;
    void **const place = meeting_made(all, 0);
    if (*place == NULL) {
        struct window *const window = world_allocate(sizeof *window);
        *window = (struct window){.comm = own->own.comm, .users = size};
        window->of = world_allocate((size_t)size * sizeof *window->of);
        window->pairs = world_allocate((size_t)(size * size) * sizeof *window->pairs);
        for (int rank = 0; rank < size; rank++)
            window->of[rank] = *(const struct exposed *)meeting_of(all, rank);
        *place = window;
    }
    own->window = *place;
    meeting_end(all, &own->own);
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    REAL(Win_create)(base, bytes, unit, MPI_INFO_NULL, MPI_COMM_SELF, &own->handle);
    windows = world_grow(windows, (size_t)window_count + 1, sizeof(struct own_window *));
    windows[window_count++] = own;
    *handle = own->handle;
    return MPI_SUCCESS;
}

int PMPI_Win_create(void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win *handle)
{
    (void)info;
    return make_window(base, bytes, unit, false, comm, handle);
}
MPI_NAME(Win_create)

int PMPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base,
                      MPI_Win *handle)
{
    (void)info;
    void *const memory = world_allocate((size_t)bytes);
    *(void **)base = memory;
    return make_window(memory, bytes, unit, true, comm, handle);
}
MPI_NAME(Win_allocate)

int PMPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base,
                             MPI_Win *handle)
{
    return PMPI_Win_allocate(bytes, unit, info, comm, base, handle);
}
MPI_NAME(Win_allocate_shared)

int PMPI_Win_shared_query(MPI_Win handle, int rank, MPI_Aint *bytes, int *unit, void *base)
{
    const struct exposed *const part = &window_find(handle)->window->of[rank];
    *bytes = (MPI_Aint)part->bytes;
    *unit = part->unit;
    *(void **)base = part->base;
    return MPI_SUCCESS;
}
MPI_NAME(Win_shared_query)

int PMPI_Win_get_attr(MPI_Win handle, int key, void *value, int *flag)
{
    static int model;
    model = MPI_WIN_UNIFIED; /* not a constant in every library */
    if (key != MPI_WIN_MODEL)
        return REAL(Win_get_attr)(handle, key, value, flag);
    *(int **)value = &model;
    *flag = 1;
    return MPI_SUCCESS;
}
MPI_NAME(Win_get_attr)

/* ---- synchronisations ------------------------------------------------------------------------ */

/* Takes the time of a synchronisation. */
static int end_synchronisation(struct own_window *own, const char *name)
{
    transfers_forget_done(own);
    clock_spend(plan_duration_ns(PLAN_SYNCHRONISATION, 0) + parameters.wait_ns);
    truth_posted(name, PLAN_SYNCHRONISATION, 0);
    truth_completed(name, PLAN_SYNCHRONISATION, 0);
    return MPI_SUCCESS;
}

static int synchronise(MPI_Win window, int target, const char *name)
{
    struct own_window *const own = window_find(window);
    if (target != NO_TARGET)
        transfers_complete(own, target);
    return end_synchronisation(own, name);
}

#define FLUSH(Name, name, parameters, target)                                                      \
    int PMPI_##Name parameters { return synchronise(window, target, name); }                       \
    MPI_NAME(Name)

FLUSH(Win_flush, "win_flush", (int target, MPI_Win window), target)
FLUSH(Win_flush_local, "win_flush_local", (int target, MPI_Win window), target)
FLUSH(Win_flush_all, "win_flush_all", (MPI_Win window), EVERY_TARGET)
FLUSH(Win_flush_local_all, "win_flush_local_all", (MPI_Win window), EVERY_TARGET)
FLUSH(Win_unlock_all, "win_unlock_all", (MPI_Win window), EVERY_TARGET)

int PMPI_Win_lock_all(int assertions, MPI_Win window)
{
    (void)assertions;
    return synchronise(window, NO_TARGET, "win_lock_all");
}
MPI_NAME(Win_lock_all)

/* Orders loads and stores: first lets ranks whose clocks are behind catch up. */
int PMPI_Win_sync(MPI_Win window)
{
    (void)window;
    world_settle_now();
    return MPI_SUCCESS;
}
MPI_NAME(Win_sync)

int PMPI_Win_fence(int assertions, MPI_Win window)
{
    struct own_window *const own = window_find(window);
    (void)assertions;
    transfers_complete(own, EVERY_TARGET);
    meeting_end(meeting(&own->own, "", 1), &own->own);
    return end_synchronisation(own, "win_fence");
}
MPI_NAME(Win_fence)

int PMPI_Win_free(MPI_Win *handle)
{
    struct own_window *const own = window_find(*handle);
    struct window *const window = own->window;
    transfers_complete(own, EVERY_TARGET);
    transfers_forget_done(own);
    meeting_end(meeting(&own->own, "", 1), &own->own);
    const struct exposed *const mine = &window->of[own->own.rank];
    if (mine->shared) {
        data_forget(mine->base, (size_t)mine->bytes);
        world_release(mine->base, (size_t)mine->bytes);
    }
    if (--window->users == 0) {
        const size_t size = (size_t)own->own.comm->size;
        world_release(window->of, size * sizeof *window->of);
        world_release(window->pairs, size * size * sizeof *window->pairs);
        world_release(window, sizeof *window);
    }
    PMPI_Comm_free(&own->comm);
    for (int i = 0; i < window_count; i++)
        if (windows[i] == own)
            windows[i] = windows[--window_count];
    free(own->transfers);
    free(own);
    return REAL(Win_free)(handle);
}
MPI_NAME(Win_free)

/* ---- locks ----------------------------------------------------------------------------------- */

static bool is_free(const struct exposed *part, bool exclusive)
{
    return part->exclusive == 0 && (!exclusive || part->sharers == 0);
}

/* The origin that has waited longest for a target's lock; -1: none. */
static int next_origin(const struct own_window *own, int target)
{
    int next = -1;
    for (int origin = 0; origin < own->own.comm->size; origin++) {
        const struct pair *const pair = pair_of(own, target, origin);
        if (pair->waits && (next < 0 || pair->asked_ns < pair_of(own, target, next)->asked_ns))
            next = origin;
    }
    return next;
}

int PMPI_Win_lock(int type, int target, int assertions, MPI_Win window)
{
    struct own_window *const own = window_find(window);
    struct exposed *const part = &own->window->of[target];
    struct pair *const pair = pair_of(own, target, own->own.rank);
    (void)assertions;
    world_settle_now();
    pair->waits = true;
    pair->exclusive = type == MPI_LOCK_EXCLUSIVE;
    pair->asked_ns = world_now_ns;
    while (!is_free(part, pair->exclusive) || next_origin(own, target) != own->own.rank)
        world_sleep();
    pair->waits = false;
    if (pair->exclusive)
        part->exclusive = own->own.rank + 1;
    else
        part->sharers++;
    clock_until(part->free_ns);
    /* Wake the next waiter if it can share the lock. */
    const int next = next_origin(own, target);
    if (next >= 0 && is_free(part, pair_of(own, target, next)->exclusive))
        world_wake(own->own.comm->members[next]);
    return end_synchronisation(own, "win_lock");
}
MPI_NAME(Win_lock)

int PMPI_Win_unlock(int target, MPI_Win window)
{
    struct own_window *const own = window_find(window);
    struct exposed *const part = &own->window->of[target];
    transfers_complete(own, target);
    end_synchronisation(own, "win_unlock");
    world_settle_now();
    if (part->exclusive == own->own.rank + 1)
        part->exclusive = 0;
    else
        part->sharers--;
    part->free_ns = world_now_ns;
    const int next = next_origin(own, target);
    if (next >= 0)
        world_wake(own->own.comm->members[next]);
    return MPI_SUCCESS;
}
MPI_NAME(Win_unlock)

/* ---- epochs of some ranks -------------------------------------------------------------------- */

/* The members of a group, by their ranks in the window. */
static int members_of(const struct own_window *own, MPI_Group group, int **members)
{
    int size;
    MPI_Group all;
    PMPI_Group_size(group, &size);
    PMPI_Comm_group(own->comm, &all);
    int *const ranks = malloc((size_t)(size + 1) * sizeof *ranks);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    free(*members);
    *members = malloc((size_t)(size + 1) * sizeof **members);
    PMPI_Group_translate_ranks(group, size, ranks, all, *members);
    PMPI_Group_free(&all);
    free(ranks);
    return size;
}

int PMPI_Win_post(MPI_Group group, int assertions, MPI_Win window)
{
    struct own_window *const own = window_find(window);
    (void)assertions;
    own->exposed_count = members_of(own, group, &own->exposed);
    for (int i = 0; i < own->exposed_count; i++) {
        struct pair *const pair = pair_of(own, own->own.rank, own->exposed[i]);
        pair->posted++;
        pair->posted_ns = world_now_ns;
        world_wake(own->own.comm->members[own->exposed[i]]);
        truth_sent(own->own.comm->members[own->exposed[i]]);
    }
    return end_synchronisation(own, "win_post");
}
MPI_NAME(Win_post)

int PMPI_Win_start(MPI_Group group, int assertions, MPI_Win window)
{
    struct own_window *const own = window_find(window);
    (void)assertions;
    own->started_count = members_of(own, group, &own->started);
    return end_synchronisation(own, "win_start");
}
MPI_NAME(Win_start)

int PMPI_Win_complete(MPI_Win window)
{
    struct own_window *const own = window_find(window);
    int64_t posted_ns = world_now_ns;
    for (int i = 0; i < own->started_count; i++) {
        struct pair *const pair = pair_of(own, own->started[i], own->own.rank);
        while (pair->posted == 0)
            world_sleep();
        pair->posted--;
        posted_ns = pair->posted_ns > posted_ns ? pair->posted_ns : posted_ns;
    }
    clock_until(posted_ns);
    transfers_complete(own, EVERY_TARGET);
    for (int i = 0; i < own->started_count; i++) {
        struct pair *const pair = pair_of(own, own->started[i], own->own.rank);
        pair->completed++;
        pair->completed_ns = world_now_ns;
        world_wake(own->own.comm->members[own->started[i]]);
    }
    return end_synchronisation(own, "win_complete");
}
MPI_NAME(Win_complete)

int PMPI_Win_wait(MPI_Win window)
{
    struct own_window *const own = window_find(window);
    int64_t completed_ns = world_now_ns;
    for (int i = 0; i < own->exposed_count; i++) {
        struct pair *const pair = pair_of(own, own->own.rank, own->exposed[i]);
        while (pair->completed == 0)
            world_sleep();
        pair->completed--;
        completed_ns = pair->completed_ns > completed_ns ? pair->completed_ns : completed_ns;
    }
    clock_until(completed_ns);
    return end_synchronisation(own, "win_wait");
}
MPI_NAME(Win_wait)
