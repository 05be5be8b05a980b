"""cost.sh: what communication costs a program, and which changes would save time.

Joins a monitor's report of a program (monitor_report.py) with the results of benchmarks on the same
machine (machine_costs.py): what each kind of call took, its undisturbed cost, what was waiting, and
what could be saved (program_changes.py).
"""

import argparse
import functools
import re
import typing

from commcost import command
from commcost.cost import machine_costs, program_changes
from commcost.cost.machine_costs import Way
from commcost.cost.monitor_report import Calls, Monitored
from commcost.page import Column, Items, Page, Section, Text, grid_of, readable
from commcost.result import benchmarks
from commcost.result.intervals import Span, exactly
from commcost.result.result_writer import Output
from commcost.result.tables import NEW, read_tables
from commcost.words import counted, cut, decimals, grouped, short

PROGRAM = "cost.sh"
MIN_SAVING_PCT = 1.0  # of the run, that a saving is worth telling
TOLD_PCT = 1.0        # of the time inside MPI, that a line is worth
UNEVEN_PCT = 1.0      # of the run, that processes differ by
DISTURBED_PCT = 5.0   # of the time, that the system took from the processes in a row
SHOWN_PCT = 0.1       # of the time inside MPI, that a line or a command about calls is worth
WHAT, NOTE, CHANGE, CALLS = 32, 29, 60, 34  # letters of a table's cells: a line has at most 100
US = 1e-6

USED = ("overlap", "overlap_sweep", "collective", "syncbench", "msgrate")  # what costs are read from

STARTS_AND_ENDS = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")

