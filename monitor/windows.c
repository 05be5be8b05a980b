#include "monitor/windows.h"

#include "monitor/communicators.h"
#include "monitor/handles.h"

/* Operations of one kind on one target that began in the same epoch, held together; or one alone.
 */
struct group {
    int window, target;
    bool alone;             /* no other operation may join it */
    struct operation first; /* has the kind and epoch: the one that started first */
    int64_t count;
    uint64_t offset_ticks; /* the sum of their starts, each less the first's */
    int32_t next_in_place;
    int32_t next, previous; /* in the list of the window, or of an ending; or the next free group */
};

struct window {
    int communicator;
    int32_t groups;
    int32_t latest; /* the group of the latest operation, or NONE */
};

enum {
    NONE = 0, /* no group has this number */
    WINDOW_BITS = 10,
    WINDOWS_MAX = 3 << (WINDOW_BITS - 2),
    PLACE_BITS = 14,
    ALONE_MAX = 1 << 16,
    GROUPS_MAX = (1 << PLACE_BITS) + ALONE_MAX,
};

static struct handle_slot window_slots[1 << WINDOW_BITS];
static struct handle_map window_numbers = {.slots = window_slots, .bits = WINDOW_BITS};
static struct window windows[WINDOWS_MAX];
static bool window_taken[WINDOWS_MAX];

/* Groups that were given back are in a list; those after groups_used were never taken. */
static struct group groups[GROUPS_MAX + 1];
static int32_t free_groups, groups_used, alone_count;
static int32_t places[1 << PLACE_BITS];
static uint32_t generation; /* how often windows_clear was called */

/* Groups that operations join have other places than those alone, of which there may be many. */
static int32_t *place_of(int window, int target, bool alone)
{
    const uint64_t key =
        (uint64_t)(uint32_t)window << 33 | (uint64_t)alone << 32 | (uint32_t)target;
    return &places[handle_place(key, PLACE_BITS)];
}

/* The handle is no longer valid. The caller has the lock. */
static void forget(MPI_Win win, int number)
{
    (void)handle_remove(&window_numbers, window_key(win));
    window_taken[number] = false;
    communicator_release(windows[number].communicator);
}

void window_created(MPI_Win win, MPI_Comm comm)
{
    const int communicator = communicator_index(comm);
    monitor_lock();
    /* MPI has just made the handle, whatever it stood for before. */
    const int former = handle_find(&window_numbers, window_key(win));
    if (former != HANDLE_UNKNOWN)
        forget(win, former);
    int number = 0;
    while (number < WINDOWS_MAX && window_taken[number])
        number++;
    if (number < WINDOWS_MAX && handle_set(&window_numbers, window_key(win), number)) {
        window_taken[number] = true;
        windows[number] = (struct window){.communicator = communicator};
        communicator_hold(communicator);
    } else {
        object_without_room();
    }
    monitor_unlock();
}

int window_number(MPI_Win win)
{
    monitor_lock();
    const int number = handle_find(&window_numbers, window_key(win));
    monitor_unlock();
    return number;
}

void window_freed(MPI_Win win, int number)
{
    monitor_lock();
    if (number != HANDLE_UNKNOWN && handle_find(&window_numbers, window_key(win)) == number)
        forget(win, number);
    monitor_unlock();
}

int window_communicator(MPI_Win win)
{
    monitor_lock();
    const int number = handle_find(&window_numbers, window_key(win));
    const int communicator =
        number == HANDLE_UNKNOWN ? OTHER_COMMUNICATORS : windows[number].communicator;
    monitor_unlock();
    return communicator;
}

static bool joins(const struct group *group, int window, int target,
                  const struct operation *operation)
{
    return !group->alone && group->window == window && group->target == target &&
           group->first.kind == operation->kind && group->first.epoch == operation->epoch;
}

/* Links a group into the lists of its place and its window. */
static void link_group(int32_t number)
{
    struct group *const group = &groups[number];
    int32_t *const place = place_of(group->window, group->target, group->alone);
    int32_t *const list = &windows[group->window].groups;
    group->next_in_place = *place;
    group->next = *list;
    group->previous = NONE;
    if (*list != NONE)
        groups[*list].previous = number;
    *place = *list = number;
}

