"""The scorecard: what results say at one look, one fact a line.

It is one value, shown as text (quickstart.sh, report_text.sh --short), in Markdown and in HTML (report.py).
The questions are in costs.py and gains.py, a function each.
"""

import os
import re
import textwrap
import typing

WIDTH = 100  # of a terminal
ASCII = {"µ": "u", "–": "-", "…": "...", "×": "x"}


class Line(typing.NamedTuple):
    """One fact, in words as they are shown; "" for what a line doesn't have.

    what      "Message of 8 bytes, one way", "Non-blocking send"
    typical   the value "0.35 µs"; where the question is whether something pays, the answer: "yes", "no",
              "even", "not clear"
    since     where the answer holds: "from 16 KiB", "to 1 KiB"
    launches  the range over launches: "0.34 – 0.36"
    note      why, what else, or what would make it clear
    rows      identities of the tables.Rows that it rests on
    """

    what: str
    typical: str
    since: str = ""
    launches: str = ""
    note: str = ""
    rows: tuple = ()


class Part(typing.NamedTuple):
    """Lines under a heading, which is a question or a few words."""

    heading: str
    lines: list


class Scorecard(typing.NamedTuple):
    """`title` says of which machine it is; `mind` what limits all that is said: texts."""

    title: str
    parts: list
    mind: list


# ---- as text -------------------------------------------------------------------------------------

def text_of(card):
    """The scorecard as text of at most WIDTH characters a line."""
    lines = textwrap.wrap(card.title, WIDTH, subsequent_indent="  ")
    for part in card.parts:
        lines += ["", *lines_of(part)]
    if card.mind:
        lines += ["", "Mind"]
    for text in card.mind:
        lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ",
                               break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def lines_of(part):
    """The heading, with what the columns hold where there are ranges; then the lines, in columns."""
    cells = [["  " + line.what, line.since, line.typical, line.launches] for line in part.lines]
    head = [part.heading, "", "typical", "launches"]
    has_ranges = any(line.launches for line in part.lines)
    widths = [max(map(len, column)) for column in zip(*cells, *([head] if has_ranges else []))]
    lines = [aligned(head, widths) if has_ranges else part.heading]
    for line, row in zip(part.lines, cells):
        start = aligned(row, widths, line.note != "")
        lines += textwrap.wrap(line.note, WIDTH, initial_indent=start, subsequent_indent=len(start) * " ",
                               break_on_hyphens=False) or [start]
    return lines


def aligned(cells, widths, is_more=False):
    """Cells in columns, of which empty ones have no place; padded to the end where more follows."""
    text = "".join(cell.ljust(width + 2) for cell, width in zip(cells, widths) if width)
    return text if is_more else text.rstrip()


def readable(text):
    """The text in ASCII where the locale isn't UTF-8's."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    return text if re.search("utf-?8", locale, re.I) else re.sub(
        f"[{''.join(ASCII)}]", lambda found: ASCII[found.group()], text)
