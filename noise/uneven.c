#include "noise/uneven.h"

#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A source is named if a rank has more of it than the background by this factor of the latter, and
   by DEVIATIONS_MIN robust standard deviations of ranks from each other. */
#define MORE_MIN 0.5
#define DEVIATIONS_MIN 5.0

int noise_class_of(int64_t length_ns)
{
    int class = 0;
    while (class < NOISE_CLASSES - 1 && length_ns >> (class + 1) != 0)
        class ++;
    return class;
}

static const struct noise_rate *rate_of(const struct noise_rates *rates, int rank, int row,
                                        int class)
{
    return &rates->rates[((size_t)rank * (size_t)rates->rows + (size_t)row) * NOISE_CLASSES +
                         (size_t) class];
}

/* ---- the background -------------------------------------------------------------------------- */

struct load {
    int rank;
    double stopped_ns;
};

static int ascending(const void *a, const void *b)
{
    const struct load *const left = a, *const right = b;
    if (left->stopped_ns != right->stopped_ns)
        return left->stopped_ns < right->stopped_ns ? -1 : 1;
    return left->rank - right->rank;
}

static int background_ranks(const struct noise_rates *rates) { return (rates->ranks + 1) / 2; }

/* Which ranks stand for the background; the caller frees the array. */
static bool *choose_ranks(const struct noise_rates *rates)
{
    bool *const has =
        bc_allocate((size_t)rates->ranks, sizeof *has, "no memory for %d ranks", rates->ranks);
    struct load *const loads =
        bc_allocate((size_t)rates->ranks, sizeof *loads, "no memory for %d ranks", rates->ranks);
    for (int rank = 0; rank < rates->ranks; rank++) {
        loads[rank].rank = rank;
        for (int row = 0; row < rates->rows; row++)
            for (int class = 0; class < NOISE_CLASSES; class ++)
                loads[rank].stopped_ns += rate_of(rates, rank, row, class)->stopped_ns_per_s;
    }
    qsort(loads, (size_t)rates->ranks, sizeof *loads, ascending);
    for (int i = 0; i < background_ranks(rates); i++)
        has[loads[i].rank] = true;
    free(loads);
    return has;
}

/* The mean of these ranks, by row and class; the caller frees it. */
static struct noise_rate *background_of(const struct noise_rates *rates, const bool *has)
{
    const size_t cells = (size_t)rates->rows * NOISE_CLASSES;
    const double share = 1.0 / background_ranks(rates);
    struct noise_rate *const background =
        bc_allocate(cells, sizeof *background, "no memory for the background");
    for (int rank = 0; rank < rates->ranks; rank++)
        for (size_t i = 0; has[rank] && i < cells; i++) {
            const struct noise_rate *const own = rate_of(rates, rank, 0, 0) + i;
            background[i].per_s += share * own->per_s;
            background[i].stopped_ns_per_s += share * own->stopped_ns_per_s;
        }
    return background;
}

/* ---- a rank against it ----------------------------------------------------------------------- */

/* What is summed up over classes of a row. */
struct excess {
    double per_s, stopped_ns_per_s;      /* of the rank */
    double others_per_s, others_stopped; /* of the background */
};

static struct excess excess_of(const struct noise_rates *rates, const struct noise_rate *background,
                               int rank, int row, int first, int last)
{
    struct excess sum = {0};
    for (int class = first; class <= last; class ++) {
        const struct noise_rate *const own = rate_of(rates, rank, row, class);
        const struct noise_rate *const others =
            &background[(size_t)row * NOISE_CLASSES + (size_t) class];
        sum.per_s += own->per_s;
        sum.stopped_ns_per_s += own->stopped_ns_per_s;
        sum.others_per_s += others->per_s;
        sum.others_stopped += others->stopped_ns_per_s;
    }
    return sum;
}

/* The same of a visit: the mean of its parts. */
static struct excess excess_of_visit(const struct noise_rates *rates,
                                     const struct noise_rate *background, int rank, int visit,
                                     int first, int last)
{
    struct excess mean = {0};
    for (int part = 0; part < NOISE_PARTS; part++) {
        const struct excess e =
            excess_of(rates, background, rank, visit * NOISE_PARTS + part, first, last);
        mean.per_s += e.per_s / NOISE_PARTS;
        mean.stopped_ns_per_s += e.stopped_ns_per_s / NOISE_PARTS;
        mean.others_per_s += e.others_per_s / NOISE_PARTS;
        mean.others_stopped += e.others_stopped / NOISE_PARTS;
    }
    return mean;
}

static int visits_of(const struct noise_rates *rates) { return rates->rows / NOISE_PARTS; }

/* Fills in what visits say of a rank's stops beyond the background. False if these are below the
   threshold or MORE_MIN of the background. `values` has room for 3 values a visit. */
