/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/snapshot.h"

#include "monitor/lib/count/inside.h"
#include "monitor/lib/count/unexpected.h"
#include "monitor/lib/flags.h"

#include <stdlib.h>

uint32_t latest_epoch;
struct any_thread any_thread;

struct snapshot *active[MPIX_MONITOR_ACTIVE_MAX];
int active_count;

static int64_t without_room; /* live objects that found no room */

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

static struct any_thread any_thread_so_far(void)
{
    return (struct any_thread){__atomic_load_n(&any_thread.calls, __ATOMIC_RELAXED),
                               __atomic_load_n(&any_thread.inside_ticks, __ATOMIC_RELAXED)};
}

static void count_any_thread(struct snapshot *snapshot)
{
    const struct any_thread *const before = &snapshot->any_thread;
    const struct any_thread now = any_thread_so_far();
    if (snapshot->asked.profile && snapshot->asked.calls && now.calls > before->calls)
        (void)snapshot_count_calls(snapshot, OPERATION_OTHER_MPI, NO_COMMUNICATOR,
                                   now.calls - before->calls,
                                   now.inside_ticks - before->inside_ticks);
    if (snapshot->sites != NULL) {
        snapshot->sites[ANY_THREAD_SITE].calls += now.calls - before->calls;
        snapshot->sites[ANY_THREAD_SITE].inside_ticks += now.inside_ticks - before->inside_ticks;
    }
}

void snapshots_add_sizes(const struct sized_kind *which, const struct size_amounts *amounts)
{
    for (int i = 0; i < active_count; i++)
        if (active[i]->sizes.counts != NULL && active[i]->epoch <= which->epoch &&
            !size_table_add(&active[i]->sizes, which, amounts))
            active[i]->cases[MPIX_MONITOR_WARNING_UNSIZED] += amounts->completed;
}

void snapshots_count_thread(void)
{
    for (int i = 0; i < active_count; i++)
        active[i]->threads += active[i]->first_epoch > inside.epoch;
    inside.epoch = latest_epoch;
}

void snapshots_add_peer(uint32_t epoch, int32_t peer, enum peer_way way,
                        const struct peer_amounts *amounts)
{
    for (int i = 0; i < active_count; i++)
        if (active[i]->peers.peers != NULL && active[i]->epoch <= epoch)
            peer_table_add(&active[i]->peers, peer, way, amounts);
}

bool snapshots_count_timeouts(void)
{
    for (int i = 0; i < active_count; i++)
        if (active[i]->timeout_ticks != UINT64_MAX)
            return true;
    return false;
}

/* Needs the lock. */
static void update_monitored_classes(void)
{
    unsigned classes = 0;
    int callers = 1;
    for (int i = 0; i < active_count; i++) {
        const MPIX_Monitor *const asked = &active[i]->asked;
        if (!asked->profile)
            continue;
        if (counts_messages(asked))
            classes |= 1u << CLASS_POINT_TO_POINT;
        if (counts_collectives(asked))
            classes |= 1u << CLASS_COLLECTIVE;
        if (asked->sizes)
            classes |= 1u << SIZES;
        classes |= (unsigned)(asked->site != 0) << SITES;
        callers = asked->site > callers ? asked->site : callers;
        classes |= (unsigned)(asked->peers != 0) << PEERS;
        classes |= (unsigned)(asked->depth != 0) << DEPTHS;
        if (asked->calls || asked->site || asked->depth)
            classes |= (1u << OPERATION_CLASSES) - 1;
    }
    sites_set_callers(callers);
    __atomic_store_n(&monitored_classes, classes, __ATOMIC_RELAXED);
}

static void free_memory(struct snapshot *snapshot)
{
    free(snapshot->late);
    free(snapshot->sizes.counts);
    free(snapshot->destinations.entries);
    free(snapshot->sites);
    peer_table_free(&snapshot->peers);
    free(snapshot->communicators);
    free(snapshot);
}

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
    if (handle->profile && handle->site)
        snapshot->sites = calloc(SITES_MAX, sizeof *snapshot->sites);
    if (snapshot->communicators == NULL || (handle->profile && handle->site && !snapshot->sites) ||
        (handle->profile && handle->sizes && !make_tables(snapshot)) ||
        (handle->profile && handle->peers && !peer_table_make(&snapshot->peers))) {
        free_memory(snapshot);
        return NULL;
    }
    snapshot->asked = *handle;
    if (snapshot->asked.large_bytes == 0)
        snapshot->asked.large_bytes = MPIX_MONITOR_LARGE_BYTES;
    snapshot->handle = handle;
    snapshot->file = file;
    if (file != NULL && handle->profile && (handle->coll || handle->site))
        snapshot->late = calloc(1, sizeof *snapshot->late);
    const double timeout_ticks = handle->timeout_us * 1e3 / ticks_ns();
    snapshot->timeout_ticks =
        timeout_ticks > 0 && timeout_ticks < 1e19 ? (uint64_t)timeout_ticks : UINT64_MAX;
    if (handle->profile && handle->depth)
        unexpected_start();
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
    if (snapshot->first_epoch == 0)
        snapshot->first_epoch = snapshot->epoch;
    active[active_count++] = snapshot;
    update_monitored_classes();
    if (snapshot->asked.profile && snapshot->asked.depth)
        depths_watch(snapshot->depths);
    snapshot->cases[MPIX_MONITOR_WARNING_UNKNOWN] = without_room;
    snapshot->any_thread = any_thread_so_far();
    snapshot->start_ticks = ticks_now();
    return true;
}

void snapshots_begin_with(enum operation_kind kind, uint64_t ticks)
{
    site_prepare(kind);
    monitor_lock();
    inside.left_ticks = ticks_now();
    for (int i = 0; i < active_count; i++) {
        active[i]->start_ticks = inside.left_ticks - ticks;
        (void)snapshot_count_calls(active[i], kind, NO_COMMUNICATOR, 1, ticks);
        snapshot_count_site(active[i], kind, ticks);
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
        depths_unwatch(snapshot->depths);
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
