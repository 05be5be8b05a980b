# SPDX-License-Identifier: BSD-3-Clause
"""An account of a program's communication: time and cost of its calls, savings, and calls without a cost."""

import argparse
import functools
import re
import typing

from commcost.cost import call_ways, machine_costs, program_changes
from commcost.cost.call_ways import Way
from commcost.cost.monitor_report import Calls, Monitored
from commcost.result import benchmarks
from commcost.result.intervals import Span, exactly
from commcost.result.tables import NEW
from commcost.words import counted, cut, grouped

LINE_PCT = 1.0        # of the time in MPI, min for a line of "Where the time went"
IMBALANCE_PCT = 1.0   # of the run
DISTURBED_PCT = 5.0   # of a row's time, lost to interruptions
SHOWN_PCT = 0.1       # of the time in MPI, min for a line or command about calls
US = 1e-6
USED = ("overlap", "overlap_sweep", "collective", "syncbench", "msgrate")  # kinds of results that have costs
STARTUP = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
# Functions that a benchmark measures by a key that reports lack.
UNREAD = {**dict.fromkeys(("MPI_Psend_init", "MPI_Precv_init"),
                          "overlap_partitioned measures it by partitions, which the report lacks"),
          "MPI_Neighbor_alltoallw": "halo and overlap_halo measure it by boxes, which the report lacks"}
# Metadata that identify the program's machine.
MACHINE = (("mpi_library", "MPI library"), ("mpi_device", "MPI device"), ("processor", "processor"),
           ("kernel", "kernel"), ("binding", "binding"), ("nodes", "number of nodes"))


class Line(typing.NamedTuple):
    """The time of calls of a function and size, in seconds per calling rank."""

    calls: Calls
    operation: typing.Optional[program_changes.Operation]  # that has these calls; None for calls without a size
    cost: typing.Optional[machine_costs.Cost]              # undisturbed, per call
    own: typing.Optional[Span]                             # undisturbed, of all calls
    waited: typing.Optional[Span]

    @property
    def unexplained_s(self):
        """Returns the time beyond own cost and waiting, or None if these are unknown."""
        if self.own is None:
            return None
        return self.calls.in_s - self.own.value - (self.waited.value if self.waited else 0.0)


class Uncovered(typing.NamedTuple):
    """Calls without a cost, and the command that measures them, or the reason why none does."""

    function: str
    command: str
    reason: str
    seconds: float  # per rank inside such calls

    @property
    def text(self):
        return self.command or f"{self.function}: {self.reason}"


class Spent(typing.NamedTuple):
    """A part of the run, in mean seconds per rank."""

    what: str
    seconds: Span
    note: str = ""


class Account:
    """A program's account.

    program    a program_changes.Program
    lines      Lines, in descending order of time
    savings    program_changes.Savings of at least `min_saving_pct` of the run
    remarks    defects of report and results
    uncovered  Uncovered calls, in descending order of time
    spent      Spent: the time in MPI, and its parts
    """

    def __init__(self, report, tables, min_saving_pct, other_machine):
        run = Monitored(report)
        tables, warnings = call_ways.comparable_rows(tables, run.metadata)
        self.run, self.min_saving_pct, self._results = run, min_saving_pct, tables.paths[NEW]
        self.program = program_changes.Program(run, machine_costs.OwnCosts(tables),
                                               program_changes.operations_of(run.by_size))
        self.lines = lines_of(self.program)
        self.savings = program_changes.savings_of(self.program, min_saving_pct / 100 * run.seconds)
        self.remarks = [*run.remarks, *warnings, *result_remarks(run, tables, self.lines)]
        least_s = share_of_mpi(run, SHOWN_PCT)
        self.uncovered = sorted((found for found in self._find_uncovered() if found.seconds >= least_s),
                                key=lambda found: -found.seconds)
        self.spent = [*mpi_times(run), *call_times(run, self.lines)]
        if other_machine is not None:
            self.spent.append(saving_elsewhere(other_machine, self.program, self.lines))

    def _find_uncovered(self):
        """Yields one Uncovered for all sizes of an operation."""
        missing = [line for line in self.lines if is_uncovered(line)]
        for some in grouped(missing, lambda line: (line.operation.way or line.calls.function, line.calls.layout,
                                                   not line.calls.size)):
            way, calls, sizes = some[0].operation.way, some[0].calls, [line.calls.size for line in some]
            reason = reason_of(way, calls, sizes)
            command = "" if reason else call_ways.command_of(
                way, calls.layout, [size for size in sizes if size] or [0], self._results)
            yield Uncovered(calls.function, command, reason, sum(line.calls.in_s for line in some))
        # The cost of messages that overlap each other is computed from msgrate's rates.
        lacking = [operation for operation in self.program.operations
                   if operation.way == Way("sendrecv", "ref_us") and operation.calls.joined and operation.calls.size and
                   self.program.cost(operation, way=call_ways.GAP) is None]
        for some in grouped(lacking, lambda operation: operation.calls.layout_of_pair):
            command = call_ways.command_of(call_ways.GAP, some[0].calls.layout_of_pair,
                                           [operation.calls.size for operation in some], self._results)
            yield Uncovered(some[0].calls.function, command, "", sum(operation.total("in_s") for operation in some))


