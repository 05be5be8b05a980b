/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_overhead/mpi_overhead.h"

#include "common/stats/stats.h"

#include <math.h>

/* Returns the median of iter, or with `less_work` of iter less work. */
static double median(const struct knee_point *points, size_t count, bool less_work)
{
    double values[KNEE_POINTS_MAX];
    for (size_t i = 0; i < count; i++)
        values[i] = points[i].iter_ns - (less_work ? points[i].work_ns : 0.0);
    return bc_median(values, count);
}

struct knee_fit knee_fit(const struct knee_point *points, size_t count, double near_ns)
{
    struct knee_fit best = {.found = false};
    double min_sum = INFINITY;
    for (size_t split = 1; split < count; split++) {
        const double plateau_ns = median(points, split, false);
        const double overhead_ns = median(points + split, count - split, true);
        double sum = 0.0;
        for (size_t i = 0; i < count; i++)
            sum += fabs(points[i].iter_ns - fmax(plateau_ns, points[i].work_ns + overhead_ns));
        if (sum < min_sum) {
            min_sum = sum;
            best = (struct knee_fit){true, split, split, plateau_ns, overhead_ns};
        }
    }
    if (!best.found)
        return best;
    const double knee_ns = best.plateau_ns - best.overhead_ns;
    while (best.plateau > 1 && points[best.plateau - 1].work_ns > knee_ns - near_ns)
        best.plateau--;
    while (best.line + 1 < count && points[best.line].work_ns < knee_ns + near_ns)
        best.line++;
    best.plateau_ns = median(points, best.plateau, false);
    best.overhead_ns = median(points + best.line, count - best.line, true);
    return best;
}
