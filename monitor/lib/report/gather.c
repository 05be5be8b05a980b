/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/gather.h"

#include "common/mpi/mpi_check.h"
#include "monitor/lib/report/columns.h"
#include "monitor/lib/report/efficiency.h"

#include <math.h>
#include <stdlib.h>

/* Returns the value of a numeric cell; NAN for NA. */
static double value_of(enum bc_cell kind, const void *cell)
{
    if (kind == BC_CELL_REAL)
        return *(const double *)cell;
    const int64_t number = kind == BC_CELL_INT ? *(const int *)cell : *(const int64_t *)cell;
    return number == MPIX_MONITOR_NA ? NAN : (double)number;
}

static void merge_column(const struct bc_column *column, enum monitor_merge merge,
                         MPIX_Monitor_row *a, const MPIX_Monitor_row *b)
{
    void *const cell = (char *)a + column->at;
    const void *const more = (const char *)b + column->at;
    const double now = value_of(column->cell, cell), other = value_of(column->cell, more);
    bool takes = isnan(now) || (merge == LEAST ? other < now : other > now);
    if (isnan(other))
        return;
    if (merge == GREATEST_OF_RANK) {
        int *const rank = (void *)((char *)a + column[1].at);
        const int other_rank = *(const int *)(const void *)((const char *)b + column[1].at);
        takes = takes || (!(other < now) && other_rank < *rank);
        *rank = takes ? other_rank : *rank;
    }
    if (isnan(now) || (takes && merge != SUMMED))
        memcpy(cell, more, sizeof(int64_t));
    else if (merge == SUMMED && column->cell == BC_CELL_REAL)
        *(double *)cell += other;
    else if (merge == SUMMED)
        *(int64_t *)cell += *(const int64_t *)more;
}

static void add_to_row(struct keyed_row *keyed, const MPIX_Monitor_row *b)
{
    MPIX_Monitor_row *const a = &keyed->row;
    if (keyed->kind == KIND_DEPTH) {
        if (b->high > a->high || (b->high == a->high && b->max_rank < a->max_rank))
            *a = *b;
        return;
    }
    for (size_t i = 0; i < monitor_report_table.count; i++)
        if (monitor_report_merges[i] != KEPT)
            merge_column(&monitor_report_table.columns[i], monitor_report_merges[i], a, b);
    if (keyed->kind == KIND_COMM)
        a->total_s = a->slowest_s;
    else if (keyed->kind != KIND_OTHER)
        rows_set_mean(a);
    if (strcmp(a->members, b->members) != 0)
        (void)snprintf(a->members, sizeof a->members, "NA");
}

/* Merges `more` into `rows`, both sorted by identity. Returns false if memory runs out. */
static bool merge_rows(struct rows *rows, const struct rows *more)
{
    struct keyed_row *const merged =
        malloc(((size_t)rows->count + (size_t)more->count + 1) * sizeof *merged);
    if (merged == NULL)
        return false;
    int count = 0;
    for (int i = 0, j = 0; i < rows->count || j < more->count;) {
        const int order = i == rows->count ? 1
                          : j == more->count
                              ? -1
                              : rows_compare_identities(&rows->rows[i], &more->rows[j]);
        merged[count] = order <= 0 ? rows->rows[i++] : more->rows[j++];
        if (order == 0)
            add_to_row(&merged[count], &more->rows[j++].row);
        count++;
    }
    free(rows->rows);
    rows->rows = merged;
    rows->count = count;
    return true;
}

/* The sender first sends its struct rows, whose pointers mean nothing to the receiver. The receiver
   answers whether it has room. If so, the rows and pairs follow, if there are any. */
enum tag { TAG_HEAD, TAG_ROOM, TAG_ROWS, TAG_PAIRS, TAG_TOTAL };

/* Sends or receives `count` elements of `size` bytes. */
static void move(void *elements, int count, size_t size, enum tag tag, bool sends, int partner,
                 MPI_Comm comm)
{
    if (count == 0)
        return;
    /* The count of the message is the number of elements, which fits an int. */
    MPI_Datatype type;
    BC_MPI(PMPI_Type_contiguous((int)size, MPI_BYTE, &type));
    BC_MPI(PMPI_Type_commit(&type));
    if (sends)
        BC_MPI(PMPI_Send(elements, count, type, partner, (int)tag, comm));
    else
        BC_MPI(PMPI_Recv(elements, count, type, partner, (int)tag, comm, MPI_STATUS_IGNORE));
    BC_MPI(PMPI_Type_free(&type));
}

static void move_rows(const struct rows *rows, bool sends, int partner, MPI_Comm comm)
{
    move(rows->rows, rows->count, sizeof *rows->rows, TAG_ROWS, sends, partner, comm);
    move(rows->pairs.list, rows->pairs.count, sizeof *rows->pairs.list, TAG_PAIRS, sends, partner,
         comm);
}

