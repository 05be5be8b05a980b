# SPDX-License-Identifier: BSD-3-Clause
"""summarize.sh: the summary of results as a table (summary_table), as JSON, or for services that record it."""

import math

from commcost import command
from commcost.command import UsageError, complain
from commcost.result import json_text, metric_formats, summary_table
from commcost.result.benchmarks import unit_of
from commcost.result.metric_formats import Metric, as_number, without_na

PROGRAM = "summarize.sh"
FORMATS = {**metric_formats.FORMATS, "prometheus": metric_formats.prometheus_text}


def metrics_of(lines):
    """Returns the Metrics of Lines. The folder is a key if there are several."""
    for line in lines:
        row, names = line.of_the_row, (summary_table.FOLDER, *line.series.schema.keys)
        yield Metric(row["benchmark"], without_na(names, [row.get(name, "") for name in names]), line.series.quantity,
                     line.series.more, line.median, *line.interval,
                     {name: row[name] for name in summary_table.OF_A_ROW})


def json_of(lines, remarks):
    """Returns the summary as JSON, by docs/summary.schema.json."""
    def row_of(line):
        keys, quantity, values = line.series.schema.keys, line.series.quantity, line.values.values
        numbers = (line.median, *line.interval, min(values, default=None), max(values, default=None))
        own = [name for name in ("benchmark", summary_table.FOLDER) if name in line.of_the_row]
        return {**{name: line.of_the_row[name] for name in own},
                "keys": dict(zip(keys, map(json_text.cell_of, line.series.keys))), "quantity": quantity,
                "unit": unit_of(quantity), "better": "more" if line.series.more else "less",
                **dict(zip(("median", "lo", "hi", "min", "max"), map(as_number, numbers))),
                **{name: line.of_the_row[name] for name in summary_table.OF_A_ROW}}
    return json_text.text_of("summary.schema.json", {
        "rows": list(map(row_of, lines)),
        "remarks": [dict(zip(("kind", "text"), remark.split(": ", 1))) for remark in remarks]})


def main(words):
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... RESULTS...",
        """Prints one table of all launches of all benchmarks, for spreadsheets: a column for
each key, and a row for each quantity with the median over launches, its 95 %
interval (NA with fewer than six launches), minimum and maximum. RESULTS are
folders of results (run_suite.sh) or single files. A column
`results` separates several folders. Several files are launches of one result.""")
    names = ("tsv", "json", *FORMATS)
    made.add_argument("--format", choices=names, metavar="|".join(names), default="tsv",
                      help="table, JSON, or a service's format: see docs/output.md (default: tsv)")
    made.add_argument("--output", metavar="FILE", help="write to FILE instead of stdout")
    made.add_argument("--decimal", choices=(".", ","), default=".", help="decimal sign (default: .)")
    made.add_argument("--wide", action="store_true", help="one row for all quantities, a column of medians each")
    options = made.parse_with_results(words, math.inf)
    if options.format != "tsv" and (options.wide or options.decimal != "."):
        raise UsageError(f"--format={options.format} has no --wide and no --decimal: use --format=tsv")
    lines, remarks = summary_table.read_lines(options.paths)
    if options.format == "json":
        text, remarks = json_of(lines, remarks), []
    elif options.format == "tsv":
        text = summary_table.text_of(lines, options.decimal, options.wide)
    else:
        text = FORMATS[options.format](metrics_of(lines))
    command.write_to(options.output, text)
    for remark in remarks:
        complain(PROGRAM, remark)
    return command.EXIT_DONE
