"""summary.tsv: one row for each quantity of each row of all benchmarks, over all launches.

The table is for spreadsheets and scripts: a header row and rows, tab-separated, without comments.
"""

import math
import sys

from commcost import command
from commcost.command import UsageError, complain
from commcost.reading import rank_test, settings
from commcost.reading.benchmarks import unit_of
from commcost.reading.launches import read_launches
from commcost.reading.results import ResultError, cell_text
from commcost.words import six_digits

PROGRAM = "summarize.sh"
CONFIDENCE = 0.95
MIXTURES_MAX = 5
HEADER = ("benchmark", "key", "quantity", "unit", "median", "lo", "hi", "min", "max", "launches",
          "status")


def rows_of(launches):
    """The rows of the summary, as lists of numbers (None: NA) and texts. The interval is that of
    the median over launches; there is none with fewer than six. A quantity that a row never has is
    left out where it has others."""
    measured = {(series.schema, series.keys): False for series in launches.series.values()}
    for series in launches.series.values():
        measured[series.schema, series.keys] |= bool(launches.values(series, 0).values)
    rows = []
    for series in launches.series.values():
        values = launches.values(series, 0)
        if not values.launches or not values.values and measured[series.schema, series.keys]:
            continue
        interval = rank_test.median_interval(values.values, CONFIDENCE) or (None, None)
        # A blank tells words apart, so there is none in a value.
        key = " ".join(f"{name}={value.replace(' ', '_')}"
                       for name, value in zip(series.schema.keys, series.keys))
        rows.append([series.schema.benchmark, key, series.quantity, unit_of(series.quantity),
                     rank_test.median(values.values), *interval,
                     min(values.values, default=None), max(values.values, default=None),
                     values.launches, launches.statuses[series.schema, series.keys]])
    return rows


def lines_of(rows, decimal="."):
    """The lines of the table. `decimal` is the sign between a number's whole part and the rest."""
    def cell(value):
        if value is None:
            return "NA"
        if isinstance(value, float):
            return six_digits(value).replace(".", decimal)
        return cell_text(str(value))
    return ["\t".join(map(cell, row)) + "\n" for row in [HEADER, *rows]]


def summarize(paths, decimal="."):
    """The summary of results and folders of results, as one text, and what is to be said of it, a
    list of lines. ResultError for what is no result."""
    launches = read_launches(paths)
    rows = rows_of(launches)
    if not rows:
        why = launches.warnings[-1] if launches.warnings else "no column of its rows is a result"
        raise ResultError(f"{paths[0]:.200}: no values: {why}")
    remarks = [f"warning: {text}" for text in launches.warnings + mixtures(launches)]
    few = sum(row[HEADER.index("lo")] is None for row in rows)
    if few:
        remarks.append(f"note: {few} of {len(rows)} rows have fewer than 6 launches and so no "
                       "interval: run more (run_suite.sh --runs=6)")
    return "".join(lines_of(rows, decimal)), remarks


def mixtures(launches):
    """What launches that are put together were measured with that changes what is measured."""
    found = []
    for (benchmark, key), said in launches.said.items():
        if len(said) > 1 and key not in settings.MAY_DIFFER:
            found.append(f"{benchmark} was measured with {key} {said[0].value} ({said[0].path}) and "
                         f"{said[1].value} ({said[1].path}): rows are made of both")
    return found[:MIXTURES_MAX]


def main(words):
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... RESULTS...",
        """Puts all launches of all benchmarks into one table for spreadsheets: a row for
each quantity, with the median over launches, its 95 % interval (NA with fewer
than six launches), the lowest and the highest launch. RESULTS are folders of
results, as run_suite.sh leaves them, or single files.""")
    made.add_argument("--output", metavar="FILE", help="write the table to FILE, not stdout")
    made.add_argument("--decimal", choices=(".", ","), default=".",
                      help="the decimal sign that the spreadsheet expects (default: .)")
    options = made.parse_with_results(words, math.inf)
    text, remarks = summarize(options.paths, options.decimal)
    try:
        if options.output is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            with open(options.output, "w", encoding="utf-8") as stream:
                stream.write(text)
    except OSError as error:
        raise UsageError(f"--output: cannot write '{options.output or 'stdout':.200}': "
                         f"{error.strerror}: use a file that can be written") from None
    for remark in remarks:
        complain(PROGRAM, remark)
    return command.EXIT_DONE
