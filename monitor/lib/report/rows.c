/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/rows.h"

#include "common/mpi/mpi_check.h"
#include "monitor/lib/count/describe.h"
#include "monitor/lib/report/columns.h"
#include "monitor/lib/count/languages.h"

#include <math.h>
#include <stdlib.h>

static const char *const kind_names[] = {
    [KIND_PTTOPT] = "pttopt",     [KIND_COLL] = "coll",   [KIND_CALLS] = "calls",
    [KIND_COMM] = "comm",         [KIND_OTHER] = "other", [KIND_TOTAL] = "total",
    [KIND_WORKLOAD] = "workload", [KIND_SIZES] = "sizes", [KIND_SITE] = "site",
    [KIND_MODULE] = "module",     [KIND_PEER] = "peer",   [KIND_DEPTH] = "depth",
};
static const char *const class_names[COMMUNICATION_CLASSES] = {"point-to-point", "collective"};

static const struct communicator no_communicator = {.name = "NA", .members = "NA", .order = 3};

/* ---- the order of rows ----------------------------------------------------------------------- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

int rows_compare_identities(const void *first, const void *second)
{
    const struct keyed_row *const a = first, *const b = second;
    int order = COMPARE(a->kind, b->kind);
    if (order == 0)
        order = COMPARE(a->identity, b->identity);
    if (order == 0)
        order = COMPARE(a->operation, b->operation);
    if (order == 0)
        order = strcmp(a->row.operation, b->row.operation);
    return order != 0 || a->kind == KIND_DEPTH ? order : strcmp(a->row.site, b->row.site);
}

int rows_compare_in_report(const void *first, const void *second)
{
    const struct keyed_row *const a = first, *const b = second;
    int order = COMPARE(a->kind, b->kind);
    if (order == 0 && a->kind == KIND_SITE) {
        order = COMPARE(b->row.in_calls_s, a->row.in_calls_s);
        return order != 0 ? order : strcmp(a->row.site, b->row.site);
    }
    if (order == 0)
        order = COMPARE(a->order, b->order);
    if (order == 0)
        order = strcmp(a->row.comm, b->row.comm);
    if (order == 0)
        order = strcmp(a->row.members, b->row.members);
    return order != 0 ? order : rows_compare_identities(a, b);
}

void rows_sort(struct rows *rows, int (*compare)(const void *, const void *))
{
    if (rows->count > 0)
        qsort(rows->rows, (size_t)rows->count, sizeof *rows->rows, compare);
}

/* ---- the rows of this process ---------------------------------------------------------------- */

struct source {
    const struct snapshot *snapshot;
    double tick_s;
    int rank;
    struct rows *rows;
    int capacity;
};

static bool make_room(struct rows *rows, size_t count)
{
    struct keyed_row *const larger = realloc(rows->rows, count * sizeof *larger);
    if (larger != NULL)
        rows->rows = larger;
    return larger != NULL;
}

/* True if the program's name of a communicator is also one of MPI's, or NA. */
static bool is_ambiguous(const struct communicator *communicator)
{
    if (communicator->order != 2 || !communicator->origin.is_named)
        return false;
    for (int i = 0; i < COMMUNICATORS_MAX; i++)
        if (communicators[i].order != 2 &&
            (strcmp(communicator->name, communicators[i].name) == 0 ||
             strcmp(communicator->name, communicators[i].made) == 0))
            return true;
    return strcmp(communicator->name, no_communicator.name) == 0;
}

/* Writes the name of a communicator, with the creating function if the name isn't clear. */
static void write_name(char *text, size_t size, const struct communicator *communicator)
{
    const int made = (int)strnlen(communicator->made, sizeof communicator->made);
    const int room = (int)size - made - (int)sizeof " ()";
    if (communicator->is_ambiguous && room > 0)
        (void)snprintf(text, size, "%.*s (%.*s)", room, communicator->name, made,
                       communicator->made);
    else
        (void)snprintf(text, size, "%s", communicator->name);
}

