/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message rate: the sustained rate of application-like patterns, with cold caches and many peers.
 *
 * Method: the Sandia real-world message rate benchmark; B. Barrett and K. S. Hemmert, "An
 * Application Based MPI Message Throughput Benchmark", IEEE CLUSTER 2009. That program adds up
 * times over iterations and ranks; here the time of an iteration is that of its slowest rank.
 *
 * Timed region: on each rank, after flushing its caches, writing its send buffers and a barrier
 * (exchange.c), the MPI_Isend, MPI_Irecv and MPI_Waitall of an iteration (kernel.c), in four
 * patterns:
 *
 *     single direction   the lower half of the ranks sends to the upper half
 *     pair-based         with one peer after the other
 *     pre-post           receives are posted an iteration ahead
 *     all-start          with all peers at once
 *
 * When: a row is a pattern and a size, or with -o a size, with all patterns one after the other.
 * Rows are measured alternately, in visits. The first post and the last sends of pre-post are not
 * timed.
 *
 * How often: six visits per row, up to twelve if the row isn't precise and time is left. A visit
 * ends when its median is known to 2 % (--precision), or when its time is up.
 *
 * Devices: with buffers on a device (--memory), each round also times the staged counterpart: a
 * copy to pinned memory, the same exchange, a copy back. -o has no counterpart.
 *
 * Written: one line per row, after its last visit (columns.c): the messages that a rank sends and
 * receives per second, from the mean of the visits' medians.
 */
#include "common/device/memory.h"
#include "common/run/program.h"
#include "msgrate/exchange.h"

/* ---- usage ----------------------------------------------------------------------------------- */

/* With -o the result has values only, without a header, as in SMB. */
static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    if (((const struct msgrate_parameters *)state)->machine_readable) {
        run->settings.no_header = true;
        run->settings.format = BC_FORMAT_TSV;
    }
    return msgrate_fit(state, run, error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A line of the result: one pattern, or with -o all patterns. */
struct msgrate_line {
    const struct msgrate_pattern *first;
    struct msgrate_row patterns[MSGRATE_PATTERNS];
};

static int patterns_of(const struct msgrate_parameters *p)
{
    return p->machine_readable ? MSGRATE_PATTERNS : 1;
}

static void list_rows(const struct msgrate_bench *bench)
{
    const struct msgrate_parameters *const p = &bench->parameters;
    for (size_t i = 0; i < p->sizes.count; i++)
        for (int first = 0; first < MSGRATE_PATTERNS; first += patterns_of(p)) {
            struct msgrate_line *const line = bc_add_row(bench->run);
            line->first = &msgrate_patterns[first];
            for (int j = 0; j < patterns_of(p); j++)
                line->patterns[j] = (struct msgrate_row){.pattern = line->first[j].name,
                                                         .one_partner = line->first[j].one_partner,
                                                         .size_bytes = p->sizes.values[i]};
        }
}

/* ---- one row --------------------------------------------------------------------------------- */

/* Measures a pattern within `seconds`. Returns true on rank 0 if it is precise. */
static bool measure_pattern(struct msgrate_bench *bench, const struct msgrate_pattern *pattern,
                            double seconds, struct msgrate_row *row)
{
    const bool has_staged = msgrate_has_staged(bench);
    struct msgrate_exchange direct, staged;
    struct bc_quantities quantities = msgrate_quantities;
    quantities.count = has_staged ? MSGRATE_QUANTITIES : MSGRATE_STAGED;
    msgrate_exchange_create(&direct, bench, pattern, row->size_bytes, NULL);
    if (has_staged)
        msgrate_exchange_create(&staged, bench, pattern, row->size_bytes, &direct);
    const bool takes_part = direct.messages.npeers > 0;
    struct bc_rounds *const rounds =
        bc_rounds_of(bench->run, &quantities, seconds, &row->iterations);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        msgrate_exchange_prepare(&direct);
        if (takes_part)
            bc_round_time(round, MSGRATE_DIRECT, msgrate_time(&direct));
        row->wrong += msgrate_exchange_finish(&direct);
        if (!has_staged)
            continue;
        msgrate_exchange_prepare(&staged);
        if (takes_part)
            bc_round_time(round, MSGRATE_STAGED, msgrate_time_staged(&staged));
        row->wrong += msgrate_exchange_finish(&staged);
    }
    if (has_staged)
        msgrate_exchange_destroy(&staged);
    msgrate_exchange_destroy(&direct);
    return bc_store_is_precise(bench->run, &quantities, &row->iterations);
}

