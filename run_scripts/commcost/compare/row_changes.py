"""Changes between two sides, each of several launches, row by row: by how much each quantity changed, with an interval
and a verdict.

Launches of one program differ by more than a launch's own interval says, so they, not samples, are
what is compared: by the rank-sum test over launches. There are many rows, so the chance of a false
alarm is held for the call as a whole (Holm)."""

import math
import typing

from commcost.compare.side_differences import differences
from commcost.result import rank_test
from commcost.result.launches import read_launches
from commcost.result.result_reader import ResultError
from commcost.words import UNSURE, counted, grouped, listed

BASE, NEW = 0, 1
SIDES = ("base", "new")
SLOWER = "slower"         # or less of what there should be more of
FASTER = "faster"
SAME = "same"             # the change's whole interval is within the threshold
FAILED = "failed"         # a new launch found wrong data
MISSING = "missing"       # all launches of the base have values, the new side has none
ADDED = "added"           # the other way round
IN_SOME = "in some"       # only one side has values, and not in all its launches: left out
VERDICTS = (SLOWER, FASTER, SAME, UNSURE, FAILED, MISSING, ADDED)


class Limits(typing.NamedTuple):
    alpha: float          # chance of a false slower or faster in a call, 0 to 1
    threshold_pct: float  # a smaller change doesn't matter
    confidence: float     # of the intervals, 0 to 1


class Change(typing.NamedTuple):
    """How a quantity of a row changed."""

    series: object
    launches: tuple     # a side that have a value
    base: typing.Optional[float]  # medians; None: no values
    new: typing.Optional[float]
    points: bool        # the change is in points, not in percent of the base
    change_pct: typing.Optional[float]  # None: no values on a side, or the base is 0
    interval: typing.Optional[rank_test.Interval]
    p: typing.Optional[float]           # None: not tested
    corrected_p: typing.Optional[float]
    verdict: str


def estimate(series, base, new, limits):
    """The Change of a series, from the values of both sides: all but what depends on other rows. A change is the
    Hodges-Lehmann estimate over launches: of the ratio where all values are above 0, else of the difference over the
    base's median. What is in percent (overlap_pct) changes by points: from 10 to 12 % is 2, not 20."""
    points = series.quantity.endswith(("_pct", "(%)"))
    verdict = FAILED if new.failed else MISSING if not new.values else ADDED if not base.values else UNSURE
    size, interval, p = None, None, None
    if base.values and new.values:
        size, interval = size_of_change(base.values, new.values, points, limits.confidence)
        p = rank_test.rank_sum_p(base.values, new.values) if verdict == UNSURE else None
    return Change(series, (len(base.values), len(new.values)), rank_test.median(base.values),
                  rank_test.median(new.values), points, size, interval, p, None, verdict)


def size_of_change(base, new, points, confidence):
    """The change in percent or points, and its interval, each or None."""
    middle, is_ratio = rank_test.median(base), not points and min(base) > 0 and min(new) > 0
    sides = [list(map(math.log, side)) if is_ratio else side for side in (base, new)]
    value, interval = rank_test.rank_shift(*sides, confidence)
    if not is_ratio and interval is not None and interval.low >= 0 >= interval.high:
        return 0.0, rank_test.Interval(0.0, 0.0)
    # Of 0 or less a change has no size in percent.
    if not is_ratio and not points and middle <= 0:
        return None, None

    def scaled(shift):
        return 100 * math.expm1(shift) if is_ratio else shift if points else 100 * shift / middle

    return scaled(value), None if interval is None else rank_test.Interval(*map(scaled, interval))


def judge(change, limits):
    """The verdict on a row that was tested."""
    size, interval = change.change_pct, change.interval
    # Any change from nothing to something is more than a share of it.
    matters = change.new > 0 if size is None else abs(size) >= limits.threshold_pct and size != 0
    if change.corrected_p <= limits.alpha and matters:
        return FASTER if (size is None or size > 0) == change.series.more else SLOWER
    if interval is not None and -limits.threshold_pct <= interval.low and interval.high <= limits.threshold_pct:
        return SAME
    return UNSURE


def compare(launches, limits):
    """The Changes of all series that have a value on either side. Rows that are found anew in each launch, as sources
    of noise are, are neither missing nor added, but IN_SOME."""
    changes = []
    for series in launches.series.values():
        sides = [launches.values(series, side) for side in (BASE, NEW)]
        for side in sides:
            if len(side.values) > rank_test.LAUNCHES_MAX:
                raise ResultError(f"more than {rank_test.LAUNCHES_MAX} launches a side of a row of "
                                  f"{series.schema.benchmark:.60}: compare fewer")
        if sides[BASE].values or sides[NEW].values or sides[NEW].failed:
            change = estimate(series, *sides, limits)
            one_side = {MISSING: BASE, ADDED: NEW}.get(change.verdict)
            is_left_out = one_side is not None and not launches.is_in_all(series, one_side)
            changes.append(change._replace(verdict=IN_SOME) if is_left_out else change)
    tested = [place for place, change in enumerate(changes) if change.p is not None]
    for place, corrected in zip(tested, rank_test.holm([changes[i].p for i in tested])):
        change = changes[place]._replace(corrected_p=corrected)
        changes[place] = change._replace(verdict=judge(change, limits))
    return changes


class Comparison(typing.NamedTuple):
    """Two sides against each other: their Launches, the Changes, pairs of note or warning and its text, and the
    benchmarks of which the new side has nothing."""

    launches: object
    changes: list
    remarks: list
    gone: list


def compare_sides(sides, limits, force=False, hint=""):
    """The Comparison of both sides' paths; ResultError where nothing can be compared, or without `force` shouldn't be,
    with a hint."""
    launches = read_all(sides)
    refused, differing = differences(launches)
    if refused and not force:
        raise ResultError(refused[0] + hint)
    every = compare(launches, limits)
    left_out = [change.series.schema.benchmark for change in every if change.verdict == IN_SOME]
    notes, gone = launches.notes[:], gone_altogether(every)
    if left_out:
        notes.append(f"left out: {counted(len(left_out), 'row')} that only some launches of one side have "
                     f"({listed(dict.fromkeys(left_out))})")
    warnings = [*launches.warnings, *launches.mixtures,
                *(f"{text}: differences may come from that" for text in refused + differing)]
    if gone:
        warnings.append(f"{listed(gone)} {'is' if len(gone) == 1 else 'are'} missing altogether on the new side")
    return Comparison(launches, [change for change in every if change.verdict != IN_SOME],
                      [("note", text) for text in notes] + [("warning", text) for text in warnings], gone)


def gone_altogether(changes):
    """The benchmarks of which the new side has nothing."""
    return [several[0].series.schema.benchmark for several in grouped(changes, lambda one: one.series.schema.benchmark)
            if all(change.verdict != FAILED and not change.launches[NEW] for change in several)]


def read_all(sides):
    """The Launches of both sides; ResultError where nothing can be compared."""
    launches = read_launches(*sides)
    for side in (BASE, NEW):
        own = [launch for launch in launches.launches if launch.side == side]
        if own and not launches.count(side):
            raise ResultError(f"the {SIDES[side]} side has no complete launch: its programs were "
                              "killed or interrupted, or had no space: measure it again")
    if not any(launches.values(series, BASE).launches and launches.values(series, NEW).launches
               for series in launches.series.values()):
        raise ResultError("; ".join(["the sides have no row in common: compare launches of the same "
                                     "benchmarks with the same options", *launches.warnings[-1:]]))
    return launches
