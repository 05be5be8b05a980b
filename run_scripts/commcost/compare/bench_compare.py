"""bench_compare: did something get slower? Compares two sides, each of several launches, row by
row: by how much each quantity changed, with an interval and a verdict.

Launches of one program differ by more than a launch's own interval says, so they, not samples, are
what is compared: by the rank-sum test over launches. There are many rows, so the chance of a false
alarm is held for the call as a whole (Holm).
"""

import math
import typing

from commcost import command
from commcost.command import UsageError
from commcost.page import Column, Grid, Row
from commcost.result import benchmarks, rank_test, result_metadata
from commcost.result.launches import key_columns, read_launches
from commcost.result.result_reader import PATH_SHOWN, ResultError
from commcost.result.result_writer import Output
from commcost.suite.launch_options import list_of
from commcost.words import UNSURE, counted, cut, decimals, grouped, listed, short, six_digits

PROGRAM = "bench_compare"
BASE, NEW = 0, 1
SIDES = ("base", "new")
EXIT_TOO_FEW = 3  # launches in all rows
VALUE_SHOWN = 1000  # letters of metadata
NAMES_SHOWN = 4     # benchmarks

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


def tested_of(changes, limits):
    """The Changes that were tested, and those of them in which no change could be significant, were it the only one."""
    tested = [change for change in changes if change.p is not None]
    return tested, [change for change in tested if len(tested) * rank_test.lowest_p(*change.launches) > limits.alpha]


def few_launches(changes, limits):
    """What to do where launches are too few in some rows; "" where there are enough."""
    tested, hopeless = tested_of(changes, limits)
    if not hopeless:
        return ""
    enough = rank_test.launches_needed(len(tested), limits.alpha)
    hint = f"at least {enough} launches a side" if enough else "more launches a side than this program takes"
    base, new = hopeless[-1].launches
    return (f"{len(hopeless)} of {len(tested)} rows have too few launches (such as {base} and {new}) for any change in "
            f"one of them to be told from chance: use {hint}, or fewer rows")


def differences(launches):
    """Sentences about metadata that differs between the sides' results of a benchmark: a list of those that change what
    is measured, and a list of all others. What differs alike in several benchmarks is one. What both sides have in two
    ways is no difference: rows are told apart by it."""
    refused, named, same = [], [], {}  # the first sentence about it, all benchmarks
    for (benchmark, key), said in launches.said.items():
        sides = set().union(*(one.sides for one in said.values()))
        two = sorted(said.values(), key=lambda one: one.sides == sides)[:2]
        is_alike = len(two) < 2 or len(sides) < 2 or two[0].sides == sides
        if is_alike or key in result_metadata.OF_A_LAUNCH | result_metadata.OF_THE_ROWS:
            continue
        two = sorted(two, key=lambda one: min(one.sides))
        own = tuple(one.parts - other.parts for one, other in (two, two[::-1]))
        same.setdefault((key, own), [difference(benchmark, key, own, *two)]).append(benchmark)
    for (key, _), (sentence, _, *more) in same.items():
        sentence += f" ({listed(more, NAMES_SHOWN)}, too)" if more else ""
        (named if key in result_metadata.OF_THE_SYSTEM | result_metadata.OF_THE_SAMPLING else refused).append(sentence)
    return refused, named


def difference(benchmark, key, own, *said):
    """The sentence about two values, of which `own` are the parts that the other lacks."""
    paths, values = zip(*((f"{one.path:.{PATH_SHOWN}}", cut(one.value, VALUE_SHOWN)) for one in said))
    if key in ("ranks", "nodes", "ranks_per_node"):
        return f"{paths[0]} ran on {values[0]} {key}, {paths[1]} on {values[1]}"
    if max(len(one.parts) for one in said) > 1:
        return f"{benchmark}: {key} has " + ", ".join(
            f"{cut('; '.join(sorted(parts)), VALUE_SHOWN)} only in {path}" for parts, path in zip(own, paths) if parts)
    if key in result_metadata.OF_THE_SYSTEM - {"timer"} or benchmarks.is_foreign(benchmark):
        return f"{benchmark}: {key} is {values[0]} in {paths[0]}, {values[1]} in {paths[1]}"
    return "{} was measured with --{}={}, {} with --{}={}".format(paths[0], key, values[0], paths[1], key, values[1])


