#include "monitor/rows.h"

#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>

enum kind {
    KIND_PTTOPT,
    KIND_COLL,
    KIND_CALLS,
    KIND_SIZES,
    KIND_COMM,
    KIND_WORKLOAD,
    KIND_OTHER,
    KIND_TOTAL,
};

static const char *const kind_names[] = {
    [KIND_PTTOPT] = "pttopt",     [KIND_COLL] = "coll",   [KIND_CALLS] = "calls",
    [KIND_COMM] = "comm",         [KIND_OTHER] = "other", [KIND_TOTAL] = "total",
    [KIND_WORKLOAD] = "workload", [KIND_SIZES] = "sizes",
};
static const char *const class_names[COMMUNICATION_CLASSES] = {"point-to-point", "collective"};

/* What stands where a row has no communicator. */
static const struct communicator no_communicator = {.name = "NA", .members = "NA", .order = 3};

/* ---- the order of rows ----------------------------------------------------------------------- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Rows that compare equal are merged. Names and members don't count: processes may name a
   communicator differently. */
static int compare_identities(const void *first, const void *second)
{
    const struct keyed_row *const a = first, *const b = second;
    int order = COMPARE(a->kind, b->kind);
    if (order == 0)
        order = COMPARE(a->identity, b->identity);
    if (order == 0)
        order = COMPARE(a->operation, b->operation);
    return order != 0 ? order : strcmp(a->row.operation, b->row.operation);
}

static int compare_in_report(const void *first, const void *second)
{
    const struct keyed_row *const a = first, *const b = second;
    int order = COMPARE(a->kind, b->kind);
    if (order == 0)
        order = COMPARE(a->order, b->order);
    if (order == 0)
        order = strcmp(a->row.comm, b->row.comm);
    if (order == 0)
        order = strcmp(a->row.members, b->row.members);
    return order != 0 ? order : compare_identities(a, b);
}

static void sort_rows(struct rows *rows, int (*compare)(const void *, const void *))
{
    if (rows->count > 0)
        qsort(rows->rows, (size_t)rows->count, sizeof *rows->rows, compare);
}

/* ---- the rows of this process ---------------------------------------------------------------- */

/* What rows are made from, and where they go. */
struct source {
    const struct snapshot *snapshot;
    double tick_s;
    int rank;
    struct rows *rows;
    int capacity;
};

/* Makes room for this many rows. False without memory. */
static bool make_room(struct rows *rows, size_t count)
{
    struct keyed_row *const larger = realloc(rows->rows, count * sizeof *larger);
    if (larger != NULL)
        rows->rows = larger;
    return larger != NULL;
}

/* Adds a row in which nothing exists yet but its keys. NULL without memory. */
static MPIX_Monitor_row *add_row(struct source *source, enum kind kind,
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
    keyed->kind = (int)kind;
    keyed->operation = operation;
    keyed->order = communicator->order;
    keyed->identity = communicator->identity;
    MPIX_Monitor_row *const row = &keyed->row;
    (void)snprintf(row->kind, sizeof row->kind, "%s", kind_names[kind]);
    (void)snprintf(row->comm, sizeof row->comm, "%s", communicator->name);
    (void)snprintf(row->members, sizeof row->members, "%s", communicator->members);
    (void)snprintf(row->operation, sizeof row->operation, "%s", operation_name);
    row->ranks = communicator->processes > 0 ? communicator->processes : MPIX_MONITOR_NA;
    row->rank = source->rank;
    row->calls = row->completed = row->timeouts = MPIX_MONITOR_NA;
    row->bytes = row->small = row->large = row->small_bytes = row->large_bytes = MPIX_MONITOR_NA;
    row->max_rank = row->slowest_rank = MPIX_MONITOR_NA;
    row->total_s = row->mean_us = row->max_us = row->slowest_s = row->small_per_s =
        row->large_per_s = row->in_calls_s = row->computed_s = row->waited_s = row->waited_lo_s =
            row->waited_hi_s = NAN;
    row->last_calls = MPIX_MONITOR_NA;
    row->last_rank = MPIX_MONITOR_NA;
    row->size_bytes = MPIX_MONITOR_NA;
    return row;
}

static void set_mean(MPIX_Monitor_row *row)
{
    row->mean_us = row->completed > 0 ? row->total_s * 1e6 / (double)row->completed : NAN;
}

