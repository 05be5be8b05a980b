"""What a panel of a picture shows of results, before gnuplot is told."""

import typing

from commcost.reading.results import is_number
from commcost.reading.tables import in_number_order, median_text


def scaled(text, factor):
    return text if factor == 1 else f"{float(text) * factor:.10g}"


class Labels:
    """The labels that key columns make; optional ones take part where they differ among the rows
    whose other keys are the same."""

    def __init__(self, keys, rows):
        self._keys, self._values = keys, {}
        for row in rows:
            for key in keys:
                self._values.setdefault((key.column, self._required(row)), set()).add(
                    row.get(key.column, "NA"))

    def _required(self, row):
        return tuple(row.get(key.column, "NA") for key in self._keys if not key.optional)

    def of(self, row):
        parts = []
        for key in self._keys:
            value = row.get(key.column, "NA")
            if key.optional and (value == "NA" or
                                 len(self._values[key.column, self._required(row)]) < 2):
                continue
            parts.append(key.label(value))
        return ", ".join(parts).replace('"', "'")


class Point(typing.NamedTuple):
    """What is drawn: a value with its interval or range, as texts ("NA": none)."""

    at: str  # on the horizontal axis; "" in rows of dots
    value: str
    low: str
    high: str
    launches: int


class PanelData:
    """What a panel shows of rows by side.

    points   by side, page and series: lists of Points. Of several launches (several rows with the
             same keys) the median, and their range
    series   the series' labels
    heads    the first key's value of each series
    pages    the panels' labels
    missing  rows without a value
    left     series that would be too many
    """

    def __init__(self, panel, rows):
        self.panel = panel
        self.series, self.heads, self.pages = [], [], []
        self.missing, self.points = 0, {}
        self.launches = {side: 1 for side in rows}
        self.no_column = [name for name in (panel.y, panel.x) if name and
                          any(of_side and name not in of_side[0] for of_side in rows.values())]
        used = [(side, row) for side, of_side in rows.items() for row in self._usable(of_side)]
        used = self._kept(used)
        if panel.largest or panel.smallest:  # which sorts rows, but not panels
            pages = Labels(panel.pages, [row for _, row in used])
            self.pages = list(dict.fromkeys(pages.of(row) for _, row in used
                                            if is_number(row[panel.y]) and row.get("status") != "FAIL"))
        if panel.largest:
            used.sort(key=lambda pair: -self._number(pair[1], panel.largest))
        elif panel.smallest:
            used.sort(key=lambda pair: self._number(pair[1], panel.smallest))
        elif panel.first:
            used.sort(key=lambda pair: self._place(pair[1]))
        self._group(used)

    @property
    def left(self):
        return len(self._too_many)

    def _usable(self, rows):
        return [row for row in rows
                if self.panel.y in row and (not self.panel.x or self.panel.x in row)]

    def _kept(self, used):
        for column, values in self.panel.keep.items():
            if any(row.get(column) in values for _, row in used):
                used = [(side, row) for side, row in used if row.get(column) in values]
        return used

    @staticmethod
    def _number(row, column):
        return float(row[column]) if is_number(row.get(column, "NA")) else 0.0

    def _place(self, row):
        """Less for what is taken first."""
        return [values.index(row[column]) if row.get(column) in values else len(values)
                for column, values in self.panel.first.items()]

    def _group(self, used):
        panel = self.panel
        rows = [row for _, row in used]
        series, pages = Labels(panel.series, rows), Labels(panel.pages, rows)
        self._too_many, found = set(), {}
        for side, row in used:
            at = row[panel.x] if panel.x else ""
            if (not is_number(row[panel.y]) or (panel.x and not is_number(at)) or
                    row.get("status") == "FAIL"):
                self.missing += 1
                continue
            label, page = series.of(row), pages.of(row)
            if label not in self.series:
                if len(self.series) >= panel.most:
                    self._too_many.add(label)
                    continue
                self.series.append(label)
                self.heads.append(row.get(panel.series[0].column, "NA"))
            if page not in self.pages:
                self.pages.append(page)
            place = (side, self.pages.index(page), self.series.index(label))
            at = scaled(at, panel.x_factor) if panel.x else ""
            found.setdefault(place, {}).setdefault(at, []).append(
                [scaled(row[panel.y], panel.y_factor),
                 *(scaled(row[end], panel.y_factor) if is_number(row.get(end, "NA")) else "NA"
                   for end in (panel.lo, panel.hi))])
        for place, by_x in found.items():
            order = sorted(by_x, key=float) if panel.x else by_x
            self.points[place] = [self._point(at, by_x[at]) for at in order]
            self.launches[place[0]] = max([self.launches[place[0]],
                                           *(len(several) for several in by_x.values())])

    @staticmethod
    def _point(at, several):
        values = in_number_order([value for value, _, _ in several])
        low, high = (values[0], values[-1]) if len(values) > 1 else several[0][1:]
        return Point(at, median_text(values), low, high, len(values))

    def on_page(self, page):
        """All points of a page."""
        return [point for (_, on, _), points in self.points.items() if on == page
                for point in points]

    def rows_of(self, page):
        """The series that are on a page, in the order in which rows of dots have them."""
        order = [series for _, on, series in self.points if on == page]
        return list(dict.fromkeys(order))

    def find(self, side, page, series):
        """The points of a side's line or dot; none: an empty list."""
        return self.points.get((side, page, series), [])
