#include "noise/sources.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sources of two ranks are one if their periods are the same and their lengths differ by less than
   this factor. */
#define SAME_LENGTH 1.5

/* Ranks are compared in NOISE_PARTS rows of each visit; of more visits than these, neighbours share
   the rows of one, since rank 0 keeps all ranks' rows. */
enum { VISITS_MAX = 6, ROWS_MAX = VISITS_MAX * NOISE_PARTS };

/* A source of one rank. */
struct own_source {
    bool is_periodic;
    struct noise_period period;
    struct bc_summary per_s, length_ns, stopped_pct;
    int rank; /* -1: there is none */
};

struct bc_summary noise_over_visits(const struct bc_run *run, const double *values, size_t count)
{
    const double confidence = run->settings.confidence_pct / 100.0;
    struct bc_summary mean = {
        .count = count, .value = bc_mean(values, count), .sd = NAN, .p99 = NAN, .max = NAN};
    if (run->settings.estimator != BC_MEAN)
        mean = bc_mean_of_visits(values, count, confidence);
    else
        mean.interval = bc_mean_interval(values, count, confidence);
    if (mean.interval.lo < 0.0)
        mean.interval.lo = 0.0;
    return mean;
}

/* ---- this rank's ----------------------------------------------------------------------------- */

static double watched_s(const struct noise_stops *stops, int visit)
{
    return (double)stops->visits[visit].watched_ns * 1e-9;
}

static int rows_of(const struct noise_stops *stops)
{
    return stops->visit_count < VISITS_MAX ? stops->visit_count * NOISE_PARTS : ROWS_MAX;
}

/* The row of a part of a visit. */
static size_t row_of(const struct noise_stops *stops, int visit, int64_t part)
{
    const int64_t group = (int64_t)visit * (rows_of(stops) / NOISE_PARTS) / stops->visit_count;
    return (size_t)(group * NOISE_PARTS + (part < NOISE_PARTS ? part : NOISE_PARTS - 1));
}

/* The seconds of each row that were watched. */
static void watched_of_rows(const struct noise_stops *stops, double *seconds)
{
    for (int visit = 0; visit < stops->visit_count; visit++)
        for (int part = 0; part < NOISE_PARTS; part++)
            seconds[row_of(stops, visit, part)] += watched_s(stops, visit) / NOISE_PARTS;
}

/* The stops of each row, by class: `no_period` those without a period, `all` all of them. Where a
   row wasn't watched all are NAN. */
static void count_classes(const struct noise_stops *stops, const signed char *source,
                          struct noise_rate *no_period, struct noise_rate *all)
{
    double seconds[ROWS_MAX] = {0.0};
    int visit = 0;
    watched_of_rows(stops, seconds);
    for (size_t i = 0; i < stops->count; i++) {
        const struct noise_stop *const stop = &stops->stop[i];
        visit = noise_visit_of(stops, stop->begin_ns, visit);
        const struct noise_watch *const watch = &stops->visits[visit];
        const size_t row = row_of(stops, visit,
                                  NOISE_PARTS * (stop->begin_ns - watch->begin_ns) /
                                      (watch->end_ns - watch->begin_ns));
        const size_t place = row * NOISE_CLASSES + (size_t)noise_class_of(stop->length_ns);
        struct noise_rate *const rates[] = {&all[place], &no_period[place]};
        for (int k = 0; k < (source[i] == NOISE_NO_PERIOD ? 2 : 1); k++) {
            rates[k]->per_s += 1.0 / seconds[row];
            rates[k]->stopped_ns_per_s += (double)stop->length_ns / seconds[row];
        }
    }
    for (size_t row = 0; row < (size_t)rows_of(stops); row++)
        if (!(seconds[row] > 0.0))
            no_period[row * NOISE_CLASSES].per_s = all[row * NOISE_CLASSES].per_s = NAN;
}

/* The median length of a period's stops in each visit that has some, over visits: another stop may
   have come just when one was due. The list is in the order of visits. `values` has room for a
   value a visit, `lengths` for one a stop. */
static struct bc_summary length_over_visits(const struct bc_run *run,
                                            const struct noise_stops *stops,
                                            const signed char *source, int number, double *values,
                                            double *lengths)
{
    size_t count = 0, members = 0;
    int visit = 0;
    for (size_t i = 0; i <= stops->count; i++) {
        const int of_stop = i < stops->count ? noise_visit_of(stops, stops->stop[i].begin_ns, visit)
                                             : stops->visit_count;
        if (of_stop != visit && members > 0)
            values[count++] = bc_median(lengths, members);
        if (of_stop != visit)
            members = 0;
        visit = of_stop;
        if (i < stops->count && source[i] == number)
            lengths[members++] = (double)stops->stop[i].length_ns;
    }
    return noise_over_visits(run, values, count);
}

