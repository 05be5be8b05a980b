# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, sizes and lists as text."""

import math
import re

UNSURE = "not clear"


def decimals(value, count):
    """Returns a number with `count` decimals, or NA for None."""
    return "NA" if value is None else f"{value:.{count}f}"


def six_digits(value):
    """Returns a number with six significant digits, or NA for None."""
    if value is None:
        return "NA"
    if value == 0:
        return "0"
    if not 1e-6 <= abs(value) < 1e15:
        return f"{value:.5e}"
    return f"{value:.{max(0, 5 - math.floor(math.log10(abs(value))))}f}"


def number_text(value):
    """Returns an integer without a point, any other number with up to six digits."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"


def short(value):
    """Returns a number with three significant digits, without an exponent."""
    for least, digits in ((100, ".0f"), (10, ".1f"), (1, ".2f"), (0.1, ".3f")):
        if abs(value) >= least:
            return format(value, digits)
    return f"{value:.2g}" if value else "0"


def size_text(count):
    """Returns a size in the form of the programs' options: 8, 1K, 4M."""
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= unit and count % unit == 0:
            return number_text(count / unit) + letter
    return number_text(count)


def bytes_text(count):
    text = size_text(count)
    return f"{text}iB" if text[-1].isalpha() else f"{text} byte{'' if text == '1' else 's'}"


def counted(count, noun, several=None):
    return f"{count} {noun if count == 1 else several or noun + 's'}"


def cut(text, most):
    return text if len(text) <= most else text[:most - 1] + "…"


def listed(texts, most=None):
    """Returns "one, two and three". Of more than `most` texts, lists the first ones and counts the rest."""
    texts = list(texts)
    if most is not None and len(texts) > most:
        texts = [*texts[:most - 1], f"{len(texts) - most + 1} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]])) if texts else ""


def duration_text(seconds):
    seconds = int(seconds + 0.5)
    if seconds < 120:
        return f"{seconds} s"
    return f"{(seconds + 30) // 60} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def grouped(values, key):
    """Returns lists of the values with equal keys, in reading order."""
    groups = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return list(groups.values())


# Numbers as in strtod, except hexadecimal ones, infinity and NaN.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NUMBER_MAX = 1e100  # so that products, ratios and powers of ten are also finite


def parsed_number(cell):
    """Returns the number in a cell, or None for NA, text, and implausible numbers."""
    if not _NUMBER.fullmatch(cell):
        return None
    value = float(cell)
    return value if value == 0 or 1 / NUMBER_MAX <= abs(value) <= NUMBER_MAX else None


def is_number(text):
    return parsed_number(text) is not None