/* Adds a row with its keys, all other values NA. Returns NULL if memory runs out. */
static MPIX_Monitor_row *add_row(struct source *source, enum row_kind kind,
                                 const struct communicator *communicator, int operation,
                                 const char *operation_name)
{
    struct rows *const rows = source->rows;
    if (rows->count == source->capacity) {
        const int capacity = source->capacity > 0 ? 2 * source->capacity : 32;
        if (!make_room(rows, (size_t)capacity)) {
            rows->incomplete = true;
            return NULL;
        }
        source->capacity = capacity;
    }
    struct keyed_row *const keyed = &rows->rows[rows->count++];
    /* Also the padding: rows are sent as bytes. */
    memset(keyed, 0, sizeof *keyed);
    keyed->kind = kind;
    keyed->operation = operation;
    keyed->order = communicator->order;
    keyed->identity = communicator->identity;
    MPIX_Monitor_row *const row = &keyed->row;
    columns_set_na(row);
    (void)snprintf(row->kind, sizeof row->kind, "%s", kind_names[kind]);
    write_name(row->comm, sizeof row->comm, communicator);
    (void)snprintf(row->members, sizeof row->members, "%s", communicator->members);
    (void)snprintf(row->operation, sizeof row->operation, "%s", operation_name);
    row->ranks = communicator->processes > 0 ? communicator->processes : MPIX_MONITOR_NA;
    row->rank = source->rank;
    return row;
}

void rows_set_mean(MPIX_Monitor_row *row)
{
    row->mean_us = row->completed > 0 ? row->total_s * 1e6 / (double)row->completed : NAN;
}

static void set_total(MPIX_Monitor_row *row, double total_s)
{
    row->total_s = row->slowest_s = total_s;
    row->slowest_rank = row->rank;
}

static void add_counts(struct count *sum, const struct count *count)
{
    sum->calls += count->calls;
    sum->completed += count->completed;
    sum->timeouts += count->timeouts;
    sum->bytes += count->bytes;
}

static void set_counts(MPIX_Monitor_row *row, const struct count *count)
{
    row->calls = count->calls;
    row->completed = count->completed;
    row->timeouts = count->timeouts;
    row->bytes = count->bytes;
}

static bool is_flush(enum operation_kind kind)
{
    return kind == OPERATION_Win_flush || kind == OPERATION_Win_flush_all ||
           kind == OPERATION_Win_flush_local || kind == OPERATION_Win_flush_local_all;
}

static void add_operations(struct source *source, enum row_kind kind, enum operation_class class,
                           const struct communicator *communicator,
                           const struct communicator_counts *counts)
{
    for (int operation = 0; operation < OPERATIONS; operation++) {
        const struct count *const count = &counts->operation[operation];
        if ((count->calls == 0 && count->inside_ticks == 0) ||
            operation_traits[operation].class != class)
            continue;
        MPIX_Monitor_row *const row =
            add_row(source, kind, communicator, operation, operation_traits[operation].name);
        if (row == NULL)
            return;
        set_counts(row, count);
        row->callers = count->calls > 0;
        row->in_calls_s = (double)count->inside_ticks * source->tick_s;
        if (class != CLASS_CALLS)
            row->in_waits_s = (double)count->wait_ticks * source->tick_s;
        if (count->neighbours > 0)
            row->neighbours = count->neighbours;
        if (class == CLASS_CALLS) {
            row->completed = row->timeouts = row->bytes = MPIX_MONITOR_NA;
            if (is_flush((enum operation_kind)operation))
                row->joinable = count->idle;
            continue;
        }
        row->total_s = 0.0;
        if (count->completed == 0)
            continue;
        set_total(row, (double)count->total_ticks * source->tick_s);
        rows_set_mean(row);
        row->max_us = (double)count->max_ticks * source->tick_s * 1e6;
        row->max_rank = row->rank;
    }
}