/* What visits say of one of this rank's periods, and how long its stops are. */
static void summarize_period(const struct bc_run *run, const struct noise_stops *stops,
                             const signed char *source, int number, struct own_source *own)
{
    const size_t visits = (size_t)stops->visit_count;
    double *const per_s = bc_allocate(2 * visits, sizeof *per_s, "no memory for a period");
    double *const pct = per_s + visits;
    double *const lengths = bc_allocate(stops->count, sizeof *lengths, "no memory for a period");
    int visit = 0;
    for (size_t i = 0; i < stops->count; i++) {
        visit = noise_visit_of(stops, stops->stop[i].begin_ns, visit);
        if (source[i] != number)
            continue;
        per_s[visit] += 1.0 / watched_s(stops, visit);
        pct[visit] += (double)stops->stop[i].length_ns * 1e-7 / watched_s(stops, visit);
    }
    size_t watched = 0;
    for (size_t i = 0; i < visits; i++)
        if (stops->visits[i].quanta > 0) {
            per_s[watched] = per_s[i];
            pct[watched++] = pct[i];
        }
    own->per_s = noise_over_visits(run, per_s, watched);
    own->stopped_pct = noise_over_visits(run, pct, watched);
    own->length_ns = length_over_visits(run, stops, source, number, per_s, lengths);
    own->is_periodic = true;
    own->rank = run->job.rank;
    free(lengths);
    free(per_s);
}

/* ---- all ranks', on rank 0 ------------------------------------------------------------------- */

static struct noise_source *add(struct noise_sources *sources)
{
    sources->source =
        realloc(sources->source, ((size_t)sources->count + 1) * sizeof *sources->source);
    if (sources->source == NULL)
        bc_abort("no memory for %d sources", sources->count + 1);
    struct noise_source *const made = &sources->source[sources->count++];
    *made = (struct noise_source){0};
    return made;
}

static void add_rank(struct noise_source *source, int rank)
{
    source->ranks =
        realloc(source->ranks, ((size_t)source->rank_count + 1) * sizeof *source->ranks);
    if (source->ranks == NULL)
        bc_abort("no memory for %d ranks", source->rank_count + 1);
    source->ranks[source->rank_count++] = rank;
}

/* Moves a mean over n - 1 values to one over n, the last of which is `next`. */
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

static bool is_same(const struct noise_source *source, const struct own_source *own)
{
    const double factor = source->length_ns.value / own->length_ns.value;
    return source->is_periodic == own->is_periodic && factor < SAME_LENGTH &&
           factor > 1.0 / SAME_LENGTH && source->ranks[source->rank_count - 1] != own->rank &&
           (!own->is_periodic || noise_is_same_period(&source->period, &own->period));
}

/* Adds a source of one rank, to that of other ranks if it is the same. */
static void merge(struct noise_sources *sources, const struct own_source *own)
{
    struct noise_source *source = NULL;
    for (int i = 0; source == NULL && i < sources->count; i++)
        if (is_same(&sources->source[i], own))
            source = &sources->source[i];
    if (source == NULL) {
        source = add(sources);
        source->is_periodic = own->is_periodic;
        source->period = own->period;
        source->per_s = own->per_s;
        source->length_ns = own->length_ns;
        source->stopped_pct = own->stopped_pct;
    }
    add_rank(source, own->rank);
    average(&source->period.period_ns, own->period.period_ns, source->rank_count);
    average_interval(&source->period.interval_ns, &own->period.interval_ns, source->rank_count);
    average_summary(&source->per_s, &own->per_s, source->rank_count);
    average_summary(&source->length_ns, &own->length_ns, source->rank_count);
    average_summary(&source->stopped_pct, &own->stopped_pct, source->rank_count);
}

/* Sources that stop ranks for longest first. */
static int by_stopped(const void *a, const void *b)
{
    const struct noise_source *const left = a, *const right = b;
    const double left_pct = left->stopped_pct.value * left->rank_count;
    const double right_pct = right->stopped_pct.value * right->rank_count;
    return (left_pct < right_pct) - (left_pct > right_pct);
}

/* ---- collective ------------------------------------------------------------------------------ */

