/*
 * How fast messages go with cold caches and many peers: the sustained message
 * rate of application-like patterns.
 *
 * Method: the Sandia real-world message rate benchmark; B. Barrett and
 * K. S. Hemmert, "An Application Based MPI Message Throughput Benchmark",
 * IEEE CLUSTER 2009. Where that adds up times over iterations and ranks and
 * divides, the rate here is of the median iteration of the slowest rank.
 *
 *   parameters.h  options
 *   peers.h       who exchanges messages with whom
 *   bench.h       peers, cache flush, samples and rows
 *   messages.h    where messages lie and what is in them
 *   patterns.h    the four timed patterns
 */
#include "common/run/run.h"
#include "msgrate/bench.h"
#include "msgrate/parameters.h"
#include "msgrate/patterns.h"

#include <string.h>

/* A run with defaults ends within this. */
#define RUN_BUDGET_S 20.0

static const struct bc_column columns[] = {
    {"pattern", BC_KEY, 0},
    MSGRATE_COLUMNS,
};

/* Of -o: bare values, so that only the order counts. */
static const struct bc_column machine_columns[] = {
    {"job_size", BC_KEY, 0},    {"npeers", BC_KEY, 0},
    {"niters", BC_INFO, 0},     {"nmsgs", BC_KEY, 0},
    {"nbytes", BC_KEY, 0},      {"cache_size", BC_KEY, 0},
    {"ppn", BC_KEY, 0},         {"single direction", BC_MORE, 1},
    {"pair-based", BC_MORE, 1}, {"pre-post", BC_MORE, 1},
    {"all-start", BC_MORE, 1},
};

static struct msgrate_parameters parameters;
static bool machine_readable;

static struct bc_benchmark benchmark = {
    .name = "msgrate",
    .summary = "Measures how many messages a second a process sends and receives "
               "in four\npatterns, with cold caches and many peers. Needs at "
               "least one process more than\nthere are peers (-p).",
    .table = {columns, sizeof columns / sizeof *columns},
    .thread_level = MPI_THREAD_SINGLE,
    .run_budget_s = RUN_BUDGET_S,
};

static bool validate(struct bc_run *run, struct bc_error *error)
{
    const int buffers = run->settings.check ? 3 : 2;
    if (machine_readable) {
        run->settings.no_header = true;
        run->settings.format = BC_FORMAT_TSV;
        benchmark.table.columns = machine_columns;
        benchmark.table.count = sizeof machine_columns / sizeof *machine_columns;
    }
    return msgrate_parameters_validate(&parameters, run, buffers, error);
}

/* A row for each pattern. False if the run must end. */
static bool write_rows(struct msgrate_bench *bench, struct msgrate_exchange *exchange,
                       int64_t *rows_left)
{
    for (int i = 0; i < MSGRATE_PATTERNS; i++) {
        struct msgrate_result result;
        struct bc_row row;
        msgrate_measure(exchange, &msgrate_patterns[i],
                        bc_run_row_seconds(bench->run, (*rows_left)--), &result);
        msgrate_warn_wrong(bench, &result);
        bc_row_clear(&row, &benchmark.table);
        bc_row_text(&row, "pattern", msgrate_patterns[i].name);
        msgrate_fill_row(&row, bench, &result);
        if (!bc_run_row(bench->run, &row))
            return false;
    }
    return true;
}

/* One row for all patterns. False if the run must end. */
static bool write_machine_row(struct msgrate_bench *bench, struct msgrate_exchange *exchange,
                              int64_t *rows_left)
{
    struct bc_row row;
    bc_row_clear(&row, &benchmark.table);
    int64_t iterations = INT64_MAX;
    for (int i = 0; i < MSGRATE_PATTERNS; i++) {
        struct msgrate_result result;
        msgrate_measure(exchange, &msgrate_patterns[i],
                        bc_run_row_seconds(bench->run, (*rows_left)--), &result);
        msgrate_warn_wrong(bench, &result);
        if (bench->run->job.rank != 0)
            continue;
        bench->run->failed = bench->run->failed || result.wrong > 0;
        if ((int64_t)result.iteration.count < iterations)
            iterations = (int64_t)result.iteration.count;
        bc_row_real(&row, msgrate_patterns[i].name,
                    msgrate_rate_per_s(&result, result.iteration.value));
    }
    msgrate_fill_job(&row, bench, exchange->messages.bytes, iterations);
    return bc_run_row(bench->run, &row);
}

static void run_sizes(struct msgrate_bench *bench)
{
    const struct bc_size_list *const sizes = &parameters.sizes;
    int64_t rows_left = (int64_t)sizes->count * MSGRATE_PATTERNS;
    bool goes_on = true;
    for (size_t i = 0; i < sizes->count && goes_on; i++) {
        struct msgrate_exchange exchange;
        msgrate_exchange_create(&exchange, bench, sizes->values[i]);
        goes_on = machine_readable ? write_machine_row(bench, &exchange, &rows_left)
                                   : write_rows(bench, &exchange, &rows_left);
        msgrate_exchange_destroy(&exchange);
    }
}

int main(int argc, char **argv)
{
    struct bc_option rows[MSGRATE_OPTIONS_MAX];
    size_t count = msgrate_parameters_table(&parameters, rows);
    rows[count++] =
        (struct bc_option){.long_name = "machine-readable",
                           .short_name = 'o',
                           .kind = BC_FLAG,
                           .value = &machine_readable,
                           .help = "one line of bare values a size: job_size npeers niters nmsgs "
                                   "nbytes cache_size ppn, then the rates of single direction, "
                                   "pair-based, pre-post and all-start"};
    benchmark.options = rows;
    benchmark.option_count = count;
    benchmark.validate = validate;

    struct bc_run run;
    int status;
    if (!bc_run_begin(&run, &benchmark, argc, argv, &status))
        return status;
    struct msgrate_bench bench;
    msgrate_bench_create(&bench, &run, &parameters);
    run_sizes(&bench);
    msgrate_bench_destroy(&bench);
    return bc_run_end(&run);
}
