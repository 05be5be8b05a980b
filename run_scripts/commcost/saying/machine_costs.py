"""The undisturbed cost of calls on a machine: read off the benchmarks' results.

A cost is interpolated between the two measured sizes on either side, in a straight line over the
size, and never read beyond them. Collectives count for communicators of as many processes, on as
many nodes, as were measured; messages for communicators within a node, or across nodes.
"""

import math
import re
import typing

from commcost.reading import benchmarks, rank_test
from commcost.reading.intervals import CONFIDENCE, LAUNCHES_ENOUGH, Measured, Span, span_of
from commcost.reading.monitor_report import Layout
from commcost.reading.results import parsed_number
from commcost.reading.tables import NEW
from commcost.running.plan import collectives

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


def is_started(function):
    """Whether another call completes what the function starts."""
    return function in _STARTED or bool(re.match("MPI_(I[a-z]|.*_init$)", function))


def operation_of(function):
    """The overlap programs' name of what a function does: iallreduce of MPI_Allreduce; None if none
    of them measures it."""
    if function in _MESSAGES or function in _STARTED:
        return _MESSAGES.get(function) or _STARTED[function]
    name = re.sub("^MPI_I?|_init$", "", function).lower()
    return "i" + name if "i" + name in collectives() else None


def way_of(function):
    """The Way that has what a call of the function, and what completes it, costs; None: no
    benchmark measures it."""
    operation = operation_of(function)
    if operation is None:
        return None
    if function.endswith("_init") and operation in collectives():
        return Way(operation, "ref_us", "persistent")
    return Way(operation, "ref_us" if is_started(function) else "blocking_us")


class OwnCosts:
    """The results of one machine (tables.Tables), by the numbers of processes and nodes (a
    monitor_report.Layout); nodes are None in results that don't tell them."""

    def __init__(self, tables):
        by_layout = {}
        for table in tables.of(NEW):
            ranks, nodes = (parsed_number(table.metadata.get(key, ["NA"])[0]) for key in ("ranks", "nodes"))
            if ranks is not None:
                layout = Layout(int(ranks), None if nodes is None else int(nodes))
                by_layout.setdefault(layout, []).append(table)
        self._tables = {layout: tables.only(some) for layout, some in by_layout.items()}
        self._points = {}

    def _measured(self, layout):
        """The layout that was measured and is this one, or may be; None: there is none."""
        return min((measured for measured in self._tables
                    if measured.ranks == layout.ranks and None in (measured.nodes, layout.nodes) or
                    measured == layout), key=lambda measured: _differs(measured, layout), default=None)

    @property
    def lost_share(self):
        """The share of the time that the system took from the processes while the benchmarks ran:
        the mean of their rows; 0 where they don't say it."""
        found = [float(text) for tables in self._tables.values() for kind in tables.kinds()
                 for row in tables.rows(kind) for text in row.texts("lost_pct")]
        return sum(found) / len(found) / 100 if found else 0.0

    def _measured_points(self, layout, way):
        """(size, row, Measured) by rising size."""
        key = layout, way
        if key not in self._points:
            found = {}
            tables = self._tables[layout]
            for kind in tables.kinds():
                if benchmarks.entry_of(kind).kind in ("overlap", "overlap_sweep"):
                    for row, value in tables.measured(kind, way.column, collective=way.operation, form=way.form,
                                                      test_calls="0"):
                        found.setdefault(row.size(), (row, value))
            self._points[key] = sorted(((size, *pair) for size, pair in found.items()),
                                       key=lambda point: point[0])
        return self._points[key]

    def cost(self, way, layout, size):
        """The Cost of an operation on a communicator of this layout; None where that wasn't
        measured."""
        if layout.ranks is None:
            return None
        if way.operation == "ibarrier" and way.column == "blocking_us":
            return self._barrier(layout) or self._at(way, layout, 0)
        return self._at(way, self._layout_for(way, layout, size), size)

    def _layout_for(self, way, layout, size):
        """The layout by which an operation is measured: messages by any that is alike, the next best."""
        if way.operation not in OF_PAIRS:
            return layout
        usable = [measured for measured in self._tables
                  if _are_alike(measured, layout) and self._at(way, measured, size) is not None]
        return min(usable, key=lambda measured: _differs(measured, layout), default=layout)

    def _at(self, way, layout, size):
        measured = self._measured(layout)
        if measured is None or size is None:
            return None
        points = self._measured_points(measured, way)
        return interpolated(points, max(size, ELEMENT) if size > 0 else size, way.column)

    def gap(self, layout, size):
        """The Cost of one more exchange of messages where others are under way at the same time:
        msgrate's with warm caches, of which a process sends and receives as many; None where that
        wasn't measured."""
        if layout.ranks is None or size is None:
            return None
        usable = {measured: points for measured, tables in self._tables.items() if _are_alike(measured, layout)
                  for points in [_gaps(tables)] if points and points[0][0] <= size <= points[-1][0]}
        if not usable:
            return None
        return interpolated(usable[min(usable, key=lambda measured: _differs(measured, layout))], size, None)

    def _barrier(self, layout):
        measured = self._measured(layout)
        pairs = self._tables[measured].measured("syncbench", "sync_us", sync="MPI barrier") if measured else []
        pairs = [pair for pair in pairs if pair[0].keys["ranks"] in (str(layout.ranks), "NA")]
        return Cost(span_of(pairs[0][1]), (pairs[0][0],)) if pairs else None

    def smallest(self, way, layout, size):
        """The Cost of the smallest size that was measured, as cost() finds the results."""
        if layout.ranks is None:
            return None
        measured = self._measured(self._layout_for(way, layout, size))
        points = self._measured_points(measured, way) if measured else []
        return Cost(span_of(points[0][2]), (points[0][1],)) if points else None


