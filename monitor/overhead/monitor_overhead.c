/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nanoseconds that libmpirtmon adds to a call of MPI, while no snapshot is active (off), and while
 * one monitors everything (on).
 *
 * Timed region: in one process, which sends messages to itself, loops of calls through the
 * monitor's wrappers (MPI_Isend) and loops of the same calls directly (PMPI_Isend), each between
 * two readings of the clock (kernel_loops.h). A sample is the time per repetition of each loop. A
 * round runs the loops alternately (monitor_take), so drift cancels in their difference.
 *
 * When: a row is a call and a mode. All rows are visited alternately. A row with mode "on" starts
 * its snapshot before its loops and ends it after them.
 *
 * How often: six visits per row, up to twelve if the row isn't precise and time is left (14 s per
 * run). The first visit chooses the repetitions so that a monitored loop takes 10 us: long compared
 * with a reading of the clock, and seldom interrupted. A visit ends when the median of the
 * difference is known to 2 % (--precision), or when its time is up.
 *
 * Written: one line per row after its last visit (columns.c), with both times and their difference.
 */
#include "common/measure/rounds.h"
#include "common/mpi/mpi_check.h"
#include "common/run/program.h"
#include "monitor/lib/flags.h"
#include "monitor/overhead/columns.h"
#include "monitor/overhead/kernel.h"

/* A monitored loop takes about this long: long compared with the clock, and seldom interrupted. */
#define LOOP_NS 10000.0
#define REPETITIONS_MAX 65536

/* The snapshot's timeout: no call takes that long, but the monitor has to check each. */
#define TIMEOUT_US 1e6

struct monitor_overhead {
    struct bc_run *run;
    struct monitor_bench bench;
};

struct monitor_row {
    const struct monitor_call *call;
    bool on; /* in a snapshot */
    struct bc_store store;
};

/* The quantities of a round. The difference must be precise. */
enum { MONITORED, DIRECT, QUANTITIES };
static const struct bc_precise_value difference = {.quantity = MONITORED, .subtrahend = DIRECT};
static const struct bc_quantities quantities = {
    .count = QUANTITIES,
    .precise = &difference,
    .precise_count = 1,
    .clock_readings = 1.0,
    .batching = BC_DOUBLED_BATCHES,
    .max = REPETITIONS_MAX,
    .batch_ns = LOOP_NS,
    .lead_in = BC_LEAD_IN_NEVER, /* monitor_loop has its own */
    .no_tail = true,
};

static void list_rows(struct bc_run *run)
{
    for (int i = 0; i < monitor_calls_count; i++)
        for (int on = 0; on <= 1; on++)
            *(struct monitor_row *)bc_add_row(run) =
                (struct monitor_row){.call = &monitor_calls[i], .on = on};
}

static void check_monitor(int code)
{
    if (code != MPIX_MONITOR_SUCCESS)
        bc_abort("monitor: %s", MPIX_Monitor_error_string(code));
}

static void measure(struct monitor_overhead *overhead, struct bc_visit *visit)
{
    const struct bc_run *const run = overhead->run;
    struct monitor_row *const row = visit->row;
#define SET_FLAG(Flag) .Flag = 1,
    MPIX_Monitor handle = {.profile = 1, MONITOR_FLAGS(SET_FLAG).timeout_us = TIMEOUT_US};
#undef SET_FLAG
    MPIX_Monitor_request request;
    if (row->on)
        check_monitor(MPIX_Start_monitor(&request, &handle, NULL));
    struct bc_rounds *const rounds = bc_rounds_of(run, &quantities, visit->seconds, &row->store);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        double ns[QUANTITIES];
        monitor_take(&overhead->bench, row->call, round->repetitions, ns);
        bc_round_value(round, MONITORED, ns[MONITORED]);
        bc_round_value(round, DIRECT, ns[DIRECT]);
    }
    visit->is_precise = bc_store_is_precise(run, &quantities, &row->store);
    if (row->on)
        check_monitor(MPIX_End_monitor(&request, &handle));
}

/* Fills in the results of the samples. Local; rank 0. */
static void summarize(const struct bc_run *run, const struct monitor_row *row,
                      struct monitor_overhead_result *result)
{
    const struct bc_samples *const samples = &row->store.samples;
    bc_samples_dump(run, "monitored", samples, MONITORED);
    bc_samples_dump(run, "direct", samples, DIRECT);
    result->added = bc_samples_summary(run, samples, MONITORED, DIRECT);
    result->direct_ns = bc_samples_summary(run, samples, DIRECT, -1).value;
    result->monitored_ns = bc_samples_summary(run, samples, MONITORED, -1).value;
}

static void write_row(struct bc_run *run, struct monitor_row *row)
{
    struct monitor_overhead_result result = {0};
    if (run->job.rank == 0)
        summarize(run, row, &result);
    result.call = row->call->name;
    result.mode = row->on ? "on" : "off";
    result.repetitions = row->store.repetitions;
    result.outcome = bc_samples_outcome(run, &row->store.samples,
                                        bc_store_is_precise(run, &quantities, &row->store));
    if (run->job.ranks == 1)
        result.outcome.slowest_rank = BC_NO_INT;
    bc_store_free(&row->store);
    bc_write_row(run, &result);
}

const struct bc_program monitor_overhead_program = {
    .name = "monitor_overhead",
    .summary = "Measures the time that libmpirtmon adds to MPI calls, off and on. One process is\n"
               "enough, since each talks to itself.",
    .placement = "on the stack",
    .state_bytes = sizeof(struct monitor_overhead),
    .row_bytes = sizeof(struct monitor_row),
    .budget_s = BC_BUDGET_S,
};

int main(int argc, char **argv)
{
    struct monitor_overhead overhead;
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
