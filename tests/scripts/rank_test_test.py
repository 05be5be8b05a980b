# SPDX-License-Identifier: BSD-3-Clause
"""The rank-sum test against all permutations, its shift and interval, Holm's correction, and the
interval of a median. Reference values that are not counted here are R's."""

import itertools
import random

from case import Case, Near, each, within
from commcost.result.rank_test import (LAUNCHES_MAX, holm, lowest_p, median, median_interval, rank_shift, rank_sum_p,
                                       signed_rank_p, signed_rank_shift)


# ---- by counting all permutations ----------------------------------------------------------------

def enumerated_p(base, other):
    """The two-sided p-value by its definition: over all choices of len(base) of the values."""
    values = base + other
    ranks = [sum(x < value for x in values) + (sum(x == value for x in values) + 1) / 2
             for value in values]
    m, mean = len(base), len(base) * (len(values) + 1) / 2
    distances = [abs(sum(chosen) - mean) for chosen in itertools.combinations(ranks, m)]
    observed = abs(sum(ranks[:m]) - mean)
    return sum(distance > observed - 1e-9 for distance in distances) / len(distances)


class ByCountingAllPermutations(Case):
    @each("kinds", [1, 2, 4, 7, 13])
    def test_p_with_ties(self, kinds):
        """All sizes up to 5 and 5, of few different values."""
        chance = random.Random(kinds)
        for m, n in itertools.product(range(1, 6), repeat=2):
            for shift in range(3):
                base = [chance.randrange(kinds) for _ in range(m)]
                other = [chance.randrange(kinds) + shift for _ in range(n)]
                assert rank_sum_p(base, other) == within(enumerated_p(base, other), 1e-12)

    def test_p_without_ties(self):
        chance = random.Random(2)
        for _ in range(100):
            base = [chance.gauss(0, 1) for _ in range(chance.randrange(1, 8))]
            other = [chance.gauss(1, 1) for _ in range(chance.randrange(1, 8))]
            assert rank_sum_p(base, other) == within(enumerated_p(base, other), 1e-12)

    def test_both_ways_of_counting_agree(self):
        """One tie far from the rest makes the other way of counting take over, and changes little: it
        moves no rank by more than a half."""
        chance = random.Random(3)
        for _ in range(10):
            base = [100.0, 101.0] + [chance.gauss(0, 1) for _ in range(chance.randrange(18, 38))]
            other = [chance.gauss(0.4, 1) for _ in range(chance.randrange(20, 40))]
            apart = rank_sum_p(base, other)
            base[1] = 100.0
            assert rank_sum_p(base, other) == Near(apart, 0.02)

    @each("m, n, shift, p", [
        (5, 7, 0, 0.148989898989899), (10, 10, 3.3, 0.00684145575786443),
        (10, 10, 20.1, 1.0825088224469e-05), (20, 30, 1.05, 0.000457617093626767),
        (49, 49, 5.01, 0.000306952906976226), (60, 60, 3.03, 0.00092852891066884),
        (100, 80, 12.01, 0.000565392128283034), (40, 40, 60.5, 1.86034036560363e-23)])
    def test_p_of_r(self, m, n, shift, p):
        """wilcox.test(1:m, (1:n) * 1.37137 + shift, exact = TRUE)$p.value"""
        base = list(range(1, m + 1))
        other = [i * 1.37137 + shift for i in range(1, n + 1)]
        assert rank_sum_p(base, other) == Near(p, 1e-9)
        assert rank_sum_p(other, base) == Near(p, 1e-9)

    def test_lowest_p(self):
        for sizes, p in (((0, 5), 1), ((1, 1), 1), ((3, 3), 0.1), ((10, 10), 2 / 184756)):
            assert lowest_p(*sizes) == within(p, 1e-15)
        for m, n in itertools.product(range(1, 13), repeat=2):
            p = rank_sum_p(list(range(m)), [20 + i for i in range(n)])
            assert p == within(lowest_p(m, n), 1e-12)
        assert lowest_p(LAUNCHES_MAX, LAUNCHES_MAX) > 0

    def test_many_values(self):
        """Ties make the normal approximation of it."""
        chance = random.Random(4)
        base = [100.0, 101.0] + [chance.gauss(0, 1) for _ in range(LAUNCHES_MAX - 2)]
        other = [chance.gauss(0.25, 1) for _ in range(LAUNCHES_MAX)]
        exact = rank_sum_p(base, other)
        assert 0 < exact < 0.5
        base[1] = base[0]
        assert rank_sum_p(base, other) == Near(exact, 0.03)
        shift = rank_shift(base, other, 0.95)
        assert shift.value == within(0.25, 0.25)
        assert shift.interval.low < shift.value < shift.interval.high
        assert shift.interval.high - shift.interval.low == within(2 * 1.96 * 0.1023, 0.08)

    def test_odd_values(self):
        assert rank_sum_p([], [1]) is None
        assert rank_sum_p([1], []) is None
        assert rank_sum_p([1], [1]) == 1
        assert rank_sum_p([2] * 5, [2] * 5) == within(1, 1e-15)
        assert rank_sum_p([0] * LAUNCHES_MAX, [0] * LAUNCHES_MAX) == 1
        shift = rank_shift([2] * 5, [2] * 5, 0.95)
        assert (shift.value, shift.interval.low, shift.interval.high) == (0, 0, 0)


