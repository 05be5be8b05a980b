# SPDX-License-Identifier: BSD-3-Clause
"""All rows of a benchmark, in a closed part of the page. Values are medians over launches, with their ranges."""

from commcost.page import Closed, Column, Text, grid_of
from commcost.result import benchmarks
from commcost.result.result_reader import status_rank
from commcost.result.tables import BASE, NEW, sorted_numbers, median_text, rows_by_key
from commcost.words import counted, grouped, is_number

STATUSES = {"budget": "time was up before the interval was narrow enough",
            "max-size": "no size took the cutoff time", "no-knee": "no host overhead found in the time",
            "FAIL": "wrong data"}


def closed(tables, group, kinds):
    """Returns the rows of a group of kinds (plot.groups_of), with an explanation."""
    entry, rows = benchmarks.entry_of(group), [row for kind in kinds for row in rows_by_key(tables, kind)]
    keys = benchmarks.headings_of(kinds[0], dict.fromkeys(key for row in rows for key in row.keys))
    if group == "noise":  # launches find different sources
        rows = [row for of_scope in grouped(rows, lambda row: row.keys.get("scope")) for row in of_scope]
    return Closed(group, f"{entry.heading}: {counted(len(rows), 'row')}",
                  [Text(entry.text.replace("\n", " ")), *(table_of(entry, keys, rows) if rows else [])])


def table_of(entry, keys, rows):
    """Returns the parts that show rows: the keys that all share, and the table."""
    everywhere, columns = [], {}
    for place, (name, heading) in enumerate(keys.items()):
        values = [row.keys.get(name, "NA") for row in rows]
        if len(set(values)) == 1 and not (len(rows) == 1 and place == 0):
            everywhere += [f"{heading} {values[0]}"] if values[0] != "NA" else []
        else:
            columns[Column(heading, name, all(is_number(value) or value == "NA" for value in values))] = values
    for value in entry.values:
        if not value.optional or any(row.texts(value.column, side) for row in rows for side in (NEW, BASE)):
            columns.update(columns_of(value, rows))
    for name, heading in entry.words.items():
        texts = [words_of(row, name) for row in rows]
        columns.update({Column(heading, name): texts} if any(texts) else {})
    most = max(len(row.launches) for row in rows)
    statuses = list(map(status_of, rows))
    if most > 1:
        columns[Column("launches", "", True)] = [len(row.launches) for row in rows]
    if any("status" in cells for row in rows for cells in row.launches + row.base):
        columns[Column("status")] = statuses
    common = f"In all rows: {', '.join(everywhere)}. " if everywhere else ""
    if any(len(row.launches) < most for row in rows):
        kept = "Values are medians over the launches in column launches, ranges min–max. One launch: its interval."
    elif most > 1:
        kept = f"Values are medians over {most} launches, ranges min–max."
    else:
        kept = "One launch: ranges are its confidence intervals, and launches differ by more."
    legend = "".join(f" Status {name}: {meaning}." for name, meaning in STATUSES.items()
                     if any(name in status.split(", ") for status in statuses))
    return [Text(common + kept + legend, small=True), grid_of(columns, rows=[
        (row.identity, "loses" if "FAIL" in status else "") for row, status in zip(rows, statuses)])]


def columns_of(value, rows):
    """Returns the columns of a value, its range, and the base's value if there is one."""
    column = value.column
    columns = {Column(value.heading, column, True): [middle_of(row, column, NEW) for row in rows]}
    ranges = [range_of(row, value) for row in rows]
    if value.has_range or any(" to " in text for text in ranges):
        columns[Column("range", f"{column} range", True)] = ranges
    if any(row.base for row in rows):
        columns[Column("base", f"{column} base", True)] = [middle_of(row, column, BASE) for row in rows]
    return columns


def range_of(row, value):
    """Returns the range over launches, or the interval of a single launch."""
    texts = sorted_numbers(row.texts(value.column))
    if len(texts) > 1:
        return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"
    if not value.has_range or not texts:
        return ""
    cells = next(cells for cells in row.launches if cells.get(value.column) == texts[0])
    low, high = (cells.get(column, "NA") for column in benchmarks.ends_of(value.column))
    return "NA" if low == high == "NA" else f"{low} to {high}"


def middle_of(row, column, side):
    texts = row.texts(column, side)
    if texts:
        return median_text(texts)
    return row.of(side)[0].get(column, "NA") if row.of(side) else "none"


def status_of(row):
    statuses = {cells.get("status", "NA") for cells in row.launches}
    return ", ".join(sorted(statuses, key=status_rank)) or "only in the base"


def words_of(row, column):
    """Returns the launches' words in a column, with counts if they differ, or "" without any."""
    words = [cells[column] for cells in row.launches if cells.get(column, "NA") != "NA"]
    if len(set(words)) < 2:
        return words[0] if words else ""
    return ", ".join(f"{word} ({words.count(word)})" for word in sorted(set(words)))
