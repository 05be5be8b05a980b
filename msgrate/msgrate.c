/*
 * How fast messages go with cold caches and many peers: the sustained message rate of
 * application-like patterns.
 *
 * Method: the Sandia real-world message rate benchmark; B. Barrett and K. S. Hemmert, "An
 * Application Based MPI Message Throughput Benchmark", IEEE CLUSTER 2009. That program adds up
 * times over iterations and ranks; the rate here is of the median iteration of the slowest rank.
 */
#include "common/run/program.h"
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

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    if (((const struct msgrate_parameters *)state)->machine_readable) {
        run->settings.no_header = true;
        run->settings.format = BC_FORMAT_TSV;
    }
    return msgrate_fit(state, run, error);
}

struct row {
    struct msgrate_key key; /* with -o its pattern is the first of all of them */
    struct msgrate_row patterns[MSGRATE_PATTERNS];
};

/* The patterns of a row. */
static int patterns_of(const struct msgrate_parameters *p)
{
    return p->machine_readable ? MSGRATE_PATTERNS : 1;
}

static void list_rows(const struct msgrate_bench *bench)
{
    const struct msgrate_parameters *const p = &bench->parameters;
    for (size_t i = 0; i < p->sizes.count; i++)
        for (int j = 0; j < MSGRATE_PATTERNS; j += patterns_of(p)) {
            struct row *const row = bc_add_row(bench->run);
            row->key = (struct msgrate_key){p->sizes.values[i], &msgrate_patterns[j]};
        }
}

static void measure(struct msgrate_bench *bench, struct bc_visit *visit)
{
    struct row *const row = visit->row;
    const int count = patterns_of(&bench->parameters);
    struct msgrate_exchange exchange;
    msgrate_exchange_create(&exchange, bench, &row->key);
    visit->is_precise = true;
    for (int i = 0; i < count; i++) {
        msgrate_choose(&exchange, row->key.pattern + i);
        msgrate_visit(&exchange, visit->seconds / count, &row->patterns[i]);
        visit->is_precise = visit->is_precise && msgrate_is_precise(bench, &row->patterns[i]);
    }
    msgrate_exchange_destroy(&exchange);
}

static void write_row(const struct msgrate_bench *bench, struct row *row)
{
    struct bc_run *const run = bench->run;
    struct msgrate_result result = {0};
    int64_t min_iterations = INT64_MAX;
    for (int i = 0; i < patterns_of(&bench->parameters); i++) {
        const struct msgrate_key one = {row->key.size_bytes, row->key.pattern + i};
        msgrate_conclude(bench, &one, &row->patterns[i], &result);
        result.rates_per_s[i] = result.rate_per_s;
        if (result.iterations < min_iterations)
            min_iterations = result.iterations;
        run->failed = run->failed || result.outcome.status == BC_FAIL;
    }
    result.iterations = min_iterations;
    bc_write_row(run, &result);
}

const struct bc_program msgrate_program = {
    .name = "msgrate",
    .summary = "Measures how many messages a second a process sends and receives in four\n"
               "patterns, with cold caches and many peers. Needs at least one process more than\n"
               "there are peers (-p).",
    .options = {msgrate_options, MSGRATE_OPTIONS},
    MSGRATE_PROGRAM,
    .fit = fit,
};

int main(int argc, char **argv)
{
    struct msgrate_bench bench;
    struct bc_run *const run = bc_start(&msgrate_program, &bench, argc, argv);
    if (bench.parameters.machine_readable)
        bc_open_result(run, machine_columns, sizeof machine_columns / sizeof *machine_columns);
    else
        bc_open_result(run, columns, sizeof columns / sizeof *columns);
    run->row_shares = patterns_of(&bench.parameters);
    msgrate_open(&bench, run);
    list_rows(&bench);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&bench, visit);
        else
            write_row(&bench, visit->row);
    msgrate_close(&bench);
    return bc_finish(run);
}
