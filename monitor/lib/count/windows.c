/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/windows.h"

/* Operations of one kind and call site on one target, of the same epoch and, if sizes are counted,
   size. */
struct group {
    int window, target;
    struct operation first; /* the one that started first; all have its kind and epoch */
    int64_t count;
    double offset_ticks;   /* sum of their starts, each relative to the first */
    uint64_t inside_ticks; /* sum of their times inside MPI */
    uint64_t base_ticks;   /* computing clock of the operation that came first */
    double computed_ticks; /* sum of their computing clocks, each minus base_ticks */
    bool has_one_thread;   /* all are of one thread: only then computed_ticks means something */
    int64_t joinable;
    int32_t next_in_bucket;
    int32_t next, previous; /* in the list of the window, or of an ending */
};

struct window {
    int communicator;
    int32_t groups; /* list */
    int32_t latest; /* the group of the latest operation, or NONE */
    bool is_unsure; /* something may be in flight that no group has */
};

enum {
    WINDOW_BITS = 10,
    BUCKET_BITS = 14,
    GROUPS_MAX = 1 << 16,
};

_Static_assert(WINDOWS_MAX <= 3 << (WINDOW_BITS - 2), "the map has room for them all");

static struct handle_map window_numbers = HANDLE_MAP(WINDOW_BITS);

static struct window windows[WINDOWS_MAX + 1];
static struct group groups[GROUPS_MAX + 1];
static struct pool window_pool = {.given_back = (int32_t[WINDOWS_MAX]){0}, .max = WINDOWS_MAX};
static struct pool group_pool = {.given_back = (int32_t[GROUPS_MAX]){0}, .max = GROUPS_MAX};

static int32_t buckets[1 << BUCKET_BITS];
static uint32_t generation; /* number of calls of windows_clear */

static int32_t *bucket_of(int window, int target)
{
    return &buckets[key_bucket((uint64_t)window << 32 | (uint32_t)target, BUCKET_BITS)];
}

static void forget(MPI_Win win, int number)
{
    (void)handle_remove(&window_numbers, window_key(win));
    pool_give_back(&window_pool, number);
    communicator_release(windows[number].communicator);
}

void window_created(MPI_Win win, MPI_Comm comm)
{
    const int communicator = communicator_index(comm);
    depth_prepare();
    monitor_lock();
    /* MPI has just made the handle, whatever it denoted before. */
    const int former = handle_find(&window_numbers, window_key(win));
    if (former != HANDLE_UNKNOWN) {
        forget(win, former);
        depth_add(DEPTH_WINDOWS, -1);
    }
    depth_add(DEPTH_WINDOWS, 1);
    const int number = pool_take(&window_pool);
    if (number != NONE) {
        (void)handle_set(&window_numbers, window_key(win), number);
        windows[number] = (struct window){.communicator = communicator};
        communicator_hold(communicator);
    } else {
        object_without_room();
    }
    monitor_unlock();
}

void window_freed(MPI_Win win, int number)
{
    monitor_lock();
    depth_add(DEPTH_WINDOWS, -1);
    if (number == HANDLE_UNKNOWN)
        object_without_room_freed();
    else if (handle_find(&window_numbers, window_key(win)) == number)
        forget(win, number);
    monitor_unlock();
}

static int communicator_of(MPI_Win win, int window)
{
    return window != HANDLE_UNKNOWN ? windows[window].communicator
           : win == MPI_WIN_NULL    ? NULL_COMMUNICATOR
                                    : OTHER_COMMUNICATORS;
}

int window_communicator(MPI_Win win)
{
    monitor_lock();
    const int communicator = communicator_of(win, handle_find(&window_numbers, window_key(win)));
    monitor_unlock();
    return communicator;
}

static void link_group(int32_t number)
{
    struct group *const group = &groups[number];
    int32_t *const bucket = bucket_of(group->window, group->target);
    int32_t *const list = &windows[group->window].groups;
    group->next_in_bucket = *bucket;
    group->next = *list;
    group->previous = NONE;
    if (*list != NONE)
        groups[*list].previous = number;
    *bucket = *list = number;
}