static void send_rows(const struct rows *rows, int to, MPI_Comm comm)
{
    BC_MPI(PMPI_Send(rows, sizeof *rows, MPI_BYTE, to, TAG_HEAD, comm));
    int has_room;
    BC_MPI(PMPI_Recv(&has_room, 1, MPI_INT, to, TAG_ROOM, comm, MPI_STATUS_IGNORE));
    if (has_room)
        move_rows(rows, true, to, comm);
}

/* Receives rows; sets `incomplete` if there is no room. */
static void receive_rows(struct rows *rows, int from, MPI_Comm comm)
{
    BC_MPI(PMPI_Recv(rows, sizeof *rows, MPI_BYTE, from, TAG_HEAD, comm, MPI_STATUS_IGNORE));
    struct pairs *const pairs = &rows->pairs;
    rows->rows = rows->count > 0 ? malloc((size_t)rows->count * sizeof *rows->rows) : NULL;
    pairs->list = pairs->count > 0 ? malloc((size_t)pairs->count * sizeof *pairs->list) : NULL;
    const int has_room =
        (rows->count == 0 || rows->rows != NULL) && (pairs->count == 0 || pairs->list != NULL);
    BC_MPI(PMPI_Send(&has_room, 1, MPI_INT, from, TAG_ROOM, comm));
    if (!has_room) {
        rows->incomplete = true;
        rows->count = pairs->count = 0;
    }
    move_rows(rows, false, from, comm);
}

static void add_rows_of(int from, struct rows *sum, MPI_Comm comm)
{
    struct rows more;
    receive_rows(&more, from, comm);
    sum->seconds = fmax(sum->seconds, more.seconds);
    sum->languages |= more.languages;
    for (int code = 0; code < WARNING_CODES; code++)
        sum->cases[code] += more.cases[code];
    efficiency_add_times(&sum->outside, &more.outside);
    sum->incomplete = sum->incomplete || more.incomplete || !merge_rows(sum, &more) ||
                      !pairs_merge(&sum->pairs, &more.pairs);
    rows_free(&more);
}

static void scale_frequencies(struct rows *rows, double factor)
{
    for (int i = 0; i < rows->count; i++) {
        rows->rows[i].row.small_per_s *= factor;
        rows->rows[i].row.large_per_s *= factor;
    }
}

static int total_in(const struct rows *rows)
{
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].kind == KIND_TOTAL)
            return i;
    return -1;
}

/* Appends the total of each rank on rank 0, as a row of its own. Collective. Returns false on rank
   0 if memory runs out. */
static bool append_totals(struct rows *sum, const struct rows *own, int rank, MPI_Comm comm)
{
    int ranks;
    const int total = total_in(own);
    double inside_s = total >= 0 ? own->rows[total].row.in_calls_s : NAN;
    BC_MPI(PMPI_Comm_size(comm, &ranks));
    if (rank != 0) {
        BC_MPI(PMPI_Send(&inside_s, 1, MPI_DOUBLE, 0, TAG_TOTAL, comm));
        return true;
    }
    struct rows totals = {.rows = malloc((size_t)ranks * sizeof *totals.rows)};
    const bool has_room = totals.rows != NULL;
    for (int from = 0; from < ranks; from++) {
        if (from != 0)
            BC_MPI(PMPI_Recv(&inside_s, 1, MPI_DOUBLE, from, TAG_TOTAL, comm, MPI_STATUS_IGNORE));
        if (!has_room || total < 0 || isnan(inside_s))
            continue;
        struct keyed_row *const keyed = &totals.rows[totals.count++];
        *keyed = own->rows[total];
        keyed->operation = 1 + from;
        keyed->row.rank = keyed->row.slowest_rank = from;
        keyed->row.in_calls_s = keyed->row.slowest_s = inside_s;
    }
    const bool good = has_room && rows_append(sum, &totals);
    free(totals.rows);
    return good;
}

bool rows_gather(struct rows *rows, bool totals, MPI_Comm comm)
{
    int rank, ranks;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    BC_MPI(PMPI_Comm_size(comm, &ranks));
    struct rows sum = *rows;
    sum.rows = NULL;
    sum.count = 0;
    sum.incomplete =
        !pairs_copy(&rows->pairs, &sum.pairs) || !rows_append(&sum, rows) || rows->incomplete;
    for (int i = 0; i < sum.count; i++)
        sum.rows[i].row.rank = MPIX_MONITOR_NA;
    rows_sort(&sum, rows_compare_identities);
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
    if (totals)
        sum.incomplete = !append_totals(&sum, rows, rank, comm) || sum.incomplete;
    if (rank != 0 || sum.incomplete) {
        rows->incomplete = rows->incomplete || (rank == 0 && sum.incomplete);
        rows_free(&sum);
        return rank != 0;
    }
    rows_sort(&sum, rows_compare_in_report);
    efficiency_set(&sum, ranks);
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
        struct rows without_pairs = *rows;
        without_pairs.pairs = (struct pairs){0};
        send_rows(&without_pairs, 0, comm);
        return true;
    }
    receive_rows(rows, from, comm);
    return !rows->incomplete;
}
