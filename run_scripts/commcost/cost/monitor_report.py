# SPDX-License-Identifier: BSD-3-Clause
"""A monitor's report of a program.

All times are seconds per rank: the report's sums over ranks, divided by the number of ranks that made such calls.
"""

import functools
import math
import typing

from commcost.command import UsageError
from commcost.cost.peer_waits import Pair
from commcost.result import rank_hosts
from commcost.result.intervals import Span
from commcost.result.result_reader import PATH_SHOWN, Result
from commcost.words import parsed_number

# Columns that reports of earlier versions lack are read as NA.
TEXTS = ("kind", "comm", "members", "operation", "rank", "site")
NUMBERS = ("ranks", "calls", "completed", "bytes", "in_calls_s", "size_bytes", "waited_s",
           "waited_lo_s", "waited_hi_s", "last_calls", "last_rank", "callers", "computed_s",
           "computed_after_s", "joinable", "slowest_s", "slowest_rank", "least_waited_s", "in_waits_s",
           "waited_files_s", "peer", "parallel_eff_pct", "load_balance_pct", "communication_eff_pct",
           "serialisation_eff_pct", "transfer_eff_pct")
# Columns of the total row, with their names in a sentence and the factors of which they are products.
EFFICIENCIES = (("parallel_eff_pct", "Parallel efficiency", "load balance × communication"),
                ("load_balance_pct", "Load balance", "mean computation / that of the rank with the most"),
                ("communication_eff_pct", "Communication efficiency", "serialisation × transfer"),
                ("serialisation_eff_pct", "Serialisation efficiency", "without waiting for late ranks: 100 %"),
                ("transfer_eff_pct", "Transfer efficiency", "if messages took no time: 100 %"))
NUMBER_MAX = 1e18  # larger than any count of a monitor
RECORD = "MPIRT_MONITOR=all,output=FILE"


def amount(text):
    """Returns the number in a cell, or None for NA and for numbers that no monitor writes."""
    value = parsed_number(text)
    return value if value is not None and 0 <= value <= NUMBER_MAX else None


class Layout(typing.NamedTuple):
    """A communicator's ranks and nodes, None if unknown."""

    ranks: typing.Optional[int]
    nodes: typing.Optional[int]


class Calls(typing.NamedTuple):
    """Calls of a function on a communicator, of one class of sizes or of all. Values that the report lacks are None."""

    kind: str
    comm: str
    members: str
    ranks: typing.Optional[int]
    function: str
    calls: float                       # per rank that made any
    size: typing.Optional[float]       # mean, in bytes
    in_s: float                        # inside MPI, including completion
    wait_s: typing.Optional[float]     # part of in_s in the calls that complete them
    between_s: typing.Optional[float]  # computation between start and completion
    after_s: typing.Optional[float]    # computation after completion
    joined: typing.Optional[float]     # share that could join an earlier call; of flushes, idle ones
    callers: int
    waited: typing.Optional[Span]      # for late ranks
    files: typing.Optional[float]      # share of `waited` for ranks delayed by file operations
    last: typing.Optional[tuple]       # the rank that was last most often, and its share of the calls
    least_waited_s: typing.Optional[float] = None  # of the rank that waited least
    nodes: typing.Optional[int] = None  # of the communicator, or of the job if unknown

    @property
    def layout(self):
        return Layout(self.ranks, self.nodes)

    @property
    def layout_of_pair(self):
        """Returns the layout of two ranks within a node or across nodes."""
        return Layout(2, None if self.nodes is None else min(2, self.nodes))

    @property
    def waited_for_work(self):
        """Returns the waiting for ranks delayed by work, or None if unknown."""
        return self.waited and self.waited.times(1 - (self.files or 0.0))

    @property
    def waited_for_files(self):
        return self.waited and self.waited.times(self.files or 0.0)

    @property
    def place(self):
        """Returns the communicator's identity."""
        return self.comm, self.members, self.ranks


