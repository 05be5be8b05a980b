/*
 * Nanoseconds that libmpirtmon adds to a call of MPI, while no snapshot is active (off) and in one
 * that monitors everything (on).
 *
 * What is timed: in one process, which sends messages to itself, loops of calls through the
 * monitor's wrappers (MPI_Isend) and loops of the same calls directly (PMPI_Isend), by two readings
 * of the clock each (kernel_loops.h). A sample is the time of a repetition of both loops. A round
 * runs the loops alternately (monitor_take in kernel.h), so drift cancels in their difference.
 *
 * When: all rows are visited alternately. The first visit of a row chooses the repetitions so that
 * a monitored and a direct loop together take 20 us: long compared with a reading of the clock, and
 * seldom interrupted. A row with mode "on" starts its snapshot before its loops and ends it after
 * them.
 *
 * How often: six visits a row, up to twelve if a row is not precise and time is left (14 s a run).
 * A visit ends when the median of the difference is known to 2 % (--precision), or when its time is
 * up.
 *
 * What is written: a line a row after its last visit (columns.c), with both times and their
 * difference.
 */
#include "common/measure/batch.h"
#include "common/mpi/mpi_check.h"
#include "common/run/program.h"
#include "monitor/lib/flags.h"
#include "monitor/overhead/columns.h"
#include "monitor/overhead/kernel.h"

/* Of a monitored and a direct loop together: long against the clock, and seldom interrupted. */
#define PAIR_NS 20000.0
#define REPETITIONS_MAX 65536

/* What counts as a timeout in the snapshot: no call takes as long, but the monitor has to look. */
#define TIMEOUT_US 1e6

struct state {
    struct bc_run *run;
    struct monitor_bench bench;
    const struct monitor_call *call; /* of the row that is being measured */
    int64_t repetitions;
};

struct row {
    const struct monitor_call *call;
    bool on; /* in a snapshot */
    struct bc_samples samples;
    int64_t repetitions; /* 0: not found yet */
    bool in_time;        /* the last visit was precise before its time was up; rank 0 */
};

static void list_rows(struct bc_run *run)
{
    for (int i = 0; i < monitor_calls_count; i++)
        for (int on = 0; on <= 1; on++)
            *(struct row *)bc_add_row(run) = (struct row){.call = &monitor_calls[i], .on = on};
}

static void take_round(void *context, double *values)
{
    struct state *const overhead = context;
    monitor_take(&overhead->bench, overhead->call, overhead->repetitions, values);
}

static double pair_ns(void *context, int64_t repetitions)
{
    struct state *const overhead = context;
    const int64_t monitored_ns =
        monitor_loop(&overhead->bench, overhead->call->monitored, repetitions);
    return (double)(monitored_ns +
                    monitor_loop(&overhead->bench, overhead->call->direct, repetitions));
}

static void check_monitor(int code)
{
    if (code != MPIX_MONITOR_SUCCESS)
        bc_abort("the monitor says: %s", MPIX_Monitor_error_string(code));
}

/* Whether the difference is as precise as the settings ask for. Local. */
static bool is_precise(const struct bc_run *run, const struct row *row)
{
    return bc_run_is_precise(run, &row->samples, row->in_time,
                             &(struct bc_precise_value){.subtrahend = 1}, 1);
}

static void measure(struct state *overhead, struct bc_visit *visit)
{
    const struct bc_run *const run = overhead->run;
    struct row *const row = visit->row;
#define SET_FLAG(Flag) .Flag = 1,
    MPIX_Monitor handle = {.profile = 1, MONITOR_FLAGS(SET_FLAG).timeout_us = TIMEOUT_US};
#undef SET_FLAG
    MPIX_Monitor_request request;
    if (row->on)
        check_monitor(MPIX_Start_monitor(&request, &handle, NULL));
    overhead->call = row->call;
    if (row->repetitions == 0)
        row->repetitions = bc_batch_double(1, REPETITIONS_MAX, PAIR_NS, pair_ns, overhead);
    overhead->repetitions = row->repetitions;
    const struct bc_source source = {
        .quantities = 2,
        .take = take_round,
        .context = overhead,
        .clock_ns = run->own_clock.read_ns / (double)overhead->repetitions,
    };
    row->in_time = bc_run_sample(run, &source, 1, visit->seconds, &row->samples);
    visit->is_precise = is_precise(run, row);
    if (row->on)
        check_monitor(MPIX_End_monitor(&request, &handle));
}

/* What the samples say. Local; rank 0. */
static void summarize(const struct bc_run *run, const struct row *row,
                      struct monitor_overhead_result *result)
{
    const struct bc_samples *const samples = &row->samples;
    bc_run_dump(run, "monitored", samples, 0);
    bc_run_dump(run, "direct", samples, 1);
    result->added = bc_run_summarize(run, samples, 0, 1);
    result->direct_ns = bc_run_summarize(run, samples, 1, -1).value;
    result->monitored_ns = bc_run_summarize(run, samples, 0, -1).value;
}

static void write_row(struct bc_run *run, struct row *row)
{
    struct monitor_overhead_result result = {0};
    if (run->job.rank == 0)
        summarize(run, row, &result);
    result.call = row->call->name;
    result.mode = row->on ? "on" : "off";
    result.repetitions = row->repetitions;
    result.outcome = bc_run_outcome(run, &row->samples, is_precise(run, row));
    if (run->job.ranks == 1)
        result.outcome.slowest_rank = BC_NO_INT;
    bc_samples_free(&row->samples);
    bc_write_row(run, &result);
}

const struct bc_program monitor_overhead_program = {
    .name = "monitor_overhead",
    .summary = "Nanoseconds that libmpirtmon adds to calls of MPI, off and on. One process is "
               "enough; each talks to itself.",
    .placement = "on the stack",
    .state_bytes = sizeof(struct state),
    .row_bytes = sizeof(struct row),
    .budget_s = BC_BUDGET_S,
};

int main(int argc, char **argv)
{
    struct state overhead;
    struct bc_run *const run = bc_start(&monitor_overhead_program, &overhead, argc, argv);
    bc_open_result(run, &monitor_overhead_table, "");
    overhead.run = run;
    monitor_bench_create(&overhead.bench);
    list_rows(run);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&overhead, visit);
        else
            write_row(run, visit->row);
    monitor_bench_destroy(&overhead.bench);
    return bc_finish(run);
}
