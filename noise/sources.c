/* SPDX-License-Identifier: BSD-3-Clause */
#include "noise/sources.h"

#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sources of two ranks are the same if their periods are the same and their lengths differ by less
   than this factor. */
#define SAME_LENGTH 1.5

/* Rank 0 keeps the rows of all ranks, NOISE_PARTS per visit. If there are more than VISITS_MAX
   visits, adjacent ones share rows. */
enum { VISITS_MAX = 6, ROWS_MAX = VISITS_MAX * NOISE_PARTS };

/* ---- over visits ----------------------------------------------------------------------------- */

struct bc_summary noise_over_visits(const struct bc_run *run, double *values, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[known++] = values[i];
    struct bc_summary mean = bc_run_over_visits(run, values, known);
    if (mean.interval.lo < 0.0)
        mean.interval.lo = 0.0;
    return mean;
}

struct noise_amount noise_amount_over_visits(const struct bc_run *run,
                                             const struct noise_watch *visits, size_t count)
{
    double *const per_s = bc_allocate(3 * count, sizeof *per_s, "no memory for visits");
    double *const length_ns = per_s + count, *const pct = length_ns + count;
    for (size_t i = 0; i < count; i++) {
        const double stops = (double)visits[i].stops, stopped_ns = (double)visits[i].stopped_ns;
        const double watched_ns = (double)visits[i].watched_ns;
        per_s[i] = watched_ns > 0.0 ? stops / watched_ns * 1e9 : NAN;
        pct[i] = watched_ns > 0.0 ? 100.0 * stopped_ns / watched_ns : NAN;
        length_ns[i] = stops > 0.0 ? stopped_ns / stops : NAN;
    }
    const struct noise_amount amount = {.per_s = noise_over_visits(run, per_s, count),
                                        .length_ns = noise_over_visits(run, length_ns, count),
                                        .stopped_pct = noise_over_visits(run, pct, count)};
    free(per_s);
    return amount;
}

/* ---- this rank's ----------------------------------------------------------------------------- */

/* Returns the amount of one of this rank's periods. Its length is the median of a visit's stops,
   since an unrelated stop may have come just when one was due. */
static struct noise_amount amount_of_period(const struct bc_run *run,
                                            const struct noise_stops *stops,
                                            const signed char *source, int number)
{
    const size_t visits = (size_t)stops->visit_count;
    struct noise_watch *const sums = bc_allocate(visits, sizeof *sums, "no memory for a period");
    double *const medians = bc_allocate(visits, sizeof *medians, "no memory for a period");
    double *const lengths = bc_allocate(stops->count, sizeof *lengths, "no memory for a period");
    size_t next = 0;
    for (size_t visit = 0; visit < visits; visit++) {
        size_t members = 0;
        sums[visit].watched_ns = stops->visits[visit].watched_ns;
        for (int64_t i = 0; i < stops->visits[visit].stops; i++, next++)
            if (source[next] == number) {
                lengths[members++] = (double)stops->stop[next].length_ns;
                sums[visit].stops++;
                sums[visit].stopped_ns += stops->stop[next].length_ns;
            }
        medians[visit] = bc_median(lengths, members);
    }
    struct noise_amount amount = noise_amount_over_visits(run, sums, visits);
    amount.length_ns = noise_over_visits(run, medians, visits);
    free(lengths);
    free(medians);
    free(sums);
    return amount;
}

/* ---- all ranks', on rank 0 ------------------------------------------------------------------- */

/* Updates a mean over n - 1 values to include `next`. */
static void average(double *mean, double next, int n) { *mean += (next - *mean) / n; }

static void average_interval(struct bc_interval *mean, const struct bc_interval *next, int n)
{
    average(&mean->lo, next->lo, n);
    average(&mean->hi, next->hi, n);
}

static void average_summary(struct bc_summary *mean, const struct bc_summary *next, int n)
{
    average(&mean->value, next->value, n);
    average_interval(&mean->interval, &next->interval, n);
}

