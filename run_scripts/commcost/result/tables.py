# SPDX-License-Identifier: BSD-3-Clause
"""The rows of results by benchmark, for pictures, reports and costs.

Unlike in a comparison, files may lack metadata, and truncated files are used. Files of unknown benchmarks are left out.
"""

import copy
import itertools
import os
import re
import typing

from commcost.command import UsageError, complain, plain
from commcost.result import benchmarks, rank_test, result_metadata
from commcost.result.intervals import measured, launch_median
from commcost.result.result_files import (files_below, is_made, has_setting, labels_of, launch_files, outer_links,
                                          result_files, unknown_files)
from commcost.result.result_reader import PATH_SHOWN, Result, ResultError, worst_status
from commcost.words import is_number, parsed_number

NEW, BASE = "new", "base"
ROWS_MAX = 50000  # of all files: more don't fit a readable page, and rows are held in memory


class Table(typing.NamedTuple):
    """The contents of a file. A row is its cells by column."""

    side: str      # NEW or BASE
    kind: str      # from benchmarks.kind_of
    name: str      # of the file, without .tsv
    metadata: dict  # values by key
    remarks: list
    is_cut_off: bool
    rows: list
    keys: list     # columns that distinguish rows, except `run`
    is_merged: bool  # rows are of several launches, distinguished by `run`
    path: str
    quantities: list