OF_CHANGE = ("base", "new", "change_pct", "change_lo_pct", "change_hi_pct", "p_value", "verdict", "better",
             "change_in", "p_uncorrected", "base_launches", "new_launches")


def columns_of(changes):
    """The columns, with their roles: the benchmark, the keys of all benchmarks, then the comparison."""
    keys = key_columns((change.series.schema for change in changes), ("benchmark", "quantity", *OF_CHANGE))
    return [(name, "key") for name in ("benchmark", *keys, "quantity")] + [(name, "info") for name in OF_CHANGE]


def p_text(value, digits=3):
    return "NA" if value is None else f"{value:.{digits}g}"


def cells_of(change):
    """A row by column."""
    series = change.series
    low, high = change.interval or (None, None)
    return {**dict(zip(series.schema.keys, series.keys)), "benchmark": series.schema.benchmark,
            "quantity": series.quantity, "base": six_digits(change.base), "new": six_digits(change.new),
            "change_pct": decimals(change.change_pct, 2), "change_lo_pct": decimals(low, 2),
            "change_hi_pct": decimals(high, 2), "p_value": p_text(change.corrected_p), "verdict": change.verdict,
            "better": "more" if series.more else "less", "change_in": "points" if change.points else "percent",
            "p_uncorrected": p_text(change.p), "base_launches": change.launches[BASE],
            "new_launches": change.launches[NEW]}


def write_tables(output, comparison, options):
    """For people: a table for each benchmark, of the keys that vary in it and the main columns. Those that don't vary
    stand above it. Of a benchmark that is gone the warning says enough."""
    output.remark("p", f"chance of such a difference if nothing changed, corrected for all rows; up to "
                  f"{options.alpha / 100:g}, and with a change of {options.threshold:g} % or more, a row counts as "
                  "changed")
    for several in grouped(comparison.changes, lambda change: change.series.schema):
        schema = several[0].series.schema
        if schema.benchmark in comparison.gone:
            continue
        pairs = [dict(zip(schema.keys, change.series.keys), quantity=change.series.quantity) for change in several]
        varying = [name for name in pairs[0] if name == "quantity" or len({of_row[name] for of_row in pairs}) > 1]
        same = [f"{name} {value}" for name, value in pairs[0].items() if name not in varying and value != "NA"]
        output.remark(schema.benchmark, ", ".join(same) or "all rows")
        columns = [*map(Column, varying), *(Column(name, "", True) for name in ("base", "new", "change", "lo", "hi")),
                   Column("p", "", True), Column("verdict")]
        output.table(Grid(columns, [Row([
            *(of_row[name] for name in varying), *map(short_or_na, (change.base, change.new)),
            "NA" if change.change_pct is None else f"{change.change_pct:.1f} {'pts' if change.points else '%'}",
            *(decimals(end, 1) for end in change.interval or (None, None)), p_text(change.corrected_p, 2),
            change.verdict])
            for change, of_row in zip(several, pairs)]))


def short_or_na(value):
    return "NA" if value is None else short(value)


def launches_text(changes, side):
    """How many launches rows have that have any: 10, or 6 to 10."""
    counts = {change.launches[side] for change in changes} - {0} or {0}
    return " to ".join(map(str, sorted({min(counts), max(counts)})))


def status_of(changes, limits, fail_on):
    """The exit status."""
    verdicts = {change.verdict for change in changes}
    if verdicts & {SLOWER, FAILED, *fail_on}:
        return command.EXIT_FAILED
    tested, hopeless = tested_of(changes, limits)
    return EXIT_TOO_FEW if UNSURE in verdicts and len(hopeless) == len(tested) else command.EXIT_DONE


def text_of(options, words, comparison, status):
    """The result."""
    output = Output(PROGRAM, options.no_header)
    said = [(SIDES[side], path) for side in (BASE, NEW) for path in options.sides[side]]
    said += [(name, f"{getattr(options, name):g}") for name in ("alpha", "threshold", "confidence")]
    is_table = options.format == "table"
    output.begin([] if is_table else columns_of(comparison.changes), [*said, ("format", options.format)], words)
    if is_table:
        write_tables(output, comparison, options)
    else:
        for change in comparison.changes:
            output.row(cells_of(change))
    for kind, text in comparison.remarks:
        output.remark(kind, text)
    counts = {verdict: sum(change.verdict == verdict for change in comparison.changes) for verdict in VERDICTS}
    parts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    launches = " and ".join(launches_text(comparison.changes, side) for side in (BASE, NEW))
    output.remark("summary", f"{parts}; {launches} launches")
    return output.text(status)


