/*
 * Statistics of samples, robust first.
 *
 * All functions are local and without side effects, but that bc_sort, bc_median and bc_summarize
 * reorder their argument, bc_summary_scale changes it and bc_stopping_look counts. Arrays named
 * `sorted` must be in ascending order. A value that needs more samples than there are is NAN.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum bc_estimator {
    BC_MEDIAN, /* median, order-statistic interval, MAD-scaled sigma */
    BC_MEAN    /* mean, Student's t interval, standard deviation */
};

struct bc_interval {
    double lo, hi;
};

/* The summary of samples by an estimator. */
struct bc_summary {
    size_t count;
    double value;                /* median or mean */
    double sd;                   /* MAD-scaled sigma or standard deviation */
    struct bc_interval interval; /* of value, at the given confidence */
    double p99, max;
};

/* The summary of nothing: NAN. */
extern const struct bc_summary bc_no_summary;

/* Sorts ascending, in place. */
void bc_sort(double *values, size_t count);

/* The quantile p (0 to 1), linearly interpolated between order statistics: definition 7 of Hyndman
   and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996). */
double bc_quantile(const double *sorted, size_t count, double p);

/* The median; sorts `values` in place. */
double bc_median(double *values, size_t count);

double bc_mean(const double *values, size_t count);

/* The sample standard deviation (divisor count - 1). */
double bc_sd(const double *values, size_t count);

/* 1.4826 times the median absolute deviation from the median (MAD), which estimates the standard
   deviation of normal data (Hampel, "The Influence Curve and its Role in Robust Estimation", JASA
   69 (1974)). NAN below 2 samples. */
double bc_mad_sigma(const double *sorted, size_t count);

/* The interval of the quantile p (0 < p < 1) from order statistics, valid for any continuous
   distribution: the narrowest pair beyond either end of which the quantile lies with a probability
   of at most (1 - confidence) / 2, by the binomial distribution (David and Nagaraja, Order
   Statistics, 3rd ed., section 7.1). NAN, NAN where even minimum and maximum are too narrow (for
   the median below 6 samples at 95 %). */
struct bc_interval bc_quantile_interval(const double *sorted, size_t count, double p,
                                        double confidence);

/* Student's t interval of the mean; NAN, NAN below 2 samples. */
struct bc_interval bc_mean_interval(const double *values, size_t count, double confidence);

/* All of the above for the samples of one quantity. Sorts `values` in place. */
struct bc_summary bc_summarize(double *values, size_t count, enum bc_estimator estimator,
                               double confidence);

/* The summary of samples that were taken in `visits` visits, spread over a run; samples[starts[v]]
   is the first one of visit v. What a machine does changes from second to second, so samples of one
   visit share its state, and a visit counts as one observation of it: its median (or mean).

   Under BC_MEDIAN the value is bc_mean_of_visits of the visits' medians: a stop lengthens a sample
   and leaves the median alone, while a state of the machine that lasts longer than a visit counts
   by its share of the time. Under BC_MEAN the value is the mean of the visits' means, with
   Student's t interval of these.
   The interval is never narrower than the clock's steps make visible: where all visits agree, it is
   that of the samples together. With one visit, or none, as bc_summarize. sd, p99 and max are those
   of all samples together. */
struct bc_summary bc_summarize_visits(const double *samples, size_t count, const size_t *starts,
                                      size_t visits, enum bc_estimator estimator,
                                      double confidence);

/* The pseudomedian of `values`, the median of the means of all pairs of them (Hodges and Lehmann,
   "Estimates of Location Based on Rank Tests", Annals of Mathematical Statistics 34 (1963)). Its
   interval is that of Wilcoxon's signed ranks (Hollander, Wolfe and Chicken, Nonparametric
   Statistical Methods, 3rd ed., section 3.3), or with too few values for the confidence (below 6
   at 95 %) Student's t interval of the mean. The count is that of the values; sd, p99 and max are
   NAN. */
struct bc_summary bc_pseudomedian(const double *values, size_t count, double confidence);

/* The mean of what visits say. Its interval is that of bc_pseudomedian, which assumes that visits
   lie evenly about their centre, widened to Student's of the mean as far as that stays between the
   min and max of the visits: where few visits of many are slow, the signed ranks know too little
   of them. With a state in a share p of 12 visits it covers the mean in 97 % (p = 0.4) and 93 %
   (0.2); what no visit met, no interval knows (tests/unit/test_stats.c). */
struct bc_summary bc_mean_of_visits(const double *values, size_t count, double confidence);

/* Multiplies all values of a summary by a factor above 0. */
void bc_summary_scale(struct bc_summary *summary, double factor);

/* The quantile of Student's t distribution, 0 < p < 1, degrees >= 1 (relative error below 1e-8). */
double bc_student_quantile(double p, double degrees);

/* The summary's interval with one more error of this size in it, of either sign, independent of
   those that it has: squares add up. The result holds the value. NAN where the summary has no
   interval or the error is NAN. */
struct bc_interval bc_interval_with(const struct bc_summary *summary, double error);

/* Half the width of the summary's interval; NAN where it has none. */
double bc_half_width(const struct bc_summary *summary);

/* Whether that is at most `precision` times the value; false without an interval. */
bool bc_is_precise(const struct bc_summary *summary, double precision);

/* The stopping rule of adaptive sampling. Intervals that are looked at again and again, and taken
   as soon as they happen to be narrow, cover the true value less often than they claim. So the
   samples are looked at only when their number has grown by a quarter (bc_next_look), and the
   interval must be narrow at several looks in a row. The unit tests measure the coverage that is
   left. */
struct bc_stopping {
    double precision; /* half-width of the interval over the value */
    int narrow_looks; /* internal: in a row, until now */
};

/* True if sampling may stop after this look. `summary` is of all samples so far. */
bool bc_stopping_look(struct bc_stopping *stopping, const struct bc_summary *summary);

/* The number of samples for the next look, after a look at `count`. */
size_t bc_next_look(size_t count, size_t min_samples);