class Tables:
    """One result, or a new one and its base.

    tables  of all files
    labels  of the results, by side
    paths   by side
    left    remarks about files that are left out, or that differ but share rows
    opened  opens a result: Result or KeptResults.opened
    apart   by kind: keys that differing metadata add to rows (the metadata's key by column)
    """

    def __init__(self, paths, opened=Result):
        """Reads the results. UsageError for a path that doesn't exist, ResultError for a broken file. Broken files of a
        folder are left out."""
        self.tables, self.left, self._digests, self._rows, self.apart = [], [], {}, {}, {}
        self.opened = opened
        self.paths = dict(zip((NEW, BASE), paths))
        self.labels = dict(zip((NEW, BASE), map(plain, labels_of(paths))))
        for side, path in self.paths.items():
            files = files_of(path)
            self.left += outer_links(path) + unknown_files(files) if os.path.isdir(path) else []
            for file in files:
                try:
                    self._add(side, file)
                except ResultError as error:
                    if file == path:
                        raise
                    self.left.append(f"{plain(str(error))}: left out")
        if not self.kinds():
            raise ResultError(f"{paths[0]:.{PATH_SHOWN}}: no results of benchmarks" +
                              "".join(f"; {text}" for text in outer_links(paths[0])))
        for kind in dict.fromkeys(table.kind for table in self.tables):
            self._add_keys(kind)

    def _add(self, side, file):
        if os.path.isfile(file) and is_made(file):
            return
        with self.opened(file) as result:
            left = ROWS_MAX - sum(len(table.rows) for table in self.tables)
            rows = [dict(zip(result.header, map(plain, cells))) for cells in itertools.islice(result.rows(), left + 1)]
            if len(rows) > left:
                raise UsageError(f"{file:.{PATH_SHOWN}}: more than {ROWS_MAX} rows: show fewer launches, or use "
                                 "summarize.sh")
            other = self._digests.setdefault((side, result.digest), file)
            if other != file:
                self.left.append(f"{file:.{PATH_SHOWN}}: the same launch as {other:.{PATH_SHOWN}}: counts once")
                return
            kind = benchmarks.kind_of(result, rows[0] if rows else None)
            if kind is None:
                if not result.benchmark.startswith("overlap_"):
                    self.left.append(f"{file:.{PATH_SHOWN}}: no known benchmark, left out")
                return
            benchmarks.name_lines(result, rows)
            name = os.path.splitext(os.path.basename(file))[0]
            self.tables.append(Table(side, kind, plain(name), result.metadata, result.remarks,
                                     result.has_end and result.end is None, rows,
                                     result.keys, result.is_merged, file,
                                     [name for _, name, _ in result.quantities()]))

    def _add_keys(self, kind):
        """Adds keys from the metadata to rows of files that were measured differently."""
        tables, groups = [table for table in self.tables if table.kind == kind], {}
        for number, table in enumerate(tables):
            for cells in table.rows:
                groups.setdefault(tuple((key, cells[key]) for key in table.keys), set()).add(number)
        found = result_metadata.differing({number: (table.side, table.metadata) for number, table in enumerate(tables)},
                                   set(map(frozenset, groups.values())), {name for table in tables
                                                                          for name in next(iter(table.rows), ())})
        self.left += result_metadata.sentences(kind, found, tables)
        self.apart[kind] = {column: key for key, column in found.names.items()}
        for table in tables if found.names else ():
            more = {column: result_metadata.value_of(table.metadata, key) for key, column in found.names.items()}
            table.keys[:0] = more
            for cells in table.rows:
                cells.update(more)

    def only(self, tables):
        """Returns the same results with only these tables."""
        made = copy.copy(self)
        made.tables, made._rows = tables, {}
        return made

    def variants(self):
        """Splits the results into parts whose rows share their further keys, so that a question that ignores these keys
        finds a single row, not a mixture. Returns pairs of these keys, by column, and Tables. A key with one value is
        included only if it is unusual."""
        parts = {}
        for kind in self.kinds():
            rows = self.rows(kind)
            values = {key: {row.keys[key] for row in rows} for key in self.further_keys(kind)}
            varying = [key for key, found in values.items()
                       if len(found) > 1 or not found <= set(benchmarks.USUAL.get(key, found))]
            for row in rows:
                parts.setdefault(tuple((key, row.keys[key]) for key in varying), {}).setdefault(kind, []).append(row)
        return [(dict(keys), self._part(rows)) for keys, rows in parts.items()]

    def _part(self, rows):
        """Returns the same results with only these rows (by kind) and their files."""
        made = copy.copy(self)
        made._rows = rows
        made.tables = [table for table in self.tables if table.kind in rows and all(
            cells[column] == rows[table.kind][0].keys[column]
            for cells in table.rows[:1] for column in self.apart[table.kind])]
        return made

    def further_keys(self, kind):
        """Returns the keys of a kind's rows that no question uses: unknown to benchmarks.ini and not varied by the
        suite, or from the metadata."""
        entry = benchmarks.entry_of(kind)
        known = {benchmarks.SETTING, *entry.names, *entry.hidden}
        return list(dict.fromkeys(key for table in self.tables if table.kind == kind for key in table.keys
                                  if key not in known))

    @property
    def sides(self):
        return list(self.labels)

    def kinds(self):
        return benchmarks.sorted_kinds({table.kind for table in self.tables if table.side == NEW})

    def of(self, side, kind=None):
        return [table for table in self.tables if table.side == side and kind in (None, table.kind)]

    def cells(self, side, kind):
        return [row for table in self.of(side, kind) for row in table.rows]

    def rows(self, kind, **keys):
        """Returns the Rows of a kind with these keys in the new result."""
        if kind not in self._rows:
            self._rows[kind] = rows_by_key(self, kind)
        return [row for row in self._rows[kind] if row.launches and
                all(row.keys.get(column) == value for column, value in keys.items())]

    def measured(self, kind, column, **keys):
        """Returns pairs of a Row and its value in a column (intervals.Measured), for rows that have one."""
        pairs = [(row, measured(row, column)) for row in self.rows(kind, **keys)]
        return [(row, value) for row, value in pairs if value is not None]


def threshold_of(tables):
    """Returns the threshold in percent if all tables have the same in their metadata, otherwise None."""
    found = {table.metadata.get("threshold", ["NA"])[0].rstrip(" %") for table in tables}
    return parsed_number(found.pop()) if len(found) == 1 else None


def files_of(path):
    """Returns the files of a result: itself, or a folder's own *.tsv files, else those in its subfolders and in
    runs/RUN."""
    if not os.path.exists(path):
        raise UsageError(f"{path:.{PATH_SHOWN}}: no such file or folder")
    if not os.path.isdir(path):
        return [path]
    files = result_files(path) or files_below(path) + launch_files(path)
    # Folders of run_suite.sh's own files have no results.
    return [file for file in files if not has_setting(file) and
            not os.path.exists(os.path.join(os.path.dirname(file), "run_again.sh"))]


