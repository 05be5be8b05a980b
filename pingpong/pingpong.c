/*
 * What moving data to another process and back costs: latency and bandwidth of
 * puts and gets in many patterns, and of MPI_Send, synchronisation included.
 *
 * Method: the EPCC Fortran coarray micro-benchmark suite, its point-to-point
 * part; see patterns.h. Coarrays are MPI-3 windows here: see common/mpi/coarray.h.
 *
 *   parameters.h   options
 *   shape.h        blocks and strides, and how they are swept
 *   arrangement.h  who plays with whom
 *   patterns.h     the ways to move the data, and the timed loop
 *   measure.h      one row
 */
#include "common/mpi/coarray.h"
#include "common/mpi/mpi_check.h"
#include "common/machine/node_order.h"
#include "common/run/run.h"
#include "pingpong/arrangement.h"
#include "pingpong/measure.h"
#include "pingpong/parameters.h"
#include "pingpong/patterns.h"

#include <math.h>
#include <stdio.h>

/* A run with defaults, without --full, ends within this, start-up included, unless the least that
   all rows need takes longer. */
#define RUN_BUDGET_S 50.0

/* Of the memory that a rank may take for windows, the coarrays may take this
   share. */
#define MEMORY_SHARE 0.8

/* Where ranks share processors a transfer that its target must serve waits until
   that one has a processor; MPICH over UCX needs 6 s to put 256K values one by one
   with 8 ranks on 2. A thinned sweep ends here. */
#define SHARED_MAX_BLOCKS 512

/* Sizes in a sweep, at most: 2^0 to 2^40. */
#define SIZES_MAX 41

static const struct bc_column columns[] = {
    {"arrangement", BC_KEY, 0},    {"pattern", BC_KEY, 0},         {"sync", BC_KEY, 0},
    {"count", BC_KEY, 0},          {"blksize", BC_KEY, 0},         {"stride", BC_KEY, 0},
    {"ndata", BC_KEY, 0},          {"nextent", BC_INFO, 0},        {"nrep", BC_INFO, 0},
    {"time_s", BC_INFO, 6},        {"latency_us", BC_LESS, 3},     {"latency_lo_us", BC_INFO, 3},
    {"latency_hi_us", BC_INFO, 3}, {"latency_p99_us", BC_INFO, 3}, {"latency_max_us", BC_INFO, 3},
    {"bwidth_mbs", BC_INFO, 6},    {"check", BC_INFO, 0},          {"samples", BC_INFO, 0},
    {"status", BC_INFO, 0},        {"slowest_rank", BC_INFO, 0},
};

static struct pingpong_parameters parameters;

/* What all rows share. */
struct bench {
    struct bc_run *run;
    struct bc_sampler *sampler;
    struct bc_node_order by_node;
    struct bc_coarray coarray; /* of the largest extent */
    /* Of exactly the data's size, one for each size from its first row on: with
       8 ranks on 2 processors MPICH takes 0.4 s to make one. */
    struct bc_coarray exact[SIZES_MAX];
    int exact_count;
    MPI_Comm pair; /* the players of PINGPONG_SINGLE; MPI_COMM_NULL elsewhere */
    int64_t rows_left;
};

/* ---- usage ----------------------------------------------------------------------------------- */

/* Values of the largest extent: strided many has gaps as large as its data. */
static int64_t largest_extent(const struct pingpong_limits *limits)
{
    for (int p = 0; p < PINGPONG_PATTERNS; p++)
        if (parameters.pattern_chosen[p] && pingpong_patterns[p].sweep == PINGPONG_STRIDED_MANY)
            return 2 * limits->max_ndata;
    return limits->max_ndata + PINGPONG_GUARD_VALUES;
}

/* Values of all coarrays that a run with these limits makes. */
static int64_t all_extents(const struct pingpong_limits *limits)
{
    struct pingpong_shape shape;
    bool exact = false;
    int64_t values = largest_extent(limits);
    for (int p = 0; p < PINGPONG_PATTERNS; p++)
        exact = exact || (parameters.pattern_chosen[p] && pingpong_patterns[p].exact);
    for (int i = 0; exact && pingpong_shape_at(PINGPONG_CONTIGUOUS, limits, i, &shape); i++)
        values += pingpong_ndata(&shape);
    return values;
}

static bool can_be_arranged(int ranks)
{
    for (int a = 0; a < PINGPONG_ARRANGEMENTS; a++)
        if (parameters.arrangement_chosen[a] &&
            pingpong_can_arrange((enum pingpong_arrangement)a, ranks))
            return true;
    return false;
}

static double needed_bytes(const struct pingpong_limits *limits)
{
    return (double)sizeof(double) * (double)all_extents(limits);
}

/* Lowers the largest number of values where it doesn't fit, unless it was asked
   for. */
