/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/operations.h"

#include "monitor/lib/count/unexpected.h"
#include "monitor/lib/count/rank_peers.h"

/* Keeps what only some flags need from costing the other calls instructions. */
#define OUT_OF_LINE __attribute__((noinline, cold))

static struct count *count_in(struct snapshot *snapshot, const struct operation *operation)
{
    return &snapshot->communicators[operation->communicator].operation[operation->kind];
}

static bool is_of_file(const struct operation *operation)
{
    return operation_traits[operation->kind].class == CLASS_FILES;
}

static struct span *span_in(struct snapshot *snapshot, const struct operation *operation)
{
    return &snapshot->communicators[operation->communicator]
                .span[operation_traits[operation->kind].class];
}

static void note_destination(struct snapshot *snapshot, struct operation *operation,
                             struct count *count, int rank)
{
    struct destination_table *const table = &snapshot->destinations;
    const uint64_t from = (uint64_t)operation->communicator << 8 | operation->kind;
    struct destination *const destination =
        table_add(table->entries, sizeof *destination, DESTINATIONS_BITS, &table->used,
                  (from << 32 | (uint32_t)rank) + 1);
    if (destination == NULL)
        return;
    count->neighbours += destination->burst == 0;
    operation->joinable = operation->joinable || destination->burst == between_burst;
    destination->burst = between_burst;
}

static void begin_in(struct snapshot *snapshot, struct operation *operation, struct sent sent)
{
    struct communicator_counts *const counts = snapshot_counts(snapshot, operation->communicator);
    struct count *const count = &counts->operation[operation->kind];
    count->calls++;
    count->bytes += sent.bytes;
    if (__builtin_expect(snapshot->sites != NULL, 0)) {
        snapshot->sites[operation->site].calls++;
        snapshot->sites[operation->site].bytes += sent.bytes;
    }
    if (is_message(sent)) {
        if (snapshot->destinations.entries != NULL)
            note_destination(snapshot, operation, count, destination_of(sent));
        struct messages *const messages =
            &counts->messages[sent.bytes >= snapshot->asked.large_bytes ? LARGE : SMALL];
        messages->count++;
        messages->bytes += sent.bytes;
    }
    struct span *const span = span_in(snapshot, operation);
    if (__builtin_expect(span->first == 0, 0))
        span->first = ticks_now();
}

/* Returns the peer of a rank of this communicator. Needs the lock, which it gives up while it asks
   MPI. */
OUT_OF_LINE static int32_t peer_of(int communicator, int rank)
{
    int32_t peer = PEER_OTHER;
    if (communicator != NO_COMMUNICATOR)
        peer = world_ranks_find(&communicators[communicator].world, rank);
    if (peer == PEER_UNKNOWN) {
        monitor_unlock();
        peer = rank_peer_ask(communicator, rank);
        monitor_lock();
    }
    return peer;
}

/* Adds amounts to the peer to which an operation sends. Needs the lock. */
OUT_OF_LINE static void add_sent(const struct operation *operation,
                                 const struct peer_amounts *amounts)
{
    snapshots_add_peer(operation->epoch, operation->peer,
                       operation_way((enum operation_kind)operation->kind), amounts);
}

/* Counts time inside MPI of an operation that only sends. Needs the lock. */
OUT_OF_LINE static void add_sent_ticks(const struct operation *operation, uint64_t ticks)
{
    if (!operation->receives)
        add_sent(operation, &(struct peer_amounts){.ticks = ticks});
}

void operation_received(const struct operation *operation, int source, int64_t bytes,
                        uint64_t share)
{
    const struct peer_amounts amounts = {
        .messages = 1, .bytes = bytes, .ticks = operation->inside_ticks + share};
    monitor_lock();
    const int32_t peer = peer_of(operation->communicator, source);
    if (peer != PEER_NONE)
        snapshots_add_peer(operation->epoch, peer, PEER_RECEIVES, &amounts);
    else if (operation->peer != PEER_NONE)
        add_sent(operation, &(struct peer_amounts){.ticks = amounts.ticks});
    monitor_unlock();
}

static inline void count_thread(void)
{
    if (__builtin_expect(monitor_lock_needed, 0) && inside.epoch != latest_epoch)
        snapshots_count_thread();
}

/* Begins an operation and releases the lock, which the caller holds. Reads the clock last.
   called_ticks is the time of the program's call; 0: just before. */
