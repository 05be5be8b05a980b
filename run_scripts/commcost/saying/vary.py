"""Which of the settings that a suite varied is best, row by row.

Settings are compared in pairs by the exact rank-sum test over launches (rank_test), with Holm's
correction over all pairs of all rows, so that the chance to name anything where nothing depends on
the settings is at most ALPHA for all of them together. A setting is best if it is better than each
of the others by this evidence.
"""

import itertools
import typing

from commcost.reading import rank_test
from commcost.reading.benchmarks import unit_of
from commcost.reading.launches import Schema

ALPHA = 0.01
SETTING = "setting"  # the key of results in which settings were varied


class Best(typing.NamedTuple):
    """What settings make of a quantity of a row."""

    schema: Schema
    keys: tuple    # without the setting's
    quantity: str
    more: bool     # more is better
    medians: dict  # by setting, the best first
    sure: bool     # the first one is better than each other by the evidence
    p: float       # the largest corrected one of its pairs

    @property
    def name(self):
        """The best setting."""
        return next(iter(self.medians))

    @property
    def points(self):
        """Whether the gain is in points, since the quantity is in percent itself."""
        return unit_of(self.quantity) == "%"

    @property
    def gain_pct(self):
        """By how much the best is better than the next, in percent of that or in points; None of
        0."""
        first, second = list(self.medians.values())[:2]
        if self.points:
            return abs(first - second)
        return abs(100 * (first - second) / second) if second else None


def best_settings(launches):
    """The Best of each quantity of each row that has values in two settings or more."""
    groups = {}
    for series in launches.series.values():
        names = series.schema.keys
        if SETTING not in names:
            continue
        place = names.index(SETTING)
        keys = series.keys[:place] + series.keys[place + 1:]
        schema = series.schema._replace(keys=names[:place] + names[place + 1:])
        found = launches.values(series, 0)
        values = found.values
        # A setting with wrong data is no candidate.
        if values and not found.failed:
            groups.setdefault((schema, keys, series.quantity, series.more), {})[
                series.keys[place]] = values
    groups = {group: settings for group, settings in groups.items() if len(settings) > 1}
    pairs = [(group, pair) for group, settings in groups.items()
             for pair in itertools.combinations(sorted(settings), 2)]
    ps = rank_test.holm([rank_test.rank_sum_p(*(groups[group][name] for name in pair))
                         for group, pair in pairs])
    by_pair = {(group, frozenset(pair)): p for (group, pair), p in zip(pairs, ps)}
    return [best_of(group, settings, by_pair) for group, settings in groups.items()]


def launches_needed(best):
    """With how many launches of each setting the largest difference that there can be would be
    evidence, for these Best."""
    tests = sum(len(row.medians) * (len(row.medians) - 1) // 2 for row in best)
    launches = 1
    while 2 * tests > ALPHA * rank_test.binomial(2 * launches, launches):
        launches += 1
    return launches


def best_of(group, settings, by_pair):
    more = group[3]
    medians = {name: rank_test.median(values) for name, values in settings.items()}
    order = sorted(medians, key=medians.get, reverse=more)
    p = max(by_pair[group, frozenset((order[0], other))] for other in order[1:])
    different = medians[order[0]] != medians[order[1]]
    return Best(*group, {name: medians[name] for name in order}, different and p <= ALPHA, p)
