# SPDX-License-Identifier: BSD-3-Clause
"""Changes of each row between two sides of several launches, with intervals and verdicts.

Launches of one program differ by more than the intervals of single launches, so the rank-sum test compares launches,
not samples. Holm's correction limits the chance of any false alarm in all rows of a comparison.
"""

import math
import typing

from commcost.compare.side_differences import differences
from commcost.result import rank_test
from commcost.result.launches import read_launches
from commcost.result.result_reader import ResultError
from commcost.words import UNSURE, counted, grouped, listed

BASE, NEW = 0, 1
SIDES = ("base", "new")
SLOWER = "slower"         # or lower where higher is better
FASTER = "faster"
SAME = "same"             # the whole interval of the change is within the threshold
FAILED = "failed"         # a new launch found wrong data
MISSING = "missing"       # all launches of the base have values, none of the new side
ADDED = "added"           # the reverse of MISSING
PARTIAL = "partial"       # not compared: only some launches of one side have values
VERDICTS = (SLOWER, FASTER, SAME, UNSURE, FAILED, MISSING, ADDED)


class Limits(typing.NamedTuple):
    alpha: float          # chance of any false slower or faster in a comparison, 0 to 1
    threshold_pct: float  # smaller changes don't matter
    confidence: float     # of the intervals, 0 to 1


class Change(typing.NamedTuple):
    """The change of a quantity of a row."""

    series: object
    launches: tuple     # number with a value, by side
    base: typing.Optional[float]  # medians; None without values
    new: typing.Optional[float]
    points: bool        # change in points, not in percent of the base
    change_pct: typing.Optional[float]  # None if a side has no values or the base is 0
    interval: typing.Optional[rank_test.Interval]
    p: typing.Optional[float]           # None if not tested
    corrected_p: typing.Optional[float]
    verdict: str


def estimate(series, base, new, limits):
    """Returns the Change of a series, without the parts that depend on other rows. A change is the Hodges-Lehmann
    estimate over launches: of the ratio if all values are positive, otherwise of the difference, divided by the base's
    median. Percentages (overlap_pct) change by points: from 10 to 12 % is 2, not 20."""
    points = series.quantity.endswith(("_pct", "(%)"))
    verdict = FAILED if new.failed else MISSING if not new.values else ADDED if not base.values else UNSURE
    size, interval, p = None, None, None
    if base.values and new.values:
        size, interval = size_of_change(base.values, new.values, points, limits.confidence)
        p = rank_test.rank_sum_p(base.values, new.values) if verdict == UNSURE else None
    return Change(series, (len(base.values), len(new.values)), rank_test.median(base.values),
                  rank_test.median(new.values), points, size, interval, p, None, verdict)


def size_of_change(base, new, points, confidence):
    """Returns the change in percent or points and its interval, each None if undefined."""
    middle, is_ratio = rank_test.median(base), not points and min(base) > 0 and min(new) > 0
    sides = [list(map(math.log, side)) if is_ratio else side for side in (base, new)]
    value, interval = rank_test.rank_shift(*sides, confidence)
    if not is_ratio and interval is not None and interval.low >= 0 >= interval.high:
        return 0.0, rank_test.Interval(0.0, 0.0)
    # A base of 0 or less has no change in percent.
    if not is_ratio and not points and middle <= 0:
        return None, None

    def scaled(shift):
        return 100 * math.expm1(shift) if is_ratio else shift if points else 100 * shift / middle

    return scaled(value), None if interval is None else rank_test.Interval(*map(scaled, interval))


def judge(change, limits):
    size, interval = change.change_pct, change.interval
    # A change from 0 has no size, and always matters.
    matters = change.new > 0 if size is None else abs(size) >= limits.threshold_pct and size != 0
    if change.corrected_p <= limits.alpha and matters:
        return FASTER if (size is None or size > 0) == change.series.more else SLOWER
    if interval is not None and -limits.threshold_pct <= interval.low and interval.high <= limits.threshold_pct:
        return SAME
    return UNSURE


def compare(launches, limits):
    """Returns the Changes of all series that have a value on either side. Rows that only some launches find, such as
    sources of noise, are PARTIAL, neither missing nor added."""
    changes = []
    for series in launches.series.values():
        sides = [launches.values(series, side) for side in (BASE, NEW)]
        for side in sides:
            if len(side.values) > rank_test.LAUNCHES_MAX:
                raise ResultError(f"more than {rank_test.LAUNCHES_MAX} launches per side in a row of "
                                  f"{series.schema.benchmark:.60}: compare fewer")
        if sides[BASE].values or sides[NEW].values or sides[NEW].failed:
            change = estimate(series, *sides, limits)
            one_side = {MISSING: BASE, ADDED: NEW}.get(change.verdict)
            is_left_out = one_side is not None and not launches.is_in_all(series, one_side)
            changes.append(change._replace(verdict=PARTIAL) if is_left_out else change)
    tested = [place for place, change in enumerate(changes) if change.p is not None]
    for place, corrected in zip(tested, rank_test.holm([changes[i].p for i in tested])):
        change = changes[place]._replace(corrected_p=corrected)
        changes[place] = change._replace(verdict=judge(change, limits))
    return changes


class Comparison(typing.NamedTuple):
    """Two sides and their changes."""

    launches: object  # Launches of both
    changes: list
    differences: list  # between the sides, which may explain changes (side_differences)
    remarks: list     # pairs of "note" or "warning" and a text
    missing: list     # benchmarks that the new side lacks


def compare_sides(sides, limits, force=False, hint=""):
    """Returns the Comparison of two sides, given by their paths. ResultError if nothing can be compared and, with a
    hint, if the sides differ too much to be compared without `force`."""
    launches = read_all(sides)
    refused, differing = differences(launches)
    if refused and not force:
        raise ResultError(refused[0] + hint)
    every = compare(launches, limits)
    left_out = [change.series.schema.benchmark for change in every if change.verdict == PARTIAL]
    notes, missing = launches.notes[:], missing_benchmarks(every)
    if left_out:
        notes.append(f"not compared: {counted(len(left_out), 'row')} that only some launches of one side have "
                     f"({listed(dict.fromkeys(left_out))})")
    if any(one.is_variable for one in differing) and any(one.verdict in (SLOWER, FASTER) for one in every):
        notes.append("bench_compare --find-why BASE NEW finds the variables that cause a change")
    warnings = [*launches.warnings, *launches.mixtures, *(f"{text}: may cause changes" for text in refused)]
    if missing:
        warnings.append(f"the new side has no results of {listed(missing)}")
    return Comparison(launches, [change for change in every if change.verdict != PARTIAL], differing,
                      [("note", text) for text in notes] + [("warning", text) for text in warnings], missing)


def missing_benchmarks(changes):
    """Returns the benchmarks without any value on the new side."""
    return [several[0].series.schema.benchmark for several in grouped(changes, lambda one: one.series.schema.benchmark)
            if all(change.verdict != FAILED and not change.launches[NEW] for change in several)]


def read_all(sides):
    """Returns the Launches of both sides. ResultError if nothing can be compared."""
    launches = read_launches(*sides)
    for side in (BASE, NEW):
        own = [launch for launch in launches.launches if launch.side == side]
        if own and not launches.count(side):
            raise ResultError(f"the {SIDES[side]} side has no complete launch: measure it again")
    if not any(launches.values(series, BASE).launches and launches.values(series, NEW).launches
               for series in launches.series.values()):
        raise ResultError("; ".join(["the sides have no row in common: use the same benchmarks and options",
                                     *launches.warnings[-1:]]))
    return launches
