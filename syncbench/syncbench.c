/*
 * What synchronisation costs: how much longer a loop takes when its repetitions
 * synchronise, for coarrays' ways to do that and MPI's.
 *
 * Method: the EPCC Fortran coarray micro-benchmark suite, its synchronisation
 * part; see kinds.h. Loops with and without are timed in turn and each pair gives
 * a difference, so that what drifts cancels, and the delay is short, since what
 * it varies by is in the result.
 *
 *   parameters.h   options
 *   neighbours.h   who synchronises with whom
 *   kinds.h        the ways to synchronise
 *   measure.h      the timed loops, and one row
 *   check.h        does it synchronise?
 */
#include "common/mpi/coarray.h"
#include "common/mpi/grid.h"
#include "common/mpi/mpi_check.h"
#include "common/machine/node_order.h"
#include "common/run/run.h"
#include "common/clock/work.h"
#include "syncbench/check.h"
#include "syncbench/kinds.h"
#include "syncbench/measure.h"
#include "syncbench/neighbours.h"
#include "syncbench/parameters.h"

#include <stdlib.h>

/* A run with defaults ends within this, start-up included, unless the least that
   all rows need takes longer. */
#define RUN_BUDGET_S 50.0

#define AUTO_DELAY_NS 100.0

static const struct bc_column columns[] = {
    {"sync", BC_KEY, 0},          {"neighbours", BC_KEY, 0},   {"ranks", BC_KEY, 0},
    {"inner", BC_INFO, 0},        {"outer", BC_INFO, 0},       {"ref_us", BC_INFO, 4},
    {"ref_sd_us", BC_INFO, 4},    {"loop_us", BC_INFO, 4},     {"loop_sd_us", BC_INFO, 4},
    {"sync_us", BC_LESS, 4},      {"sync_lo_us", BC_INFO, 4},  {"sync_hi_us", BC_INFO, 4},
    {"sync_p99_us", BC_INFO, 4},  {"sync_max_us", BC_INFO, 4}, {"outliers", BC_INFO, 0},
    {"check", BC_INFO, 0},        {"samples", BC_INFO, 0},     {"status", BC_INFO, 0},
    {"slowest_rank", BC_INFO, 0},
};

static struct syncbench_parameters parameters;

/* What all rows share. */
struct bench {
    struct bc_run *run;
    struct bc_sampler *sampler;
    struct bc_coarray coarray;
    struct bc_mutex lock;
    struct bc_queue_lock critical;
    struct bc_node_order by_node;
    int dims[BC_GRID_DIMENSIONS];
    int *order;      /* of the ranks in random rings */
    int *neighbours; /* room for one row's */
    uint64_t delay_units;
    int64_t rows_left;
};

/* ---- usage ----------------------------------------------------------------------------------- */

static bool validate(struct bc_run *run, struct bc_error *error)
{
    const int ranks = run->job.ranks;
    if (ranks < 2)
        return bc_error_set(error, "synchronisation needs at least 2 processes, "
                                   "got 1: use mpirun -np 2 or more" BC_LAUNCHER_HINT);
    if (!syncbench_parameters_complete(&parameters, error))
        return false;
    if (bc_option_given(&run->options, "outer") && bc_option_given(&run->options, "samples"))
        return bc_error_set(error,
                            "--outer: %lld and --samples: %lld are two "
                            "numbers of the same thing: use one of them",
                            (long long)parameters.outer, (long long)run->settings.samples);
    const struct syncbench_kind *last = NULL;
    for (int k = 0; k < SYNCBENCH_KINDS; k++) {
        const struct syncbench_kind *const kind = &syncbench_kinds[k];
        if (parameters.chosen[k] && syncbench_can_arrange(kind->set, ranks, 2)) {
            syncbench_parameters_settle(&parameters, run);
            return true;
        }
        if (parameters.chosen[k])
            last = kind;
    }
    return bc_error_set(error,
                        "--types: %s needs %s, got %d: use another type or "
                        "more processes",
                        last->name, syncbench_needs(last->set), ranks);
}

/* ---- preparation ----------------------------------------------------------------------------- */

