"""What each launch found for each row, of one or several sides.

A launch is one file as a program wrote it, or one value of the column `run` in a file that holds
several. Launches whose file was cut off, was interrupted or lost output don't count, with a
warning: what is missing in them isn't missing by chance. A launch that was read twice on one side
(a copy, or a file and the same run among others) counts once. Equal text of another benchmark, which
has no date and no hosts, is no copy: only the same file is (Result.digest).
"""

import array
import hashlib
import math
import typing

from commcost.reading.rank_test import median
from commcost.reading.results import (NAMES_SHOWN, PATH_SHOWN, SHOWN, Result, ResultError,
                                      find_results, parsed_number)
from commcost.words import listed

LAUNCHES_MAX = 10000  # in all files together; array("H") has their numbers
WARNINGS_MAX = 50
# From the best to the worst; a status that isn't here is worse than ok.
STATUSES = ("ok", "budget", "max-size", "no-knee", "FAIL")
FAILED = math.inf  # in place of a value that a row of wrong data has


def status_rank(status):
    """The place of a status in their order, from the best to the worst."""
    return STATUSES.index(status) if status in STATUSES else 1


def worst_status(statuses):
    """The first of the worst ones."""
    return max(statuses, key=status_rank)


class Schema(typing.NamedTuple):
    """Rows of the same benchmark with the same keys."""

    benchmark: str
    keys: tuple  # names


class Values(typing.NamedTuple):
    """What the launches of a side found for a quantity of a row."""

    values: list   # one of each launch that has one
    launches: int  # that have the row, with a value or without
    failed: int    # of these, with wrong data: their values don't count


class Series:
    """A quantity of a row, and what launches found: pairs of a launch's number and a value, NaN
    for none."""

    __slots__ = ("schema", "keys", "quantity", "more", "_launches", "_values")

    def __init__(self, schema, keys, quantity, more):
        self.schema, self.keys, self.quantity, self.more = schema, keys, quantity, more
        self._launches, self._values = array.array("H"), array.array("d")

    def add(self, launch, value):
        self._launches.append(launch)
        self._values.append(value)

    def add_all(self, other):
        self._launches.extend(other._launches)
        self._values.extend(other._values)

    def by_launch(self):
        """The values by launch, in the order in which they were read."""
        found = {}
        for launch, value in zip(self._launches, self._values):
            found.setdefault(launch, []).append(value)
        return found


class Launch:
    """What tells a launch from others, and whether it counts."""

    def __init__(self, side, path, file, merged, is_foreign):
        self.side, self.path, self.merged, self.is_foreign = side, path, merged, is_foreign
        self.file = file    # the number of its file
        self.digest = None  # of its file
        self.rows = hashlib.blake2b(digest_size=16)
        self.incomplete = self.twice = False

    @property
    def counts(self):
        return not (self.incomplete or self.twice)


class Columns(typing.NamedTuple):
    """What a file has."""

    path: str
    is_short: bool
    schema: Schema
    quantities: frozenset


class Said(typing.NamedTuple):
    """A value of the metadata, and the file that says so first."""

    value: str
    path: str


