# SPDX-License-Identifier: BSD-3-Clause
"""summary.tsv: the rows of all benchmarks over all launches, for spreadsheets and scripts: a header row and rows,
tab-separated, without comments. It has a column for each key, and a row for each quantity of a row or (wide) a column
for each quantity. Several folders are distinguished by a column.
"""

import math
import os
import re
import typing

from commcost.result import rank_test
from commcost.result.benchmarks import unit_of
from commcost.result.intervals import CONFIDENCE
from commcost.result.launches import Series, Values, key_columns, read_launches
from commcost.result.result_files import labels_of
from commcost.result.result_reader import Result, ResultError, cell_text
from commcost.words import parsed_number, six_digits

MIXTURES_MAX = 5
FOLDER = "results"  # name of this column
OF_A_QUANTITY = ("quantity", "unit", "median", "lo", "hi", "min", "max")
OF_A_ROW = ("launches", "status")


class Line(typing.NamedTuple):
    """A quantity of a row. The interval is that of the median over launches, None with fewer than six."""

    series: Series
    values: Values
    median: typing.Optional[float]
    interval: tuple
    of_the_row: dict  # by column: benchmark, folder if there are several, the row's keys, launches and status


def lines_of(launches, folder=""):
    """Returns the Lines of all quantities. A quantity that a row never has is omitted if the row has others. `folder`
    is its label if there are several."""
    of_all = {FOLDER: folder} if folder else {}
    found = [(series, launches.values(series, 0)) for series in launches.series.values()]
    measured = {(series.schema, series.keys) for series, values in found if values.values}
    return [Line(series, values, rank_test.median(values.values),
                 rank_test.median_interval(values.values, CONFIDENCE) or (None, None),
                 {"benchmark": series.schema.benchmark, **of_all, **dict(zip(series.schema.keys, series.keys)),
                  "launches": values.launches, "status": launches.statuses[series.schema, series.keys]})
            for series, values in found
            if values.launches and (values.values or (series.schema, series.keys) not in measured)]


def table_of(lines):
    """Returns the columns, and a row for each quantity (cells by column). Numbers are floats, NA is None."""
    rows = []
    for line in lines:
        quantity, values = line.series.quantity, line.values.values
        rows.append({**line.of_the_row, **dict(zip(OF_A_QUANTITY, (
            quantity, unit_of(quantity), line.median, *line.interval,
            min(values, default=None), max(values, default=None))))})
    return [*columns_before(lines), *OF_A_QUANTITY, *OF_A_ROW], rows


def wide_table_of(lines):
    """Returns the columns and rows of the wide table: the medians of all quantities of a row."""
    # A quantity of some rows may be a key of others, such as a size that launches chose.
    columns = dict.fromkeys([*columns_before(lines), *(line.series.quantity for line in lines), *OF_A_ROW])
    rows = {}
    for line in lines:
        row = rows.setdefault((line.of_the_row.get(FOLDER), line.series.schema, line.series.keys),
                              dict(line.of_the_row))
        row[line.series.quantity] = line.median
    return list(columns), list(rows.values())


def columns_before(lines):
    own = ["benchmark", *([FOLDER] if FOLDER in lines[0].of_the_row else [])]
    return own + key_columns((line.series.schema for line in lines), (*own, *OF_A_QUANTITY, *OF_A_ROW))


def text_of(lines, decimal=".", is_wide=False):
    """Returns the table as text. `decimal` is the decimal sign."""
    def cell(value):
        text = "NA" if value is None else six_digits(value) if isinstance(value, float) else cell_text(str(value))
        if parsed_number(text) is not None:
            return text.replace(".", decimal)
        # Spreadsheets take 2-3, 1/2 and 1,4 for dates or numbers unless quoted.
        return f'"{text}"' if re.fullmatch("[0-9][-0-9,.:/]*", text) else text
    columns, rows = (wide_table_of if is_wide else table_of)(lines)
    cells = [columns, *([row.get(column, "") for column in columns] for row in rows)]
    return "".join("\t".join(map(cell, line)) + "\n" for line in cells)


def read_lines(paths, opened=Result):
    """Returns the Lines of results and folders, and remarks. ResultError if any isn't a result."""
    paths = list(dict.fromkeys(paths))
    are_apart = len(paths) > 1 and any(map(os.path.isdir, paths))
    lines, notes, warnings = [], [], []
    for several, folder in zip([[path] for path in paths], labels_of(paths)) if are_apart else [(paths, "")]:
        launches = read_launches(several, opened=opened)
        lines += lines_of(launches, folder)
        notes += launches.notes
        warnings += launches.warnings + launches.mixtures[:MIXTURES_MAX]
    if not lines:
        why = warnings[-1] if warnings else "no column of its rows is a result"
        raise ResultError(f"{paths[0]:.200}: no values: {why}")
    remarks = [f"note: {text}" for text in notes] + [f"warning: {text}" for text in warnings]
    few = sum(line.interval[0] is None for line in lines)
    if few:
        remarks.append(f"note: {few} of {len(lines)} quantities have no interval (fewer than 6 launches): "
                       "use run_suite.sh --runs=6")
    return lines, remarks


def summarize(paths, decimal=".", is_wide=False, opened=Result):
    """Returns the summary as a table, and remarks, from read_lines."""
    lines, remarks = read_lines(paths, opened)
    return text_of(lines, decimal, is_wide), remarks
