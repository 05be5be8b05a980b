/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host overhead and application availability: the time for which a message keeps the processor
 * busy, and the share of its transfer time that is left for other work.
 *
 * Method: post-work-wait, D. Doerfler and R. Brightwell, "Measuring MPI Send and Receive Overhead
 * and Application Availability in High Performance Network Interfaces", EuroPVM/MPI 2006. Overhead
 * as in D. Culler et al., "LogP: Towards a Realistic Model of Parallel Computation", PPoPP 1993:
 * the time for which the processor is engaged in sending or receiving a message.
 *
 * Timed region: loops of iterations between two readings of the clock (kernel.c). An iteration
 * posts a message, works, waits, and ends with a barrier of the two ranks. Loops without a message,
 * without work, and with neither are timed alternately with this one. With enough work (beyond the
 * knee) the message completes before the wait, and the overhead is the time that the message adds
 * to the work. Ranks of the lower half, ordered by node, measure, with partners in the upper half.
 *
 * When: a row is a size, a direction and a pair. Rows are measured alternately, in visits.
 *
 * How often: six visits per row, up to twelve if the row isn't precise and time is left. The first
 * visit raises the work until it finds the knee (search.c). A visit ends when overhead and transfer
 * are known to 2 % (--precision), or when its time is up. With -b RATIO a visit is the search of
 * the specification (SMB, docs/sources.md).
 *
 * Written: one line per row, after its last visit (columns.c, row.c).
 */
#include "common/mpi/mpi_check.h"
#include "common/run/program.h"
#include "mpi_overhead/mpi_overhead.h"
#include "mpi_overhead/warnings.h"

#include <math.h>

/* Share of a visit's time for finding the knee. */
#define KNEE_SHARE 0.4

/* Advice if a buffer doesn't fit into a GPU's memory. */
#define MEMORY_ADVICE "a smaller --msgsize"

/* ---- usage ----------------------------------------------------------------------------------- */

/* Checks processes and memory. Applies -n, -i and -b to the run. */
static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    const struct overhead_parameters *const p = state;
    run->settings.no_header = run->settings.no_header || p->no_header;
    /* -b RATIO also fixes the number of iterations. */
    run->counted = p->iterations > 0 || p->base_threshold > 0.0;
    if (run->job.ranks % 2 != 0)
        return bc_error_set(error,
                            "pairs need an even number of processes, got %d: use mpirun -np 2, "
                            "4 ...%s",
                            run->job.ranks, run->job.ranks == 1 ? BC_LAUNCHER_HINT : "");
    /* --buffers=new allocates the new buffer before it frees the old one. */
    const double buffers = p->buffers == BC_BUFFERS_NEW ? 2.0 : 1.0;
    const int64_t bytes = bc_size_list_max(&p->sizes);
    const double max_bytes = bc_run_usable_bytes(run, BC_MEMORY_SHARE, false) / buffers;
    return (double)bytes <= max_bytes ||
           bc_error_set(error, "--msgsize: %lld bytes do not fit into memory: use at most %.0f",
                        (long long)bytes, max_bytes);
}

static bool complete(void *state, struct bc_error *error)
{
    struct overhead_parameters *const p = state;
    return !bc_memory_is_asked(&p->memory) || bc_memory_complete(&p->memory, error);
}

/* ---- shared by all rows ---------------------------------------------------------------------- */

/* Prints notes on how many pairs cross nodes, and if the reported one doesn't. Collective. */
static void note_pairs(const struct mpi_overhead *bench, int partner)
{
    const struct bc_job *const job = &bench->run->job;
    bc_crossing_note(job, bench->run->output, "", partner);
    if (job->nodes > 1 && !bench->parameters.all_pairs && !bc_crosses_nodes(job, partner))
        bc_output_remark(bench->run->output, OVERHEAD_NOTE_ONE_NODE, partner);
}

static void open_overhead(struct mpi_overhead *bench, struct bc_run *run)
{
    const struct overhead_parameters *const p = &bench->parameters;
    bench->run = run;
    bench->verbose = p->verbose ? run->output : NULL;
    bc_node_order_create(&bench->by_node, &run->job);
    const int half = run->job.ranks / 2;
    const int place = bench->by_node.place;
    bench->exchange = (struct overhead_exchange){
        .measures = place < half,
        .peer = place < half ? 1 : 0,
        .token = p->base_threshold <= 0.0,
        .check = run->settings.check,
        .renews = p->buffers == BC_BUFFERS_NEW,
    };
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, place % half, place, &bench->exchange.pair));
    note_pairs(bench,
               bc_node_order_rank(&bench->by_node, place < half ? place + half : place - half));
    if (bench->device != NULL)
        bc_memory_describe(run, bench->device);
    bench->rate = bc_work_calibrate();
}

