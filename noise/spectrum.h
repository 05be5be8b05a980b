/*
 * At which frequencies stops come oftener than chance would have them: the H test, at several
 * harmonics of each frequency, since stops are short against their period. What was watched has
 * gaps, whose own share of each harmonic is subtracted; and what stops show at most frequencies of
 * some width, as in bursts, is taken for the level of chance there. Knows of no clock. All
 * functions are local; without memory the job ends. Sources: periods.h.
 */
#ifndef COMMCOST_NOISE_SPECTRUM_H
#define COMMCOST_NOISE_SPECTRUM_H

#include "noise/stops.h"

#include <stdbool.h>

/* Harmonics that are looked at. */
enum { NOISE_HARMONICS = 8 };

/* Peaks that are looked at more closely. */
enum { NOISE_PEAKS_MAX = 16 };

/* Periods that must be watched of the lowest frequency. */
enum { NOISE_PERIODS_WATCHED = 6 };

/* A stop; times are seconds since the first was watched. */
struct noise_event {
    double time_s;
    size_t stop; /* index */
};

/* Stops of about one length, and when they could have come. */
struct noise_train {
    struct noise_event *events; /* ascending */
    size_t count;
    const struct noise_stops *stops;
};

/* The part of a train that is searched. */
struct noise_search {
    const struct noise_train *train;
    size_t count;
    double end_s;     /* when its last event was, or the last visit ended */
    double watched_s; /* until then */
};

/* Twice the power of each harmonic beyond what the gaps in the watched time show: 2 on average for
   events at random. */
struct noise_powers {
    double of[NOISE_HARMONICS];
};

struct noise_peak {
    double frequency, h;
    double level; /* by which the powers were divided */
};

/* A time on the clock of the stops, as seconds since the first visit began. */
double noise_seconds_at(const struct noise_stops *stops, int64_t ns);

/* Searches the first `max` events of a train, or all. */
struct noise_search noise_search_begin(const struct noise_train *train, size_t max);

/* What was watched of a visit until the search's end; false if nothing. */
bool noise_watched_of(const struct noise_search *search, int visit, double *begin_s, double *end_s);

/* The powers at a frequency (Hz); their H, of powers divided by `level`. */
struct noise_powers noise_powers_at(const struct noise_search *search, double frequency);
double noise_h_of(const struct noise_powers *powers, double level);

/* Lists the peaks that stops at random exceed with a chance of less than alpha: those above
 *height. Returns how many there are. */
int noise_find_peaks(const struct noise_search *search, double alpha,
                     struct noise_peak peaks[NOISE_PEAKS_MAX], double *height);

/* Moves a peak to where it is highest between the frequencies of the search. */
void noise_refine_peak(const struct noise_search *search, struct noise_peak *peak);

#endif