static void gather_periods(const struct bc_run *run, const struct noise_stops *stops, double alpha,
                           signed char *source, struct noise_sources *sources)
{
    struct noise_period found[NOISE_PERIODS_MAX];
    struct own_source own[NOISE_PERIODS_MAX];
    struct own_source *all = NULL;
    const int count = noise_periods_find(stops, alpha / run->job.ranks,
                                         run->settings.confidence_pct / 100.0, found, source);
    memset(own, 0, sizeof own);
    for (int i = 0; i < NOISE_PERIODS_MAX; i++) {
        own[i].rank = -1;
        if (i < count) {
            own[i].period = found[i];
            summarize_period(run, stops, source, i, &own[i]);
        }
    }
    if (run->job.rank == 0)
        all = bc_allocate((size_t)run->job.ranks, sizeof own, "no memory for %d ranks",
                          run->job.ranks);
    /* A search may take seconds, on some ranks more than on others. */
    bc_harness_barrier(MPI_COMM_WORLD);
    BC_MPI(MPI_Gather(own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, 0,
                      MPI_COMM_WORLD));
    for (int i = 0; run->job.rank == 0 && i < run->job.ranks * NOISE_PERIODS_MAX; i++)
        if (all[i].rank >= 0)
            merge(sources, &all[i]);
    free(all);
}

/* The rates of all ranks on rank 0, NULL elsewhere, which the caller frees. Collective. */
static struct noise_rate *gather_rates(const struct bc_run *run, const struct noise_rate *own,
                                       int rows)
{
    const int bytes = rows * NOISE_CLASSES * (int)sizeof *own;
    struct noise_rate *all = NULL;
    if (run->job.rank == 0)
        all = bc_allocate((size_t)run->job.ranks, (size_t)bytes, "no memory for %d ranks",
                          run->job.ranks);
    BC_MPI(MPI_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD));
    return all;
}

/* Leaves out the rows that some rank didn't watch: those of a whole visit. Returns how many stay.
 */
static int keep_watched_rows(struct noise_rate *rates, int ranks, int rows)
{
    bool watched[ROWS_MAX] = {false};
    int kept = 0;
    size_t to = 0;
    for (int row = 0; row < rows; row++) {
        watched[row] = true;
        for (size_t rank = 0; rank < (size_t)ranks; rank++)
            watched[row] = watched[row] &&
                           !isnan(rates[(rank * (size_t)rows + (size_t)row) * NOISE_CLASSES].per_s);
        kept += watched[row];
    }
    for (size_t from = 0; from < (size_t)ranks * (size_t)rows; from++)
        if (watched[from % (size_t)rows])
            memmove(&rates[to++ * NOISE_CLASSES], &rates[from * NOISE_CLASSES],
                    NOISE_CLASSES * sizeof *rates);
    return kept;
}

static void gather_uneven(const struct bc_run *run, const struct noise_stops *stops,
                          const struct noise_limits *limits, const signed char *source,
                          struct noise_sources *sources)
{
    const int rows = rows_of(stops);
    const size_t count = (size_t)rows * NOISE_CLASSES;
    struct noise_rate *const own = bc_allocate(2 * count, sizeof *own, "no memory for rates");
    count_classes(stops, source, own, own + count);
    struct noise_rate *const no_period = gather_rates(run, own, rows);
    struct noise_rate *const all = gather_rates(run, own + count, rows);
    if (run->job.rank == 0) {
        const int ranks = run->job.ranks;
        keep_watched_rows(all, ranks, rows);
        const struct noise_rates rates = {no_period, all, ranks,
                                          keep_watched_rows(no_period, ranks, rows)};
        struct noise_uneven *found;
        const int found_count = noise_uneven_find(&rates, limits, &found);
        for (int i = 0; i < found_count; i++)
            merge(sources, &(struct own_source){.period = {NAN, {NAN, NAN}},
                                                .per_s = found[i].per_s,
                                                .length_ns = found[i].length_ns,
                                                .stopped_pct = found[i].stopped_pct,
                                                .rank = found[i].rank});
        free(found);
    }
    free(all);
    free(no_period);
    free(own);
}

void noise_sources_find(const struct bc_run *run, const struct noise_stops *stops,
                        const struct noise_limits *limits, struct noise_sources *sources)
{
    signed char *const source =
        bc_allocate(stops->count, 1, "no memory for %zu stops", stops->count);
    /* Either kind may be found by chance. */
    struct noise_limits half = *limits;
    half.alpha /= 2.0;
    *sources = (struct noise_sources){0};
    gather_periods(run, stops, half.alpha, source, sources);
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
    *sources = (struct noise_sources){0};
}