__attribute__((always_inline)) static inline void begin(struct operation *operation,
                                                        enum operation_kind kind, int communicator,
                                                        struct sent sent, bool receives,
                                                        uint64_t called_ticks)
{
    const int32_t peer = is_message(sent) && are_peers_counted()
                             ? peer_of(communicator, destination_of(sent))
                             : PEER_NONE;
    *operation = (struct operation){.epoch = latest_epoch,
                                    .communicator = (int16_t)communicator,
                                    .kind = (uint8_t)kind,
                                    .receives = receives,
                                    .site = site_now(kind),
                                    .size = is_message(sent) ? sent.bytes : sent.size,
                                    .peer = peer};
    if (__builtin_expect(peer != PEER_NONE, 0))
        add_sent(operation, &(struct peer_amounts){.messages = 1, .bytes = sent.bytes});
    for (int i = 0; i < active_count; i++)
        begin_in(active[i], operation, sent);
    count_thread();
    monitor_unlock();
    operation->start_ticks = ticks_now();
    const uint64_t entry_ticks =
        called_ticks != 0 ? called_ticks : operation->start_ticks - inside_own.before_operation;
    operation->is_outermost = inside_enter(entry_ticks);
}

void operation_begin_at(struct operation *operation, enum operation_kind kind, int communicator,
                        struct sent sent, bool receives)
{
    site_prepare(kind);
    monitor_lock();
    begin(operation, kind, communicator, sent, receives, 0);
}

void operation_begin_called(struct operation *operation, enum operation_kind kind, int communicator,
                            struct sent sent, uint64_t called_ticks)
{
    site_prepare(kind);
    monitor_lock();
    begin(operation, kind, communicator, sent, false, called_ticks);
    const uint64_t before_ticks = operation->start_ticks - called_ticks;
    operation->before_ticks = before_ticks < UINT32_MAX ? (uint32_t)before_ticks : UINT32_MAX;
}

void operation_begin(struct operation *operation, enum operation_kind kind, MPI_Comm comm,
                     struct sent sent, bool receives)
{
    site_prepare(kind);
    if (receives && are_depths_counted())
        unexpected_count(comm);
    monitor_lock();
    int communicator = communicator_find(comm);
    if (__builtin_expect(communicator == HANDLE_UNKNOWN, 0)) {
        monitor_unlock();
        communicator = communicator_index(comm);
        monitor_lock();
    }
    begin(operation, kind, communicator, sent, receives, 0);
}

static bool belongs_to(const struct operation *operation, const struct snapshot *snapshot)
{
    return snapshot->epoch <= operation->epoch;
}

/* Returns the ticks from the start of an operation to its end, minus the monitor's own ticks. */
static uint64_t operation_ticks(const struct operation *operation, uint64_t end_ticks)
{
    const uint64_t start =
        operation->start_ticks + (operation->posted ? inside_own.posted : inside_own.reading);
    return end_ticks > start ? end_ticks - start : 0;
}

double operations_ticks(const struct operation *first, int64_t count, double offset_ticks,
                        uint64_t end_ticks)
{
    const double together = (double)count * (double)operation_ticks(first, end_ticks);
    return together > offset_ticks ? together - offset_ticks : 0.0;
}

static void end_at_site(struct site_count *site, int64_t count, int64_t received_bytes,
                        double total_ticks, uint64_t longest_ticks)
{
    site->completed += count;
    site->bytes += received_bytes;
    site->total_ticks += total_ticks;
    if (longest_ticks > site->max_ticks)
        site->max_ticks = longest_ticks;
}

void operations_ended(const struct operation *first, int64_t count, double offset_ticks,
                      uint64_t end_ticks, int64_t received_bytes)
{
    const uint64_t longest = operation_ticks(first, end_ticks);
    const double total = operations_ticks(first, count, offset_ticks, end_ticks);
    for (int i = 0; i < active_count; i++) {
        struct snapshot *const snapshot = active[i];
        if (!belongs_to(first, snapshot))
            continue;
        struct count *const counted = count_in(snapshot, first);
        counted->completed += count;
        counted->bytes += received_bytes;
        counted->total_ticks += total;
        if (longest > counted->max_ticks)
            counted->max_ticks = longest;
        if (__builtin_expect(longest > snapshot->timeout_ticks, 0)) {
            counted->timeouts++;
            snapshot->cases[MPIX_MONITOR_WARNING_UNTOLD] += count - 1;
        }
        if (__builtin_expect(snapshot->sites != NULL, 0))
            end_at_site(&snapshot->sites[first->site], count, received_bytes, total, longest);
        struct span *const span = span_in(snapshot, first);
        if (end_ticks > span->last)
            span->last = end_ticks;
    }
}

void operation_end(const struct operation *operation, uint64_t end_ticks, int64_t received_bytes)
{
    monitor_lock();
    operations_ended(operation, 1, 0.0, end_ticks, received_bytes);
    monitor_unlock();
}

void operation_ended_when_posted(const struct operation *operation)
{
    struct operation call = *operation;
    call.posted = false;
    call.posted_ticks = 0;
    operations_ended(&call, 1, 0.0, operation->posted_ticks, 0);
}

