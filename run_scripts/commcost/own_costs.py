"""What calls cost on a machine by themselves: read off the benchmarks' results.

A cost is interpolated between the two measured sizes on either side, in a straight line over the
size, and never read beyond them. Collectives count for communicators of as many processes as were
measured.
"""

import math
import re
import typing

from commcost import benchmarks, rank_test
from commcost.evidence import CONFIDENCE, LAUNCHES_ENOUGH, Measured, measured
from commcost.facts import Facts, size_of
from commcost.results import parsed_number
from commcost.spans import Span, span_of
from commcost.tables import NEW

ELEMENT = 8  # bytes, of the benchmarks' element; what is smaller costs as much
GAP_PATTERN = "all-start"  # of msgrate: all receives and sends are started, then completed


class Cost(typing.NamedTuple):
    """What a call costs: us, the rows (tables.Row) that this rests on, and the us that each launch
    found, where all launches have these rows."""

    us: Span
    rows: tuple
    by_launch: tuple = ()

    def over(self, other):
        """The Span of the ratio of two costs. What makes a launch slower does so to both, so that
        its ratio says more than the ratio of what all found."""
        if len(self.by_launch) != len(other.by_launch) or len(self.by_launch) < 2:
            return self.us.over(other.us)
        ratios = sorted(one / two for one, two in zip(self.by_launch, other.by_launch))
        ends = (rank_test.median_interval(ratios, CONFIDENCE) if len(ratios) >= LAUNCHES_ENOUGH
                else None) or (ratios[0], ratios[-1])
        return Span(rank_test.median(ratios), *ends)


class Way(typing.NamedTuple):
    """Which rows of the overlap programs: the operation, its form, and the column."""

    operation: str
    column: str
    form: str = "nonblocking"


# Messages are measured by pairs of processes, whatever their number.
OF_PAIRS = ("isend", "irecv", "sendrecv", "put", "get")
_MESSAGES = {"MPI_Send": "isend", "MPI_Ssend": "isend", "MPI_Rsend": "isend", "MPI_Recv": "irecv",
             "MPI_Sendrecv": "sendrecv", "MPI_Put": "put", "MPI_Get": "get"}
_STARTED = {"MPI_Isend": "isend", "MPI_Issend": "isend", "MPI_Irsend": "isend",
            "MPI_Send_init": "isend", "MPI_Ssend_init": "isend", "MPI_Rsend_init": "isend",
            "MPI_Irecv": "irecv", "MPI_Recv_init": "irecv", "MPI_Rput": "put", "MPI_Rget": "get"}
_COLLECTIVES = ("iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv", "ialltoallw",
                "ibarrier", "ibcast", "iexscan", "igather", "igatherv", "ineighbor_allgather",
                "ineighbor_alltoall", "ireduce", "ireduce_scatter", "ireduce_scatter_block",
                "iscan", "iscatter", "iscatterv")


def is_started(function):
    """Whether another call completes what the function starts."""
    return function in _STARTED or bool(re.match("MPI_(I[a-z]|.*_init$)", function))


def operation_of(function):
    """The overlap programs' name of what a function does: iallreduce of MPI_Allreduce; None if none
    of them measures it."""
    if function in _MESSAGES or function in _STARTED:
        return _MESSAGES.get(function) or _STARTED[function]
    name = re.sub("^MPI_I?|_init$", "", function).lower()
    return "i" + name if "i" + name in _COLLECTIVES else None


def way_of(function):
    """The Way that has what a call of the function, and what completes it, costs; None: no
    benchmark measures it."""
    operation = operation_of(function)
    if operation is None:
        return None
    if function.endswith("_init") and operation in _COLLECTIVES:
        return Way(operation, "ref_us", "persistent")
    return Way(operation, "ref_us" if is_started(function) else "blocking_us")


