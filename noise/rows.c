#include "noise/rows.h"

#include "common/machine/hosts.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "noise/dump.h"
#include "noise/prediction.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If more than this share of the steps is stopped, usual steps are, too. */
#define STOPPED_MAX 0.25

/* ---- a result -------------------------------------------------------------------------------- */

static struct bc_summary no_summary(void)
{
    return (struct bc_summary){
        .value = NAN, .sd = NAN, .interval = {NAN, NAN}, .p99 = NAN, .max = NAN};
}

/* A result without values. Its padding is zeros, since it may be sent. */
static struct noise_result begin_result(const struct noise *noise, const char *scope)
{
    const struct bc_presence *const presence = &noise->run->presence;
    const struct bc_summary none = no_summary();
    struct noise_result result;
    memset(&result, 0, sizeof result);
    result.scope = scope;
    snprintf(result.host, sizeof result.host, "NA");
    snprintf(result.ranks, sizeof result.ranks, "NA");
    snprintf(result.about, sizeof result.about, "NA");
    result.grain_us = BC_NO_INTEGER;
    result.stops = (struct noise_amount){none, none, none};
    result.step = result.slowdown_pct = result.predicted_pct = none;
    result.period_ms = result.usual_ns = NAN;
    result.period_interval_ms = none.interval;
    result.outcome.visits = presence->visits;
    result.outcome.lost_pct = presence->lost_pct;
    result.outcome.slowest_rank = BC_NO_INT;
    return result;
}

/* BC_OK if a value is as precise as asked for, or has --samples of each of `ranks` ranks, or if one
   visit was asked for, which has no interval. */
static enum bc_status status_of(const struct bc_run *run, const struct bc_summary *summary,
                                int64_t taken, int ranks)
{
    const double precision = run->settings.precision_pct / 100.0;
    if (run->settings.samples > 0)
        return taken >= run->settings.samples * ranks ? BC_OK : BC_BUDGET;
    return (run->visits == 1 && run->signal == 0) || bc_is_precise(summary, precision) ? BC_OK
                                                                                       : BC_BUDGET;
}

static void set_ranks(struct noise_result *result, const int *ranks, int count)
{
    const size_t length =
        bc_format_ranks(ranks, (size_t)count, result->ranks, sizeof result->ranks);
    if (length >= sizeof result->ranks)
        snprintf(result->ranks, sizeof result->ranks, "%d ranks, the first %d", count, ranks[0]);
}

/* ---- stops of several ranks together --------------------------------------------------------- */

/* Sums over the stops of several ranks. */
struct sums {
    struct noise_sum *visits;
    struct noise_histogram lengths;
    int64_t max_ns, quanta;
    int ranks;
    struct bc_located most_stopped; /* share of the time, and its rank of MPI_COMM_WORLD */
};

/* The sums of this rank; the caller frees result.visits. */
static struct sums own_sums(const struct noise_stops *stops, int world_rank)
{
    const size_t visits = (size_t)stops->visit_count;
    struct sums own = {.visits = bc_allocate(visits, sizeof *own.visits, "no memory for visits")};
    int64_t stopped_ns = 0, watched_ns = 0;
    for (size_t i = 0; i < visits; i++) {
        const struct noise_watch *const watch = &stops->visits[i];
        own.visits[i] = (struct noise_sum){watch->stops, watch->stopped_ns, watch->watched_ns};
        own.quanta += watch->quanta;
        stopped_ns += watch->stopped_ns;
        watched_ns += watch->watched_ns;
    }
    for (size_t i = 0; i < stops->count; i++) {
        noise_histogram_add(&own.lengths, stops->stop[i].length_ns);
        if (stops->stop[i].length_ns > own.max_ns)
            own.max_ns = stops->stop[i].length_ns;
    }
    own.most_stopped.value = watched_ns > 0 ? (double)stopped_ns / (double)watched_ns : 0.0;
    own.most_stopped.rank = world_rank;
    return own;
}