/* Sets this rank's time. */
static void set_total(MPIX_Monitor_row *row, double total_s)
{
    row->total_s = row->slowest_s = total_s;
    row->slowest_rank = row->rank;
}

static void set_counts(MPIX_Monitor_row *row, const struct count *count)
{
    row->calls = count->calls;
    row->completed = count->completed;
    row->timeouts = count->timeouts;
    row->bytes = count->bytes;
}

static void add_operations(struct source *source, enum kind kind, enum operation_class class,
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
        row->in_calls_s = (double)count->inside_ticks * source->tick_s;
        if (class == CLASS_CALLS) {
            row->completed = row->timeouts = row->bytes = MPIX_MONITOR_NA;
            continue;
        }
        row->total_s = 0.0;
        if (count->completed == 0)
            continue;
        set_total(row, (double)count->total_ticks * source->tick_s);
        set_mean(row);
        row->max_us = (double)count->max_ticks * source->tick_s * 1e6;
        row->max_rank = row->rank;
    }
}

static void add_class(struct source *source, enum operation_class class,
                      const struct communicator *communicator,
                      const struct communicator_counts *counts, const struct count *sum)
{
    MPIX_Monitor_row *const row =
        add_row(source, KIND_COMM, communicator, (int)class, class_names[class]);
    if (row == NULL)
        return;
    set_counts(row, sum);
    const struct span *const span = &counts->span[class];
    if (span->first != 0 && span->last >= span->first)
        set_total(row, (double)(span->last - span->first) * source->tick_s);
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
    struct count sums[OPERATION_CLASSES] = {{0}}; /* without times */
    if (asked->calls)
        add_operations(source, KIND_CALLS, CLASS_CALLS, communicator, counts);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        const struct count *const count = &counts->operation[operation];
        struct count *const sum = &sums[operation_traits[operation].class];
        sum->calls += count->calls;
        sum->completed += count->completed;
        sum->timeouts += count->timeouts;
        sum->bytes += count->bytes;
    }
    const bool sends = sums[CLASS_POINT_TO_POINT].calls > 0;
    if (!sends && sums[CLASS_COLLECTIVE].calls == 0)
        return;
    if (asked->pttopt)
        add_operations(source, KIND_PTTOPT, CLASS_POINT_TO_POINT, communicator, counts);
    if (asked->coll)
        add_operations(source, KIND_COLL, CLASS_COLLECTIVE, communicator, counts);
    if (asked->comm)
        for (int i = 0; i < COMMUNICATION_CLASSES; i++)
            add_class(source, (enum operation_class)i, communicator, counts, &sums[i]);
    if (sends && (asked->msgsize || asked->traffic))
        add_workload(source, communicator, counts);
}

/* Adds what the services have counted since the snapshot's start. */
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

/* Operations by their size: a row for each power of two. */
static void add_sizes(struct source *source)
{
    const struct size_table *const table = &source->snapshot->sizes;
    for (int i = 0; table->counts != NULL && i < 1 << SIZE_COUNTS_BITS; i++) {
        const struct size_amounts *const amounts = &table->counts[i].amounts;
        if (table->counts[i].key == 0)
            continue;
        const struct size_key key = size_key_of(&table->counts[i]);
        MPIX_Monitor_row *const row =
            add_row(source, KIND_SIZES, &communicators[key.communicator],
                    key.kind * SIZE_CLASSES + key.size_class, operation_traits[key.kind].name);
        if (row == NULL)
            return;
        row->size_bytes = size_of_class(key.size_class);
        row->calls = row->completed = amounts->completed;
        row->bytes = amounts->bytes;
        row->in_calls_s = (double)amounts->inside_ticks * source->tick_s;
        row->computed_s = (double)amounts->computed_ticks * source->tick_s;
        set_total(row, (double)amounts->total_ticks * source->tick_s);
        set_mean(row);
    }
}

/* The time inside MPI of this process. */
static void add_total(struct source *source)
{
    MPIX_Monitor_row *const row = add_row(source, KIND_TOTAL, &no_communicator, 0, "MPI");
    if (row == NULL)
        return;
    row->in_calls_s = row->slowest_s = (double)source->snapshot->inside_ticks * source->tick_s;
    row->slowest_rank = row->rank;
}

