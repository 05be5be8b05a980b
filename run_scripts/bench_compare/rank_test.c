#include "run_scripts/bench_compare/rank_test.h"

#include "run_scripts/bench_compare/storage.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ---- without ties ---------------------------------------------------------------------------- */

/* In how many ways each value 0 ... m n of Mann and Whitney's U comes about when there are no ties:
   the coefficients of the Gaussian binomial, the product over i = 1 ... m of (1 - q^(n + i)) / (1 -
   q^i) (Andrews, The Theory of Partitions, section 3.2). Each factor's result is symmetric, so that
   only the lower half is reckoned. What rounding adds up to was measured against quadruple
   precision: relative errors of at most 2e-15 for 50 and 50, 2e-13 for 100 and 100, 9e-9 for 200
   and 200; it grows quickly from there, hence BC_RANK_MAX. Freed by the caller. */
static double *count_ways(size_t m, size_t n)
{
    double *ways = allocate(m * n + 1, sizeof *ways);
    double *next = allocate(m * n + 1, sizeof *next);
    ways[0] = 1.0;
    for (size_t i = 1; i <= m; i++) {
        const size_t degree = i * n;
        for (size_t u = 0; u <= degree / 2; u++) {
            next[u] = ways[u];
            if (u >= n + i)
                next[u] -= ways[u - (n + i)];
            if (u >= i)
                next[u] += next[u - i];
        }
        for (size_t u = degree / 2 + 1; u <= degree; u++)
            next[u] = next[degree - u];
        double *const swap = ways;
        ways = next;
        next = swap;
    }
    free(next);
    return ways;
}

static double choose(size_t from, size_t count)
{
    double ways = 1.0;
    for (size_t i = 1; i <= count; i++)
        ways *= (double)(from - count + i) / (double)i;
    return ways;
}

/* Many tests in a row are of samples of the same sizes. */
static struct {
    size_t m, n;
    double *ways;
    double all;
} known;

/* The least sample first: the distribution is the same. */
static const double *ways_of(size_t m, size_t n)
{
    const size_t less = smaller(m, n), more = m + n - less;
    if (known.ways != NULL && known.m == less && known.n == more)
        return known.ways;
    free(known.ways);
    known.ways = count_ways(less, more);
    known.m = less;
    known.n = more;
    known.all = choose(m + n, less);
    return known.ways;
}

/* ---- with ties ------------------------------------------------------------------------------- */

