/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources of stops: periodic sources (periods.c) with the ranks that have them, and irregular
 * sources, stops that single ranks have more often than the others (uneven.c). All functions abort
 * the job if there is no memory.
 */
#pragma once

#include "common/run/run.h"
#include "noise/rank_stops.h"

#include <stdbool.h>

/* Amount of stops, over visits. */
struct noise_amount {
    struct bc_summary per_s;       /* stops per second and rank */
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

/* A source of one or more ranks: the mean over them. */
struct noise_shared_source {
    struct noise_source mean;
    int *ranks; /* ascending */
    int rank_count;
};

struct noise_sources {
    struct noise_shared_source *source; /* in descending order of stopped time */
    int count;
};

struct noise_limits {
    double alpha;         /* probability of any source although there is none */
    double threshold_pct; /* min share of a rank's time for an irregular source */
    double confidence;    /* of intervals */
};

/* Finds the sources of all ranks on rank 0; none on others. Rank 0 needs up to 35 KB per rank.
   Collective over MPI_COMM_WORLD. */
void noise_sources_find(const struct bc_run *run, const struct noise_stops *stops,
                        const struct noise_limits *limits, struct noise_sources *sources);

void noise_sources_free(struct noise_sources *sources);

/* Summarizes non-negative values of visits, with an interval over visits. Ignores NAN. Reorders
   `values`. Local. */
struct bc_summary noise_over_visits(const struct bc_run *run, double *values, size_t count);

/* Summarizes the stops of visits, of one rank or summed over ranks. Local. */
struct noise_amount noise_amount_over_visits(const struct bc_run *run,
                                             const struct noise_watch *visits, size_t count);

/* ---- periods.c ------------------------------------------------------------------------------- */

/* Max number of periods of a rank; index of stops that aren't periodic. */
enum { NOISE_PERIODS_MAX = 16, NOISE_NO_PERIOD = -1 };

/* True if two periods differ by less than their intervals, or by very little. Local. */
bool noise_is_same_period(const struct noise_period *a, const struct noise_period *b);

/* Finds periodic stops. Returns the number of periods, in `found`, and sets source[i] to the index
   of the period of stop i, or to NOISE_NO_PERIOD. Several stops in each period are one source if
   their mean lengths differ by less than a factor of two, since a daemon may run in steps. `alpha`
   is the probability that anything is found among random stops; `confidence` is that of the
   intervals. Takes up to a few seconds. Local. */
int noise_periods_find(const struct noise_stops *stops, double alpha, double confidence,
                       struct noise_period found[NOISE_PERIODS_MAX], signed char *source);

/* ---- uneven.c -------------------------------------------------------------------------------- */

/* Classes of stops by length: class k from 2^k ns to below 2^(k + 1) ns. */
enum { NOISE_CLASSES = 40 };
int noise_class_of(int64_t length_ns);

/* Stops of a class per second in which the rank was watched. */
struct noise_rate {
    double per_s;
    double stopped_ns_per_s;
};

/* Adds `share` times a rate. */
void noise_rate_add(struct noise_rate *sum, const struct noise_rate *rate, double share);

/* Rows per visit: successive parts of its time. */
enum { NOISE_PARTS = 4 };

/* The rates of all ranks: [(rank * rows + row) * NOISE_CLASSES + class]. Parts of visits show if
   rare stops are more frequent than on other ranks. But the parts of a visit share the state of the
   machine, so visits must show it too, and intervals are over visits. */
struct noise_rates {
    const struct noise_rate *no_period; /* stops without a period */
    const struct noise_rate *all;       /* all stops; a rank must also have more of these,
                                           otherwise it only missed a period that others found */
    int ranks, rows;                    /* rows: NOISE_PARTS per visit */
};

/* Finds the irregular sources of single ranks, by rank. Returns their number, and in *found their
   list, which the caller frees. Needs 2 ranks to find any. Local. */
int noise_uneven_find(const struct noise_rates *rates, const struct noise_limits *limits,
                      struct noise_source **found);
