# SPDX-License-Identifier: BSD-3-Clause
"""The undisturbed cost of calls on a machine, from the benchmarks' results.

A cost is interpolated between the two nearest measured sizes, and never extrapolated: linearly, or if a protocol switch
lies between them, along the measured curve (protocol_curves). Collectives are used for communicators with the measured
numbers of ranks and nodes, messages for communicators within a node or across nodes.
"""

import functools
import math
import typing

from commcost.cost.call_ways import BLOCKING, ELEMENT, GAP, PAIR_OPERATIONS, SYNC, SYNCS, is_sync, sources_of
from commcost.cost.monitor_report import Layout
from commcost.cost.protocol_curves import Curves
from commcost.result import benchmarks
from commcost.result.intervals import Measured, Span, exactly, launch_median, span_of
from commcost.result.tables import NEW
from commcost.scorecard.cost_lines import blocking
from commcost.words import parsed_number

GAP_PATTERN = "all-start"  # of msgrate: starts all receives and sends, then completes them


class Cost(typing.NamedTuple):
    """The cost of a call: us, the rows (tables.Row) that it is computed from, and us of each launch if all launches
    have these rows."""

    us: Span
    rows: tuple
    by_launch: tuple = ()

    def over(self, other):
        """Returns the Span of the ratio of two costs, over launches if possible, since a slow launch slows both."""
        if len(self.by_launch) != len(other.by_launch) or len(self.by_launch) < 2:
            return self.us.over(other.us)
        return span_of(launch_median([one / two for one, two in zip(self.by_launch, other.by_launch)]))


class OwnCosts:
    """Results of one machine (tables.Tables) by Layout, whose nodes are None if results lack them."""

    def __init__(self, tables):
        by_layout = {}
        for table in tables.of(NEW):
            ranks, nodes = (parsed_number(table.metadata.get(key, ["NA"])[0]) for key in ("ranks", "nodes"))
            if ranks is not None:
                layout = Layout(int(ranks), None if nodes is None else int(nodes))
                by_layout.setdefault(layout, []).append(table)
        self._tables = {layout: tables.only(some) for layout, some in by_layout.items()}
        self._measured = {}
        self._curves = Curves(tables)

    @property
    def lost_share(self):
        """Returns the share of time lost to interruptions in the benchmarks: the mean over their rows, or 0."""
        found = [float(text) for tables in self._tables.values() for kind in tables.kinds()
                 for row in tables.rows(kind) for text in row.texts("lost_pct")]
        return sum(found) / len(found) / 100 if found else 0.0

    def cost(self, way, layout, size):
        """Returns the Cost of an operation on a communicator of this layout, or None if it wasn't measured."""
        return self._find(way, layout, size)[0]

    def latency(self, way, layout, size):
        """Returns the cost of the smallest measured size as a share of an operation's cost, or 1 if unknown."""
        cost, points = self._find(way, layout, size) if size else (None, ())
        if cost is None or cost.us.value <= 0:
            return 1.0
        return min(1.0, span_of(points[0][2]).value / cost.us.value)

    def _find(self, way, layout, size):
        """Returns the Cost and its points, from the nearest layout that has them."""
        if is_sync(way, size):
            size = 0
        elif way != GAP and size is not None and size > 0:
            size = max(size, ELEMENT)
        for measured in sorted(self._tables, key=lambda measured: _distance(measured, layout)):
            for source in sources_of(way, size):
                if layout.ranks is not None and size is not None and _is_comparable(way, measured, layout):
                    points = self._points(source, measured)
                    cost = interpolate(points, size, source.column, functools.partial(
                        self._curves.parts, source, measured.nodes == 1, size))
                    if cost is not None:
                        return cost, points
        return None, ()

    def _points(self, way, layout):
        """Returns (size, row, Measured us) of a measured layout, in ascending order of size."""
        if (way, layout) not in self._measured:
            found = {}
            for size, row, value in points_of(way, self._tables[layout], layout):
                found.setdefault(size, (size, row, value))
            self._measured[way, layout] = [found[size] for size in sorted(found)]
        return self._measured[way, layout]


def points_of(way, tables, layout):
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


def _is_comparable(way, measured, layout):
    """True if results of a layout apply to another: collectives need the same layout, messages cost the same within a
    node, or across nodes."""
    if None in (measured.nodes, layout.nodes):
        return way.operation in PAIR_OPERATIONS or measured.ranks == layout.ranks
    return (measured.nodes == 1) == (layout.nodes == 1) if way.operation in PAIR_OPERATIONS else measured == layout


def _distance(measured, layout):
    return (measured.nodes != layout.nodes, abs(measured.ranks - (layout.ranks or 0)), measured.ranks,
            measured.nodes or 0)


def interpolate(points, size, column, parts=lambda low, high: None):
    """Returns the Cost at a size from (size, row, Measured of this column) in ascending order of size, or None beyond
    them. Without a column the Cost lacks the launches' values. `parts` returns the weights of the two nearest sizes and
    further us (None: linear)."""
    if not points or not points[0][0] <= size <= points[-1][0]:
        return None
    for (low, low_row, low_value), (high, high_row, high_value) in zip(points, points[1:]):
        if low <= size <= high and size not in (low, high):
            share = (size - low) / (high - low)
            of_low, of_high, more_us = parts(low, high) or (1 - share, share, 0.0)
            us = span_of(low_value).times(of_low).plus(span_of(high_value).times(of_high)).plus(exactly(more_us))
            least_us = min(low_value.value, high_value.value)
            pairs = zip(launch_values(low_row, column), launch_values(high_row, column))
            return Cost(us.within(least_us, math.inf) if more_us else us, (low_row, high_row),
                        tuple(max(of_low * one + of_high * two + more_us, least_us if more_us else 0.0)
                              for one, two in pairs)
                        if len(low_row.launches) == len(high_row.launches) else ())
    row, value = next((row, value) for at, row, value in points if at == size)
    return Cost(span_of(value), (row,), launch_values(row, column))


def launch_values(row, column):
    """Returns each launch's value, or none if a launch lacks a positive value."""
    found = tuple(map(float, row.texts(column))) if column else ()
    return found if len(found) == len(row.launches) and min(found, default=0.0) > 0 else ()
