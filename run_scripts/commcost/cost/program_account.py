"""An account of a program's communication: time and cost of its calls, what would save time, what isn't measured."""

import argparse
import functools
import re
import typing

from commcost.cost.call_ways import Way
from commcost.cost import call_ways, machine_costs, program_changes
from commcost.cost.monitor_report import Calls, Monitored
from commcost.result import benchmarks
from commcost.result.intervals import Span, exactly
from commcost.result.tables import NEW
from commcost.words import counted, cut, grouped

TOLD_PCT = 1.0        # of the time inside MPI, that a line is worth
UNEVEN_PCT = 1.0      # of the run, that processes differ by
DISTURBED_PCT = 5.0   # of the time, that the system took from the processes in a row
SHOWN_PCT = 0.1       # of the time inside MPI, that a line or a command about calls is worth
US = 1e-6
USED = ("overlap", "overlap_sweep", "collective", "syncbench", "msgrate")  # what costs are read from
STARTS_AND_ENDS = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
# Functions that a benchmark measures, by what the report doesn't tell.
UNREAD = {**dict.fromkeys(("MPI_Psend_init", "MPI_Precv_init"),
                          "overlap_partitioned measures it, by partitions, which the report doesn't have"),
          "MPI_Neighbor_alltoallw": "halo and overlap_halo measure it, by boxes, which the report doesn't have"}
# What must be alike for the results to be of the program's machine.
ALIKE = (("mpi_library", "MPI library"), ("mpi_device", "MPI device"), ("processor", "processor"),
         ("kernel", "kernel"), ("binding", "binding"), ("nodes", "number of nodes"))


class Line(typing.NamedTuple):
    """What calls of a function and size took, in seconds of a process that makes them."""

    calls: Calls
    operation: typing.Optional[program_changes.Operation]  # that they are part of; None of calls without a size
    cost: typing.Optional[machine_costs.Cost]              # undisturbed, of a call
    own: typing.Optional[Span]                             # of all of them
    waited: typing.Optional[Span]                          # where the monitor tells it

    @property
    def why(self):
        """Why there is no cost: the command that would measure it, or what else is missing."""
        return missing([self]) if self.cost is None and self.operation is not None else ""

    @property
    def unexplained_s(self):
        """What it took beyond its own cost and the waiting; None where these aren't known."""
        if self.own is None:
            return None
        return self.calls.in_s - self.own.value - (self.waited.value if self.waited else 0.0)


class Account:
    """All that is said of a program.

    program    a program_changes.Program
    lines      of Line, those that took most first
    savings    of program_changes.Saving, those of `min_saving_pct` of the run or more
    remarks    what is to be said of report and results
    uncovered  pairs of a command, or what else there is to say, and the seconds of a process inside such calls
    spent      a list of Spent: inside MPI, and what of that was for what
    """

    def __init__(self, report, tables, min_saving_pct, asked):
        run = Monitored(report)
        tables, unsure = machine_costs.of_the_program(tables, run.metadata)
        self.run, self.min_saving_pct = run, min_saving_pct
        self.program = program_changes.Program(run, machine_costs.OwnCosts(tables),
                                               program_changes.operations_of(run.by_size))
        self.lines = lines_of(self.program)
        self.savings = program_changes.savings_of(self.program, min_saving_pct / 100 * run.seconds)
        self.remarks = [*run.remarks, *unsure, *remarks_on(run, tables, self.lines)]
        self.uncovered = sorted((pair for pair in uncovered_of(self.program, self.lines)
                                 if pair[1] >= share_of_mpi(run, SHOWN_PCT)), key=lambda pair: -pair[1])
        self.spent = [*inside_mpi(run), *in_calls(run, self.lines),
                      *([] if asked is None else [elsewhere(asked, self.program, self.lines)])]


def lines_of(program):
    """A Line for each function, communicator and size; without sizes for each function."""
    run, found = program.run, []

    def add(calls, operation=None, cost=None):
        own = None if cost is None else cost.us.times(calls.calls * US)
        found.append(Line(calls, operation, cost, own, run.waiting_of(calls)))

    for operation in program.operations:
        cost = program.own_cost(operation)
        for calls in operation.parts:
            # Half of an exchange for what is sent, half for what is received.
            add(calls, operation, cost and cost._replace(us=cost.us.times(1 / len(operation.parts))))
    for calls in run.others if run.by_size else run.by_function + run.others:
        add(calls)
    return sorted(found, key=lambda line: -line.calls.in_s)


