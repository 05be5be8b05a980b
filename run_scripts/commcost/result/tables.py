"""The rows of results by benchmark, as pictures and reports show them.

Unlike for a comparison, files may be without metadata, and those that were cut off count; a file
that is of no benchmark is left out.
"""

import copy
import itertools
import os
import re
import typing

from commcost.command import UsageError, complain, plain
from commcost.result import benchmarks, rank_test, result_metadata
from commcost.result.intervals import measured, over_launches
from commcost.result.result_files import (files_below, is_made, is_of_a_setting, labels_of, launch_files, links_out,
                                          result_files, unknown_beside)
from commcost.result.result_reader import PATH_SHOWN, Result, ResultError, worst_status
from commcost.words import is_number, parsed_number

NEW, BASE = "new", "base"
ROWS_MAX = 50000  # of all files: more is no page for a reader, and rows are held in memory


class Table(typing.NamedTuple):
    """The contents of a file. A row is its cells by column."""

    side: str      # NEW or BASE
    kind: str      # benchmarks.kind_of
    name: str      # the file's, without .tsv
    metadata: dict  # each key's values
    remarks: list
    is_cut_off: bool
    rows: list
    keys: list     # the columns that tell rows apart, except `run`
    is_merged: bool  # rows are of several launches, which `run` tells apart
    path: str
    quantities: list


class Tables:
    """One result, or a new one and its base.

    tables  of all files
    labels  what the results are called, by side: the last parts of their paths, or where these are the same the paths
    paths   where they are, by side
    left    remarks about files that were left out, or that rows are made of though they differ
    opened  opens a result: Result, or KeptResults.opened
    apart   by kind, the keys that rows have from the metadata, since files differ in it: the metadata's by the column
    """

    def __init__(self, paths, opened=Result):
        """Reads them, by Result or KeptResults.opened; UsageError for what isn't there, ResultError for a file that is
        broken. Of a folder such files are left out."""
        self.tables, self.left, self._digests, self._rows, self.apart = [], [], {}, {}, {}
        self.opened = opened
        self.paths = dict(zip((NEW, BASE), paths))
        self.labels = dict(zip((NEW, BASE), map(plain, labels_of(paths))))
        for side, path in self.paths.items():
            files = files_of(path)
            self.left += links_out(path) + unknown_beside(files) if os.path.isdir(path) else []
            for file in files:
                try:
                    self._add(side, file)
                except ResultError as error:
                    if file == path:
                        raise
                    self.left.append(f"{plain(str(error))}. It is left out")
        if not self.kinds():
            raise ResultError(f"{paths[0]:.{PATH_SHOWN}}: no results of benchmarks in there" +
                              "".join(f"; {text}" for text in links_out(paths[0])))
        for kind in dict.fromkeys(table.kind for table in self.tables):
            self._tell_apart(kind)

    def _add(self, side, file):
        if os.path.isfile(file) and is_made(file):
            return
        with self.opened(file) as result:
            left = ROWS_MAX - sum(len(table.rows) for table in self.tables)
            rows = [dict(zip(result.header, map(plain, cells))) for cells in itertools.islice(result.rows(), left + 1)]
            if len(rows) > left:
                raise UsageError(f"{file:.{PATH_SHOWN}}: more than {ROWS_MAX} rows in all: show "
                                 "fewer launches, or use summarize.sh, which reads any number")
            other = self._digests.setdefault((side, result.digest), file)
            if other != file:
                self.left.append(f"{file:.{PATH_SHOWN}}: the same launch as {other:.{PATH_SHOWN}}: counts once")
                return
            kind = benchmarks.kind_of(result, rows[0] if rows else None)
            if kind is None:
                if not result.benchmark.startswith("overlap_"):
                    self.left.append(f"{file:.{PATH_SHOWN}}: not a result of a benchmark, left out")
                return
            name = os.path.splitext(os.path.basename(file))[0]
            self.tables.append(Table(side, kind, plain(name), result.metadata, result.remarks,
                                     result.has_end and result.end is None, rows,
                                     result.keys, result.is_merged, file,
                                     [name for _, name, _ in result.quantities()]))

    def _tell_apart(self, kind):
        """Gives rows of files that were measured otherwise further keys, the metadata that tell."""
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
        """The same results with some of their tables."""
        made = copy.copy(self)
        made.tables, made._rows = tables, {}
        return made

    def variants(self):
        """The same results in parts, in which rows don't differ in further keys: pairs of these keys, by column, and
        Tables. So what a question finds by the keys that it knows is one row, and no mixture of several. A key that is
        the same in all rows is named only where it isn't the usual one."""
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
        """The same results with some of their rows, by kind, and the files that these are from."""
        made = copy.copy(self)
        made._rows = rows
        made.tables = [table for table in self.tables if table.kind in rows and all(
            cells[column] == rows[table.kind][0].keys[column]
            for cells in table.rows[:1] for column in self.apart[table.kind])]
        return made

    def further_keys(self, kind):
        """The keys of a kind's rows that no question about it names: what a suite didn't vary, benchmarks.ini doesn't
        list, or only the metadata have."""
        entry = benchmarks.entry_of(kind)
        known = {benchmarks.SETTING, *entry.names, *entry.hidden}
        return list(dict.fromkeys(key for table in self.tables if table.kind == kind for key in table.keys
                                  if key not in known))

    @property
    def sides(self):
        """The results that there are."""
        return list(self.labels)

    def kinds(self):
        """The kinds of the new result, in the order in which they are shown."""
        return benchmarks.in_order({table.kind for table in self.tables if table.side == NEW})

    def of(self, side, kind=None):
        """The tables of a side, of all kinds or one."""
        return [table for table in self.tables if table.side == side and kind in (None, table.kind)]

    def cells(self, side, kind):
        """The rows of all files of a side and kind, as they are."""
        return [row for table in self.of(side, kind) for row in table.rows]

    def rows(self, kind, **keys):
        """The Rows of a kind with these keys that the new result has."""
        if kind not in self._rows:
            self._rows[kind] = rows_by_key(self, kind)
        return [row for row in self._rows[kind] if row.launches and
                all(row.keys.get(column) == value for column, value in keys.items())]

    def measured(self, kind, column, **keys):
        """Pairs of a Row and what it measured in a column (intervals.Measured), where there is a value."""
        pairs = [(row, measured(row, column)) for row in self.rows(kind, **keys)]
        return [(row, value) for row, value in pairs if value is not None]


