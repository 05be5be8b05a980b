#include "monitor/lib/count/snapshot.h"

#include "common/stats/stats.h"
#include "monitor/lib/count/between.h"

#include <stdlib.h>

unsigned monitored_classes;
uint32_t latest_epoch; /* atomic, for calls without the lock */

struct snapshot *active[MPIX_MONITOR_ACTIVE_MAX];
int active_count;

static int64_t without_room; /* objects that are there */

void object_without_room(void)
{
    without_room++;
    for (int i = 0; i < active_count; i++)
        active[i]->cases[MPIX_MONITOR_WARNING_UNKNOWN]++;
}

void object_without_room_freed(void)
{
    if (without_room > 0)
        without_room--;
}

/* Counts the calls since the snapshot's start. */
static void count_any_thread(struct snapshot *snapshot)
{
    const struct mpi_call call = {.kind = OPERATION_OTHER_MPI};
    const struct any_thread *const before = &snapshot->any_thread;
    const struct any_thread now = any_thread_so_far();
    if (snapshot->asked.profile && snapshot->asked.calls && now.calls > before->calls)
        count_call_in(snapshot, &call, NO_COMMUNICATOR, now.calls - before->calls,
                      now.inside_ticks - before->inside_ticks);
}

bool snapshots_count_timeouts(void)
{
    for (int i = 0; i < active_count; i++)
        if (active[i]->timeout_ticks != UINT64_MAX)
            return true;
    return false;
}

/* Wants the lock. */
static void update_monitored_classes(void)
{
    unsigned classes = 0;
    for (int i = 0; i < active_count; i++) {
        const MPIX_Monitor *const asked = &active[i]->asked;
        if (asked->profile && (asked->pttopt || asked->comm || asked->msgsize || asked->traffic))
            classes |= 1u << CLASS_POINT_TO_POINT;
        if (asked->profile && asked->sizes)
            classes |= 1u << CLASS_POINT_TO_POINT | 1u << CLASS_COLLECTIVE | 1u << SIZES;
        if (asked->profile && (asked->coll || asked->comm))
            classes |= 1u << CLASS_COLLECTIVE;
        if (asked->profile && asked->calls)
            classes |= (1u << OPERATION_CLASSES) - 1;
    }
    __atomic_store_n(&monitored_classes, classes, __ATOMIC_RELAXED);
}

static void free_memory(struct snapshot *snapshot)
{
    free(snapshot->late);
    free(snapshot->sizes.counts);
    free(snapshot->destinations.entries);
    free(snapshot->communicators);
    free(snapshot);
}

/* Makes the tables of what is counted by size. False without memory. */
static bool make_tables(struct snapshot *snapshot)
{
    struct size_table *const sizes = &snapshot->sizes;
    struct destination_table *const table = &snapshot->destinations;
    sizes->counts = calloc(1 << SIZE_COUNTS_BITS, sizeof *sizes->counts);
    table->entries = calloc(1 << DESTINATIONS_BITS, sizeof *table->entries);
    return sizes->counts != NULL && table->entries != NULL;
}

struct snapshot *snapshot_create(const MPIX_Monitor *handle, FILE *file)
{
    struct snapshot *const snapshot = calloc(1, sizeof *snapshot);
    if (snapshot == NULL)
        return NULL;
    snapshot->communicators = calloc(COMMUNICATORS_MAX + 1, sizeof *snapshot->communicators);
    if (snapshot->communicators == NULL ||
        (handle->profile && handle->sizes && !make_tables(snapshot))) {
        free_memory(snapshot);
        return NULL;
    }
    snapshot->asked = *handle;
    if (snapshot->asked.large_bytes == 0)
        snapshot->asked.large_bytes = MPIX_MONITOR_LARGE_BYTES;
    snapshot->handle = handle;
    snapshot->file = file;
    /* Without memory nothing is said of late processes. */
    if (file != NULL && handle->profile && handle->coll)
        snapshot->late = calloc(1, sizeof *snapshot->late);
    const double timeout_ticks = handle->timeout_us * 1e3 / ticks_ns();
    snapshot->timeout_ticks =
        timeout_ticks > 0 && timeout_ticks < 1e19 ? (uint64_t)timeout_ticks : UINT64_MAX;
    if (handle->profile && handle->other)
        services_read(&snapshot->services);
    return snapshot;
}

