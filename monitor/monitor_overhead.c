/*
 * What libmpirtmon adds to a call of MPI, while no snapshot is active (off) and in one that
 * monitors everything (on).
 *
 * Method: in one process, which talks to itself, loops of the calls through the monitor's wrappers
 * (MPI_Isend) and of the same calls directly (PMPI_Isend) are timed in turn, see overhead_take;
 * each round gives a difference, so that what drifts cancels.
 */
#include "common/mpi/mpi_check.h"
#include "common/run/run.h"
#include "monitor/mpirtmon.h"
#include "monitor/overhead_calls.h"

/* A run with defaults ends within this, start-up included. */
#define RUN_BUDGET_S 20.0

/* A monitored and a direct loop together take about this long: long against the clock, and seldom
 * interrupted. */
#define PAIR_NS 20000.0
#define REPETITIONS_MAX 65536

/* What counts as a timeout in the snapshot: nothing, but it is looked for. */
#define TIMEOUT_US 1e6

static const struct bc_column columns[] = {
    {"call", BC_KEY, 0},          {"mode", BC_KEY, 0},          {"direct_ns", BC_INFO, 2},
    {"monitored_ns", BC_INFO, 2}, {"added_ns", BC_LESS, 2},     {"added_lo_ns", BC_INFO, 2},
    {"added_hi_ns", BC_INFO, 2},  {"repetitions", BC_INFO, 0},  {"samples", BC_INFO, 0},
    {"status", BC_INFO, 0},       {"slowest_rank", BC_INFO, 0},
};

struct round {
    struct overhead_bench *bench;
    const struct overhead_call *call;
    int64_t repetitions;
};

static void take_round(void *context, double *values)
{
    const struct round *const round = context;
    overhead_take(round->bench, round->call, round->repetitions, values);
}

static double pair_ns(struct overhead_bench *bench, const struct overhead_call *call,
                      int64_t repetitions)
{
    const int64_t monitored_ns = overhead_loop(bench, call->monitored, repetitions);
    return (double)(monitored_ns + overhead_loop(bench, call->direct, repetitions));
}

/* Twice, since once it may have been disturbed. */
static bool is_long(struct overhead_bench *bench, const struct overhead_call *call,
                    int64_t repetitions)
{
    return pair_ns(bench, call, repetitions) >= PAIR_NS &&
           pair_ns(bench, call, repetitions) >= PAIR_NS;
}

static int64_t enough_repetitions(struct overhead_bench *bench, const struct overhead_call *call)
{
    int64_t repetitions = 1;
    while (repetitions < REPETITIONS_MAX && !is_long(bench, call, repetitions))
        repetitions *= 2;
    return repetitions;
}

static void monitor(int code)
{
    if (code != MPIX_MONITOR_SUCCESS)
        bc_abort("the monitor says: %s", MPIX_Monitor_error_string(code));
}

static bool measure(struct bc_run *run, struct bc_sampler *sampler, struct round *round, bool on,
                    double seconds)
{
    MPIX_Monitor handle = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request request;
    handle.profile = handle.other = handle.pttopt = handle.coll = handle.comm = 1;
    handle.msgsize = handle.traffic = 1;
    handle.timeout_us = TIMEOUT_US;
    if (on)
        monitor(MPIX_Start_monitor(&request, &handle, NULL));
    round->repetitions = enough_repetitions(round->bench, round->call);
    const struct bc_source source = {
        .quantities = 2,
        .take = take_round,
        .context = round,
        .clock_ns = run->own_clock.read_ns / (double)round->repetitions,
    };
    struct bc_summary added;
    const bool in_time = bc_run_sample_difference(run, sampler, &source, seconds, &added);
    if (on)
        monitor(MPIX_End_monitor(&request, &handle));
    struct bc_row row;
    bc_row_clear(&row, &run->benchmark->table);
    if (run->job.rank == 0) {
        const struct bc_samples *const samples = bc_sampler_samples(sampler);
        bc_run_dump(run, "monitored", samples->values[0], samples->count);
        bc_run_dump(run, "direct", samples->values[1], samples->count);
        bc_row_text(&row, "call", round->call->name);
        bc_row_text(&row, "mode", on ? "on" : "off");
        bc_row_real(&row, "direct_ns", bc_run_summarize(run, samples, 1).value);
        bc_row_real(&row, "monitored_ns", bc_run_summarize(run, samples, 0).value);
        bc_row_real(&row, "added_ns", added.value);
        bc_row_real(&row, "added_lo_ns", added.interval.lo);
        bc_row_real(&row, "added_hi_ns", added.interval.hi);
        bc_row_integer(&row, "repetitions", round->repetitions);
        bc_row_integer(&row, "samples", (int64_t)samples->count);
        bc_row_text(&row, "status", in_time ? "ok" : "budget");
        if (run->job.ranks > 1)
            bc_row_integer(&row, "slowest_rank", bc_sampler_slowest_rank(sampler));
    }
    return bc_run_row(run, &row);
}

int main(int argc, char **argv)
{
    static const struct bc_benchmark benchmark = {
        .name = "monitor_overhead",
        .summary = "Nanoseconds that libmpirtmon adds to calls of MPI, off and on. One process is "
                   "enough; each talks "
                   "to itself.",
        .table = {columns, sizeof columns / sizeof *columns},
        .thread_level = MPI_THREAD_SINGLE,
        .run_budget_s = RUN_BUDGET_S,
    };
    struct bc_run run;
    int status;
    if (!bc_run_begin(&run, &benchmark, argc, argv, &status))
        return status;
    struct bc_sampler *const sampler = bc_sampler_create(MPI_COMM_WORLD);
    struct overhead_bench bench;
    overhead_bench_create(&bench);
    bool going = true;
    const int rows = 2 * overhead_calls_count;
    for (int i = 0; i < rows && going; i++) {
        struct round round = {.bench = &bench, .call = &overhead_calls[i / 2]};
        going = measure(&run, sampler, &round, i % 2 != 0, bc_run_row_seconds(&run, rows - i));
    }
    overhead_bench_destroy(&bench);
    bc_sampler_destroy(sampler);
    return bc_run_end(&run);
}
