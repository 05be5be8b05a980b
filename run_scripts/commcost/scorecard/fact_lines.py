# SPDX-License-Identifier: BSD-3-Clause
"""Lines of the scorecard, one fact each, and values with their units."""

import math
import re
import typing

from commcost.result.row_labels import further
from commcost.words import bytes_text, cut

NO_BREAK = "\u00a0"
DECIMALS, LARGE = 6, 1e6  # max; numbers beyond either get an exponent
VALUE = 40                # max characters of a further key's value


class Line(typing.NamedTuple):
    """One fact, as texts to be shown; texts that a line lacks are ""."""

    label: str          # "Latency, 8 bytes", "MPI_Isend + work + MPI_Wait"
    value: str          # a median like "0.35 µs", or an answer: "yes", "partly", "no", "not clear"
    sizes: str = ""     # of an answer: "from 16 KiB", "to 1 KiB"
    spread: str = ""    # the range over launches: "0.34–0.36"
    note: str = ""      # gain, fastest method, or reason for a missing value
    rows: tuple = ()    # identities of its tables.Rows
    remedy: str = ""    # for developers or administrators

    @property
    def remark(self):
        """Returns note and remedy, with no-break spaces before units."""
        return re.sub("(?<=[0-9]) ", NO_BREAK, ": ".join(filter(None, (self.note, self.remedy))))


def named(line, keys):
    """Returns the line, with the further keys that distinguish its rows from others."""
    words = [key.label(cut(keys[key.column], VALUE)) for key in further(keys) if keys[key.column] != "NA"]
    return line._replace(label=", ".join([line.label, *(
        word for word in words if not re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", line.label))]))


# Units of a quantity: min value, size, and name.
TIME_US = ((1e6, 1e6, " s"), (1e3, 1e3, " ms"), (0.1, 1, " µs"), (0, 1e-3, " ns"))
TIME_S = tuple((least / 1e6, unit / 1e6, name) for least, unit, name in TIME_US)
TIME_NS = tuple((least * 1e3, unit * 1e3, name) for least, unit, name in TIME_US)
SPEED_MBS = ((1024, 1024, " GB/s"), (0, 1, " MB/s"))
RATE = ((1e9, 1e9, " G/s"), (1e6, 1e6, " M/s"), (1e3, 1e3, " k/s"), (0, 1, " /s"))
SHARE = ((0, 1, " %"),)


def value_text(found, units):
    """Returns a Measured with its unit: "0.35 µs", or "< 0.1 µs" if it may be noise."""
    if is_noise(found):
        # Rounds to 1, 2 or 5 times a power of ten.
        end = found.high if found.high > 0 else -found.low
        power = 10.0 ** magnitude(end)
        value = next(step * power for step in (1, 2, 5, 10, math.inf) if end <= step * power * (1 + 1e-9))
        return "< " + number(value, value, units, 1) + unit_of(value, units)[1]
    return number(found.value, found.value, units, digits_of(found)) + unit_of(found.value, units)[1]


def range_text(found, values, units):
    """Returns the range over launches in the unit of the median: "0.34–0.36", or "" for one launch."""
    if len(values) < 2 or is_noise(found):
        return ""
    return "–".join(number(end, found.value, units, digits_of(found)) for end in (min(values), max(values)))


def is_noise(found):
    """True if the value may be 0."""
    return found.low is not None and found.low <= 0


def digits_of(found):
    """Returns 3 if the third digit is at most half of the interval, else 2."""
    if found.low is None or found.value <= 0:
        return 2
    second_digit = 10.0 ** (magnitude(found.value) - 1)
    return 2 if found.high - found.low >= 2 * second_digit * (1 - 1e-9) else 3


def number(value, median, units, digits):
    """Returns a value in the median's unit, with the decimals that the median needs for `digits` digits."""
    factor = unit_of(median, units)[0]
    size = max(abs(value), abs(median)) / factor
    decimals = max(0, digits - 1 - magnitude(size)) if size else 0
    is_usual = decimals <= DECIMALS and size < LARGE
    return f"{value / factor:.{decimals}f}" if is_usual else f"{value / factor:.3g}"


def unit_of(value, units):
    return next((factor, name) for least, factor, name in units if abs(value) >= least)


def magnitude(value):
    """Returns the power of ten of a positive value, or 0 for anything else."""
    return math.floor(math.log10(value)) if 0 < value < math.inf else 0


def size_text(count):
    """Returns a size as "8 bytes" or "16 KiB"."""
    return re.sub("(?=[KMG]iB$)", " ", bytes_text(count)) if abs(count) < math.inf else "? bytes"