static void add_group(struct source *source, int number, const char *name,
                      const struct communicator *communicator, struct span span,
                      const struct count *sum)
{
    MPIX_Monitor_row *const row = add_row(source, KIND_COMM, communicator, number, name);
    if (row == NULL)
        return;
    set_counts(row, sum);
    if (span.first != 0 && span.last >= span.first)
        set_total(row, (double)(span.last - span.first) * source->tick_s);
}

static void add_classes(struct source *source, const struct communicator *communicator,
                        const struct communicator_counts *counts, const struct count sums[])
{
    struct span all_span = {0};
    struct count all = {0};
    for (int i = 0; i < COMMUNICATION_CLASSES; i++) {
        const struct span span = counts->span[i];
        add_group(source, i, class_names[i], communicator, span, &sums[i]);
        if (span.first != 0 && (all_span.first == 0 || span.first < all_span.first))
            all_span.first = span.first;
        if (span.last > all_span.last)
            all_span.last = span.last;
        add_counts(&all, &sums[i]);
    }
    add_group(source, COMMUNICATION_CLASSES, "all", communicator, all_span, &all);
}

static void add_workload(struct source *source, const struct communicator *communicator,
                         const struct communicator_counts *counts)
{
    MPIX_Monitor_row *const row = add_row(source, KIND_WORKLOAD, communicator, 0, "messages");
    if (row == NULL)
        return;
    const struct messages *const small = &counts->messages[SMALL];
    const struct messages *const large = &counts->messages[LARGE];
    if (source->snapshot->asked.msgsize) {
        row->small = small->count;
        row->large = large->count;
        row->small_bytes = small->bytes;
        row->large_bytes = large->bytes;
        row->bytes = small->bytes + large->bytes;
    }
    const double seconds = source->rows->seconds;
    if (source->snapshot->asked.traffic && seconds > 0.0) {
        row->small_per_s = (double)small->count / seconds;
        row->large_per_s = (double)large->count / seconds;
    }
}

static void add_communicator(struct source *source, const struct communicator *communicator,
                             const struct communicator_counts *counts)
{
    const MPIX_Monitor *const asked = &source->snapshot->asked;
    struct count sums[OPERATION_CLASSES] = {{0}}; /* calls and bytes; times stay 0 */
    if (asked->calls) {
        add_operations(source, KIND_CALLS, CLASS_FILES, communicator, counts);
        add_operations(source, KIND_CALLS, CLASS_CALLS, communicator, counts);
    }
    for (int operation = 0; operation < OPERATIONS; operation++)
        add_counts(&sums[operation_traits[operation].class], &counts->operation[operation]);
    const bool sends = sums[CLASS_POINT_TO_POINT].calls > 0;
    if (!sends && sums[CLASS_COLLECTIVE].calls == 0)
        return;
    if (asked->pttopt)
        add_operations(source, KIND_PTTOPT, CLASS_POINT_TO_POINT, communicator, counts);
    if (asked->coll)
        add_operations(source, KIND_COLL, CLASS_COLLECTIVE, communicator, counts);
    if (asked->comm)
        add_classes(source, communicator, counts, sums);
    if (sends && (asked->msgsize || asked->traffic))
        add_workload(source, communicator, counts);
}

static void add_services(struct source *source)
{
    struct services *const services = malloc(sizeof *services);
    if (services == NULL) {
        source->rows->incomplete = true;
        return;
    }
    services_read(services);
    services_since(services, &source->snapshot->services);
    for (int i = 0; i < services->count; i++) {
        const struct service *const service = &services->service[i];
        /* The library's variables may differ between ranks, so their names tell them apart. */
        const int place = i < SERVICES_OF_SYSTEM ? i : SERVICES_OF_SYSTEM;
        MPIX_Monitor_row *const row =
            add_row(source, KIND_OTHER, &no_communicator, place, service->name);
        if (row == NULL)
            break;
        if (isnan(service->value))
            continue;
        if (service->is_time)
            set_total(row, service->value);
        else
            row->calls = llround(service->value);
    }
    free(services);
}

