# SPDX-License-Identifier: BSD-3-Clause
"""Error rates of the sequential tests, on pairs that are made up from seeds.

    python3 sequential_test.py
"""

import random
import unittest

import sequential
from sequential import FAILED, NOT_JUDGED, PASSED, Row, judge, left_out, within

TESTS, MOST_PAIRS = 400, 60


def verdict(chance, ratio, scatter, target=within(0.02)):
    """Of one test. Times have a common disturbance, scatter of their own, and now and then one is
    far off, as on a busy machine. `scatter` may be a function of the number of the pair."""
    row = Row("made up", target)
    while row.verdict == NOT_JUDGED and len(row.pairs) < MOST_PAIRS:
        speed = chance.lognormvariate(0, 0.3)
        own = scatter(len(row.pairs)) if callable(scatter) else scatter
        times = [speed * chance.gauss(1, own) * (10 if chance.random() < 0.05 else 1)
                 for _ in range(2)]
        row.add(ratio * times[0], times[1])
    return row.verdict


def counts(seed, *case):
    """How many of all tests passed and failed."""
    chance = random.Random(seed)
    verdicts = [verdict(chance, *case) for _ in range(TESTS)]
    return verdicts.count(PASSED), verdicts.count(FAILED)


class Errors(unittest.TestCase):
    def test_none_fails_inside_the_target(self):
        """In the worst case the truth is the target's end: then one of 2000 may fail. That
        more than 3 of 400 do has the probability 6e-5."""
        for scatter in (0.003, 0.05, lambda pair: 0.01 if pair % 20 < 10 else 0.1):
            for ratio in (1.0, 1.02, 0.98):
                self.assertLessEqual(counts(1, ratio, scatter)[1], 3)

    def test_few_pass_outside_the_target(self):
        """At the target's end 2.5 % may pass; 20 of 400 or more have the probability 4e-3."""
        for scatter in (0.003, 0.02):
            self.assertLess(counts(2, 1.0201, scatter)[0], 20)
        self.assertEqual(counts(3, 1.04, 0.01)[0], 0)

    def test_clear_cases_are_judged(self):
        self.assertGreater(counts(4, 1.0, 0.01)[0], 0.9 * TESTS)
        self.assertGreater(counts(5, 1.05, 0.01)[1], 0.9 * TESTS)
        self.assertGreater(counts(6, 0.95, 0.01)[1], 0.9 * TESTS)

    def test_noise_is_not_judged(self):
        passed, failed = counts(7, 1.0, 0.5)
        self.assertLess(passed + failed, 0.02 * TESTS)


class Parts(unittest.TestCase):
    def test_signed_ranks(self):
        """Wilcoxon's table, two-sided: for 10 pairs at 5 % the critical sum is 8, at 1 % it is 3;
        for 25 pairs at 1 % it is 68."""
        self.assertEqual((left_out(10, 0.05), left_out(10, 0.01), left_out(25, 0.01)), (8, 3, 68))
        self.assertEqual(left_out(5, 0.05), -1)
        # Without a table, by the normal distribution, the interval is no narrower.
        self.assertLess(left_out(101, 1e-4), left_out(100, 1e-4) * 1.025)

    def test_several_rows(self):
        def verdict_of(**ratios):
            said = []
            pairs = [{name: (ratio + 0.001 * (i % 3), 1.0) for name, ratio in ratios.items()}
                     for i in range(50)]
            found = judge(iter(pairs), {"a": within(0.02), "b": within(0.02)}, 60, said.append)
            return found, len(said)
        self.assertEqual(verdict_of(a=1.0, b=1.0), (PASSED, 2))
        self.assertEqual(verdict_of(a=1.0, b=1.1), (FAILED, 2))
        self.assertEqual(verdict_of(a=1.0), (NOT_JUDGED, 3))

    def test_one_sided(self):
        target = sequential.Target(0.8, float("inf"))
        self.assertEqual(verdict(random.Random(8), 3.0, 0.05, target), PASSED)
        self.assertEqual(verdict(random.Random(9), 0.5, 0.05, target), FAILED)

    def test_time_limit(self):
        seconds = iter(range(1000))
        found = judge(iter([{"a": (1.0, 1.0)}] * 50), {"a": within(0.02)}, 5, lambda text: None,
                      lambda: next(seconds))
        self.assertEqual(found, NOT_JUDGED)


if __name__ == "__main__":
    unittest.main()
