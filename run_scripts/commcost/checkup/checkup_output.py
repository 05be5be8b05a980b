# SPDX-License-Identifier: BSD-3-Clause
"""The check-up's output: a table for people, a file, JSON."""

import re

from commcost.checkup import checks
from commcost.checkup.findings import OK, PROBLEM, UNKNOWN, WARNING
from commcost.command import plain
from commcost.result import json_text
from commcost.words import counted

REMEDY_WIDTH = 27  # of output
LINE_ROOM = 71     # for a remedy and what became of it
COLUMNS = ("check", "scope", "status", "found", "expected", "cost_pct", "cost_lo_pct", "cost_hi_pct", "remedy")


def title(job, seconds):
    if not job.facts.ranks:
        return f"commcost check-up: none of {counted(job.asked_ranks, 'rank')} started, {seconds:.0f} s"
    hosts = sorted({rank.text("host") for rank in job.facts.ranks})
    found = re.match(r"([^,:0-9]*?)(?: Version:)?\s+v?([0-9][^ ,]*)", job.facts.ranks[0].text("mpi_library"))
    library = " ".join(found.groups()) if found else "MPI library unknown"
    used = f" ({job.transports})" if job.transports.names else ""
    return (f"commcost check-up: {counted(len(job.facts.ranks), 'rank')} on {counted(len(job.facts.nodes), 'node')} "
            f"({', '.join(hosts):.40}), {library}{used}, {seconds:.0f} s")


def printable(line):
    """The Line without control characters, which launchers' messages and variables may have."""
    return line._replace(**{name: plain(text) for name, text in line._asdict().items() if isinstance(text, str)})


def print_lines(lines):
    for line in map(printable, lines):
        print(f"  {line.status:<9} {line.check:<15} {line.found}")
        if line.remedy:
            # Up to 100 characters fit on a line.
            apart = " " if len(line.remedy) + len(line.tried) < LINE_ROOM else f"\n  {'':<25} "
            print(f"  {'':<9} {'try':<15} {line.remedy:<{REMEDY_WIDTH}}{apart}{line.tried}".rstrip())


def closing(lines, output):
    counts = [(sum(line.status == status for line in lines), status)
              for status in (OK, WARNING, PROBLEM, UNKNOWN)]
    return ", ".join(f"{count} {status}{'s' * (count != 1 and status in (WARNING, PROBLEM))}"
                     for count, status in counts if count) + f".   Findings: {output}"


def cells_of(job, line):
    """Returns the cells of a printable Line by column. Costs are numbers or None."""
    ratios = (line.gain.ratio, line.gain.low, line.gain.high) if line.gain else ()
    costs = [round(100 * (ratio - 1), 1) for ratio in ratios] or [None] * 3
    expected = checks.ALL_WELL.get(line.check, "NA").format(ranks=job.asked_ranks)
    return dict(zip(COLUMNS, (line.check, line.scope, line.status, line.found, expected, *costs, line.remedy or "NA")))


def table_of(job, lines):
    rows = [COLUMNS, *(["NA" if cell is None else str(cell) for cell in cells_of(job, line).values()]
                       for line in map(printable, lines))]
    return "".join("\t".join(row) + "\n" for row in rows)


def json_of(job, lines):
    """Returns the findings as JSON, by docs/checkup.schema.json."""
    return json_text.text_of("checkup.schema.json", {
        "ranks": len(job.facts.ranks), "transports": job.transports.names,
        "measured": {fact: {"value": value.value, "lo": value.low, "hi": value.high, "unit": unit}
                     for fact, (value, unit) in job.facts.measured.items()},
        "findings": [{**{name: None if cell == "NA" else cell for name, cell in cells_of(job, line).items()},
                      "tried": line.tried, "gain": line.gain and line.gain._asdict()}
                     for line in map(printable, lines)]})
