/*
 * One-sided communication. An operation starts when it is posted, or g after this rank's last one,
 * and takes effect when a synchronisation of this rank completes it. A synchronisation completes
 * operations as a wait does, then takes MODEL_SYNC_US and w.
 *
 * Ranks that want a lock get it in the order in which they asked for it, the lower rank first where
 * two asked at the same time.
 */
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- windows --------------------------------------------------------------------------------- */

/* A member's part of a window. */
struct exposed {
    char *base;
    int64_t bytes;
    int unit; /* of displacements */
    pid_t process;
    bool shared;   /* memory that all ranks see */
    int exclusive; /* the member that holds an exclusive lock + 1 */
    int sharers;
    int64_t free_ns; /* when a lock was given up last */
};

/* What two members have told each other, by target and origin. */
struct pair {
    int posted, completed;
    int64_t posted_ns, completed_ns;
    bool waits; /* the origin, for the target's lock, exclusive if so */
    bool exclusive;
    int64_t asked_ns;
};

/* In shared memory. */
struct window {
    struct comm *comm;
    struct exposed *of;
    struct pair *pairs;
    int users;
};

enum what { PUT, GET, ACCUMULATE, FETCH, SWAP };

/* A buffer of one side of a transfer. */
struct side {
    const void *base;
    int64_t count;
    MPI_Datatype type;
};

/* An operation that this rank has posted and not completed. */
struct transfer {
    enum what what;
    struct side origin; /* of a get: where data comes to */
    int target;
    MPI_Aint displacement;
    struct side at_target; /* without a base */
    MPI_Op op;
    void *result;        /* of atomic operations: what was there before */
    char operand[2][16]; /* of these: the origin's value, and what it is compared with */
    struct own_window *own;
    struct request *request;
    bool asked; /* its caller has the request */
    bool done;
};

/* A window as this rank knows it. */
struct own_window {
    MPI_Win handle;
    struct window *window;
    struct own_comm own;
    MPI_Comm comm;
    struct transfer **transfers; /* in the order of their posts */
    int count;
    int *started, started_count; /* targets of an access epoch */
    int *exposed, exposed_count; /* origins of an exposure epoch */
};

static struct own_window **windows;
static int window_count;

static struct own_window *find_window(MPI_Win handle)
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
    const struct exposed mine = {
        .base = base, .bytes = bytes, .unit = unit, .process = getpid(), .shared = shared};
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
    const struct exposed *const part = &find_window(handle)->window->of[rank];
    *bytes = (MPI_Aint)part->bytes;
    *unit = part->unit;
    *(void **)base = part->base;
    return MPI_SUCCESS;
}
MPI_NAME(Win_shared_query)

int PMPI_Win_get_attr(MPI_Win handle, int key, void *value, int *flag)
{
    static int model;
    model = MPI_WIN_UNIFIED; /* no constant in each library */
    if (key != MPI_WIN_MODEL)
        return REAL(Win_get_attr)(handle, key, value, flag);
    *(int **)value = &model;
    *flag = 1;
    return MPI_SUCCESS;
}
MPI_NAME(Win_get_attr)

/* ---- data ------------------------------------------------------------------------------------ */

/* The target's memory, or a copy that give_back writes back. */
static char *borrow(const struct exposed *part, int64_t offset, size_t bytes)
{
    if (part->shared || part->process == getpid())
        return part->base + offset;
    char *const copy = calloc(bytes + 1, 1);
    if (process_vm_readv(part->process, &(struct iovec){copy, bytes}, 1,
                         &(struct iovec){part->base + offset, bytes}, 1, 0) != (ssize_t)bytes)
        world_abort("can't read another rank's memory");
    return copy;
}

static void give_back(const struct exposed *part, int64_t offset, size_t bytes, char *memory)
{
    if (part->shared || part->process == getpid())
        return;
    if (process_vm_writev(part->process, &(struct iovec){memory, bytes}, 1,
                          &(struct iovec){part->base + offset, bytes}, 1, 0) != (ssize_t)bytes)
        world_abort("can't write another rank's memory");
    free(memory);
}

static size_t span_of(const struct side *side)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    PMPI_Type_get_extent(side->type, &lower, &extent);
    PMPI_Type_get_true_extent(side->type, &true_lower, &true_extent);
    return side->count == 0 ? 0
                            : (size_t)((side->count - 1) * (int64_t)extent + (int64_t)true_lower +
                                       (int64_t)true_extent);
}