def threshold_of(tables):
    """The threshold in percent that all tables have in their metadata; None where they don't."""
    said = {table.metadata.get("threshold", ["NA"])[0].rstrip(" %") for table in tables}
    return parsed_number(said.pop()) if len(said) == 1 else None


def files_of(path):
    """The files of a result: itself, or of a folder its own *.tsv files, or if it has none, those
    in its folders and in RUN of its folder `runs`."""
    if not os.path.exists(path):
        raise UsageError(f"{path:.{PATH_SHOWN}}: no such file or folder")
    if not os.path.isdir(path):
        return [path]
    files = result_files(path) or files_below(path) + launch_files(path)
    # run_suite.sh's own are no results.
    return [file for file in files if not is_of_a_setting(file) and
            not os.path.exists(os.path.join(os.path.dirname(file), "run_again.sh"))]


def read_tables(program, paths, opened=Result):
    """The Tables of a command's results, with a line on stderr for each file that is left out."""
    tables = Tables(paths, opened)
    for text in tables.left:
        complain(program, text)
    return tables


class Row(typing.NamedTuple):
    """A row of a benchmark, as launches found it."""

    keys: dict      # cells by column
    launches: list  # cells by column of each launch of the new result (middle_of_rows)
    base: list      # the same of the base
    identity: str   # what the row is called within a page
    runs: list      # which launches those of the new result are

    def texts(self, column, side=NEW):
        """The numbers that launches of a side have in a column, as they are written; not those of wrong data."""
        found = [cells.get(column, "NA") for cells in self.of(side) if cells.get("status") != "FAIL"]
        return [text for text in found if is_number(text)]

    def numbers(self, column):
        """The numbers that launches of the new result have in a column, by launch; not those of wrong data."""
        return {run: float(cells[column]) for run, cells in zip(self.runs, self.launches)
                if cells.get("status") != "FAIL" and is_number(cells.get(column, "NA"))}

    def saved_pct(self, other, column, whole=None):
        """What this row takes less than another one of its kind in a column, in percent of the other's column `whole`, by
        default the same: a Measured, None without a launch that has both. Each launch is compared with itself, so a
        state of the machine that lasts for a launch cancels."""
        own, others, wholes = self.numbers(column), other.numbers(column), other.numbers(whole or column)
        return over_launches([100 * (others[run] - own[run]) / wholes[run]
                              for run in own if run in others and wholes.get(run, 0) > 0])

    def of(self, side):
        return self.launches if side == NEW else self.base

    def median(self, column):
        """The median of the numbers in a column; None without any."""
        return rank_test.median(map(float, self.texts(column)))

    def size(self, column="size_bytes"):
        """A size: a key of the row (0 for NA), or what launches chose for it."""
        if column in self.keys:
            return float(self.keys[column]) if is_number(self.keys[column]) else 0.0
        return self.median(column) or 0.0


def rows_by_key(tables, kind):
    """The Rows of a kind, in the order in which they are met. Each file says which of its columns are keys."""
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
    """What a launch found for a row: the cells by column, where it has the row several times the
    medians of those that hold numbers and the worst status. What is of wrong data doesn't count."""
    if len(rows) == 1:
        return rows[0]
    good = [cells for cells in rows if cells.get("status") != "FAIL"] or rows
    texts = {column: [cells[column] for cells in good if is_number(cells[column])] for column in rows[0]}
    made = {column: median_text(numbers) if numbers else good[0][column] for column, numbers in texts.items()}
    if "status" in made:
        made["status"] = worst_status(cells["status"] for cells in rows)
    return made


def in_number_order(texts):
    """Numbers as they are written, from the least to the greatest."""
    return sorted(texts, key=float)


def median_text(texts):
    """The median of numbers as they are written: one of them, or the mean of two, with as many decimals."""
    ordered = in_number_order(texts)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    two = ordered[middle - 1:middle + 1]
    decimals = max(len(text.partition(".")[2]) for text in two)
    mean = sum(map(float, two)) / 2
    return f"{mean:.{decimals}f}" if decimals and not re.search("[eE]", "".join(two)) else f"{mean:.10g}"