/* Orders structs by the number that they begin with. */
static int compare_numbers(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* A value of either sample, with twice its mid-rank among all. */
struct ranked {
    double value;
    bool of_base;
    size_t twice_rank; /* counted from 1 */
};

/* All values in ascending order; `ties` is the sum of t^3 - t over the groups of t
   equal values. Freed by the caller. */
static struct ranked *rank(const double *base, size_t m, const double *other, size_t n,
                           double *ties)
{
    struct ranked *const all = allocate(m + n, sizeof *all);
    for (size_t i = 0; i < m; i++)
        all[i] = (struct ranked){base[i], true, 0};
    for (size_t i = 0; i < n; i++)
        all[m + i] = (struct ranked){other[i], false, 0};
    qsort(all, m + n, sizeof *all, compare_numbers);
    *ties = 0.0;
    for (size_t begin = 0, end; begin < m + n; begin = end) {
        for (end = begin + 1; end < m + n && all[end].value <= all[begin].value; end++)
            ;
        for (size_t i = begin; i < end; i++)
            all[i].twice_rank = begin + 1 + end;
        const double equal = (double)(end - begin);
        *ties += equal * equal * equal - equal;
    }
    return all;
}

/* Above so many additions, some 50 ms, the exact distribution of tied ranks takes
   too long for hundreds of rows. */
#define ADDITIONS_MAX 1e8

/* P(|T - mean| >= distance) for the sum T of twice the ranks of m of the N values, all choices
   being equally likely: by counting, value after value, the choices with j values and a given sum
   (Streitberg and Roehmel, "Exact Distributions for Permutation and Rank Tests", Statistical
   Software Newsletter 12 (1986)). A sum of j values is kept less the least it can be, j (j + 1). */
static double tied_p(const struct ranked *all, size_t m, size_t n, double distance)
{
    const size_t sums = 2 * m * n + 1;
    double *const ways = allocate((m + 1) * sums, sizeof *ways);
    ways[0] = 1.0;
    for (size_t i = 0; i < m + n; i++)
        for (size_t j = smaller(i + 1, m); j >= 1; j--) {
            const double *const from = ways + (j - 1) * sums;
            double *const to = ways + j * sums;
            /* From the least sum of j - 1 values to that of j are 2 j more. Ties
               can have less, never below the least that j values can sum up to. */
            const ptrdiff_t step = (ptrdiff_t)all[i].twice_rank - 2 * (ptrdiff_t)j;
            const size_t most = sums - 1;
            if (step >= 0) {
                for (size_t s = 0; s + (size_t)step <= most; s++)
                    to[s + (size_t)step] += from[s];
            } else {
                for (size_t s = (size_t)-step; s <= most; s++)
                    to[s - (size_t)-step] += from[s];
            }
        }
    const double *const last = ways + m * sums;
    const double mean = (double)(m * n);
    double far = 0.0, sum = 0.0;
    for (size_t s = 0; s < sums; s++) {
        sum += last[s];
        if (fabs((double)s - mean) >= distance)
            far += last[s];
    }
    free(ways);
    return far / sum;
}

/* The same by the normal distribution, with half a step for continuity (Hollander,
   Wolfe and Chicken, section 4.1). */
static double normal_p(size_t m, size_t n, double ties, double distance)
{
    const double a = (double)m, b = (double)n, both = a + b;
    const double variance = a * b / 12.0 * (both + 1.0 - ties / (both * (both - 1.0)));
    if (variance <= 0.0)
        return 1.0;
    return erfc(fmax(0.0, distance / 2.0 - 0.5) / sqrt(2.0 * variance));
}

/* ---- the test -------------------------------------------------------------------------------- */

/* P(|U - mean| >= distance / 2), with no ties. */
static double untied_p(size_t m, size_t n, double distance)
{
    const double *const ways = ways_of(m, n);
    /* U is whole, and twice its distance from m n / 2 is, too. */
    double far = 0.0;
    for (size_t u = 0; (double)(m * n) - 2.0 * (double)u >= distance; u++)
        far += ways[u];
    return fmin(1.0, 2.0 * far / known.all);
}

double bc_rank_sum_p(const double *base, size_t base_count, const double *other, size_t other_count)
{
    const size_t m = base_count, n = other_count;
    if (m == 0 || n == 0 || m > BC_RANK_MAX || n > BC_RANK_MAX)
        return NAN;
    double ties;
    struct ranked *const all = rank(base, m, other, n, &ties);
    size_t twice_sum = 0;
    for (size_t i = 0; i < m + n; i++)
        if (all[i].of_base)
            twice_sum += all[i].twice_rank;
    const double distance = fabs((double)twice_sum - (double)(m * (m + n + 1)));
    double p;
    const double additions = (double)(m + n) * (double)smaller(m, n) * 2.0 * (double)m * (double)n;
    if (ties <= 0.0) {
        p = untied_p(m, n, distance);
    } else if (additions > ADDITIONS_MAX) {
        p = normal_p(m, n, ties, distance);
    } else {
        /* The other sample's sum is as far from its mean. */
        p = tied_p(all, smaller(m, n), m + n - smaller(m, n), distance);
    }
    free(all);
    return p;
}

double bc_rank_sum_least_p(size_t base_count, size_t other_count)
{
    const double ways = choose(base_count + other_count, smaller(base_count, other_count));
    return fmin(1.0, 2.0 / ways);
}

/* ---- the shift ------------------------------------------------------------------------------- */

struct bc_shift bc_rank_shift(const double *base, size_t base_count, const double *other,
                              size_t other_count, double confidence)
{
    struct bc_shift shift = {NAN, {NAN, NAN}};
    const size_t m = base_count, n = other_count;
    if (m == 0 || n == 0 || m > BC_RANK_MAX || n > BC_RANK_MAX)
        return shift;
    const double *const ways = ways_of(m, n);
    double *const differences = allocate(m * n, sizeof *differences);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            differences[i * n + j] = other[j] - base[i];
    shift.value = bc_median(differences, m * n); /* sorts */
    /* The k-th least and greatest miss the shift if U, of shifted values, is below k: with twice
       that probability. Rounding mustn't decide. */
    const double allowed = (1.0 - confidence) / 2.0 * known.all * (1.0 + 1e-9);
    size_t k = 0;
    double below = ways[0];
    while (k < m * n / 2 && below <= allowed)
        below += ways[++k];
    if (k > 0)
        shift.interval = (struct bc_interval){differences[k - 1], differences[m * n - k]};
    free(differences);
    return shift;
}

/* ---- many tests ------------------------------------------------------------------------------ */

struct numbered_p {
    double p;
    size_t number;
};

void bc_holm(const double *p, double *corrected, size_t count)
{
    struct numbered_p *const sorted = allocate(count, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct numbered_p){p[i], i};
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fmin(1.0, (double)(count - i) * sorted[i].p));
        corrected[sorted[i].number] = most;
    }
    free(sorted);
}
