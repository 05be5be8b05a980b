"""The scorecard: results at a glance, one fact per line.

It can be shown as text (quickstart.sh, report_text.sh --short), Markdown and HTML (report.py). Its texts are in
card_table.py, its questions in cost_lines.py and gain_lines.py.
"""

import re
import typing

from commcost.result.row_labels import further
from commcost.scorecard import card_table
from commcost.scorecard.card_title import title_of
from commcost.scorecard.caveats import LOST_PCT, VARIANTS, caveats_of
from commcost.scorecard.change_lines import best_settings, changes_by_verdict
from commcost.scorecard.cost_lines import QUESTIONS, slow_links, time_in_mpi
from commcost.scorecard.gain_lines import gains
from commcost.scorecard.guideline_lines import slow_collectives
from commcost.words import UNSURE, cut

VALUE = 40     # max characters of a further key's value


class Part(typing.NamedTuple):
    """Lines under a heading."""

    heading: str
    lines: list


class Scorecard(typing.NamedTuple):
    """A head line, Parts, and caveats: texts, maybe followed by a command on a separate line."""

    title: str
    parts: list
    caveats: list


def card_of(tables, best=(), changes=()):
    """Returns the Scorecard of results. `best` are the best of varied settings by row (best_setting.Best); with them
    other questions are left out, since they would use each row once per setting. `changes` are from a base
    (row_changes.Change)."""
    lines = {card_table.CHANGES: changes_by_verdict(changes), card_table.BEST: best_settings(best)}
    if not best:
        variants = tables.variants()[:VARIANTS]
        lines.update({heading: (named(line, keys) for question in questions for keys, part in variants
                                for line in question(part)) for heading, questions in (
            (card_table.COSTS, QUESTIONS), (card_table.TIMES, (time_in_mpi,)),
            (card_table.LINKS, (slow_links,)), (card_table.GUIDELINES, (slow_collectives,)),
            (card_table.GAINS, (gains,)))})
    lost = disturbed(tables)
    parts = [Part(heading, [marked(line, lost) for line in several]) for heading, several in lines.items()]
    parts = [part for part in parts if part.lines]
    return Scorecard(title_of(tables), parts, list(caveats_of(tables, parts, lost)))


def named(line, keys):
    """Returns the line, with the further keys that distinguish its rows from others."""
    words = [key.label(cut(keys[key.column], VALUE)) for key in further(keys) if keys[key.column] != "NA"]
    return line._replace(label=", ".join([line.label, *(
        word for word in words if not re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", line.label))]))


def disturbed(tables):
    """Returns the identities of rows that lost more than LOST_PCT in the median over launches, since a single
    interruption is a large part of a short row. Ignores rows of noise: interruptions are their result."""
    return {row.identity for kind in tables.kinds() if kind != "noise" for row in tables.rows(kind)
            if (row.median("lost_pct") or 0) > LOST_PCT}


def marked(line, lost):
    """Returns the line, with a note if at least half of its rows are disturbed."""
    if not line.rows or 2 * len(lost.intersection(line.rows)) < len(set(line.rows)):
        return line
    note = "" if line.value == UNSURE else line.note
    return line._replace(note="; ".join(filter(None, [note, card_table.DISTURBED])))
