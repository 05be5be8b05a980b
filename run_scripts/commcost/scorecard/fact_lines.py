"""Facts as the scorecard shows them: one a line, and values with units that are read at a glance."""

import math
import re
import typing

from commcost.words import bytes_text

DECIMALS, LARGE = 6, 1e6  # a number with more, or a larger one, gets an exponent


class Line(typing.NamedTuple):
    """One fact, in words as they are shown; "" for what a line doesn't have."""

    what: str           # "Message of 8 bytes, one way", "Non-blocking send"
    typical: str        # the value "0.35 µs", or the answer: "yes", "partly", "no", "even", "not clear"
    since: str = ""     # where the answer holds: "from 16 KiB", "to 1 KiB"
    launches: str = ""  # the range over launches: "0.34 – 0.36"
    note: str = ""      # why, what else, or what would make it clear
    rows: tuple = ()    # identities of the tables.Rows that it rests on
    todo: str = ""      # what follows for a developer, or who runs the machine

    @property
    def remark(self):
        """The note, and what to do."""
        return ": ".join(filter(None, (self.note, self.todo)))


class Part(typing.NamedTuple):
    """Lines under a heading, which is a question or a few words."""

    heading: str
    lines: list


# The units of a quantity: from which value on, how much of the quantity, and its name.
TIME_US = ((1e6, 1e6, " s"), (1e3, 1e3, " ms"), (0.1, 1, " µs"), (0, 1e-3, " ns"))
TIME_S = tuple((least / 1e6, unit / 1e6, name) for least, unit, name in TIME_US)
TIME_NS = tuple((least * 1e3, unit * 1e3, name) for least, unit, name in TIME_US)
SPEED_MBS = ((1024, 1024, " GB/s"), (0, 1, " MB/s"))
RATE = ((1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e3, 1e3, " k"), (0, 1, ""))
SHARE = ((0, 1, " %"),)


def typical(found, units):
    """A Measured in words: "0.35 µs"; where noise may have made it "< 0.1 µs"."""
    if is_noise(found):
        # 1, 2 or 5 times a power of ten.
        end = found.high if found.high > 0 else -found.low
        power = 10.0 ** magnitude(end)
        value = next(step * power for step in (1, 2, 5, 10, math.inf) if end <= step * power * (1 + 1e-9))
        return "< " + number(value, value, units, 1) + unit_of(value, units)[1]
    return number(found.value, found.value, units, digits_of(found)) + unit_of(found.value, units)[1]


def ranged(found, values, units):
    """The range over launches in the unit of the typical value: "0.34 – 0.36"; "" of one."""
    if len(values) < 2 or is_noise(found):
        return ""
    return " – ".join(number(end, found.value, units, digits_of(found)) for end in (min(values), max(values)))


def is_noise(found):
    """Whether it may be nothing."""
    return found.low is not None and found.low <= 0


def digits_of(found):
    """Three where the third is no more than half of the interval, else two."""
    if found.low is None or found.value <= 0:
        return 2
    second_digit = 10.0 ** (magnitude(found.value) - 1)
    return 2 if found.high - found.low >= 2 * second_digit * (1 - 1e-9) else 3


def number(value, typical_one, units, digits):
    """A value in the unit of the typical one, with as many decimals as give that these digits."""
    factor = unit_of(typical_one, units)[0]
    size = max(abs(value), abs(typical_one)) / factor
    decimals = max(0, digits - 1 - magnitude(size)) if size else 0
    is_usual = decimals <= DECIMALS and size < LARGE
    return f"{value / factor:.{decimals}f}" if is_usual else f"{value / factor:.3g}"


def unit_of(value, units):
    return next((factor, name) for least, factor, name in units if abs(value) >= least)


def magnitude(value):
    """The power of ten of a value above 0; 0 of what is no number."""
    return math.floor(math.log10(value)) if 0 < value < math.inf else 0


def size_text(count):
    """8 bytes, 16 KiB."""
    return re.sub("(?=[KMG]iB$)", " ", bytes_text(count)) if abs(count) < math.inf else "? bytes"
