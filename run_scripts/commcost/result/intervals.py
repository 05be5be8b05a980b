# SPDX-License-Identifier: BSD-3-Clause
"""Numbers with an interval, and arithmetic with them.

With six or more launches the interval is over launches (order statistics, rank_test). With fewer launches nothing is
sure.
"""

import typing

from commcost.result import rank_test
from commcost.result.benchmarks import ends_of
from commcost.words import is_number

LAUNCHES_ENOUGH = 6
CONFIDENCE = 0.95
THRESHOLD_PCT = 2.0  # smaller savings don't matter; results of overlap_* have their own threshold
# Many rows are judged, so the distance between interval and limit must be at least this share of the distance between
# the median and the interval's near end. If the true median is the limit, 2 to 5 of 1,000 rows are then judged above it
# (simulated with 6 to 20 independent launches: normal, uniform, exponential, lognormal), and 16 if half of six launches
# run in a second state of the machine.
BESIDE_LIMIT = 0.75


class Measured(typing.NamedTuple):
    """A value with its interval. Without an interval nothing is sure."""

    value: float
    low: typing.Optional[float]
    high: typing.Optional[float]
    launches: int

    def scaled(self, factor):
        ends = [None if end is None else end * factor for end in (self.low, self.high)]
        return Measured(self.value * factor, *(ends if factor > 0 else ends[::-1]), self.launches)

    def within(self, low, high):
        ends = [None if end is None else min(max(end, low), high) for end in (self.value, self.low, self.high)]
        return Measured(*ends, self.launches)

    @property
    def is_sure(self):
        return self.low is not None and self.launches >= LAUNCHES_ENOUGH


def measured(row, column):
    found = launch_median(list(map(float, row.texts(column))))
    if found is None or found.launches > 1:
        return found
    low, high = own_interval(row, column) or (None, None)
    return found._replace(low=low, high=high)


def launch_median(values):
    """Returns the median over launches with its interval: the range if there are fewer than LAUNCHES_ENOUGH, no
    interval for one launch. None without values."""
    if not values:
        return None
    ends = (rank_test.median_interval(values, CONFIDENCE) if len(values) >= LAUNCHES_ENOUGH else
            (min(values), max(values)) if len(values) > 1 else None)
    return Measured(rank_test.median(values), *(ends or (None, None)), len(values))


def own_interval(row, column):
    for cells in row.launches:
        ends = [cells.get(end, "NA") for end in ends_of(column)]
        if cells.get("status") != "FAIL" and is_number(cells.get(column, "NA")) and all(map(is_number, ends)):
            return float(ends[0]), float(ends[1])
    return None


def is_above(value, limit):
    """True if a Measured is surely above a limit."""
    return value.is_sure and value.low - limit > BESIDE_LIMIT * (value.value - value.low)


def is_below(value, limit):
    return is_above(value.scaled(-1), -limit)


class Span(typing.NamedTuple):
    """A value from low to high. Arithmetic yields the widest possible ends."""

    value: float
    low: float
    high: float

    def plus(self, other):
        return Span(self.value + other.value, self.low + other.low, self.high + other.high)

    def minus(self, other):
        return Span(self.value - other.value, self.low - other.high, self.high - other.low)

    def times(self, factor):
        """Multiplies by a non-negative number."""
        return Span(self.value * factor, self.low * factor, self.high * factor)

    def over(self, other):
        """Divides by positive numbers."""
        return Span(self.value / other.value, self.low / other.high, self.high / other.low)

    def part(self, share):
        """Multiplies by a Span of non-negative numbers."""
        return Span(self.value * share.value, self.low * share.low, self.high * share.high)

    def wider(self, by):
        return Span(self.value, self.low - by, self.high + by)

    def within(self, low, high):
        return Span(*(min(max(end, low), high) for end in self))

    def at_most(self, other):
        """Returns the lower of two estimates of a quantity, either of which may be right. Its Span reaches from the
        overlap of both, or from the lower estimate if they don't overlap, to the higher end."""
        value = min(self.value, other.value)
        low = max(self.low, other.low)
        if low > min(self.high, other.high):
            low = min(self.low, other.low)
        return Span(max(value, low), low, max(self.high, other.high))


def exactly(value):
    return Span(value, value, value)


def span_of(measured):
    if measured.low is None:
        return exactly(measured.value)
    return Span(measured.value, min(measured.low, measured.value), max(measured.high, measured.value))