static bool is_same(const struct noise_shared_source *shared, const struct noise_source *own)
{
    const struct noise_source *const mean = &shared->mean;
    const double factor = mean->amount.length_ns.value / own->amount.length_ns.value;
    return mean->is_periodic == own->is_periodic && factor < SAME_LENGTH &&
           factor > 1.0 / SAME_LENGTH && shared->ranks[shared->rank_count - 1] != own->rank &&
           (!own->is_periodic || noise_is_same_period(&mean->period, &own->period));
}

/* Adds a source of one rank to the same source of other ranks, or as a new source. */
static void merge(struct noise_sources *sources, const struct noise_source *own)
{
    int place = 0;
    while (place < sources->count && !is_same(&sources->source[place], own))
        place++;
    if (place == sources->count) {
        sources->source = bc_reallocate(sources->source, (size_t)++sources->count,
                                        sizeof *sources->source, "no memory for sources");
        sources->source[place] = (struct noise_shared_source){.mean.is_periodic = own->is_periodic};
    }
    struct noise_shared_source *const shared = &sources->source[place];
    struct noise_source *const mean = &shared->mean;
    const int n = ++shared->rank_count;
    shared->ranks = bc_reallocate(shared->ranks, (size_t)n, sizeof *shared->ranks,
                                  "no memory for the ranks of a source");
    shared->ranks[n - 1] = own->rank;
    average(&mean->period.period_ns, own->period.period_ns, n);
    average_interval(&mean->period.interval_ns, &own->period.interval_ns, n);
    average_summary(&mean->amount.per_s, &own->amount.per_s, n);
    average_summary(&mean->amount.length_ns, &own->amount.length_ns, n);
    average_summary(&mean->amount.stopped_pct, &own->amount.stopped_pct, n);
}

/* Sorts sources in descending order of the time for which they stop ranks. */
static int by_stopped(const void *a, const void *b)
{
    const struct noise_shared_source *const left = a, *const right = b;
    const double left_pct = left->mean.amount.stopped_pct.value * left->rank_count;
    const double right_pct = right->mean.amount.stopped_pct.value * right->rank_count;
    return (left_pct < right_pct) - (left_pct > right_pct);
}

/* ---- collective ------------------------------------------------------------------------------ */

/* Adds the periodic sources. Sets source[i] to the number of the period of stop i. */
static void gather_periods(const struct bc_run *run, const struct noise_stops *stops,
                           const struct noise_limits *limits, signed char *source,
                           struct noise_sources *sources)
{
    enum { NOT_FOUND = -1 };
    struct noise_period found[NOISE_PERIODS_MAX];
    struct noise_source own[NOISE_PERIODS_MAX];
    const int count = noise_periods_find(stops, limits->alpha / run->job.ranks, limits->confidence,
                                         found, source);
    memset(own, 0, sizeof own); /* also clears the padding */
    for (int i = 0; i < NOISE_PERIODS_MAX; i++) {
        own[i].is_periodic = true;
        own[i].rank = i < count ? run->job.rank : NOT_FOUND;
        if (i < count) {
            own[i].period = found[i];
            own[i].amount = amount_of_period(run, stops, source, i);
        }
    }
    /* A search may take seconds, on some ranks longer than on others. */
    bc_harness_barrier(MPI_COMM_WORLD);
    struct noise_source *const all = bc_gather(own, sizeof own, MPI_COMM_WORLD);
    for (int i = 0; all != NULL && i < run->job.ranks * NOISE_PERIODS_MAX; i++)
        if (all[i].rank != NOT_FOUND)
            merge(sources, &all[i]);
    free(all);
}

/* ---- stops by row and class ------------------------------------------------------------------ */

/* Rows in which all ranks were watched, by visit and part. */
struct watched_rows {
    int count;
    int place[ROWS_MAX];      /* -1 if not all ranks were watched */
    double seconds[ROWS_MAX]; /* in which this rank was watched */
};