static void add_sizes(struct source *source)
{
    const struct size_table *const table = &source->snapshot->sizes;
    for (int i = 0; table->counts != NULL && i < 1 << SIZE_COUNTS_BITS; i++) {
        const struct size_amounts *const amounts = &table->counts[i].amounts;
        if (table->counts[i].key == 0)
            continue;
        const struct sized_kind *const of = &table->counts[i].of;
        MPIX_Monitor_row *const row =
            add_row(source, KIND_SIZES, &communicators[of->communicator],
                    of->kind * SIZE_CLASSES + of->size_class, operation_traits[of->kind].name);
        if (row == NULL)
            return;
        row->size_bytes = size_of_class(of->size_class);
        row->calls = row->completed = amounts->completed;
        row->bytes = amounts->bytes;
        row->in_calls_s = (double)amounts->inside_ticks * source->tick_s;
        row->in_waits_s = (double)amounts->wait_ticks * source->tick_s;
        row->computed_s = (double)amounts->computed_ticks * source->tick_s;
        row->computed_after_s = (double)amounts->after_ticks * source->tick_s;
        row->callers = amounts->completed > 0;
        row->joinable = amounts->joinable;
        set_total(row, (double)amounts->total_ticks * source->tick_s);
        rows_set_mean(row);
    }
}

static void add_site(struct source *source, int number)
{
    const struct site_count *const count = &source->snapshot->sites[number];
    const enum operation_kind kind = site_kind(number);
    const bool is_call = operation_traits[kind].class == CLASS_CALLS;
    MPIX_Monitor_row *const row =
        add_row(source, KIND_SITE, &no_communicator, (int)kind,
                number == OTHER_SITES ? "all" : operation_traits[kind].name);
    if (row == NULL)
        return;
    struct keyed_row *const keyed = &source->rows->rows[source->rows->count - 1];
    site_text(number, row->site);
    keyed->order = number;
    keyed->identity = hash(HASH_START, row->site, strlen(row->site));
    row->calls = count->calls;
    row->callers = count->calls > 0;
    row->in_calls_s = row->slowest_s = (double)count->inside_ticks * source->tick_s;
    row->slowest_rank = row->max_rank = row->rank;
    row->max_us = (double)count->max_ticks * source->tick_s * 1e6;
    if (is_call && number != OTHER_SITES)
        return;
    row->completed = count->completed;
    row->bytes = count->bytes;
    row->total_s = count->total_ticks * source->tick_s;
    row->in_waits_s = (double)count->wait_ticks * source->tick_s;
    rows_set_mean(row);
}

/* Adds the call sites, and the modules in which they are. */
static void add_sites(struct source *source)
{
    for (int number = 0; number < sites_used(); number++)
        if (source->snapshot->sites[number].calls > 0 ||
            source->snapshot->sites[number].inside_ticks > 0)
            add_site(source, number);
    source->rows->cases[MPIX_MONITOR_WARNING_SITES] = source->snapshot->sites[OTHER_SITES].calls;
    for (int module = 0; module < site_modules(); module++) {
        const char *const path = site_module_path(module);
        MPIX_Monitor_row *const row =
            add_row(source, KIND_MODULE, &no_communicator, 0, site_module_name(module));
        if (row == NULL)
            return;
        (void)snprintf(row->site, sizeof row->site, "%s", path);
        row->callers = 1;
    }
}

static void add_depths(struct source *source)
{
    static const char *const names[DEPTH_KINDS] = {
        [DEPTH_RECEIVES] = "open receives",         [DEPTH_SENDS] = "open sends",
        [DEPTH_REQUESTS] = "open requests",         [DEPTH_PUTS] = "open puts and gets",
        [DEPTH_UNEXPECTED] = "unexpected messages", [DEPTH_WINDOWS] = "windows",
        [DEPTH_COMMUNICATORS] = "communicators",    [DEPTH_DATATYPES] = "datatypes",
    };
    for (int kind = 0; kind < DEPTH_KINDS; kind++) {
        const struct depth_mark *const mark = &source->snapshot->depths[kind];
        if (mark->high < 0)
            continue;
        MPIX_Monitor_row *const row =
            add_row(source, KIND_DEPTH, &no_communicator, kind, names[kind]);
        if (row == NULL)
            return;
        row->high = mark->high;
        row->max_rank = row->rank;
        if (mark->site >= SITES_FIRST)
            site_text(mark->site, row->site);
    }
}

