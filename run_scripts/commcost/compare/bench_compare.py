"""bench_compare: did something get slower? Compares two sides, each of several launches, row by
row: by how much each quantity changed, with an interval and a verdict.

Launches of one program differ by more than a launch's own interval says, so they, not samples, are
what is compared: by the rank-sum test over launches. There are many rows, so the chance of a false
alarm is held for the call as a whole (Holm).
"""


from commcost import command
from commcost.command import UsageError
from commcost.compare.row_changes import BASE, FAILED, NEW, SIDES, SLOWER, VERDICTS, Limits, compare_sides
from commcost.page import Column, Grid, Row
from commcost.result import rank_test
from commcost.result.launches import key_columns
from commcost.result.result_writer import Output
from commcost.suite.launch_options import list_of
from commcost.words import UNSURE, counted, decimals, grouped, listed, short, six_digits

PROGRAM = "bench_compare"
EXIT_TOO_FEW = 3  # launches in all rows


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
