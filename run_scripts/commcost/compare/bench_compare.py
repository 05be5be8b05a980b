"""bench_compare: the changes of each quantity between two sides (row_changes), for a CI gate or a reader."""

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
EXIT_TOO_FEW = 3  # too few launches in all rows


def tested_of(changes, limits):
    """Returns the tested Changes, and those with too few launches for any change to be significant."""
    tested = [change for change in changes if change.p is not None]
    return tested, [change for change in tested if len(tested) * rank_test.lowest_p(*change.launches) > limits.alpha]


def launches_hint(changes, limits):
    """Returns the hint about rows with too few launches, or "" if there are none."""
    tested, hopeless = tested_of(changes, limits)
    if not hopeless:
        return ""
    enough = rank_test.launches_needed(len(tested), limits.alpha)
    remedy = f"use at least {enough} per side" if enough else "use fewer rows"
    return f"{len(hopeless)} of {counted(len(tested), 'row')} have too few launches to show a change: {remedy}"


CHANGE_COLUMNS = ("base", "new", "change_pct", "change_lo_pct", "change_hi_pct", "p_value", "verdict", "better",
             "change_in", "p_uncorrected", "base_launches", "new_launches")


def columns_of(changes):
    keys = key_columns((change.series.schema for change in changes), ("benchmark", "quantity", *CHANGE_COLUMNS))
    return [(name, "key") for name in ("benchmark", *keys, "quantity")] + [(name, "info") for name in CHANGE_COLUMNS]


def p_text(value, digits=3):
    return "NA" if value is None else f"{value:.{digits}g}"


def cells_of(change):
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
    """Writes a table for each benchmark: the keys that vary and the main columns, below the other keys. If the new side
    lacks a benchmark, writes a warning instead."""
    output.remark("p", "probability of such a difference without a change, corrected for all rows")
    output.remark("verdict", f"changed: p of at most {options.alpha / 100:g}, and a change of at least "
                  f"{options.threshold:g} %")
    for several in grouped(comparison.changes, lambda change: change.series.schema):
        schema = several[0].series.schema
        if schema.benchmark in comparison.missing:
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
    """Returns the range of launches over rows that have any: "10" or "6 to 10"."""
    counts = {change.launches[side] for change in changes} - {0} or {0}
    return " to ".join(map(str, sorted({min(counts), max(counts)})))


def status_of(changes, limits, fail_on):
    verdicts = {change.verdict for change in changes}
    if verdicts & {SLOWER, FAILED, *fail_on}:
        return command.EXIT_FAILED
    tested, hopeless = tested_of(changes, limits)
    return EXIT_TOO_FEW if UNSURE in verdicts and len(hopeless) == len(tested) else command.EXIT_DONE


def text_of(options, words, comparison, status):
    output = Output(PROGRAM, options.no_header)
    metadata = [(SIDES[side], path) for side in (BASE, NEW) for path in options.sides[side]]
    metadata += [(name, f"{getattr(options, name):g}") for name in ("alpha", "threshold", "confidence")]
    is_table = options.format == "table"
    output.begin([] if is_table else columns_of(comparison.changes), [*metadata, ("format", options.format)], words)
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
        """Compares two sets of launches of the same benchmarks, row by row: slower,
faster, same, or not clear. A path is a result or a folder of results: files
PROGRAM.tsv with all launches and a column `run`, or runs/N/PROGRAM.tsv.

Exit status: 0 no row is slower or failed (stderr counts rows that are not
clear); 1 a row is slower, failed, or has a verdict of --fail-on; 2 wrong usage,
or results that can't be compared; 3 some rows are not clear, and no row has
enough launches to be called slower.""")
    several = {"metavar": "PATH...", "nargs": "+", "action": "append", "default": []}
    made.add_argument("--base", **several, help="results to compare with")
    made.add_argument("--new", **several, help="results that may be slower")
    made.add_argument("--alpha", metavar="PERCENT", type=command.percent(1e-6, 50), default=1.0,
                      help="chance of any false slower or faster in a comparison (default: 1)")
    made.add_argument("--threshold", metavar="PERCENT", type=command.percent(0, 1e6), default=5.0,
                      help="ignore smaller changes (default: 5)")
    made.add_argument("--confidence", metavar="PERCENT", type=command.percent(50, 99.99),
                      default=95.0, help="confidence of each interval (default: 95)")
    made.add_argument("--force", action="store_true", help="compare results of other options, ranks or nodes, too")
    names = {verdict.replace(" ", "-"): verdict for verdict in VERDICTS}
    made.add_argument("--fail-on", metavar="LIST", default=[], type=list_of(names.get, f"use some of {listed(names)}"),
                      help="exit with 1 for these verdicts, too: missing,not-clear")
    made.add_argument("--format", choices=("tsv", "table"), metavar="tsv|table", default="tsv",
                      help="all columns, or an aligned table of the main ones (default: tsv)")
    made.add_argument("--output", metavar="FILE", help="write to FILE instead of stdout")
    made.add_argument("--no-header", action="store_true", help="print rows only, notes and warnings on stderr")
    return made


def sides_of(options):
    """Returns the paths of both sides. UsageError unless there are two sides."""
    sides = sum(options.base, []), sum(options.new, [])
    if any(sides) and options.paths:
        raise UsageError(f"'{options.paths[0]:.200}' belongs to no side: name all paths after --base and --new")
    if not any(sides):
        sides = options.paths[:1], options.paths[1:]
    for side in (BASE, NEW):
        if not sides[side]:
            raise UsageError(f"the {SIDES[side]} side has no results: use {PROGRAM} BASE NEW")
    if len(options.paths) > 2:
        raise UsageError(f"{len(options.paths)} paths instead of 2: use {PROGRAM} BASE NEW, "
                         "or --base PATH... --new PATH...")
    return sides


def main(words):
    # --base=FIRST SECOND means --base FIRST SECOND.
    parts = [word.split("=", 1) if word.startswith(("--base=", "--new=")) else [word] for word in words]
    options = parser().parse_with_paths(sum(parts, []))
    options.sides = sides_of(options)
    limits = Limits(options.alpha / 100, options.threshold, options.confidence / 100)
    comparison = compare_sides(options.sides, limits, options.force, ": use --force to compare")
    hint, status = launches_hint(comparison.changes, limits), status_of(comparison.changes, limits, options.fail_on)
    comparison.remarks.extend([("note", hint)] if hint else [])
    command.write_to(options.output, text_of(options, words, comparison, status))
    if hint and not options.no_header:  # then notes are on stderr
        command.complain(PROGRAM, hint)
    unsure = sum(change.verdict == UNSURE for change in comparison.changes)
    if unsure and status == command.EXIT_DONE:
        command.complain(PROGRAM, f"not clear: {unsure} of {counted(len(comparison.changes), 'row')}: "
                         "use more launches, or --fail-on=not-clear to exit with 1")
    return status
