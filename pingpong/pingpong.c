/*
 * What moving data to another process and back costs: latency and bandwidth of
 * puts and gets in many patterns, and of MPI_Send, synchronisation included.
 *
 * Method: the EPCC Fortran coarray micro-benchmark suite, its point-to-point
 * part; see patterns.h. Coarrays are MPI-3 windows here: see common/coarray.h.
 *
 *   parameters.h   options
 *   shape.h        blocks and strides, and how they are swept
 *   arrangement.h  who plays with whom
 *   patterns.h     the ways to move the data, and the timed loop
 *   measure.h      one row
 */
#include "common/coarray.h"
#include "common/run.h"
#include "pingpong/arrangement.h"
#include "pingpong/measure.h"
#include "pingpong/parameters.h"
#include "pingpong/patterns.h"

/* A run with defaults ends within this, start-up included, unless the least that
   all rows need takes longer. */
#define RUN_BUDGET_S 50.0

/* Of the memory that a rank may take for windows, the coarray may take this
   share. */
#define MEMORY_SHARE 0.5

static const struct bc_column columns[] = {
    {"arrangement", BC_KEY, 0},     {"pattern", BC_KEY, 0},
    {"sync", BC_KEY, 0},            {"count", BC_KEY, 0},
    {"blksize", BC_KEY, 0},         {"stride", BC_KEY, 0},
    {"ndata", BC_KEY, 0},           {"nextent", BC_INFO, 0},
    {"nrep", BC_INFO, 0},           {"time_s", BC_INFO, 6},
    {"latency_us", BC_LESS, 3},     {"latency_lo_us", BC_INFO, 3},
    {"latency_hi_us", BC_INFO, 3},  {"latency_p99_us", BC_INFO, 3},
    {"latency_max_us", BC_INFO, 3}, {"bwidth_mbs", BC_MORE, 6},
    {"check", BC_INFO, 0},          {"samples", BC_INFO, 0},
    {"status", BC_INFO, 0},         {"slowest_rank", BC_INFO, 0},
};

static struct pingpong_parameters parameters;

/* What all rows share. */
struct bench {
    struct bc_run *run;
    struct bc_sampler *sampler;
    struct bc_coarray coarray; /* of the largest extent */
    int64_t rows_left;
};

/* ---- usage -------------------------------------------------------------------- */

/* Values of the largest extent: strided many has gaps as large as its data. */
static int64_t largest_extent(void)
{
    return 2 * parameters.limits.max_ndata;
}

static bool can_be_arranged(int ranks)
{
    for (int a = 0; a < PINGPONG_ARRANGEMENTS; a++)
        if (parameters.arrangement_chosen[a] &&
            pingpong_can_arrange((enum pingpong_arrangement)a, ranks))
            return true;
    return false;
}

static bool validate(struct bc_run *run, struct bc_error *error)
{
    const int ranks = run->job.ranks;
    if (ranks < 2)
        return bc_error_set(error, "a ping-pong needs at least 2 processes, got "
                                   "1: use mpirun -np 2 or more"
                                   BC_LAUNCHER_HINT);
    if (!pingpong_parameters_complete(&parameters, error))
        return false;
    if (!can_be_arranged(ranks))
        return bc_error_set(error, "--arrangements: %.80s can't be arranged with "
                                   "%d processes: use single, or an even number "
                                   "of at least 4 processes",
                            parameters.arrangements_text, ranks);
    const double bytes = (double)sizeof(double) * (double)largest_extent();
    const int64_t memory =
        run->shared_memory_per_rank < run->memory_per_rank
            ? run->shared_memory_per_rank
            : run->memory_per_rank;
    if (bytes > MEMORY_SHARE * (double)memory)
        return bc_error_set(error, "--max-ndata: a coarray of %.0f MiB a rank "
                                   "does not fit into memory or /dev/shm: use at "
                                   "most %.0f MiB, which is 16 bytes a value",
                            bytes / 1048576,
                            MEMORY_SHARE * (double)memory / 1048576);
    return true;
}

/* ---- rows --------------------------------------------------------------------- */

static void fill_row(struct bc_row *row, const struct bench *bench,
                     enum pingpong_arrangement arrangement,
                     const struct pingpong_pattern *pattern,
                     enum pingpong_sync sync,
                     const struct pingpong_shape *shape,
                     const struct pingpong_result *result)
{
    const bool check = bench->run->settings.check;
    /* Half of there and back. */
    struct bc_summary latency = result->times.repetition;
    latency.value /= 2.0;
    latency.interval.lo /= 2.0;
    latency.interval.hi /= 2.0;
    latency.p99 /= 2.0;
    latency.max /= 2.0;
    bc_row_clear(row, &bench->run->benchmark->table);
    bc_row_text(row, "arrangement", pingpong_arrangement_names[arrangement]);
    bc_row_text(row, "pattern", pattern->name);
    bc_row_text(row, "sync", pingpong_sync_names[sync]);
    bc_row_integer(row, "count", shape->count);
    bc_row_integer(row, "blksize", shape->blksize);
    bc_row_integer(row, "stride", shape->stride);
    bc_row_integer(row, "ndata", pingpong_ndata(shape));
    bc_row_integer(row, "nextent", pingpong_nextent(shape));
    bc_row_integer(row, "nrep", result->times.repetitions);
    bc_row_real(row, "time_s", result->times.total_s);
    bc_row_time(row, "latency", &latency, 0.0);
    bc_row_real(row, "bwidth_mbs",
                (double)sizeof(double) * (double)pingpong_ndata(shape) /
                    1048576.0 / (latency.value * 1e-9));
    const bool wrong = result->wrong > 0;
    bc_row_text(row, "check", !check ? "off" : wrong ? "FAIL" : "ok");
    bc_row_integer(row, "samples", (int64_t)result->times.repetition.count);
    const char *const end = result->times.in_time ? "ok" : "budget";
    bc_row_text(row, "status", wrong ? "FAIL" : end);
    bc_row_integer(row, "slowest_rank", result->times.slowest_rank);
}

