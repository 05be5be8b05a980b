/*
 * The truth, as a table: a row for each kind of operation and duration that rank 0 has seen.
 *
 *   operation     e.g. iallreduce
 *   bytes         of one operation on rank 0; NA when operations of this duration differ in it
 *   duration_us   D, without what made some operations late
 *   fraction      f
 *   host_us       h \ mean, over the ranks that have seen this operation and duration,
 *   extra_us      x / of the rank's median
 *   late_share    of the operations that were late, as it came out
 *   operations    number posted on rank 0
 *   overlap_pct   100 max(0, f D - h) / (D + x)
 */
#include "statistics.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>

static const char *const kind_names[OPERATION_KINDS] = {
#define COLLECTIVE(Name, name, ...) [OPERATION_##Name] = name,
#include "collectives.def"
};

/* What the ranks' medians are summed into; reduced as doubles. */
struct cost_sum {
    double host_ns;
    double extra_ns;
    double ranks;
};

enum { COST_SUM_DOUBLES = sizeof(struct cost_sum) / sizeof(double) };

static struct cost_sum own_cost(enum operation_kind kind, int64_t duration_ns)
{
    const struct series *series = series_lookup(kind, duration_ns);
    if (series == NULL || series->completed == 0)
        return (struct cost_sum){0, 0, 0};
    return (struct cost_sum){
        .host_ns = series_median(series->post_ns, series->posted) + timing_clock_cost_ns(),
        .extra_ns = series_median(series->extra_ns, series->completed) + timing_clock_cost_ns(),
        .ranks = 1,
    };
}

static void print_row(FILE *file, const struct series *series, struct cost_sum sum)
{
    if (sum.ranks == 0)
        return; /* posted but never completed */

    const double host_ns = sum.host_ns / sum.ranks;
    const double extra_ns = sum.extra_ns / sum.ranks;
    const double duration_ns = (double)series->duration_ns;
    const double overlap_pct = 100 * fmax(0, model.fraction * duration_ns - host_ns) / (duration_ns + extra_ns);

    (void)fprintf(file, "%s\t", kind_names[series->kind]);
    if (series->bytes == SERIES_BYTES_VARY)
        (void)fprintf(file, "NA");
    else
        (void)fprintf(file, "%" PRId64, series->bytes);
    (void)fprintf(file, "\t%.3f\t%g\t%.4f\t%.4f\t%.6f\t%" PRIuFAST64 "\t%.4f\n", duration_ns / 1e3, model.fraction,
                  host_ns / 1e3, extra_ns / 1e3, (double)series->late / (double)series->posted, series->posted,
                  overlap_pct);
}

static void print_table(const char *path, const struct cost_sum sums[], int rows)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        model_abort("can't open the file that MODEL_REPORT names");
    (void)fprintf(file, "operation\tbytes\tduration_us\tfraction\thost_us\textra_us\tlate_share\toperations\toverlap_pct\n");
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
            keys[row][1] = series_at(row)->duration_ns;
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
