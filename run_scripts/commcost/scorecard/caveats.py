# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the answers: failed settings, wrong data, disturbances, too few launches, warnings."""

from commcost.compare import best_setting
from commcost.result.intervals import LAUNCHES_ENOUGH
from commcost.result.tables import NEW
from commcost.scorecard import card_table, program_warnings
from commcost.scorecard.card_title import HOSTS, launches_of, seconds_of
from commcost.suite import suite_options
from commcost.words import UNSURE, counted, duration_text, listed

LOST_PCT = 10  # of the time; with more, intervals may miss the true value
UNSTEADY = 2   # min ratio of the max to the min of an unsteady row's launches
VARIANTS = 8   # max variants, rows that differ in keys which no question uses


def caveats_of(tables, parts, lost):
    """Yields sentences about failed settings, wrong data, disturbances, unclear answers with a remedy, and warnings."""
    yield from best_setting.failures(tables.paths[NEW])
    yield from program_warnings.checkup_findings(tables.paths[NEW])
    variants = tables.variants()
    if len(variants) > VARIANTS:
        keys = dict.fromkeys(key for keys, _ in variants for key in keys)
        yield card_table.MORE_KEYS.format(listed(keys, HOSTS), VARIANTS, len(variants))
    rows = [(kind, row) for kind in tables.kinds() for row in tables.rows(kind)]
    yield from program_warnings.wrong_data(row for _, row in rows)
    judged = sum(kind != "noise" for kind, _ in rows)
    if lost:
        yield card_table.LOST_TIME.format(len(lost), counted(judged, "result"), LOST_PCT)
    # If a fifth of the rows vary in their first quantity. Programs and interruptions always vary.
    values = [list(map(float, row.texts(quantity))) for kind, row in rows if kind not in ("noise", "mpirtmon")
              for quantity in tables.of(NEW, kind)[0].quantities[:1]]
    apart = [of_row for of_row in values if of_row and 0 < UNSTEADY * min(of_row) < max(of_row)]
    if 5 * len(apart) > len(values):
        yield card_table.UNSTEADY.format(len(apart), counted(len(values), "result"), UNSTEADY)
    launches = launches_of(tables)
    is_unsure = any(line.value == UNSURE for part in parts for line in part.lines)
    if 5 * len(lost) <= judged and is_unsure and launches < 2 * LAUNCHES_ENOUGH:
        runs = 2 * launches if launches >= LAUNCHES_ENOUGH else LAUNCHES_ENOUGH
        seconds = seconds_of(tables) * (runs - launches) / launches
        yield card_table.DECIDE.format(f" ({duration_text(seconds)})" if seconds else "",
                                       suite_options.resume_command(tables.paths[NEW], f"--runs={runs}"))
    warnings = program_warnings.warnings_of(tables)
    if warnings:
        yield card_table.PROGRAM_WARNINGS.format(counted(len(warnings), "warning"))


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
