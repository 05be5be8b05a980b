/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/hosts.h"
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "noise/noise.h"
#include "noise/warnings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a result -------------------------------------------------------------------------------- */

static struct noise_result begin_result(const struct noise *noise, const char *scope)
{
    const struct bc_outcome *const visited = &noise->run->visited;
    return (struct noise_result){.scope = scope,
                                 .host = "NA",
                                 .ranks = "NA",
                                 .about = "NA",
                                 .grain_us = BC_NO_INTEGER,
                                 .stops = {bc_no_summary, bc_no_summary, bc_no_summary},
                                 .step = bc_no_summary,
                                 .slowdown_pct = bc_no_summary,
                                 .predicted_pct = bc_no_summary,
                                 .period_ms = NAN,
                                 .usual_ns = NAN,
                                 .period_interval_ms = {NAN, NAN},
                                 .outcome = {.visits = visited->visits,
                                             .lost_pct = visited->lost_pct,
                                             .slowest_rank = BC_NO_INT}};
}

/* Returns BC_OK if a value is as precise as requested, or has --samples of each of `ranks` ranks,
   or if a single visit was requested, which has no interval. */
static const char *status_of(const struct bc_run *run, const struct bc_summary *summary,
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

/* ---- reports of ranks to rank 0 -------------------------------------------------------------- */

struct report {
    int rank, group; /* group: number of the host or rank that has a row */
    char host[BC_CELL_LENGTH];
    int64_t max_ns, left_out;   /* longest stop; as in struct noise_stops */
    struct noise_watch *visits; /* on rank 0 */
};

/* Gathers the reports and visits of all ranks on rank 0, which frees both, and fills in this rank's
   lengths of stops. Collective. */
static struct report *gather_reports(const struct noise *noise, const struct noise_stops *stops,
                                     struct noise_watch **visits, struct noise_histogram *lengths)
{
    const struct bc_job *const job = &noise->run->job;
    const size_t count = (size_t)stops->visit_count;
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length;
    struct report own = {.rank = job->rank,
                         .group = noise->parameters.per == NOISE_PER_RANK ? job->rank : job->node,
                         .left_out = (int64_t)stops->left_out};
    BC_MPI(MPI_Get_processor_name(host, &length));
    snprintf(own.host, sizeof own.host, "%.*s", BC_CELL_LENGTH - 1, host);
    for (size_t i = 0; i < stops->count; i++) {
        noise_histogram_add(lengths, stops->stop[i].length_ns);
        if (stops->stop[i].length_ns > own.max_ns)
            own.max_ns = stops->stop[i].length_ns;
    }
    struct report *const reports = bc_gather(&own, sizeof own, MPI_COMM_WORLD);
    *visits = bc_gather(stops->visits, count * sizeof **visits, MPI_COMM_WORLD);
    for (int rank = 0; reports != NULL && rank < job->ranks; rank++)
        reports[rank].visits = *visits + (size_t)rank * count;
    return reports;
}

static int by_group(const void *a, const void *b)
{
    const struct report *const left = *(const struct report *const *)a;
    const struct report *const right = *(const struct report *const *)b;
    return left->group != right->group ? left->group - right->group : left->rank - right->rank;
}

/* Returns the reports of `ranks`, or of ranks 0 to count - 1 if NULL, sorted by group. The caller
   frees it. */
static const struct report **list_by_group(const struct report *reports, const int *ranks,
                                           int count)
{
    const struct report **const list =
        bc_allocate((size_t)count, sizeof(struct report *), "no memory for %d ranks", count);
    for (int i = 0; i < count; i++)
        list[i] = &reports[ranks != NULL ? ranks[i] : i];
    qsort(list, (size_t)count, sizeof(struct report *), by_group);
    return list;
}

/* ---- the job, hosts and ranks ---------------------------------------------------------------- */

struct sum {
    struct noise_watch *visits;
    struct noise_histogram lengths;
    int64_t max_ns;
    double max_share; /* max over ranks of the share of interrupted time */
    int slowest_rank; /* rank with max_share */
};

enum { TAG_LENGTHS = 1 };

/* Adds the lengths of a rank's stops (5 KB, sent at rank 0's request) to two sums. */
static void add_lengths(int rank, const struct noise_histogram *own, struct sum *one,
                        struct sum *other)
{
    struct noise_histogram lengths = *own;
    if (rank != 0)
        BC_MPI(MPI_Recv(&lengths, NOISE_BINS, MPI_INT64_T, rank, TAG_LENGTHS, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    for (int i = 0; i < NOISE_BINS; i++) {
        one->lengths.count[i] += lengths.count[i];
        other->lengths.count[i] += lengths.count[i];
    }
}

/* Adds a rank's stops, except for their lengths. */
static void add_report(struct sum *sum, const struct report *report, int visits)
{
    int64_t stopped_ns = 0, watched_ns = 0;
    for (int i = 0; i < visits; i++) {
        const struct noise_watch *const watch = &report->visits[i];
        sum->visits[i].stops += watch->stops;
        sum->visits[i].quanta += watch->quanta;
        sum->visits[i].stopped_ns += watch->stopped_ns;
        sum->visits[i].watched_ns += watch->watched_ns;
        stopped_ns += watch->stopped_ns;
        watched_ns += watch->watched_ns;
    }
    const double share = watched_ns > 0 ? (double)stopped_ns / (double)watched_ns : 0.0;
    if (report->max_ns > sum->max_ns)
        sum->max_ns = report->max_ns;
    if (share > sum->max_share)
        sum->slowest_rank = report->rank;
    sum->max_share = fmax(share, sum->max_share);
}

static struct sum begin_sum(int visits)
{
    return (struct sum){
        .visits = bc_allocate((size_t)visits, sizeof(struct noise_watch), "no memory for visits"),
        .max_share = -1.0};
}

/* Returns the result of `count` ranks, and frees the sum. */
static struct noise_result stops_result(const struct noise *noise, const char *scope,
                                        struct sum *sum, int count, int visits)
{
    const struct bc_run *const run = noise->run;
    struct noise_result result = begin_result(noise, scope);
    result.outcome.slowest_rank = sum->slowest_rank;
    result.stops = noise_amount_over_visits(run, sum->visits, (size_t)visits);
    if (sum->max_ns > 0) {
        const double p99 = noise_histogram_quantile(&sum->lengths, 0.99);
        result.stops.length_ns.p99 = fmin(p99, (double)sum->max_ns);
        result.stops.length_ns.max = (double)sum->max_ns;
    }
    for (int i = 0; i < visits; i++)
        result.outcome.samples += sum->visits[i].quanta;
    result.outcome.status = status_of(run, &result.stops.per_s, result.outcome.samples, count);
    free(sum->visits);
    return result;
}

/* Sets the results of the job, then of hosts or ranks in ascending order of their lowest ranks.
   Returns their number. All other ranks must send their lengths. */
static int set_stops(const struct noise *noise, const struct report *reports, int visits,
                     const struct noise_histogram *own, struct noise_result *results)
{
    const int ranks = noise->run->job.ranks;
    const char *const scope = noise->parameters.per == NOISE_PER_RANK ? "rank" : "host";
    const struct report **const list = list_by_group(reports, NULL, ranks);
    int *const of_group = bc_allocate((size_t)ranks, sizeof *of_group, "no memory for ranks");
    struct sum job = begin_sum(visits);
    int made = 1;
    for (int first = 0, end = 0; first < ranks; first = end) {
        struct sum group = begin_sum(visits);
        for (; end < ranks && list[end]->group == list[first]->group; end++) {
            of_group[end - first] = list[end]->rank;
            add_lengths(list[end]->rank, own, &group, &job);
            add_report(&group, list[end], visits);
            add_report(&job, list[end], visits);
        }
        struct noise_result *const result = &results[made++];
        *result = stops_result(noise, scope, &group, end - first, visits);
        memcpy(result->host, list[first]->host, sizeof result->host);
        set_ranks(result, of_group, end - first);
    }
    results[0] = stops_result(noise, "job", &job, ranks, visits);
    free(of_group);
    free(list);
    return made;
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Rounds to two digits, so that launches agree. */
static double two_digits(double value)
{
    const double unit = pow(10.0, floor(log10(value)) - 1.0);
    return round(value / unit) * unit;
}

/* Sets the key of sources of the same ranks: the rounded period and the class of length. */
static void set_about(struct noise_result *result, const struct noise_source *source)
{
    const double length_us = exp2(floor(log2(source->amount.length_ns.value))) * 1e-3;
    if (source->is_periodic)
        snprintf(result->about, sizeof result->about, "%gms:%.3gus",
                 two_digits(source->period.period_ns * 1e-6), length_us);
    else
        snprintf(result->about, sizeof result->about, "%.3gus", length_us);
}

/* Numbers a source ("#2") if earlier sources have the same keys. */
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
                                         const struct noise_shared_source *source, int64_t quanta)
{
    const struct noise_source *const mean = &source->mean;
    struct noise_result result = begin_result(noise, "source");
    result.source = mean->is_periodic ? "periodic" : "irregular";
    set_ranks(&result, source->ranks, source->rank_count);
    set_about(&result, mean);
    result.stops = mean->amount;
    result.stops.length_ns.p99 = result.stops.length_ns.max = NAN;
    result.period_ms = mean->period.period_ns * 1e-6;
    result.period_interval_ms = (struct bc_interval){mean->period.interval_ns.lo * 1e-6,
                                                     mean->period.interval_ns.hi * 1e-6};
    result.outcome.samples = quanta;
    result.outcome.status =
        status_of(noise->run, &result.stops.per_s, quanta, noise->run->job.ranks);
    return result;
}

/* Names the hosts of a source: a single one in its row; several, if there are also other hosts, in
   a note. */
static void name_hosts(const struct noise *noise, const struct report *reports,
                       const struct noise_shared_source *source, struct noise_result *result)
{
    const int count = source->rank_count;
    const struct report **const list = list_by_group(reports, source->ranks, count);
    int *const of_host = bc_allocate((size_t)count, sizeof *of_host, "no memory for ranks");
    struct bc_hosts hosts = {0};
    int host_count = 0;
    for (int first = 0, end = 0; first < count; first = end, host_count++) {
        for (; end < count && strcmp(list[end]->host, list[first]->host) == 0; end++)
            of_host[end - first] = list[end]->rank;
        bc_hosts_add(&hosts, list[first]->host, of_host, (size_t)(end - first));
    }
    if (host_count == 1) {
        memcpy(result->host, list[0]->host, sizeof result->host);
    } else if (count < noise->run->job.ranks) {
        char *const text = bc_hosts_format(&hosts);
        bc_output_remark(noise->run->output, NOISE_NOTE_HOSTS, result->source, result->about, text);
        free(text);
    }
    bc_hosts_free(&hosts);
    free(of_host);
    free(list);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* If more than this share of the steps is interrupted, typical steps are interrupted too. */
#define STOPPED_MAX 0.25

/* Most steps are interrupted if the usual step takes longer than its work (up to WORK_OFF above the
   calibration) plus USUAL_MAX times the shortest operation. */
#define USUAL_MAX 3.0
#define WORK_OFF 0.05

/* Returns the min time of an operation, without the work before it. */
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
        bc_output_remark(output, NOISE_WARNING_USUAL_STEPS, name, (long long)steps->grain_us);
    else if ((double)steps->stopped > STOPPED_MAX * (double)steps->judged)
        bc_output_remark(output, NOISE_WARNING_MANY_STEPS, name, (long long)steps->grain_us,
                         100.0 * (double)steps->stopped / (double)steps->judged);
    if (isnan(result->slowdown_pct.value))
        bc_output_remark(output, NOISE_NOTE_NO_SLOWDOWN, name, (long long)steps->grain_us);
}

/* Returns the predicted slowdown of steps on rank 0. Collective. */
static struct bc_summary predict(const struct noise *noise, const struct noise_stops *stops,
                                 const struct noise_steps *steps)
{
    const size_t visits = (size_t)stops->visit_count;
    struct bc_summary predicted = bc_no_summary;
    if (noise->units == 0 || noise->run->job.shares_processors)
        return predicted;
    double *const step_ns = bc_allocate(2 * visits, sizeof *step_ns, "no memory for visits");
    double *const pct = step_ns + visits;
    if (noise->run->job.rank == 0)
        memcpy(step_ns, steps->visits.values[NOISE_STEP_USUAL], visits * sizeof *step_ns);
    bc_harness_bcast(step_ns, stops->visit_count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    noise_predict(stops, step_ns, pct);
    if (noise->run->job.rank == 0)
        predicted = noise_over_visits(noise->run, pct, visits);
    free(step_ns);
    return predicted;
}

static struct noise_result steps_result(const struct noise *noise, const struct noise_steps *steps,
                                        struct bc_summary predicted)
{
    const struct bc_run *const run = noise->run;
    const size_t visits = steps->visits.count;
    double *const *const values = steps->visits.values;
    struct noise_result result = begin_result(noise, "collective");
    result.operation = noise_operation_name(steps->operation);
    result.grain_us = steps->grain_us;
    result.step = noise_over_visits(run, values[NOISE_STEP_MEAN], visits);
    result.step.p99 = fmin(noise_histogram_quantile(&steps->times, 0.99), steps->max_ns);
    result.step.max = steps->max_ns;
    result.usual_ns = noise_over_visits(run, values[NOISE_STEP_USUAL], visits).value;
    result.slowdown_pct = noise_over_visits(run, values[NOISE_STEP_SLOWDOWN], visits);
    result.predicted_pct = predicted;
    result.outcome.samples = steps->count;
    result.outcome.status = status_of(run, &result.step, steps->count, 1);
    warn_of_steps(noise, steps, &result);
    return result;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void warn_of_left_out(const struct noise *noise, const struct report *reports)
{
    bool any = false;
    for (int rank = 0; rank < noise->run->job.ranks; rank++)
        any = any || reports[rank].left_out > 0;
    if (any)
        bc_output_remark(noise->run->output, NOISE_WARNING_LIST_FULL, NOISE_STOPS_MAX);
}

/* Writes all rows, after all remarks on them. Rank 0. */
static void write_results(const struct noise *noise, const struct report *reports, int visits,
                          const struct noise_histogram *lengths,
                          const struct noise_sources *sources, const struct bc_summary *predicted)
{
    const size_t max =
        1 + (size_t)noise->run->job.ranks + (size_t)sources->count + (size_t)noise->step_kinds;
    struct noise_result *const results =
        bc_allocate(max, sizeof *results, "no memory for %zu rows", max);
    warn_of_left_out(noise, reports);
    int count = set_stops(noise, reports, visits, lengths, results);
    struct noise_result *const of_sources = results + count;
    for (int i = 0; i < sources->count; i++, count++) {
        results[count] = source_result(noise, &sources->source[i], results[0].outcome.samples);
        tell_apart(of_sources, i, &results[count]);
        name_hosts(noise, reports, &sources->source[i], &results[count]);
    }
    for (int i = 0; i < noise->step_kinds; i++)
        results[count++] = steps_result(noise, &noise->steps[i], predicted[i]);
    for (int i = 0; i < count; i++)
        bc_write_row(noise->run, &results[i]);
    free(results);
}

void noise_write_rows(const struct noise *noise, struct noise_stops *stops)
{
    struct bc_run *const run = noise->run;
    const struct noise_limits limits = {noise->parameters.alpha_pct / 100.0,
                                        noise->parameters.threshold_pct,
                                        run->settings.confidence_pct / 100.0};
    struct bc_summary *const predicted =
        bc_allocate((size_t)noise->step_kinds, sizeof *predicted, "no memory for predictions");
    struct noise_sources sources;
    struct noise_watch *visits;
    struct noise_histogram lengths = {{0}}; /* of this rank's stops */
    if (run->signal != 0)                   /* otherwise a short visit was requested */
        noise_stops_drop_cut_visit(stops);
    struct report *const reports = gather_reports(noise, stops, &visits, &lengths);
    noise_sources_find(run, stops, &limits, &sources);
    for (int i = 0; i < noise->step_kinds; i++)
        predicted[i] = predict(noise, stops, &noise->steps[i]);
    noise_dump_stops(noise, stops, visits);
    if (run->job.rank == 0) {
        write_results(noise, reports, stops->visit_count, &lengths, &sources, predicted);
    } else {
        BC_MPI(MPI_Ssend(&lengths, NOISE_BINS, MPI_INT64_T, 0, TAG_LENGTHS, MPI_COMM_WORLD));
        bc_write_row(run, NULL);
    }
    noise_sources_free(&sources);
    noise_stops_free(stops);
    free(reports);
    free(visits);
    free(predicted);
}
