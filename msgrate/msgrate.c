/*
 * How fast messages go with cold caches and many peers: the sustained message rate of
 * application-like patterns.
 *
 * Method: the Sandia real-world message rate benchmark; B. Barrett and K. S. Hemmert, "An
 * Application Based MPI Message Throughput Benchmark", IEEE CLUSTER 2009. That program adds up
 * times over iterations and ranks; the rate here is of the median iteration of the slowest rank.
 */
#include "common/run/benchmark.h"
#include "msgrate/exchange.h"

static const struct bc_column columns[] = {
    BC_COLUMN("pattern", BC_KEY, 0, msgrate_result, pattern),
    MSGRATE_COLUMNS,
};

/* Of -o: bare values, so that only the order counts. */
static const struct bc_column machine_columns[] = {
    MSGRATE_JOB_COLUMNS,
    BC_COLUMN("single direction", BC_MORE, 1, msgrate_result, rates_per_s[0]),
    BC_COLUMN("pair-based", BC_MORE, 1, msgrate_result, rates_per_s[1]),
    BC_COLUMN("pre-post", BC_MORE, 1, msgrate_result, rates_per_s[2]),
    BC_COLUMN("all-start", BC_MORE, 1, msgrate_result, rates_per_s[3]),
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

/* With -o the one row of a size is of all patterns, from the first one on. */
static void list_rows(void *state, struct bc_rows *rows)
{
    const struct msgrate_parameters *const p = state;
    const int count = p->machine_readable ? 1 : MSGRATE_PATTERNS;
    for (size_t i = 0; i < p->sizes.count; i++)
        for (int j = 0; j < count; j++)
            bc_rows_add(rows, &(struct msgrate_key){p->sizes.values[i], &msgrate_patterns[j]});
}

/* What a row remembers from visit to visit: of its pattern, or of all patterns for -o. */
struct row {
    struct msgrate_row patterns[MSGRATE_PATTERNS];
};

static int patterns_of(const void *state)
{
    return is_machine_readable(state) ? MSGRATE_PATTERNS : 1;
}

/* The pattern number i of a row: its own one, or those from the first one on. */
static struct msgrate_key key_of(const struct msgrate_key *row, int i)
{
    return (struct msgrate_key){row->size_bytes, row->pattern + i};
}

static void visit(void *state, const void *key, double seconds, void *memory)
{
    struct row *const row = memory;
    const int count = patterns_of(state);
    struct msgrate_exchange exchange;
    msgrate_exchange_create(&exchange, state, key);
    for (int i = 0; i < count; i++) {
        const struct msgrate_key one = key_of(key, i);
        msgrate_choose(&exchange, one.pattern);
        msgrate_visit(&exchange, seconds / count, &row->patterns[i]);
    }
    msgrate_exchange_destroy(&exchange);
}

static bool is_precise(const void *state, const void *key, const void *row)
{
    (void)key;
    for (int i = 0; i < patterns_of(state); i++)
        if (!msgrate_is_precise(state, &((const struct row *)row)->patterns[i]))
            return false;
    return true;
}

static void conclude(void *state, const void *key, void *memory, void *filled)
{
    struct row *const row = memory;
    struct msgrate_result *const result = filled;
    struct bc_run *const run = ((struct msgrate_bench *)state)->run;
    const int count = patterns_of(state);
    int64_t min_iterations = INT64_MAX;
    for (int i = 0; i < count; i++) {
        const struct msgrate_key one = key_of(key, i);
        msgrate_conclude(state, &one, &row->patterns[i], result);
        result->rates_per_s[i] = result->rate_per_s;
        if (result->iterations < min_iterations)
            min_iterations = result->iterations;
        run->failed = run->failed || result->outcome.status == BC_FAIL;
    }
    result->iterations = min_iterations;
}

const struct bc_benchmark msgrate_benchmark = {
    .name = "msgrate",
    .summary = "Measures how many messages a second a process sends and receives in four\n"
               "patterns, with cold caches and many peers. Needs at least one process more than\n"
               "there are peers (-p).",
    .options = {msgrate_options, MSGRATE_OPTIONS, &msgrate_default_parameters,
                sizeof msgrate_default_parameters},
    MSGRATE_BENCHMARK,
    .choose_table = choose_table,
    .shares = patterns_of,
    .fit = fit,
    .open = msgrate_open,
    .rows = list_rows,
    .bytes = {sizeof(struct msgrate_bench), sizeof(struct msgrate_key),
              sizeof(struct msgrate_result), sizeof(struct row)},
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
};
