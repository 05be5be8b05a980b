/*
 * The stops of a rank: what quanta of work take longer than usual. All functions are local; without
 * memory the job ends.
 *
 * Source: fixed work quanta: Sottile and Minnich, "Analysis of Microbenchmarks for Performance
 * Tuning of Clusters", CLUSTER 2004.
 */
#ifndef COMMCOST_NOISE_STOPS_H
#define COMMCOST_NOISE_STOPS_H

#include <stddef.h>
#include <stdint.h>

/* The rank was stopped from begin_ns, known to within a quantum, for length_ns. */
struct noise_stop {
    int64_t begin_ns, length_ns;
};

/* The part of a visit that was watched. */
struct noise_watch {
    int64_t begin_ns, end_ns;
    int64_t watched_ns; /* in quanta: without what lies between blocks of them */
    int64_t stopped_ns; /* of that, in stops */
    int64_t stops, quanta;
};

/* All zeros before the first visit. */
struct noise_stops {
    struct noise_stop *stop; /* ascending by begin_ns */
    size_t count, capacity;
    size_t left_out; /* blocks that were left out since the list is full */
    struct noise_watch *visits;
    int visit_count, visit_capacity;
};

/* The max length of the list, at 16 bytes a stop. What comes after that isn't watched. */
enum { NOISE_STOPS_MAX = 1 << 20 };

void noise_stops_begin_visit(struct noise_stops *stops);

/* What `count` (at least 1) quanta or steps usually take, by their readings: the median of at most
   256 of them. */
double noise_usual_ns(const int64_t *readings_ns, int count);

/* Adds a block of quanta to the last visit. A quantum that takes more than min_stop_ns longer than
   usual in the block has one stop in it, which took that much. So a processor that gets slower for
   longer than a block isn't stopped. */
void noise_stops_add(struct noise_stops *stops, const int64_t *readings_ns, int count,
                     double min_stop_ns);

/* Leaves out the last visit of a run that a signal ended if it watched for less than a fifth of the
   longest one: it was cut short, and would count as much as the others. It stays in the list, as a
   visit in which nothing was watched. */
void noise_stops_drop_cut_visit(struct noise_stops *stops);

/* The visit in which a stop began, or else the one after that; the last one at most. `from` is
   where to begin: 0, or the visit of an earlier stop. */
int noise_visit_of(const struct noise_stops *stops, int64_t begin_ns, int from);

/* The last visit of which anything was watched; the first one where nothing was. */
int noise_last_watched(const struct noise_stops *stops);

void noise_stops_free(struct noise_stops *stops);

#endif
