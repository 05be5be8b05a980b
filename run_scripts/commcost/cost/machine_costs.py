"""The undisturbed cost of calls on a machine: read off the benchmarks' results.

A cost is interpolated between the two measured sizes on either side, in a straight line over the
size, and never read beyond them. Collectives count for communicators of as many processes, on as
many nodes, as were measured; messages for communicators within a node, or across nodes.
"""

import math
import os
import typing

from commcost.cost.call_ways import BLOCKING, GAP, OF_PAIRS, SYNC, SYNCS, is_sync, sources_of
from commcost.cost.monitor_report import Layout
from commcost.result import benchmarks, result_metadata
from commcost.result.intervals import Measured, Span, over_launches, span_of
from commcost.result.tables import NEW
from commcost.scorecard.cost_lines import blocking
from commcost.words import listed, parsed_number

VALUES_SHOWN = 4
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
        return span_of(over_launches([one / two for one, two in zip(self.by_launch, other.by_launch)]))


def of_the_program(tables, own):
    """The Tables with one row for a call, and sentences about them. Of rows that differ in further keys, other than the
    layout, those count that agree with a report's metadata, or else the first value."""
    kept, remarks = {}, {}
    for kind in tables.kinds():
        for key in tables.further_keys(kind):
            said = tables.apart[kind].get(key, key)
            values = list(dict.fromkeys(row.keys[key] for row in tables.rows(kind)))
            usual = benchmarks.USUAL.get(key, (result_metadata.value_of(own, said),))
            if said in Layout._fields:
                continue
            if not set(values) & set(usual):
                usual = values[:1]
                if len(values) > 1:
                    remarks[f"rows of the results differ in {said} ({listed(values, VALUES_SHOWN)}), which the report "
                            f"doesn't tell: those of {values[0]} count"] = None
                elif key in benchmarks.USUAL:
                    remarks[f"all rows of {kind} have {said} {values[0]}: they count"] = None
            kept.setdefault(kind, {})[key] = usual
    return tables.only([table._replace(rows=[
        cells for cells in table.rows
        if all(cells.get(key, "NA") in usual for key, usual in kept.get(table.kind, {}).items())])
        for table in tables.tables]), list(remarks)


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
        self._measured = {}

    @property
    def lost_share(self):
        """The share of the time that the system took from the processes while the benchmarks ran:
        the mean of their rows; 0 where they don't say it."""
        found = [float(text) for tables in self._tables.values() for kind in tables.kinds()
                 for row in tables.rows(kind) for text in row.texts("lost_pct")]
        return sum(found) / len(found) / 100 if found else 0.0

    def cost(self, way, layout, size):
        """The Cost of an operation on a communicator of this layout; None where that wasn't measured."""
        return self._found(way, layout, size)[0]

    def latency(self, way, layout, size):
        """The share of what an operation costs that the smallest measured size costs, too; 1 where it isn't known."""
        cost, points = self._found(way, layout, size) if size else (None, ())
        if cost is None or cost.us.value <= 0:
            return 1.0
        return min(1.0, span_of(points[0][2]).value / cost.us.value)

    def _found(self, way, layout, size):
        """The Cost, and the points that it is from: those of the nearest layout that has it."""
        if is_sync(way, size):
            size = 0
        elif way != GAP and size is not None and size > 0:
            size = max(size, ELEMENT)
        for measured in sorted(self._tables, key=lambda measured: _differs(measured, layout)):
            for source in sources_of(way, size):
                if layout.ranks is not None and size is not None and _counts_for(way, measured, layout):
                    points = self._points(source, measured)
                    cost = interpolated(points, size, source.column)
                    if cost is not None:
                        return cost, points
        return None, ()

    def _points(self, way, layout):
        """(size, row, Measured us) of a layout that was measured, by rising size."""
        if (way, layout) not in self._measured:
            found = {}
            for size, row, value in points_of(way, self._tables[layout], layout):
                found.setdefault(size, (size, row, value))
            self._measured[way, layout] = [found[size] for size in sorted(found)]
        return self._measured[way, layout]


def points_of(way, tables, layout):
    """(size, row, Measured us) of all rows that say what a way costs."""
    if way == GAP:
        for row, rate in tables.measured("msgrate", "rate_per_s", pattern=GAP_PATTERN, cache_size="0"):
            if rate.value > 0:
                ends = (None, None) if rate.low is None else (2e6 / rate.high, 2e6 / rate.low)
                yield row.size("nbytes"), row, Measured(2e6 / rate.value, *ends, rate.launches)
    if way.column == SYNC:
        for row, value in tables.measured("syncbench", SYNC, sync=SYNCS[way.operation]):
            if row.keys["ranks"] in (str(layout.ranks), "NA"):
                yield 0, row, value
        return
    if way.form == BLOCKING:
        for row, value in blocking(tables, way.operation[1:]):
            yield row.size(), row, value
        return
    for kind in tables.kinds():
        if benchmarks.is_overlap(kind) and way != GAP:
            for row, value in tables.measured(kind, way.column, collective=way.operation, form=way.form,
                                              test_calls="0"):
                yield row.size(), row, value


def _counts_for(way, measured, layout):
    """Whether results of a layout count for another: of collectives the same, or what may be; of messages, which may
    cost the same within a node, or across nodes."""
    if None in (measured.nodes, layout.nodes):
        return way.operation in OF_PAIRS or measured.ranks == layout.ranks
    return (measured.nodes == 1) == (layout.nodes == 1) if way.operation in OF_PAIRS else measured == layout


def _differs(measured, layout):
    """Less for a layout that is nearer to the one that is asked for."""
    return (measured.nodes != layout.nodes, abs(measured.ranks - (layout.ranks or 0)), measured.ranks,
            measured.nodes or 0)


def interpolated(points, size, column):
    """The Cost at a size from (size, row, Measured of this column) by rising size; None beyond them. A size of 0 counts
    only where that was measured. Without a column of what launches found the Cost doesn't have that."""
    if not points or not points[0][0] <= size <= points[-1][0]:
        return None
    for (low, low_row, low_value), (high, high_row, high_value) in zip(points, points[1:]):
        if low <= size <= high and size not in (low, high):
            share = (size - low) / (high - low)
            pairs = zip(of_launches(low_row, column), of_launches(high_row, column))
            return Cost(span_of(low_value).times(1 - share).plus(span_of(high_value).times(share)), (low_row, high_row),
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
    numbers = [max(1.0 if way == GAP else ELEMENT, size) for size in sizes]
    smallest, largest = 1 << int(math.log2(min(numbers))), 1 << math.ceil(math.log2(max(numbers)))
    if way == GAP:
        program, options = "msgrate/msgrate", ["--peers=1", "--cache=0", f"--sizes={smallest}:{largest}"]
    elif is_sync(way, max(sizes)):
        program, options = "syncbench/syncbench", []
    elif way.operation == "ibarrier":
        program, options = "overlap/overlap_ibarrier", []
    else:
        program = f"overlap/overlap_{way.operation}"
        options = [f"--sizes={smallest}:{largest}", *([] if way.form == "nonblocking" else [f"--form={way.form}"])]
    where = f"on {layout.nodes} nodes: " if layout.ranks > 1 and (layout.nodes or 1) > 1 else ""
    return where + " ".join([f"mpirun -np {layout.ranks} {program}", *options,
                             f"--output=RESULTS/{os.path.basename(program)}.tsv"])
