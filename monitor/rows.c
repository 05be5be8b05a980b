#include "monitor/report.h"

#include "common/mpi/mpi_check.h"
#include "monitor/columns.h"

#include <math.h>
#include <stdlib.h>

static const char *const kind_names[] = {
    [KIND_PTTOPT] = "pttopt",     [KIND_COLL] = "coll",   [KIND_CALLS] = "calls",
    [KIND_COMM] = "comm",         [KIND_OTHER] = "other", [KIND_TOTAL] = "total",
    [KIND_WORKLOAD] = "workload", [KIND_SIZES] = "sizes",
};

/* What stands where a row has no communicator. */
static const struct communicator no_communicator = {
    .identity = NO_COMMUNICATOR, .name = "NA", .members = "NA", .order = 3};

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
    return order != 0 ? order : strcmp(a->row.operation, b->row.operation);
}

static int in_report(const void *first, const void *second)
{
    const struct keyed_row *const a = first, *const b = second;
    int order = COMPARE(a->kind, b->kind);
    if (order == 0)
        order = COMPARE(a->order, b->order);
    if (order == 0)
        order = strcmp(a->row.comm, b->row.comm);
    if (order == 0)
        order = strcmp(a->row.members, b->row.members);
    return order != 0 ? order : rows_compare_identities(a, b);
}

void rows_sort_for_report(struct rows *rows)
{
    if (rows->count > 0)
        qsort(rows->rows, (size_t)rows->count, sizeof *rows->rows, in_report);
}

/* ---- the rows of this process ---------------------------------------------------------------- */

/* What rows are made from, and where they go. */
struct source {
    const struct snapshot *snapshot;
    double tick_s;
    int rank;
    struct rows *rows;
};

struct keyed_row *rows_add(struct rows *rows)
{
    static struct keyed_row nowhere; /* is never read */
    if (rows->count == rows->capacity) {
        const int capacity = rows->capacity > 0 ? 2 * rows->capacity : 32;
        struct keyed_row *const larger = realloc(rows->rows, (size_t)capacity * sizeof *larger);
        if (larger == NULL) {
            rows->incomplete = true;
            return &nowhere;
        }
        rows->rows = larger;
        rows->capacity = capacity;
    }
    return &rows->rows[rows->count++];
}

void rows_free(struct rows *rows)
{
    free(rows->rows);
    *rows = (struct rows){0};
}

/* Whether a reader may take the name that the program gave a communicator for one of MPI's, or for
   what stands where there is none. */
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

/* Writes what a report calls a communicator: where its name isn't clear, also what made it. */
static void write_name(char *text, size_t size, const struct communicator *communicator)
{
    const int made = (int)strlen(communicator->made);
    const int room = (int)size - made - (int)sizeof " ()";
    if (room > 0 && is_ambiguous(communicator))
        (void)snprintf(text, size, "%.*s (%.*s)", room, communicator->name, made,
                       communicator->made);
    else
        (void)snprintf(text, size, "%s", communicator->name);
}

/* Nothing exists in the row yet. */
static void set_na(MPIX_Monitor_row *row)
{
    for (size_t i = 0; i < monitor_report_table.count; i++) {
        const struct bc_column *const column = &monitor_report_table.columns[i];
        void *const cell = (char *)row + column->at;
        if (column->cell == BC_CELL_INT)
            *(int *)cell = MPIX_MONITOR_NA;
        else if (column->cell == BC_CELL_INTEGER)
            *(int64_t *)cell = MPIX_MONITOR_NA;
        else if (column->cell == BC_CELL_REAL)
            *(double *)cell = NAN;
    }
}

