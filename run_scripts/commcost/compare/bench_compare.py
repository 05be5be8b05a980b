# SPDX-License-Identifier: BSD-3-Clause
"""bench_compare: the changes of each quantity between two sides (row_changes), for a CI gate or a reader."""

from commcost import command
from commcost.command import UsageError
from commcost.compare import change_formats, change_table, find_why
from commcost.compare.change_table import PROGRAM
from commcost.compare.row_changes import BASE, FAILED, NEW, SIDES, SLOWER, VERDICTS, Limits, compare_sides
from commcost.result import rank_test
from commcost.suite.launch_options import list_of
from commcost.words import UNSURE, counted, listed

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


def status_of(changes, limits, failing):
    verdicts = {change.verdict for change in changes}
    if verdicts & failing:
        return command.EXIT_FAILED
    tested, hopeless = tested_of(changes, limits)
    return EXIT_TOO_FEW if UNSURE in verdicts and len(hopeless) == len(tested) else command.EXIT_DONE


def parser():
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... BASE NEW\n"
        f"       {PROGRAM} [OPTION]... --base PATH... --new PATH...\n"
        f"       {PROGRAM} --find-why [OPTION]... BASE NEW",
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
    formats = (*change_table.FORMATS, *change_formats.FORMATS)
    made.add_argument("--format", choices=formats, metavar="|".join(formats), default="tsv",
                      help="all columns, the main ones, or a format for CI (default: tsv)")
    made.add_argument("--find-why", action="store_true", help="find the reason for changes by launches: see "
                      "--find-why --help")
    made.add_argument("--output", metavar="FILE", help="write to FILE instead of stdout")
    made.add_argument("-v", "--verbose", action="store_true", help="list all differences between the sides")
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
    if "--find-why" in words:
        return find_why.main([word for word in words if word != "--find-why"])
    # --base=FIRST SECOND means --base FIRST SECOND.
    parts = [word.split("=", 1) if word.startswith(("--base=", "--new=")) else [word] for word in words]
    options = parser().parse_with_paths(sum(parts, []))
    options.sides = sides_of(options)
    is_table = options.format in change_table.FORMATS
    if options.no_header and not is_table:
        raise UsageError(f"--no-header: --format={options.format} has no header: use --format=tsv")
    limits = Limits(options.alpha / 100, options.threshold, options.confidence / 100)
    comparison = compare_sides(options.sides, limits, options.force, ": use --force to compare")
    failing = {SLOWER, FAILED, *options.fail_on}
    hint, status = launches_hint(comparison.changes, limits), status_of(comparison.changes, limits, failing)
    comparison.remarks.extend([("note", hint)] if hint else [])
    if is_table:
        text = change_table.text_of(options, words, comparison, status)
    else:
        text = change_formats.text_of(options, comparison, failing, status)
    command.write_to(options.output, text)
    if options.format in change_formats.WITHOUT_REMARKS:
        for kind, remark in change_table.remarks_on(comparison, options.verbose):
            command.complain(PROGRAM, f"{kind}: {remark}")
    elif hint and not options.no_header:  # then notes are on stderr
        command.complain(PROGRAM, hint)
    unsure = sum(change.verdict == UNSURE for change in comparison.changes)
    if unsure and status == command.EXIT_DONE:
        command.complain(PROGRAM, f"not clear: {unsure} of {counted(len(comparison.changes), 'row')}: "
                         "use more launches, or --fail-on=not-clear to exit with 1")
    return status