/* Returns the row of a part of a visit, watched or not. */
static int row_of(const struct noise_stops *stops, int visit, int64_t part)
{
    const int visits = stops->visit_count < VISITS_MAX ? stops->visit_count : VISITS_MAX;
    const int group = (int)((int64_t)visit * visits / stops->visit_count);
    return group * NOISE_PARTS + (int)(part < NOISE_PARTS ? part : NOISE_PARTS - 1);
}

/* Collective. */
static struct watched_rows find_rows(const struct noise_stops *stops)
{
    struct watched_rows rows = {0};
    double min_s[ROWS_MAX];
    for (int visit = 0; visit < stops->visit_count; visit++)
        for (int part = 0; part < NOISE_PARTS; part++)
            rows.seconds[row_of(stops, visit, part)] +=
                (double)stops->visits[visit].watched_ns * 1e-9 / NOISE_PARTS;
    bc_harness_allreduce(rows.seconds, min_s, ROWS_MAX, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    for (int row = 0; row < ROWS_MAX; row++)
        rows.place[row] = min_s[row] > 0.0 ? rows.count++ : -1;
    return rows;
}

/* Counts the stops of each row by class: those without a period, and all. */
static void count_classes(const struct noise_stops *stops, const signed char *source,
                          const struct watched_rows *rows, struct noise_rate *no_period,
                          struct noise_rate *all)
{
    size_t next = 0;
    for (int visit = 0; visit < stops->visit_count; visit++) {
        const struct noise_watch *const watch = &stops->visits[visit];
        for (int64_t i = 0; i < watch->stops; i++, next++) {
            const struct noise_stop *const stop = &stops->stop[next];
            const int row = row_of(stops, visit,
                                   NOISE_PARTS * (stop->begin_ns - watch->begin_ns) /
                                       (watch->end_ns - watch->begin_ns));
            const double share = 1.0 / rows->seconds[row];
            const struct noise_rate one = {share, share * (double)stop->length_ns};
            if (rows->place[row] < 0)
                continue;
            const int cell = rows->place[row] * NOISE_CLASSES + noise_class_of(stop->length_ns);
            noise_rate_add(&all[cell], &one, 1.0);
            if (source[next] == NOISE_NO_PERIOD)
                noise_rate_add(&no_period[cell], &one, 1.0);
        }
    }
}

static void gather_uneven(const struct bc_run *run, const struct noise_stops *stops,
                          const struct noise_limits *limits, const signed char *source,
                          struct noise_sources *sources)
{
    const struct watched_rows rows = find_rows(stops);
    const size_t count = (size_t)rows.count * NOISE_CLASSES;
    struct noise_rate *const own = bc_allocate(2 * count, sizeof *own, "no memory for rates");
    count_classes(stops, source, &rows, own, own + count);
    struct noise_rate *const no_period = bc_gather(own, count * sizeof *own, MPI_COMM_WORLD);
    struct noise_rate *const all = bc_gather(own + count, count * sizeof *own, MPI_COMM_WORLD);
    const struct noise_rates rates = {no_period, all, run->job.ranks, rows.count};
    struct noise_source *found = NULL;
    const int found_count = run->job.rank == 0 ? noise_uneven_find(&rates, limits, &found) : 0;
    for (int i = 0; i < found_count; i++)
        merge(sources, &found[i]);
    free(found);
    free(all);
    free(no_period);
    free(own);
}

void noise_sources_find(const struct bc_run *run, const struct noise_stops *stops,
                        const struct noise_limits *limits, struct noise_sources *sources)
{
    signed char *const source =
        bc_allocate(stops->count, 1, "no memory for %zu stops", stops->count);
    struct noise_limits half = *limits;
    half.alpha /= 2.0; /* either kind of source may arise by chance */
    *sources = (struct noise_sources){0};
    gather_periods(run, stops, &half, source, sources);
    gather_uneven(run, stops, &half, source, sources);
    if (sources->count > 0)
        qsort(sources->source, (size_t)sources->count, sizeof *sources->source, by_stopped);
    free(source);
}

void noise_sources_free(struct noise_sources *sources)
{
    for (int i = 0; i < sources->count; i++)
        free(sources->source[i].ranks);
    free(sources->source);
}
