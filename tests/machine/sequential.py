# SPDX-License-Identifier: BSD-3-Clause
"""Sequential tests of what a program of this project measures against a bare measurement beside it.

A pair is (ours, bare), taken alternately, so that whatever disturbs the machine disturbs both sides
alike. Its difference is 2 (ours - bare) / (ours + bare), which changes its sign with the sides.
Differences are then symmetric about the true one, however widely they scatter, and the averages of
all pairs of them give an interval of the centre of symmetry by the signed-rank test (Hodges and
Lehmann, Ann. Math. Stat. 34 (1963), 598).

A test looks at its pairs after 7 of them, 10, 14 and so on. It may look as often as it likes: look
k spends alpha / (k (k + 1)) of its error rate alpha, which adds up to alpha over all looks (alpha
spending; Lan and DeMets, Biometrika 70 (1983), 659).

A row has passed as soon as its interval lies inside the target, and failed as soon as it lies
outside. If it does neither before the time is up, it is not judged: the machine is too noisy.
"""

import bisect
import functools
import itertools
import math
import statistics
import time
import typing

PASSED, FAILED, NOT_JUDGED = "passed", "FAILED", "not judged"
EXIT_STATUS = {PASSED: 0, FAILED: 1, NOT_JUDGED: 77}

# A row that has failed is wrong with this probability at most, and one that has passed.
FAIL_ALPHA, PASS_ALPHA = 0.001, 0.05
FIRST_LOOK, LOOKS_GROW, EXACT_PAIRS = 7, 1.3, 100


class Target(typing.NamedTuple):
    """Limits of ours over the bare one."""

    low: float
    high: float

    def __str__(self):
        if self.high == math.inf:
            return f"at least {self.low:.3g}"
        return f"{self.low:.3g} to {self.high:.3g}" if self.low > 0 else f"at most {self.high:.3g}"


def within(share):
    """The target of two times that must be equal except this share."""
    return Target(1 - share, 1 + share)


def difference_of(ours, bare):
    """Of a pair; 2 where the bare one is nothing, -2 where ours is."""
    if ours == bare:
        return 0.0
    return 2.0 if ours == math.inf else 2 * (ours - bare) / (ours + bare)


def ratio_of(difference):
    """Ours over the bare one, for such a difference."""
    if abs(difference) >= 2:
        return math.inf if difference > 0 else 0.0
    return (2 + difference) / (2 - difference)


@functools.lru_cache(maxsize=None)
def _rank_sums(count):
    """How many of the 2 ** count assignments of signs to the ranks 1 to count have a sum of positive
    ranks of at most s, for each s."""
    ways = [1] + [0] * (count * (count + 1) // 2)
    for rank in range(1, count + 1):
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return list(itertools.accumulate(ways))


@functools.lru_cache(maxsize=None)
def left_out(count, alpha):
    """How many averages at either end lie outside of an interval that errs with probability alpha;
    -1 if even all of them are too few."""
    if count > EXACT_PAIRS:
        mean = count * (count + 1) / 4
        deviation = math.sqrt(mean * (2 * count + 1) / 6)
        return int(mean - _normal_quantile(1 - alpha / 2) * deviation) - 1
    return bisect.bisect_right(_rank_sums(count), alpha / 2 * 2 ** count) - 1


def _normal_quantile(share):
    """By halving, since Python 3.6 has none."""
    low, high = 0.0, 10.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if 0.5 * math.erfc(-middle / math.sqrt(2)) < share:
            low = middle
        else:
            high = middle
    return low


class Row:
    """The pairs of what is compared under one name."""

    def __init__(self, name, target):
        self.name, self.target, self.verdict = name, target, NOT_JUDGED
        self.pairs, self.next_look = [], FIRST_LOOK
        self.looks = {FAIL_ALPHA: 0, PASS_ALPHA: 0}
        self.interval = None  # of the last look that had one

    def add(self, ours, bare):
        """Takes a pair, and looks if it is time to."""
        self.pairs.append((ours, bare))
        if len(self.pairs) >= self.next_look:
            self.look()

    def look(self):
        """Judges by the pairs so far."""
        self.next_look = math.ceil(len(self.pairs) * LOOKS_GROW)
        differences = [difference_of(*pair) for pair in self.pairs]
        averages = sorted((a + b) / 2 for i, a in enumerate(differences)
                          for b in differences[:i + 1])
        low, high = difference_of(self.target.low, 1), difference_of(self.target.high, 1)
        for alpha in (FAIL_ALPHA, PASS_ALPHA):
            looks = self.looks[alpha] + 1
            outside = left_out(len(differences), alpha / (looks * (looks + 1)))
            if outside < 0:
                continue  # Too few pairs for this, which spends nothing.
            self.looks[alpha] = looks
            lowest, highest = averages[outside], averages[-1 - outside]
            if alpha == FAIL_ALPHA and (highest < low or lowest > high):
                self.verdict, self.interval = FAILED, (lowest, highest)
                return
            if alpha == PASS_ALPHA:
                self.interval = lowest, highest
                if low <= lowest and highest <= high:
                    self.verdict = PASSED

    def __str__(self):
        if not self.pairs:
            return f"{self.name}: {self.verdict}: no pair of measurements in the time"
        ours, bare = (statistics.median(values) for values in zip(*self.pairs))
        interval = "too few pairs for an interval"
        if self.interval is not None:
            interval = "{:.4f} to {:.4f}".format(*map(ratio_of, self.interval))
        ratio = ratio_of(statistics.median(difference_of(*pair) for pair in self.pairs))
        return (f"{self.name}: {self.verdict}: {ours:.5g} beside {bare:.5g}, ratio {ratio:.4f} "
                f"({interval}), target {self.target}; {len(self.pairs)} pairs")


def judge(source, targets, seconds, say=print, now=time.monotonic):
    """Takes pairs by name, {"name": (ours, bare), ...}, from an iterator, until each row is judged or
    the time is up. `targets` has the rows' names. Prints the findings. Returns the verdict: that a
    row failed, else that one was not judged, else that all passed."""
    rows = {name: Row(name, target) for name, target in targets.items()}
    start_s = now()

    def undecided():
        return [row for row in rows.values() if row.verdict == NOT_JUDGED]

    for pairs in source:
        for row in undecided():
            if row.name in pairs:
                row.add(*pairs[row.name])
        if not undecided() or any(row.verdict == FAILED for row in rows.values()):
            break
        passed_s, most = now() - start_s, max(len(row.pairs) for row in undecided())
        if passed_s >= seconds or (passed_s >= seconds / 3 and 3 * most < FIRST_LOOK):
            break  # Or there would be too few pairs in all of the time.
    for row in undecided():
        if len(row.pairs) >= FIRST_LOOK:
            row.look()
    for row in rows.values():
        say(row)
    verdicts = {row.verdict for row in rows.values()}
    verdict = next(one for one in (FAILED, NOT_JUDGED, PASSED) if one in verdicts)
    if verdict == NOT_JUDGED:
        say(f"Not judged: this machine is too noisy to tell in {seconds:g} s.")
    return verdict