/* Adds the time inside MPI of all threads of this process. */
static void add_total(struct source *source)
{
    MPIX_Monitor_row *const row = add_row(source, KIND_TOTAL, &no_communicator, 0, "MPI");
    if (row == NULL)
        return;
    uint64_t ticks = 0;
    for (int i = 0; i <= NO_COMMUNICATOR; i++) {
        const struct communicator_counts *const counts = &source->snapshot->communicators[i];
        for (int operation = 0; counts->used && operation < OPERATIONS; operation++)
            ticks += counts->operation[operation].inside_ticks;
    }
    row->in_calls_s = row->slowest_s = (double)ticks * source->tick_s;
    row->slowest_rank = row->rank;
}

static void find_names(const struct snapshot *snapshot)
{
    for (int i = 1; i < COMMUNICATORS_MAX; i++)
        if (snapshot->communicators[i].used) {
            communicator_find_members(&communicators[i]);
            monitor_lock();
            communicators[i].is_ambiguous = is_ambiguous(&communicators[i]);
            monitor_unlock();
        }
}

bool rows_of_snapshot(const struct snapshot *snapshot, struct rows *rows)
{
    struct source source = {.snapshot = snapshot, .tick_s = ticks_ns() * 1e-9, .rows = rows};
    *rows = (struct rows){
        .seconds = (double)(snapshot->end_ticks - snapshot->start_ticks) * source.tick_s,
    };
    memcpy(rows->cases, snapshot->cases, sizeof rows->cases);
    rows->languages = __atomic_load_n(&languages_seen, __ATOMIC_RELAXED);
    if (!snapshot->asked.profile)
        return true;
    BC_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &source.rank));
    find_names(snapshot);
    for (int operation = 0; operation < OPERATIONS; operation++)
        rows->cases[MPIX_MONITOR_WARNING_UNPLACED] +=
            snapshot->communicators[OTHER_COMMUNICATORS].operation[operation].calls;
    for (int i = 0; i < COMMUNICATORS_MAX; i++)
        if (snapshot->communicators[i].used)
            add_communicator(&source, &communicators[i], &snapshot->communicators[i]);
    if (snapshot->communicators[NO_COMMUNICATOR].used)
        add_communicator(&source, &no_communicator, &snapshot->communicators[NO_COMMUNICATOR]);
    if (snapshot->asked.sizes)
        add_sizes(&source);
    if (snapshot->asked.other)
        add_services(&source);
    if (snapshot->sites != NULL)
        add_sites(&source);
    if (snapshot->asked.depth)
        add_depths(&source);
    if (snapshot->asked.calls)
        add_total(&source);
    if (!pairs_of_table(&snapshot->peers, source.rank, source.tick_s, &rows->pairs))
        rows->incomplete = true;
    if (rows->incomplete) {
        free(rows->rows);
        pairs_free(&rows->pairs);
        rows->rows = NULL;
        rows->count = 0;
        return false;
    }
    rows_sort(rows, rows_compare_in_report);
    return true;
}

void rows_free(struct rows *rows)
{
    free(rows->rows);
    pairs_free(&rows->pairs);
    *rows = (struct rows){0};
}

bool rows_append(struct rows *rows, const struct rows *more)
{
    if (more->count == 0)
        return true;
    if (!make_room(rows, (size_t)rows->count + (size_t)more->count))
        return false;
    memcpy(rows->rows + rows->count, more->rows, (size_t)more->count * sizeof *more->rows);
    rows->count += more->count;
    return true;
}