static void copy(const struct side *from, const struct side *to)
{
    static int64_t copies;
    struct packed packed = data_pack(from->base, from->count, from->type);
    if (parameters.corrupt != 0.0 && packed.bytes > 0 &&
        ++copies % (int64_t)parameters.corrupt_every == 0)
        data_damage(&packed);
    data_unpack(&packed, (void *)to->base, to->count, to->type);
    data_release(&packed);
}

static void combine(const void *operand, char *there, const struct side *side, MPI_Op op)
{
    if (op == MPI_REPLACE)
        memcpy(there, operand, span_of(side));
    else if (op != MPI_NO_OP)
        PMPI_Reduce_local(operand, there, (int)side->count, side->type, op);
}

static void take_effect(struct transfer *transfer)
{
    const struct exposed *const part = &transfer->own->window->of[transfer->target];
    const int64_t offset = (int64_t)transfer->displacement * part->unit;
    struct side there = transfer->at_target;
    const size_t bytes = span_of(&there);
    char *const memory = borrow(part, offset, bytes);
    there.base = memory;
    switch (transfer->what) {
    case PUT:
        copy(&transfer->origin, &there);
        break;
    case GET:
        copy(&there, &transfer->origin);
        break;
    case ACCUMULATE:
        combine(transfer->origin.base, memory, &there, transfer->op);
        break;
    case FETCH:
        memcpy(transfer->result, memory, bytes);
        combine(transfer->operand[0], memory, &there, transfer->op);
        break;
    case SWAP:
        memcpy(transfer->result, memory, bytes);
        if (memcmp(memory, transfer->operand[1], bytes) == 0)
            memcpy(memory, transfer->operand[0], bytes);
        break;
    }
    give_back(part, offset, bytes, memory);
    transfer->done = true;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static int64_t last_started_ns = INT64_MIN / 2;

/* Other ranks have done by now what they do before. */
static void settle_now(void)
{
    while (!world_settle(world_now_ns))
        continue;
}

static void remove_transfer(struct transfer *transfer)
{
    struct own_window *const own = transfer->own;
    int i = 0;
    while (own->transfers[i] != transfer)
        i++;
    memmove(&own->transfers[i], &own->transfers[i + 1],
            (size_t)(--own->count - i) * sizeof(struct transfer *));
    free(transfer);
}

static bool resolve_transfer(struct request *request)
{
    (void)request;
    return true;
}

/* A synchronisation may have completed the transfer before its request is. */
static void deliver_transfer(struct request *request, MPI_Status *status)
{
    struct transfer *const transfer = request->operation;
    if (!transfer->done) {
        settle_now();
        take_effect(transfer);
    }
    remove_transfer(transfer);
    status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const struct request_kind transfer_kind = {.resolve = resolve_transfer,
                                                  .deliver = deliver_transfer};

static uint64_t next_number(void)
{
    static uint64_t posted;
    return (uint64_t)1 << 62 | (uint64_t)world_rank << 40 | posted++;
}

/* handle is NULL where a synchronisation completes the transfer. */
static int post_transfer(const char *name, MPI_Win window, const struct transfer *transfer,
                         MPI_Request *handle)
{
    struct own_window *const own = find_window(window);
    struct transfer *const kept = malloc(sizeof *kept);
    *kept = *transfer;
    kept->own = own;
    kept->asked = handle != NULL;
    kept->request = request_make(&transfer_kind, name, PLAN_ONE_SIDED,
                                 bytes_of(kept->origin.count, kept->origin.type), kept, handle);
    own->transfers = world_grow(own->transfers, (size_t)own->count + 1, sizeof(struct transfer *));
    own->transfers[own->count++] = kept;
    const int64_t start_ns = plan_after_gap(&last_started_ns, world_now_ns);
    request_plan(kept->request, next_number());
    plan_start(&kept->request->plan, start_ns);
    clock_spend(parameters.post_ns);
    return MPI_SUCCESS;
}

#define TRANSFER(Name, Requesting, name, What, Constant)                                           \
    int PMPI_##Name(Constant void *origin, int count, MPI_Datatype type, int target,               \
                    MPI_Aint displacement, int target_count, MPI_Datatype target_type,             \
                    MPI_Win window)                                                                \
    {                                                                                              \
        const struct transfer transfer = {.what = What,                                            \
                                          .origin = {origin, count, type},                         \
                                          .target = target,                                        \
                                          .displacement = displacement,                            \
                                          .at_target = {NULL, target_count, target_type}};         \
        return post_transfer(name, window, &transfer, NULL);                                       \
    }                                                                                              \
    MPI_NAME(Name)                                                                                 \
    int PMPI_##Requesting(Constant void *origin, int count, MPI_Datatype type, int target,         \
                          MPI_Aint displacement, int target_count, MPI_Datatype target_type,       \
                          MPI_Win window, MPI_Request *request)                                    \
    {                                                                                              \
        const struct transfer transfer = {.what = What,                                            \
                                          .origin = {origin, count, type},                         \
                                          .target = target,                                        \
                                          .displacement = displacement,                            \
                                          .at_target = {NULL, target_count, target_type}};         \
        return post_transfer("r" name, window, &transfer, request);                                \
    }                                                                                              \
    MPI_NAME(Requesting)