def missing(lines):
    """What would measure the calls of some Lines of a function, which differ by their sizes."""
    way, calls = lines[0].operation.way, lines[0].calls
    sizes = [line.calls.size for line in lines]
    if calls.function in UNREAD:
        return f"{calls.function}: {UNREAD[calls.function]}"
    if way is None:
        return f"{calls.function}: no benchmark measures it"
    if calls.layout.ranks is None or None in sizes:
        return f"{calls.function}: the report doesn't say on how many processes, or of which size"
    if way.operation != "ibarrier" and not any(sizes) and not call_ways.is_sync(way, 0):
        return f"{calls.function} of 0 bytes: no benchmark measures that"
    return machine_costs.command_of(way, calls.layout, [size for size in sizes if size] or [0])


def uncovered_of(program, lines):
    """What would measure the calls that the results don't cover: pairs of a command, one for all sizes of an operation,
    and the seconds of a process inside such calls."""
    groups = grouped([line for line in lines if line.why], lambda line: (
        line.operation.way or line.calls.function, line.calls.layout, not line.calls.size))
    found = [(missing(some), sum(line.calls.in_s for line in some)) for some in groups]
    # Messages that are under way together: their own cost needs msgrate's rates.
    lacking = [operation for operation in program.operations
               if operation.way == Way("sendrecv", "ref_us") and operation.calls.joined and operation.calls.size and
               program.cost(operation, way=call_ways.GAP) is None]
    for some in grouped(lacking, lambda operation: operation.calls.layout_of_pair):
        sizes = [operation.calls.size for operation in some]
        found.append((machine_costs.command_of(call_ways.GAP, some[0].calls.layout_of_pair, sizes),
                      sum(operation.total("in_s") for operation in some)))
    return found


def remarks_on(run, tables, lines):
    """How the results' machine differs from the program's, and what is to be said of results that say little."""
    for key, name in ALIKE:
        own = run.metadata.get(key, [None])[0]
        others = {table.metadata.get(key, [None])[0] for table in tables.of(NEW)} - {None}
        if own is not None and others and own not in others:
            yield f"the {name} differs: {cut(min(others), 60)} in the results, {cut(own, 60)} in the report"
    rows = {id(row): row for line in lines if line.cost for row in line.cost.rows}.values()
    disturbed = [row for row in rows if max(map(float, row.texts("lost_pct")), default=0.0) > DISTURBED_PCT]
    if not any(benchmarks.entry_of(kind).kind in USED for kind in tables.kinds()):
        yield ("the results have no row of an overlap program, collective, syncbench or msgrate, which say what calls "
               "cost: give the folder that run_suite.sh wrote")
    elif disturbed:
        yield (f"in {len(disturbed)} of {counted(len(rows), 'row')} of the results the system took more than "
               f"{DISTURBED_PCT:g} % of the time from the processes: measure again on a quieter machine")


class WhatIf(typing.NamedTuple):
    """Another machine: its latency and the time of a byte in parts of this one's."""

    words: str
    latency: float
    per_byte: float


def what_if(text):
    """The type of --what-if: latency=-20%,bandwidth=x2."""
    factors = {"latency": 1.0, "bandwidth": 1.0}
    for word in text.split(","):
        name, _, change = word.partition("=")
        found = re.match(r"([+-]?[0-9]+(?:\.[0-9]+)?)%$|x([0-9]+(?:\.[0-9]+)?)$", change)
        if name not in factors or not found:
            raise argparse.ArgumentTypeError(
                f"'{text}': use latency and bandwidth, each with a change such as -20% or x2: "
                "latency=-20%,bandwidth=x2")
        percent, times = found.groups()
        factors[name] = 1 + float(percent) / 100 if percent else float(times)
        if not 0.01 <= factors[name] <= 100:
            raise argparse.ArgumentTypeError(f"'{text}': {word} is no machine: use from x0.01 to x100")
    return WhatIf(text, factors["latency"], 1 / factors["bandwidth"])


