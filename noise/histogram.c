#include "noise/histogram.h"

#include <math.h>

void noise_histogram_add(struct noise_histogram *histogram, int64_t ns)
{
    const double bin = ns > 1 ? floor(log2((double)ns) * NOISE_BINS_AN_OCTAVE) : 0.0;
    histogram->count[bin < NOISE_BINS ? (int)bin : NOISE_BINS - 1]++;
}

double noise_histogram_quantile(const struct noise_histogram *histogram, double p)
{
    int64_t all = 0, below = 0;
    for (int i = 0; i < NOISE_BINS; i++)
        all += histogram->count[i];
    for (int i = 0; i < NOISE_BINS; i++) {
        below += histogram->count[i];
        if (below > 0 && (double)below >= p * (double)all)
            return exp2((i + 0.5) / NOISE_BINS_AN_OCTAVE);
    }
    return NAN;
}