static bool validate_memory(const struct bc_run *run, struct bc_error *error)
{
    const double most_bytes =
        MEMORY_SHARE * (double)(run->shared_memory_per_rank < run->memory_per_rank
                                    ? run->shared_memory_per_rank
                                    : run->memory_per_rank);
    struct pingpong_limits fitting = parameters.limits;
    while (fitting.max_ndata > 0 && needed_bytes(&fitting) > most_bytes)
        fitting.max_ndata /= 2;
    if (fitting.max_ndata > 0 && !bc_option_given(&run->options, "max-ndata"))
        parameters.limits = fitting;
    if (fitting.max_ndata == parameters.limits.max_ndata)
        return true;
    char advice[BC_CELL_LENGTH] = "use fewer processes a node";
    if (fitting.max_ndata > 0)
        snprintf(advice, sizeof advice, "use --max-ndata=%lld or less",
                 (long long)fitting.max_ndata);
    return bc_error_set(error,
                        "--max-ndata: coarrays for %lld values need %.1f MiB "
                        "a rank, and %.1f fit into memory or /dev/shm: %s",
                        (long long)parameters.limits.max_ndata,
                        needed_bytes(&parameters.limits) / 1048576, most_bytes / 1048576, advice);
}

/* How many blocks the many patterns go up to where no number was asked for. */
static void choose_blocks(const struct bc_run *run)
{
    struct pingpong_limits *const limits = &parameters.limits;
    if (limits->max_blocks > 0)
        return;
    limits->max_blocks = limits->max_ndata;
    if (run->job.shares_processors && !parameters.full && limits->max_blocks > SHARED_MAX_BLOCKS)
        limits->max_blocks = SHARED_MAX_BLOCKS;
}