def read_tables(program, paths, opened=Result):
    """Returns the Tables of a command's results. Prints a line for each file that is left out."""
    tables = Tables(paths, opened)
    for text in tables.left:
        complain(program, text)
    return tables


class Row(typing.NamedTuple):
    """A row of a benchmark over launches."""

    keys: dict      # cells by column
    launches: list  # cells by column, for each launch of the new result (middle_of_rows)
    base: list      # the same for the base
    identity: str   # unique name of the row within a page
    runs: list      # numbers of the launches in `launches`

    def texts(self, column, side=NEW):
        """Returns a side's numbers in a column, as written, without wrong data."""
        found = [cells.get(column, "NA") for cells in self.of(side) if cells.get("status") != "FAIL"]
        return [text for text in found if is_number(text)]

    def numbers(self, column):
        """Returns the new result's numbers in a column, by launch, without wrong data."""
        return {run: float(cells[column]) for run, cells in zip(self.runs, self.launches)
                if cells.get("status") != "FAIL" and is_number(cells.get(column, "NA"))}

    def saved_pct(self, other, column, whole=None):
        """Returns the saving over another row in a column, in percent of that row's column `whole` (default: the same
        column), as a Measured, or None if no launch has both. Compares within launches, so states of the machine that
        last for a launch cancel."""
        own, others, wholes = self.numbers(column), other.numbers(column), other.numbers(whole or column)
        return launch_median([100 * (others[run] - own[run]) / wholes[run]
                             for run in own if run in others and wholes.get(run, 0) > 0])

    def of(self, side):
        return self.launches if side == NEW else self.base

    def median(self, column):
        return rank_test.median(map(float, self.texts(column)))

    def size(self, column="size_bytes"):
        """Returns a size: a key of the row (0 for NA), or the size that launches chose."""
        if column in self.keys:
            return float(self.keys[column]) if is_number(self.keys[column]) else 0.0
        return self.median(column) or 0.0


def rows_by_key(tables, kind):
    every = [table for side in tables.sides for table in tables.of(side, kind)]
    all_keys = list(dict.fromkeys(key for table in every for key in table.keys))
    columns = list(benchmarks.headings_of(kind, all_keys))
    columns += [key for key in all_keys if key not in columns]
    found = {}
    for number, table in enumerate(every):
        telling = [column if column in table.keys else None for column in columns]
        for cells in table.rows:
            keys = tuple(cells.get(column, "NA") for column in telling)
            launches = found.setdefault(keys, {NEW: {}, BASE: {}})[table.side]
            launches.setdefault((number, cells.get("run") if table.is_merged else None), []).append(cells)
    rows = []
    for place, (keys, sides) in enumerate(found.items(), 1):
        launches, base = (list(map(middle_of_rows, sides[side].values())) for side in (NEW, BASE))
        first = (launches or base)[0]
        shown = {column: first.get(column, "NA") if cell == "NA" else cell for column, cell in zip(columns, keys)
                 if column not in benchmarks.entry_of(kind).hidden or column in benchmarks.entry_of(kind).names}
        rows.append(Row(shown, launches, base, f"{kind}-{place}", list(sides[NEW])))
    return rows


def middle_of_rows(rows):
    """Returns a launch's cells by column: medians of repeated rows, without wrong data, and the worst status."""
    if len(rows) == 1:
        return rows[0]
    good = [cells for cells in rows if cells.get("status") != "FAIL"] or rows
    texts = {column: [cells[column] for cells in good if is_number(cells[column])] for column in rows[0]}
    made = {column: median_text(numbers) if numbers else good[0][column] for column, numbers in texts.items()}
    if "status" in made:
        made["status"] = worst_status(cells["status"] for cells in rows)
    return made


def sorted_numbers(texts):
    return sorted(texts, key=float)


def median_text(texts):
    """Returns the median of numbers as text: one of them, or the mean of two with their number of decimals."""
    ordered = sorted_numbers(texts)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    two = ordered[middle - 1:middle + 1]
    decimals = max(len(text.partition(".")[2]) for text in two)
    mean = sum(map(float, two)) / 2
    return f"{mean:.{decimals}f}" if decimals and not re.search("[eE]", "".join(two)) else f"{mean:.10g}"
