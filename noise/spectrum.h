/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frequencies at which stops come more often than by chance, by the H test, over several harmonics
 * of each frequency, since stops are short compared with their period. The watched time has gaps,
 * whose share of each harmonic is subtracted. Bursts raise the power in a whole band of
 * frequencies, and so the chance level there. All functions are local. They abort the job if there
 * is no memory. Sources: periods.c.
 */
#pragma once

#include "noise/rank_stops.h"

#include <stdbool.h>

/* Harmonics of a frequency in the H test. */
enum { NOISE_HARMONICS = 8 };

/* Max number of peaks. */
enum { NOISE_PEAKS_MAX = 16 };

/* Min periods of the lowest frequency in the watched time. */
enum { NOISE_PERIODS_WATCHED = 6 };

/* A stop. Times are seconds since the first visit began. */
struct noise_event {
    double time_s;
    size_t stop; /* index */
};

/* Stops of about the same length, and all visits. */
struct noise_train {
    struct noise_event *events; /* ascending */
    size_t count;
    const struct noise_stops *stops;
};

/* The part of a train that is searched. */
struct noise_search {
    const struct noise_train *train;
    size_t count;
    double end_s;     /* time of its last event, or end of the last visit */
    double watched_s; /* until end_s */
};

/* Twice the power of each harmonic, less the share of the gaps: 2 on average for random events. */
struct noise_powers {
    double of[NOISE_HARMONICS];
};

struct noise_peak {
    double frequency, h;
    double level; /* by which the powers were divided */
};

/* Returns a time on the clock of the stops, in seconds since the first visit began. */
double noise_seconds_at(const struct noise_stops *stops, int64_t ns);

/* Returns a search of the first `max` events of a train, or all. */
struct noise_search noise_search_begin(const struct noise_train *train, size_t max);

/* Returns the watched part of a visit until the search's end; false if there is none. */
bool noise_watched_of(const struct noise_search *search, int visit, double *begin_s, double *end_s);

/* Returns the powers at a frequency (Hz), and their H after division by `level`. */
struct noise_powers noise_powers_at(const struct noise_search *search, double frequency);
double noise_h_of(const struct noise_powers *powers, double level);

/* Finds the highest peaks that random stops reach with a probability below alpha, those above
   `height`, which is set. Returns their number. */
int noise_find_peaks(const struct noise_search *search, double alpha,
                     struct noise_peak peaks[NOISE_PEAKS_MAX], double *height);

/* Moves a peak to its maximum between the frequencies of the search. */
void noise_refine_peak(const struct noise_search *search, struct noise_peak *peak);
