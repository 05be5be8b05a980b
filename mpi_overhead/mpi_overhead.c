/*
 * How much of the processor a message takes: host overhead and application
 * availability by the post-work-wait method.
 *
 * Method: D. Doerfler and R. Brightwell, "Measuring MPI Send and Receive
 * Overhead and Application Availability in High Performance Network
 * Interfaces", EuroPVM/MPI 2006. Overhead as in D. Culler et al., "LogP:
 * Towards a Realistic Model of Parallel Computation", PPoPP 1993: the time for
 * which the processor is engaged in sending or receiving a message.
 *
 * The lower half of the ranks, ordered by node, measures, each with a partner in the
 * upper half.
 *
 *   parameters.h  options
 *   kernel.h      the timed loops
 *   knee.h        where work stops fitting under a message
 *   measure.h     one row
 */
#include "common/mpi/mpi_check.h"
#include "common/machine/node_order.h"
#include "common/run/parse.h"
#include "common/mpi/harness.h"
#include "common/run/run.h"
#include "mpi_overhead/kernel.h"
#include "mpi_overhead/measure.h"
#include "mpi_overhead/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run with defaults ends within this. */
#define RUN_BUDGET_S 50.0

/* Of the memory that a rank may take, the buffer may take this share. */
#define MEMORY_SHARE 0.5

static const struct bc_column columns[] = {
    {"direction", BC_KEY, 0},       {"pair", BC_KEY, 0},
    {"msgsize", BC_KEY, 0},         {"iterations", BC_INFO, 0},
    {"iter_t", BC_INFO, 3},         {"work_t", BC_INFO, 3},
    {"overhead", BC_LESS, 3},       {"base_t", BC_INFO, 3},
    {"avail(%)", BC_INFO, 1},       {"overhead_lo_us", BC_INFO, 3},
    {"overhead_hi_us", BC_INFO, 3}, {"transfer_us", BC_LESS, 3},
    {"avail_base_pct", BC_INFO, 1}, {"transfer_lo_us", BC_INFO, 3},
    {"transfer_hi_us", BC_INFO, 3}, {"avail_lo_pct", BC_INFO, 1},
    {"avail_hi_pct", BC_INFO, 1},   {"samples", BC_INFO, 0},
    {"status", BC_INFO, 0},
};

static struct overhead_parameters parameters;

/* ---- usage ----------------------------------------------------------------------------------- */

static bool take_base_threshold(struct bc_error *error)
{
    if (strcmp(parameters.base_text, "auto") == 0)
        return true;
    if (!bc_parse_real(parameters.base_text, &parameters.base_threshold) ||
        parameters.base_threshold < 1.0 || parameters.base_threshold > 1000.0)
        return bc_error_set(error,
                            "--bthresh: '%.80s' is neither auto nor a "
                            "ratio: use auto or 1 to 1000",
                            parameters.base_text);
    return true;
}

static int64_t largest_message(void)
{
    int64_t largest = 0;
    for (size_t i = 0; i < parameters.sizes.count; i++)
        if (parameters.sizes.values[i] > largest)
            largest = parameters.sizes.values[i];
    return largest;
}

