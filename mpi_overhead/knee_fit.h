/*
 * Where work stops fitting under a message: a fit to all points of a post-work-wait measurement.
 * Pure.
 *
 * As long as the work is shorter than the transfer, an iteration takes as long as the transfer (the
 * plateau); beyond the knee it takes the work and the host overhead (a line of slope one):
 *
 *     iter(work) = max(plateau, work + overhead)
 *
 * Times are those of one iteration in ns; the work's own time is measured by the same loop without
 * a message.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct knee_point {
    double work_ns; /* an iteration without a message */
    double iter_ns; /* the same with one */
};

/* Points between `plateau` and `line` belong to neither for sure. */
struct knee_fit {
    bool found;     /* false: fewer than two points */
    size_t plateau; /* points before this one lie on the plateau */
    size_t line;    /* points from this one on lie on the line */
    double plateau_ns;
    double overhead_ns;
};

#define KNEE_POINTS_MAX 64

/* Fits at most KNEE_POINTS_MAX points, in ascending order of work. Of all ways to split them, takes
   the one with the smallest sum of absolute deviations from the curve whose plateau is the median
   of the left points and whose overhead is the median of iter less work of the right points.
   Then leaves points within `near_ns` of the knee out of both medians. */
struct knee_fit knee_fit(const struct knee_point *points, size_t count, double near_ns);
