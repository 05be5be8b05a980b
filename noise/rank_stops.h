/*
 * The interruptions (stops) of a rank: by how much quanta of work take longer than usual; and how
 * much they slow down a program whose ranks wait for each other. All functions but noise_predict
 * are local; without memory the job ends.
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

/* Max length of the list, at 16 bytes a stop. A rank whose list is full isn't watched. */
enum { NOISE_STOPS_MAX = 1 << 20 };

void noise_stops_begin_visit(struct noise_stops *stops);

/* Returns the usual time of `count` (at least 1) quanta or steps, from their clock readings: the
   median of at most 256 of them. */
double noise_usual_ns(const int64_t *readings_ns, int count);

/* Adds a block of quanta to the last visit. A quantum that takes more than min_stop_ns longer than
   usual in its block has one stop, as long as the difference. A processor that runs slower for
   longer than a block isn't stopped. */
void noise_stops_add(struct noise_stops *stops, const int64_t *readings_ns, int count,
                     double min_stop_ns);

/* For a run that a signal ended: empties the last visit if it was watched for less than a fifth of
   the longest one, since it would count as much as the others. It stays in the list. */
void noise_stops_drop_cut_visit(struct noise_stops *stops);

/* Returns the last visit in which the rank was watched; 0 if there is none. */
int noise_last_watched(const struct noise_stops *stops);

void noise_stops_free(struct noise_stops *stops);

/* A histogram of durations from 1 ns to 2^40 ns (18 minutes): each class is 2^(1/16) (4 %) wider
   than the one before, and histograms add up. All zeros is an empty one. */
enum { NOISE_BINS_AN_OCTAVE = 16, NOISE_BINS = 40 * NOISE_BINS_AN_OCTAVE };
struct noise_histogram {
    int64_t count[NOISE_BINS];
};

void noise_histogram_add(struct noise_histogram *histogram, int64_t ns);

/* Returns the quantile p (0 to 1), to within 2.2 %; NAN if the histogram is empty. */
double noise_histogram_quantile(const struct noise_histogram *histogram, double p);

/* ---- prediction.c ---------------------------------------------------------------------------- */

/* By how many percent stops slow down steps that take step_ns[visit] undisturbed, in each visit:
   slowdown_pct[0] .. [visits - 1] on rank 0; NAN if not all ranks were watched, or if step_ns isn't
   above 0. Times of stops are on the clock that ranks share. Uses at most a few million cells,
   spread over each visit. Collective over MPI_COMM_WORLD, with the same number of visits and
   step_ns on all ranks. */
void noise_predict(const struct noise_stops *stops, const double *step_ns, double *slowdown_pct);

/* Internal to it. Adds the ns of stops in each cell to cells[0] .. cells[count - 1]; cell i begins
   at begin_ns + i * cell_ns. Uses the stops from index `from` on. Returns the index of the first
   stop that isn't over when the last cell ends. */
size_t noise_fill_cells(const struct noise_stops *stops, size_t from, double begin_ns,
                        double cell_ns, float *cells, int count);

/* Internal to it. Cells are reduced in parts that don't overlap: all of them if there are at most
   `max` or they fit into one part; otherwise the parts for which `max` has room, spread evenly. The
   number of cells of a part, with its first one; 0 behind the last part. */
int noise_cell_part(double cells, double max, int part, double *first);