static bool validate(struct bc_run *run, struct bc_error *error)
{
    const int ranks = run->job.ranks;
    if (ranks < 2)
        return bc_error_set(error, "a ping-pong needs at least 2 processes, got "
                                   "1: use mpirun -np 2 or more" BC_LAUNCHER_HINT);
    if (!pingpong_parameters_complete(&parameters, error))
        return false;
    if (!can_be_arranged(ranks))
        return bc_error_set(error,
                            "--arrangements: %.80s can't be arranged with "
                            "%d processes: use single, or an even number "
                            "of at least 4 processes",
                            parameters.arrangements_text, ranks);
    /* The complete sweep gives each row its time, however many there are. */
    if (parameters.full)
        run->budget_s = INFINITY;
    if (!validate_memory(run, error))
        return false;
    choose_blocks(run);
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void fill_row(struct bc_row *row, const struct bench *bench,
                     enum pingpong_arrangement arrangement, const struct pingpong_pattern *pattern,
                     enum pingpong_sync sync, const struct pingpong_shape *shape,
                     const struct pingpong_result *result)
{
    const bool check = bench->run->settings.check;
    /* Half of there and back. */
    struct bc_summary latency = result->times.repetition;
    bc_summary_scale(&latency, 0.5);
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
    bc_row_time(row, "latency", &latency);
    bc_row_real(row, "bwidth_mbs",
                (double)sizeof(double) * (double)pingpong_ndata(shape) / 1048576.0 /
                    (latency.value * 1e-9));
    const bool wrong = result->wrong > 0;
    bc_row_text(row, "check", !check ? "off" : wrong ? "FAIL" : "ok");
    bc_row_integer(row, "samples", (int64_t)result->times.repetition.count);
    const char *const end = result->times.in_time ? "ok" : "budget";
    bc_row_text(row, "status", wrong ? "FAIL" : end);
    bc_row_integer(row, "slowest_rank", result->times.slowest_rank);
}

/* This rank's part, with its partner as a rank of MPI_COMM_WORLD. Local. */
static struct pingpong_part find_part(const struct bench *bench,
                                      enum pingpong_arrangement arrangement)
{
    struct pingpong_part part =
        pingpong_part_of(arrangement, bench->by_node.place, bench->run->job.ranks);
    part.partner = bc_node_order_rank(&bench->by_node, part.partner);
    return part;
}

/* The coarray of exactly so many values. Collective. */
static struct bc_coarray *exact_coarray(struct bench *bench, int64_t count)
{
    for (int i = 0; i < bench->exact_count; i++)
        if (bench->exact[i].count == count)
            return &bench->exact[i];
    struct bc_coarray *const made = &bench->exact[bench->exact_count++];
    bc_coarray_create(made, MPI_COMM_WORLD, count);
    return made;
}

/* Measures one shape and writes its row. Collective; false if the run must
   end. */
static bool measure_row(struct bench *bench, enum pingpong_arrangement arrangement,
                        const struct pingpong_pattern *pattern, enum pingpong_sync sync,
                        const struct pingpong_shape *shape)
{
    const struct bc_job *const job = &bench->run->job;
    const struct pingpong_part part = find_part(bench, arrangement);
    struct pingpong_game game = {
        .coarray = pattern->exact ? exact_coarray(bench, pingpong_ndata(shape)) : &bench->coarray,
        .shape = *shape,
        .partner = part.partner,
        .starts = part.starts,
        /* Those who are idle leave their processors to the others. */
        .players = job->oversubscribed && arrangement == PINGPONG_SINGLE ? &bench->pair : NULL,
    };
    if (pattern->section)
        bc_section_create(&game.section, shape->count, shape->blksize, shape->stride);
    if (pattern->move == NULL)
        bc_amount_create(&game.message, shape->blksize, MPI_DOUBLE);
    bc_images_create(&game.partners, game.coarray, &game.partner, game.partner >= 0);

    struct pingpong_result result;
    pingpong_measure(bench->run, bench->sampler, &game, pattern, sync,
                     bc_run_row_seconds(bench->run, bench->rows_left--), &result);
    bc_images_destroy(&game.partners);
    if (pattern->section)
        bc_section_destroy(&game.section);
    if (pattern->move == NULL)
        bc_amount_destroy(&game.message);
    struct bc_row row;
    fill_row(&row, bench, arrangement, pattern, sync, shape, &result);
    return bc_run_row(bench->run, &row);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Whether the pattern has this synchronisation, and it was asked for. */
static bool is_run(const struct pingpong_pattern *pattern, enum pingpong_sync sync)
{
    if (pattern->move == NULL)
        return sync == PINGPONG_SYNC_NONE;
    return sync != PINGPONG_SYNC_NONE && pingpong_sync_chosen(&parameters, sync);
}

/* Calls measure_row for all that was asked for, or counts it only. False if the
   run must end. */
static bool sweep(struct bench *bench, bool counts)
{
    struct pingpong_shape shape;
    for (int a = 0; a < PINGPONG_ARRANGEMENTS; a++) {
        const enum pingpong_arrangement arrangement = (enum pingpong_arrangement)a;
        if (!parameters.arrangement_chosen[a] ||
            !pingpong_can_arrange(arrangement, bench->run->job.ranks))
            continue;
        for (int p = 0; p < PINGPONG_PATTERNS; p++)
            for (int s = 0; s < PINGPONG_SYNCS; s++) {
                const struct pingpong_pattern *const pattern = &pingpong_patterns[p];
                const enum pingpong_sync sync = (enum pingpong_sync)s;
                if (!parameters.pattern_chosen[p] || !is_run(pattern, sync))
                    continue;
                for (int i = 0; pingpong_shape_at(pattern->sweep, &parameters.limits, i, &shape);
                     i++) {
                    if (counts)
                        bench->rows_left++;
                    else if (!measure_row(bench, arrangement, pattern, sync, &shape))
                        return false;
                }
            }
    }
    return true;
}

/* Which of the chosen arrangements there are, and how many of their pairs cross nodes.
   Collective. */
static void note_arrangements(const struct bench *bench)
{
    const struct bc_run *const run = bench->run;
    for (int a = 0; a < PINGPONG_ARRANGEMENTS; a++) {
        const enum pingpong_arrangement arrangement = (enum pingpong_arrangement)a;
        const char *const name = pingpong_arrangement_names[a];
        if (!parameters.arrangement_chosen[a])
            continue;
        if (!pingpong_can_arrange(arrangement, run->job.ranks)) {
            bc_output_remark(run->output, "note",
                             "no %s: it needs an even number of at least 4 "
                             "processes, got %d",
                             name, run->job.ranks);
            continue;
        }
        char which[BC_CELL_LENGTH];
        snprintf(which, sizeof which, "%s: ", name);
        bc_crossing_note(&run->job, run->output, which, find_part(bench, arrangement).partner);
    }
}

/* What a run with these options leaves out. */
static void write_notes(const struct bc_run *run)
{
    const struct pingpong_limits *const limits = &parameters.limits;
    if (limits->max_ndata < pingpong_default_ndata(&parameters) &&
        !bc_option_given(&run->options, "max-ndata"))
        bc_output_remark(run->output, "note",
                         "at most %lld values: more do not fit into memory or "
                         "/dev/shm",
                         (long long)limits->max_ndata);
    if (limits->max_blocks < limits->max_ndata && !bc_option_given(&run->options, "max-blocks"))
        bc_output_remark(run->output, "note",
                         "many puts and gets are of at most %lld blocks, since "
                         "ranks share processors: --max-blocks sets their "
                         "number",
                         (long long)limits->max_blocks);
}

static void create_bench(struct bench *bench, struct bc_run *run)
{
    *bench = (struct bench){.run = run, .sampler = bc_sampler_create(MPI_COMM_WORLD)};
    bc_node_order_create(&bench->by_node, &run->job);
    const struct pingpong_part part = find_part(bench, PINGPONG_SINGLE);
    bc_coarray_create(&bench->coarray, MPI_COMM_WORLD, largest_extent(&parameters.limits));
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, part.partner >= 0 ? 0 : MPI_UNDEFINED, run->job.rank,
                          &bench->pair));
}

static void destroy_bench(struct bench *bench)
{
    if (bench->pair != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&bench->pair));
    for (int i = 0; i < bench->exact_count; i++)
        bc_coarray_destroy(&bench->exact[i]);
    bc_coarray_destroy(&bench->coarray);
    bc_node_order_destroy(&bench->by_node);
    bc_sampler_destroy(bench->sampler);
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

    struct bench bench;
    create_bench(&bench, &run);
    write_notes(&run);
    note_arrangements(&bench);
    sweep(&bench, true);
    sweep(&bench, false);
    destroy_bench(&bench);
    return bc_run_end(&run);
}
