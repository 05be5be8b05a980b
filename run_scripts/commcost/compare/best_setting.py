# SPDX-License-Identifier: BSD-3-Clause
"""The best of the settings that a suite varied, row by row.

Settings are compared in pairs by exact rank tests over launches; a round has one launch of each setting
(rank_test.rounds_p). Holm's correction over all pairs of all rows limits the chance of any false answer to ALPHA. A
setting is best if these tests find it better than every other setting.
"""

import itertools
import os
import typing

from commcost.result import rank_test
from commcost.result.benchmarks import SETTING, unit_of
from commcost.result.launches import Schema, read_launches
from commcost.result.result_reader import ResultError
from commcost.result.tables import NEW
from commcost.suite.suite_folder import Folder
from commcost.system import short_path
from commcost.words import listed

ALPHA = 0.01


class Best(typing.NamedTuple):
    """A quantity of a row, by setting."""

    schema: Schema
    keys: tuple    # without the setting
    quantity: str
    more: bool     # higher is better
    medians: dict  # by setting, the best first
    sure: bool     # the first setting is better than all others
    p: float       # largest corrected p-value of its pairs
    launches: int  # of the setting with the fewest launches

    @property
    def name(self):
        """Returns the best setting."""
        return next(iter(self.medians))

    @property
    def points(self):
        """True if the gain is in percentage points."""
        return unit_of(self.quantity) == "%"

    @property
    def gain_pct(self):
        """Returns the gain over the next best setting, in percent of it or in points, or None if that setting is 0."""
        first, second = list(self.medians.values())[:2]
        if self.points:
            return abs(first - second)
        return abs(100 * (first - second) / second) if second else None


def is_ahead(one, other, more):
    """True if one setting is better than another in more than half of the rounds. Medians may disagree if the machine's
    state changed within a round."""
    both = [run for run in one if run in other]
    return 2 * sum(one[run] > other[run] if more else one[run] < other[run] for run in both) > len(both)


def is_varied(tables):
    return any(SETTING in row for table in tables.of(NEW) for row in table.rows[:1])


def best_of_result(path, tables):
    """Returns the Best of each row of a result, or none without settings."""
    try:
        return best_settings(read_launches([path], opened=tables.opened)) if is_varied(tables) else []
    except ResultError:
        return []


def best_settings(launches):
    """Returns the Best of each quantity of each row with values in at least two settings."""
    found = {}
    for series in launches.series.values():
        keys, values = dict(zip(series.schema.keys, series.keys)), launches.values(series, 0)
        setting = keys.pop(SETTING, None)
        if setting is not None and values.values and not values.failed:  # no wrong data
            row = series.schema._replace(keys=tuple(keys)), tuple(keys.values()), series.quantity, series.more
            found.setdefault(row, {})[setting] = values.by_launch
    tests = {(row, *pair): rank_test.rounds_p(*(settings[name] for name in pair)) for row, settings in found.items()
             for pair in itertools.combinations(sorted(settings), 2)}
    ps = dict(zip(tests, rank_test.holm(list(tests.values()))))
    made = []
    for row, settings in found.items():
        medians = {name: rank_test.median(values.values()) for name, values in settings.items()}
        first, *others = sorted(medians, key=medians.get, reverse=row[-1])
        if others:
            p = max(ps[(row, *sorted((first, other)))] for other in others)
            is_best = all(is_ahead(settings[first], settings[other], row[-1]) for other in others)
            made.append(Best(*row, {name: medians[name] for name in (first, *others)},
                             is_best and p <= ALPHA, p, min(map(len, settings.values()))))
    return made


def launches_needed(best):
    """Returns the launches per setting needed for the largest possible difference to be significant."""
    pairs = sum(len(row.medians) * (len(row.medians) - 1) // 2 for row in best)
    return rank_test.launches_needed(rank_test.TESTS_OF_ROUNDS * pairs, ALPHA)


def unclear(best):
    """Returns the Best that are not clear, by reason."""
    needed, found = launches_needed(best), {}
    for row in best:
        if not row.sure:
            reason = f"no clear difference in {row.launches}" if row.launches >= needed else f"fewer than {needed}"
            found.setdefault(f"{reason} launches of each", []).append(row)
    return found


def failures(path):
    """Yields sentences about settings in which all launches of a program failed."""
    folder = Folder(path)
    settings, results, found = folder.settings(), {}, {}  # found: by setting and program, True if it failed
    for (run, name), result in folder.last_results().items():
        results.setdefault(name, {})[run] = result
    for name, by_run in results.items():
        if name in settings:
            found.setdefault(settings[name], {})[name] = set(by_run.values()) == {"failed"}
    for setting, names in found.items():
        failed = [name for name, has_failed in names.items() if has_failed]
        if failed:
            of = "" if len(failed) == len(names) else f" of {listed([name.rpartition('@')[0] for name in failed])}"
            yield (f"Setting {setting}: all launches{of} failed: "
                   f"see {os.path.join(short_path(path), 'runs', next(iter(results[failed[0]])), failed[0])}.log.")
