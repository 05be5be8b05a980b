"""Compares what benchmarks find with known truths: the one runner of tests/accuracy.

A test names a case, gives a function that makes one launch and returns its errors by quantity, and
says how far from 0 these may be:

    @pytest.mark.parametrize("case", cases(CASES, quick=CASES[::2]))
    def test_latency(case, accuracy, on_model):
        accuracy.check(str(case), lambda: errors(case, on_model), allowed=0.02)

Of each quantity the median over launches counts. Where the machine is busy, more is allowed (see
bounds.py). What is too far off is measured once more, from the start.

Without --full there are no more launches than the answer needs: where more than half of them are
within the target, so is the median, whatever the others would find.
"""

import math
import statistics
import typing

import pytest


class Target(typing.NamedTuple):
    """A share of a time, or this many microseconds if that is more."""

    __test__ = False
    share: float
    us: float = 0.0

    def of(self, time_us):
        """What is allowed of this time, in us."""
        return max(self.share * time_us, self.us)

    def share_of(self, time_us):
        """What is allowed of this time, as a share of it."""
        return max(self.share, self.us / time_us)

    def __str__(self):
        return f"{self.share:.0%}" + (f" or {self.us} us" if self.us > 0 else "")


class Result(typing.NamedTuple):
    """What was found of a case."""

    __test__ = False
    name: str
    medians: dict  # over launches, by quantity
    shares: dict   # of those that are errors: in units of what is allowed
    wider: float   # what is allowed, in units of the target
    launches: int  # of which the medians are

    def far(self):
        """The errors that are larger than allowed."""
        return [quantity for quantity, share in self.shares.items() if not share <= 1]


class Accuracy:
    """Measures the cases of a file and says what it finds."""

    __test__ = False

    def __init__(self, bounds, say, target=None, thorough=False):
        """`target`, if any, is named beside the largest error; `thorough`: launches whose answer
        isn't needed are made, too."""
        self.bounds, self.say, self.target, self.thorough = bounds, say, target, thorough
        self.largest = []  # error of each case, in units of what is allowed

    def check(self, *case, **how):
        """Measures a case; fails if it's too far off even when measured once more."""
        __tracebackhide__ = True
        self.judge(self.measure(*case, **how))

    def measure(self, name, launch, allowed=None, fixed=None, launches=3, text="{:+.2%}"):
        """Measures a case, once more if it's too far off; returns its Result.

        launch    makes one launch; returns numbers by quantity, in any unit
        allowed   how far from 0 their medians may be on a quiet machine: a number for all; a dict
                  for those that are errors; or a function that makes a dict from the medians
        fixed     the same, but for any machine
        launches  the largest number of launches
        text      what is said of the medians: a function of them, or a format for the largest error
        """
        def attempt():
            self.bounds.forget()
            found = []
            while len(found) < launches and (self.thorough or 2 * len(found) <= launches or
                                             not all_within(found, allowed, fixed)):
                found.append(launch())
            medians = medians_of(found)
            wider = self.bounds.wider(self.say) if allowed else 1.0
            shares = {quantity: share(medians[quantity], factor * limit)
                      for limits, factor in ((allowed, wider), (fixed, 1.0))
                      for quantity, limit in by_quantity(limits, medians).items()}
            result = Result(name, medians, shares, wider, len(found))
            said = text(medians) if callable(text) else text_of_largest(result, text)
            self.say(f"{name}: {said}{'  TOO FAR' if result.far() else ''}")
            return result

        result = attempt()
        return attempt() if result.far() else result

    def judge(self, result):
        """Fails if an error is larger than allowed."""
        __tracebackhide__ = True
        self.largest.append(max(result.shares.values(), default=0.0))
        far = {quantity: result.medians[quantity] for quantity in result.far()}
        assert not far, f"{result.name}: too far off: {far}"

    def end(self):
        """Says the largest error of all cases."""
        if self.largest:
            target = "" if self.target is None else f", {self.target}"
            self.say(f"largest error: {max(self.largest):.2f} of what is allowed{target}")


def cases(every, quick=None):
    """The cases as pytest's parameters, named by their texts. If `quick` are some of them, the
    others are for --full only."""
    return [pytest.param(case, id=str(case), marks=[] if quick is None or case in quick
                         else [pytest.mark.full]) for case in every]


def median(values):
    """NAN if a value is."""
    return math.nan if any(map(math.isnan, values)) else statistics.median(values)


def medians_of(found):
    """Of each quantity, over launches."""
    return {quantity: median([numbers[quantity] for numbers in found]) for quantity in found[0]}


def all_within(found, *several_limits):
    """Whether all numbers of all launches are within their targets."""
    return all(share(numbers[quantity], limit) <= 1
               for limits in several_limits
               for quantity, limit in by_quantity(limits, medians_of(found)).items()
               for numbers in found)


def by_quantity(limits, medians):
    """What is allowed, by quantity."""
    if callable(limits):
        return limits(medians)
    return dict.fromkeys(medians, limits) if isinstance(limits, (int, float)) else limits or {}


def share(error, limit):
    """An error in units of what is allowed."""
    if math.isnan(error):
        return math.inf
    return abs(error) / limit if limit > 0 else math.inf if error else 0.0


def text_of_largest(result, form):
    quantity = max(result.shares, key=result.shares.get)
    return (f"{len(result.shares)} rows, largest error {form.format(result.medians[quantity])} "
            f"({quantity})")


def binomial_at_most(successes, trials, rate):
    """P(X <= successes) for X binomial."""
    return sum(math.comb(trials, k) * rate ** k * (1 - rate) ** (trials - k)
               for k in range(successes + 1))
