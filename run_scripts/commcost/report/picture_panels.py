# SPDX-License-Identifier: BSD-3-Clause
"""Input of gnuplot for a panel of a picture: a table (NAME.tsv) and settings (NAME.set: names, colours, ranges, tics,
positions of labels)."""

import math
import typing

from commcost import command
from commcost.result.benchmarks import ends_of
from commcost.result.row_labels import Labels
from commcost.result.tables import BASE, NEW, sorted_numbers, median_text
from commcost.words import is_number, number_text, short, size_text

# From the palette of Okabe and Ito, which colour-blind people can distinguish.
FREE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
SHAPES = (7, 9, 5, 13, 15)  # point types of gnuplot, which distinguish lines without colours
TICS = 9                    # max tics at sizes on a horizontal axis
LABELS_APART = 0.08         # min distance, as a share of a panel's height


# ---- numbers and texts for gnuplot ---------------------------------------------------------------

def quoted(text):
    """Returns the text as a string of gnuplot, which can't contain two successive quotes."""
    return "'" + command.plain(str(text)).replace("'", "\u2019") + "'"


def tic(text):
    """Returns a tic's label, which gnuplot takes as a format."""
    return quoted(str(text).replace("%", "%%"))


def power_below(value):
    return 10.0 ** math.floor(math.log10(value) + 1e-9)


def nice_below(value):
    """Returns the greatest of 1, 2, 5, 10, 20 … up to a value."""
    power = power_below(value)
    return next(step * power for step in (5, 2, 1) if step == 1 or value >= 0.9999 * step * power)


def nice_above(value):
    power = power_below(value)
    return next(step * power for step in (1, 2, 5, 10) if step == 10 or value <= 1.0001 * step * power)


def decade_around(low, high, least):
    """Returns round ends of a logarithmic axis, at least a factor `least` apart."""
    if high / low < least:
        low = power_below(low)
    return low, (low * 10 if high / low < least else high)


def scaled(text, factor):
    return text if factor == 1 else f"{float(text) * factor:.10g}"


def settings_text(settings):
    """Returns lines that set gnuplot's variables. A list becomes an array, whose first index is 1."""
    lines = []
    for name, value in settings.items():
        if isinstance(value, list):
            lines.append(f"array {name}[{len(value)}]")
            lines += [f"{name}[{place}] = {one}" for place, one in enumerate(value, 1)]
        else:
            lines.append(f"{name} = {value}")
    return "\n".join(lines) + "\n"


GAIN_LEAST = -100  # percent: lower values are off the axis


# ---- tables and settings -------------------------------------------------------------------------

class Point(typing.NamedTuple):
    """A point to draw: a value with its interval or range, as texts, "NA" if there is none."""

    at: str  # position on the horizontal axis; "" in rows of dots
    value: str
    low: str
    high: str
    launches: int


