"""The scorecard as text."""

import itertools
import re
import textwrap

from commcost.command import plain
from commcost.page import WIDTH
from commcost.words import cut

WHAT = 46      # of what a line is about; the rest stands below
CELL = 26      # of the columns behind that, but the last
NO_BREAK = "\u00a0"


def text_of(card):
    """The scorecard as text of at most WIDTH characters a line."""
    lines = textwrap.wrap(card.title, WIDTH, subsequent_indent="  ")
    for part in card.parts:
        lines += ["", *lines_of(part)]
    lines += ["", "Mind"] if card.mind else []
    for text in card.mind:
        words, _, command = text.partition("\n")
        lines += textwrap.wrap(words, WIDTH, initial_indent="  ", subsequent_indent="    ",
                               break_long_words=False, break_on_hyphens=False)
        lines += ["    " + command] if command else []  # whole, to be pasted
    return "\n".join(map(plain, lines)) + "\n"


def lines_of(part):
    """The heading, with what the columns hold where there are ranges; then the lines, in columns."""
    subjects = [textwrap.wrap("  " + line.what, 2 + WHAT, subsequent_indent="    ", break_on_hyphens=False)
                for line in part.lines]
    cells = [[max(subject, key=len), *(cut(cell, CELL) for cell in (line.since, line.typical, line.launches))]
             for subject, line in zip(subjects, part.lines)]
    head = [part.heading, "", "typical", "launches"]
    heads = [head] if any(line.launches for line in part.lines) else []
    widths = [max(map(len, column)) for column in zip(*heads, *cells)]
    lines = [aligned(head, widths) if heads else part.heading]
    for line, subject, row in zip(part.lines, subjects, cells):
        start = aligned([subject[0], *row[1:]], widths, is_more=True)
        remarks = textwrap.wrap(unbroken(line.remark), WIDTH - len(start), break_on_hyphens=False)
        starts = [start, *(more.ljust(len(start)) for more in subject[1:])]
        lines += [(before or len(start) * " ") + remark
                  for before, remark in itertools.zip_longest(starts, remarks, fillvalue="")]
    return [line.replace(NO_BREAK, " ").rstrip() for line in lines]


def unbroken(text):
    """The text, whose numbers keep their units."""
    return re.sub("(?<=[0-9]) ", NO_BREAK, text)


def aligned(cells, widths, is_more=False):
    """Cells in columns, of which empty ones have no place; padded to the end where more follows."""
    text = "".join(cell.ljust(width + 2) for cell, width in zip(cells, widths) if width)
    return text if is_more else text.rstrip()
