/*
 * Where work stops fitting under a message: the fit of a plateau and a line of
 * slope one to all points of a post-work-wait measurement. Pure.
 *
 * As long as the work is shorter than the transfer, an iteration takes as long
 * as the transfer (the plateau); beyond the knee it takes the work and, on top
 * of it, the host overhead (a line of slope one):
 *
 *     iter(work) = max(plateau, work + overhead)
 *
 * Times are those of one iteration, the work's own measured by the same loop
 * without a message, in nanoseconds.
 */
#ifndef COMMCOST_MPI_OVERHEAD_KNEE_H
#define COMMCOST_MPI_OVERHEAD_KNEE_H

#include <stdbool.h>
#include <stddef.h>

struct knee_point {
    double work_ns; /* an iteration without a message */
    double iter_ns; /* the same with one */
};

struct knee_fit {
    bool found;     /* false: fewer than one point on either side */
    size_t plateau; /* the first so many points lie on the plateau */
    size_t line;    /* the points from this one on lie on the line; those
                       between belong to neither for sure */
    double plateau_ns;
    double overhead_ns;
};

/* Fits the points, which are in ascending order of work: of all ways to split
   them, the one with the least sum of absolute deviations from the curve whose
   plateau is the median of the left points and whose overhead is the median
   of iter less work of the right ones. Points within `near_ns` of the knee are
   left out of both. At most KNEE_POINTS_MAX points. */
#define KNEE_POINTS_MAX 64
struct knee_fit knee_fit(const struct knee_point *points, size_t count, double near_ns);

#endif
