"""Numbers with an interval, and what is calculated from them.

Each end is calculated from the ends that make it smallest or largest: no luck is counted on.
"""

import typing


class Span(typing.NamedTuple):
    """A value from low to high."""

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
    """Of an evidence.Measured, which may lack an interval."""
    if measured.low is None:
        return exactly(measured.value)
    return Span(measured.value, min(measured.low, measured.value),
                max(measured.high, measured.value))
