/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of samples, robust first. Arrays named `sorted` must be in ascending order. A value
 * that needs more samples than there are is NAN. All functions are local.
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

/* Summary of samples by an estimator. */
struct bc_summary {
    size_t count;
    double value;                /* median or mean */
    double sd;                   /* MAD-scaled sigma or standard deviation */
    struct bc_interval interval; /* of value, at the given confidence */
    double p99, max;
};

/* The summary of no samples: NAN. */
extern const struct bc_summary bc_no_summary;

/* Sorts ascending, in place. */
void bc_sort(double *values, size_t count);

/* Returns the quantile p (0 to 1), linearly interpolated between order statistics: definition 7 of
   Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996).
 */
double bc_quantile(const double *sorted, size_t count, double p);

/* Returns the median; sorts `values` in place. */
double bc_median(double *values, size_t count);

double bc_mean(const double *values, size_t count);

/* Returns 1.4826 times the median absolute deviation from the median, an estimate of the standard
   deviation of normal data (Hampel, "The Influence Curve and its Role in Robust Estimation", JASA
   69 (1974)). NAN below 2 samples. */
double bc_mad_sigma(const double *sorted, size_t count);

/* Returns the interval of the quantile p (0 < p < 1) from order statistics, for any continuous
   distribution: the narrowest pair beyond either end of which the quantile lies with a probability
   of at most (1 - confidence) / 2 (David and Nagaraja, Order Statistics, 3rd ed., section 7.1).
   NAN, NAN with too few samples (for the median below 6 at 95 %). */
struct bc_interval bc_quantile_interval(const double *sorted, size_t count, double p,
                                        double confidence);

/* Returns Student's t interval of the mean; NAN, NAN below 2 samples. */
struct bc_interval bc_mean_interval(const double *values, size_t count, double confidence);

/* Returns the median of the means of all pairs of values (Hodges and Lehmann, "Estimates of
   Location Based on Rank Tests", Annals of Mathematical Statistics 34 (1963)). Its interval is that
   of Wilcoxon's signed ranks (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd
   ed., section 3.3), or with too few values (below 6 at 95 %) Student's t interval of the mean. sd,
   p99 and max are NAN. */
struct bc_summary bc_pseudomedian(const double *values, size_t count, double confidence);

/* Returns the mean of the visits' values. Its interval is that of bc_pseudomedian, which assumes
   symmetry, widened to Student's as far as that stays between the visits' min and max: if few
   visits of many are slow, the signed ranks are too narrow. With a state in a share p of 12 visits
   it covers the mean in 97 % (p = 0.4) and 93 % (0.2) (tests/unit/test_stats.c). */
struct bc_summary bc_mean_of_visits(const double *values, size_t count, double confidence);

/* Multiplies all values of a summary by a factor above 0. */
void bc_summary_scale(struct bc_summary *summary, double factor);

/* Returns the quantile of Student's t distribution, 0 < p < 1, degrees >= 1 (relative error below
   1e-8). */
double bc_student_quantile(double p, double degrees);

/* Returns the summary's interval with an independent error of this size added, of either sign:
   squares add up. NAN if there is no interval or error. */
struct bc_interval bc_interval_with(const struct bc_summary *summary, double error);

/* Returns half the width of the summary's interval, or NAN if there is none. */
double bc_half_width(const struct bc_summary *summary);

/* Returns true if that is at most `precision` times the value; false if there is no interval. */
bool bc_is_precise(const struct bc_summary *summary, double precision);