bool rows_of_snapshot(const struct snapshot *snapshot, struct rows *rows)
{
    struct source source = {.snapshot = snapshot, .tick_s = ticks_ns() * 1e-9, .rows = rows};
    *rows = (struct rows){
        .seconds = (double)(snapshot->end_ticks - snapshot->start_ticks) * source.tick_s,
        .untracked = snapshot->untracked,
        .untold = snapshot->untold,
        .unknown = snapshot->unknown,
        .unsized = snapshot->sizes.lost,
        .unkept = snapshot->unkept,
    };
    if (!snapshot->asked.profile)
        return true;
    BC_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &source.rank));
    for (int operation = 0; operation < OPERATIONS; operation++)
        rows->unplaced += snapshot->communicators[OTHER_COMMUNICATORS].operation[operation].calls;
    for (int i = 0; i < COMMUNICATORS_MAX; i++)
        if (snapshot->communicators[i].used)
            add_communicator(&source, &communicators[i], &snapshot->communicators[i]);
    if (snapshot->communicators[NO_COMMUNICATOR].used)
        add_communicator(&source, &no_communicator, &snapshot->communicators[NO_COMMUNICATOR]);
    if (snapshot->asked.sizes)
        add_sizes(&source);
    if (snapshot->asked.other)
        add_services(&source);
    if (snapshot->asked.calls)
        add_total(&source);
    if (rows->incomplete) {
        free(rows->rows);
        rows->rows = NULL;
        rows->count = 0;
        return false;
    }
    sort_rows(rows, compare_in_report);
    return true;
}

void rows_free(struct rows *rows)
{
    free(rows->rows);
    *rows = (struct rows){0};
}

/* ---- merging rows ---------------------------------------------------------------------------- */

/* A sum exists if one of its terms does. */
static int64_t sum_of(int64_t a, int64_t b)
{
    return a == MPIX_MONITOR_NA ? b : b == MPIX_MONITOR_NA ? a : a + b;
}

static double real_sum_of(double a, double b) { return isnan(a) ? b : isnan(b) ? a : a + b; }

/* Sets `a` and its rank to the maximum of both; of equal values, the one of the lower rank. */
static void keep_greatest(double *a, int *a_rank, double b, int b_rank)
{
    if (isnan(b) || (!isnan(*a) && (b < *a || (!(b > *a) && b_rank > *a_rank))))
        return;
    *a = b;
    *a_rank = b_rank;
}

/* Adds row `b` to `a`, of the same operation on the same communicator. */
static void add_to_row(struct keyed_row *keyed, const struct keyed_row *keyed_addition)
{
    MPIX_Monitor_row *const a = &keyed->row;
    const MPIX_Monitor_row *const b = &keyed_addition->row;
    a->calls = sum_of(a->calls, b->calls);
    a->completed = sum_of(a->completed, b->completed);
    a->timeouts = sum_of(a->timeouts, b->timeouts);
    a->bytes = sum_of(a->bytes, b->bytes);
    a->small = sum_of(a->small, b->small);
    a->large = sum_of(a->large, b->large);
    a->small_bytes = sum_of(a->small_bytes, b->small_bytes);
    a->large_bytes = sum_of(a->large_bytes, b->large_bytes);
    a->small_per_s = real_sum_of(a->small_per_s, b->small_per_s);
    a->large_per_s = real_sum_of(a->large_per_s, b->large_per_s);
    a->in_calls_s = real_sum_of(a->in_calls_s, b->in_calls_s);
    a->computed_s = real_sum_of(a->computed_s, b->computed_s);
    a->waited_s = real_sum_of(a->waited_s, b->waited_s);
    a->waited_lo_s = real_sum_of(a->waited_lo_s, b->waited_lo_s);
    a->waited_hi_s = real_sum_of(a->waited_hi_s, b->waited_hi_s);
    if (b->last_calls > a->last_calls ||
        (b->last_calls == a->last_calls && b->last_rank < a->last_rank)) {
        a->last_calls = b->last_calls;
        a->last_rank = b->last_rank;
    }
    keep_greatest(&a->max_us, &a->max_rank, b->max_us, b->max_rank);
    keep_greatest(&a->slowest_s, &a->slowest_rank, b->slowest_s, b->slowest_rank);
    if (keyed->kind == KIND_COMM) {
        a->total_s = a->slowest_s;
    } else {
        a->total_s = real_sum_of(a->total_s, b->total_s);
        if (keyed->kind != KIND_OTHER)
            set_mean(a);
    }
    if (strcmp(a->members, b->members) != 0)
        (void)snprintf(a->members, sizeof a->members, "NA");
}