def is_uncovered(line):
    return line.cost is None and line.operation is not None


def reason_of(way, calls, sizes):
    """Returns why no benchmark measures calls of a function with these sizes, or "" if one does."""
    if calls.function in UNREAD:
        return UNREAD[calls.function]
    if way is None:
        return "no benchmark measures it"
    if calls.layout.ranks is None or None in sizes:
        return "the report lacks its number of ranks or its size"
    has_data = way.operation == "ibarrier" or any(sizes) or call_ways.is_sync(way, 0)
    return "" if has_data else "no benchmark measures 0 bytes"


def lines_of(program):
    """Returns a Line for each function, communicator and size, or without sizes for each function."""
    run, found = program.run, []

    def add(calls, operation=None, cost=None):
        own = None if cost is None else cost.us.times(calls.calls * US)
        found.append(Line(calls, operation, cost, own, run.waiting_of(calls)))

    for operation in program.operations:
        cost = program.own_cost(operation)
        for calls in operation.parts:
            # Sends and receives of an exchange each have half of its cost.
            add(calls, operation, cost and cost._replace(us=cost.us.times(1 / len(operation.parts))))
    for calls in run.others if run.by_size else run.by_function + run.others:
        add(calls)
    return sorted(found, key=lambda line: -line.calls.in_s)


def result_remarks(run, tables, lines):
    """Yields differences between the results' machine and the program's, and defects of the results."""
    for key, name in MACHINE:
        own = run.metadata.get(key, [None])[0]
        others = {table.metadata.get(key, [None])[0] for table in tables.of(NEW)} - {None}
        if own is not None and others and own not in others:
            yield f"the {name} differs: {cut(min(others), 60)} in the results, {cut(own, 60)} in the report"
    rows = {id(row): row for line in lines if line.cost for row in line.cost.rows}.values()
    disturbed = [row for row in rows if max(map(float, row.texts("lost_pct")), default=0.0) > DISTURBED_PCT]
    if not any(benchmarks.entry_of(kind).kind in USED for kind in tables.kinds()):
        yield "no results of an overlap program, collective, syncbench or msgrate: use a results folder of run_suite.sh"
    elif disturbed:
        yield (f"{len(disturbed)} of {counted(len(rows), 'result')} lost more than {DISTURBED_PCT:g} % of the time to "
               "interruptions: rerun the benchmarks on a quiet machine")


class OtherMachine(typing.NamedTuple):
    """Another machine: its latency and its time per byte, relative to this machine."""

    words: str
    latency: float
    per_byte: float


def parse_machine(text):
    """Parses a value of --what-if: latency=-20%,bandwidth=x2."""
    factors = {"latency": 1.0, "bandwidth": 1.0}
    for word in text.split(","):
        name, _, change = word.partition("=")
        found = re.match(r"([+-]?[0-9]+(?:\.[0-9]+)?)%$|x([0-9]+(?:\.[0-9]+)?)$", change)
        if name not in factors or not found:
            raise argparse.ArgumentTypeError(f"'{text}': use changes like latency=-20%,bandwidth=x2")
        percent, times = found.groups()
        factors[name] = 1 + float(percent) / 100 if percent else float(times)
        if not 0.01 <= factors[name] <= 100:
            raise argparse.ArgumentTypeError(f"'{text}': {word} is out of range: use x0.01 to x100")
    return OtherMachine(text, factors["latency"], 1 / factors["bandwidth"])