static bool validate(struct bc_run *run, struct bc_error *error)
{
    run->settings.help = parameters.usage;
    if (parameters.usage)
        return true;
    run->settings.no_header = run->settings.no_header || parameters.no_header;
    if (run->job.ranks % 2 != 0)
        return bc_error_set(error,
                            "pairs need an even number of processes, got "
                            "%d: use mpirun -np 2, 4 ...%s",
                            run->job.ranks, run->job.ranks == 1 ? BC_LAUNCHER_HINT : "");
    const double most = MEMORY_SHARE * (double)run->memory_per_rank;
    if ((double)largest_message() > most)
        return bc_error_set(error,
                            "--msgsize: %lld bytes do not fit into "
                            "memory: use at most %.0f",
                            (long long)largest_message(), most);
    return take_base_threshold(error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *direction_name(enum overhead_direction direction)
{
    return direction == OVERHEAD_SEND ? "send" : "recv";
}

static void set_us(struct bc_row *row, const char *name, double ns)
{
    bc_row_real(row, name, ns * 1e-3);
}

static void fill_row(struct bc_row *row, const struct bc_run *run,
                     const struct overhead_exchange *exchange, int pair,
                     const struct overhead_result *result, const char *status)
{
    bc_row_clear(row, &run->benchmark->table);
    bc_row_text(row, "direction", direction_name(exchange->direction));
    bc_row_integer(row, "pair", pair);
    bc_row_integer(row, "msgsize", exchange->bytes);
    bc_row_integer(row, "iterations", result->iterations);
    set_us(row, "iter_t", result->iter_ns);
    set_us(row, "work_t", result->work_ns);
    set_us(row, "overhead", result->overhead_ns.value);
    set_us(row, "overhead_lo_us", result->overhead_ns.lo);
    set_us(row, "overhead_hi_us", result->overhead_ns.hi);
    set_us(row, "base_t", result->base_ns);
    set_us(row, "transfer_us", result->transfer_ns.value);
    set_us(row, "transfer_lo_us", result->transfer_ns.lo);
    set_us(row, "transfer_hi_us", result->transfer_ns.hi);
    bc_row_real(row, "avail(%)", result->available_pct.value);
    bc_row_real(row, "avail_base_pct", result->available_base_pct);
    bc_row_real(row, "avail_lo_pct", result->available_pct.lo);
    bc_row_real(row, "avail_hi_pct", result->available_pct.hi);
    bc_row_integer(row, "samples", (int64_t)result->samples);
    bc_row_text(row, "status", status);
}

/* What the specification's program says before it starts. */
static void tell_start(const struct bc_run *run, const struct overhead_exchange *exchange, int pair)
{
    if (!parameters.verbose)
        return;
    struct bc_output *const output = run->output;
    bc_output_remark(output, "verbose", "Calculating %s overhead",
                     exchange->direction == OVERHEAD_SEND ? "send" : "receive");
    if (parameters.all_pairs)
        bc_output_remark(output, "verbose", "Pair is %d", pair);
    if (parameters.iterations > 0)
        bc_output_remark(output, "verbose", "Number of iterations is %lld",
                         (long long)parameters.iterations);
    else
        bc_output_remark(output, "verbose", "Iterations are being calculated automatically");
    bc_output_remark(output, "verbose", "Message size is %lld bytes", (long long)exchange->bytes);
    bc_output_remark(output, "verbose", "Overhead comparison threshold is %f (%.1f%%)",
                     parameters.threshold, 100.0 * (parameters.threshold - 1));
    if (parameters.base_threshold > 0.0)
        bc_output_remark(output, "verbose", "Base time comparison threshold is %f (%.1f%%)",
                         parameters.base_threshold, 100.0 * (parameters.base_threshold - 1));
    else
        bc_output_remark(output, "verbose",
                         "Base time comparison threshold is found by a fit to "
                         "all points; base_t is the first iter_t");
    bc_output_remark(output, "verbose", "Timing resolution is %.3f uS",
                     run->max_clock.resolution_ns * 1e-3);
}

static const char *status_of(const struct overhead_result *result, int64_t wrong)
{
    if (wrong > 0)
        return "FAIL";
    if (!result->knee)
        return "no-knee";
    return result->in_time ? "ok" : "budget";
}

/* A number of iterations runs in full, as --samples does; so does the specification's
   search, whose iterations are a number. */
static double row_seconds(const struct bc_run *run, int64_t rows_left)
{
    const bool counted = parameters.iterations > 0 || parameters.base_threshold > 0.0;
    if (counted && !bc_option_given(&run->options, "max-time"))
        return INFINITY;
    return bc_run_row_seconds(run, rows_left);
}

/* Says what would find the knee that was not found in the row that comes next. */
static void tell_no_knee(const struct bc_run *run, const struct overhead_result *result)
{
    const long long row = (long long)run->rows + 1;
    if (parameters.base_threshold > 0.0 && result->in_time)
        bc_output_remark(run->output, "note",
                         "row %lld: base_t rose with the work, so that no iteration "
                         "took --thresh times as long: lower --bthresh or --thresh",
                         row);
    else
        bc_output_remark(run->output, "note",
                         "row %lld: no amount of work got beyond the transfer in "
                         "its time: --max-time gives it more",
                         row);
}

/* Measures one row for one pair, that of the measuring rank at place `pair` in the order
   of nodes; all pairs exchange messages. Collective; false if the run must end. */
static bool measure_row(struct overhead_bench *bench, struct overhead_exchange *exchange, int pair,
                        int64_t rows_left)
{
    struct overhead_result result;
    exchange->reports = bench->by_node->place == pair;
    exchange->wrong = 0;
    overhead_prepare_data(exchange);
    const int pair_rank = bc_node_order_rank(bench->by_node, pair);
    tell_start(bench->run, exchange, pair_rank);
    overhead_measure(bench, exchange, row_seconds(bench->run, rows_left), &result);
    int64_t wrong = 0;
    bc_harness_reduce(&exchange->wrong, &wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    const char *const status = status_of(&result, wrong);
    if (strcmp(status, "no-knee") == 0)
        tell_no_knee(bench->run, &result);
    struct bc_row row;
    fill_row(&row, bench->run, exchange, pair_rank, &result, status);
    return bc_run_row(bench->run, &row);
}

/* The same with messages of so many bytes. */
static bool measure_size(struct overhead_bench *bench, struct overhead_exchange *exchange,
                         int64_t bytes, int pair, int64_t rows_left)
{
    exchange->bytes = bytes;
    bc_amount_create(&exchange->message, bytes, MPI_BYTE);
    const bool goes_on = measure_row(bench, exchange, pair, rows_left);
    bc_amount_destroy(&exchange->message);
    return goes_on;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void run_rows(struct overhead_bench *bench, struct overhead_exchange *exchange)
{
    const enum overhead_direction first =
        parameters.receive && !parameters.both ? OVERHEAD_RECEIVE : OVERHEAD_SEND;
    const int directions = parameters.both ? 2 : 1;
    const int pairs = parameters.all_pairs ? bench->run->job.ranks / 2 : 1;
    int64_t rows_left = (int64_t)parameters.sizes.count * directions * pairs;
    for (size_t i = 0; i < parameters.sizes.count; i++)
        for (int d = 0; d < directions; d++)
            for (int pair = 0; pair < pairs; pair++) {
                exchange->direction = d == 0 ? first : OVERHEAD_RECEIVE;
                if (!measure_size(bench, exchange, parameters.sizes.values[i], pair, rows_left--))
                    return;
            }
}

/* Says how many pairs cross nodes, and whether the reported one does. Collective. */
static void note_pairs(const struct bc_run *run, int partner)
{
    bc_crossing_note(&run->job, run->output, "", partner);
    if (run->job.nodes > 1 && !parameters.all_pairs && !bc_crosses_nodes(&run->job, partner))
        bc_output_remark(run->output, "note",
                         "the reported pair, ranks 0 and %d, is on one node: "
                         "--all-pairs reports all of them",
                         partner);
}

static void create_exchange(const struct bc_run *run, const struct bc_node_order *by_node,
                            struct overhead_exchange *exchange)
{
    const int half = run->job.ranks / 2;
    const int place = by_node->place;
    const size_t bytes = (size_t)largest_message();
    *exchange = (struct overhead_exchange){
        .measures = place < half,
        .peer = place < half ? 1 : 0,
        .check = run->settings.check,
        .buffer = malloc(bytes > 0 ? bytes : 1),
    };
    if (exchange->buffer == NULL)
        bc_abort("no memory for a message of %zu bytes", bytes);
    memset(exchange->buffer, 0, bytes > 0 ? bytes : 1);
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, place % half, place, &exchange->pair));
    note_pairs(run, bc_node_order_rank(by_node, place < half ? place + half : place - half));
}

int main(int argc, char **argv)
{
    struct bc_option rows[OVERHEAD_OPTIONS_MAX];
    const struct bc_benchmark benchmark = {
        .name = "mpi_overhead",
        .summary = "Measures how much of the processor a message takes, and how "
                   "much of its\ntransfer time is left for other work. Needs "
                   "an even number of processes.",
        .table = {columns, sizeof columns / sizeof *columns},
        .options = rows,
        .option_count = overhead_parameters_table(&parameters, rows),
        .thread_level = MPI_THREAD_SINGLE,
        .run_budget_s = RUN_BUDGET_S,
        .validate = validate,
        .usage_option = 'q',
    };
    struct bc_run run;
    int status;
    if (!bc_run_begin(&run, &benchmark, argc, argv, &status))
        return status;
    /* Rank 0 has parsed it; the others got the text. */
    struct bc_error ignored;
    take_base_threshold(&ignored);

    struct bc_node_order by_node;
    bc_node_order_create(&by_node, &run.job);
    struct overhead_exchange exchange;
    create_exchange(&run, &by_node, &exchange);
    struct overhead_bench bench = {
        .run = &run,
        .by_node = &by_node,
        .parameters = &parameters,
        .sampler = bc_sampler_create(MPI_COMM_WORLD),
        .rate = bc_work_calibrate(),
    };
    run_rows(&bench, &exchange);
    if (parameters.verbose)
        bc_output_remark(run.output, "verbose", "mpi_overhead: done");
    bc_sampler_destroy(bench.sampler);
    BC_MPI(MPI_Comm_free(&exchange.pair));
    bc_node_order_destroy(&by_node);
    free(exchange.buffer);
    return bc_run_end(&run);
}
