# SPDX-License-Identifier: BSD-3-Clause
"""call_sites.sh: the time of a program in MPI by source line.

Reads a monitor's report with the flag `site`. Sites of one function on one line are one entry.
"""

import typing

from commcost import command
from commcost.cost.monitor_report import amount
from commcost.page import Column, Items, Page, Section, Text, grid_of, readable
from commcost.result.call_sites import CallSites
from commcost.result.result_reader import PATH_SHOWN, Result
from commcost.words import counted, cut, short

PROGRAM = "call_sites.sh"
RECORD = "MPIRT_MONITOR=site,output=FILE"
LINES = 20
CALL, PLACE = 22, 34  # characters of a table's cells: a line has at most 100


class LineTime(typing.NamedTuple):
    """Sums over ranks of a function's calls on a line. Values that the report lacks are None."""

    function: str
    place: str                           # source line, or the site if it is unknown
    in_s: float                          # inside MPI
    waits_s: typing.Optional[float]      # of waits, elsewhere, for operations that start here
    waited_s: typing.Optional[float]     # for late ranks
    calls: float
    slowest: typing.Optional[tuple]      # the largest time of a rank, and the rank


def total(values):
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def line_times(rows, sites):
    """Returns the LineTimes of a report's rows (cells by column), those with most time first."""
    groups = {}
    for row in rows:
        if row["kind"] == "site" and row["rank"] == "NA":
            groups.setdefault((row["operation"], sites.text(row["site"])), []).append(
                {name: amount(cell) for name, cell in row.items()})
    found = []
    for (function, place), group in groups.items():
        slowest = [(cells["slowest_s"], int(cells["slowest_rank"])) for cells in group
                   if None not in (cells["slowest_s"], cells["slowest_rank"])]
        found.append(LineTime(
            function, place, total(cells["in_calls_s"] for cells in group) or 0.0,
            *(total(cells[name] for cells in group) for name in ("in_waits_s", "waited_s", "calls")),
            slowest=max(slowest) if slowest else None))
    return sorted(found, key=lambda line: -line.in_s)


def page_of(path, lines, most, result, remarks):
    """Returns the Page of the report's LineTimes, the first `most` of them."""
    whole = sum(line.in_s for line in lines)

    def seconds(values):
        return ["" if not value else short(value) for value in values]

    shown = lines[:most]
    table = grid_of({
        Column("s", "in_calls_s", True): [short(line.in_s) for line in shown],
        Column("of MPI", "share", True): [f"{short(100 * line.in_s / whole)} %" if whole else "" for line in shown],
        Column("late ranks", "waited_s", True): seconds(line.waited_s for line in shown),
        Column("waits", "in_waits_s", True): seconds(line.waits_s for line in shown),
        Column("calls", "calls", True): [round(line.calls or 0) for line in shown],
        Column("slowest", "slowest_rank", True): [f"rank {line.slowest[1]}" if line.slowest else "" for line in shown],
        Column("call", "operation"): [cut(line.function, CALL) for line in shown],
        Column("line", "site"): [cut(line.place, PLACE) for line in shown]}, "facts")
    hidden = sum(line.in_s for line in lines[most:])
    rest = [Text(f"{counted(len(lines) - most, 'more line')}: {short(hidden)} s.", small=True)] if hidden else []
    legend = Text("Seconds, sums over ranks. Late ranks: the part spent waiting for them in collectives. Waits: time of "
                  "waits on other lines for the operations that start here.", small=True)
    caveats = [Section("part2", "Caveats", [Items(remarks, "short")])] if remarks else []
    return Page(f"Time in MPI by source line: {cut(result.value('command') or path, 68)}",
                [Text(f"{counted(int(amount(result.value('ranks') or '') or 0), 'rank')}, {short(whole)} s in MPI."),
                 Section("part1", "Lines", [table, *rest, legend]), *caveats], "", first_listed=2)


def main(words):
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... REPORT",
        f"""Prints the time of a program in MPI by source line. REPORT is the monitor's
report ({RECORD}). The program must be compiled with -g.""")
    made.add_argument("--output", metavar="FILE", help="write to FILE instead of stdout")
    made.add_argument("--lines", metavar="N", type=int, default=LINES, help=f"print at most N lines (default: {LINES})")
    options = made.parse_with_results(words, 1, name="REPORT")
    path, = options.paths
    with Result(path) as result:
        rows = [dict(zip(result.header, cells)) for cells in result.rows()]
    if result.benchmark != "mpirtmon" or not any(row["kind"] == "site" for row in rows):
        raise command.UsageError(f"{path:.{PATH_SHOWN}}: no report with call sites: record one with {RECORD}")
    sites = CallSites(rows, result.value("date") or "")
    page = page_of(path, line_times(rows, sites), max(1, options.lines), result, sites.remarks)
    command.write_to(options.output, readable(page.as_text().rstrip() + "\n"))
    return command.EXIT_DONE
