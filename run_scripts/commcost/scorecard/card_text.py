# SPDX-License-Identifier: BSD-3-Clause
"""The scorecard as text."""

import itertools
import textwrap

from commcost.command import plain
from commcost.page import WIDTH
from commcost.scorecard import card_table
from commcost.scorecard.fact_lines import NO_BREAK
from commcost.words import cut

LABEL = 46     # characters of a label; the rest goes to the next line
CELL = 28      # of the columns after the label, except the last one


def text_of(card):
    """Returns the scorecard as text with at most WIDTH characters per line."""
    lines = textwrap.wrap(card.title, WIDTH, subsequent_indent="  ")
    for part in card.parts:
        lines += ["", *lines_of(part)]
    lines += ["", card_table.CAVEATS] if card.caveats else []
    for text in card.caveats:
        words, _, command = text.partition("\n")
        whole = " ".join(filter(None, (words, command)))
        if len(whole) + 2 <= WIDTH:
            words, command = whole, ""
        lines += textwrap.wrap(words, WIDTH, initial_indent="  ", subsequent_indent="    ",
                               break_long_words=False, break_on_hyphens=False)
        lines += ["    " + command] if command else []  # unbroken, to be pasted
    return "\n".join(map(plain, lines)) + "\n"


def lines_of(part):
    """Returns the heading, with column headings if there are ranges, and the lines, in columns."""
    labels = [textwrap.wrap("  " + line.label, 2 + LABEL, subsequent_indent="    ", break_on_hyphens=False)
              for line in part.lines]
    cells = [[max(label, key=len), *(cut(cell, CELL) for cell in (line.sizes, line.value, line.spread))]
             for label, line in zip(labels, part.lines)]
    has_ranges = any(line.spread for line in part.lines)
    median, spread, note = card_table.COLUMNS
    head = [part.heading, "", median, spread] if has_ranges else [part.heading, "", "", ""]
    widths = [max(map(len, column)) for column in zip(*([head] if has_ranges else []), *cells)]
    has_notes = has_ranges and any(line.note for line in part.lines)
    lines = [aligned(head, widths) + (note if has_notes else "") if has_ranges else part.heading]
    for line, label, row in zip(part.lines, labels, cells):
        start = aligned([label[0], *row[1:]], widths)
        remarks = textwrap.wrap(line.remark, WIDTH - len(start), break_on_hyphens=False)
        starts = [start, *(more.ljust(len(start)) for more in label[1:])]
        lines += [(before or len(start) * " ") + remark
                  for before, remark in itertools.zip_longest(starts, remarks, fillvalue="")]
    return [line.replace(NO_BREAK, " ").rstrip() for line in lines]


def aligned(cells, widths):
    """Returns cells in columns, without empty columns."""
    return "".join(cell.ljust(width + 2) for cell, width in zip(cells, widths) if width)
