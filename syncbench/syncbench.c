/*
 * What synchronisation costs: how much longer a loop takes when its repetitions synchronise, for
 * coarrays' ways to do that and MPI's.
 *
 * Method: the EPCC Fortran coarray micro-benchmark suite, its synchronisation part; see
 * syncbench.h. Loops with and without are timed in turn and each pair gives a difference, so that
 * drift cancels. The delay is short, since its variation is in the result.
 */
#include "common/work/work.h"
#include "common/job/node_order.h"
#include "common/job/grid.h"
#include "common/mpi/mpi_check.h"
#include "common/run/program.h"
#include "common/sync_clock/start_window.h"
#include "syncbench/syncbench.h"

#include <math.h>
#include <stdlib.h>

#define AUTO_DELAY_NS 100.0

struct syncbench {
    struct syncbench_parameters parameters;
    struct bc_run *run;
    struct syncbench_team team;
    struct bc_node_order by_node;
    int dims[BC_GRID_DIMENSIONS];
    int *order;      /* of the ranks in random rings */
    int *neighbours; /* room for one row's */
    uint64_t delay_units;
};

/* ---- usage ----------------------------------------------------------------------------------- */

/* Sets what --outer asks of the run's settings and, under the mean, the specification's numbers for
   options that weren't given. Local; rank 0. */
static void settle(struct syncbench_parameters *p, struct bc_run *run)
{
    const bool specified = run->settings.estimator == BC_MEAN;
    if (specified && p->outer == 0 && !bc_option_given(&run->options, "samples"))
        p->outer = SYNCBENCH_OUTER;
    if (specified && p->inner == 0)
        p->inner = SYNCBENCH_INNER;
    if (p->outer > 0)
        run->settings.samples = p->outer;
    /* The first outer repetition is discarded. */
    if (specified && !bc_option_given(&run->options, "warmup"))
        run->settings.warmup = 1;
}

/* Checks processes and types; settles how often loops are timed. */
static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    struct syncbench_parameters *const p = &((struct syncbench *)state)->parameters;
    const int ranks = run->job.ranks;
    if (ranks < 2)
        return bc_error_set(error, "synchronisation " BC_NEEDS_2_RANKS);
    if (bc_option_given(&run->options, "outer") && bc_option_given(&run->options, "samples"))
        return bc_error_set(error,
                            "--outer: %lld and --samples: %lld are two numbers of the same thing: "
                            "use one of them",
                            (long long)p->outer, (long long)run->settings.samples);
    const char *name = "", *lacks = ""; /* of the last chosen type */
    for (int k = 0; k < SYNCBENCH_KINDS; k++) {
        if (!p->types.chosen[k])
            continue;
        name = syncbench_kinds[k].name;
        lacks = syncbench_lacks(syncbench_kinds[k].set, ranks, 2);
        if (lacks == NULL) {
            settle(p, run);
            return true;
        }
    }
    return bc_error_set(error, "--types: %s needs %s, got %d: use another type or more processes",
                        name, lacks, ranks);
}

/* ---- what all rows share --------------------------------------------------------------------- */

