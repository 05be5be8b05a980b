#include "common/stats/batch_length.h"

#include <math.h>

#define BATCH_CLOCKS 100.0

double bc_batch_ns(const struct bc_clock_cost *cost, double min_ns)
{
    return fmax(min_ns, BATCH_CLOCKS * cost->read_ns);
}

int64_t bc_batch_repetitions(double batch_ns, double repetition_ns, int64_t max)
{
    const double repetitions = ceil(batch_ns / fmax(repetition_ns, 1.0));
    return repetitions > (double)max ? max : (int64_t)repetitions;
}

int64_t bc_batch_double(int64_t min, int64_t max, double batch_ns, bc_repeat_fn *repeat,
                        void *context)
{
    int64_t repetitions = min;
    while (repetitions < max &&
           !(repeat(context, repetitions) >= batch_ns && repeat(context, repetitions) >= batch_ns))
        repetitions *= 2;
    return repetitions < max ? repetitions : max;
}
