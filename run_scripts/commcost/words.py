"""Numbers, sizes and lists as people read them."""

import math
import re

UNSURE = "not clear"


def decimals(value, count):
    """A number with these decimals; NA for None."""
    return "NA" if value is None else f"{value:.{count}f}"


def six_digits(value):
    """A number with six digits that count; NA for None."""
    if value is None:
        return "NA"
    if value == 0:
        return "0"
    if not 1e-6 <= abs(value) < 1e15:
        return f"{value:.5e}"
    return f"{value:.{max(0, 5 - math.floor(math.log10(abs(value))))}f}"


def number_text(value):
    """A whole number without a point, any other with up to six digits."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"


def short(value):
    """Three digits that say something, without an exponent."""
    for least, digits in ((100, ".0f"), (10, ".1f"), (1, ".2f"), (0.1, ".3f")):
        if abs(value) >= least:
            return format(value, digits)
    return f"{value:.2g}" if value else "0"


def size_text(count):
    """8, 1K, 4M: as the programs take sizes."""
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= unit and count % unit == 0:
            return number_text(count / unit) + letter
    return number_text(count)


def bytes_text(count):
    """A size with its unit."""
    text = size_text(count)
    return f"{text}iB" if text[-1].isalpha() else f"{text} byte{'' if text == '1' else 's'}"


def counted(count, noun, several=None):
    """1 row, 2 rows; `several` is the plural where it isn't the noun with an s."""
    return f"{count} {noun if count == 1 else several or noun + 's'}"


def cut(text, most):
    """The text, of at most `most` letters."""
    return text if len(text) <= most else text[:most - 1] + "…"


def listed(texts, most=None):
    """One, two and three; of more than `most` the first ones and how many more."""
    texts = list(texts)
    if most is not None and len(texts) > most:
        texts = [*texts[:most - 1], f"{len(texts) - most + 1} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]])) if texts else ""


def in_words(seconds):
    """A time, for people."""
    seconds = int(seconds + 0.5)
    if seconds < 120:
        return f"{seconds} s"
    return f"{(seconds + 30) // 60} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def grouped(values, key):
    """Lists of the values with the same key, in the order in which they are met."""
    groups = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return list(groups.values())


# As strtod has them, but no hexadecimal ones, and no infinity or NaN.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NUMBER_MAX = 1e100  # so that products, ratios and powers of ten of numbers are numbers, too


def parsed_number(cell):
    """The number that a cell holds; None for NA and for what is none, or so large or small that nothing measures it."""
    if not _NUMBER.fullmatch(cell):
        return None
    value = float(cell)
    return value if value == 0 or 1 / NUMBER_MAX <= abs(value) <= NUMBER_MAX else None


def is_number(text):
    """Whether a cell holds a number."""
    return parsed_number(text) is not None
