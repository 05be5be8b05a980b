# SPDX-License-Identifier: BSD-3-Clause
"""Rank-sum test, signed-rank test of pairs, their shifts, correction for multiple tests, and interval of a median.

Any distribution is allowed. Values of a sample, or pairs, must be independent of each other and not NaN. No function
changes its arguments. Functions return None without values.
"""

import fractions
import functools
import math
import statistics
import typing

LAUNCHES_MAX = 200  # max values in a sample of the rank-sum test


class Interval(typing.NamedTuple):
    low: float
    high: float


class Shift(typing.NamedTuple):
    """The distance of one sample above another one. The interval is None with too few values."""

    value: float
    interval: typing.Optional[Interval]


def median(values):
    values = list(values)
    return statistics.median(values) if values else None


def median_interval(values, confidence):
    """Returns the interval of the median of the distribution of `values`: from the k-th lowest to the k-th highest
    (order statistics: David and Nagaraja, Order Statistics, 3rd ed., section 7.1). None if even the whole range covers
    it less often than `confidence` (0 to 1): below 6 values at 95 %."""
    ordered, k = sorted(values), order_of(len(values), confidence)
    return Interval(ordered[k - 1], ordered[-k]) if k > 0 else None


@functools.lru_cache(maxsize=64)
def order_of(count, confidence):
    """Returns the k of median_interval, or 0 if there is none."""
    allowed = fractions.Fraction((1 - confidence) / 2 * (1 + 1e-9)) * 2 ** count
    below, k = 1, 0  # number of ways in which at most k values are below the median
    while k < count // 2 and below <= allowed:
        k += 1
        below += binomial(count, k)
    return k


def binomial(total, count):
    """Returns the binomial coefficient (math.comb needs Python 3.8)."""
    ways = 1
    for i in range(1, count + 1):
        ways = ways * (total - count + i) // i
    return ways


@functools.lru_cache(maxsize=64)
def untied_ways(m, n):
    """Returns, for u from 0 to m n // 2, the number of choices of m among m + n ranks without ties whose rank sum is m
    (m + 1) / 2 + u: the coefficients of the product of (1 - q^(n + i)) / (1 - q^i) for i from 1 to m (Mann and Whitney,
    "On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other", Ann. Math. Stat. 18
    (1947))."""
    m, n = min(m, n), max(m, n)
    size = m * n // 2 + 1
    ways = [1] + [0] * (size - 1)
    for i in range(1, m + 1):
        for u in range(size - 1, n + i - 1, -1):
            ways[u] -= ways[u - n - i]
        for u in range(i, size):
            ways[u] += ways[u - i]
    return ways


def twice_ranks(ordered):
    """Returns twice the mid-rank, counted from 1, of each value. Values are in ascending order."""
    ranks = []
    while len(ranks) < len(ordered):
        begin = end = len(ranks)
        while end < len(ordered) and ordered[end] == ordered[begin]:
            end += 1
        ranks += [begin + 1 + end] * (end - begin)
    return ranks


# With more additions of long integers the exact distribution of tied ranks takes too long for hundreds of rows.
ADDITIONS_MAX = 5000


