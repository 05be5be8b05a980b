# SPDX-License-Identifier: BSD-3-Clause
"""Lines about changes from a base, and about the best of varied settings."""

from commcost.compare import best_setting, row_changes
from commcost.result.row_labels import named_keys
from commcost.scorecard.fact_lines import Line
from commcost.words import UNSURE, counted, grouped


def changes_by_verdict(changes):
    """Yields the number of rows by verdict, and the largest change of slower and of faster rows."""
    for verdict in row_changes.VERDICTS:
        several = [change for change in changes if change.verdict == verdict]
        sized = several if verdict in (row_changes.SLOWER, row_changes.FASTER) else []
        if several:
            yield count_line(verdict.capitalize(), several, changes, most_of(
                [(change.change_pct or 0, change.points, change.series) for change in sized], "+"))


def best_settings(best):
    """Yields the number of rows in which each setting is best, or no setting is."""
    found = grouped([row for row in best if row.sure], lambda row: row.name)
    for rows in sorted(found, key=lambda rows: (-len(rows), rows[0].name)):
        yield count_line(rows[0].name, rows, best, most_of([(row.gain_pct or 0, row.points, row) for row in rows]))
    for reason, unsure in best_setting.unclear(best).items():
        yield count_line(UNSURE.capitalize(), unsure, best, reason)


def count_line(name, several, every, note):
    return Line(name, f"{len(several)} of {counted(len(every), 'result')}", note=note)


def most_of(sizes, sign=""):
    """Returns the largest of changes (size, True if in points, row) as text, or "" without any."""
    size, points, row = max(sizes, key=lambda one: abs(one[0]), default=(None, None, None))
    return "" if row is None else (f"at most {size:{sign}.3g} {'points' if points else '%'}: "
                                   f"{row.schema.benchmark} {row.quantity} ({named_keys(row)})")