def _are_alike(one, other):
    """Whether messages may cost the same: within a node, or across nodes."""
    return None in (one.nodes, other.nodes) or (one.nodes == 1) == (other.nodes == 1)


def _differs(measured, layout):
    """Less for a layout that is nearer to the one that is asked for."""
    return measured.nodes != layout.nodes, abs(measured.ranks - layout.ranks), measured.ranks, measured.nodes or 0


def _gaps(tables):
    """(bytes, row, Measured us) of msgrate by rising size."""
    found = [(row.size("nbytes"), row, Measured(
        2e6 / rate.value, *((None, None) if rate.low is None else (2e6 / rate.high, 2e6 / rate.low)),
        rate.launches)) for row, rate in tables.measured("msgrate", "rate_per_s", pattern=GAP_PATTERN,
                                                        cache_size="0") if rate.value > 0]
    return sorted(found, key=lambda point: point[0])


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


def command_of(way, layout, sizes):
    """The command, in the build folder, that measures a way at these sizes."""
    if way.operation == "ibarrier":
        program = "syncbench/syncbench" if way.column == "blocking_us" else "overlap/overlap_ibarrier"
        return _command(layout, program)
    smallest, largest = _powers(max(1.0, size / ELEMENT) for size in sizes)
    form = [] if way.form == "nonblocking" else [f"--form={way.form}"]
    return _command(layout, f"overlap/overlap_{way.operation}", "--data-driven", *form,
                    f"--min-num-elts={smallest}", f"--max-num-elts={largest}")


def command_of_gap(layout, sizes):
    """The command that measures OwnCosts.gap at these sizes."""
    smallest, largest = _powers(max(1.0, size) for size in sizes)
    return _command(layout, "msgrate/msgrate", "--peers=1", "--cache=0", f"--size={smallest}:{largest}")


def _powers(numbers):
    """The powers of two around numbers of at least 1."""
    numbers = list(numbers)
    return 1 << int(math.log2(min(numbers))), 1 << math.ceil(math.log2(max(numbers)))


def _command(layout, program, *options):
    name = program.rpartition("/")[2]
    where = f"on {layout.nodes} nodes: " if layout.ranks > 1 and (layout.nodes or 1) > 1 else ""
    return where + " ".join([f"mpirun -np {layout.ranks} {program}", *options, f"--output=RESULTS/{name}.tsv"])
