/* Brings the rows of all ranks together. */
#include "common/mpi/mpi_check.h"
#include "monitor/columns.h"
#include "monitor/report.h"

#include <math.h>
#include <stdlib.h>

/* ---- merging rows ---------------------------------------------------------------------------- */

/* The value of a column with numbers, which is in `cell`; NAN for NA. */
static double value_of(enum bc_cell kind, const void *cell)
{
    if (kind == BC_CELL_REAL)
        return *(const double *)cell;
    const int64_t number = kind == BC_CELL_INT ? *(const int *)cell : *(const int64_t *)cell;
    return number == MPIX_MONITOR_NA ? NAN : (double)number;
}

/* Merges a column of row `b` into that of `a`. */
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

/* Adds row `b` to `a`, of the same operation on the same communicator. */
static void add_to_row(struct keyed_row *keyed, const MPIX_Monitor_row *b)
{
    MPIX_Monitor_row *const a = &keyed->row;
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

/* Of rows that are merged that of the lowest rank comes first. */
static int by_identity(const void *first, const void *second)
{
    const struct keyed_row *const a = first, *const b = second;
    const int order = rows_compare_identities(a, b);
    return order != 0 ? order : a->row.rank - b->row.rank;
}

static void merge_rows(struct rows *rows)
{
    int count = 0;
    if (rows->count > 0)
        qsort(rows->rows, (size_t)rows->count, sizeof *rows->rows, by_identity);
    for (int i = 0; i < rows->count; i++)
        if (count > 0 && rows_compare_identities(&rows->rows[count - 1], &rows->rows[i]) == 0)
            add_to_row(&rows->rows[count - 1], &rows->rows[i].row);
        else
            rows->rows[count++] = rows->rows[i];
    rows->count = count;
}

static void append(struct rows *rows, const struct rows *more)
{
    for (int i = 0; i < more->count; i++)
        *rows_add(rows) = more->rows[i];
}

/* ---- between ranks --------------------------------------------------------------------------- */

/* The sender's struct rows, whose pointer means nothing to the receiver, then row after row: so a
   receiver needs no memory for those that it has no memory for. */
enum tag { TAG_HEAD, TAG_ROW };

static void send_rows(const struct rows *rows, int to, MPI_Comm comm)
{
    BC_MPI(PMPI_Send(rows, sizeof *rows, MPI_BYTE, to, TAG_HEAD, comm));
    for (int i = 0; i < rows->count; i++)
        BC_MPI(PMPI_Send(&rows->rows[i], sizeof *rows->rows, MPI_BYTE, to, TAG_ROW, comm));
}

/* Appends the rows of a rank. Returns its struct rows. */
static struct rows receive_rows(struct rows *rows, int from, MPI_Comm comm)
{
    struct rows head;
    BC_MPI(PMPI_Recv(&head, sizeof head, MPI_BYTE, from, TAG_HEAD, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < head.count; i++)
        BC_MPI(PMPI_Recv(rows_add(rows), sizeof *rows->rows, MPI_BYTE, from, TAG_ROW, comm,
                         MPI_STATUS_IGNORE));
    rows->incomplete = rows->incomplete || head.incomplete;
    return head;
}

static void add_rows_of(int from, struct rows *sum, MPI_Comm comm)
{
    const struct rows more = receive_rows(sum, from, comm);
    sum->seconds = fmax(sum->seconds, more.seconds);
    for (int code = 0; code < MPIX_MONITOR_WARNING_ROOTED; code++)
        sum->cases[code] += more.cases[code];
    merge_rows(sum);
}

static void scale_frequencies(struct rows *rows, double factor)
{
    for (int i = 0; i < rows->count; i++) {
        rows->rows[i].row.small_per_s *= factor;
        rows->rows[i].row.large_per_s *= factor;
    }
}

/* Appends the total of this rank, its last row if it has any, as a row that isn't merged. */
static void append_total(struct rows *rows)
{
    if (rows->count == 0 || rows->rows[rows->count - 1].kind != KIND_TOTAL)
        return;
    struct keyed_row total = rows->rows[rows->count - 1];
    total.operation = 1 + total.row.rank;
    *rows_add(rows) = total;
}

bool rows_gather(const struct rows *own, bool per_rank, MPI_Comm comm, struct rows *all)
{
    int rank, ranks;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    BC_MPI(PMPI_Comm_size(comm, &ranks));
    *all = *own;
    all->rows = NULL;
    all->count = all->capacity = 0;
    append(all, own);
    if (!per_rank)
        append_total(all);
    /* Frequencies become counts, to be summed: those of all ranks are over the longest snapshot. */
    scale_frequencies(all, own->seconds);
    /* A binomial tree: in each step the ranks with the bit set send to the rank without it, and are
       done. */
    for (int bit = 1; bit < ranks && (rank & (bit - 1)) == 0; bit <<= 1)
        if (rank & bit)
            send_rows(all, rank - bit, comm);
        else if (rank + bit < ranks)
            add_rows_of(rank + bit, all, comm);
    if (rank != 0) {
        rows_free(all);
        if (per_rank)
            send_rows(own, 0, comm);
        return true;
    }
    for (int i = 0; i < all->count; i++)
        if (all->rows[i].kind != KIND_TOTAL || all->rows[i].operation == 0)
            all->rows[i].row.rank = MPIX_MONITOR_NA;
    rows_sort_for_report(all);
    scale_frequencies(all, 1.0 / all->seconds);
    if (per_rank)
        append(all, own);
    for (int from = 1; per_rank && from < ranks; from++)
        (void)receive_rows(all, from, comm);
    return !all->incomplete;
}
