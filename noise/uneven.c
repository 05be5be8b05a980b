/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are stopped more often than the others, and the lengths of these stops.
 *
 * The background is common to all ranks: the mean of the half of the ranks that are interrupted for
 * the shortest time. A rank has a separate source if it has more stops than the background in some
 * classes of length, significantly over visits and by enough to matter.
 */
#include "common/memory/allocate.h"
#include "noise/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A source is reported if it exceeds the background by MORE_MIN of the background, and by
   DEVIATIONS_MIN robust standard deviations between ranks. */
#define MORE_MIN 0.5
#define DEVIATIONS_MIN 5.0

/* With fewer visits only parts decide. */
enum { VISITS_MIN = 4 };

/* Rates, and their background and spread. */
struct rank_rates {
    const struct noise_rate *rates; /* as in struct noise_rates */
    int ranks, rows;
    struct noise_rate *background; /* by row and class */
    double spread[NOISE_CLASSES];  /* of the ranks' stops per second */
};

int noise_class_of(int64_t length_ns)
{
    int class = 0;
    while (class < NOISE_CLASSES - 1 && length_ns >> (class + 1) != 0)
        class ++;
    return class;
}

/* Returns a rank's rates, by row and class. */
static const struct noise_rate *rates_of(const struct rank_rates *c, int rank)
{
    return c->rates + (size_t)rank * (size_t)c->rows * NOISE_CLASSES;
}

void noise_rate_add(struct noise_rate *sum, const struct noise_rate *rate, double share)
{
    sum->per_s += share * rate->per_s;
    sum->stopped_ns_per_s += share * rate->stopped_ns_per_s;
}

/* ---- the background -------------------------------------------------------------------------- */

static double *allocate_by_rank(int ranks)
{
    return bc_allocate((size_t)ranks, sizeof(double), "no memory for %d ranks", ranks);
}

/* Chooses the ranks of the background; the caller frees the array. */
static bool *choose_ranks(const struct rank_rates *c)
{
    bool *const chosen =
        bc_allocate((size_t)c->ranks, sizeof *chosen, "no memory for %d ranks", c->ranks);
    double *const loads = allocate_by_rank(c->ranks), *const sorted = allocate_by_rank(c->ranks);
    for (int rank = 0; rank < c->ranks; rank++)
        for (int i = 0; i < c->rows * NOISE_CLASSES; i++)
            loads[rank] += rates_of(c, rank)[i].stopped_ns_per_s;
    memcpy(sorted, loads, (size_t)c->ranks * sizeof *sorted);
    bc_sort(sorted, (size_t)c->ranks);
    for (int rank = 0; rank < c->ranks; rank++)
        chosen[rank] = loads[rank] <= sorted[(c->ranks - 1) / 2];
    free(sorted);
    free(loads);
    return chosen;
}

/* Returns the robust standard deviation between ranks of their means over visits in a class, or 0
   with fewer than 4 ranks, which don't show it. */
static double spread_of(const struct rank_rates *c, int class)
{
    if (c->ranks < 4)
        return 0.0;
    double *const means = allocate_by_rank(c->ranks);
    for (int rank = 0; rank < c->ranks; rank++)
        for (int row = 0; row < c->rows; row++)
            means[rank] += rates_of(c, rank)[row * NOISE_CLASSES + class].per_s / c->rows;
    bc_sort(means, (size_t)c->ranks);
    const double sigma = bc_mad_sigma(means, (size_t)c->ranks);
    free(means);
    return sigma;
}

/* Computes the background of the chosen ranks, which the caller frees, and the spreads. */
static void find_background(struct rank_rates *c, const bool *chosen)
{
    const size_t cells = (size_t)c->rows * NOISE_CLASSES;
    int count = 0;
    for (int rank = 0; rank < c->ranks; rank++)
        count += chosen[rank];
    c->background = bc_allocate(cells, sizeof *c->background, "no memory for the background");
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; chosen[rank] && i < cells; i++)
            noise_rate_add(&c->background[i], &rates_of(c, rank)[i], 1.0 / count);
    for (int class = 0; class < NOISE_CLASSES; class ++)
        c->spread[class] = spread_of(c, class);
}

/* ---- a rank against it ----------------------------------------------------------------------- */

/* Rates to compare, and sources found so far. */
struct uneven_search {
    struct rank_rates no_period, all;
    const struct noise_limits *limits;
    double *values; /* 3 per row */
    struct noise_source *found;
    int count;
};

/* True if a rank has significantly more stops of a class than the background, by Student's
   intervals of the differences in parts and in visits, and by far more than ranks differ. */