static bool joins(const struct group *group, int window, int target,
                  const struct operation *operation)
{
    return group->window == window && group->target == target &&
           group->first.kind == operation->kind && group->first.epoch == operation->epoch &&
           group->first.site == operation->site &&
           (group->first.size == operation->size || !are_sizes_counted());
}

static int32_t find_group(int window, int target, const struct operation *operation)
{
    int32_t number = windows[window].latest;
    if (number != NONE && joins(&groups[number], window, target, operation))
        return number;
    number = *bucket_of(window, target);
    while (number != NONE && !joins(&groups[number], window, target, operation))
        number = groups[number].next_in_bucket;
    return number;
}

static int32_t make_group(int window, int target, const struct operation *operation)
{
    const int32_t number = pool_take(&group_pool);
    if (number == NONE)
        return NONE;
    groups[number] = (struct group){.window = window,
                                    .target = target,
                                    .first = *operation,
                                    .base_ticks = operation->computing_ticks,
                                    .has_one_thread = true};
    link_group(number);
    return number;
}

/* Returns the group that the operation joins, possibly a new one, or NONE if there is no room. If
   timeouts are counted, each operation has its own group while there is room. */
static int32_t group_for(int window, int target, const struct operation *operation)
{
    const bool alone = snapshots_count_timeouts();
    int32_t number = NONE;
    if (!alone)
        number = find_group(window, target, operation);
    if (number == NONE)
        number = make_group(window, target, operation);
    if (number == NONE && alone)
        number = find_group(window, target, operation);
    if (number != NONE)
        windows[window].latest = number;
    return number;
}

static void group_add(struct group *group, const struct operation *operation)
{
    group->inside_ticks += operation->inside_ticks;
    group->computed_ticks += (double)(operation->computing_ticks - group->base_ticks);
    group->joinable += operation->joinable;
    group->has_one_thread = group->has_one_thread && operation->thread == group->first.thread;
    /* Of two threads' operations, the one that started first may come here second. */
    if (group->count == 0 || operation->start_ticks < group->first.start_ticks) {
        group->offset_ticks +=
            (double)group->count * (double)(group->first.start_ticks - operation->start_ticks);
        group->first = *operation;
    }
    group->count++;
    group->offset_ticks += (double)(operation->start_ticks - group->first.start_ticks);
}

void window_add(MPI_Win win, int target, const struct operation *operation)
{
    monitor_lock();
    const int window = handle_find(&window_numbers, window_key(win));
    const int32_t number = window != HANDLE_UNKNOWN ? group_for(window, target, operation) : NONE;
    if (number != NONE) {
        group_add(&groups[number], operation);
        if (are_depths_counted())
            depth_add(DEPTH_PUTS, 1);
    } else {
        operation_untracked(operation);
        if (window != HANDLE_UNKNOWN)
            windows[window].is_unsure = true;
    }
    monitor_unlock();
}

void window_unsure(MPI_Win win)
{
    monitor_lock();
    const int window = handle_find(&window_numbers, window_key(win));
    if (window != HANDLE_UNKNOWN)
        windows[window].is_unsure = true;
    monitor_unlock();
}

static void unlink_group(int32_t number)
{
    struct group *const group = &groups[number];
    int32_t *link = bucket_of(group->window, group->target);
    while (*link != number)
        link = &groups[*link].next_in_bucket;
    *link = group->next_in_bucket;
    if (group->next != NONE)
        groups[group->next].previous = group->previous;
    if (group->previous != NONE)
        groups[group->previous].next = group->next;
    else
        windows[group->window].groups = group->next;
}

/* Takes the groups of a target, or all, out of a window. Returns their list. */
static int32_t take_groups(int window, int target)
{
    const bool all = target == EVERY_TARGET;
    int32_t taken = NONE, next = all ? windows[window].groups : *bucket_of(window, target);
    windows[window].latest = NONE;
    while (next != NONE) {
        const int32_t number = next;
        struct group *const group = &groups[number];
        next = all ? group->next : group->next_in_bucket;
        if (!all && (group->window != window || group->target != target))
            continue; /* another group in the same bucket */
        unlink_group(number);
        if (are_depths_counted())
            depth_add(DEPTH_PUTS, -group->count);
        group->next = taken;
        taken = number;
    }
    return taken;
}

