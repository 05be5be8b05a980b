/*
 * Did values shift between two samples? The rank-sum test, the estimate of the shift that belongs
 * to it, and the correction for many tests at once.
 *
 * Nothing is assumed of the distribution; the values of both samples must be independent of each
 * other. All functions are local and change none of their arguments; no value may be NAN. NAN is
 * returned where there is no value. Without memory all but bc_rank_sum_least_p call out_of_memory
 * (storage.h), which ends the program.
 */
#ifndef COMMCOST_RUN_SCRIPTS_BENCH_COMPARE_RANK_TEST_H
#define COMMCOST_RUN_SCRIPTS_BENCH_COMPARE_RANK_TEST_H

#include "common/stats/stats.h"

/* The most values in a sample. */
#define BC_RANK_MAX 200

/* The two-sided p-value of the rank-sum test (Wilcoxon, "Individual Comparisons by Ranking
   Methods", Biometrics Bulletin 1 (1945); Mann and Whitney, "On a Test of Whether one of Two Random
   Variables is Stochastically Larger than the Other", Ann. Math. Stat. 18 (1947)): the share of all
   ways to divide the values among two samples of these sizes whose rank sum is at least as far from
   its mean as this one's. Exact, ties included, which get mid-ranks. Only where there are ties and
   more than some 70 values on each side, the normal approximation takes its place. NAN if a sample
   is empty or above BC_RANK_MAX. */
double bc_rank_sum_p(const double *base, size_t base_count, const double *other,
                     size_t other_count);

/* The least p-value that samples of these sizes can have: all values of one are
   above all of the other. 1 where one is empty. */
double bc_rank_sum_least_p(size_t base_count, size_t other_count);

/* By how much `other` is above `base`: the median of all differences (Hodges and Lehmann,
   "Estimates of Location Based on Rank Tests", Ann. Math. Stat. 34 (1963)), with the interval of
   the shifts that the exact rank-sum test does not reject at 1 - confidence: from the k-th least to
   the k-th greatest difference (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods,
   3rd ed., section 4.3). With ties it covers more often than it says. NAN, NAN where even all
   differences don't cover the shift that often (below 4 and 4 values at 95 %). */
struct bc_shift {
    double value;
    struct bc_interval interval;
};

struct bc_shift bc_rank_shift(const double *base, size_t base_count, const double *other,
                              size_t other_count, double confidence);

/* p-values corrected for being many: if those below alpha are called changes, the chance of one
   false call or more is at most alpha, however the tests hang together (Holm, "A Simple
   Sequentially Rejective Multiple Test Procedure", Scand. J. Stat. 6 (1979)). `corrected` may be
   `p`. */
void bc_holm(const double *p, double *corrected, size_t count);

#endif