/* Adds up over the ranks of `comm`, on its rank 0; the caller frees result.visits. Collective. */
static struct sums add_up(const struct noise_stops *stops, int world_rank, MPI_Comm comm)
{
    enum { NUMBERS = sizeof(struct noise_sum) / sizeof(int64_t) };
    struct sums own = own_sums(stops, world_rank), all = own_sums(stops, world_rank);
    bc_harness_reduce(own.visits, all.visits, stops->visit_count * NUMBERS, MPI_INT64_T, MPI_SUM, 0,
                      comm);
    bc_harness_reduce(own.lengths.count, all.lengths.count, NOISE_BINS, MPI_INT64_T, MPI_SUM, 0,
                      comm);
    bc_harness_reduce(&own.max_ns, &all.max_ns, 1, MPI_INT64_T, MPI_MAX, 0, comm);
    bc_harness_reduce(&own.quanta, &all.quanta, 1, MPI_INT64_T, MPI_SUM, 0, comm);
    bc_harness_reduce(&own.most_stopped, &all.most_stopped, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, comm);
    BC_MPI(MPI_Comm_size(comm, &all.ranks));
    free(own.visits);
    return all;
}

/* Sets the result of the ranks of `comm`, on its rank 0. Collective. */
static void set_stops(const struct noise *noise, const struct noise_row *row, const char *scope,
                      MPI_Comm comm, struct noise_result *result)
{
    const struct bc_run *const run = noise->run;
    const struct sums sums = add_up(&row->stops, run->job.rank, comm);
    const double max_ns = (double)sums.max_ns;
    *result = begin_result(noise, scope);
    result->stops = noise_amount_over_visits(run, sums.visits, (size_t)row->stops.visit_count);
    if (sums.max_ns > 0) {
        result->stops.length_ns.p99 = fmin(noise_histogram_quantile(&sums.lengths, 0.99), max_ns);
        result->stops.length_ns.max = max_ns;
    }
    result->outcome.samples = sums.quanta;
    result->outcome.slowest_rank = sums.most_stopped.rank;
    result->outcome.status = status_of(run, &result->stops.per_s, sums.quanta, sums.ranks);
    free(sums.visits);
}

