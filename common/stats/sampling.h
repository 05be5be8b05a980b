/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics for common/measure alone. All functions are local. */
#pragma once

#include "common/stats/stats.h"

/* Returns the sample standard deviation (divisor count - 1). */
double bc_sd(const double *values, size_t count);

/* Returns the summary of one quantity's samples. Sorts `values` in place. */
struct bc_summary bc_summarize(double *values, size_t count, enum bc_estimator estimator,
                               double confidence);

/* Returns the summary of samples of several visits, spread over a run; samples[starts[v]] is the
   first one of visit v. The state of a machine changes from second to second, so samples of one
   visit share it, and a visit is one observation: its median (or mean).

   Under BC_MEDIAN the value is bc_mean_of_visits of the visits' medians: an interruption lengthens
   a sample and leaves the median alone, while a longer state of the machine counts by its share of
   the time. Under BC_MEAN the value is the mean of the visits' means, with Student's t interval.
   The interval is never narrower than the clock's steps make visible: if all visits agree, it is
   that of all samples. With at most one visit, does the same as bc_summarize. sd, p99 and max are
   those of all samples. */
struct bc_summary bc_summarize_visits(const double *samples, size_t count, const size_t *starts,
                                      size_t visits, enum bc_estimator estimator,
                                      double confidence);

/* The stopping rule of adaptive sampling. Intervals that are checked again and again, and taken as
   soon as they are narrow, cover the true value less often than they claim. So the samples are
   checked only when their number has grown by a quarter (bc_next_look), and the interval must be
   narrow at several looks in succession. The unit tests measure the coverage that is left. */
struct bc_stopping {
    double precision; /* half-width of the interval over the value */
    int narrow_looks; /* internal: number in succession so far */
};

/* Returns true if sampling may stop after this look. `summary` is of all samples so far. */
bool bc_stopping_look(struct bc_stopping *stopping, const struct bc_summary *summary);

/* Returns the number of samples for the next look, after a look at `count`. */
size_t bc_next_look(size_t count, size_t min_samples);
