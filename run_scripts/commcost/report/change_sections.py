# SPDX-License-Identifier: BSD-3-Clause
"""Sections of the page about changes from a base, and about varied settings."""

from commcost import command, page
from commcost.compare import best_setting, row_changes
from commcost.compare.side_differences import remarks_of
from commcost.page import Closed, Column, Grid, Items, Section, Text
from commcost.result import row_labels
from commcost.result.result_reader import ResultError
from commcost.words import UNSURE, counted, decimals, six_digits

LONG_TABLE = 30     # min rows of a table that is closed at first
# Classes of rows by verdict, in the order in which they are shown; "" is for all others.
CLASSES = ("loses", "differs", "pays", "")
CLASS_OF = {row_changes.SLOWER: "loses", row_changes.FAILED: "loses", row_changes.MISSING: "differs",
            row_changes.ADDED: "differs",
            row_changes.FASTER: "pays"}


def changes_from(base, new):
    """Returns the Changes from a base, or none if nothing can be compared, and the sections about them."""
    try:
        comparison = row_changes.compare_sides(([base], [new]), row_changes.Limits(0.01, 5.0, 0.95))
    except ResultError as error:
        return [], [comparison_section(None, str(error))]
    return comparison.changes, [comparison_section(comparison, "")]


def comparison_section(comparison, refused):
    """Returns the Section of a row_changes.Comparison, slower rows first, in descending order of change, or of the
    reason why nothing can be compared."""
    if refused:
        return Section("comparison", "Changes, row by row", [Text(f"Nothing can be compared: {refused}.")])
    parts = [Text("Each row against the base, as bench_compare does: the change with its interval, and the probability "
                  "of so large a difference by chance (p).")]
    graded = sorted(comparison.changes, key=lambda change: (CLASSES.index(CLASS_OF.get(change.verdict, "")),
                                                            -abs(change.change_pct or 0)))
    changed = [change for change in graded if change.verdict in CLASS_OF]
    same, more = graded[len(changed):], changed[LONG_TABLE:]
    if changed:
        parts.append(grid_of_changes(changed[:LONG_TABLE]))
    if more:
        parts.append(Closed("more_changes", f"{len(more)} more changes", [grid_of_changes(more)]))
    if same:
        parts.append(Closed("same", f"Same, or not clear: {counted(len(same), 'row')}", [grid_of_changes(same)]))
    remarks = [*remarks_of(comparison.differences, True), *(text for _, text in comparison.remarks)]
    if remarks:
        parts.append(Closed("other_differences", f"Other differences: {len(remarks)}", [Items(remarks, "warnings")]))
    return Section("comparison", "Changes, row by row", parts)


def grid_of_changes(changes):
    columns = [*map(Column, ("benchmark", "row", "quantity")), *(Column(*names, True) for names in (
        ("base", ""), ("new", ""), ("change", ""), ("range", "change range"), ("p", ""))), Column("verdict")]

    def cells(change):
        unit, series = "" if change.points else " %", change.series
        return [series.schema.benchmark, row_labels.named_keys(series), series.quantity, six_digits(change.base),
                six_digits(change.new), "NA" if change.change_pct is None else f"{change.change_pct:+.1f}{unit}",
                "NA" if change.interval is None else "{:+.1f} to {:+.1f}".format(*change.interval) + unit,
                "NA" if change.corrected_p is None else f"{change.corrected_p:.2g}", change.verdict]

    return Grid(columns, [page.Row(list(map(command.plain, cells(change))), kind=CLASS_OF.get(change.verdict, ""))
                          for change in changes], "rows compare")


def settings_section(best):
    """Returns the Section of the best setting, row by row."""
    settings = list(dict.fromkeys(name for row in best for name in row.medians))
    columns = [*map(Column, ("benchmark", "row", "quantity", "best")),
               Column("ahead of the second (% or points)", "gain", True), Column("p", "", True),
               *(Column(name, f"setting {name}", True) for name in settings)]
    grid = Grid(columns, [page.Row(
        [row.schema.benchmark, row_labels.named_keys(row), row.quantity, row.name if row.sure else UNSURE,
         decimals(row.gain_pct, 1), f"{row.p:.3g}", *(six_digits(row.medians.get(name)) for name in settings)],
        kind="pays" if row.sure else "") for row in best])
    summary = f"{sum(row.sure for row in best)} of {counted(len(best), 'row')} have a best setting"
    return Section("settings", "Best setting, row by row", [
        Text("Medians over launches. The best setting is better than every other one in most runs, and by a test: the "
             "rank-sum test over launches, or the signed-rank test over launches of the same run. p is corrected for "
             f"both tests, all pairs and all rows, and at most {best_setting.ALPHA:g}."),
        *([Text(f"{summary}."), grid] if len(best) <= LONG_TABLE else [Closed("all_settings", summary, [grid])])])