bool snapshot_start(struct snapshot *snapshot)
{
    if (active_count == MPIX_MONITOR_ACTIVE_MAX)
        return false;
    snapshot->epoch = latest_epoch + 1;
    __atomic_store_n(&latest_epoch, snapshot->epoch, __ATOMIC_RELAXED);
    active[active_count++] = snapshot;
    update_monitored_classes();
    snapshot->cases[MPIX_MONITOR_WARNING_UNKNOWN] = without_room;
    snapshot->any_thread = any_thread_so_far();
    snapshot->start_ticks = ticks_now();
    return true;
}

void snapshots_begin_with(enum operation_kind kind, uint64_t ticks)
{
    const struct mpi_call call = {.kind = (uint8_t)kind};
    monitor_lock();
    inside.left_ticks = ticks_now();
    for (int i = 0; i < active_count; i++) {
        active[i]->start_ticks = inside.left_ticks - ticks;
        count_call_in(active[i], &call, NO_COMMUNICATOR, 1, ticks);
    }
    monitor_unlock();
}

void snapshot_stop(struct snapshot *snapshot)
{
    monitor_lock();
    int i = 0;
    while (i < active_count && active[i] != snapshot)
        i++;
    if (i < active_count) {
        snapshot->end_ticks = ticks_now();
        count_any_thread(snapshot);
        active[i] = active[--active_count];
        update_monitored_classes();
    }
    monitor_unlock();
}

void snapshot_free(struct snapshot *snapshot)
{
    for (int i = 0; i < COMMUNICATORS_MAX; i++)
        if (snapshot->communicators[i].used) {
            monitor_lock();
            communicator_release(i);
            monitor_unlock();
        }
    free_memory(snapshot);
}

/* ---- what measuring takes -------------------------------------------------------------------- */

/* The monitor's time for a call is at most this in any state of the machine, unless it was measured
   to take more. */
#define OWN_MAX_NS 100.0

static uint64_t longer(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* What the monitor does around calls, beside the readings of the clock that it has in them; a
   reading takes reading_ticks. */
static struct inside_own own_in_snapshot(uint64_t reading_ticks)
{
    enum { ROUNDS = 101 };
    double before_operation[ROUNDS], after_operation[ROUNDS], after_call[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        struct operation operation;
        struct mpi_call call;
        const uint64_t called_ticks = ticks_now();
        operation_begin_at(&operation, OPERATION_Send, OTHER_COMMUNICATORS, (struct sent){0},
                           false);
        const uint64_t end_ticks = ticks_now();
        operation_end(&operation, end_ticks, 0);
        operation_left(&operation, end_ticks);
        before_operation[i] = (double)(operation.start_ticks - called_ticks);
        after_operation[i] = (double)(ticks_now() - end_ticks);
        call_enter(&call, OPERATION_OTHER_MPI);
        const uint64_t exit_ticks = ticks_now();
        call_left(&call, NO_COMMUNICATOR, exit_ticks);
        after_call[i] = (double)(ticks_now() - exit_ticks);
    }
    const uint64_t before_ticks = (uint64_t)bc_median(before_operation, ROUNDS);
    const uint64_t after_ticks = (uint64_t)bc_median(after_operation, ROUNDS);
    return (struct inside_own){
        .reading = reading_ticks,
        .posted = inside_own.posted,
        .before_operation = before_ticks > reading_ticks ? before_ticks - reading_ticks : 0,
        .after_operation = after_ticks,
        .after_call = (uint64_t)bc_median(after_call, ROUNDS),
        .gap = longer(before_ticks + after_ticks, (uint64_t)(OWN_MAX_NS / ticks_ns())),
    };
}

/* The same in a snapshot that counts calls. Without memory for one nothing is known. */
static void measure_own(uint64_t reading_ticks)
{
    const MPIX_Monitor handle = {.profile = 1, .pttopt = 1, .calls = 1};
    struct snapshot *const snapshot = snapshot_create(&handle, NULL);
    if (snapshot == NULL)
        return;
    monitor_lock();
    const bool is_started = snapshot_start(snapshot);
    monitor_unlock();
    if (is_started) {
        inside_own = own_in_snapshot(reading_ticks);
        snapshot_stop(snapshot);
    }
    snapshot_free(snapshot);
}

void snapshots_set_own_ticks(uint64_t of_call, uint64_t of_posted)
{
    inside_own.reading = of_call;
    inside_own.posted = of_posted;
    between_start();
    measure_own(of_call);
}