/* Adds a row in which nothing exists yet but its keys. */
static MPIX_Monitor_row *add_row(struct source *source, enum row_kind kind,
                                 const struct communicator *communicator, int operation,
                                 const char *operation_name)
{
    struct keyed_row *const keyed = rows_add(source->rows);
    /* Also the padding: rows are sent as bytes. */
    memset(keyed, 0, sizeof *keyed);
    keyed->kind = kind;
    keyed->operation = operation;
    keyed->order = communicator->order;
    keyed->identity = communicator->identity;
    MPIX_Monitor_row *const row = &keyed->row;
    set_na(row);
    (void)snprintf(row->kind, sizeof row->kind, "%s", kind_names[kind]);
    monitor_lock();
    write_name(row->comm, sizeof row->comm, communicator);
    monitor_unlock();
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

/* Sets this rank's time. */
static void set_total(MPIX_Monitor_row *row, double total_s)
{
    row->total_s = row->slowest_s = total_s;
    row->slowest_rank = row->rank;
}

/* Adds counts, without times. */
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

static void add_operations(struct source *source, const struct communicator *communicator,
                           const struct communicator_counts *counts)
{
    const MPIX_Monitor *const asked = &source->snapshot->asked;
    const int is_asked[OPERATION_CLASSES] = {asked->pttopt, asked->coll, asked->calls};
    static const enum row_kind kinds[OPERATION_CLASSES] = {KIND_PTTOPT, KIND_COLL, KIND_CALLS};
    for (int operation = 0; operation < OPERATIONS; operation++) {
        const struct count *const count = &counts->operation[operation];
        const enum operation_class class = operation_traits[operation].class;
        if ((count->calls == 0 && count->inside_ticks == 0) || !is_asked[class])
            continue;
        MPIX_Monitor_row *const row = add_row(source, kinds[class], communicator, operation,
                                              operation_traits[operation].name);
        set_counts(row, count);
        row->callers = count->calls > 0;
        row->in_calls_s = (double)count->inside_ticks * source->tick_s;
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

/* Adds what a communicator's operations of each class, and of all, did together. */
static void add_classes(struct source *source, const struct communicator *communicator,
                        const struct communicator_counts *counts, const struct count sums[])
{
    static const char *const names[] = {"point-to-point", "collective", "all"};
    enum { ALL = COMMUNICATION_CLASSES };
    struct span span[] = {counts->span[0], counts->span[1], {0}};
    struct count sum[] = {sums[0], sums[1], sums[0]};
    add_counts(&sum[ALL], &sums[1]);
    for (int i = 0; i <= ALL; i++) {
        MPIX_Monitor_row *const row = add_row(source, KIND_COMM, communicator, i, names[i]);
        set_counts(row, &sum[i]);
        if (span[i].first != 0 && span[i].last >= span[i].first)
            set_total(row, (double)(span[i].last - span[i].first) * source->tick_s);
        if (span[i].first != 0 && (span[ALL].first == 0 || span[i].first < span[ALL].first))
            span[ALL].first = span[i].first;
        if (span[i].last > span[ALL].last)
            span[ALL].last = span[i].last;
    }
}

static void add_workload(struct source *source, const struct communicator *communicator,
                         const struct communicator_counts *counts)
{
    MPIX_Monitor_row *const row = add_row(source, KIND_WORKLOAD, communicator, 0, "messages");
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
    struct count sums[OPERATION_CLASSES] = {{0}}; /* without times */
    add_operations(source, communicator, counts);
    for (int operation = 0; operation < OPERATIONS; operation++)
        add_counts(&sums[operation_traits[operation].class], &counts->operation[operation]);
    const bool sends = sums[CLASS_POINT_TO_POINT].calls > 0;
    if (asked->comm && (sends || sums[CLASS_COLLECTIVE].calls > 0))
        add_classes(source, communicator, counts, sums);
    if (sends && (asked->msgsize || asked->traffic))
        add_workload(source, communicator, counts);
}

/* Adds what the services have counted since the snapshot's start. */
static void add_services(struct source *source)
{
    struct services services;
    services_read(&services);
    services_since(&services, &source->snapshot->services);
    for (int i = 0; i < services.count; i++) {
        const struct service *const service = &services.service[i];
        /* The library's variables may differ between ranks, so their names tell them apart. */
        const int place = i < SERVICES_OF_SYSTEM ? i : SERVICES_OF_SYSTEM;
        MPIX_Monitor_row *const row =
            add_row(source, KIND_OTHER, &no_communicator, place, service->name);
        if (isnan(service->value))
            continue;
        if (service->is_time)
            set_total(row, service->value);
        else
            row->calls = llround(service->value);
    }
}

/* Operations by their size: a row for each power of two. */
static void add_sizes(struct source *source)
{
    for (int i = 0; i < 1 << SIZE_COUNTS_BITS; i++) {
        const struct size_count *const count = &source->snapshot->sizes[i];
        const struct size_amounts *const amounts = &count->amounts;
        const struct sized_kind *const of = &count->of;
        if (count->key == 0)
            continue;
        MPIX_Monitor_row *const row =
            add_row(source, KIND_SIZES, &communicators[of->communicator],
                    of->kind * SIZE_CLASSES + of->size_class, operation_traits[of->kind].name);
        row->size_bytes = size_of_class(of->size_class);
        row->calls = row->completed = amounts->completed;
        row->bytes = amounts->bytes;
        row->in_calls_s = (double)amounts->inside_ticks * source->tick_s;
        row->computed_s = (double)amounts->computed_ticks * source->tick_s;
        row->computed_after_s = (double)amounts->after_ticks * source->tick_s;
        row->callers = amounts->completed > 0;
        row->joinable = amounts->joinable;
        set_total(row, (double)amounts->total_ticks * source->tick_s);
        rows_set_mean(row);
    }
}

/* The time inside MPI of this process, all its threads together. */
static void add_total(struct source *source)
{
    MPIX_Monitor_row *const row = add_row(source, KIND_TOTAL, &no_communicator, 0, "MPI");
    uint64_t ticks = 0;
    for (int i = 0; i <= NO_COMMUNICATOR; i++) {
        const struct communicator_counts *const counts = &source->snapshot->communicators[i];
        for (int operation = 0; counts->used && operation < OPERATIONS; operation++)
            ticks += counts->operation[operation].inside_ticks;
    }
    row->in_calls_s = row->slowest_s = (double)ticks * source->tick_s;
    row->slowest_rank = row->rank;
}

bool rows_of_snapshot(const struct snapshot *snapshot, struct rows *rows)
{
    struct source source = {.snapshot = snapshot, .tick_s = ticks_ns() * 1e-9, .rows = rows};
    *rows = (struct rows){
        .seconds = (double)(snapshot->end_ticks - snapshot->start_ticks) * source.tick_s,
    };
    memcpy(rows->cases, snapshot->cases, sizeof rows->cases);
    if (!snapshot->asked.profile)
        return true;
    BC_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &source.rank));
    for (int operation = 0; operation < OPERATIONS; operation++)
        rows->cases[MPIX_MONITOR_WARNING_UNPLACED] +=
            snapshot->communicators[OTHER_COMMUNICATORS].operation[operation].calls;
    for (int i = 0; i < COMMUNICATORS_MAX; i++)
        if (snapshot->communicators[i].used) {
            communicator_find_members(i);
            add_communicator(&source, &communicators[i], &snapshot->communicators[i]);
        }
    if (snapshot->communicators[NO_COMMUNICATOR].used)
        add_communicator(&source, &no_communicator, &snapshot->communicators[NO_COMMUNICATOR]);
    if (snapshot->asked.sizes)
        add_sizes(&source);
    if (snapshot->asked.other)
        add_services(&source);
    if (snapshot->asked.calls)
        add_total(&source);
    rows_sort_for_report(rows);
    if (rows->incomplete) {
        free(rows->rows);
        rows->rows = NULL;
        rows->count = rows->capacity = 0;
    }
    return !rows->incomplete;
}