static void list_rows(const struct mpi_overhead *bench)
{
    const struct overhead_parameters *const p = &bench->parameters;
    const int pairs = p->all_pairs ? bench->run->job.ranks / 2 : 1;
    for (size_t i = 0; i < p->sizes.count; i++)
        for (int d = 0; d < OVERHEAD_DIRECTIONS; d++)
            for (int pair = 0; pair < pairs; pair++) {
                const enum overhead_direction direction = (enum overhead_direction)d;
                if (p->both || p->receive == (direction == OVERHEAD_RECEIVE))
                    *(struct overhead_row *)bc_add_row(bench->run) = (struct overhead_row){
                        .bytes = p->sizes.values[i], .direction = direction, .pair = pair};
            }
}

static void close_overhead(struct mpi_overhead *bench)
{
    bc_output_remark(bench->verbose, "verbose", "mpi_overhead: done");
    BC_MPI(MPI_Comm_free(&bench->exchange.pair));
    bc_node_order_destroy(&bench->by_node);
}

/* ---- one row --------------------------------------------------------------------------------- */

/* With --verbose, prints the first lines of the specification's program. */
static void print_start(const struct mpi_overhead *bench, int pair)
{
    const struct overhead_parameters *const p = &bench->parameters;
    struct bc_output *const output = bench->verbose;
    bc_output_remark(output, "verbose", "Calculating %s overhead",
                     bench->exchange.direction == OVERHEAD_SEND ? "send" : "receive");
    if (p->all_pairs)
        bc_output_remark(output, "verbose", "Pair is %d", pair);
    if (p->iterations > 0)
        bc_output_remark(output, "verbose", "Number of iterations is %lld",
                         (long long)p->iterations);
    else
        bc_output_remark(output, "verbose", "Iterations are being calculated automatically");
    bc_output_remark(output, "verbose", "Message size is %lld bytes",
                     (long long)bench->exchange.bytes);
    bc_output_remark(output, "verbose", "Overhead comparison threshold is %f (%.1f%%)",
                     p->threshold, 100.0 * (p->threshold - 1));
    if (p->base_threshold > 0.0)
        bc_output_remark(output, "verbose", "Base time comparison threshold is %f (%.1f%%)",
                         p->base_threshold, 100.0 * (p->base_threshold - 1));
    else
        bc_output_remark(output, "verbose",
                         "Base time comparison threshold is found by a fit to all points; base_t "
                         "is the first iter_t");
    bc_output_remark(output, "verbose", "Timing resolution is %.3f uS",
                     bench->run->max_clock.resolution_ns * 1e-3);
}

/* Prints a note on why the next row has no knee, with a remedy. */
static void note_no_knee(const struct mpi_overhead *bench, bool in_time, bool is_disturbed)
{
    struct bc_output *const output = bench->run->output;
    const long long row = (long long)bench->run->rows + 1;
    if (is_disturbed)
        bc_output_remark(output, OVERHEAD_NOTE_IMPOSSIBLE, row);
    else if (bench->parameters.base_threshold > 0.0 && in_time)
        bc_output_remark(output, OVERHEAD_NOTE_BASE_ROSE, row);
    else
        bc_output_remark(output, OVERHEAD_NOTE_NO_KNEE, row);
}

/* Returns the plan of a visit with -b auto: its share of a fixed number of iterations, or the plan
   of the settings. */
static struct bc_plan plan_of(const struct mpi_overhead *bench, const struct overhead_row *row,
                              double seconds)
{
    struct bc_plan plan = bc_plan_of(bench->run, &row->store.samples, seconds);
    const int64_t fixed = overhead_fixed_iterations(bench), visits = bench->run->visits;
    if (fixed > 0) {
        const int64_t loops = (fixed + row->iterations - 1) / row->iterations;
        plan.min_rounds = plan.max_rounds = (loops + visits - 1) / visits;
    }
    bc_plan_until_precise(&plan, overhead_precise_values, OVERHEAD_PRECISE_VALUES);
    return plan;
}

/* Measures without work and with work beyond the knee, alternately, until the values are precise or
   the time is up. Collective. */