# ---- the shift -----------------------------------------------------------------------------------

class TheShift(Case):
    def test_interval_agrees_with_the_test(self):
        """It is the shifts that the test does not reject."""
        chance = random.Random(7)
        for _ in range(100):
            base = [chance.gauss(0, 1) for _ in range(12)]
            other = [chance.gauss(0, 1) for _ in range(9)]
            shift = rank_shift(base, other, 0.95)
            low, high = shift.interval
            for by, inside in ((low - 1e-9, False), (low + 1e-9, True), (shift.value, True),
                               (high - 1e-9, True), (high + 1e-9, False)):
                moved = [value - by for value in other]
                assert (rank_sum_p(base, moved) > 0.05) == inside

    def test_shift_values(self):
        x, y = [1.1, 2.3, 4.8, 7.2, 9.9], [4.0, 6.5, 8.1, 10.4]
        # R: wilcox.test(y, x, conf.int = TRUE)
        shift = rank_shift(x, y, 0.95)
        assert [shift.value, *shift.interval] == Near([2.3, -3.4, 8.1])
        # 2 / choose(6, 3) = 10 %: three and three can't have 95 %.
        assert rank_shift(x[:3], y[:3], 0.95).interval is None
        assert rank_shift(x[:3], y[:3], 0.9).interval is not None
        assert rank_shift(x[:4], y, 0.95).interval is not None


# ---- pairs ---------------------------------------------------------------------------------------

def enumerated_signed_p(differences):
    """The two-sided p-value by its definition: over all signs of the differences that aren't 0."""
    sizes = [abs(of) for of in differences]
    ranks = [sum(x < of for x in sizes) + (sum(x == of for x in sizes) + 1) / 2 for of in sizes if of]
    signs = [of > 0 for of in differences if of]
    sums = [sum(itertools.compress(ranks, chosen)) for chosen in itertools.product((False, True), repeat=len(ranks))]
    observed = abs(sum(itertools.compress(ranks, signs)) - sum(ranks) / 2)
    return sum(abs(of - sum(ranks) / 2) > observed - 1e-9 for of in sums) / len(sums)


class Pairs(Case):
    @each("kinds", [1, 2, 4, 7, 1000])
    def test_p(self, kinds):
        """With ties and zeros, and without."""
        chance = random.Random(kinds)
        for _ in range(60):
            differences = [chance.randint(-kinds, kinds + 2) for _ in range(chance.randrange(1, 9))]
            assert signed_rank_p(differences) == within(enumerated_signed_p(differences), 1e-12)

    def test_interval_agrees_with_the_test(self):
        chance = random.Random(8)
        for _ in range(100):
            differences = [chance.gauss(0.3, 1) for _ in range(11)]
            shift = signed_rank_shift(differences, 0.95)
            low, high = shift.interval
            for by, inside in ((low - 1e-9, False), (low + 1e-9, True), (shift.value, True),
                               (high - 1e-9, True), (high + 1e-9, False)):
                assert (signed_rank_p([of - by for of in differences]) > 0.05) == inside

    def test_values(self):
        """Hollander and Wolfe's depression scores (R: wilcox.test(x, y, paired = TRUE, conf.int = TRUE))."""
        before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
        after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
        differences = [y - x for x, y in zip(before, after)]
        shift = signed_rank_shift(differences, 0.95)
        assert signed_rank_p(differences) == within(0.0390625, 1e-12)
        assert [shift.value, *shift.interval] == Near([-0.46, -0.786, -0.01], 1e-9)
        assert signed_rank_shift(differences[:5], 0.95).interval is None
        assert signed_rank_shift(differences[:6], 0.95).interval is not None
        assert signed_rank_p([0, 0]) == 1


# ---- Holm ----------------------------------------------------------------------------------------

class Holm(Case):
    def test_holm(self):
        # R: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.9), "holm")
        assert holm([0.01, 0.04, 0.03, 0.005, 0.9]) == Near([0.04, 0.09, 0.09, 0.025, 0.9])
        assert holm([0.6, 0.7]) == [1, 1]
        assert holm([]) == []


# ---- the interval of a median --------------------------------------------------------------------

class TheIntervalOfAMedian(Case):
    @each("count, low, high", [
        (5, None, None), (6, 1, 6), (8, 1, 8), (9, 2, 8), (10, 2, 9), (12, 3, 10), (20, 6, 15),
        (50, 18, 33), (2000, 956, 1045)])
    def test_order_statistics(self, count, low, high):
        """The ranks of the ends at 95 %: those of tables of the sign test."""
        values = list(range(count, 0, -1))
        assert median_interval(values, 0.95) == (None if low is None else (low, high))

    def test_median(self):
        assert median([]) is None
        assert median([3, 1, 2]) == 2
        assert median([4, 1, 2, 3]) == 2.5