def parser():
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... BASE NEW\n"
        f"       {PROGRAM} [OPTION]... --base PATH... --new PATH...",
        """Tells row by row what changed between two sets of launches of the same
benchmarks: slower, faster, same, or not clear. A path is a result, or a
folder of results: PROGRAM.tsv with all launches in it, told apart by a
column `run`, or runs/N/PROGRAM.tsv, one launch each.
Exit status: 0 nothing is shown to have got slower (stderr says how many rows
are not clear); 1 something did, or failed, or has a verdict of --fail-on; 2
wrong usage, or results that can't be compared; 3 no row has enough launches
for any verdict but same, and some aren't the same.""")
    several = {"metavar": "PATH...", "nargs": "+", "action": "append", "default": []}
    made.add_argument("--base", **several, help="files and folders of the side to compare with: all "
                      "words up to the next option")
    made.add_argument("--new", **several, help="files and folders of the side that may have got slower")
    made.add_argument("--alpha", metavar="PERCENT", type=command.percent(1e-6, 50), default=1.0,
                      help="chance that anything at all is called slower or faster in a call "
                      "where nothing changed (default: 1)")
    made.add_argument("--threshold", metavar="PERCENT", type=command.percent(0, 1e6), default=5.0,
                      help="a smaller change does not matter (default: 5)")
    made.add_argument("--confidence", metavar="PERCENT", type=command.percent(50, 99.99),
                      default=95.0, help="confidence of the intervals, each by itself (default: 95)")
    made.add_argument("--force", action="store_true", help="compare also what was measured with "
                      "other options, on other numbers of ranks or nodes")
    names = {verdict.replace(" ", "-"): verdict for verdict in VERDICTS}
    made.add_argument("--fail-on", metavar="LIST", default=[], type=list_of(names.get, f"use some of {listed(names)}"),
                      help="verdicts with which the exit status is 1, besides slower and failed, with commas: missing, "
                      "so that no row is left out; not-clear, so that each row is shown to be the same or faster")
    made.add_argument("--format", choices=("tsv", "table"), metavar="tsv|table", default="tsv", help="all columns "
                      "as tab-separated values, or the main ones aligned for reading (default: tsv)")
    made.add_argument("--output", metavar="FILE", help="write the result to FILE, not stdout")
    made.add_argument("--no-header", action="store_true", help="rows only: no metadata, no header "
                      "row; notes and warnings go to stderr")
    return made


def sides_of(options):
    """The paths of both sides; UsageError where the words aren't those of two."""
    sides = sum(options.base, []), sum(options.new, [])
    if any(sides) and options.paths:
        raise UsageError(f"'{options.paths[0]:.200}' belongs to no side: name all paths after --base and --new")
    if not any(sides):
        sides = options.paths[:1], options.paths[1:]
    for side in (BASE, NEW):
        if not sides[side]:
            raise UsageError(f"the {SIDES[side]} side has no results: use {PROGRAM} BASE NEW")
    if len(options.paths) > 2:
        raise UsageError(f"{len(options.paths)} paths, not two: use {PROGRAM} BASE NEW, or "
                         "--base PATH... --new PATH...")
    return sides


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


def main(words):
    # The first path may be behind a =, and others follow.
    parts = [word.split("=", 1) if word.startswith(("--base=", "--new=")) else [word] for word in words]
    options = parser().parse_with_paths(sum(parts, []))
    options.sides = sides_of(options)
    limits = Limits(options.alpha / 100, options.threshold, options.confidence / 100)
    comparison = compare_sides(options.sides, limits, options.force, ": compare launches of the same, or use --force")
    few, status = few_launches(comparison.changes, limits), status_of(comparison.changes, limits, options.fail_on)
    comparison.remarks.extend([("note", few)] if few else [])
    command.write_to(options.output, text_of(options, words, comparison, status))
    if few and not options.no_header:  # then the note itself is on stderr
        command.complain(PROGRAM, few)  # who only looks at the exit status must know, too
    unsure = sum(change.verdict == UNSURE for change in comparison.changes)
    if unsure and status == command.EXIT_DONE:
        command.complain(PROGRAM, f"not clear: {unsure} of {counted(len(comparison.changes), 'row')}: use more "
                         "launches; --fail-on=not-clear makes that exit 1")
    return status
