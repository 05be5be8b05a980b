"""Numbers with an interval: what launches found, what is sure of that, and what is calculated from it.

From six launches on the interval over launches decides (order statistics, rank_test). Fewer are never sure: launches
differ by more than one of them shows.
"""

import typing

from commcost.result import rank_test
from commcost.result.benchmarks import ends_of
from commcost.words import is_number

LAUNCHES_ENOUGH = 6
CONFIDENCE = 0.95
THRESHOLD_PCT = 2.0  # what saves or costs less makes no difference; results of overlap_* say theirs
# Many rows are judged. So an interval must be beside a limit by this share of what lies between the median and its near
# end: how far launches lie on the other side says nothing of the limit. Of rows whose median is the limit itself 2 to 5
# of 1,000 are then called above it (simulated, 6 to 20 independent launches: normal, uniform, exponential, lognormal),
# and 16 where a machine is in one of two states, which lie on either side of the limit, in half of six launches.
BESIDE_LIMIT = 0.75


class Measured(typing.NamedTuple):
    """A value with its interval. Without one nothing is sure."""

    value: float
    low: typing.Optional[float]
    high: typing.Optional[float]
    launches: int

    def scaled(self, factor):
        """In another unit."""
        ends = [None if end is None else end * factor for end in (self.low, self.high)]
        return Measured(self.value * factor, *(ends if factor > 0 else ends[::-1]), self.launches)

    def within(self, low, high):
        ends = [None if end is None else min(max(end, low), high) for end in (self.value, self.low, self.high)]
        return Measured(*ends, self.launches)

    @property
    def is_sure(self):
        """Whether the interval is one over launches."""
        return self.low is not None and self.launches >= LAUNCHES_ENOUGH


def measured(row, column):
    """What the launches of a tables.Row found in a column; None if none has a value."""
    found = over_launches(list(map(float, row.texts(column))))
    if found is None or found.launches > 1:
        return found
    low, high = own_interval(row, column) or (None, None)
    return found._replace(low=low, high=high)


def over_launches(values):
    """The median of what launches found, with its interval: with fewer than LAUNCHES_ENOUGH the range, of one none. None
    of no values."""
    if not values:
        return None
    ends = (rank_test.median_interval(values, CONFIDENCE) if len(values) >= LAUNCHES_ENOUGH else
            (min(values), max(values)) if len(values) > 1 else None)
    return Measured(rank_test.median(values), *(ends or (None, None)), len(values))


def own_interval(row, column):
    """That of the one launch that has a value."""
    for cells in row.launches:
        ends = [cells.get(end, "NA") for end in ends_of(column)]
        if cells.get("status") != "FAIL" and is_number(cells.get(column, "NA")) and all(map(is_number, ends)):
            return float(ends[0]), float(ends[1])
    return None


def is_above(value, limit):
    """Whether a Measured is surely above a limit."""
    return value.is_sure and value.low - limit > BESIDE_LIMIT * (value.value - value.low)


def is_below(value, limit):
    return is_above(value.scaled(-1), -limit)


class Span(typing.NamedTuple):
    """A value from low to high. In what is calculated each end comes from the ends that make it smallest or
    largest: no luck is counted on."""

    value: float
    low: float
    high: float

    def plus(self, other):
        return Span(self.value + other.value, self.low + other.low, self.high + other.high)

    def minus(self, other):
        return Span(self.value - other.value, self.low - other.high, self.high - other.low)

    def times(self, factor):
        """By a number that is 0 or more."""
        return Span(self.value * factor, self.low * factor, self.high * factor)

    def over(self, other):
        """Of numbers above 0."""
        return Span(self.value / other.value, self.low / other.high, self.high / other.low)

    def part(self, share):
        """By a Span of numbers that are 0 or more."""
        return Span(self.value * share.value, self.low * share.low, self.high * share.high)

    def wider(self, by):
        return Span(self.value, self.low - by, self.high + by)

    def within(self, low, high):
        return Span(*(min(max(end, low), high) for end in self))

    def at_most(self, other):
        """The lesser one of two ways to know the same, of which either may be right: at least what
        both allow, or the lower one where they contradict each other, and at most the higher."""
        value = min(self.value, other.value)
        low = max(self.low, other.low)
        if low > min(self.high, other.high):
            low = min(self.low, other.low)
        return Span(max(value, low), low, max(self.high, other.high))


def exactly(value):
    return Span(value, value, value)


def span_of(measured):
    """Of a Measured, which may lack an interval."""
    if measured.low is None:
        return exactly(measured.value)
    return Span(measured.value, min(measured.low, measured.value), max(measured.high, measured.value))
