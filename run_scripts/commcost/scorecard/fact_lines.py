"""Lines of the scorecard, a fact each, and values with their units."""

import math
import re
import typing

from commcost.words import bytes_text

NO_BREAK = "\u00a0"
DECIMALS, LARGE = 6, 1e6  # a number with more, or a larger one, gets an exponent


class Line(typing.NamedTuple):
    """One fact, in words as they are shown; "" for what a line doesn't have."""

    label: str          # "Latency, 8 bytes", "MPI_Isend + work + MPI_Wait"
    value: str          # the median "0.35 µs", or the answer: "yes", "partly", "no", "not clear"
    sizes: str = ""     # of the answer: "from 16 KiB", "to 1 KiB"
    spread: str = ""    # the range over launches: "0.34–0.36"
    note: str = ""      # the gain, the fastest method, or what is missing
    rows: tuple = ()    # identities of the tables.Rows that it rests on
    remedy: str = ""    # for a developer, or who runs the machine

    @property
    def remark(self):
        """The note and the remedy, whose numbers keep their units."""
        return re.sub("(?<=[0-9]) ", NO_BREAK, ": ".join(filter(None, (self.note, self.remedy))))


# The units of a quantity: from which value on, how much of the quantity, and its name.
TIME_US = ((1e6, 1e6, " s"), (1e3, 1e3, " ms"), (0.1, 1, " µs"), (0, 1e-3, " ns"))
TIME_S = tuple((least / 1e6, unit / 1e6, name) for least, unit, name in TIME_US)
TIME_NS = tuple((least * 1e3, unit * 1e3, name) for least, unit, name in TIME_US)
SPEED_MBS = ((1024, 1024, " GB/s"), (0, 1, " MB/s"))
RATE = ((1e9, 1e9, " G/s"), (1e6, 1e6, " M/s"), (1e3, 1e3, " k/s"), (0, 1, " /s"))
SHARE = ((0, 1, " %"),)


def value_text(found, units):
    """A Measured with its unit: "0.35 µs"; "< 0.1 µs" if noise may have made it."""
    if is_noise(found):
        # 1, 2 or 5 times a power of ten.
        end = found.high if found.high > 0 else -found.low
        power = 10.0 ** magnitude(end)
        value = next(step * power for step in (1, 2, 5, 10, math.inf) if end <= step * power * (1 + 1e-9))
        return "< " + number(value, value, units, 1) + unit_of(value, units)[1]
    return number(found.value, found.value, units, digits_of(found)) + unit_of(found.value, units)[1]


def range_text(found, values, units):
    """The range over launches in the unit of the median: "0.34–0.36"; "" of one."""
    if len(values) < 2 or is_noise(found):
        return ""
    return "–".join(number(end, found.value, units, digits_of(found)) for end in (min(values), max(values)))


def is_noise(found):
    """True if the value may be 0."""
    return found.low is not None and found.low <= 0


def digits_of(found):
    """Three where the third is no more than half of the interval, else two."""
    if found.low is None or found.value <= 0:
        return 2
    second_digit = 10.0 ** (magnitude(found.value) - 1)
    return 2 if found.high - found.low >= 2 * second_digit * (1 - 1e-9) else 3


def number(value, median, units, digits):
    """A value in the median's unit, with the decimals that give the median these digits."""
    factor = unit_of(median, units)[0]
    size = max(abs(value), abs(median)) / factor
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
