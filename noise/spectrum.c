/* SPDX-License-Identifier: BSD-3-Clause */
#include "noise/spectrum.h"

#include "common/memory/allocate.h"
#include "common/stats/stats.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

/* Frequencies in the width 1 / span of a peak. */
enum { STEPS_A_PEAK = 8 };

/* Cells of time per cycle of the highest harmonic, and max cells. Frequencies that need more are
   left out, as happens if a rank was watched for only a small part of the time. */
enum { CELLS_A_TURN = 3, CELLS_MAX = 1 << 21 };
#define FREQUENCIES_MAX ((double)CELLS_MAX / (CELLS_A_TURN * NOISE_HARMONICS))

/* Stops that come in bursts, or more often at some times, have more power than random ones at most
   frequencies in a band. This number of frequencies shares one chance level. */
enum { STEPS_A_LEVEL = 128 };

#define TURN (2.0 * 3.14159265358979323846)

double noise_seconds_at(const struct noise_stops *stops, int64_t ns)
{
    return (double)(ns - stops->visits[0].begin_ns) * 1e-9;
}

bool noise_watched_of(const struct noise_search *search, int visit, double *begin_s, double *end_s)
{
    const struct noise_stops *const stops = search->train->stops;
    *begin_s = noise_seconds_at(stops, stops->visits[visit].begin_ns);
    *end_s = fmin(noise_seconds_at(stops, stops->visits[visit].end_ns), search->end_s);
    return stops->visits[visit].quanta > 0 && *begin_s < *end_s;
}

struct noise_search noise_search_begin(const struct noise_train *train, size_t max)
{
    const struct noise_stops *const stops = train->stops;
    struct noise_search search = {.train = train, .count = train->count};
    double begin_s, end_s;
    search.end_s = noise_seconds_at(stops, stops->visits[noise_last_watched(stops)].end_ns);
    if (search.count > max) {
        search.count = max;
        search.end_s = train->events[max - 1].time_s;
    }
    for (int i = 0; i < stops->visit_count; i++)
        if (noise_watched_of(&search, i, &begin_s, &end_s))
            search.watched_s += end_s - begin_s;
    return search;
}

/* Returns the mean of e^(2 pi i f t) over the watched time, which is also that of random events. */
static double complex window_at(const struct noise_search *search, double frequency)
{
    double complex sum = 0.0;
    double begin_s, end_s;
    for (int i = 0; i < search->train->stops->visit_count; i++)
        if (noise_watched_of(search, i, &begin_s, &end_s))
            sum += cexp(I * TURN * frequency * end_s) - cexp(I * TURN * frequency * begin_s);
    return sum / (I * TURN * frequency * search->watched_s);
}

double noise_h_of(const struct noise_powers *powers, double level)
{
    double z = 0.0, h = 0.0;
    for (int m = 1; m <= NOISE_HARMONICS; m++) {
        z += powers->of[m - 1] / level;
        h = fmax(h, z - 4.0 * m + 4.0);
    }
    return h;
}

struct noise_powers noise_powers_at(const struct noise_search *search, double frequency)
{
    const double n = (double)search->count;
    double complex sums[NOISE_HARMONICS] = {0};
    struct noise_powers powers;
    for (size_t i = 0; i < search->count; i++) {
        const double complex one = cexp(I * TURN * frequency * search->train->events[i].time_s);
        double complex power = 1.0;
        for (int m = 0; m < NOISE_HARMONICS; m++)
            sums[m] += power *= one;
    }
    for (int m = 0; m < NOISE_HARMONICS; m++) {
        const double complex window = window_at(search, (m + 1) * frequency);
        const double by_window = cabs(window) * cabs(window);
        const double excess = cabs(sums[m] - n * window);
        powers.of[m] = 2.0 * excess * excess / (n * fmax(1e-3, 1.0 - by_window));
    }
    return powers;
}

/* Keeps the highest peaks, in descending order. */
static void keep_peak(struct noise_peak peaks[NOISE_PEAKS_MAX], int *count, struct noise_peak peak)
{
    if (*count == NOISE_PEAKS_MAX && peak.h <= peaks[NOISE_PEAKS_MAX - 1].h)
        return;
    int place = *count < NOISE_PEAKS_MAX ? (*count)++ : NOISE_PEAKS_MAX - 1;
    for (; place > 0 && peaks[place - 1].h < peak.h; place--)
        peaks[place] = peaks[place - 1];
    peaks[place] = peak;
}

/* The discrete Fourier transform of 2^k points, in place (Cooley and Tukey, "An Algorithm for the
   Machine Calculation of Complex Fourier Series", Mathematics of Computation 19 (1965)). */