static bool has_more(const struct uneven_search *s, const struct rank_rates *c, int rank, int class)
{
    const size_t rows = (size_t)c->rows, visits = rows / NOISE_PARTS;
    const double alpha = s->limits->alpha;
    double *const values = s->values;
    /* Half of the ranks are compared in all classes, and an interval can be wrong at either end. */
    const double by_parts = 1.0 - 2.0 * alpha / ((double)c->ranks * (double)NOISE_CLASSES);
    for (size_t row = 0; row < rows; row++) {
        const size_t cell = row * NOISE_CLASSES + (size_t) class;
        values[row] = rates_of(c, rank)[cell].per_s - c->background[cell].per_s;
    }
    if (!(bc_mean_interval(values, rows, by_parts).lo > 0.0) ||
        !(bc_mean(values, rows) > DEVIATIONS_MIN * c->spread[class]))
        return false;
    for (size_t visit = 0; visit < visits; visit++)
        values[visit] = bc_mean(&values[visit * NOISE_PARTS], NOISE_PARTS);
    /* Visits differ in all classes alike. With 4 or more ranks the spread includes that. */
    return visits < VISITS_MIN || bc_mean_interval(values, visits, 1.0 - alpha).lo > 0.0;
}

/* Returns the total rate of classes `first` to `last`, as a mean over the parts of a visit. */
static struct noise_rate rate_of_visit(const struct noise_rate *rates, size_t visit, int first,
                                       int last)
{
    struct noise_rate mean = {0.0, 0.0};
    for (size_t row = visit * NOISE_PARTS; row < (visit + 1) * NOISE_PARTS; row++)
        for (int class = first; class <= last; class ++)
            noise_rate_add(&mean, &rates[row * NOISE_CLASSES + (size_t) class], 1.0 / NOISE_PARTS);
    return mean;
}

/* Computes the amount of a rank's stops of these classes beyond the background. Returns false if it
   is below the threshold or MORE_MIN of the background. */
static bool summarize(const struct uneven_search *s, int rank, int first, int last,
                      struct noise_amount *amount)
{
    const struct rank_rates *const c = &s->no_period;
    const size_t visits = (size_t)c->rows / NOISE_PARTS;
    const double confidence = s->limits->confidence;
    double *const per_s = s->values, *const length = per_s + visits, *const pct = length + visits;
    double background_pct = 0.0;
    size_t with_stops = 0;
    for (size_t i = 0; i < visits; i++) {
        const struct noise_rate background = rate_of_visit(c->background, i, first, last);
        struct noise_rate more = rate_of_visit(rates_of(c, rank), i, first, last);
        noise_rate_add(&more, &background, -1.0);
        per_s[i] = more.per_s;
        pct[i] = more.stopped_ns_per_s * 1e-7;
        background_pct += background.stopped_ns_per_s * 1e-7 / (double)visits;
        if (per_s[i] > 0.0)
            length[with_stops++] = more.stopped_ns_per_s / per_s[i];
    }
    amount->per_s = bc_mean_of_visits(per_s, visits, confidence);
    amount->stopped_pct = bc_mean_of_visits(pct, visits, confidence);
    amount->length_ns = bc_mean_of_visits(length, with_stops, confidence);
    /* Moves the mean to total time / number of stops, so that visits with few stops weigh less. */
    const double moved_ns =
        amount->stopped_pct.value * 1e7 / amount->per_s.value - amount->length_ns.value;
    amount->length_ns.value += moved_ns;
    amount->length_ns.interval.lo += moved_ns;
    amount->length_ns.interval.hi += moved_ns;
    return amount->stopped_pct.value >= s->limits->threshold_pct &&
           amount->stopped_pct.value >= MORE_MIN * background_pct;
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* Adds the sources of a rank: runs of adjacent classes of which it has more. */
static void find_of_rank(struct uneven_search *s, int rank)
{
    for (int class = 0; class < NOISE_CLASSES; class ++) {
        struct noise_source made = {.period = {NAN, {NAN, NAN}}, .rank = rank};
        const int first = class;
        while (class < NOISE_CLASSES && has_more(s, &s->no_period, rank, class) &&
               has_more(s, &s->all, rank, class))
            class ++;
        if (class == first || !summarize(s, rank, first, class - 1, &made.amount))
            continue;
        s->found = bc_reallocate(s->found, (size_t)s->count + 1, sizeof *s->found,
                                 "no memory for %d sources", s->count + 1);
        s->found[s->count++] = made;
    }
}

int noise_uneven_find(const struct noise_rates *rates, const struct noise_limits *limits,
                      struct noise_source **found)
{
    const int ranks = rates->ranks, rows = rates->rows;
    struct uneven_search s = {
        .no_period = {.rates = rates->no_period, .ranks = ranks, .rows = rows},
        .all = {.rates = rates->all, .ranks = ranks, .rows = rows},
        .limits = limits};
    *found = NULL;
    if (ranks < 2 || rows < NOISE_PARTS)
        return 0;
    s.values = bc_allocate(3 * (size_t)rows, sizeof *s.values, "no memory for %d rows", rows);
    bool *const chosen = choose_ranks(&s.no_period);
    find_background(&s.no_period, chosen);
    find_background(&s.all, chosen);
    for (int rank = 0; rank < ranks; rank++)
        if (!chosen[rank])
            find_of_rank(&s, rank);
    free(chosen);
    free(s.no_period.background);
    free(s.all.background);
    free(s.values);
    *found = s.found;
    return s.count;
}
