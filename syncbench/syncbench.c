/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronisation cost: the time that synchronisations of coarrays and of MPI add to a loop of
 * delays. The delay is short, since its variation is part of the result.
 *
 * Timed region: on each rank, a loop of repetitions, each a delay and a synchronisation, between
 * two readings of the clock (kernel.c), and alternately the reference loop, without
 * synchronisations. A sample is their difference divided by the number of repetitions, so drift
 * cancels. A barrier (or with --start=window an agreed start) and one untimed repetition precede
 * each loop. Locks have no untimed repetition: ranks take turns, with the delay inside the lock.
 *
 * When: a row is a synchronisation. Rows are measured alternately, in visits with new windows.
 *
 * How often: six visits per row, up to twelve if the row isn't precise and time is left. The first
 * visit doubles the repetitions until a loop is long compared with a reading of the clock. A visit
 * ends when its median is known to 2 % (--precision), or when its time is up.
 *
 * Written: one line per row, after its last visit (columns.c): the mean of the visits' medians.
 *
 * Source: the synchronisation part of the EPCC suite (common/coarray/coarray.h).
 */
#include "common/work/work.h"
#include "common/job/node_order.h"
#include "common/job/grid.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/run/program.h"
#include "syncbench/syncbench.h"
#include "syncbench/warnings.h"

#include <math.h>
#include <stdlib.h>

#define AUTO_DELAY_NS 100.0

/* Duration of a loop, longer on slow clocks: short, since virtual machines may be interrupted
   15,000 times per second. */
#define LOOP_NS 5000.0

/* Duration of a loop in which ranks take turns: long, so that the order of ranks doesn't matter. */
#define TURNS_NS 10e6

struct syncbench {
    struct syncbench_parameters parameters;
    struct bc_run *run;
    struct syncbench_team team;
    struct bc_node_order by_node;
    int dims[BC_GRID_DIMENSIONS];
    int *order;      /* of the ranks in random rings */
    int *neighbours; /* buffer for one row */
    uint64_t delay_units;
};

/* ---- usage ----------------------------------------------------------------------------------- */

/* Applies --outer and, with --estimator=mean, the specified values of options that aren't given.
   Local; rank 0. */
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

/* Checks processes and types, and applies --outer and --inner. */
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

/* ---- state shared by all rows ---------------------------------------------------------------- */