TRANSFER(Put, Rput, "put", PUT, const)
TRANSFER(Get, Rget, "get", GET, )

int PMPI_Accumulate(const void *origin, int count, MPI_Datatype type, int target,
                    MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                    MPI_Win window)
{
    const struct transfer transfer = {.what = ACCUMULATE,
                                      .origin = {origin, count, type},
                                      .target = target,
                                      .displacement = displacement,
                                      .at_target = {NULL, target_count, target_type},
                                      .op = op};
    return post_transfer("accumulate", window, &transfer, NULL);
}
MPI_NAME(Accumulate)

/* An atomic operation of one element, whose operands are kept. */
static struct transfer atomic(enum what what, const void *operand, void *result, MPI_Datatype type,
                              int target, MPI_Aint displacement)
{
    struct transfer transfer = {.what = what,
                                .origin = {NULL, 1, type},
                                .target = target,
                                .displacement = displacement,
                                .at_target = {NULL, 1, type},
                                .result = result};
    if (operand != NULL)
        memcpy(transfer.operand[0], operand, (size_t)bytes_of(1, type));
    return transfer;
}

int PMPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target,
                      MPI_Aint displacement, MPI_Op op, MPI_Win window)
{
    struct transfer transfer =
        atomic(FETCH, op != MPI_NO_OP ? origin : NULL, result, type, target, displacement);
    transfer.op = op;
    return post_transfer("fetch_and_op", window, &transfer, NULL);
}
MPI_NAME(Fetch_and_op)

int PMPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                          int target, MPI_Aint displacement, MPI_Win window)
{
    struct transfer transfer = atomic(SWAP, origin, result, type, target, displacement);
    memcpy(transfer.operand[1], compare, (size_t)bytes_of(1, type));
    return post_transfer("compare_and_swap", window, &transfer, NULL);
}
MPI_NAME(Compare_and_swap)

/* ---- synchronisations ------------------------------------------------------------------------ */

enum { EVERY_TARGET = -1, NO_TARGET = -2 };

static bool concerns(const struct transfer *transfer, int target)
{
    return !transfer->done && (target == EVERY_TARGET || transfer->target == target);
}

/* Completes the transfers to a target; they take effect in their order. */
static void complete_transfers(struct own_window *own, int target)
{
    const int64_t call_ns = world_now_ns;
    int64_t end_ns = call_ns;
    double host_ns = 0.0;
    int found = 0;
    for (int i = 0; i < own->count; i++) {
        if (!concerns(own->transfers[i], target))
            continue;
        const struct plan *const plan = &own->transfers[i]->request->plan;
        const int64_t own_ns = plan_end_ns(plan, call_ns);
        end_ns = own_ns > end_ns ? own_ns : end_ns;
        host_ns += plan->host_ns;
        found++;
    }
    if (found == 0)
        return;
    clock_until(end_ns);
    clock_spend(host_ns);
    settle_now();
    for (int i = 0; i < own->count; i++)
        if (concerns(own->transfers[i], target))
            take_effect(own->transfers[i]);
}

