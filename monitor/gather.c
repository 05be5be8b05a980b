#include "monitor/gather.h"

#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>

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
    a->computed_after_s = real_sum_of(a->computed_after_s, b->computed_after_s);
    a->callers = sum_of(a->callers, b->callers);
    a->joinable = sum_of(a->joinable, b->joinable);
    if (b->neighbours != MPIX_MONITOR_NA && b->neighbours > a->neighbours)
        a->neighbours = b->neighbours;
    a->waited_s = real_sum_of(a->waited_s, b->waited_s);
    a->waited_lo_s = real_sum_of(a->waited_lo_s, b->waited_lo_s);
    a->waited_hi_s = real_sum_of(a->waited_hi_s, b->waited_hi_s);
    a->least_waited_s = fmin(a->least_waited_s, b->least_waited_s);
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
            rows_set_mean(a);
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
        const int order = i == rows->count ? 1
                          : j == more->count
                              ? -1
                              : rows_compare_identities(&rows->rows[i], &more->rows[j]);
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

/* ---- between ranks --------------------------------------------------------------------------- */

/* The sender first sends its struct rows, whose pointer means nothing to the receiver. The receiver
   answers whether it has room. If so, and if there are rows, they follow. */
enum tag { TAG_HEAD, TAG_ROOM, TAG_ROWS, TAG_TOTAL };

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

/* The place of the total among the rows of a process, or -1. */
static int total_in(const struct rows *rows)
{
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].kind == KIND_TOTAL)
            return i;
    return -1;
}

/* Appends the total of each rank on rank 0, as a row of its own; `own` are this rank's rows.
   Collective. False on rank 0 without memory. */
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
    sum.incomplete = !rows_append(&sum, rows) || rows->incomplete;
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