/* Keeps the time of a call for comparison with the other ranks; for a rooted collective also the
   time of the program's call, since the monitor's work until the start is no lateness. */
static void keep_times(const struct operation *operation, uint64_t ticks, uint64_t exit_ticks)
{
    const bool rooted = operation_wait((enum operation_kind)operation->kind) != ALL_WAIT;
    struct late_call call = {
        .ticks = ticks,
        .entered = operation->start_ticks - operation->before_ticks,
        .part = (enum late_part)operation->part,
        .is_behind_files = inside_is_behind_files(),
        .site = operation->site,
    };
    if (rooted && operation->is_outermost)
        call.ticks = exit_ticks - call.entered;
    for (int i = 0; i < active_count; i++) {
        struct late *const late = active[i]->late;
        if (late == NULL || (rooted && !active[i]->asked.clock) ||
            !belongs_to(operation, active[i]))
            continue;
        if (!communicator_is_compared(operation->communicator))
            late->not_compared += rooted && communicators[operation->communicator].processes != 1;
        else if (!late_add(late, operation->communicator, operation->kind, call))
            active[i]->cases[MPIX_MONITOR_WARNING_UNKEPT]++;
    }
}

static void count_own(struct snapshot *snapshot, uint64_t ticks)
{
    (void)snapshot_count_calls(snapshot, OPERATION_MONITOR, NO_COMMUNICATOR, 1, ticks);
}

static bool is_collective(const struct operation *operation)
{
    return operation_traits[operation->kind].class == CLASS_COLLECTIVE;
}

/* Notes that the thread leaves its outermost call. A collective may follow one of its kind. */
static void follow_in_thread(struct operation *operation)
{
    const bool follows_its_like =
        between_operation_left((enum operation_kind)operation->kind, operation->communicator);
    if (is_collective(operation))
        operation->joinable = follows_its_like;
}

void operation_left(struct operation *operation, uint64_t exit_ticks)
{
    const uint64_t all =
        inside_leave(operation->is_outermost, exit_ticks + inside_own.after_operation);
    const uint64_t ticks = all > 0 ? between_readings(operation->start_ticks, exit_ticks) : 0;
    if (operation->is_outermost && are_sizes_counted())
        follow_in_thread(operation);
    monitor_lock();
    for (int i = 0; i < active_count; i++)
        if (belongs_to(operation, active[i])) {
            count_in(active[i], operation)->inside_ticks += ticks;
            if (__builtin_expect(active[i]->sites != NULL, 0))
                active[i]->sites[operation->site].inside_ticks += ticks;
            if (operation->is_outermost)
                count_own(active[i], all - ticks);
        }
    if (operation->part != LATE_NOT_COMPARED)
        keep_times(operation, ticks, exit_ticks);
    if (__builtin_expect(operation->peer != PEER_NONE, 0))
        add_sent_ticks(operation, ticks);
    monitor_unlock();
    if (operation->is_outermost)
        inside_follow_files(is_of_file(operation), ticks);
    operation->inside_ticks += ticks;
    operation->computing_ticks = inside.computing_ticks;
    operation->thread = &inside;
}

/* Counts an operation by its size. `call` completed it, and `share` of its ticks belong to it; NULL
   if the operation's own call completed it. */
static void size(const struct operation *operation, uint64_t end_ticks, int64_t received_bytes,
                 const struct mpi_call *call, uint64_t share)
{
    if (is_of_file(operation))
        return;
    const int64_t bytes = received_bytes > operation->size ? received_bytes : operation->size;
    struct size_amounts amounts = {
        .completed = 1,
        .bytes = bytes,
        .total_ticks = (double)operation_ticks(operation, end_ticks),
        .inside_ticks = operation->inside_ticks + share,
        .wait_ticks = share,
        .joinable = operation->joinable,
    };
    /* A difference between two threads' clocks means nothing. */
    if (call != NULL && operation->thread == &inside)
        amounts.computed_ticks = (double)(call->computing_ticks - operation->computing_ticks);
    const struct sized_kind which = sized_kind_of(operation, bytes);
    snapshots_add_sizes(&which, &amounts);
    if (call != NULL ? call->is_outermost : operation->is_outermost)
        between_settle(&which, 1, call != NULL || operation->receives || is_collective(operation));
}

void operation_sized(const struct operation *operation, uint64_t end_ticks, int64_t received_bytes)
{
    if (!are_sizes_counted())
        return;
    monitor_lock();
    size(operation, end_ticks, received_bytes, NULL, 0);
    monitor_unlock();
}