static void measure_beyond_knee(struct mpi_overhead *bench, double end_s, struct overhead_row *row)
{
    static const struct bc_quantities quantities = {.count = OVERHEAD_QUANTITIES,
                                                    .slowest_of = OVERHEAD_BASE};
    struct overhead_exchange *const x = &bench->exchange;
    x->units = row->units;
    x->iterations = row->iterations;
    const struct bc_plan plan = plan_of(bench, row, fmax(end_s - bc_elapsed_s(), 0.0));
    struct bc_rounds *const rounds =
        bc_rounds_by_plan(bench->run, &quantities, &plan, &row->store.samples);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        overhead_time(x, round, OVERHEAD_BASE, true, false, 0);
        overhead_time(x, round, OVERHEAD_EMPTY, false, false, 0);
        overhead_time(x, round, OVERHEAD_ITER, true, x->token, x->units);
        overhead_time(x, round, OVERHEAD_WORK, false, x->token, x->units);
    }
    row->store.in_time = bc_rounds_settled(rounds);
}

/* All pairs exchange messages; the row has the times of one pair. */
static void measure(struct mpi_overhead *bench, struct bc_visit *visit)
{
    struct overhead_exchange *const x = &bench->exchange;
    struct overhead_row *const row = visit->row;
    x->direction = row->direction;
    x->reports = bench->by_node.place == row->pair;
    x->bytes = row->bytes;
    x->wrong = 0;
    bc_buffer_create(&x->buffer, bench->device,
                     bench->parameters.memory.of[overhead_receives(x) ? 1 : 0], (size_t)row->bytes,
                     true, MEMORY_ADVICE);
    bc_amount_create(&x->message, row->bytes, MPI_BYTE);
    if (bench->run->visit == 0)
        print_start(bench, bc_node_order_rank(&bench->by_node, row->pair));
    overhead_prepare_data(x);
    if (overhead_is_fitted(bench)) {
        const double end_s = bc_elapsed_s() + visit->seconds;
        if (row->iterations == 0)
            overhead_find_knee(bench, visit->seconds * KNEE_SHARE, row);
        measure_beyond_knee(bench, end_s, row);
    } else {
        overhead_find_threshold(bench, visit->seconds, row);
    }
    row->wrong += x->wrong;
    visit->is_precise = overhead_is_precise(bench, row);
    bc_amount_destroy(&x->message);
    bc_buffer_destroy(&x->buffer);
}

static void write_row(const struct mpi_overhead *bench, struct overhead_row *row)
{
    struct overhead_result result = {0};
    overhead_conclude(bench, row, &result);
    if (result.outcome.status == overhead_no_knee)
        note_no_knee(bench, row->store.in_time, result.is_disturbed);
    bc_write_row(bench->run, &result);
}

const struct bc_program mpi_overhead_program = {
    .name = "mpi_overhead",
    .summary = "Measures the host overhead of a message, and the share of its transfer time that\n"
               "is left for work. Needs an even number of processes.",
    .placement = BC_PLACED,
    .has_buffers = true,
    .options = {overhead_options, OVERHEAD_OPTIONS},
    .defaults = &overhead_default_parameters,
    .defaults_bytes = sizeof overhead_default_parameters,
    .state_bytes = sizeof(struct mpi_overhead),
    .row_bytes = sizeof(struct overhead_row),
    .budget_s = BC_BUDGET_S,
    .first_share = 0.4,
    .complete = complete,
    .fit = fit,
};

static const char *varying_keys(const struct overhead_parameters *p)
{
    if (p->all_pairs)
        return p->both ? "direction,pair," : "pair,";
    return p->both ? "direction," : "";
}

/* Reserves a buffer, its contents, and a buffer that is allocated before the old one is freed. */
static void open_memory(struct mpi_overhead *bench, struct bc_run *run)
{
    const struct overhead_parameters *const p = &bench->parameters;
    const double bytes = 3.0 * (double)bc_size_list_max(&p->sizes);
    if (bc_memory_is_asked(&p->memory))
        bench->device = bc_memory_open(run, &p->memory, bytes, MEMORY_ADVICE);
}

static const struct bc_table *table_of(const struct mpi_overhead *bench)
{
    const struct bc_table *table = &overhead_table;
    if (bench->device != NULL)
        table = bc_table_with_key(table, overhead_memory_column);
    if (bench->parameters.buffers == BC_BUFFERS_NEW)
        table = bc_table_with_key(table, overhead_buffers_column);
    return table;
}

int main(int argc, char **argv)
{
    struct mpi_overhead bench;
    struct bc_run *const run = bc_start(&mpi_overhead_program, &bench, argc, argv);
    open_memory(&bench, run);
    bc_open_result(run, table_of(&bench), varying_keys(&bench.parameters));
    open_overhead(&bench, run);
    list_rows(&bench);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&bench, visit);
        else
            write_row(&bench, visit->row);
    close_overhead(&bench);
    return bc_finish(run);
}
