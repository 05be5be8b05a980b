/*
 * How fast messages go with cold caches and many peers: the sustained message rate of
 * application-like patterns.
 *
 * Method: the Sandia real-world message rate benchmark; B. Barrett and K. S. Hemmert, "An
 * Application Based MPI Message Throughput Benchmark", IEEE CLUSTER 2009. That program adds up
 * times over iterations and ranks; the rate here is of the median iteration of the slowest rank.
 *
 *   parameters.h  options
 *   peers.h       who exchanges messages with whom
 *   messages.h    where messages lie and what is in them
 *   bench.h       peers, cache flush, data and rows
 *   kernel.h      the four timed patterns
 *   exchange.h    their iterations
 */
#include "common/run/benchmark.h"
#include "msgrate/exchange.h"

/* A run with defaults ends within this. */
#define RUN_BUDGET_S 20.0

/* Of a row. */
struct key {
    int64_t size_bytes;
    const struct msgrate_pattern *pattern; /* NULL: all of them, with -o */
};

struct result {
    const char *pattern;
    struct msgrate_result measured;
    double rates_per_s[MSGRATE_PATTERNS]; /* with -o */
};

static const struct bc_column columns[] = {
    BC_COLUMN("pattern", BC_KEY, 0, result, pattern),
    MSGRATE_COLUMNS(result, measured),
};

/* Of -o: bare values, so that only the order counts. */
static const struct bc_column machine_columns[] = {
    MSGRATE_JOB_COLUMNS(result, measured),
    BC_COLUMN("single direction", BC_MORE, 1, result, rates_per_s[0]),
    BC_COLUMN("pair-based", BC_MORE, 1, result, rates_per_s[1]),
    BC_COLUMN("pre-post", BC_MORE, 1, result, rates_per_s[2]),
    BC_COLUMN("all-start", BC_MORE, 1, result, rates_per_s[3]),
};

static bool is_machine_readable(const void *state)
{
    return ((const struct msgrate_parameters *)state)->machine_readable;
}

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    if (is_machine_readable(state)) {
        run->settings.no_header = true;
        run->settings.format = BC_FORMAT_TSV;
    }
    return msgrate_fit(state, run, error);
}

static struct bc_table choose_table(const void *state)
{
    if (is_machine_readable(state))
        return (struct bc_table){machine_columns, sizeof machine_columns / sizeof *machine_columns};
    return (struct bc_table){columns, sizeof columns / sizeof *columns};
}

static int shares(const void *state)
{
    return is_machine_readable(state) ? MSGRATE_PATTERNS : 1;
}

static void list_rows(void *state, struct bc_rows *rows)
{
    const struct msgrate_parameters *const p = state;
    for (size_t i = 0; i < p->sizes.count; i++) {
        if (p->machine_readable)
            bc_rows_add(rows, &(struct key){p->sizes.values[i], NULL});
        for (int j = 0; j < MSGRATE_PATTERNS && !p->machine_readable; j++)
            bc_rows_add(rows, &(struct key){p->sizes.values[i], &msgrate_patterns[j]});
    }
}

/* Measures all patterns for the one row of -o. */
static void measure_all(struct msgrate_exchange *exchange, double seconds, struct result *result)
{
    struct bc_run *const run = exchange->bench->run;
    struct msgrate_result *const measured = &result->measured;
    int64_t min_iterations = INT64_MAX;
    for (int i = 0; i < MSGRATE_PATTERNS; i++) {
        msgrate_measure(exchange, &msgrate_patterns[i], seconds / MSGRATE_PATTERNS, measured);
        result->rates_per_s[i] = measured->rate_per_s;
        if (measured->iterations < min_iterations)
            min_iterations = measured->iterations;
        run->failed = run->failed || measured->outcome.status == BC_FAIL;
    }
    measured->iterations = min_iterations;
}

static void measure(void *state, const void *row, double seconds, void *filled)
{
    const struct key *const key = row;
    struct result *const result = filled;
    struct msgrate_exchange exchange;
    msgrate_exchange_create(&exchange, state, key->size_bytes);
    if (key->pattern == NULL) {
        measure_all(&exchange, seconds, result);
    } else {
        result->pattern = key->pattern->name;
        msgrate_measure(&exchange, key->pattern, seconds, &result->measured);
    }
    msgrate_exchange_destroy(&exchange);
}

const struct bc_benchmark msgrate_benchmark = {
    .name = "msgrate",
    .summary = "Measures how many messages a second a process sends and receives in four\n"
               "patterns, with cold caches and many peers. Needs at least one process more than\n"
               "there are peers (-p).",
    .options = msgrate_options,
    .option_count = MSGRATE_OPTIONS,
    .budget_s = RUN_BUDGET_S,
    .defaults = &msgrate_default_parameters,
    .defaults_bytes = sizeof msgrate_default_parameters,
    .state_bytes = sizeof(struct msgrate_bench),
    .key_bytes = sizeof(struct key),
    .result_bytes = sizeof(struct result),
    .complete = msgrate_complete,
    .fit = fit,
    .choose_table = choose_table,
    .open = msgrate_open,
    .rows = list_rows,
    .measure = measure,
    .close = msgrate_close,
    .shares = shares,
};