/* A new group of this operation, or NONE without room. */
static int32_t group_create(int window, int target, const struct operation *operation, bool alone)
{
    int32_t number = free_groups;
    if (number != NONE)
        free_groups = groups[number].next;
    else if (groups_used < GROUPS_MAX)
        number = ++groups_used;
    else
        return NONE;
    groups[number] = (struct group){
        .window = window, .target = target, .alone = alone, .first = *operation, .count = 1};
    link_group(number);
    alone_count += alone;
    return number;
}

/* The group that the operation joins, or NONE. */
static int32_t group_for(int window, int target, const struct operation *operation)
{
    int32_t number = windows[window].latest;
    if (number == NONE || !joins(&groups[number], window, target, operation)) {
        number = *place_of(window, target, false);
        while (number != NONE && !joins(&groups[number], window, target, operation))
            number = groups[number].next_in_place;
    }
    return number;
}

static void group_add(struct group *group, const struct operation *operation)
{
    /* Of two threads, the one that started first may come here second. */
    if (operation->start_ticks < group->first.start_ticks) {
        group->offset_ticks +=
            (uint64_t)group->count * (group->first.start_ticks - operation->start_ticks);
        group->first = *operation;
    }
    group->count++;
    group->offset_ticks += operation->start_ticks - group->first.start_ticks;
}

void window_add(MPI_Win win, int target, const struct operation *operation)
{
    monitor_lock();
    const int window = handle_find(&window_numbers, window_key(win));
    const bool alone = snapshots_count_timeouts() && alone_count < ALONE_MAX;
    int32_t number = NONE;
    if (window != HANDLE_UNKNOWN && !alone)
        number = group_for(window, target, operation);
    if (number != NONE)
        group_add(&groups[number], operation);
    else if (window != HANDLE_UNKNOWN)
        number = group_create(window, target, operation, alone);
    if (number == NONE)
        operation_untracked(operation);
    else if (!alone)
        windows[window].latest = number;
    monitor_unlock();
}

/* Unlinks a group from the lists of its place and its window. */
static void unlink_group(int32_t number)
{
    struct group *const group = &groups[number];
    int32_t *link = place_of(group->window, group->target, group->alone);
    while (*link != number)
        link = &groups[*link].next_in_place;
    *link = group->next_in_place;
    if (group->next != NONE)
        groups[group->next].previous = group->previous;
    if (group->previous != NONE)
        groups[group->previous].next = group->next;
    else
        windows[group->window].groups = group->next;
}

struct ending window_take(MPI_Win win, int target)
{
    monitor_lock();
    struct ending ending = {.first = NONE, .generation = generation};
    const int window = handle_find(&window_numbers, window_key(win));
    if (window != HANDLE_UNKNOWN)
        windows[window].latest = NONE;
    for (int alone = 0; window != HANDLE_UNKNOWN && alone <= 1; alone++) {
        int32_t next =
            target == EVERY_TARGET ? windows[window].groups : *place_of(window, target, alone != 0);
        while (next != NONE) {
            const int32_t number = next;
            struct group *const group = &groups[number];
            next = target == EVERY_TARGET ? group->next : group->next_in_place;
            if (group->window != window || (target != EVERY_TARGET && group->target != target))
                continue; /* another group in the same place */
            unlink_group(number);
            group->next = ending.first;
            ending.first = number;
        }
    }
    monitor_unlock();
    return ending;
}

/* The first group of an ending, or NONE if windows_clear has forgotten it meanwhile. */
static int32_t first_of(struct ending ending)
{
    return ending.generation == generation ? ending.first : NONE;
}

void ending_end(struct ending ending, uint64_t end_ticks)
{
    monitor_lock();
    for (int32_t next = first_of(ending); next != NONE;) {
        struct group *const group = &groups[next];
        const int32_t number = next;
        next = group->next;
        operations_ended(&group->first, group->count, group->offset_ticks, end_ticks);
        alone_count -= group->alone;
        group->next = free_groups;
        free_groups = number;
    }
    monitor_unlock();
}

void ending_cancel(struct ending ending)
{
    monitor_lock();
    for (int32_t next = first_of(ending); next != NONE;) {
        const int32_t number = next;
        next = groups[number].next;
        link_group(number);
    }
    monitor_unlock();
}

void windows_clear(void)
{
    for (int32_t number = 1; number <= groups_used; number++)
        *place_of(groups[number].window, groups[number].target, groups[number].alone) = NONE;
    for (int number = 0; number < WINDOWS_MAX; number++)
        windows[number].groups = windows[number].latest = NONE;
    free_groups = NONE;
    groups_used = alone_count = 0;
    generation++;
}
