/*
 * A histogram of durations in fixed memory: each class is 2^(1/16) (4 %) wider than the one before,
 * and histograms of several ranks add up. All functions are local.
 */
#pragma once

#include <stdint.h>

/* From 1 ns to 2^40 ns (18 minutes). */
enum { NOISE_BINS_AN_OCTAVE = 16, NOISE_BINS = 40 * NOISE_BINS_AN_OCTAVE };

/* All zeros is an empty histogram. */
struct noise_histogram {
    int64_t count[NOISE_BINS];
};

void noise_histogram_add(struct noise_histogram *histogram, int64_t ns);

/* The quantile p (0 to 1), to within 2.2 %; NAN if the histogram is empty. */
double noise_histogram_quantile(const struct noise_histogram *histogram, double p);