class Spent(typing.NamedTuple):
    """Time of the run, in seconds of a process on average."""

    what: str
    seconds: Span
    note: str = ""


def inside_mpi(run):
    """What the monitor says by itself."""
    if run.inside_s is not None:
        yield Spent(f"In MPI, mean of {counted(run.ranks, 'process', 'processes')}", exactly(run.inside_s / run.ranks))
    if run.slowest_s is not None:
        yield Spent("In MPI, slowest process", exactly(run.slowest_s),
                    "" if run.slowest_rank is None else f"rank {int(run.slowest_rank)}")
    # One process has more to do than the others: all take as long, so it is the one that is least inside MPI, and
    # others wait for it wherever they meet it, in messages too.
    if run.least is not None and run.inside_s is not None:
        rank, least_s = run.least
        more_s = run.inside_s / run.ranks - least_s
        if more_s >= UNEVEN_PCT / 100 * run.seconds:
            yield Spent("Work that is uneven", exactly(more_s), f"rank {rank} has most of it")
    for what, name in (("Waiting for late processes", "waited_for_work"),
                       ("Waiting for those at files", "waited_for_files")):
        waits = [(getattr(calls, name), calls) for calls in run.by_function if calls.waited]
        if any(waited.value > 0 for waited, _ in waits):
            yield Spent(what, mean_of(run, [(waited, calls.callers) for waited, calls in waits]),
                        f"most in {max(waits, key=lambda pair: pair[0].value)[1].function}")
    for what, of_kind in (("Files", lambda calls: calls.is_of_file),
                          ("Start and end of MPI", lambda calls: calls.function in STARTS_AND_ENDS)):
        some = [calls for calls in run.others if of_kind(calls)]
        seconds = mean_of(run, [(exactly(calls.in_s), calls.callers) for calls in some]) if some else exactly(0.0)
        if seconds.value >= share_of_mpi(run, TOLD_PCT):
            yield Spent(what, seconds, f"most in {max(some, key=lambda calls: calls.in_s * calls.callers).function}")


def in_calls(run, lines):
    """What the calls cost that were measured, and what of them is neither cost nor waiting; what is in others."""
    min_s = share_of_mpi(run, TOLD_PCT)
    known = [line for line in lines if line.own is not None]
    others = [(exactly(line.calls.in_s), line.calls.callers) for line in lines if line.why]
    has_others = others and mean_of(run, others).value >= min_s
    if any(line.own.value >= min_s for line in known):
        yield Spent("Undisturbed cost of the calls", mean_of(run, [(line.own, line.calls.callers) for line in known]),
                    "of those that were measured" if has_others else "by the benchmarks")
        rest = mean_of(run, [(exactly(line.unexplained_s), line.calls.callers) for line in known])
        if rest.value >= min_s:
            yield Spent("Late partners, load, contention", rest)
        if rest.value <= -min_s:
            yield Spent("Less, since calls overlap", rest, "or follow one another")
    if has_others:
        yield Spent("Calls that weren't measured", mean_of(run, others), "commands: see below")


def elsewhere(asked, program, lines):
    """What another machine saves in calls that were measured. The latency is what the smallest measured size
    takes, the rest is for the bytes."""
    saved_s = 0.0
    for line in lines:
        if line.own is not None:
            calls = line.operation.calls
            latency = program.costs.latency(line.operation.way, calls.layout, calls.size)
            then = latency * asked.latency + (1 - latency) * asked.per_byte
            saved_s += line.own.value * (1 - then) * line.calls.callers / program.run.ranks
    return Spent(f"{'Saved' if saved_s >= 0 else 'Added'} by another machine", exactly(abs(saved_s)), asked.words)


def share_of_mpi(run, percent):
    """A share of what a process is inside MPI, on average, in seconds."""
    return percent / 100 * (run.inside_s or run.seconds) / run.ranks


def mean_of(run, spans):
    """The Span of a process on average, from pairs of a Span and the number of processes that it is of."""
    return functools.reduce(Span.plus, (span.times(callers) for span, callers in spans)).times(1 / run.ranks)