static void transform(double complex *x, size_t count)
{
    for (size_t i = 1, reversed = 0; i < count; i++) {
        size_t bit = count / 2;
        for (; (reversed & bit) != 0; bit /= 2)
            reversed ^= bit;
        reversed ^= bit;
        if (i < reversed) {
            const double complex swapped = x[i];
            x[i] = x[reversed];
            x[reversed] = swapped;
        }
    }
    for (size_t half = 1; half < count; half *= 2)
        for (size_t k = 0; k < half; k++) {
            const double complex turn = cexp(I * TURN * (double)k / (2.0 * (double)half));
            for (size_t i = k; i < count; i += 2 * half) {
                const double complex even = x[i], odd = turn * x[i + half];
                x[i] = even + odd;
                x[i + half] = even - odd;
            }
        }
}

/* Counts the events in cells of time, less the mean of random events: the same number spread over
   the watched time. */
static void fill_cells(const struct noise_search *search, double cell_s, double complex *cells)
{
    const double each_s = (double)search->count / search->watched_s;
    double begin_s, end_s;
    for (size_t i = 0; i < search->count; i++)
        cells[(size_t)(search->train->events[i].time_s / cell_s)] += 1.0;
    for (int i = 0; i < search->train->stops->visit_count; i++) {
        if (!noise_watched_of(search, i, &begin_s, &end_s))
            continue;
        for (size_t cell = (size_t)(begin_s / cell_s); (double)cell * cell_s < end_s; cell++)
            cells[cell] -= each_s * (fmin(end_s, (double)(cell + 1) * cell_s) -
                                     fmax(begin_s, (double)cell * cell_s));
    }
}

/* Computes the powers at the frequencies `first` * step to `last` * step, with step = 1 /
   (STEPS_A_PEAK * search->end_s). */
static void find_powers(const struct noise_search *search, size_t first, size_t last,
                        struct noise_powers *powers)
{
    size_t count = 2;
    while (count < (size_t)CELLS_A_TURN * NOISE_HARMONICS * last)
        count *= 2;
    double complex *const cells = bc_allocate(count, sizeof *cells, "no memory for periods");
    fill_cells(search, STEPS_A_PEAK * search->end_s / (double)count, cells);
    transform(cells, count);
    for (size_t i = first; i <= last; i++)
        for (size_t m = 1; m <= NOISE_HARMONICS; m++) {
            const double re = creal(cells[m * i]), im = cimag(cells[m * i]);
            powers[i - first].of[m - 1] = 2.0 * (re * re + im * im) / (double)search->count;
        }
    free(cells);
}

/* Returns the power of neighbouring frequencies relative to random events, whose median is 2 log 2.
   The few frequencies of a clock don't change the median. */
static double level_of(const struct noise_powers *powers, size_t count)
{
    double first[STEPS_A_LEVEL];
    for (size_t i = 0; i < count; i++)
        first[i] = powers[i].of[0];
    return fmax(1.0, bc_median(first, count) / (2.0 * log(2.0)));
}

int noise_find_peaks(const struct noise_search *search, double alpha,
                     struct noise_peak peaks[NOISE_PEAKS_MAX], double *height)
{
    const double step = 1.0 / (STEPS_A_PEAK * search->end_s);
    const size_t first = (size_t)STEPS_A_PEAK * NOISE_PERIODS_WATCHED;
    /* All events may have one source. */
    const size_t last =
        (size_t)fmin(1.2 * (double)search->count / search->watched_s / step, FREQUENCIES_MAX);
    const size_t steps = last > first ? last - first + 1 : 0;
    const double h_min = *height = log((double)(steps + 1) / alpha) / 0.4;
    int count = 0;
    if (steps == 0)
        return 0;
    struct noise_powers *const powers = bc_allocate(steps, sizeof *powers, "no memory for periods");
    struct noise_peak *const h = bc_allocate(steps + 2, sizeof *h, "no memory for periods");
    find_powers(search, first, last, powers);
    for (size_t next = 0; next < steps;) {
        /* The last frequencies share their level with some before them. */
        const size_t together = steps < STEPS_A_LEVEL ? steps : STEPS_A_LEVEL;
        const size_t from = steps - next < together ? steps - together : next;
        const double level = level_of(powers + from, together);
        for (; next < from + together; next++)
            h[next + 1] = (struct noise_peak){(double)(first + next) * step,
                                              noise_h_of(&powers[next], level), level};
    }
    for (size_t i = 1; i <= steps; i++)
        if (h[i].h > h_min && h[i].h >= h[i - 1].h && h[i].h > h[i + 1].h)
            keep_peak(peaks, &count, h[i]);
    free(h);
    free(powers);
    return count;
}

void noise_refine_peak(const struct noise_search *search, struct noise_peak *peak)
{
    enum { FINER = 16 };
    const double step = 1.0 / (STEPS_A_PEAK * search->end_s) / FINER;
    const double middle = peak->frequency;
    for (int i = -FINER; i <= FINER; i++) {
        const struct noise_powers powers = noise_powers_at(search, middle + i * step);
        const double h = noise_h_of(&powers, peak->level);
        if (h > peak->h)
            *peak = (struct noise_peak){middle + i * step, h, peak->level};
    }
}
