/*
 * Where stops come from: periodic sources (periods.c), with the ranks that have them; and stops of
 * which single ranks have more than the others (uneven.c). If memory runs out, the job ends.
 */
#pragma once

#include "common/run/run.h"
#include "noise/rank_stops.h"

#include <stdbool.h>

/* How much stops there are, over visits. */
struct noise_amount {
    struct bc_summary per_s;       /* stops a second of a rank */
    struct bc_summary length_ns;   /* of a stop */
    struct bc_summary stopped_pct; /* share of a rank's time */
};

struct noise_period {
    double period_ns;
    struct bc_interval interval_ns; /* of the period */
};

/* A source of one rank. */
struct noise_source {
    bool is_periodic;
    struct noise_period period; /* NAN if irregular */
    struct noise_amount amount; /* lengths are medians if periodic, else means */
    int rank;
};

/* A source of one rank or several: the mean over them. */
struct noise_shared_source {
    struct noise_source mean;
    int *ranks; /* ascending */
    int rank_count;
};

struct noise_sources {
    struct noise_shared_source *source; /* those that stop ranks for longest first */
    int count;
};

struct noise_limits {
    double alpha;         /* probability that anything is named where all ranks are alike */
    double threshold_pct; /* min share of a rank's time that an irregular source takes */
    double confidence;    /* of intervals */
};

/* Finds the sources of all ranks, on rank 0; none on all others. Collective over MPI_COMM_WORLD.
   Rank 0 takes up to 35 KB a rank. */
void noise_sources_find(const struct bc_run *run, const struct noise_stops *stops,
                        const struct noise_limits *limits, struct noise_sources *sources);

void noise_sources_free(struct noise_sources *sources);

/* Summarizes the values of visits, of which none is below 0, with an interval over visits. Leaves
   out those that are NAN; reorders `values`. Local. */
struct bc_summary noise_over_visits(const struct bc_run *run, double *values, size_t count);

/* Summarizes the stops of visits, of one rank or summed over ranks. Local. */
struct noise_amount noise_amount_over_visits(const struct bc_run *run,
                                             const struct noise_watch *visits, size_t count);

/* ---- periods.c ------------------------------------------------------------------------------- */

/* Max number of periods of a rank; and of a stop that isn't periodic. */
enum { NOISE_PERIODS_MAX = 16, NOISE_NO_PERIOD = -1 };

/* True if two periods differ by less than their intervals, or by very little. Local. */
bool noise_is_same_period(const struct noise_period *a, const struct noise_period *b);

/* Finds periodic stops, and returns the number of their periods: found[0] to found[result - 1].
   source[i] becomes the index of the period of stop i, or NOISE_NO_PERIOD. Several stops in each
   period are one source if their mean lengths differ by less than a factor of two, since a daemon
   may run in steps. `alpha` is the probability that anything is found among random stops;
   `confidence` is of the intervals. Takes up to a few seconds. Local. */
int noise_periods_find(const struct noise_stops *stops, double alpha, double confidence,
                       struct noise_period found[NOISE_PERIODS_MAX], signed char *source);

/* ---- uneven.c -------------------------------------------------------------------------------- */

/* Classes of stops by length: class k from 2^k ns to below 2^(k + 1) ns. */
enum { NOISE_CLASSES = 40 };
int noise_class_of(int64_t length_ns);

/* The stops of a class, for each second in which the rank was watched. */
struct noise_rate {
    double per_s;
    double stopped_ns_per_s;
};

/* Adds `share` times a rate. */
void noise_rate_add(struct noise_rate *sum, const struct noise_rate *rate, double share);

/* A visit has this many rows, one after the other: parts of its time. */
enum { NOISE_PARTS = 4 };

/* The rates of all ranks: [(rank * rows + row) * NOISE_CLASSES + class]. Parts of visits show
   whether rare stops are more than those of others. But the parts of a visit share the state of the
   machine, so visits must show it, too, and intervals are over visits. */
struct noise_rates {
    const struct noise_rate *no_period; /* stops in which the rank found no period */
    const struct noise_rate *all;       /* all stops. A rank must have more of these, too: otherwise
                                           it only missed a clock that other ranks found */
    int ranks, rows;                    /* rows: NOISE_PARTS for each visit */
};

/* Finds the irregular sources of single ranks, by rank; returns their number and, in *found, their
   list, which the caller frees. Needs 2 ranks to find any. Local. */
int noise_uneven_find(const struct noise_rates *rates, const struct noise_limits *limits,
                      struct noise_source **found);