/* Forgets the transfers that are done, but for those whose requests their callers have. */
static void forget_done(struct own_window *own)
{
    int kept = 0;
    for (int i = 0; i < own->count; i++) {
        struct transfer *const transfer = own->transfers[i];
        struct request *const request = transfer->request;
        if (!transfer->done || transfer->asked) {
            own->transfers[kept++] = transfer;
            continue;
        }
        truth_completed(request->name, request->plan_kind, request->bytes);
        request_forget(request);
        free(transfer);
    }
    own->count = kept;
}

/* Takes the time of a synchronisation. */
static int end_synchronisation(struct own_window *own, const char *name)
{
    forget_done(own);
    clock_spend(plan_duration_ns(PLAN_SYNCHRONISATION, 0) + parameters.wait_ns);
    truth_posted(name, PLAN_SYNCHRONISATION, 0);
    truth_completed(name, PLAN_SYNCHRONISATION, 0);
    return MPI_SUCCESS;
}

static int synchronise(MPI_Win window, int target, const char *name)
{
    struct own_window *const own = find_window(window);
    if (target != NO_TARGET)
        complete_transfers(own, target);
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

/* Orders loads and stores; other ranks' come first that are behind. */
int PMPI_Win_sync(MPI_Win window)
{
    (void)window;
    settle_now();
    return MPI_SUCCESS;
}
MPI_NAME(Win_sync)

int PMPI_Win_fence(int assertions, MPI_Win window)
{
    struct own_window *const own = find_window(window);
    (void)assertions;
    complete_transfers(own, EVERY_TARGET);
    meeting_end(meeting(&own->own, "", 1), &own->own);
    return end_synchronisation(own, "win_fence");
}
MPI_NAME(Win_fence)

int PMPI_Win_free(MPI_Win *handle)
{
    struct own_window *const own = find_window(*handle);
    struct window *const window = own->window;
    complete_transfers(own, EVERY_TARGET);
    forget_done(own);
    meeting_end(meeting(&own->own, "", 1), &own->own);
    const struct exposed *const mine = &window->of[own->own.rank];
    if (mine->shared)
        world_release(mine->base, (size_t)mine->bytes);
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
    struct own_window *const own = find_window(window);
    struct exposed *const part = &own->window->of[target];
    struct pair *const pair = pair_of(own, target, own->own.rank);
    (void)assertions;
    settle_now();
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
    /* Those that share come together. */
    const int next = next_origin(own, target);
    if (next >= 0 && is_free(part, pair_of(own, target, next)->exclusive))
        world_wake(own->own.comm->members[next]);
    return end_synchronisation(own, "win_lock");
}
MPI_NAME(Win_lock)

int PMPI_Win_unlock(int target, MPI_Win window)
{
    struct own_window *const own = find_window(window);
    struct exposed *const part = &own->window->of[target];
    complete_transfers(own, target);
    end_synchronisation(own, "win_unlock");
    settle_now();
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
    struct own_window *const own = find_window(window);
    (void)assertions;
    own->exposed_count = members_of(own, group, &own->exposed);
    for (int i = 0; i < own->exposed_count; i++) {
        struct pair *const pair = pair_of(own, own->own.rank, own->exposed[i]);
        pair->posted++;
        pair->posted_ns = world_now_ns;
        world_wake(own->own.comm->members[own->exposed[i]]);
    }
    return end_synchronisation(own, "win_post");
}
MPI_NAME(Win_post)

int PMPI_Win_start(MPI_Group group, int assertions, MPI_Win window)
{
    struct own_window *const own = find_window(window);
    (void)assertions;
    own->started_count = members_of(own, group, &own->started);
    return end_synchronisation(own, "win_start");
}
MPI_NAME(Win_start)

int PMPI_Win_complete(MPI_Win window)
{
    struct own_window *const own = find_window(window);
    int64_t posted_ns = world_now_ns;
    for (int i = 0; i < own->started_count; i++) {
        struct pair *const pair = pair_of(own, own->started[i], own->own.rank);
        while (pair->posted == 0)
            world_sleep();
        pair->posted--;
        posted_ns = pair->posted_ns > posted_ns ? pair->posted_ns : posted_ns;
    }
    clock_until(posted_ns);
    complete_transfers(own, EVERY_TARGET);
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
    struct own_window *const own = find_window(window);
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