/* Measures one shape and writes its row. Collective; false if the run must
   end. */
static bool measure_row(struct bench *bench,
                        enum pingpong_arrangement arrangement,
                        const struct pingpong_pattern *pattern,
                        enum pingpong_sync sync,
                        const struct pingpong_shape *shape)
{
    const struct bc_job *const job = &bench->run->job;
    const struct pingpong_part part =
        pingpong_part_of(arrangement, job->rank, job->ranks);
    struct bc_coarray exact;
    struct pingpong_game game = {
        .coarray = pattern->exact ? &exact : &bench->coarray,
        .shape = *shape,
        .partner = part.partner,
        .starts = part.starts,
    };
    if (pattern->exact)
        bc_coarray_create(&exact, MPI_COMM_WORLD, pingpong_ndata(shape));
    if (pattern->section)
        bc_section_create(&game.section, shape->count, shape->blksize,
                          shape->stride);
    bc_images_create(&game.partners, game.coarray, &game.partner,
                     game.partner >= 0);

    struct pingpong_result result;
    pingpong_measure(bench->run, bench->sampler, &game, pattern, sync,
                     bc_run_row_seconds(bench->run, bench->rows_left--),
                     &result);
    bc_images_destroy(&game.partners);
    if (pattern->section)
        bc_section_destroy(&game.section);
    if (pattern->exact)
        bc_coarray_destroy(&exact);
    struct bc_row row;
    fill_row(&row, bench, arrangement, pattern, sync, shape, &result);
    return bc_run_row(bench->run, &row);
}

/* ---- the sweep -------------------------------------------------------------------- */

/* Whether the pattern has this synchronisation, and it was asked for. */
static bool is_run(const struct pingpong_pattern *pattern,
                   enum pingpong_sync sync)
{
    if (pattern->move == NULL)
        return sync == PINGPONG_SYNC_NONE;
    return sync != PINGPONG_SYNC_NONE &&
           pingpong_sync_chosen(&parameters, sync);
}

/* Calls measure_row for all that was asked for, or counts it only. False if the
   run must end. */
static bool sweep(struct bench *bench, bool counts)
{
    struct pingpong_shape shape;
    for (int a = 0; a < PINGPONG_ARRANGEMENTS; a++) {
        const enum pingpong_arrangement arrangement =
            (enum pingpong_arrangement)a;
        if (!parameters.arrangement_chosen[a] ||
            !pingpong_can_arrange(arrangement, bench->run->job.ranks))
            continue;
        for (int p = 0; p < PINGPONG_PATTERNS; p++)
            for (int s = 0; s < PINGPONG_SYNCS; s++) {
                const struct pingpong_pattern *const pattern =
                    &pingpong_patterns[p];
                const enum pingpong_sync sync = (enum pingpong_sync)s;
                if (!parameters.pattern_chosen[p] || !is_run(pattern, sync))
                    continue;
                for (int i = 0; pingpong_shape_at(pattern->sweep,
                                                  &parameters.limits, i, &shape);
                     i++) {
                    if (counts)
                        bench->rows_left++;
                    else if (!measure_row(bench, arrangement, pattern, sync,
                                          &shape))
                        return false;
                }
            }
    }
    return true;
}

static void note_arrangements(const struct bc_run *run)
{
    for (int a = 0; a < PINGPONG_ARRANGEMENTS; a++)
        if (parameters.arrangement_chosen[a] &&
            !pingpong_can_arrange((enum pingpong_arrangement)a,
                                  run->job.ranks))
            bc_output_remark(run->output, "note",
                             "no %s: it needs an even number of at least 4 "
                             "processes, got %d",
                             pingpong_arrangement_names[a], run->job.ranks);
}

int main(int argc, char **argv)
{
    struct bc_option rows[PINGPONG_OPTIONS_MAX];
    const struct bc_benchmark benchmark = {
        .name = "pingpong",
        .summary = "Measures latency and bandwidth between processes, by put, "
                   "get and MPI_Send in many\npatterns, synchronisation "
                   "included. Needs at least 2 processes.",
        .table = {columns, sizeof columns / sizeof *columns},
        .options = rows,
        .option_count = pingpong_parameters_table(&parameters, rows),
        .thread_level = MPI_THREAD_SINGLE,
        .run_budget_s = RUN_BUDGET_S,
        .validate = validate,
    };
    struct bc_run run;
    int status;
    if (!bc_run_begin(&run, &benchmark, argc, argv, &status))
        return status;
    /* Rank 0 has taken the texts apart to validate them; so must the others. */
    struct bc_error ignored;
    pingpong_parameters_complete(&parameters, &ignored);

    struct bench bench = {.run = &run,
                          .sampler = bc_sampler_create(MPI_COMM_WORLD)};
    bc_coarray_create(&bench.coarray, MPI_COMM_WORLD, largest_extent());
    note_arrangements(&run);
    sweep(&bench, true);
    sweep(&bench, false);
    bc_coarray_destroy(&bench.coarray);
    bc_sampler_destroy(bench.sampler);
    return bc_run_end(&run);
}