/* Returns the delay's units, the same on all ranks. Collective. */
static uint64_t find_delay(const struct syncbench_parameters *p)
{
    if (p->delay_units >= 0)
        return (uint64_t)p->delay_units;
    const struct bc_work_rate rate = bc_work_calibrate();
    uint64_t units = bc_work_units(&rate, AUTO_DELAY_NS);
    BC_MPI(MPI_Bcast(&units, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    return units;
}

/* Writes this rank's neighbours and returns their number. Pairs use ranks ordered by node, rings
   and grids the ranks of MPI_COMM_WORLD. Local. */
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

/* Makes new windows, except in oversubscribed jobs, in which that takes longer than most rows. */
static void renew(struct syncbench *bench)
{
    if (bench->run->job.oversubscribed)
        return;
    destroy_windows(bench);
    create_windows(bench);
}

/* Lists the rows of the chosen types and prints notes on missing types. True if there are pairs. */
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
            bc_output_remark(bench->run->output, SYNCBENCH_NOTE_LEFT_OUT, kind->name, lacks, ranks);
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
    bc_output_meta(run->output, SYNCBENCH_NOTE_DELAY, (unsigned long long)bench->delay_units);
    bc_output_meta(run->output, SYNCBENCH_NOTE_SEED, (long long)p->seed);
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

static bool is_checked(const struct bc_run *run, const struct syncbench_kind *kind)
{
    return kind->may_not_wait || (run->settings.check && kind->set != SYNCBENCH_NOBODY);
}

/* Rounds repetitions down to a multiple of `step`, at least one `step`. */
static int64_t whole_turns(int64_t repetitions, int64_t step)
{
    const int64_t steps = repetitions / step;
    return step * (steps > 0 ? steps : 1);
}

static struct bc_quantities quantities_of(const struct syncbench *bench,
                                          const struct syncbench_kind *kind)
{
    const bool turns = kind->set == SYNCBENCH_TURNS;
    const int64_t step = turns ? bench->run->job.ranks : 1, inner = bench->parameters.inner;
    return (struct bc_quantities){
        .count = SYNCBENCH_QUANTITIES,
        .precise = &syncbench_precise,
        .precise_count = 1,
        .clock_readings = 1.0,
        .batching = BC_DOUBLED_BATCHES,
        .repetitions = inner > 0 ? whole_turns(inner, step) : 0,
        .step = step,
        .max = whole_turns(SYNCBENCH_INNER, step),
        .batch_ns = turns ? TURNS_NS : LOOP_NS,
        .lead_in = turns ? BC_LEAD_IN_NEVER : BC_LEAD_IN_ALWAYS,
    };
}

/* Times a loop. If ranks take turns, each takes its share; in the reference loop rank 0 takes all
   turns. Turns are timed from the release on, so the slowest rank's time is that of all turns. */
static void time_loop(const struct syncbench *bench, struct bc_round *round, int quantity,
                      const struct syncbench_kind *kind, struct syncbench_team *team)
{
    const bool reference = quantity == SYNCBENCH_REFERENCE;
    syncbench_fn *const enter = reference ? syncbench_nothing : kind->enter;
    syncbench_fn *const leave = reference ? syncbench_nothing : kind->leave;
    const struct bc_job *const job = &bench->run->job;
    int64_t turns = round->repetitions / job->ranks;
    if (reference)
        turns = job->rank == 0 ? round->repetitions : 0;
    bc_round_release(round, MPI_COMM_WORLD);
    for (int64_t i = 0; i < round->lead_in; i++) {
        enter(team);
        leave(team);
    }
    bc_round_start(round);
    bc_round_time(
        round, quantity,
        kind->set == SYNCBENCH_TURNS
            ? syncbench_time_turns(team, enter, leave, bench->delay_units, turns)
            : syncbench_time_delays(team, enter, leave, bench->delay_units, round->repetitions));
}

static void measure(struct syncbench *bench, struct bc_visit *visit)
{
    const struct bc_run *const run = bench->run;
    struct syncbench_team *const team = &bench->team;
    struct syncbench_row *const row = visit->row;
    const struct syncbench_kind *const kind = row->kind;
    const struct bc_quantities quantities = quantities_of(bench, kind);
    row->neighbours = find_neighbours(bench, kind->set, row->n);
    bc_images_create(&team->images, team->coarray.comm, bench->neighbours, row->neighbours);
    if (kind->open != NULL)
        kind->open(team);
    if (is_checked(run, kind))
        row->wrong += syncbench_check(&run->job, kind, team);
    struct bc_rounds *const rounds = bc_rounds_of(run, &quantities, visit->seconds, &row->loops);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        if (bc_round_wants(round, SYNCBENCH_REFERENCE))
            time_loop(bench, round, SYNCBENCH_REFERENCE, kind, team);
        time_loop(bench, round, SYNCBENCH_LOOP, kind, team);
    }
    visit->is_precise = bc_store_is_precise(run, &quantities, &row->loops);
    if (kind->close != NULL)
        kind->close(team);
    bc_images_destroy(&team->images);
}

static void write_row(struct bc_run *run, struct syncbench_row *row)
{
    const struct syncbench_kind *const kind = row->kind;
    struct syncbench_result result;
    struct bc_outcome ignored;
    bool wrong = false;
    syncbench_conclude(run, row, &result);
    if (is_checked(run, kind))
        wrong = bc_sum_wrong(row->wrong, kind->may_not_wait ? &ignored : &result.outcome) > 0;
    result.kind = kind->name;
    result.neighbours = kind->set == SYNCBENCH_EVERYONE ? run->job.ranks - 1 : row->neighbours;
    if (kind->set == SYNCBENCH_TURNS)
        result.neighbours = BC_NO_INT;
    result.ranks = run->job.ranks;
    result.check = run->settings.check ? "NA" : "off";
    if (is_checked(run, kind) && !kind->may_not_wait)
        result.check = wrong ? "FAIL" : "ok";
    if (wrong && kind->may_not_wait)
        bc_output_remark(run->output, SYNCBENCH_NOTE_NO_WAIT, kind->name);
    bc_write_row(run, &result);
}

const struct bc_program syncbench_program = {
    .name = "syncbench",
    .summary = "Measures the cost of synchronising processes by coarrays and by MPI.\n"
               "Needs at least 2 processes.",
    .placement = BC_IN_WINDOWS,
    .options = {syncbench_options, SYNCBENCH_OPTIONS},
    .defaults = &syncbench_default_parameters,
    .defaults_bytes = sizeof syncbench_default_parameters,
    .state_bytes = sizeof(struct syncbench),
    .row_bytes = sizeof(struct syncbench_row),
    .budget_s = BC_BUDGET_S,
    .has_start = true,
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
