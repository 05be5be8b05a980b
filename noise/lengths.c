#include "noise/lengths.h"

#include <math.h>

void noise_lengths_add(struct noise_lengths *lengths, int64_t ns)
{
    const double place = ns > 1 ? floor(log2((double)ns) * NOISE_LENGTHS_AN_OCTAVE) : 0.0;
    lengths->count[place < NOISE_LENGTHS ? (int)place : NOISE_LENGTHS - 1]++;
}

double noise_lengths_quantile(const struct noise_lengths *lengths, double p)
{
    int64_t all = 0, below = 0;
    for (int i = 0; i < NOISE_LENGTHS; i++)
        all += lengths->count[i];
    for (int i = 0; i < NOISE_LENGTHS; i++) {
        below += lengths->count[i];
        if (below > 0 && (double)below >= p * (double)all)
            return exp2((i + 0.5) / NOISE_LENGTHS_AN_OCTAVE);
    }
    return NAN;
}