/* Divides the time of a line among its patterns. */
static void measure(struct msgrate_bench *bench, struct bc_visit *visit)
{
    struct msgrate_line *const line = visit->row;
    const int count = patterns_of(&bench->parameters);
    visit->is_precise = true;
    for (int i = 0; i < count; i++)
        visit->is_precise =
            measure_pattern(bench, line->first + i, visit->seconds / count, &line->patterns[i]) &&
            visit->is_precise;
}

/* With -o a line has the rate of each pattern, and the min iterations of all. Columns common to all
   patterns (ranks, sizes) are those of the last one. */
static void write_row(const struct msgrate_bench *bench, struct msgrate_line *line)
{
    struct bc_run *const run = bench->run;
    struct msgrate_result result = {0};
    int64_t min_iterations = INT64_MAX;
    for (int i = 0; i < patterns_of(&bench->parameters); i++) {
        msgrate_conclude(bench, &line->patterns[i], &result);
        result.rates_per_s[i] = result.rate_per_s;
        if (result.iterations.repetitions < min_iterations)
            min_iterations = result.iterations.repetitions;
        /* The machine-readable table has no status. */
        run->failed = run->failed || bc_outcome_failed(&result.iterations.outcome);
    }
    result.iterations.repetitions = min_iterations;
    bc_write_row(run, &result);
}

const struct bc_program msgrate_program = {
    .name = "msgrate",
    .summary = "Measures the rate of messages that a process sends and receives in four\n"
               "patterns, with cold caches and many peers. Needs at least 2 processes.",
    .placement = BC_PLACED ", one for all messages in each direction",
    .has_buffers = true,
    .options = {msgrate_options, MSGRATE_OPTIONS},
    MSGRATE_PROGRAM,
    .row_bytes = sizeof(struct msgrate_line),
    .fit = fit,
};

/* Main columns with buffers on a device. */
#define MEMORY_COLUMNS                                                                             \
    "pattern,nbytes,rate_per_s,iter_us,staged_us,direct_gain_pct,direct_gain_lo_pct,"              \
    "direct_gain_hi_pct,direct_verdict,status"

static const struct bc_table *table_of(const struct msgrate_bench *bench)
{
    if (bench->parameters.machine_readable)
        return &msgrate_machine_table;
    const struct bc_table *table = &msgrate_table;
    if (bench->device != NULL)
        table = bc_memory_table(table, offsetof(struct msgrate_result, staged), MEMORY_COLUMNS);
    if (bench->parameters.buffers == BC_BUFFERS_NEW)
        table = bc_table_with_key(table, msgrate_buffers_column);
    return table;
}

static void open_memory(struct msgrate_bench *bench, struct bc_run *run)
{
    const struct msgrate_parameters *const p = &bench->parameters;
    if (bc_memory_is_asked(&p->memory))
        bench->device =
            bc_memory_open(run, &p->memory, msgrate_device_bytes(p, run), MSGRATE_MEMORY_ADVICE);
}

static void open_result(const struct msgrate_bench *bench, struct bc_run *run)
{
    bc_open_result(run, table_of(bench), "");
    if (bench->device != NULL)
        bc_memory_describe(run, bench->device);
}

int main(int argc, char **argv)
{
    struct msgrate_bench bench;
    struct bc_run *const run = bc_start(&msgrate_program, &bench, argc, argv);
    open_memory(&bench, run);
    open_result(&bench, run);
    run->row_shares = patterns_of(&bench.parameters); /* --max-time is for each pattern */
    msgrate_open(&bench, run);
    list_rows(&bench);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&bench, visit);
        else /* BC_WRITE */
            write_row(&bench, visit->row);
    msgrate_close(&bench);
    return bc_finish(run);
}