void call_completes(const struct mpi_call *call)
{
    site_prepare((enum operation_kind)call->kind);
    if (!call->is_outermost)
        return;
    if (are_sizes_counted())
        between_call_left();
    inside_follow_files(false, 0);
    /* The monitor's work since the previous call, and after this one. */
    const int64_t own_ticks = (int64_t)(inside_own.reading + inside_own.after_operation +
                                        call->entered_ticks - inside.entry_ticks);
    monitor_lock();
    for (int i = 0; i < active_count; i++)
        if (active[i]->epoch <= call->epoch) {
            count_own(active[i], own_ticks > 0 ? (uint64_t)own_ticks : 0);
            if (call->kind != OPERATION_Startall)
                snapshot_count_site(active[i], call->kind, 0);
        }
    count_thread();
    monitor_unlock();
    inside.given_ticks = 0;
}

void call_left(const struct mpi_call *call, int communicator, uint64_t exit_ticks)
{
    if (call->is_outermost && are_sizes_counted())
        between_call_left();
    site_prepare((enum operation_kind)call->kind);
    monitor_lock();
    for (int i = 0; i < active_count; i++)
        if (active[i]->epoch <= call->epoch)
            snapshot_count_calls(active[i], call->kind, communicator, 1, 0)->idle += call->is_idle;
    count_thread();
    const uint64_t counted_ticks =
        exit_ticks != 0 ? exit_ticks + inside_own.before_exit : ticks_now();
    const uint64_t ticks = call_ticks(call, counted_ticks - inside_own.before_exit);
    const uint64_t all = inside_leave(call->is_outermost, counted_ticks + inside_own.after_call);
    for (int i = 0; i < active_count; i++)
        if (active[i]->epoch <= call->epoch) {
            (void)snapshot_count_calls(active[i], call->kind, communicator, 0, ticks);
            snapshot_count_site(active[i], call->kind, ticks);
            if (all > ticks)
                count_own(active[i], all - ticks);
        }
    monitor_unlock();
}

/* Counts separately from the snapshots, which another thread may be ending. */
void call_left_by_any_thread(const struct mpi_call *call, uint64_t exit_ticks)
{
    const uint64_t ticks = inside_leave(call->is_outermost, exit_ticks + inside_own.after_call);
    __atomic_fetch_add(&any_thread.calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&any_thread.inside_ticks, ticks, __ATOMIC_RELAXED);
}

/* Counts ticks of a call that completed or started an operation: at the call's site, and as waiting
   for the operation at the site that started it. */
static void give_to_sites(struct snapshot *snapshot, const struct mpi_call *call,
                          const struct operation *operation, uint64_t ticks)
{
    struct site_count *const of_operation = &snapshot->sites[operation->site];
    if (call->kind == OPERATION_Startall) {
        of_operation->inside_ticks += ticks;
        return;
    }
    struct site_count *const of_call = &snapshot->sites[site_now(call->kind)];
    of_call->inside_ticks += ticks;
    if (inside.given_ticks > of_call->max_ticks)
        of_call->max_ticks = inside.given_ticks;
    if (belongs_to(operation, snapshot))
        of_operation->wait_ticks += ticks;
}

void call_completed_locked(const struct mpi_call *call, const struct operation *operation,
                           uint64_t ticks)
{
    inside.given_ticks += ticks;
    for (int i = 0; i < active_count; i++) {
        if (active[i]->epoch > call->epoch)
            continue;
        if (__builtin_expect(active[i]->sites != NULL, 0))
            give_to_sites(active[i], call, operation, ticks);
        if (!belongs_to(operation, active[i])) {
            (void)snapshot_count_calls(active[i], call->kind, NO_COMMUNICATOR, 0, ticks);
            continue;
        }
        struct count *const count = count_in(active[i], operation);
        count->inside_ticks += ticks;
        if (call->kind != OPERATION_Startall)
            count->wait_ticks += ticks;
    }
    if (is_of_file(operation))
        inside_follow_files(true, ticks);
    if (__builtin_expect(operation->peer != PEER_NONE, 0))
        add_sent_ticks(operation, ticks);
}

void call_completed(const struct mpi_call *call, const struct operation *operation, uint64_t ticks)
{
    monitor_lock();
    call_completed_locked(call, operation, ticks);
    monitor_unlock();
}

void operation_completed(const struct operation *operation, const struct mpi_call *call,
                         uint64_t ticks, uint64_t end_ticks, int64_t received_bytes)
{
    monitor_lock();
    operations_ended(operation, 1, 0.0, end_ticks, received_bytes);
    call_completed_locked(call, operation, ticks);
    if (are_sizes_counted())
        size(operation, end_ticks, received_bytes, call, ticks);
    monitor_unlock();
}

void operation_untracked(const struct operation *operation)
{
    for (int i = 0; i < active_count; i++)
        if (belongs_to(operation, active[i]))
            active[i]->cases[MPIX_MONITOR_WARNING_UNTRACKED]++;
}