def tied_p(ranks, m, distance):
    """Returns P(|T - mean| >= distance) for the sum T of m of the ranks, if all choices are equally likely. Counts,
    value by value, the choices with j values and a given sum (Streitberg and Roehmel, "Exact Distributions for
    Permutation and Rank Tests", Statistical Software Newsletter 12 (1986)). One long integer holds the counts of all
    sums, `width` bits each, so that one addition adds them all."""
    total = len(ranks)
    width = binomial(total, m).bit_length() + 1
    ways = [1] + [0] * m
    for i, rank in enumerate(ranks):
        for j in range(min(i + 1, m), 0, -1):
            ways[j] += ways[j - 1] << (width * rank)
    mean = m * (total + 1)
    far, all_ways, mask = 0, binomial(total, m), (1 << width) - 1
    counts = ways[m].to_bytes(ways[m].bit_length() // 8 + 1, "little")
    for value in range(sum(ranks[total - m:]) + 1):
        if abs(value - mean) >= distance:
            begin = value * width
            piece = int.from_bytes(counts[begin // 8:(begin + width) // 8 + 1], "little")
            far += (piece >> (begin % 8)) & mask
    return far / all_ways


def normal_p(ranks, m, distance):
    """Approximates tied_p by the normal distribution, with half a step for continuity (Hollander, Wolfe and Chicken,
    Nonparametric Statistical Methods, 3rd ed., section 4.1)."""
    total = len(ranks)
    n = total - m
    ties = sum(t ** 3 - t for t in (ranks.count(rank) for rank in set(ranks)))
    variance = m * n / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    return math.erfc(max(0.0, distance / 2 - 0.5) / math.sqrt(2 * variance))


def rank_sum_p(base, other):
    """Returns the two-sided p-value of the rank-sum test (Wilcoxon, "Individual Comparisons by Ranking Methods",
    Biometrics Bulletin 1 (1945)): the share of all divisions of the values into samples of these sizes whose rank sum
    is at least as far from its mean. Exact, with mid-ranks for ties; a normal approximation for ties in samples of more
    than some 70 values. None if a sample is empty."""
    if not base or not other:
        return None
    # The sum of the larger sample is equally far from its mean.
    fewer = min(base, other, key=len)
    m, n = len(fewer), max(len(base), len(other))
    ordered = sorted(base + other)
    ranks = twice_ranks(ordered)
    rank_of = dict(zip(ordered, ranks))
    distance = abs(sum(rank_of[value] for value in fewer) - m * (m + n + 1))
    if len(rank_of) < m + n:
        tied = tied_p if (m + n) * m <= ADDITIONS_MAX * 2 else normal_p
        return min(1.0, tied(ranks, m, distance))
    far = sum(ways for u, ways in enumerate(untied_ways(m, n)) if m * n - 2 * u >= distance)
    return min(1.0, 2 * far / binomial(m + n, m))


def lowest_p(base_count, other_count):
    """Returns the lowest possible p-value of samples of these sizes (all values of one sample are above the other one),
    or 1 if one is empty."""
    return min(1.0, 2 / binomial(base_count + other_count, base_count))


def launches_needed(tests, alpha):
    """Returns the min size of both samples for which the largest difference is significant among these tests, or None
    beyond LAUNCHES_MAX."""
    return next((count for count in range(1, LAUNCHES_MAX + 1) if tests * lowest_p(count, count) <= alpha), None)


def rank_shift(base, other, confidence):
    """Returns the Shift of `other` above `base`: the median of all differences (Hodges and Lehmann, "Estimates of
    Location Based on Rank Tests", Ann. Math. Stat. 34 (1963)), with the interval of the shifts that the exact rank-sum
    test doesn't reject at 1 - confidence: from the k-th lowest to the k-th highest difference (Hollander, Wolfe and
    Chicken, section 4.3). With ties it covers the shift more often. It is None if even all differences cover it less
    often (below 4 and 4 values at 95 %). Both samples must have values."""
    ways = untied_ways(len(base), len(other))
    return _shift((y - x for x in base for y in other), ways, binomial(len(base) + len(other), len(base)), confidence)


def _shift(shifts, ways, all_ways, confidence):
    """Returns the Shift with the median of `shifts`. ways[u] of all_ways, the equally likely outcomes of a statistic,
    give its value u above the lowest."""
    ordered, allowed = sorted(shifts), (1 - confidence) / 2 * all_ways * (1 + 1e-9)
    k, below = 0, ways[0]
    while k < len(ordered) // 2 and below <= allowed:
        k += 1
        below += ways[k]
    return Shift(median(ordered), Interval(ordered[k - 1], ordered[-k]) if k > 0 else None)


def signed_ways(ranks):
    """Returns, for t from 0 to the sum of these ranks, the number of their subsets with the sum t."""
    ways = [1]
    for rank in ranks:
        ways = [kept + taken for kept, taken in zip(ways + [0] * rank, [0] * rank + ways)]
    return ways


def signed_rank_p(differences):
    """Returns the two-sided p-value of the signed-rank test of pairs (Wilcoxon, see rank_sum_p): the share of all signs
    of the ranks of the differences whose sum of positive ranks is at least as far from its mean. Exact, with mid-ranks
    for ties; differences of 0 have no sign (Pratt, "Remarks on Zeros and Ties in the Wilcoxon Signed Rank Procedures",
    J. Am. Stat. Assoc. 54 (1959)). Up to LAUNCHES_MAX pairs."""
    ordered = sorted(differences, key=abs)
    ranks = [(rank, of) for rank, of in zip(twice_ranks([abs(of) for of in ordered]), ordered) if of != 0]
    total = sum(rank for rank, _ in ranks)
    distance = abs(2 * sum(rank for rank, of in ranks if of > 0) - total)
    far = sum(ways for t, ways in enumerate(signed_ways([rank for rank, _ in ranks])) if abs(2 * t - total) >= distance)
    return far / 2 ** len(ranks)


TESTS_OF_ROUNDS = 2


def rounds_p(base, other):
    """Returns the p-value of a difference between launches of two sides, by round: twice the lower p-value of two
    tests. Launches of a round are consecutive, so pairs within a round cancel states of the machine that last for
    several launches. Without such states the rank-sum test needs fewer launches. Compares times by their ratio."""
    scaled = math.log if min([*base.values(), *other.values()]) > 0 else float
    pairs = [scaled(other[run]) - scaled(base[run]) for run in base if run in other]
    return min(1.0, TESTS_OF_ROUNDS * min(rank_sum_p(list(base.values()), list(other.values())), signed_rank_p(pairs)))


def signed_rank_shift(differences, confidence):
    """Returns the Shift of pairs with these differences: the median of the means of all two differences, including each
    with itself (Hodges and Lehmann, see rank_shift), with the interval of the shifts that the exact signed-rank test
    doesn't reject at 1 - confidence (Hollander, Wolfe and Chicken, section 3.3); None with too few pairs (below 6 at 95
    %)."""
    means = ((x + y) / 2 for i, x in enumerate(differences) for y in differences[i:])
    return _shift(means, signed_ways(range(1, len(differences) + 1)), 2 ** len(differences), confidence)


def rounds_shift(base, other, confidence):
    """Returns the Shift of `other` above `base`, lists with a value for each round, from pairs within rounds
    (rounds_p), or from all pairs if there are too few rounds for an interval."""
    shift = signed_rank_shift([y - x for x, y in zip(base, other)], confidence)
    return shift if shift.interval else rank_shift(base, other, confidence)


def holm(p_values):
    """Returns p-values corrected for their number: if those below alpha are called changes, the chance of any false
    call is at most alpha, however the tests depend on each other (Holm, "A Simple Sequentially Rejective Multiple Test
    Procedure", Scand. J. Stat. 6 (1979))."""
    corrected, highest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = highest
    return corrected