class Launches:
    """Launches of one or several sides, which are numbers from 0. Add all files, then call
    finish() once.

    series     all series by schema, values of the keys and quantity, in the order they were met
    launches   all launches
    warnings   one line each
    notes      one line each, about short results
    said       by benchmark and key of the metadata: every value that is said, once
    statuses   by schema and values of the keys: the worst status of launches that count
    """

    def __init__(self):
        self.series, self.launches, self.warnings, self.notes = {}, [], [], []
        self.said, self.statuses = {}, {}
        self._statuses, self._files = {}, []  # by schema, keys and launch: the worst status; Columns

    def warn(self, text):
        self.warnings.append(text)

    def add(self, side, path):
        """Adds a result, or a folder's results (results.find_results), to a side. ResultError for
        what is none; of a folder such files are left out, with a warning, as long as others are left."""
        found, errors = find_results(path), []
        for remark in found.remarks:
            self.warn(remark)
        for file in found.paths:
            first = len(self.launches)
            try:
                with Result(file) as result:
                    self._add_file(side, result)
            except ResultError as error:
                if file == path or len(self.launches) == LAUNCHES_MAX:
                    raise
                errors.append(error)
                self._leave_out(first, str(error))
        if errors and len(errors) == len(found.paths):
            raise errors[0]

    def finish(self):
        """To be called once, after all files."""
        self._find_twice()
        short = [file for file in self._files if file.is_short]
        for benchmark in dict.fromkeys(file.schema.benchmark for file in short):
            self._keep_common([file for file in self._files if file.schema.benchmark == benchmark])
        if short:
            self.notes.append(f"{listed([file.path for file in short], NAMES_SHOWN)}: short, so only what all results "
                              "of a benchmark say is compared: --output=FILE writes all")
        self._find_short()
        for (schema, keys, launch), status in self._statuses.items():
            if self.launches[launch].counts:
                worst = self.statuses.get((schema, keys), status)
                self.statuses[schema, keys] = worst_status((worst, status))
        self._statuses = {}
        repeated = sum(len(values) > 1 for series in self.series.values()
                       for launch, values in series.by_launch().items()
                       if self.launches[launch].counts)
        if repeated:
            self.warn(f"launches have rows more than once ({repeated} values): the median counts")
        if len(self.warnings) > WARNINGS_MAX:
            more = len(self.warnings) - WARNINGS_MAX + 1
            self.warnings[WARNINGS_MAX - 1:] = [f"{more} more warnings"]

    def values(self, series, side):
        """The Values of a series on a side. Of a row that a launch has several times the median
        counts."""
        values, launches, failed = [], 0, 0
        for number, found in series.by_launch().items():
            launch = self.launches[number]
            if launch.side != side or not launch.counts:
                continue
            launches += 1
            if FAILED in found:
                failed += 1
                continue
            known = [value for value in found if not math.isnan(value)]
            if known:
                values.append(median(known))
        return Values(values, launches, failed)

    def count(self, side):
        """How many launches of a side count."""
        return sum(launch.side == side and launch.counts for launch in self.launches)

    # ---- reading a file --------------------------------------------------------------------------

    def _add_file(self, side, result):
        schema = Schema(result.benchmark, tuple(result.keys))
        merged = result.is_merged
        key_places = [result.place(name) for name in result.keys]
        run_place, status_place = result.place("run"), result.place("status")
        quantities = result.quantities()
        self._files.append(Columns(result.path, result.is_short, schema,
                                   frozenset(name for _, name, _ in quantities)))
        first = len(self.launches)
        numbers = {} if merged else {None: self._add_launch(side, result, False)}
        rows = failed_rows = 0
        for cells in result.rows():
            run = cells[run_place] if merged else None
            if run not in numbers:
                numbers[run] = self._add_launch(side, result, True)
            number = numbers[run]
            keys = tuple(cells[place] for place in key_places)
            status = cells[status_place] if status_place is not None else "ok"
            rows, failed_rows = rows + 1, failed_rows + (status == "FAIL")
            worst = self._statuses.get((schema, keys, number), status)
            self._statuses[schema, keys, number] = worst_status((worst, status))
            same = [cell for place, cell in enumerate(cells) if not merged or place != run_place]
            self.launches[number].rows.update(
                "\0".join([result.benchmark, *same, ""]).encode("utf-8", "surrogateescape"))
            for place, name, more in quantities:
                value = parsed_number(cells[place])
                if value is None and cells[place] != "NA":
                    result.refuse(f"'{cells[place]:.{SHOWN}}' in the column {name} is no number, "
                                  "and not NA")
                if status == "FAIL":
                    value = FAILED
                self._series_of(result, schema, keys, name, more).add(
                    number, math.nan if value is None else value)
        for launch in self.launches[first:]:
            launch.digest = result.digest
        self._note_metadata(result)
        self._check_end(result, first, rows, failed_rows)

    def _series_of(self, result, schema, keys, name, more):
        identity = (schema, keys, name)
        series = self.series.get(identity)
        if series is None:
            series = self.series[identity] = Series(schema, keys, name, more)
        if series.more != more:
            result.refuse(f"{name}: more is better here, and less is better in another result, or "
                          "the other way round")
        return series

    def _add_launch(self, side, result, merged):
        if len(self.launches) == LAUNCHES_MAX:
            raise ResultError(f"more than {LAUNCHES_MAX} launches: name fewer at a time")
        self.launches.append(Launch(side, result.path, len(self._files), merged, result.is_foreign))
        return len(self.launches) - 1

    def _note_metadata(self, result):
        for key, values in result.metadata.items():
            said = self.said.setdefault((result.benchmark, key), [])
            value = "; ".join(sorted(values))
            if all(value != other.value for other in said):
                said.append(Said(value, result.path))

    def _check_end(self, result, first, rows, failed_rows):
        """Sees to it that a launch counts only if its file has all that it found."""
        path = f"{result.path:.{PATH_SHOWN}}"
        if rows == 0:
            self.warn(f"{path} has no rows")
        if result.is_foreign:
            for remark in result.remarks:
                self.warn(f"{path}: {remark.text}")
        if result.cut_line is not None:
            self.warn(f"{path}: line {result.cut_line} was cut off and doesn't count")
        interrupted = any(remark.kind == "warning" and remark.text.startswith("interrupted by ")
                          for remark in result.remarks)
        end = result.end
        if interrupted and not result.is_merged:
            self._leave_out(first, f"{path} was interrupted by a signal: rows may be missing")
        elif end is None:
            if result.has_end:
                self._leave_out(first, f"{path} was cut off: it doesn't end with '# end:' (the "
                                "program was killed, or there was no space)")
        elif end.status != 0 and failed_rows == 0 and not result.is_merged:
            self._leave_out(first, f"{path} ends with an exit status other than 0 and no row that "
                            "failed: rows may be missing")
        if end is not None and end.rows != rows:
            self.warn(f"{path} has {rows} rows, and had {end.rows} when it was written")

    def _leave_out(self, first, why):
        self.warn(f"{why}. It doesn't count")
        for launch in self.launches[first:]:
            launch.incomplete = True

    # ---- short results ---------------------------------------------------------------------------

    def _keep_common(self, files):
        """Keeps the keys and quantities that all files of a benchmark have, since some are short. Where that
        would make several rows of a launch one, all stay as they are: they have no rows in common."""
        benchmark, names = files[0].schema
        common = Schema(benchmark, tuple(key for key in names if all(key in file.schema.keys for file in files)))
        quantities = frozenset.intersection(*(file.quantities for file in files))

        def shortened(schema, keys):
            if schema.benchmark != benchmark:
                return schema, keys
            cells = dict(zip(schema.keys, keys))
            return common, tuple(cells[key] for key in common.keys)

        statuses = {}
        for (schema, keys, launch), status in self._statuses.items():
            identity = (*shortened(schema, keys), launch)
            if identity in statuses:
                short = next(file.path for file in files if file.is_short)
                self.warn(f"{short:.{PATH_SHOWN}} lacks keys by which rows of "
                          f"{self.launches[launch].path:.{PATH_SHOWN}} differ: write it with --columns=all")
                return
            statuses[identity] = status
        series, self._statuses, self.series = self.series, statuses, {}
        for (schema, keys, quantity), one in series.items():
            if schema.benchmark == benchmark and quantity not in quantities:
                continue
            one.schema, one.keys = shortened(schema, keys)
            kept = self.series.setdefault((one.schema, one.keys, quantity), one)
            if kept is not one:
                kept.add_all(one)

    # ---- launches with fewer rows than others -----------------------------------------------------

    def _find_short(self):
        """Warns of launches of other benchmarks, whose outputs have no end that tells, that lack sizes
        which most launches with the same table have. To be called before the statuses are put together."""
        tables = {}  # by side and all of a row but its size: the launches that have it, by size
        for schema, keys, number in self._statuses:
            launch = self.launches[number]
            if launch.counts and launch.is_foreign:
                row = dict(zip(schema.keys, keys))
                size = row.pop("size_bytes", None)
                table = tables.setdefault((launch.side, schema.benchmark, *row.items()), {})
                table.setdefault(size, set()).add(number)
        short = {}  # by side and benchmark: the numbers of launches
        for (side, benchmark, *_), sizes in tables.items():
            every = set().union(*sizes.values())
            short.setdefault((side, benchmark), set()).update(
                *(every - have for have in sizes.values() if 2 * len(have) > len(every)))
        for (_, benchmark), numbers in short.items():
            paths = [f"{self.launches[number].path:.{PATH_SHOWN}}" for number in sorted(numbers)]
            if paths:
                self.warn(f"{benchmark}: rows that most launches have are missing in "
                          f"{listed(paths, NAMES_SHOWN)}")

    # ---- launches that were read twice -----------------------------------------------------------

    def _find_twice(self):
        seen, twice, example = {}, 0, None
        for launch in self.launches:
            if launch.incomplete:
                continue
            others = seen.setdefault((launch.side, launch.rows.digest()), [])
            for other in others:
                # A copy of its file, or by itself what it is among others.
                if other.file != launch.file and (other.merged != launch.merged or
                                                  other.digest == launch.digest):
                    launch.twice = True
                    twice, example = twice + 1, (launch.path, other.path)
                    break
            others.append(launch)
        if twice:
            self.warn(f"{twice} launches were read twice and count once ({example[0]:.200} is "
                      f"also in {example[1]:.200})")


def read_launches(*sides):
    """The Launches of sides, each the paths of its results."""
    launches = Launches()
    for side, paths in enumerate(sides):
        for path in paths:
            launches.add(side, path)
    launches.finish()
    return launches
