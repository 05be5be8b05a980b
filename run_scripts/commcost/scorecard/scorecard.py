# SPDX-License-Identifier: BSD-3-Clause
"""The scorecard: results at a glance, one fact per line.

It can be shown as text (quickstart.sh, report_text.sh --short), Markdown and HTML (report.py). Its texts are in
card_table.py, its questions in cost_lines.py and gain_lines.py.
"""

import typing

from commcost.scorecard import card_table
from commcost.scorecard.card_title import title_of
from commcost.scorecard.caveats import VARIANTS, caveats_of, disturbed, marked
from commcost.scorecard.change_lines import best_settings, changes_by_verdict
from commcost.scorecard.cost_lines import QUESTIONS, slow_links, time_in_mpi
from commcost.scorecard.fact_lines import named
from commcost.scorecard.gain_lines import better_placements, gains, slow_collectives


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
            (card_table.PLACEMENTS, (better_placements,)),
            (card_table.GAINS, (gains,)))})
    lost = disturbed(tables)
    parts = [Part(heading, [marked(line, lost) for line in several]) for heading, several in lines.items()]
    parts = [part for part in parts if part.lines]
    return Scorecard(title_of(tables), parts, list(caveats_of(tables, parts, lost)))