class OwnCosts:
    """The results of one machine (tables.Tables). Of those of one number of processes that were
    placed on nodes in several ways, those of `nodes` nodes count, if there are any."""

    def __init__(self, tables, nodes=None):
        self._facts = {}
        by_ranks = {}
        for table in tables.of(NEW):
            ranks = parsed_number(table.metadata.get("ranks", ["NA"])[0])
            if ranks is not None:
                by_ranks.setdefault(int(ranks), []).append(table)
        for ranks, some in by_ranks.items():
            alike = [table for table in some if table.metadata.get("nodes", [None])[0] == nodes]
            self._facts[ranks] = Facts(tables.only(alike or some))
        self._points = {}

    @property
    def lost_share(self):
        """The share of the time that the system took from the processes while the benchmarks ran:
        the mean of their rows; 0 where they don't say it."""
        found = [float(text) for facts in self._facts.values() for kind in facts.kinds()
                 for row in facts.rows(kind) for text in row.texts("lost_pct")]
        return sum(found) / len(found) / 100 if found else 0.0

    def _measured_points(self, ranks, way):
        """(size, row, Measured) by rising size."""
        key = ranks, way
        if key not in self._points:
            found = {}
            facts = self._facts[ranks]
            for kind in facts.kinds():
                entry = benchmarks.entry_of(kind)
                if entry.kind not in ("overlap", "overlap_sweep"):
                    continue
                for row, value in _pairs(facts, entry, kind, way):
                    found.setdefault(_size_in(row), (row, value))
            self._points[key] = sorted(((size, *pair) for size, pair in found.items()),
                                       key=lambda point: point[0])
        return self._points[key]

    def cost(self, way, ranks, size):
        """The Cost of an operation on a communicator of so many processes; None where that wasn't
        measured."""
        if ranks is None:
            return None
        if way.operation in OF_PAIRS:
            ranks = self._ranks_of_pairs(way, ranks, size)
        elif way.operation == "ibarrier" and way.column == "blocking_us":
            return self._barrier(ranks) or self._at(way, ranks, 0)
        return self._at(way, ranks, size)

    def _ranks_of_pairs(self, way, ranks, size):
        """With which number of processes messages were measured: this one, or the next best."""
        usable = [number for number in self._facts if self._at(way, number, size) is not None]
        return min(usable, key=lambda number: (abs(number - ranks), number), default=ranks)

    def _at(self, way, ranks, size):
        if ranks not in self._facts or size is None:
            return None
        points = self._measured_points(ranks, way)
        return interpolated(points, max(size, ELEMENT) if size > 0 else size, way.column)

    def gap(self, ranks, size):
        """The Cost of one more exchange of messages where others are under way at the same time:
        msgrate's with warm caches, of which a process sends and receives as many; None where that
        wasn't measured."""
        if ranks is None or size is None:
            return None
        usable = {number: points for number, facts in self._facts.items()
                  for points in [_gaps(facts)] if points and points[0][0] <= size <= points[-1][0]}
        if not usable:
            return None
        return interpolated(usable[min(usable, key=lambda number: (abs(number - ranks), number))],
                            size, None)

    def _barrier(self, ranks):
        pairs = self._facts[ranks].measured("syncbench", "sync_us", sync="MPI barrier") \
            if ranks in self._facts else []
        pairs = [pair for pair in pairs if pair[0].keys["ranks"] in (str(ranks), "NA")]
        return Cost(span_of(pairs[0][1]), (pairs[0][0],)) if pairs else None

    def smallest(self, way, ranks, size):
        """The Cost of the smallest size that was measured, as cost() finds the results."""
        if ranks is None:
            return None
        if way.operation in OF_PAIRS:
            ranks = self._ranks_of_pairs(way, ranks, size)
        points = self._measured_points(ranks, way) if ranks in self._facts else []
        return Cost(span_of(points[0][2]), (points[0][1],)) if points else None


def _pairs(facts, entry, kind, way):
    quantity, = (quantity for quantity in entry.quantities if quantity.column == way.column)
    for row in facts.rows(kind, collective=way.operation, form=way.form, test_calls="0"):
        value = measured(row, quantity)
        if value is not None:
            yield row, value


def _gaps(facts):
    """(bytes, row, Measured us) of msgrate by rising size."""
    found = [(size_of(row, "nbytes"), row, Measured(
        2e6 / rate.value, *((None, None) if rate.low is None else (2e6 / rate.high, 2e6 / rate.low)),
        rate.launches)) for row, rate in facts.measured("msgrate", "rate_per_s", pattern=GAP_PATTERN,
                                                        cache_size="0") if rate.value > 0]
    return sorted(found, key=lambda point: point[0])


def _size_in(row):
    """A row's size in bytes: a key of it, or, where the launch chose it, a number that launches
    have."""
    if "size_bytes" in row.keys:
        return size_of(row, "size_bytes")
    sizes = sorted(map(float, row.texts("size_bytes")))
    return sizes[len(sizes) // 2] if sizes else 0.0


def interpolated(points, size, column):
    """The Cost at a size from (size, row, Measured of this column) by rising size; None beyond
    them. A size of 0 counts only where that was measured. Without a column of what launches found
    the Cost doesn't have that."""
    if not points or not points[0][0] <= size <= points[-1][0]:
        return None
    for (low, low_row, low_value), (high, high_row, high_value) in zip(points, points[1:]):
        if low <= size <= high and size not in (low, high):
            share = (size - low) / (high - low)
            pairs = zip(of_launches(low_row, column), of_launches(high_row, column))
            return Cost(span_of(low_value).times(1 - share).plus(span_of(high_value).times(share)),
                        (low_row, high_row),
                        tuple((1 - share) * one + share * two for one, two in pairs)
                        if len(low_row.launches) == len(high_row.launches) else ())
    row, value = next((row, value) for at, row, value in points if at == size)
    return Cost(span_of(value), (row,), of_launches(row, column))


def of_launches(row, column):
    """What each launch found; nothing where one lacks a value above 0."""
    found = tuple(map(float, row.texts(column))) if column else ()
    return found if len(found) == len(row.launches) and min(found, default=0.0) > 0 else ()


def command_of(way, ranks, sizes):
    """The command, in the build folder, that measures a way at these sizes."""
    if way.operation == "ibarrier":
        program = "syncbench/syncbench" if way.column == "blocking_us" else "overlap/overlap_ibarrier"
        return _command(ranks, program)
    smallest, largest = _powers(max(1.0, size / ELEMENT) for size in sizes)
    form = [] if way.form == "nonblocking" else [f"--form={way.form}"]
    return _command(ranks, f"overlap/overlap_{way.operation}", "--data-driven", *form,
                    f"--min-num-elts={smallest}", f"--max-num-elts={largest}")


def command_of_gap(ranks, sizes):
    """The command that measures OwnCosts.gap at these sizes."""
    smallest, largest = _powers(max(1.0, size) for size in sizes)
    return _command(ranks, "msgrate/msgrate", "--peers=1", "--cache=0", f"--size={smallest}:{largest}")


def _powers(numbers):
    """The powers of two around numbers of at least 1."""
    numbers = list(numbers)
    return 1 << int(math.log2(min(numbers))), 1 << math.ceil(math.log2(max(numbers)))


def _command(ranks, program, *options):
    name = program.rpartition("/")[2]
    return " ".join([f"mpirun -np {ranks} {program}", *options, f"--output=RESULTS/{name}.tsv"])