static bool summarize(const struct noise_rates *rates, const struct noise_rate *background,
                      const struct noise_limits *limits, struct noise_uneven *made, double *values)
{
    const size_t visits = (size_t)visits_of(rates);
    double *const per_s = values, *const length = values + visits, *const pct = length + visits;
    double background_pct = 0.0, all_per_s = 0.0, all_pct = 0.0;
    size_t with_stops = 0;
    for (size_t i = 0; i < visits; i++) {
        const struct excess e = excess_of_visit(rates, background, made->rank, (int)i,
                                                made->first_class, made->last_class);
        per_s[i] = e.per_s - e.others_per_s;
        pct[i] = (e.stopped_ns_per_s - e.others_stopped) * 1e-7;
        background_pct += e.others_stopped * 1e-7 / (double)visits;
        all_per_s += per_s[i];
        all_pct += pct[i];
        if (per_s[i] > 0.0)
            length[with_stops++] = (e.stopped_ns_per_s - e.others_stopped) / per_s[i];
    }
    made->per_s = bc_mean_of_visits(per_s, visits, limits->confidence);
    made->length_ns = bc_mean_of_visits(length, with_stops, limits->confidence);
    /* Visits with few stops count for less. */
    const double moved_ns = all_pct * 1e7 / all_per_s - made->length_ns.value;
    made->length_ns.value += moved_ns;
    made->length_ns.interval.lo += moved_ns;
    made->length_ns.interval.hi += moved_ns;
    made->stopped_pct = bc_mean_of_visits(pct, visits, limits->confidence);
    return made->stopped_pct.value >= limits->threshold_pct &&
           made->stopped_pct.value >= MORE_MIN * background_pct;
}

/* How far ranks lie from each other in a class, as a robust standard deviation of their means over
   visits; 0 with fewer than 4 ranks, which tell nothing of that. */
static double spread_of(const struct noise_rates *rates, int class)
{
    if (rates->ranks < 4)
        return 0.0;
    double *const means =
        bc_allocate((size_t)rates->ranks, sizeof *means, "no memory for %d ranks", rates->ranks);
    for (int rank = 0; rank < rates->ranks; rank++)
        for (int row = 0; row < rates->rows; row++)
            means[rank] += rate_of(rates, rank, row, class)->per_s / rates->rows;
    bc_sort(means, (size_t)rates->ranks);
    const double sigma = bc_mad_sigma(means, (size_t)rates->ranks);
    free(means);
    return sigma;
}

/* How sure it must be that a rank has more than the background. */
struct surely {
    double by_parts, by_visits; /* confidences */
};

/* Whether a rank surely has more stops of a class than the background: Student's intervals of the
   differences of parts and of visits, and far beyond what ranks differ by. `values` has room for a
   value a row. */
static bool has_more(const struct noise_rates *rates, const struct noise_rate *background,
                     const struct surely *surely, double spread, int rank, int class,
                     double *values)
{
    const size_t rows = (size_t)rates->rows, visits = (size_t)visits_of(rates);
    for (size_t row = 0; row < rows; row++) {
        const struct excess e = excess_of(rates, background, rank, (int)row, class, class);
        values[row] = e.per_s - e.others_per_s;
    }
    if (!(bc_mean_interval(values, rows, surely->by_parts).lo > 0.0) ||
        !(bc_mean(values, rows) > DEVIATIONS_MIN * spread))
        return false;
    for (size_t visit = 0; visit < visits; visit++)
        values[visit] = bc_mean(&values[visit * NOISE_PARTS], NOISE_PARTS);
    return visits < NOISE_VISITS_MIN ||
           bc_mean_interval(values, visits, surely->by_visits).lo > 0.0;
}

static void add(struct noise_uneven **found, int *count, const struct noise_uneven *made)
{
    *found = realloc(*found, ((size_t)*count + 1) * sizeof **found);
    if (*found == NULL)
        bc_abort("no memory for %d sources", *count + 1);
    (*found)[(*count)++] = *made;
}

int noise_uneven_find(const struct noise_rates *rates, const struct noise_limits *limits,
                      struct noise_uneven **found)
{
    int count = 0;
    *found = NULL;
    if (rates->ranks < 2 || rates->rows < NOISE_PARTS)
        return 0;
    /* Half of the ranks are compared, in all classes; an interval is wrong at either end. What is
       between visits is common to the classes, and from four ranks on their spread tells of it. */
    const struct surely surely = {
        .by_parts = 1.0 - 2.0 * limits->alpha / ((double)rates->ranks * (double)NOISE_CLASSES),
        .by_visits = 1.0 - limits->alpha,
    };
    const struct noise_rates every = {.rates = rates->all_rates != NULL ? rates->all_rates
                                                                        : rates->rates,
                                      .ranks = rates->ranks,
                                      .rows = rates->rows};
    double spreads[NOISE_CLASSES], every_spread[NOISE_CLASSES];
    double *const values =
        bc_allocate(3 * (size_t)rates->rows, sizeof *values, "no memory for %d rows", rates->rows);
    /* The same ranks: what has no period tells who is stopped for the shortest time. */
    bool *const has = choose_ranks(rates);
    struct noise_rate *const background = background_of(rates, has);
    struct noise_rate *const of_every = background_of(&every, has);
    for (int class = 0; class < NOISE_CLASSES; class ++) {
        spreads[class] = spread_of(rates, class);
        every_spread[class] = spread_of(&every, class);
    }
    for (int rank = 0; rank < rates->ranks; rank++) {
        int first = NOISE_CLASSES;
        for (int class = 0; !has[rank] && class <= NOISE_CLASSES; class ++) {
            const bool more =
                class < NOISE_CLASSES &&
                has_more(rates, background, &surely, spreads[class], rank, class, values) &&
                has_more(&every, of_every, &surely, every_spread[class], rank, class, values);
            if (more && first == NOISE_CLASSES)
                first = class;
            if (more || first == NOISE_CLASSES)
                continue;
            struct noise_uneven made = {
                .rank = rank, .first_class = first, .last_class = class - 1};
            if (summarize(rates, background, limits, &made, values))
                add(found, &count, &made);
            first = NOISE_CLASSES;
        }
    }
    free(has);
    free(background);
    free(of_every);
    free(values);
    return count;
}