class PanelText:
    """A panel made of each side's rows: `table` is gnuplot's input, `settings` its variables.

    points     lists of Points by side, index of the page (panel), and index of the series
    missing    rows without a value
    no_column  columns that the rows lack
    """

    def __init__(self, panel, rows, colours, threshold=None):
        """`colours` are by value of the first key. `threshold` is from the metadata, or None if unknown."""
        self.panel, self._colours = panel, colours
        self.no_column = [name for name in (panel.y, panel.x) if name and
                          any(of_side and name not in of_side[0] for of_side in rows.values())]
        self._levels = [0, *(level for level in (-(threshold or 0), threshold or 0)
                             if 0 < abs(level) < -GAIN_LEAST)] if panel.threshold else []
        self.settings, self._blocks = {}, {}
        self._cut = self._beyond = self._below = 0
        self._read(rows, (panel.y, *ends_of(panel.y)))
        self.table = "\n".join(self._lines_of_table()) + "\n"
        self._write_settings()

    def _place(self, row):
        """Returns the sort key of a row: series with lower keys are taken first."""
        if self.panel.order:
            return -self.panel.order * float(row[self.panel.y])
        return [values.index(row[column]) if row.get(column) in values else len(values)
                for column, values in self.panel.first.items()]

    def _read(self, rows, columns):
        panel = self.panel
        used = [(side, row) for side, of_side in rows.items() for row in of_side
                if panel.y in row and (not panel.x or panel.x in row)]
        for column, values in panel.keep.items():
            used = [(side, row) for side, row in used if row.get(column) in values] or used
        good = [(side, row) for side, row in used if is_number(row[panel.y]) and row.get("status") != "FAIL" and
                (not panel.x or is_number(row[panel.x]))]
        series, pages = (Labels(keys, [row for _, row in used]) for keys in (panel.series, panel.pages))
        self.missing, self._left, heads, found = len(used) - len(good), set(), {}, {}
        for side, row in sorted(good, key=lambda pair: self._place(pair[1])):
            label = series.of(row)
            if label not in heads and len(heads) >= panel.most:
                self._left.add(label)
                continue
            heads.setdefault(label, row.get(panel.series[0].column, "NA"))
            at = scaled(row[panel.x], panel.x_factor) if panel.x else ""
            found.setdefault((side, pages.of(row), label), {}).setdefault(at, []).append([
                scaled(row[column], panel.y_factor) if is_number(row.get(column, "NA")) else "NA"
                for column in columns])
        self.series, self.heads = list(heads), list(heads.values())
        shown = {page for _, page, _ in found}
        self.pages = [page for page in dict.fromkeys(pages.of(row) for _, row in good) if page in shown]
        self.points = {(side, self.pages.index(page), self.series.index(label)): self._points(by_x)
                       for (side, page, label), by_x in found.items()}

    def _points(self, by_x):
        """Returns Points from the launches' values by x. Several launches are shown as median and range."""
        made = []
        for at in sorted(by_x, key=float) if self.panel.x else by_x:
            values = sorted_numbers([value for value, _, _ in by_x[at]])
            low, high = (values[0], values[-1]) if len(values) > 1 else by_x[at][0][1:]
            made.append(Point(at, median_text(values), low, high, len(values)))
        return made

    def _on_page(self, page):
        """Returns all points of a page."""
        return [point for (_, on, _), points in self.points.items() if on == page for point in points]

    def _rows_of(self, page):
        """Returns the series on a page, in the order of its rows of dots."""
        return list(dict.fromkeys(series for _, on, series in self.points if on == page))

    def find(self, side, page, series):
        """Returns the points of a side's line or dot, or an empty list."""
        return self.points.get((side, page, series), [])

    def _launches(self, side):
        return max((point.launches for (of, _, _), points in self.points.items() if of == side for point in points),
                   default=1)

    def _lines_of_table(self):
        """Yields the table in blocks, which gnuplot selects by index: one per line, or per panel of dots and side."""
        by_x = bool(self.panel.x)
        yield f"# result\tpanel\tlabel\t{'x' if by_x else 'row'}\tvalue\tlow\thigh\tlaunches\tseries"
        number = 0
        for page in range(len(self.pages)):
            blocks = [(side, [series]) for series in range(len(self.series)) for side in (NEW, BASE)] if by_x else [
                (side, self._rows_of(page)) for side in (NEW, BASE)]
            for side, several in blocks:
                rows = [(series, point) for series in several for point in self.find(side, page, series)]
                if rows and number:
                    yield "\n"
                for series, point in rows:
                    self._blocks[side, page, series] = number
                    at = point.at if by_x else several.index(series) + 1
                    yield "\t".join(map(str, (side, self.pages[page], self.series[series], at, *point[1:], series + 1)))
                number += bool(rows)

    def _write_settings(self):
        panel = self.panel
        self.settings.update(
            rows=len(set(self._blocks.values())), missing=self.missing, left_out=len(self._left),
            series=len(self.series), panels=len(self.pages),
            axis_title=quoted(panel.title), x_title=quoted(panel.x_title),
            # gnuplot evaluates the first element of a loop even if there is none.
            levels=len(self._levels), level=list(map(number_text, self._levels)) or [0])
        if not self._blocks:
            return
        free = [FREE_COLOURS[place % len(FREE_COLOURS) if panel.x else 0] for place in range(len(self.series))]
        colours = [self._colours.get(head, colour) for head, colour in zip(self.heads, free)]
        self.settings.update(
            label=list(map(quoted, self.series)), colour=list(map(quoted, colours)),
            colour_value=["0x" + colour[1:] for colour in colours],
            weight=[1.2 if colour in colours[:place] else 2.2 for place, colour in enumerate(colours)],
            shape=[SHAPES[place % len(SHAPES)] for place in range(len(colours))], widest=max(map(len, self.series)))
        if panel.x:
            self._set_lines()
        else:
            self._set_rows()
        self.settings.update(at_or_below_0=self._below, cut=self._cut, beyond=self._beyond,
                             new_runs=self._launches(NEW), base_runs=self._launches(BASE))

    def _wants_log(self, values):
        above = [value for value in values if value > 0]
        return not self.panel.scale and bool(above) and max(values) / min(above) >= self.panel.log_from

    def _count_off(self, points, axis, is_log):
        """Counts bars that reach beyond the axis, and values beyond it (drawn as triangles)."""
        low, high = axis
        for point in points:
            value = float(point.value)
            ends = [float(end) if end != "NA" else value for end in (point.low, point.high)]
            if is_log and value <= 0:
                self._below += 1
            if value > high or (value < low and not (is_log and value <= 0)):
                self._beyond += 1
            elif ends[0] < low or ends[1] > high:
                self._cut += 1

    def _axis(self, points, values, is_log):
        """Returns the ends of the axis of measured values."""
        by_x, low, high = bool(self.panel.x), min(values), max(values)
        lows, highs = ([float(end) for end in ends if end != "NA"]
                       for ends in zip(*((point.low, point.high) for point in points)))
        if self.panel.scale == "gain":
            low, high = min([low, *lows, *highs, *self._levels]), max([high, *lows, *highs, *self._levels])
            return max(GAIN_LEAST, min(-10, 10 * math.floor(low / 10))), min(100, max(10, 10 * math.ceil(high / 10)))
        if self.panel.scale == "percent":
            low, high = 10 * math.floor(low / 10) if low < 0 else 0, 10 * math.ceil(high / 10) if high > 100 else 100
            return (max(-50, low), min(120, high)) if by_x else (low, high)
        if is_log:
            room = 1 if by_x else 1.15
            low, high = nice_below(min(value for value in values if value > 0) / room), nice_above(high * room)
            return decade_around(*((low / 10, high * 10) if low == high else (low, high)), 9 if by_x else 10)
        if by_x:
            return low * 1.1 if low < 0 else 0, high * 1.1 if high > 0 else 1
        top = max([high, *highs])
        if top > 1.6 * high and high > 0:
            top = 1.6 * high
        bottom = min([low, *(end for end in lows if end > -top)]) * 1.05 if low < 0 else 0
        return bottom, top * 1.05 if top > 0 else 1

    # ---- lines over sizes ------------------------------------------------------------------------

    def _set_lines(self):
        points = self._on_page(0)
        # Includes the bars unless they would squeeze everything else.
        values = [value for point in points for value in [float(point.value), *(
            float(end) for end in (point.low, point.high)
            if end != "NA" and float(point.value) / 4 < float(end) < float(point.value) * 4)]]
        is_log = self._wants_log(values)
        axis = self._axis(points, values, is_log)
        self._count_off(points, axis, is_log)
        self.settings.update(logarithmic=int(is_log), y_from=number_text(axis[0]), y_to=number_text(axis[1]))
        zero = self._set_horizontal(points)
        for side in (NEW, BASE):
            self._set_blocks(side)
        self._set_labels(axis, is_log, zero)

    def _set_horizontal(self, points):
        """Sets tics: the sizes if there are few and they are far apart, otherwise powers of two; 0 is separate on the
        left. Returns the position of 0."""
        places = [float(point.at) for point in points]
        above = [place for place in places if place > 0]
        least, greatest = (min(above), max(above)) if above else (1, 1)
        zero = least / 4 if 0 in places else 0
        self.settings.update(x_zero=number_text(zero), x_from=number_text((zero or least) / 1.3),
                             x_to=number_text(greatest * 1.3))
        doublings = math.log(greatest / least, 2)
        step = next((step for most, step in ((8, 1), (16, 2), (26, 3)) if doublings <= most), 4)
        exponent = math.ceil(math.log(least, 2) - 1e-9)
        tics = [("0", zero)] if zero else []
        sizes = sorted(set(above))
        if 1 < len(sizes) <= TICS and all(math.log(after / size, 2) * TICS >= doublings
                                          for size, after in zip(sizes, sizes[1:])):
            tics += [(size_text(size), size) for size in sizes]
            exponent = math.inf
        while 2.0 ** exponent <= greatest * 1.001:
            tics.append((size_text(2.0 ** exponent), 2.0 ** exponent))
            exponent += step
        if len(tics) == bool(zero):
            tics.append((size_text(least), least))
        for name, text in (("size_tics", lambda size: size), ("bare_tics", lambda _: "")):
            marks = ", ".join(f'"{text(size)}" {place:.10g}' for size, place in tics)
            self.settings[name] = f"'set xtics ({marks})'"
        return least / 4

    def _set_blocks(self, side):
        """Sets the blocks of the table that hold a side's lines."""
        lines = sorted((series, block) for (of, _, series), block in self._blocks.items() if of == side)
        self.settings.update({f"{side}_lines": len(lines), f"{side}_block": [block for _, block in lines] or [0],
                              f"{side}_series": [series + 1 for series, _ in lines] or [1]})

    def _set_labels(self, axis, is_log, zero):
        """Sets labels at the lines' ends, pushed apart."""
        low, high = axis
        ends = [(self.find(NEW, 0, series) or self.find(BASE, 0, series))[-1] for series in range(len(self.series))]

        def share(value):
            if is_log:
                return math.log(value / low) / math.log(high / low) if value > 0 else 0
            return (value - low) / (high - low)

        shares = [min(1.0, max(0.0, share(float(end.value)))) for end in ends]
        for name, values in (("end_x", [float(end.at) or zero for end in ends]), ("end_y", shares),
                             ("label_at", pushed_apart(shares, LABELS_APART))):
            self.settings[name] = list(map(number_text, values))

    # ---- rows of dots ----------------------------------------------------------------------------

    def _set_rows(self):
        pages = [self._on_page(page) for page in range(len(self.pages))]
        values = [[float(point.value) for point in points] for points in pages]
        is_log = any(map(self._wants_log, values))
        logs = [is_log and max(of_page) > 0 for of_page in values]
        axes = list(map(self._axis, pages, values, logs))
        for points, axis, of_page in zip(pages, axes, logs):
            self._count_off(points, axis, of_page)
        orders = [self._rows_of(page) for page in range(len(pages))]
        self.settings.update(
            panel_name=list(map(quoted, self.pages)), panel_rows=list(map(len, orders)), panel_log=list(map(int, logs)),
            panel_from=[f"{low:.10g}" for low, _ in axes], panel_to=[f"{high:.10g}" for _, high in axes])
        for side in (NEW, BASE):
            blocks = {page: block for (of, page, _), block in self._blocks.items() if of == side}
            self.settings[f"{side}_block"] = [blocks.get(page, -1) for page in range(len(pages))]
        dots = [(page, series) for page, order in enumerate(orders) for series in sorted(order)]
        texts = [[([short(float(point.value)) for point in self.find(side, *dot)] or ["none"])[0] for dot in dots]
                 for side in (NEW, BASE)]
        if any(side == BASE for side, _, _ in self.points):
            texts[0] = [f"{new} ({base})" for new, base in zip(*texts)]
        self.settings.update(
            all_rows=len(dots), dots=len(dots), dot_panel=[page + 1 for page, _ in dots],
            dot_row=[orders[page].index(series) + 1 for page, series in dots],
            dot_name=[tic(self.series[series]) for _, series in dots], dot_text=list(map(quoted, texts[0])))


def pushed_apart(shares, gap):
    """Returns positions from 0 to 1 near the given ones, at least `gap` apart."""
    order = sorted(range(len(shares)), key=shares.__getitem__)
    places = list(shares)
    for before, after in zip(order, order[1:]):
        places[after] = max(places[after], places[before] + gap)
    top = 1.0
    for place in reversed(order):
        places[place] = min(places[place], top)
        top = places[place] - gap
    return places