/* Sets the results of hosts or ranks, on rank 0, in the order of their lowest ranks. Collective. */
static void set_groups(const struct noise *noise, const struct noise_row *row,
                       struct noise_result *results)
{
    const char *const scope = noise->parameters.per == NOISE_PER_RANK ? "rank" : "host";
    const int own_rank = noise->run->job.rank;
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    struct noise_result result;
    int length, count;
    set_stops(noise, row, scope, noise->group, &result);
    BC_MPI(MPI_Comm_size(noise->group, &count));
    int *const ranks = bc_allocate((size_t)count, sizeof *ranks, "no memory for %d ranks", count);
    BC_MPI(MPI_Gather(&own_rank, 1, MPI_INT, ranks, 1, MPI_INT, 0, noise->group));
    BC_MPI(MPI_Get_processor_name(host, &length));
    snprintf(result.host, sizeof result.host, "%.*s", BC_CELL_LENGTH - 1, host);
    if (noise->leaders != MPI_COMM_NULL) {
        set_ranks(&result, ranks, count);
        BC_MPI(MPI_Gather(&result, (int)sizeof result, MPI_BYTE, results, (int)sizeof result,
                          MPI_BYTE, 0, noise->leaders));
    }
    /* Pointers of another process, and values of rank 0 only. */
    result = begin_result(noise, scope);
    for (int i = 0; own_rank == 0 && i < noise->groups; i++) {
        results[i].scope = scope;
        results[i].outcome.visits = result.outcome.visits;
        results[i].outcome.lost_pct = result.outcome.lost_pct;
    }
    free(ranks);
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Rounds to two digits, so that launches agree. */
static double two_digits(double value)
{
    const double unit = pow(10.0, floor(log10(value)) - 1.0);
    return round(value / unit) * unit;
}

/* Sets what distinguishes sources of the same ranks: the rounded period and the class of length. */
static void set_about(struct noise_result *result, const struct noise_source *source)
{
    const double length_us = exp2(floor(log2(source->amount.length_ns.value))) * 1e-3;
    if (source->is_periodic)
        snprintf(result->about, sizeof result->about, "%gms:%.3gus",
                 two_digits(source->period.period_ns * 1e-6), length_us);
    else
        snprintf(result->about, sizeof result->about, "%.3gus", length_us);
}

/* Numbers a source that has the same keys as others before it: "#2". */
static void tell_apart(const struct noise_result *results, int number, struct noise_result *result)
{
    int alike = 0;
    for (int i = 0; i < number; i++)
        alike += strcmp(results[i].ranks, result->ranks) == 0 &&
                 strcspn(results[i].about, "#") == strlen(result->about) &&
                 strncmp(results[i].about, result->about, strlen(result->about)) == 0;
    const size_t length = strlen(result->about);
    if (alike > 0)
        snprintf(result->about + length, sizeof result->about - length, "#%d", alike + 1);
}

static struct noise_result source_result(const struct noise *noise,
                                         const struct noise_source *source, int64_t quanta)
{
    struct noise_result result = begin_result(noise, "source");
    result.source = source->is_periodic ? "periodic" : "irregular";
    set_ranks(&result, source->ranks, source->rank_count);
    set_about(&result, source);
    result.stops = source->amount;
    result.stops.length_ns.p99 = result.stops.length_ns.max = NAN;
    result.period_ms = source->period.period_ns * 1e-6;
    result.period_interval_ms = (struct bc_interval){source->period.interval_ns.lo * 1e-6,
                                                     source->period.interval_ns.hi * 1e-6};
    result.outcome.samples = quanta;
    result.outcome.status =
        status_of(noise->run, &result.stops.per_s, quanta, noise->run->job.ranks);
    return result;
}

/* A rank of a source, and the index of its host or rank among the results. */
struct located {
    int group, rank;
};

static int by_group(const void *a, const void *b)
{
    const struct located *const left = a, *const right = b;
    return left->group != right->group ? left->group - right->group : left->rank - right->rank;
}

/* Names the hosts of a source: in its row if there is one, in a note if there are several and other
   hosts, too. `group_of` has the group of each rank, `groups` the results of groups; rank 0. */
static void name_hosts(const struct noise *noise, const struct noise_source *source,
                       const int *group_of, const struct noise_result *groups,
                       struct noise_result *result)
{
    const size_t count = (size_t)source->rank_count;
    struct located *const located = bc_allocate(count, sizeof *located, "no memory for ranks");
    int *const ranks = bc_allocate(count, sizeof *ranks, "no memory for ranks");
    struct bc_hosts hosts = {0};
    size_t host_count = 0, first = 0;
    for (size_t i = 0; i < count; i++)
        located[i] = (struct located){group_of[source->ranks[i]], source->ranks[i]};
    qsort(located, count, sizeof *located, by_group);
    for (size_t i = 0; i < count; i++) {
        const char *const host = groups[located[i].group].host;
        ranks[i - first] = located[i].rank;
        if (i + 1 < count && strcmp(host, groups[located[i + 1].group].host) == 0)
            continue;
        bc_hosts_add(&hosts, host, ranks, i + 1 - first);
        host_count++;
        first = i + 1;
    }
    if (host_count == 1) {
        memcpy(result->host, groups[located[0].group].host, sizeof result->host);
    } else if (source->rank_count < noise->run->job.ranks) {
        char *const text = bc_hosts_format(&hosts);
        bc_output_remark(noise->run->output, "note", "source %s %s is on %s", result->source,
                         result->about, text);
        free(text);
    }
    bc_hosts_free(&hosts);
    free(ranks);
    free(located);
}

/* Sets the results of sources, on rank 0. Collective. */
static void set_sources(const struct noise *noise, const struct noise_sources *sources,
                        int64_t quanta, const struct noise_result *groups,
                        struct noise_result *results)
{
    const struct bc_run *const run = noise->run;
    const int own = noise->parameters.per == NOISE_PER_RANK ? run->job.rank : run->job.node;
    int *const group_of = bc_allocate(run->job.rank == 0 ? (size_t)run->job.ranks : 0,
                                      sizeof *group_of, "no memory for %d ranks", run->job.ranks);
    BC_MPI(MPI_Gather(&own, 1, MPI_INT, group_of, 1, MPI_INT, 0, MPI_COMM_WORLD));
    for (int i = 0; i < sources->count; i++) { /* none but on rank 0 */
        results[i] = source_result(noise, &sources->source[i], quanta);
        tell_apart(results, i, &results[i]);
        name_hosts(noise, &sources->source[i], group_of, groups, &results[i]);
    }
    free(group_of);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Most steps are interrupted if the usual step takes longer than its work (up to WORK_OFF longer
   than calibrated) and USUAL_MAX times the shortest operation. */
#define USUAL_MAX 3.0
#define WORK_OFF 0.05

/* The min time of an operation, without the work before it. */
static double shortest_operation_ns(const struct noise *noise, const struct noise_steps *steps)
{
    double shortest_ns = INFINITY;
    for (int i = 0; i < noise->step_kinds; i++)
        if (noise->steps[i].operation == steps->operation)
            shortest_ns = fmin(shortest_ns, noise->steps[i].min_ns -
                                                bc_work_ns(&noise->rate, noise->steps[i].units));
    return fmax(0.0, shortest_ns);
}

static void warn_of_steps(const struct noise *noise, const struct noise_steps *steps,
                          const struct noise_result *result)
{
    struct bc_output *const output = noise->run->output;
    const char *const name = result->operation;
    const double expected_ns = (1.0 + WORK_OFF) * bc_work_ns(&noise->rate, steps->units) +
                               USUAL_MAX * shortest_operation_ns(noise, steps);
    if (result->usual_ns > expected_ns + noise->min_stop_ns)
        bc_output_remark(output, "warning",
                         "%s, grain_us %lld: the usual step takes %.3f us, the shortest %.3f: "
                         "slowdown_pct is too low, since usual steps are interrupted, too",
                         name, (long long)steps->grain_us, result->usual_ns * 1e-3,
                         steps->min_ns * 1e-3);
    else if ((double)steps->stopped > STOPPED_MAX * (double)steps->judged)
        bc_output_remark(output, "warning",
                         "%s, grain_us %lld: %.0f %% of the steps take longer than usual: "
                         "slowdown_pct is too low, since usual steps are interrupted, too",
                         name, (long long)steps->grain_us,
                         100.0 * (double)steps->stopped / (double)steps->judged);
    if (isnan(result->slowdown_pct.value))
        bc_output_remark(
            output, "note",
            "%s, grain_us %lld: no slowdown_pct: a visit has too few steps, or steps too short for "
            "the clock: use more --max-time, or another --grain",
            name, (long long)steps->grain_us);
}

/* The prediction for steps whose usual time in each visit is usual_ns[visit], on rank 0.
 * Collective.
 */
static struct bc_summary predict(const struct noise *noise, const struct noise_row *row,
                                 const double *usual_ns)
{
    const int visits = row->stops.visit_count;
    struct bc_summary predicted = no_summary();
    if (noise->units == 0 || noise->run->job.shares_processors)
        return predicted;
    double *const step_ns =
        bc_allocate(2 * (size_t)visits, sizeof *step_ns, "no memory for visits");
    double *const pct = step_ns + visits;
    if (noise->run->job.rank == 0)
        memcpy(step_ns, usual_ns, (size_t)visits * sizeof *step_ns);
    bc_harness_bcast(step_ns, visits, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    noise_predict(&row->stops, step_ns, pct);
    if (noise->run->job.rank == 0)
        predicted = noise_over_visits(noise->run, pct, (size_t)visits);
    free(step_ns);
    return predicted;
}

/* Sets the result of an operation, on rank 0. Collective. */
static void set_steps(const struct noise *noise, const struct noise_row *row,
                      const struct noise_steps *steps, struct noise_result *result)
{
    const struct bc_run *const run = noise->run;
    const size_t visits = steps->visits.count;
    double *const *const values = steps->visits.values;
    const struct bc_summary predicted = predict(noise, row, values[NOISE_STEP_USUAL]);
    if (run->job.rank != 0)
        return;
    *result = begin_result(noise, "collective");
    result->operation = noise_operation_name(steps->operation);
    result->grain_us = steps->grain_us;
    result->step = noise_over_visits(run, values[NOISE_STEP_MEAN], visits);
    result->step.p99 = fmin(noise_histogram_quantile(&steps->times, 0.99), steps->max_ns);
    result->step.max = steps->max_ns;
    result->usual_ns = noise_over_visits(run, values[NOISE_STEP_USUAL], visits).value;
    result->slowdown_pct = noise_over_visits(run, values[NOISE_STEP_SLOWDOWN], visits);
    result->predicted_pct = predicted;
    result->outcome.samples = steps->count;
    result->outcome.status = status_of(run, &result->step, steps->count, 1);
    warn_of_steps(noise, steps, result);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void warn_of_left_out(const struct noise *noise, const struct noise_row *row)
{
    int64_t own = (int64_t)row->stops.left_out, most = 0;
    bc_harness_reduce(&own, &most, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (most > 0)
        bc_output_remark(
            noise->run->output, "warning",
            "a rank was interrupted more than %d times: up to %lld later blocks of quanta are left "
            "out",
            NOISE_STOPS_MAX, (long long)most);
}

/* The results of hosts or ranks, sources and operations, and their number; on rank 0, which has
   that of the job. Collective. */
static struct noise_result *list_parts(const struct noise *noise, const struct noise_row *row,
                                       const struct noise_result *of_job, int *count)
{
    const struct bc_run *const run = noise->run;
    const bool reports = run->job.rank == 0;
    const struct noise_limits limits = {noise->parameters.alpha_pct / 100.0,
                                        noise->parameters.threshold_pct,
                                        run->settings.confidence_pct / 100.0};
    struct noise_sources sources;
    noise_sources_find(run, &row->stops, &limits, &sources);
    *count = reports ? noise->groups + sources.count + noise->step_kinds : 0;
    struct noise_result *const results =
        bc_allocate((size_t)*count, sizeof *results, "no memory for %d rows", *count);
    struct noise_result *next = results + (reports ? noise->groups : 0);
    set_groups(noise, row, results);
    set_sources(noise, &sources, of_job->outcome.samples, results, next);
    next += sources.count;
    for (int i = 0; i < noise->step_kinds; i++)
        set_steps(noise, row, &noise->steps[i], reports ? next++ : NULL);
    noise_sources_free(&sources);
    return results;
}

void noise_write_rows(const struct noise *noise, struct noise_row *row)
{
    struct bc_run *const run = noise->run;
    struct noise_result of_job = {0};
    int count;
    if (run->signal != 0) /* else a short visit is what was asked for */
        noise_stops_drop_cut_visit(&row->stops);
    warn_of_left_out(noise, row);
    set_stops(noise, row, "job", MPI_COMM_WORLD, &of_job);
    struct noise_result *const parts = list_parts(noise, row, &of_job, &count);
    noise_dump(noise, row);
    bc_write_row(run, &of_job);
    for (int i = 0; i < count; i++) /* none but on rank 0 */
        bc_write_row(run, &parts[i]);
    noise_stops_free(&row->stops);
    free(parts);
}