/* The delay's units, the same on all ranks: --delay's, or AUTO_DELAY_NS on rank 0. Collective. */
static uint64_t find_delay(const struct syncbench_parameters *p)
{
    if (p->delay_units >= 0)
        return (uint64_t)p->delay_units;
    const struct bc_work_rate rate = bc_work_calibrate();
    uint64_t units = bc_work_units(&rate, AUTO_DELAY_NS);
    BC_MPI(MPI_Bcast(&units, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    return units;
}

/* Writes this rank's neighbours and returns their number. The rule of pairs is for ranks ordered by
   node; rings and grids are MPI_COMM_WORLD's, as a program has them. Local. */
static int find_neighbours(const struct syncbench *bench, enum syncbench_set set, int n)
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

static void create_windows(struct syncbench *bench)
{
    bc_coarray_create(&bench->team.coarray, MPI_COMM_WORLD, 1);
    bc_mutex_create(&bench->team.lock, MPI_COMM_WORLD);
    bc_queue_lock_create(&bench->team.critical, MPI_COMM_WORLD);
}

static void destroy_windows(struct syncbench *bench)
{
    bc_queue_lock_destroy(&bench->team.critical);
    bc_mutex_destroy(&bench->team.lock);
    bc_coarray_destroy(&bench->team.coarray);
}

/* With more ranks than processors making windows takes longer than most rows. */
static void renew(struct syncbench *bench)
{
    if (bench->run->job.oversubscribed)
        return;
    destroy_windows(bench);
    create_windows(bench);
}

/* Lists the rows of the chosen types and notes those that are left out. Returns whether there are
   pairs. */
static bool list_rows(const struct syncbench *bench)
{
    const struct syncbench_parameters *const p = &bench->parameters;
    const int ranks = bench->run->job.ranks;
    bool pairs = false;
    for (int k = 0; k < SYNCBENCH_KINDS; k++) {
        const struct syncbench_kind *const kind = &syncbench_kinds[k];
        const bool rings = kind->set == SYNCBENCH_RANDOM || kind->set == SYNCBENCH_RING;
        const int max = rings ? (int)p->max_neighbours : 2;
        const char *const lacks = syncbench_lacks(kind->set, ranks, 2);
        if (!p->types.chosen[k])
            continue;
        if (lacks != NULL)
            bc_output_remark(bench->run->output, "note", "no %s: it needs %s, got %d", kind->name,
                             lacks, ranks);
        pairs = pairs || (kind->set == SYNCBENCH_PAIR && lacks == NULL);
        for (int n = 2; n <= max && syncbench_lacks(kind->set, ranks, n) == NULL; n += 2)
            *(struct syncbench_row *)bc_add_row(bench->run) =
                (struct syncbench_row){.kind = kind, .n = n};
    }
    return pairs;
}

static void open_syncbench(struct syncbench *bench, struct bc_run *run)
{
    const struct syncbench_parameters *const p = &bench->parameters;
    const size_t ranks = (size_t)run->job.ranks;
    const size_t neighbours = (size_t)fmax((double)p->max_neighbours, BC_GRID_SIDES);
    bench->run = run;
    const bool pairs = list_rows(bench);
    create_windows(bench);
    bc_node_order_create(&bench->by_node, &run->job);
    BC_MPI(MPI_Dims_create(run->job.ranks, BC_GRID_DIMENSIONS, bench->dims));
    bench->order = bc_allocate(ranks, sizeof(int), "no memory for %zu ranks", ranks);
    bench->neighbours = bc_allocate(neighbours, sizeof(int), "no memory for %zu ranks", neighbours);
    syncbench_permute((uint64_t)p->seed, run->job.ranks, bench->order);
    bench->delay_units = find_delay(p);
    bc_output_meta(run->output, "note", "delay of %llu steps; random neighbours from seed %lld",
                   (unsigned long long)bench->delay_units, (long long)p->seed);
    if (pairs) {
        find_neighbours(bench, SYNCBENCH_PAIR, 2);
        bc_crossing_note(&run->job, run->output, "", bench->neighbours[0]);
    }
}

static void close_syncbench(struct syncbench *bench)
{
    free(bench->neighbours);
    free(bench->order);
    bc_node_order_destroy(&bench->by_node);
    destroy_windows(bench);
}

/* ---- one row --------------------------------------------------------------------------------- */

/* A kind that need not wait is checked without --check, too. */
static bool is_checked(const struct bc_run *run, const struct syncbench_kind *kind)
{
    return kind->may_not_wait || (run->settings.check && kind->set != SYNCBENCH_NOBODY);
}

static void measure(struct syncbench *bench, struct bc_visit *visit)
{
    const struct bc_run *const run = bench->run;
    struct syncbench_team *const team = &bench->team;
    struct syncbench_row *const row = visit->row;
    const struct syncbench_kind *const kind = row->kind;
    const int64_t inner = bench->parameters.inner;
    row->neighbours = find_neighbours(bench, kind->set, row->n);
    bc_images_create(&team->images, team->coarray.comm, bench->neighbours, row->neighbours);
    if (kind->open != NULL)
        kind->open(team);
    const struct syncbench_loop loop = {
        .run = run,
        .kind = kind,
        .team = team,
        .inner = inner > 0 ? inner : SYNCBENCH_INNER,
        .delay_units = bench->delay_units,
    };
    if (is_checked(run, kind))
        row->loops.wrong += syncbench_check(&run->job, kind, team);
    syncbench_visit(&loop, inner == 0, visit->seconds, row);
    visit->is_precise = bc_batch_is_precise(run, &row->loops, SYNCBENCH_REFERENCE);
    if (kind->close != NULL)
        kind->close(team);
    bc_images_destroy(&team->images);
}

/* Ranks that a kind doesn't let wait are no error where MPI allows that, but worth a note. */
static void write_row(struct bc_run *run, struct syncbench_row *row)
{
    const struct syncbench_kind *const kind = row->kind;
    struct syncbench_result result;
    struct bc_outcome ignored;
    bool wrong = false;
    syncbench_conclude(run, row, &result);
    if (is_checked(run, kind))
        wrong = bc_sum_wrong(row->loops.wrong, kind->may_not_wait ? &ignored : &result.outcome) > 0;
    result.kind = kind->name;
    result.neighbours = kind->set == SYNCBENCH_EVERYONE ? run->job.ranks - 1 : row->neighbours;
    if (kind->set == SYNCBENCH_TURNS)
        result.neighbours = BC_NO_INT;
    result.ranks = run->job.ranks;
    result.check = run->settings.check ? "NA" : "off";
    if (is_checked(run, kind) && !kind->may_not_wait)
        result.check = wrong ? "FAIL" : "ok";
    if (wrong && kind->may_not_wait)
        bc_output_remark(
            run->output, "note",
            "%s: no synchronisation in this MPI library: ranks don't wait, as MPI allows",
            kind->name);
    bc_write_row(run, &result);
}

const struct bc_program syncbench_program = {
    .name = "syncbench",
    .summary = "Measures what synchronising processes costs, in the ways of coarrays and of MPI.\n"
               "Needs at least 2 processes.",
    .placement = BC_IN_WINDOWS,
    .options = {syncbench_options, SYNCBENCH_OPTIONS},
    .defaults = &syncbench_default_parameters,
    .defaults_bytes = sizeof syncbench_default_parameters,
    .state_bytes = sizeof(struct syncbench),
    .row_bytes = sizeof(struct syncbench_row),
    .budget_s = BC_BUDGET_S,
    .starter = &bc_window_starter,
    .renews = true,
    .fit = fit,
};

int main(int argc, char **argv)
{
    struct syncbench bench;
    struct bc_run *const run = bc_start(&syncbench_program, &bench, argc, argv);
    bc_open_result(run, &syncbench_table, "");
    open_syncbench(&bench, run);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_RENEW)
            renew(&bench);
        else if (visit->step == BC_MEASURE)
            measure(&bench, visit);
        else /* BC_WRITE */
            write_row(run, visit->row);
    close_syncbench(&bench);
    return bc_finish(run);
}
