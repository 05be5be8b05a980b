/*
 * A histogram of durations: counts in classes each of which is 2^(1/16) (4 %) wider than the one
 * before, so that counts of several ranks can be added and memory doesn't grow. All functions are
 * local.
 */
#ifndef COMMCOST_NOISE_LENGTHS_H
#define COMMCOST_NOISE_LENGTHS_H

#include <stdint.h>

/* From 1 ns to 2^40 ns (18 minutes). */
enum { NOISE_LENGTHS_AN_OCTAVE = 16, NOISE_LENGTHS = 40 * NOISE_LENGTHS_AN_OCTAVE };

/* All zeros: no times yet. */
struct noise_lengths {
    int64_t count[NOISE_LENGTHS];
};

void noise_lengths_add(struct noise_lengths *lengths, int64_t ns);

/* The quantile p (0 to 1), to within 2.2 %; NAN without times. */
double noise_lengths_quantile(const struct noise_lengths *lengths, double p);

#endif
