# SPDX-License-Identifier: BSD-3-Clause
"""Values of each row over launches, of one or several sides, for comparisons and the summary.

A launch is one file or one value of the column `run`. Launches whose file is truncated, interrupted or lost output are
ignored with a warning, since their rows are not missing by chance. A launch that a side has twice (a copy, or a file
that is also a `run` of another file) is used once. Outputs of other benchmarks have no date and no hosts, so only the
same file is a copy, not equal text (Result.digest).
"""

import array
import hashlib
import math
import typing

from commcost.result import result_metadata
from commcost.result.rank_test import median
from commcost.result.result_files import find_results
from commcost.result.result_reader import NAMES_SHOWN, PATH_SHOWN, SHOWN, Result, ResultError, worst_status
from commcost.words import counted, listed, parsed_number

LAUNCHES_MAX = 10000  # in all files together; their numbers fit into array("H")
WARNINGS_MAX = 50
FAILED = math.inf  # replaces the value of a row with wrong data


class Schema(typing.NamedTuple):
    """Rows of the same benchmark with the same keys."""

    benchmark: str
    keys: tuple  # names


class Values(typing.NamedTuple):
    """The values of a side for a quantity of a row."""

    by_launch: dict  # values by launch number
    launches: int    # number that have the row, with or without a value
    failed: int      # number of these with wrong data, whose values are ignored

    @property
    def values(self):
        return list(self.by_launch.values())


class Series:
    """A quantity of a row: pairs of a launch number and a value, NaN if there is none."""

    __slots__ = ("schema", "keys", "quantity", "more", "_launches", "_values")

    def __init__(self, schema, keys, quantity, more):
        self.schema, self.keys, self.quantity, self.more = schema, keys, quantity, more
        self._launches, self._values = array.array("H"), array.array("d")

    def add(self, launch, value):
        self._launches.append(launch)
        self._values.append(value)

    def pairs(self):
        return zip(self._launches, self._values)

    def by_launch(self):
        found = {}
        for launch, value in self.pairs():
            found.setdefault(launch, []).append(value)
        return found


class Launch:
    """A launch. `counts` is False if it is ignored."""

    def __init__(self, side, result):
        self.side, self.result, self.rows, self.counts = side, result, hashlib.blake2b(digest_size=16), True
        # Launches of one kind have the same rows, except rows that depend on what a launch finds.
        self.kind = repr([result.benchmark, *map(result.metadata.get, sorted(result_metadata.OF_THE_ROWS))])


class Value(typing.NamedTuple):
    """A value of the metadata, the first file with it, and the sides that have it."""

    value: str
    path: str
    sides: set
    parts: frozenset  # of a list, such as the variables of mpi_variable


