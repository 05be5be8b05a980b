#include "monitor/windows.h"

#include "monitor/communicators.h"
#include "monitor/handles.h"

/* Operations of one kind on one target that began in the same epoch. They are held together, or as
   singles. */
struct group {
    int window, target;
    struct operation first; /* has the kind and epoch; held together: the one that started first */
    int64_t count;          /* held together: how many */
    uint64_t offset_ticks;  /* held together: the sum of their starts, each less the first's */
    int32_t singles;        /* list of operations with a start each */
    int32_t next_in_place;
    int32_t next, previous; /* in the list of the window, or of an ending */
};

struct single {
    struct operation operation;
    int32_t next;
};

struct window {
    int communicator;
    int32_t groups;
    int32_t latest; /* the group of the latest operation, or NONE */
};

enum {
    NONE = 0, /* no element of the pools has this number */
    WINDOW_BITS = 10,
    WINDOWS_MAX = 3 << (WINDOW_BITS - 2),
    PLACE_BITS = 14,
    GROUPS_MAX = 1 << PLACE_BITS,
    SINGLES_MAX = 1 << 16,
};

static struct handle_slot window_slots[1 << WINDOW_BITS];
static struct handle_map window_numbers = {.slots = window_slots, .bits = WINDOW_BITS};
static struct window windows[WINDOWS_MAX];
static bool window_taken[WINDOWS_MAX];

/* Pools. Elements that were given back are in a list; those after `used` were never taken. */
static struct group groups[GROUPS_MAX + 1];
static int32_t free_groups, groups_used;
static struct single singles[SINGLES_MAX + 1];
static int32_t free_singles, singles_used;
static int32_t places[1 << PLACE_BITS];
static uint32_t generation; /* how often windows_clear was called */

static int32_t *place_of(int window, int target)
{
    const uint64_t key = (uint64_t)(uint32_t)window << 32 | (uint32_t)target;
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
    return group->window == window && group->target == target &&
           group->first.kind == operation->kind && group->first.epoch == operation->epoch;
}

/* Links a group into the lists of its place and its window. */
static void link_group(int32_t number)
{
    struct group *const group = &groups[number];
    int32_t *const place = place_of(group->window, group->target);
    int32_t *const list = &windows[group->window].groups;
    group->next_in_place = *place;
    group->next = *list;
    group->previous = NONE;
    if (*list != NONE)
        groups[*list].previous = number;
    *place = *list = number;
}

/* A new group for this operation, or NONE without room. */
static int32_t group_create(int window, int target, const struct operation *operation)
{
    int32_t number = free_groups;
    if (number != NONE)
        free_groups = groups[number].next;
    else if (groups_used < GROUPS_MAX)
        number = ++groups_used;
    else
        return NONE;
    groups[number] = (struct group){.window = window, .target = target, .first = *operation};
    link_group(number);
    return number;
}

static int32_t group_for(int window, int target, const struct operation *operation)
{
    int32_t number = windows[window].latest;
    if (number == NONE || !joins(&groups[number], window, target, operation)) {
        number = *place_of(window, target);
        while (number != NONE && !joins(&groups[number], window, target, operation))
            number = groups[number].next_in_place;
        if (number == NONE)
            number = group_create(window, target, operation);
        windows[window].latest = number;
    }
    return number;
}

/* Keeps an operation as a single. False without room. */
static bool add_single(struct group *group, const struct operation *operation)
{
    int32_t number = free_singles;
    if (number != NONE)
        free_singles = singles[number].next;
    else if (singles_used < SINGLES_MAX)
        number = ++singles_used;
    else
        return false;
    singles[number] = (struct single){.operation = *operation, .next = group->singles};
    group->singles = number;
    return true;
}

static void add_together(struct group *group, const struct operation *operation)
{
    if (group->count == 0)
        group->first = *operation;
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
    const int32_t number = window == HANDLE_UNKNOWN ? NONE : group_for(window, target, operation);
    if (number == NONE)
        operation_untracked(operation);
    else if (!snapshots_count_timeouts() || !add_single(&groups[number], operation))
        add_together(&groups[number], operation);
    monitor_unlock();
}

/* Unlinks a group from the lists of its place and its window. */
static void unlink_group(int32_t number)
{
    struct group *const group = &groups[number];
    int32_t *link = place_of(group->window, group->target);
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
    int32_t next = NONE;
    if (window != HANDLE_UNKNOWN) {
        windows[window].latest = NONE;
        next = target == EVERY_TARGET ? windows[window].groups : *place_of(window, target);
    }
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
    monitor_unlock();
    return ending;
}

static void end_singles(struct group *group, uint64_t end_ticks)
{
    int32_t next = group->singles;
    while (next != NONE) {
        struct single *const single = &singles[next];
        const int32_t number = next;
        operation_ended(&single->operation, end_ticks, 0);
        next = single->next;
        single->next = free_singles;
        free_singles = number;
    }
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
        end_singles(group, end_ticks);
        if (group->count > 0)
            operations_ended(&group->first, group->count, group->offset_ticks, end_ticks);
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
        *place_of(groups[number].window, groups[number].target) = NONE;
    for (int number = 0; number < WINDOWS_MAX; number++)
        windows[number].groups = windows[number].latest = NONE;
    free_groups = free_singles = NONE;
    groups_used = singles_used = 0;
    generation++;
}
