/*
 * The interruptions (stops) of a rank: by how much quanta of work take longer than usual. All
 * functions are local; without memory the job ends.
 *
 * Source: fixed work quanta: Sottile and Minnich, "Analysis of Microbenchmarks for Performance
 * Tuning of Clusters", CLUSTER 2004.
 */
#pragma once

#include "common/stats/stats.h"

#include <stdint.h>

/* The rank was interrupted at begin_ns, known to within a quantum, for length_ns. */
struct noise_stop {
    int64_t begin_ns, length_ns;
};

/* The part of a visit in which the rank was watched. */
struct noise_watch {
    int64_t begin_ns, end_ns;
    int64_t watched_ns; /* in quanta: without the time between blocks of them */
    int64_t stopped_ns; /* of that, in stops */
    int64_t stops, quanta;
};

/* All zeros before the first visit. */
struct noise_stops {
    struct noise_stop *stop; /* ascending by begin_ns: those of the first visit, then of the next */
    size_t count, capacity;
    size_t left_out; /* blocks that were left out since the list is full */
    struct noise_watch *visits;
    int visit_count;
};

/* How much stops there are, over visits. */
struct noise_amount {
    struct bc_summary per_s;       /* stops a second of a rank */
    struct bc_summary length_ns;   /* of a stop */
    struct bc_summary stopped_pct; /* share of a rank's time */
};

/* Max length of the list, at 16 bytes a stop. A rank whose list is full isn't watched. */
enum { NOISE_STOPS_MAX = 1 << 20 };

void noise_stops_begin_visit(struct noise_stops *stops);

/* The usual time of `count` (at least 1) quanta or steps, from their clock readings: the median of
   at most 256 of them. */
double noise_usual_ns(const int64_t *readings_ns, int count);

/* Adds a block of quanta to the last visit. A quantum that takes more than min_stop_ns longer than
   usual in its block has one stop, as long as the difference. A processor that runs slower for
   longer than a block isn't stopped. */
void noise_stops_add(struct noise_stops *stops, const int64_t *readings_ns, int count,
                     double min_stop_ns);

/* For a run that a signal ended: empties the last visit if it was watched for less than a fifth of
   the longest one, since it would count as much as the others. It stays in the list. */
void noise_stops_drop_cut_visit(struct noise_stops *stops);

/* The last visit in which the rank was watched; 0 if there is none. */
int noise_last_watched(const struct noise_stops *stops);

void noise_stops_free(struct noise_stops *stops);