def mpi_times(run):
    if run.inside_s is not None:
        yield Spent(f"In MPI, mean of {counted(run.ranks, 'rank')}", exactly(run.inside_s / run.ranks))
    if run.slowest_s is not None:
        yield Spent("In MPI, slowest rank", exactly(run.slowest_s),
                    "" if run.slowest_rank is None else f"rank {int(run.slowest_rank)}")
    # All ranks take equally long, so the rank with most work is least inside MPI. The others wait for it in any call.
    if run.least is not None and run.inside_s is not None:
        rank, least_s = run.least
        more_s = run.inside_s / run.ranks - least_s
        if more_s >= IMBALANCE_PCT / 100 * run.seconds:
            yield Spent("Load imbalance", exactly(more_s), f"rank {rank} works most")
    for what, name in (("Waiting for late ranks", "waited_for_work"),
                       ("Waiting for file operations", "waited_for_files")):
        waits = [(getattr(calls, name), calls) for calls in run.by_function if calls.waited]
        if any(waited.value > 0 for waited, _ in waits):
            yield Spent(what, mean_of(run, [(waited, calls.callers) for waited, calls in waits]),
                        f"most in {max(waits, key=lambda pair: pair[0].value)[1].function}")
    files = [calls for calls in run.others if calls.function.startswith("MPI_File_")]
    startup = [calls for calls in run.others if calls.function in STARTUP]
    for what, some in (("File operations", files), ("MPI startup and shutdown", startup)):
        seconds = mean_of(run, [(exactly(calls.in_s), calls.callers) for calls in some]) if some else exactly(0.0)
        if seconds.value >= share_of_mpi(run, LINE_PCT):
            yield Spent(what, seconds, f"most in {max(some, key=lambda calls: calls.in_s * calls.callers).function}")


def call_times(run, lines):
    """Yields the undisturbed cost of the measured calls, the rest of their time, and the time of uncovered calls."""
    min_s = share_of_mpi(run, LINE_PCT)
    known = [line for line in lines if line.own is not None]
    others = [(exactly(line.calls.in_s), line.calls.callers) for line in lines if is_uncovered(line)]
    has_others = others and mean_of(run, others).value >= min_s
    if any(line.own.value >= min_s for line in known):
        yield Spent("Undisturbed cost of calls", mean_of(run, [(line.own, line.calls.callers) for line in known]),
                    "of measured calls" if has_others else "from the benchmarks")
        rest = mean_of(run, [(exactly(line.unexplained_s), line.calls.callers) for line in known])
        if rest.value >= min_s:
            yield Spent("Rest: late messages, contention", rest)
        if rest.value <= -min_s:
            yield Spent("Saved by overlapping calls", rest, "or by back-to-back calls")
    if has_others:
        yield Spent("Calls not measured", mean_of(run, others), "commands below")


def saving_elsewhere(machine, program, lines):
    """Returns the time that another machine saves in measured calls. Latency is the time of the smallest measured size;
    the rest is proportional to the bytes."""
    saved_s = 0.0
    for line in lines:
        if line.own is not None:
            calls = line.operation.calls
            latency = program.costs.latency(line.operation.way, calls.layout, calls.size)
            then = latency * machine.latency + (1 - latency) * machine.per_byte
            saved_s += line.own.value * (1 - then) * line.calls.callers / program.run.ranks
    return Spent(f"{'Saved' if saved_s >= 0 else 'Added'} by the other machine", exactly(abs(saved_s)), machine.words)


def share_of_mpi(run, percent):
    """Returns a percentage of a rank's mean time in MPI, in seconds."""
    return percent / 100 * (run.inside_s or run.seconds) / run.ranks


def mean_of(run, spans):
    """Returns the mean Span per rank, from pairs of a Span and its number of ranks."""
    return functools.reduce(Span.plus, (span.times(callers) for span, callers in spans)).times(1 / run.ranks)
