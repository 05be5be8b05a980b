/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_overhead/mpi_overhead.h"

#include <math.h>

/* An overhead this precise is precise enough: clocks resolve no less. */
#define OVERHEAD_RESOLUTION_NS 5.0

const char overhead_no_knee[] = "no-knee";

double overhead_beyond_knee(const struct mpi_overhead *bench)
{
    return sqrt(bench->parameters.threshold);
}

/* Returns the share of a time that the overhead leaves, in percent, with its interval, or NAN if
   the time may be 0. Each end is the extreme quotient: the overhead's sign decides by which end of
   the time it is divided. */
static struct bc_summary available(const struct bc_summary *overhead, const struct bc_summary *time)
{
    const struct bc_interval *const o = &overhead->interval, *const t = &time->interval;
    struct bc_summary share = bc_no_summary;
    if (!(time->value > 0.0))
        return share;
    share.value = 100.0 * (1.0 - overhead->value / time->value);
    if (!(t->lo > 0.0))
        return share;
    share.interval.lo = 100.0 * (1.0 - o->hi / (o->hi > 0.0 ? t->lo : t->hi));
    share.interval.hi = 100.0 * (1.0 - o->lo / (o->lo > 0.0 ? t->hi : t->lo));
    return share;
}

const struct bc_precise_value overhead_precise_values[OVERHEAD_PRECISE_VALUES] = {
    {OVERHEAD_ITER, .subtrahend = OVERHEAD_WORK, .resolution_ns = OVERHEAD_RESOLUTION_NS},
    {OVERHEAD_BASE, .subtrahend = OVERHEAD_EMPTY},
};

bool overhead_is_fitted(const struct mpi_overhead *bench)
{
    return bench->parameters.base_threshold <= 0.0;
}

/* Half of the last printed digit: a value less than that below 0 is 0. */
#define IMPOSSIBLE_NS 0.5

/* Returns the time that the message adds to the work; beyond the knee, loops with and without it
   take about as long. They run slightly different code, so except with --estimator=mean the
   interval extends at least one reading of the clock each way. Local; rank 0. */
static struct bc_summary summarize_overhead(const struct mpi_overhead *bench,
                                            const struct bc_samples *samples)
{
    const struct bc_run *const run = bench->run;
    if (run->settings.estimator == BC_MEAN)
        return bc_samples_summary(run, samples, OVERHEAD_ITER, OVERHEAD_WORK);
    struct bc_summary overhead = overhead_excess(run, samples, OVERHEAD_ITER, OVERHEAD_WORK);
    overhead.interval.lo -= run->max_clock.read_ns;
    overhead.interval.hi += run->max_clock.read_ns;
    return overhead;
}

/* True if the reported interval, less the clock reading in it, is within --precision or
   OVERHEAD_RESOLUTION_NS. Local; rank 0. */
static bool overhead_is_narrow(const struct mpi_overhead *bench, const struct bc_samples *samples)
{
    const struct bc_run *const run = bench->run;
    const struct bc_summary overhead = summarize_overhead(bench, samples);
    const double half_width_ns = bc_half_width(&overhead) - run->max_clock.read_ns;
    const double allowed_ns = run->settings.precision_pct / 100.0 * fabs(overhead.value);
    return half_width_ns <= fmax(allowed_ns, OVERHEAD_RESOLUTION_NS);
}

bool overhead_is_precise(const struct mpi_overhead *bench, const struct overhead_row *row)
{
    const struct bc_run *const run = bench->run;
    if (!overhead_is_fitted(bench) || overhead_fixed_iterations(bench) > 0)
        return row->store.in_time;
    if (!bc_samples_are_precise(run, &row->store.samples, row->store.in_time,
                                overhead_precise_values, OVERHEAD_PRECISE_VALUES))
        return false;
    return run->settings.samples > 0 || overhead_is_narrow(bench, &row->store.samples);
}

static void dump(const struct mpi_overhead *bench, const struct overhead_row *row)
{
    static const char *const names[OVERHEAD_QUANTITIES] = {"base", "empty", "iter", "work"};
    for (int i = 0; i < OVERHEAD_QUANTITIES; i++)
        if (overhead_is_fitted(bench) || i >= OVERHEAD_ITER)
            bc_samples_dump(bench->run, names[i], &row->store.samples, i);
}

/* True if all overheads from lo_ns to hi_ns are below 0 or above the transfer, which includes the
   overhead. Local. */
static bool is_impossible(double lo_ns, double hi_ns, double base_ns)
{
    return hi_ns < -IMPOSSIBLE_NS || lo_ns > base_ns + IMPOSSIBLE_NS;
}

static void summarize(const struct mpi_overhead *bench, const struct overhead_row *row,
                      struct overhead_result *result)
{
    const struct bc_run *const run = bench->run;
    const struct bc_samples *const samples = &row->store.samples;
    bool knee = row->knee;
    dump(bench, row);
    result->iterations =
        row->iterations * (overhead_is_fitted(bench) ? (int64_t)samples->count : 1);
    result->iter_ns = bc_samples_summary(run, samples, OVERHEAD_ITER, -1).value;
    result->work_ns = bc_samples_summary(run, samples, OVERHEAD_WORK, -1).value;
    const struct bc_summary base = bc_samples_summary(run, samples, OVERHEAD_BASE, -1);
    result->base_ns = base.value;
    result->overhead_ns = result->transfer_ns = bc_no_summary;
    if (overhead_is_fitted(bench)) {
        result->transfer_ns = bc_samples_summary(run, samples, OVERHEAD_BASE, OVERHEAD_EMPTY);
        /* A disturbance may have looked like the knee. */
        knee = knee && !(result->iter_ns < overhead_beyond_knee(bench) * result->base_ns);
    }
    if (knee)
        result->overhead_ns = summarize_overhead(bench, samples);
    const double value_ns = result->overhead_ns.value;
    const struct bc_interval interval = isnan(result->overhead_ns.interval.lo)
                                            ? (struct bc_interval){value_ns, value_ns}
                                            : result->overhead_ns.interval;
    result->is_disturbed = knee && is_impossible(interval.lo, interval.hi, base.value);
    if (result->is_disturbed)
        result->overhead_ns = bc_no_summary;
    result->available_pct = available(&result->overhead_ns, &base);
    result->transfer_available_pct = available(&result->overhead_ns, &result->transfer_ns);
    result->outcome = bc_samples_outcome(run, samples, overhead_is_precise(bench, row));
    /* The value is impossible, but part of its interval isn't. */
    if (knee && is_impossible(value_ns, value_ns, base.value))
        result->outcome.status = BC_BUDGET;
    if (!knee || result->is_disturbed)
        result->outcome.status = overhead_no_knee;
}

void overhead_conclude(const struct mpi_overhead *bench, struct overhead_row *row,
                       struct overhead_result *result)
{
    result->memory = bench->parameters.memory.words;
    result->buffers = bc_buffers_word(bench->parameters.buffers);
    result->direction = row->direction == OVERHEAD_SEND ? "send" : "recv";
    result->pair = bc_node_order_rank(&bench->by_node, row->pair);
    result->msgsize = row->bytes;
    if (bench->run->job.rank == 0)
        summarize(bench, row, result);
    (void)bc_sum_wrong(row->wrong, &result->outcome);
    bc_store_free(&row->store);
}