struct ending window_take(MPI_Win win, int target, bool is_local)
{
    monitor_lock();
    const int number = handle_find(&window_numbers, window_key(win));
    struct ending ending = {.window = number,
                            .communicator = communicator_of(win, number),
                            .first = NONE,
                            .generation = generation};
    if (number != HANDLE_UNKNOWN) {
        struct window *const window = &windows[number];
        ending.first = take_groups(number, target);
        ending.is_idle = ending.first == NONE && !window->is_unsure;
        if (is_local)
            window->is_unsure = window->is_unsure || ending.first != NONE;
        else if (target == EVERY_TARGET)
            window->is_unsure = false;
    }
    monitor_unlock();
    return ending;
}

/* Returns the amounts of a group that `call` completed (NULL: that an operation completed). */
static struct size_amounts amounts_of(const struct group *group, const struct mpi_call *call,
                                      uint64_t end_ticks)
{
    struct size_amounts amounts = {
        .completed = group->count,
        .bytes = group->count * group->first.size,
        .total_ticks =
            operations_ticks(&group->first, group->count, group->offset_ticks, end_ticks),
        .inside_ticks = group->inside_ticks,
        .joinable = group->joinable,
    };
    if (call != NULL && group->has_one_thread && group->first.thread == &inside)
        amounts.computed_ticks =
            (double)group->count * (double)(call->computing_ticks - group->base_ticks) -
            group->computed_ticks;
    return amounts;
}

static int64_t operations_in_list(int32_t list)
{
    int64_t count = 0;
    for (int32_t number = list; number != NONE; number = groups[number].next)
        count += groups[number].count;
    return count;
}

/* Ends the operations of a group. `shares` are those of the completing call; NULL: an operation
   completed them. */
static void finish_group(const struct group *group, struct shares *shares, uint64_t end_ticks)
{
    const struct mpi_call *const call = shares != NULL ? shares->call : NULL;
    struct size_amounts amounts = {0};
    if (are_sizes_counted())
        amounts = amounts_of(group, call, end_ticks);
    operations_ended(&group->first, group->count, group->offset_ticks, end_ticks, 0);
    if (call != NULL) {
        const uint64_t ticks = shares_take(shares, group->count, 0);
        call_completed_locked(call, &group->first, ticks);
        amounts.inside_ticks += ticks;
        amounts.wait_ticks = ticks;
    }
    if (!are_sizes_counted())
        return;
    const struct sized_kind which = sized_kind_of(&group->first, group->first.size);
    snapshots_add_sizes(&which, &amounts);
    if (call != NULL && call->is_outermost)
        between_settle(&which, group->count, true);
}

bool ending_finish(const struct ending *ending, int error, const struct mpi_call *call,
                   uint64_t end_ticks)
{
    const bool is_done = error == MPI_SUCCESS;
    struct shares shares, *shares_of_call = NULL;
    if (call != NULL && is_done && ending->first != NONE)
        call_completes(call);
    monitor_lock();
    int32_t next = ending->generation == generation ? ending->first : NONE;
    if (call != NULL && is_done && next != NONE) {
        shares = shares_begin(call, operations_in_list(next), end_ticks);
        shares_of_call = &shares;
    }
    while (next != NONE) {
        const int32_t number = next;
        next = groups[number].next;
        if (is_done) {
            finish_group(&groups[number], shares_of_call, end_ticks);
            pool_give_back(&group_pool, number);
        } else {
            link_group(number);
            if (are_depths_counted())
                depth_add(DEPTH_PUTS, groups[number].count);
        }
    }
    monitor_unlock();
    return shares_of_call != NULL;
}

void windows_unsure(void)
{
    for (int number = 1; number <= WINDOWS_MAX; number++)
        windows[number].is_unsure = true;
}

void windows_clear(void)
{
    for (int32_t number = 1; number <= group_pool.used; number++)
        *bucket_of(groups[number].window, groups[number].target) = NONE;
    for (int number = 1; number <= WINDOWS_MAX; number++)
        windows[number].groups = windows[number].latest = NONE;
    pool_clear(&group_pool);
    generation++;
}

void windows_count_depths(void)
{
    int64_t count = 0;
    for (int number = 1; number <= WINDOWS_MAX; number++)
        count += operations_in_list(windows[number].groups);
    depth_set(DEPTH_PUTS, count);
}