class Launches:
    """Launches of one or several sides, numbered from 0. Add all files, then call finish() once.

    series     all series by schema, values of the keys and quantity, in reading order
    launches   all launches
    warnings   one line each
    notes      one line each, about short results
    values_of  by benchmark and key of the metadata: Values by value
    mixtures   sentences about metadata that differ between launches of the same rows
    statuses   by schema and values of the keys: the worst status of used launches
    """

    def __init__(self, opened=Result):
        """`opened` opens results: Result or KeptResults.opened."""
        self._opened = opened
        self.series, self.launches, self.warnings, self.notes = {}, [], [], []
        self.values_of, self.statuses, self.mixtures = {}, {}, []
        self._rows, self._files = {}, []  # by schema and keys: the worst status by launch; Results

    def add(self, side, path):
        """Adds a result, or the results of a folder (find_results), to a side. ResultError if it isn't a result. Broken
        files of a folder get a warning if it has other files."""
        (files, remarks), errors = find_results(path), []
        self.warnings += remarks
        for file in files:
            first = len(self.launches)
            try:
                with self._opened(file) as result:
                    self._add_file(side, result)
            except ResultError as error:
                if file == path or len(self.launches) == LAUNCHES_MAX:
                    raise
                errors.append(error)
                self._leave_out(first, str(error))
        if errors and len(errors) == len(files):
            raise errors[0]

    def finish(self):
        """Finds copies, mixtures and common rows. Called once after adding all files."""
        self._drop_copies()
        short = [file for file in self._files if file.is_short]
        for benchmark in dict.fromkeys(file.benchmark for file in short):
            self._keep_common(benchmark, [file for file in self._files if file.benchmark == benchmark])
        if short:
            self.notes.append(f"{listed([file.path for file in short], NAMES_SHOWN)}: short, so only common keys and "
                              "columns count: write full results with --output=FILE")
        for benchmark in dict.fromkeys(file.benchmark for file in self._files):
            self._add_keys(benchmark)
        self._find_missing_rows()
        for row, by_launch in self._rows.items():
            found = [status for launch, status in by_launch.items() if self.launches[launch].counts]
            if found:
                self.statuses[row] = worst_status(found)
        self._rows = {}
        repeated = sum(len(values) > 1 for series in self.series.values()
                       for launch, values in series.by_launch().items() if self.launches[launch].counts)
        if repeated:
            self.warnings.append(f"launches repeat rows ({counted(repeated, 'value')}): the median counts")
        if len(self.warnings) > WARNINGS_MAX:
            more = len(self.warnings) - WARNINGS_MAX + 1
            self.warnings[WARNINGS_MAX - 1:] = [f"{more} more warnings"]

    def values(self, series, side):
        """Returns the Values of a series on a side. Repeated rows of a launch are replaced by their median."""
        every = {number: found for number, found in series.by_launch().items()
                 if self.launches[number].side == side and self.launches[number].counts}
        good = {number: [value for value in found if not math.isnan(value)] for number, found in every.items()
                if FAILED not in found}
        by_launch = {number: median(found) for number, found in good.items() if found}
        return Values(by_launch, len(every), len(every) - len(good))

    def is_in_all(self, series, side):
        """True if a row is present, even without a value, in all launches of a side whose kind has it."""
        have = series.by_launch()
        there = [number for number, launch in enumerate(self.launches) if launch.side == side and launch.counts]
        kinds = {self.launches[number].kind for number in there if number in have}
        return all(number in have for number in there if self.launches[number].kind in kinds)

    def count(self, side):
        return sum(launch.side == side and launch.counts for launch in self.launches)

    def _add_file(self, side, result):
        schema, quantities = Schema(result.benchmark, tuple(result.keys)), result.quantities()
        key_places = [result.place(name) for name in result.keys]
        run_place = result.place("run") if result.is_merged else None
        status_place = result.place("status")
        self._files.append(result)
        first = len(self.launches)
        numbers = {} if result.is_merged else {None: self._add_launch(side, result)}
        rows = failed_rows = 0
        for cells in result.rows():
            run = None if run_place is None else cells[run_place]
            if run not in numbers:
                numbers[run] = self._add_launch(side, result)
            number = numbers[run]
            keys = tuple(cells[place] for place in key_places)
            status = cells[status_place] if status_place is not None else "ok"
            rows, failed_rows = rows + 1, failed_rows + (status == "FAIL")
            by_launch = self._rows.setdefault((schema, keys), {})
            by_launch[number] = worst_status((by_launch.get(number, status), status))
            same = [cell for place, cell in enumerate(cells) if place != run_place]
            self.launches[number].rows.update(
                "\0".join([result.benchmark, *same, ""]).encode("utf-8", "surrogateescape"))
            for place, name, more in quantities:
                value = parsed_number(cells[place])
                if value is None and cells[place] != "NA":
                    result.refuse(f"'{cells[place]:.{SHOWN}}' in the column {name} is no number, and not NA")
                series = self.series.get((schema, keys, name))
                if series is None:
                    series = self.series[schema, keys, name] = Series(schema, keys, name, more)
                if series.more != more:
                    result.refuse(f"{name}: more is better in one result, less in another")
                series.add(number, FAILED if status == "FAIL" else math.nan if value is None else value)
        for key, values in result.metadata.items():
            found, value = self.values_of.setdefault((result.benchmark, key), {}), "; ".join(sorted(set(values)))
            found.setdefault(value, Value(value, result.path, set(), frozenset(values))).sides.add(side)
        self._check_end(result, first, rows, failed_rows)

    def _add_launch(self, side, result):
        if len(self.launches) == LAUNCHES_MAX:
            raise ResultError(f"more than {LAUNCHES_MAX} launches: use fewer at a time")
        self.launches.append(Launch(side, result))
        return len(self.launches) - 1

    def _check_end(self, result, first, rows, failed_rows):
        """Excludes launches whose file is incomplete, with a warning."""
        path, end = f"{result.path:.{PATH_SHOWN}}", result.end
        if rows == 0:
            self.warnings.append(f"{path} has no rows")
        if result.is_foreign:
            self.warnings += [f"{path}: {remark.text}" for remark in result.remarks]
        if result.cut_line is not None:
            self.warnings.append(f"{path}: line {result.cut_line} was cut off and doesn't count")
        interrupted = any(remark.kind == "warning" and remark.text.startswith("interrupted by ")
                          for remark in result.remarks)
        if interrupted and not result.is_merged:
            self._leave_out(first, f"{path} was interrupted by a signal")
        elif end is None and result.has_end:
            self._leave_out(first, f"{path} was cut off (no '# end:')")
        elif end is not None and end.status != 0 and failed_rows == 0 and not result.is_merged:
            self._leave_out(first, f"{path} ends with exit status {end.status}, but no row failed")
        if end is not None and end.rows != rows:
            self.warnings.append(f"{path} has {rows} of {end.rows} rows")

    def _leave_out(self, first, reason):
        self.warnings.append(f"{reason}: doesn't count")
        for launch in self.launches[first:]:
            launch.counts = False

    def _keep_common(self, benchmark, files):
        """Keeps only the keys and quantities that all files of a benchmark have, since some are short. Keeps all if
        rows of a launch would merge; then the files have no common rows."""
        common = Schema(benchmark, tuple(key for key in files[0].keys if all(key in file.keys for file in files)))
        quantities = set.intersection(*({name for _, name, _ in file.quantities()} for file in files))

        def shortened(schema, keys, _):
            cells = dict(zip(schema.keys, keys))
            return common, tuple(cells[key] for key in common.keys)

        met = set()
        for (schema, keys), by_launch in self._rows.items():
            for launch in by_launch if schema.benchmark == benchmark else ():
                place = shortened(schema, keys, launch), launch
                if place in met:
                    short, path = next(file.path for file in files if file.is_short), self.launches[launch].result.path
                    self.warnings.append(f"{short:.{PATH_SHOWN}} lacks keys by which rows of {path:.{PATH_SHOWN}} "
                                         "differ: write it with --columns=all")
                    return
                met.add(place)
        self._move_rows(benchmark, shortened, quantities)

    def _add_keys(self, benchmark):
        """Adds keys from the metadata to rows of a benchmark whose launches were measured differently."""
        numbers = {id(file): number for number, file in enumerate(self._files) if file.benchmark == benchmark}
        counted = [launch.counts and id(launch.result) in numbers for launch in self.launches]
        several = {numbers[id(launch.result)]: (launch.side, launch.result.metadata)
                   for launch, is_one in zip(self.launches, counted) if is_one}
        groups = {frozenset(numbers[id(self.launches[launch].result)] for launch in by_launch if counted[launch])
                  for (schema, _), by_launch in self._rows.items() if schema.benchmark == benchmark}
        taken = {name for number in several for name in self._files[number].header}
        found = result_metadata.differing(several, groups, taken)
        self.mixtures += result_metadata.sentences(benchmark, found, self._files)
        if not found.names:
            return
        cells = [tuple(result_metadata.value_of(launch.result.metadata, key) for key in found.names) if is_one else ()
                 for launch, is_one in zip(self.launches, counted)]
        for launch, more in zip(self.launches, cells):
            launch.kind += repr(more)
        self._move_rows(benchmark, lambda schema, keys, launch: cells[launch] and (
            schema._replace(keys=(*schema.keys, *found.names.values())), (*keys, *cells[launch])))

    def _move_rows(self, benchmark, place_of, quantities=None):
        """Moves each launch's values for rows of a benchmark to place_of(schema, keys, launch), a schema and keys, or
        drops them if that is false. Keeps only `quantities`."""
        rows, every, self._rows, self.series = self._rows, self.series, {}, {}

        def place(row, launch):
            return row if row[0].benchmark != benchmark else place_of(*row, launch)

        for row, by_launch in rows.items():
            for launch, status in by_launch.items():
                if place(row, launch):
                    self._rows.setdefault(place(row, launch), {})[launch] = status
        for (*row, quantity), series in every.items():
            if row[0].benchmark == benchmark and quantities is not None and quantity not in quantities:
                continue
            for launch, value in series.pairs():
                if place(row, launch):
                    moved = (*place(row, launch), quantity)
                    self.series.setdefault(moved, Series(*moved, series.more)).add(launch, value)
        places = {}  # of rows, whose quantities stay together
        for schema, keys, _ in self.series:
            places.setdefault((schema, keys), len(places))
        self.series = dict(sorted(self.series.items(), key=lambda item: places[item[0][:2]]))

    def _find_missing_rows(self):
        """Warns of launches of other benchmarks, whose outputs have no end mark, if they lack sizes that most launches
        with the same table have."""
        tables = {}  # by side and all of a row except its size: launches by size
        for (schema, keys), by_launch in self._rows.items():
            row = dict(zip(schema.keys, keys), size_bytes=None)
            have = [number for number in by_launch if self.launches[number].counts and
                    self.launches[number].result.is_foreign]
            for side in {self.launches[number].side for number in have}:
                tables.setdefault((side, schema.benchmark, *row.items()), []).append(
                    {number for number in have if self.launches[number].side == side})
        fewer = {}  # by side and benchmark: numbers of launches
        for (side, benchmark, *_), sizes in tables.items():
            every = set().union(*sizes)
            fewer.setdefault((side, benchmark), set()).update(
                *(every - have for have in sizes if 2 * len(have) > len(every)))
        for (_, benchmark), numbers in fewer.items():
            paths = [f"{self.launches[number].result.path:.{PATH_SHOWN}}" for number in sorted(numbers)]
            if paths:
                self.warnings.append(f"{benchmark}: rows of most launches are missing in {listed(paths, NAMES_SHOWN)}")

    def _drop_copies(self):
        """Excludes copies of a file, and single files that are a `run` of another file. Keeps the first one."""
        seen, twice = {}, []
        for launch in self.launches:
            if launch.counts:
                others = seen.setdefault((launch.side, launch.rows.digest()), [])
                same = [other.result for other in others if other.result is not launch.result and (
                    other.result.is_merged != launch.result.is_merged or other.result.digest == launch.result.digest)]
                launch.counts = not same
                twice += [(launch.result.path, other.path) for other in same[:1]]
                others.append(launch)
        if twice:
            self.warnings.append(f"{len(twice)} launches were read twice and count once ({twice[-1][0]:.200} is "
                                 f"also in {twice[-1][1]:.200})")


def key_columns(schemas, others):
    """Returns the names of all keys. ResultError if one is also in `others`."""
    keys = dict.fromkeys(key for schema in schemas for key in schema.keys)
    for key in keys:
        if key in others:
            raise ResultError(f"the key '{key:.100}' has another column's name")
    return list(keys)


def read_launches(*sides, opened=Result):
    launches = Launches(opened)
    for side, paths in enumerate(sides):
        for path in paths:
            launches.add(side, path)
    launches.finish()
    return launches