PLAIN = (("form", "nonblocking"), ("test_calls", "0"))  # keys that go without saying

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
    if way.operation != "ibarrier" and not any(sizes) and not machine_costs.is_sync(way, 0):
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
               program.cost(operation, way=machine_costs.GAP) is None]
    for some in grouped(lacking, lambda operation: operation.calls.layout_of_pair):
        sizes = [operation.calls.size for operation in some]
        found.append((machine_costs.command_of(machine_costs.GAP, some[0].calls.layout_of_pair, sizes),
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


# ---- where the time went -------------------------------------------------------------------------

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


def ranged(span):
    """Low and high; "" where both are the same."""
    return "" if span.low == span.high else f"{short(span.low)} – {short(span.high)}"


def share(seconds, whole):
    return f"{short(100 * seconds / whole)} %"


def rows_text(rows):
    """The benchmarks' rows that something rests on, in words."""
    said = []
    for row in rows:
        program = row.identity.rpartition("-")[0].replace("_sweep", "")
        keys = " ".join(f"{name}={value}" for name, value in row.keys.items()
                        if value != "NA" and (name, value) not in PLAIN and program != f"overlap_{value}")
        said.append(f"{program} ({keys})" if keys else program)
    return "; ".join(dict.fromkeys(said)) or "the monitor's report alone"


COLUMNS = [(name, role) for role, names in (
    ("key", "kind change comm members ranks operation size_bytes"), ("info", "calls"),
    ("less", "in_calls_s"), ("info", "in_waits_s"), ("less", "machine_us"), ("info", "machine_lo_us machine_hi_us"),
    ("less", "machine_s waited_s"),
    ("info", "waited_lo_s waited_hi_s unexplained_s saved_s saved_lo_s saved_hi_s saved_pct rests_on text"))
           for name in names.split()]


def rows_of(account):
    """The rows of the table: the cells of each that aren't NA, by column."""
    for line in account.lines:
        yield {"kind": "cost", **of_calls(line.calls), **of_span("machine", "us", line.cost and line.cost.us, 3),
               "machine_s": decimals(line.own and line.own.value, 9), **of_span("waited", "s", line.waited, 9),
               "unexplained_s": decimals(line.unexplained_s, 9), "text": line.why or "NA",
               "rests_on": rows_text(line.cost.rows) if line.cost else "NA"}
    for saving in account.savings:
        yield {"kind": "saving", "change": saving.change, **of_calls(saving.calls),
               **of_span("saved", "s", saving.seconds, 9), "rests_on": rows_text(saving.rows),
               "saved_pct": decimals(100 * saving.seconds.value / account.run.seconds, 3),
               "text": " ".join([f"{saving.what}.", *saving.facts])}
    for said, in_s in account.uncovered:
        yield {"kind": "uncovered", "in_calls_s": decimals(in_s, 9), "text": said}


def of_calls(calls):
    return {"comm": calls.comm, "members": calls.members, "ranks": "NA" if calls.ranks is None else calls.ranks,
            "operation": calls.function, "size_bytes": decimals(calls.size, 0), "calls": decimals(calls.calls, 1),
            "in_calls_s": decimals(calls.in_s, 9), "in_waits_s": decimals(calls.wait_s, 9)}


def of_span(name, unit, span, digits):
    """The cells of a Span; none for None."""
    names = (f"{name}_{unit}", f"{name}_lo_{unit}", f"{name}_hi_{unit}")
    return {} if span is None else {name: decimals(end, digits) for name, end in zip(names, span)}


def table_of(account, words):
    """The table as a result, in one text."""
    run, output = account.run, Output(PROGRAM)
    output.begin(COLUMNS, [("ranks", run.ranks), ("run_s", f"{run.seconds:.9f}"),
                           ("inside_mpi_s", decimals(run.inside_s, 9)),
                           ("slowest_rank_s", decimals(run.slowest_s, 9))], words)
    for row in rows_of(account):
        output.row(row)
    for text in account.remarks:
        output.remark("warning", text)
    for spent in account.spent:
        note = f"; {spent.note}" if spent.note else ""
        output.remark("note", f"{spent.what}: {short(spent.seconds.value)} s, "
                      f"{share(spent.seconds.value, run.seconds)} of the run{note}")
    return output.text(command.EXIT_DONE)


def page_of(account):
    """The same as a Page: tables of a line each."""
    run = account.run
    on = "" if run.nodes is None else f" on {counted(run.nodes, 'node')}"
    how_to = [part for saving in account.savings for part in (Text(f"{saving.what}:"), *items(
        [*saving.facts, f"Rests on {rows_text(saving.rows)}."]))]
    missing_parts = [*items([f"{short(in_s)} s: {said}" for said, in_s in account.uncovered]), Text(
        "Run the commands in the build folder, with the program's binding; RESULTS is the results folder.", small=True)]
    parts = {
        "Where the time went": [seconds_grid(run, "time", account.spent, WHAT)],
        "What would save time": saving_parts(account),
        "How to do it": how_to,
        "Which calls": calls_parts(account),
        "What isn't measured": missing_parts if account.uncovered else [],
        "Mind": items(account.remarks)}
    sections = [Section(f"part{place}", heading, of) for place, (heading, of) in enumerate(parts.items(), 1) if of]
    return Page(
        f"What communication costs: {cut(run.metadata.get('command', [''])[0] or 'a program', 74)}",
        [Text(f"{short(run.seconds)} s, {counted(run.ranks, 'process', 'processes')}{on}."), *sections],
        "cost.sh --format=tsv has all of this as a table.", first_listed=3)


def items(texts):
    return [Items(texts, "short")] if texts else []


def saving_parts(account):
    if not account.savings:
        where = " in what the results cover" if account.uncovered else ""
        return [Text(f"Nothing{where} would save {account.min_saving_pct:g} % of the run or more for sure.")]
    changes = [Spent(saving.what, saving.seconds) for saving in account.savings]
    return [seconds_grid(account.run, "change", changes, CHANGE),
            Text("Two changes of the same calls don't add up.", small=True)]


def seconds_grid(run, heading, every, most):
    """A line for each Spent, the name cut to `most` letters."""
    return grid_of({
        Column(heading, "what"): [cut(spent.what, most) for spent in every],
        Column("s", "seconds", True): [short(spent.seconds.value) for spent in every],
        Column("range", "", True): [ranged(spent.seconds) for spent in every],
        Column("of the run", "share", True): [share(spent.seconds.value, run.seconds) for spent in every],
        Column("", "note"): [cut(spent.note, NOTE) for spent in every]}, "facts")


def calls_parts(account):
    """A line for each function and size; with the communicator if there are several."""
    lines = [line for line in account.lines if line.calls.in_s >= share_of_mpi(account.run, SHOWN_PCT)]
    comms = {line.calls.place for line in lines if line.calls.comm != "NA"}

    def name_of(calls):
        on = f" on {calls.comm}" if len(comms) > 1 and calls.comm != "NA" else ""
        return cut(calls.function + program_changes.of_size(calls) + on, CALLS)

    def seconds(values):
        return ["" if value is None else short(value) for value in values]

    return [grid_of({
        Column("calls", "operation"): [name_of(line.calls) for line in lines],
        Column("times", "calls", True): [round(line.calls.calls) for line in lines],
        Column("in MPI", "in_calls_s", True): seconds(line.calls.in_s for line in lines),
        Column("in waits", "in_waits_s", True): seconds(waits_of(line.calls) for line in lines),
        Column("each", "machine_us", True): seconds(line.cost and line.cost.us.value for line in lines),
        Column("undisturbed", "machine_s", True): seconds(line.own and line.own.value for line in lines),
        Column("waiting", "waited_s", True): seconds(line.waited and line.waited.value for line in lines),
        Column("other", "unexplained_s", True): seconds(line.unexplained_s for line in lines)}),
            Text(f"Without calls of less than {SHOWN_PCT:g} % of the time in MPI. Seconds of a process, mean of "
                 "those that made such calls. In waits: of the time in MPI, in calls that completed them. "
                 "Each: undisturbed µs of a call.", small=True)]


def waits_of(calls):
    """None of calls that another one doesn't complete."""
    return calls.wait_s if calls.wait_s or machine_costs.is_started(calls.function) else None


def main(words):
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... REPORT RESULTS",
        """Says where the time of a program's communication went, and what would save time:
joins REPORT, which the monitor wrote of it (MPIRT_MONITOR=all,output=REPORT),
with RESULTS, a folder of benchmark results of the same machine (run_suite.sh).
Times are seconds of a process, averages over those that made such calls.""")
    made.add_argument("--format", choices=("text", "tsv", "html"), default="text",
                      help="for reading (default), a table, or a page")
    made.add_argument("--output", metavar="FILE", help="write to FILE, not stdout")
    made.add_argument("--min-saving", metavar="PERCENT", type=command.percent(0, 100), default=MIN_SAVING_PCT,
                      help=f"leave out what saves less of the run (default: {MIN_SAVING_PCT:g} %%)")
    made.add_argument("--what-if", metavar="CHANGES", type=what_if, help="what another machine would "
                      "save: latency=-20%%,bandwidth=x2")
    options = made.parse_with_results(words, 2, 2)
    report, results = options.paths
    account = Account(report, read_tables(PROGRAM, [results]), options.min_saving, options.what_if)
    if options.format == "tsv":
        text = table_of(account, words)
    elif options.format == "html":
        text = page_of(account).as_html()
    else:
        text = readable(page_of(account).as_text())
    command.write_to(options.output, text)
    return command.EXIT_DONE
