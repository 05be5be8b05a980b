/*
 * What libmpirtmon adds to a call of MPI, while no snapshot is active (off) and in one that
 * monitors everything (on): in one process, which talks to itself, loops of the calls through the
 * monitor's wrappers (MPI_Isend) and of the same calls directly (PMPI_Isend) are timed in turn, see
 * overhead_take in kernel.h. Each round gives a difference, so drift cancels.
 */
#include "common/mpi/mpi_check.h"
#include "common/run/benchmark.h"
#include "common/stats/batch.h"
#include "monitor/kernel.h"
#include "monitor/mpirtmon.h"

/* Of a monitored and a direct loop together: long against the clock, and seldom interrupted. */
#define PAIR_NS 20000.0
#define REPETITIONS_MAX 65536

/* What counts as a timeout in the snapshot: no call takes as long, but the monitor has to look. */
#define TIMEOUT_US 1e6

struct state {
    struct bc_run *run;
    struct overhead_bench bench;
    const struct overhead_call *call; /* of the row that is being measured */
    int64_t repetitions;
};

/* Of a row. */
struct key {
    const struct overhead_call *call;
    bool on; /* in a snapshot */
};

struct result {
    const char *call, *mode;
    double direct_ns, monitored_ns;
    struct bc_summary added;
    int64_t repetitions;
    struct bc_outcome outcome;
};

static const struct bc_column columns[] = {
    BC_COLUMN("call", BC_KEY, 0, result, call),
    BC_COLUMN("mode", BC_KEY, 0, result, mode),
    BC_COLUMN("direct_ns", BC_INFO, 2, result, direct_ns),
    BC_COLUMN("monitored_ns", BC_INFO, 2, result, monitored_ns),
    BC_COLUMN("added_ns", BC_LESS, 2, result, added.value),
    BC_COLUMN("added_lo_ns", BC_INFO, 2, result, added.interval.lo),
    BC_COLUMN("added_hi_ns", BC_INFO, 2, result, added.interval.hi),
    BC_COLUMN("repetitions", BC_INFO, 0, result, repetitions),
    BC_OUTCOME_COLUMNS(result, outcome),
};

static void open_bench(void *state, struct bc_run *run)
{
    struct state *const overhead = state;
    overhead->run = run;
    overhead_bench_create(&overhead->bench);
}

static void list_rows(void *state, struct bc_rows *rows)
{
    (void)state;
    for (int i = 0; i < overhead_calls_count; i++) {
        bc_rows_add(rows, &(struct key){&overhead_calls[i], false});
        bc_rows_add(rows, &(struct key){&overhead_calls[i], true});
    }
}

static void close_bench(void *state)
{
    struct state *const overhead = state;
    overhead_bench_destroy(&overhead->bench);
}

static void take_round(void *context, double *values)
{
    struct state *const overhead = context;
    overhead_take(&overhead->bench, overhead->call, overhead->repetitions, values);
}

static double pair_ns(void *context, int64_t repetitions)
{
    struct state *const overhead = context;
    const int64_t monitored_ns =
        overhead_loop(&overhead->bench, overhead->call->monitored, repetitions);
    return (double)(monitored_ns +
                    overhead_loop(&overhead->bench, overhead->call->direct, repetitions));
}

static void check_monitor(int code)
{
    if (code != MPIX_MONITOR_SUCCESS)
        bc_abort("the monitor says: %s", MPIX_Monitor_error_string(code));
}

/* What a row remembers from visit to visit. */
struct row {
    struct bc_samples samples;
    int64_t repetitions; /* 0: not found yet */
    bool in_time;        /* the last visit was precise before its time was up; rank 0 */
};

static void visit(void *state, const void *row_key, double seconds, void *memory)
{
    struct state *const overhead = state;
    const struct bc_run *const run = overhead->run;
    const struct key *const key = row_key;
    struct row *const row = memory;
    MPIX_Monitor handle = {.profile = 1,
                           .other = 1,
                           .pttopt = 1,
                           .coll = 1,
                           .comm = 1,
                           .msgsize = 1,
                           .traffic = 1,
                           .calls = 1,
                           .sizes = 1,
                           .timeout_us = TIMEOUT_US};
    MPIX_Monitor_request request;
    if (key->on)
        check_monitor(MPIX_Start_monitor(&request, &handle, NULL));
    overhead->call = key->call;
    if (row->repetitions == 0)
        row->repetitions = bc_batch_double(1, REPETITIONS_MAX, PAIR_NS, pair_ns, overhead);
    overhead->repetitions = row->repetitions;
    const struct bc_source source = {
        .quantities = 2,
        .take = take_round,
        .context = overhead,
        .clock_ns = run->own_clock.read_ns / (double)overhead->repetitions,
    };
    row->in_time = bc_run_sample(run, &source, 1, seconds, &row->samples);
    if (key->on)
        check_monitor(MPIX_End_monitor(&request, &handle));
}

static bool is_precise(const void *state, const void *key, const void *memory)
{
    const struct row *const row = memory;
    (void)key;
    return bc_run_is_precise(((const struct state *)state)->run, &row->samples, row->in_time,
                             &(struct bc_precise_value){.subtrahend = 1}, 1);
}

/* What the samples say. Local; rank 0. */
static void summarize(const struct bc_run *run, const struct row *row, struct result *result)
{
    const struct bc_samples *const samples = &row->samples;
    bc_run_dump(run, "monitored", samples, 0);
    bc_run_dump(run, "direct", samples, 1);
    result->added = bc_run_summarize(run, samples, 0, 1);
    result->direct_ns = bc_run_summarize(run, samples, 1, -1).value;
    result->monitored_ns = bc_run_summarize(run, samples, 0, -1).value;
}

static void conclude(void *state, const void *row_key, void *memory, void *filled)
{
    const struct bc_run *const run = ((struct state *)state)->run;
    const struct key *const key = row_key;
    struct row *const row = memory;
    struct result *const result = filled;
    if (run->job.rank == 0)
        summarize(run, row, result);
    result->call = key->call->name;
    result->mode = key->on ? "on" : "off";
    result->repetitions = row->repetitions;
    result->outcome = bc_run_outcome(run, &row->samples, is_precise(state, key, row));
    if (run->job.ranks == 1)
        result->outcome.slowest_rank = BC_NO_INT;
    bc_samples_free(&row->samples);
}

const struct bc_benchmark monitor_overhead_benchmark = {
    .name = "monitor_overhead",
    .summary = "Nanoseconds that libmpirtmon adds to calls of MPI, off and on. One process is "
               "enough; each talks to itself.",
    .table = {columns, sizeof columns / sizeof *columns},
    .budget_s = 20.0,
    .bytes = {sizeof(struct state), sizeof(struct key), sizeof(struct result), sizeof(struct row)},
    .open = open_bench,
    .rows = list_rows,
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
    .close = close_bench,
};