/* The same work on all ranks: what takes rank 0 the time. Collective. */
static uint64_t delay_units(void)
{
    if (parameters.delay_units >= 0)
        return (uint64_t)parameters.delay_units;
    const struct bc_work_rate rate = bc_work_calibrate();
    uint64_t units = bc_work_units(&rate, AUTO_DELAY_NS);
    BC_MPI(MPI_Bcast(&units, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    return units;
}

static int *allocate_ranks(int count)
{
    int *const ranks = calloc((size_t)count, sizeof *ranks);
    if (ranks == NULL)
        bc_abort("no memory for %d ranks", count);
    return ranks;
}

/* Writes this rank's neighbours and returns their number. The rule of pairs is for ranks
   ordered by node; rings and grids are MPI_COMM_WORLD's, as a program has them. Local. */
static int find_neighbours(const struct bench *bench, enum syncbench_set set, int n)
{
    const struct bc_job *const job = &bench->run->job;
    const bool pairs = set == SYNCBENCH_PAIR;
    const int count =
        syncbench_neighbours(set, pairs ? bench->by_node.place : job->rank, job->ranks, n,
                             bench->dims, bench->order, bench->neighbours);
    if (pairs)
        bench->neighbours[0] = bc_node_order_rank(&bench->by_node, bench->neighbours[0]);
    return count;
}

/* Says how many of the pairs cross nodes, if any type has pairs. Collective. */
static void note_pairs(const struct bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    for (int k = 0; k < SYNCBENCH_KINDS; k++)
        if (parameters.chosen[k] && syncbench_kinds[k].set == SYNCBENCH_PAIR &&
            syncbench_can_arrange(SYNCBENCH_PAIR, job->ranks, 2)) {
            find_neighbours(bench, SYNCBENCH_PAIR, 2);
            bc_crossing_note(job, bench->run->output, "", bench->neighbours[0]);
            return;
        }
}

static void prepare(struct bench *bench)
{
    const int ranks = bench->run->job.ranks;
    bench->sampler = bc_sampler_create(MPI_COMM_WORLD);
    bc_coarray_create(&bench->coarray, MPI_COMM_WORLD, 1);
    bc_mutex_create(&bench->lock, MPI_COMM_WORLD);
    bc_queue_lock_create(&bench->critical, MPI_COMM_WORLD);
    bc_node_order_create(&bench->by_node, &bench->run->job);
    BC_MPI(MPI_Dims_create(ranks, BC_GRID_DIMENSIONS, bench->dims));
    bench->order = allocate_ranks(ranks);
    syncbench_permute((uint64_t)parameters.seed, ranks, bench->order);
    bench->neighbours = allocate_ranks(syncbench_neighbours_most((int)parameters.max_neighbours));
    bench->delay_units = delay_units();
    bc_output_remark(bench->run->output, "note",
                     "delay of %llu steps; random neighbours from seed %lld",
                     (unsigned long long)bench->delay_units, (long long)parameters.seed);
    note_pairs(bench);
}

static void clean_up(struct bench *bench)
{
    free(bench->neighbours);
    free(bench->order);
    bc_node_order_destroy(&bench->by_node);
    bc_queue_lock_destroy(&bench->critical);
    bc_mutex_destroy(&bench->lock);
    bc_coarray_destroy(&bench->coarray);
    bc_sampler_destroy(bench->sampler);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void fill_neighbours(struct bc_row *row, const struct bc_job *job,
                            const struct syncbench_kind *kind, int count)
{
    if (kind->set == SYNCBENCH_EVERYONE)
        count = job->ranks - 1;
    if (kind->set != SYNCBENCH_TURNS)
        bc_row_integer(row, "neighbours", count);
}

/* What --check found. */
enum verdict { NOT_CHECKED, NOTHING_TO_CHECK, RIGHT, WRONG };

static void fill_row(struct bc_row *row, const struct bc_run *run,
                     const struct syncbench_result *result, enum verdict verdict)
{
    static const char *const verdicts[] = {"off", "NA", "ok", "FAIL"};
    const struct {
        const char *name;
        double ns;
    } times[] = {
        {"ref_us", result->reference.value},      {"ref_sd_us", result->reference.sd},
        {"loop_us", result->loop.value},          {"loop_sd_us", result->loop.sd},
        {"sync_us", result->sync.value},          {"sync_lo_us", result->sync.interval.lo},
        {"sync_hi_us", result->sync.interval.hi}, {"sync_p99_us", result->sync.p99},
        {"sync_max_us", result->sync.max},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        bc_row_real(row, times[i].name, times[i].ns * 1e-3);
    bc_row_integer(row, "ranks", run->job.ranks);
    bc_row_integer(row, "inner", result->inner);
    bc_row_integer(row, "outer", result->outer);
    bc_row_integer(row, "outliers", result->outliers);
    bc_row_text(row, "check", verdicts[verdict]);
    bc_row_integer(row, "samples", result->outer);
    const char *const end = result->in_time ? "ok" : "budget";
    bc_row_text(row, "status", verdict == WRONG ? "FAIL" : end);
    bc_row_integer(row, "slowest_rank", result->slowest_rank);
}

/* Checks if that is asked for; a kind that need not wait is always checked, and a
   note says if it doesn't. Collective; significant on rank 0. */
static enum verdict check(const struct bc_run *run, const struct syncbench_kind *kind,
                          struct syncbench_team *team)
{
    if (!run->settings.check && !kind->may_not_wait)
        return NOT_CHECKED;
    if (kind->set == SYNCBENCH_NOBODY)
        return NOTHING_TO_CHECK;
    const bool wrong = syncbench_check(kind, team) > 0;
    if (!kind->may_not_wait)
        return wrong ? WRONG : RIGHT;
    if (wrong)
        bc_output_remark(run->output, "note",
                         "%s: no synchronisation in this MPI library: processes "
                         "came out before others had gone in, as MPI allows",
                         kind->name);
    return run->settings.check ? NOTHING_TO_CHECK : NOT_CHECKED;
}

/* Measures one kind with so many neighbours in a ring and writes its row.
   Collective; false if the run must end. */
static bool measure_row(struct bench *bench, const struct syncbench_kind *kind, int n)
{
    const struct bc_run *const run = bench->run;
    const int count = find_neighbours(bench, kind->set, n);
    struct syncbench_team team = {
        .coarray = &bench->coarray,
        .lock = &bench->lock,
        .critical = &bench->critical,
    };
    bc_images_create(&team.images, &bench->coarray, bench->neighbours, count);
    kind->open(&team);
    const struct syncbench_loop loop = {
        .kind = kind,
        .team = &team,
        .inner = parameters.inner > 0 ? parameters.inner : SYNCBENCH_INNER,
        .delay_units = bench->delay_units,
        .rank = run->job.rank,
        .ranks = run->job.ranks,
        .window = run->window,
    };
    const enum verdict verdict = check(run, kind, &team);
    const double seconds = bc_run_row_seconds(run, bench->rows_left--);
    struct syncbench_result result;
    syncbench_measure(run, bench->sampler, &loop, parameters.inner == 0, seconds, &result);
    kind->close(&team);
    bc_images_destroy(&team.images);
    struct bc_row row;
    bc_row_clear(&row, &run->benchmark->table);
    bc_row_text(&row, "sync", kind->name);
    fill_neighbours(&row, &run->job, kind, count);
    fill_row(&row, run, &result, verdict);
    return bc_run_row(bench->run, &row);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static bool has_rings(const struct syncbench_kind *kind)
{
    return kind->set == SYNCBENCH_RANDOM || kind->set == SYNCBENCH_RING;
}

/* Calls measure_row for all that was asked for, or counts it only. False if the
   run must end. */
static bool sweep(struct bench *bench, bool counts)
{
    const int ranks = bench->run->job.ranks;
    for (int k = 0; k < SYNCBENCH_KINDS; k++) {
        const struct syncbench_kind *const kind = &syncbench_kinds[k];
        const int most = has_rings(kind) ? (int)parameters.max_neighbours : 2;
        for (int n = 2; parameters.chosen[k] && n <= most; n += 2) {
            if (!syncbench_can_arrange(kind->set, ranks, n))
                break;
            if (counts)
                bench->rows_left++;
            else if (!measure_row(bench, kind, n))
                return false;
        }
    }
    return true;
}

static void note_kinds(const struct bc_run *run)
{
    for (int k = 0; k < SYNCBENCH_KINDS; k++) {
        const struct syncbench_kind *const kind = &syncbench_kinds[k];
        if (parameters.chosen[k] && !syncbench_can_arrange(kind->set, run->job.ranks, 2))
            bc_output_remark(run->output, "note", "no %s: it needs %s, got %d", kind->name,
                             syncbench_needs(kind->set), run->job.ranks);
    }
}

int main(int argc, char **argv)
{
    struct bc_option rows[SYNCBENCH_OPTIONS_MAX];
    const struct bc_benchmark benchmark = {
        .name = "syncbench",
        .summary = "Measures what synchronising processes costs, in the ways of "
                   "coarrays and of MPI.\nNeeds at least 2 processes.",
        .table = {columns, sizeof columns / sizeof *columns},
        .options = rows,
        .option_count = syncbench_parameters_table(&parameters, rows),
        .thread_level = MPI_THREAD_SINGLE,
        .run_budget_s = RUN_BUDGET_S,
        .may_start_together = true,
        .validate = validate,
    };
    struct bc_run run;
    int status;
    if (!bc_run_begin(&run, &benchmark, argc, argv, &status))
        return status;
    /* Rank 0 has taken the texts apart to validate them; so must the others. */
    struct bc_error ignored;
    syncbench_parameters_complete(&parameters, &ignored);

    struct bench bench = {.run = &run};
    note_kinds(&run);
    prepare(&bench);
    sweep(&bench, true);
    sweep(&bench, false);
    clean_up(&bench);
    return bc_run_end(&run);
}
