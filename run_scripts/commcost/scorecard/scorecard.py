"""The scorecard: what results say at one look, one fact a line.

It is one value, shown as text (quickstart.sh, report_text.sh --short), in Markdown and in HTML (report.py). What it
says is in cost_lines.py and gain_lines.py, a function for each question.
"""

import re
import typing

from commcost.result.row_labels import further
from commcost.scorecard.card_limits import LOST_PCT, VARIANTS, limits_of
from commcost.scorecard.card_title import title_of
from commcost.scorecard.change_lines import what_changed, which_is_best
from commcost.scorecard.cost_lines import COSTS, slow_links, where_time_went
from commcost.scorecard.fact_lines import Part
from commcost.scorecard.gain_lines import does_it_pay
from commcost.words import UNSURE, cut

VALUE = 40     # letters of such a key


class Scorecard(typing.NamedTuple):
    """`title` says of which machine it is; `mind` what limits all that is said: texts, behind which a command may
    stand, on a line of its own."""

    title: str
    parts: list
    mind: list


def card_of(tables, best=(), changes=()):
    """The Scorecard of results. `best` has what varied settings make of rows (best_setting.Best): other questions would count
    each row once a setting; `changes` those from a base (row_changes.Change)."""
    lines = {"What changed": what_changed(changes), "Best setting": which_is_best(best)}
    if not best:
        variants = tables.variants()[:VARIANTS]
        lines.update({heading: (named(line, keys) for question in questions for keys, part in variants
                                for line in question(part)) for heading, questions in (
            ("What it costs", COSTS), ("Where the time went", (where_time_went,)),
            ("Which node or link is slow?", (slow_links,)), ("Does it pay?", (does_it_pay,)))})
    lost = disturbed(tables)
    parts = [Part(heading, [marked(line, lost) for line in several]) for heading, several in lines.items()]
    parts = [part for part in parts if part.lines]
    return Scorecard(title_of(tables), parts, list(limits_of(tables, parts, lost)))


def named(line, keys):
    """The line, with the further keys by which the rows that it rests on differ from others."""
    words = [key.label(cut(keys[key.column], VALUE)) for key in further(keys) if keys[key.column] != "NA"]
    return line._replace(what=", ".join([line.what, *(
        word for word in words if not re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", line.what))]))


def disturbed(tables):
    """The identities of rows that lost more than LOST_PCT by the median of launches: one interruption is much of a short
    row's time. What noise finds of that is its result."""
    return {row.identity for kind in tables.kinds() if kind != "noise" for row in tables.rows(kind)
            if (row.median("lost_pct") or 0) > LOST_PCT}


def marked(line, lost):
    """The line, with a note where half of its rows or more are disturbed."""
    if not line.rows or 2 * len(lost.intersection(line.rows)) < len(set(line.rows)):
        return line
    return line._replace(note="; ".join(filter(None, ["" if line.typical == UNSURE else line.note, "disturbed"])))