class Monitored:
    """A report.

    metadata        values by key
    seconds         of the monitored run
    ranks, nodes    ranks and their nodes; nodes may be None
    inside_s        inside MPI, of all ranks together; slowest_s and slowest_rank are of the slowest
    least           rank and time of the rank that was least inside MPI, or None
    by_function     Calls of kinds pttopt and coll
    by_size         Calls of kind sizes
    others          Calls of kind calls, which completed nothing
    efficiencies    percentages by column, those that are known
    sites           rows of call sites and their modules, cells by column
    pairs           peer_waits.Pairs
    remarks         defects of the report, one line each
    """

    def __init__(self, path):
        """Reads the report. UsageError if no monitor wrote it, or if it has no rows."""
        self.by_function, self.by_size, self.others, self.pairs = [], [], [], []
        self.efficiencies = {}
        self.inside_s = self.slowest_s = self.slowest_rank = self.least = None
        with Result(path) as result:
            if result.benchmark != "mpirtmon":
                raise UsageError(f"{path:.{PATH_SHOWN}}: no report of the monitor: record one with {RECORD}")
            rows = [dict(zip(result.header, cells)) for cells in result.rows()]
        self.metadata = result.metadata
        self.sites = [row for row in rows if row["kind"] in ("site", "module")]
        self.seconds, ranks, nodes = (amount(result.value(key) or "")
                                      for key in ("snapshot_s", "ranks", "nodes"))
        self.ranks, self.nodes = int(ranks or 0), int(nodes or 0) or None
        self._hosts = rank_hosts.hosts_of(result.value("hosts") or "")
        self._nodes_of = {}  # by members
        if not rows or not self.seconds or not self.ranks:
            raise UsageError(f"{path:.{PATH_SHOWN}}: the report has no rows: record one with {RECORD}")
        for cells in rows:
            self._read({name: cells.get(name, "NA") for name in TEXTS},
                       {name: amount(cells.get(name, "NA")) for name in NUMBERS})
        again = "record it with MPIRT_MONITOR=all"
        self.remarks = [text for text, is_true in (
            ("the report is cut off: calls are missing", result.cut_line is not None or result.end is None),
            (f"the report has no total time in MPI: {again}", self.inside_s is None),
            (f"the report has no sizes, so calls have no cost: {again}", not self.by_size),
            ("the report is of an earlier version: no calls to merge or to overlap",
             self.by_size and all(calls.joined is None for calls in self.by_size)),
            (f"the report has no waiting for file operations, so load balance is unknown: {again}",
             any(calls.waited and calls.waited.value > 0 and calls.files is None for calls in self.by_function)))
                        if is_true]

    def _read_pair(self, texts, numbers):
        names = numbers["peer"], amount(texts["rank"])
        if None not in (*names, numbers["calls"], numbers["bytes"], numbers["in_calls_s"]):
            self.pairs.append(Pair(int(names[1]), int(names[0]), texts["operation"],
                                   numbers["calls"], numbers["bytes"], numbers["in_calls_s"]))

    def _read(self, texts, numbers):
        if texts["kind"] == "peer":
            self._read_pair(texts, numbers)
        if texts["rank"] != "NA":
            rank = amount(texts["rank"])
            if texts["kind"] == "total" and None not in (rank, numbers["in_calls_s"]):
                own = int(rank), numbers["in_calls_s"]
                self.least = min(self.least or own, own, key=lambda pair: pair[1])
            return
        if texts["kind"] == "total":
            self.inside_s, self.slowest_s, self.slowest_rank = (
                numbers[name] for name in ("in_calls_s", "slowest_s", "slowest_rank"))
            self.efficiencies = {name: numbers[name] for name, _, _ in EFFICIENCIES if numbers[name] is not None}
        into = {"pttopt": self.by_function, "coll": self.by_function, "sizes": self.by_size,
                "calls": self.others}.get(texts["kind"])
        if into is not None and numbers["in_calls_s"] is not None and (into is not self.by_size or numbers["calls"]):
            into.append(self._calls(texts, numbers))

    def _nodes(self, members, ranks):
        """Returns a communicator's nodes, or those of the job if unknown. Host names are used only if each node has its
        own."""
        if ranks == 1 or ranks == self.ranks or self._hosts is None or len(self._hosts) != self.nodes:
            return 1 if ranks == 1 else self.nodes
        if members not in self._nodes_of:
            self._nodes_of[members] = rank_hosts.nodes_of(members, self._hosts) or self.nodes
        return self._nodes_of[members]

    def _calls(self, texts, numbers):
        ranks, calls = numbers["ranks"], numbers["calls"] or 0
        callers = int(numbers["callers"] or min(ranks or self.ranks, self.ranks)) or 1
        of_each = {name: None if value is None else value / callers for name, value in numbers.items()}
        waited = [of_each[name] for name in ("waited_s", "waited_lo_s", "waited_hi_s")]
        last = None
        if None not in (numbers["last_rank"], numbers["last_calls"]) and calls > 0:
            last = int(numbers["last_rank"]), min(1.0, numbers["last_calls"] * callers / calls)
        return Calls(
            kind=texts["kind"], comm=texts["comm"], members=texts["members"], function=texts["operation"],
            ranks=None if ranks is None else int(ranks), nodes=self._nodes(texts["members"], ranks),
            calls=calls / callers, callers=callers,
            size=numbers["bytes"] / numbers["completed"] if numbers["completed"] and numbers["bytes"] is not None and
            texts["kind"] in ("sizes", "calls") else None,
            in_s=of_each["in_calls_s"], wait_s=of_each["in_waits_s"],
            between_s=of_each["computed_s"], after_s=of_each["computed_after_s"],
            joined=numbers["joinable"] / calls if numbers["joinable"] is not None and calls else None,
            waited=None if None in waited else Span(*waited), last=last,
            files=numbers["waited_files_s"] and min(1.0, numbers["waited_files_s"] / (numbers["waited_s"] or math.inf)),
            least_waited_s=numbers["least_waited_s"])

    def waiting_of(self, calls):
        """Returns the Span that a rank waited for late ranks in these calls, or None if unknown. The report has it for
        all sizes of a function together: each size gets its share by time in calls."""
        # The report may not distinguish two communicators.
        alike = [whole for whole in self.by_function if whole.place == calls.place and whole.function == calls.function]
        in_s = sum(whole.in_s * whole.callers for whole in alike)
        waited = [whole.waited.times(whole.callers) for whole in alike if whole.waited is not None]
        if not waited or in_s <= 0:
            return None
        return functools.reduce(Span.plus, waited).times(min(1.0, calls.in_s / in_s))
