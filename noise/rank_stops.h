/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interruptions (stops) of a rank, found as quanta of work that take longer than usual, and the
 * slowdown of a program whose ranks wait for each other. All functions except noise_predict are
 * local. They abort the job if there is no memory.
 *
 * Source: fixed work quanta: Sottile and Minnich, "Analysis of Microbenchmarks for Performance
 * Tuning of Clusters", CLUSTER 2004.
 */
#pragma once

#include "common/stats/stats.h"

#include <stdint.h>

/* An interruption. begin_ns is known to within a quantum. */
struct noise_stop {
    int64_t begin_ns, length_ns;
};

/* The part of a visit in which the rank was watched. */
struct noise_watch {
    int64_t begin_ns, end_ns;
    int64_t watched_ns; /* in quanta, without the time between blocks */
    int64_t stopped_ns; /* part of watched_ns in stops */
    int64_t stops, quanta;
};

/* All zeros before the first visit. */
struct noise_stops {
    struct noise_stop *stop; /* in ascending order of begin_ns, visit by visit */
    size_t count, capacity;
    size_t left_out; /* blocks left out since the list is full */
    struct noise_watch *visits;
    int visit_count;
};

/* Max length of the list, at 16 bytes per stop. A rank whose list is full isn't watched. */
enum { NOISE_STOPS_MAX = 1 << 20 };

void noise_stops_begin_visit(struct noise_stops *stops);

/* Returns the usual time of `count` (at least 1) quanta or steps from their clock readings: the
   median of at most 256 times. */
double noise_usual_ns(const int64_t *readings_ns, int count);

/* Adds a block of quanta to the last visit. A quantum that takes more than min_stop_ns longer than
   usual in its block has one stop, as long as the difference. A processor that is slower for longer
   than a block doesn't cause stops. */
void noise_stops_add(struct noise_stops *stops, const int64_t *readings_ns, int count,
                     double min_stop_ns);

/* After a signal, empties the last visit if it is shorter than a fifth of the longest one, since
   all visits have equal weight. The empty visit stays in the list. */
void noise_stops_drop_cut_visit(struct noise_stops *stops);

/* Returns the last visit in which the rank was watched, or 0 if there is none. */
int noise_last_watched(const struct noise_stops *stops);

void noise_stops_free(struct noise_stops *stops);

/* A histogram of durations from 1 ns to 2^40 ns (18 minutes): each class is 2^(1/16) (4 %) wider
   than the one before. Histograms can be added. All zeros is an empty one. */
enum { NOISE_BINS_AN_OCTAVE = 16, NOISE_BINS = 40 * NOISE_BINS_AN_OCTAVE };
struct noise_histogram {
    int64_t count[NOISE_BINS];
};

void noise_histogram_add(struct noise_histogram *histogram, int64_t ns);

/* Returns the quantile p (0 to 1), to within 2.2 %, or NAN if the histogram is empty. */
double noise_histogram_quantile(const struct noise_histogram *histogram, double p);

/* ---- prediction.c ---------------------------------------------------------------------------- */

/* Predicts for each visit the slowdown, in percent, of steps that take step_ns[visit] undisturbed.
   Sets slowdown_pct[0] .. [visits - 1] on rank 0, to NAN if not all ranks were watched or step_ns
   isn't above 0. Times of stops must be on the clock that ranks share. Uses at most a few million
   cells, spread over each visit. Collective over MPI_COMM_WORLD, with the same number of visits and
   step_ns on all ranks. */
void noise_predict(const struct noise_stops *stops, const double *step_ns, double *slowdown_pct);

/* Internal to noise_predict. Adds the ns of stops in each cell to cells[0] .. cells[count - 1];
   cell i begins at begin_ns + i * cell_ns. Uses the stops from index `from` on. Returns the index
   of the first stop that ends after the last cell. */
size_t noise_fill_cells(const struct noise_stops *stops, size_t from, double begin_ns,
                        double cell_ns, float *cells, int count);

/* Internal to noise_predict. Returns the number of cells of a part, and its first cell, or 0 after
   the last part. Cells are reduced in parts that don't overlap: all cells if there are at most
   `max` or they fit into one part, otherwise the parts that `max` allows, spread evenly. */
int noise_cell_part(double cells, double max, int part, double *first);