/* Merges `more` into `rows`, both sorted by identity. False without memory. */
static bool merge_rows(struct rows *rows, const struct rows *more)
{
    struct keyed_row *const merged =
        malloc(((size_t)rows->count + (size_t)more->count + 1) * sizeof *merged);
    if (merged == NULL)
        return false;
    int count = 0;
    for (int i = 0, j = 0; i < rows->count || j < more->count;) {
        const int order = i == rows->count   ? 1
                          : j == more->count ? -1
                                             : compare_identities(&rows->rows[i], &more->rows[j]);
        merged[count] = order <= 0 ? rows->rows[i++] : more->rows[j++];
        if (order == 0)
            add_to_row(&merged[count], &more->rows[j++]);
        count++;
    }
    free(rows->rows);
    rows->rows = merged;
    rows->count = count;
    return true;
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

/* ---- late processes ---------------------------------------------------------------------------
 */

/* How many standard errors the interval of a waiting time reaches. */
#define ERRORS 2.0

/* The same on all ranks of the communicator. INT64_MAX if there is nobody to compare with. */
static int64_t key_of(const struct late_series *series)
{
    const struct communicator *const on = &communicators[series->communicator];
    if (on->processes < 2 || on->is_inter || series->communicator == OTHER_COMMUNICATORS)
        return INT64_MAX;
    const uint64_t key =
        (on->identity ^ (uint64_t)series->kind) * UINT64_C(0x9e3779b97f4a7c15) + on->identity;
    return (int64_t)(key >> 2);
}

/* The series with the smallest key above `key`. NULL: there is none. */
static const struct late_series *series_after(const struct late *late, int64_t key)
{
    const struct late_series *next = NULL;
    for (int i = 0; late != NULL && i < late->count; i++) {
        const struct late_series *const series = &late->series[i];
        const int64_t own = key_of(series);
        if (own != INT64_MAX && own > key && (next == NULL || own < key_of(next)))
            next = series;
    }
    return next;
}

static void set_waited(struct rows *rows, const struct late_series *series,
                       const struct late_waiting *waiting, int rank)
{
    const uint64_t identity = communicators[series->communicator].identity;
    const double calls_s = (double)waiting->calls * ticks_ns() * 1e-9;
    const double error_ticks = ERRORS * waiting->error_ticks + waiting->skew_ticks;
    for (int i = 0; i < rows->count; i++) {
        MPIX_Monitor_row *const row = &rows->rows[i].row;
        if (rows->rows[i].kind != KIND_COLL || rows->rows[i].identity != identity ||
            rows->rows[i].operation != series->kind)
            continue;
        row->waited_s = waiting->mean_ticks * calls_s;
        row->waited_lo_s = fmax(0.0, waiting->mean_ticks - error_ticks) * calls_s;
        row->waited_hi_s = (waiting->mean_ticks + error_ticks) * calls_s;
        row->last_calls = waiting->last;
        row->last_rank = rank;
    }
}

void rows_find_late(struct rows *rows, const struct snapshot *snapshot, MPI_Comm comm)
{
    int rank;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    for (int64_t key = -1;;) {
        const struct late_series *const own = series_after(snapshot->late, key);
        const int64_t own_key = own != NULL ? key_of(own) : INT64_MAX;
        struct late_waiting waiting;
        key = late_next_key(own_key, comm);
        if (key == INT64_MAX)
            return;
        const struct late_series *const series = own_key == key ? own : NULL;
        if (late_compare(series, comm, &waiting) && series != NULL &&
            waiting.ranks == communicators[series->communicator].processes)
            set_waited(rows, series, &waiting, rank);
    }
}

/* ---- between ranks --------------------------------------------------------------------------- */

/* The sender first sends its struct rows, whose pointer means nothing to the receiver. The receiver
   answers whether it has room. If so, and if there are rows, they follow. */
enum tag { TAG_HEAD, TAG_ROOM, TAG_ROWS };

/* Sends the rows themselves, or receives them. */
static void move_rows(const struct rows *rows, bool sends, int partner, MPI_Comm comm)
{
    if (rows->count == 0)
        return;
    /* The count of the message is the number of rows, which fits an int. */
    MPI_Datatype type;
    BC_MPI(PMPI_Type_contiguous(sizeof *rows->rows, MPI_BYTE, &type));
    BC_MPI(PMPI_Type_commit(&type));
    if (sends)
        BC_MPI(PMPI_Send(rows->rows, rows->count, type, partner, TAG_ROWS, comm));
    else
        BC_MPI(
            PMPI_Recv(rows->rows, rows->count, type, partner, TAG_ROWS, comm, MPI_STATUS_IGNORE));
    BC_MPI(PMPI_Type_free(&type));
}

static void send_rows(const struct rows *rows, int to, MPI_Comm comm)
{
    BC_MPI(PMPI_Send(rows, sizeof *rows, MPI_BYTE, to, TAG_HEAD, comm));
    int has_room;
    BC_MPI(PMPI_Recv(&has_room, 1, MPI_INT, to, TAG_ROOM, comm, MPI_STATUS_IGNORE));
    if (has_room)
        move_rows(rows, true, to, comm);
}

/* Rows that could not be received are `incomplete`. */
static void receive_rows(struct rows *rows, int from, MPI_Comm comm)
{
    BC_MPI(PMPI_Recv(rows, sizeof *rows, MPI_BYTE, from, TAG_HEAD, comm, MPI_STATUS_IGNORE));
    rows->rows = rows->count > 0 ? malloc((size_t)rows->count * sizeof *rows->rows) : NULL;
    const int has_room = rows->count == 0 || rows->rows != NULL;
    BC_MPI(PMPI_Send(&has_room, 1, MPI_INT, from, TAG_ROOM, comm));
    if (!has_room) {
        rows->incomplete = true;
        rows->count = 0;
    }
    move_rows(rows, false, from, comm);
}

static void add_rows_of(int from, struct rows *sum, MPI_Comm comm)
{
    struct rows more;
    receive_rows(&more, from, comm);
    sum->seconds = fmax(sum->seconds, more.seconds);
    sum->untracked += more.untracked;
    sum->untold += more.untold;
    sum->unknown += more.unknown;
    sum->unplaced += more.unplaced;
    sum->unsized += more.unsized;
    sum->unkept += more.unkept;
    sum->incomplete = sum->incomplete || more.incomplete || !merge_rows(sum, &more);
    rows_free(&more);
}

static void scale_frequencies(struct rows *rows, double factor)
{
    for (int i = 0; i < rows->count; i++) {
        rows->rows[i].row.small_per_s *= factor;
        rows->rows[i].row.large_per_s *= factor;
    }
}

/* Appends this rank's total, which is also part of the total of all, as a row of its own. False
   without memory. */
static bool keep_own_total(struct rows *sum, int rank)
{
    for (int i = 0; i < sum->count; i++) {
        if (sum->rows[i].kind != KIND_TOTAL)
            continue;
        struct keyed_row own = sum->rows[i];
        own.operation = 1 + rank;
        own.row.rank = rank;
        return rows_append(sum, &(struct rows){.rows = &own, .count = 1});
    }
    return true;
}

bool rows_gather(struct rows *rows, bool totals, MPI_Comm comm)
{
    int rank, ranks;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    BC_MPI(PMPI_Comm_size(comm, &ranks));
    struct rows sum = *rows;
    sum.rows = NULL;
    sum.count = 0;
    sum.incomplete = !rows_append(&sum, rows) || rows->incomplete;
    for (int i = 0; i < sum.count; i++)
        sum.rows[i].row.rank = MPIX_MONITOR_NA;
    if (totals)
        sum.incomplete = !keep_own_total(&sum, rank) || sum.incomplete;
    sort_rows(&sum, compare_identities);
    /* Frequencies become counts, to be summed: those of all ranks are over the longest snapshot. */
    scale_frequencies(&sum, rows->seconds);
    /* A binomial tree: in each step the ranks with the bit set send to the rank without it, and are
       done. */
    for (int bit = 1; bit < ranks; bit <<= 1) {
        if (rank & bit) {
            send_rows(&sum, rank - bit, comm);
            break;
        }
        if (rank + bit < ranks)
            add_rows_of(rank + bit, &sum, comm);
    }
    if (rank != 0 || sum.incomplete) {
        rows->incomplete = rows->incomplete || (rank == 0 && sum.incomplete);
        rows_free(&sum);
        return rank != 0;
    }
    sort_rows(&sum, compare_in_report);
    scale_frequencies(&sum, 1.0 / sum.seconds);
    rows_free(rows);
    *rows = sum;
    return true;
}

bool rows_fetch(struct rows *rows, int from, MPI_Comm comm)
{
    int rank;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    if (rank != 0) {
        send_rows(rows, 0, comm);
        return true;
    }
    receive_rows(rows, from, comm);
    return !rows->incomplete;
}
