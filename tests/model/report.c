/*
 * The truth, as a table: a row for each series that rank 0 has: each kind of collective and
 * duration, each other kind of operation and number of bytes. What doesn't apply is NA.
 *
 *   operation       e.g. iallreduce, isend
 *   bytes           of one operation on rank 0; NA when collectives of this duration differ in it
 *   duration_us     D, without what made some operations late
 *   fraction        f
 *   host_us         h \ mean, over the ranks that have this row, of what is usual on the rank
 *   extra_us        x / (series_middle), without what a jump of the machine's speed adds to o and
 *                     w. x is that of a wait, which may have completed several operations, also of
 *                     several rows, and has a w for each of them. One-sided operations have no x,
 *                     since the synchronisation has it. What has no post, which is one-sided
 *                     synchronisations and blocking collectives, has no h and no f: D + x is what
 *                     the caller sees
 *   late_share      of the operations that were late, as it came out
 *   operations      number posted on rank 0; without a post, called
 *   overlap_pct     100 max(0, f D - h) / (D + x)
 *   waits           number of waits on rank 0 that completed operations of this row
 *   transfer_us     T of a message or one-sided operation, which is its duration
 *   gap_us          g of these
 *   per_message_us  max(h, g): what a message takes in a stream of posts
 *   real_us         what the real one takes that is called inside what has no post: usual as in h
 *                   and x. It is inside D + x, and longer than D it can't be without a large x
 *   test_us         what a test takes that names an operation of this row and completes none
 *                   (MODEL_TEST_US is part of it): usual as h and x, over the ranks that have any
 */
#include "statistics.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>

/* What the ranks' usual costs are summed into; reduced as doubles. */
struct cost_sum {
    double host_ns;
    double extra_ns;
    double real_ns;
    double test_ns;
    double test_ranks; /* that have tests */
    double ranks;
};

enum { COST_SUM_DOUBLES = sizeof(struct cost_sum) / sizeof(double) };

static double middle_or_nan(const int64_t samples[], uint64_t count)
{
    return count > 0 ? series_middle(samples, count) + timing_clock_cost_ns() : NAN;
}

static struct cost_sum own_cost(enum operation_kind kind, int64_t key)
{
    const struct series *series = series_lookup(kind, key);
    if (series == NULL || (series->waits == 0 && operation_traits[kind].class != CLASS_ONE_SIDED))
        return (struct cost_sum){.ranks = 0};
    return (struct cost_sum){
        .host_ns = middle_or_nan(series->post_ns, series->posted),
        .extra_ns = middle_or_nan(series->extra_ns, series->waits),
        .test_ns = series->tests > 0 ? middle_or_nan(series->test_ns, series->tests) : 0,
        .test_ranks = series->tests > 0,
        .real_ns = series->reals > 0 ? series_middle(series->real_ns, series->reals) : NAN,
        .ranks = 1,
    };
}

/* Format must be for one double. */
static void print_number(FILE *file, const char *format, double number)
{
    if (isnan(number))
        (void)fprintf(file, "\tNA");
    else
        (void)fprintf(file, format, number);
}

static void print_row(FILE *file, const struct series *series, struct cost_sum sum)
{
    if (sum.ranks == 0)
        return; /* posted but never completed */

    const double host_ns = sum.host_ns / sum.ranks;
    const double extra_ns = sum.extra_ns / sum.ranks;
    const double duration_ns = (double)series->duration_ns;
    const double fraction = timing_fraction(series->kind);
    const double overlap_pct =
        isnan(host_ns) ? NAN
                       : 100 * fmax(0, fraction * duration_ns - host_ns) / (duration_ns + extra_ns);

    const enum operation_class class = operation_traits[series->kind].class;
    const bool has_post = timing_has_post(series->kind);
    const bool is_transfer = has_post && class != CLASS_COLLECTIVE;
    const uint64_t operations = has_post ? series->posted : series->waits;
    const double late_share =
        class != CLASS_SYNCHRONISATION ? (double)series->late / (double)operations : NAN;
    const double gap_ns = is_transfer ? timing_gap_ns(series->kind) : NAN;

    (void)fprintf(file, "%s\t", operation_traits[series->kind].name);
    if (series->bytes == SERIES_BYTES_VARY)
        (void)fprintf(file, "NA");
    else
        (void)fprintf(file, "%" PRId64, series->bytes);
    print_number(file, "\t%.3f", duration_ns / 1e3);
    print_number(file, "\t%g", has_post ? fraction : NAN);
    print_number(file, "\t%.4f", host_ns / 1e3);
    print_number(file, "\t%.4f", extra_ns / 1e3);
    print_number(file, "\t%.6f", late_share);
    (void)fprintf(file, "\t%" PRIu64, operations);
    print_number(file, "\t%.4f", overlap_pct);
    (void)fprintf(file, "\t%" PRIuFAST64, series->waits);
    print_number(file, "\t%.3f", is_transfer ? duration_ns / 1e3 : NAN);
    print_number(file, "\t%g", gap_ns / 1e3);
    print_number(file, "\t%.4f", is_transfer ? (host_ns > gap_ns ? host_ns : gap_ns) / 1e3 : NAN);
    print_number(file, "\t%.4f", sum.real_ns / sum.ranks / 1e3);
    print_number(file, "\t%.4f", sum.test_ns / sum.test_ranks / 1e3);
    (void)fprintf(file, "\n");
}

static void print_table(const char *path, const struct cost_sum sums[], int rows)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        model_abort("can't open the file that MODEL_REPORT names");
    (void)fprintf(
        file, "operation\tbytes\tduration_us\tfraction\thost_us\textra_us\tlate_share\toperations\t"
              "overlap_pct\twaits\ttransfer_us\tgap_us\tper_message_us\treal_us\ttest_us\n");
    for (int row = 0; row < rows; row++)
        print_row(file, series_at(row), sums[row]);
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        model_abort("can't write the file that MODEL_REPORT names");
}

void report_write(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *path = rank == 0 ? config_report_path() : NULL;

    /* Rank 0's rows, on all ranks. */
    int rows = path != NULL ? series_count() : 0;
    PMPI_Bcast(&rows, 1, MPI_INT, 0, MPI_COMM_WORLD);
    int64_t keys[SERIES_MAX][2];
    if (rank == 0) {
        for (int row = 0; row < rows; row++) {
            keys[row][0] = series_at(row)->kind;
            keys[row][1] = series_key(series_at(row));
        }
    }
    PMPI_Bcast(keys, 2 * rows, MPI_INT64_T, 0, MPI_COMM_WORLD);

    struct cost_sum own[SERIES_MAX];
    struct cost_sum sums[SERIES_MAX];
    for (int row = 0; row < rows; row++)
        own[row] = own_cost((enum operation_kind)keys[row][0], keys[row][1]);
    PMPI_Reduce(own, sums, rows * COST_SUM_DOUBLES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);

    if (path != NULL)
        print_table(path, sums, rows);
}
