"""plot.sh: draws results with gnuplot, whose programs are in run_scripts/plots.

gnuplot gets a table of each panel (NAME.tsv) and what else it must know (NAME.set): names, colours,
ranges, tics, and where labels go.
"""

import math
import os
import re
import shutil
import subprocess
import tempfile
import typing

from commcost import command
from commcost.command import UsageError, complain
from commcost.drawing import pictures
from commcost.drawing.panels import PanelData
from commcost.reading import benchmarks
from commcost.reading.results import PATH_SHOWN
from commcost.reading.tables import BASE, NEW, read_tables, threshold_of
from commcost.system import SCRIPTS, replace_file
from commcost.words import number_text, short, size_text

PROGRAM = "plot.sh"
PROGRAMS = os.path.join(SCRIPTS, "plots")
# Of the palette of Okabe and Ito, which colour-blind people tell apart.
FREE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
SHAPES = (7, 9, 5, 13, 15)  # gnuplot's point types, which tell lines apart without colours
LABELS_APART = 0.08         # of a panel's height, at least


# ---- numbers and texts for gnuplot ---------------------------------------------------------------

def quoted(text):
    """A string of gnuplot's, which can't take two quotes in a row."""
    return "'" + command.plain(str(text)).replace("'", "\u2019") + "'"


def tic(text):
    """A tic's label, which is a format."""
    return quoted(str(text).replace("%", "%%"))


def power_below(value):
    return 10.0 ** math.floor(math.log10(value) + 1e-9)


def nice_below(value):
    """The greatest of 1, 2, 5, 10, 20 ... that isn't above it."""
    power = power_below(value)
    return next(step * power for step in (5, 2, 1) if step == 1 or value >= 0.9999 * step * power)


def nice_above(value):
    power = power_below(value)
    return next(step * power for step in (1, 2, 5, 10)
                if step == 10 or value <= 1.0001 * step * power)


def decade_around(low, high, least):
    """The ends of a logarithmic axis, nice ones and at least `least` times apart."""
    if high / low < least:
        low = power_below(low)
    return low, (low * 10 if high / low < least else high)


# ---- what gnuplot reads --------------------------------------------------------------------------

def settings_text(settings):
    """Lines that set gnuplot's variables; a list is an array, from 1 on."""
    lines = []
    for name, value in settings.items():
        if isinstance(value, list):
            lines.append(f"array {name}[{len(value)}]")
            lines += [f"{name}[{place}] = {one}" for place, one in enumerate(value, 1)]
        else:
            lines.append(f"{name} = {value}")
    return "\n".join(lines) + "\n"


GAIN_LEAST = -100  # percent: what is worse is off the axis


def gain_axis(values):
    """The ends of an axis of gains in percent, with 0 on it."""
    low, high = min(values), max(values)
    return (max(GAIN_LEAST, min(-10, 10 * math.floor(low / 10))),
            min(100, max(10, 10 * math.ceil(high / 10))))


class PanelText:
    """A panel's table and settings, as texts. `threshold` is the number of its metadata, None
    where it isn't known."""

    def __init__(self, data, colours, threshold=None):
        self.data, self._colours = data, colours
        self._levels = [0, *(level for level in (-(threshold or 0), threshold or 0)
                             if 0 < abs(level) < -GAIN_LEAST)] if data.panel.threshold else []
        self.settings, self._blocks, self._lines = {}, {}, []  # settings: variables of gnuplot
        self._cut = self._beyond = self._below = 0
        self._write_table()
        self._write_settings()

    @property
    def table(self):
        return "\n".join(self._lines) + "\n"

    def _write_table(self):
        """Block by block, gnuplot's index: one a line; one a side's panel of rows."""
        data = self.data
        self._lines.append("# result\tpanel\tlabel\t" + ("x" if data.panel.x else "row") +
                           "\tvalue\tlow\thigh\tlaunches\tseries")
        for page in range(len(data.pages)):
            if data.panel.x:
                order = [(side, [series]) for series in range(len(data.series))
                         for side in (NEW, BASE)]
            else:
                order = [(side, data.rows_of(page)) for side in (NEW, BASE)]
            for side, several in order:
                self._write_block(side, page, several)

    def _write_block(self, side, page, several):
        data = self.data
        rows = [(series, point) for series in several for point in data.find(side, page, series)]
        if not rows:
            return
        if self._blocks:
            self._lines.append("\n")
        block = len(set(self._blocks.values()))
        for series, point in rows:
            self._blocks[side, page, series] = block
            at = point.at if data.panel.x else data.rows_of(page).index(series) + 1
            self._lines.append("\t".join(map(str, (
                side, data.pages[page], data.series[series], at, point.value, point.low,
                point.high, point.launches, series + 1))))

    def _write_settings(self):
        data = self.data
        self.settings.update(
            rows=len(set(self._blocks.values())), missing=data.missing, left_out=data.left,
            series=len(data.series), panels=len(data.pages),
            axis_title=quoted(data.panel.title), x_title=quoted(data.panel.x_title),
            # gnuplot looks at the first of a loop even where there is none.
            levels=len(self._levels), level=list(map(number_text, self._levels)) or [0])
        if not self._blocks:
            return
        self._set_series()
        if data.panel.x:
            self._set_lines()
        else:
            self._set_rows()
        self.settings.update(at_or_below_0=self._below, cut=self._cut, beyond=self._beyond,
                             new_runs=data.launches.get(NEW, 1), base_runs=data.launches.get(BASE, 1))

    def _set_series(self):
        data, colours, weights = self.data, [], []
        for place, head in enumerate(data.heads):
            free = place % len(FREE_COLOURS) if data.panel.x else 0
            colour = self._colours.get(head, FREE_COLOURS[free])
            weights.append(1.2 if colour in colours else 2.2)
            colours.append(colour)
        self.settings.update(
            label=list(map(quoted, data.series)), colour=list(map(quoted, colours)),
            colour_value=["0x" + colour[1:] for colour in colours], weight=weights,
            shape=[SHAPES[place % len(SHAPES)] for place in range(len(colours))],
            widest=max(map(len, data.series)))

    def _wants_log(self, values):
        above = [value for value in values if value > 0]
        return (not self.data.panel.scale and bool(above) and
                max(values) / min(above) >= self.data.panel.log_from)

    def _count_off(self, points, axis, is_log):
        """Bars that reach beyond the axis, and values that are beyond it (triangles)."""
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

    @staticmethod
    def _with_ends(points):
        """The values of points and the ends of their bars."""
        return [float(text) for point in points for text in (point.value, point.low, point.high)
                if text != "NA"]

    # ---- lines over sizes ------------------------------------------------------------------------

    def _set_lines(self):
        points = self.data.on_page(0)
        values = []
        for point in points:
            value = float(point.value)
            values.append(value)
            # The bars, too, unless they would squeeze all the rest.
            values += [float(end) for end in (point.low, point.high)
                       if end != "NA" and value / 4 < float(end) < value * 4]
        is_log = self._wants_log(values)
        axis = self._vertical_axis(values, is_log)
        self._count_off(points, axis, is_log)
        self.settings.update(logarithmic=int(is_log), y_from=number_text(axis[0]), y_to=number_text(axis[1]))
        zero = self._set_horizontal(points)
        for side in (NEW, BASE):
            self._set_blocks(side)
        self._set_labels(axis, is_log, zero)

    def _vertical_axis(self, values, is_log):
        if self.data.panel.scale == "gain":
            return gain_axis(self._with_ends(self.data.on_page(0)) + self._levels)
        low, high = min(values), max(values)
        if is_log:
            low = nice_below(min(value for value in values if value > 0))
            high = nice_above(high)
            if low == high:
                low, high = low / 10, high * 10
            return decade_around(low, high, 9)
        if self.data.panel.scale == "percent":
            return (max(-50, -10 * math.floor(-low / 10 + 0.999)) if low < 0 else 0,
                    min(120, 10 * math.floor(high / 10 + 0.999)) if high > 100 else 100)
        return low * 1.1 if low < 0 else 0, high * 1.1 if high > 0 else 1

    def _set_horizontal(self, points):
        """Powers of two, and 0 apart on the left; returns where."""
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
        """Which block of the table is which line of a side."""
        lines = [(block, series) for (of, _, series), block in self._blocks.items() if of == side]
        lines.sort(key=lambda line: line[1])
        self.settings[f"{side}_lines"] = len(lines)
        self.settings[f"{side}_block"] = [block for block, _ in lines] or [0]
        self.settings[f"{side}_series"] = [series + 1 for _, series in lines] or [1]

    def _set_labels(self, axis, is_log, zero):
        """Labels are at the lines' ends, pushed apart."""
        low, high = axis
        ends, shares = [], []
        for series in range(len(self.data.series)):
            last = (self.data.find(NEW, 0, series) or self.data.find(BASE, 0, series))[-1]
            value, at = float(last.value), float(last.at)
            if is_log:
                share = math.log(value / low) / math.log(high / low) if value > 0 else 0
            else:
                share = (value - low) / (high - low)
            shares.append(min(1.0, max(0.0, share)))
            ends.append(at if at > 0 else zero)
        places = pushed_apart(shares, LABELS_APART)
        self.settings.update(end_x=list(map(number_text, ends)), end_y=list(map(number_text, shares)),
                             label_at=list(map(number_text, places)))

    # ---- rows of dots ----------------------------------------------------------------------------

    def _set_rows(self):
        data, settings = self.data, self.settings
        pages = range(len(data.pages))
        values = [[float(point.value) for point in data.on_page(page)] for page in pages]
        is_log = any(map(self._wants_log, values))
        logs = [is_log and max(values[page]) > 0 for page in pages]
        axes = [self._row_axis(data.on_page(page), values[page], logs[page]) for page in pages]
        for page in pages:
            self._count_off(data.on_page(page), axes[page], logs[page])
        settings.update(
            panel_name=list(map(quoted, data.pages)),
            panel_rows=[len(data.rows_of(page)) for page in pages], panel_log=list(map(int, logs)),
            panel_from=[f"{low:.10g}" for low, _ in axes], panel_to=[f"{high:.10g}" for _, high in axes])
        for side in (NEW, BASE):
            settings[f"{side}_block"] = [
                next((block for (of, on, _), block in self._blocks.items()
                      if (of, on) == (side, page)), -1) for page in pages]
        dots = [(page, series) for page in pages for series in sorted(data.rows_of(page))]
        settings.update(
            all_rows=len(dots), dots=len(dots), dot_panel=[page + 1 for page, _ in dots],
            dot_row=[data.rows_of(page).index(series) + 1 for page, series in dots],
            dot_name=[tic(data.series[series]) for _, series in dots],
            dot_text=[quoted(self._dot_text(*dot)) for dot in dots])

    def _dot_text(self, page, series):
        new, base = (next((short(float(point.value)) for point in self.data.find(side, page, series)),
                          "none") for side in (NEW, BASE))
        has_base = any(side == BASE for side, _, _ in self.data.points)
        return f"{new} ({base})" if has_base else new

    def _row_axis(self, points, values, is_log):
        if self.data.panel.scale == "gain":
            return gain_axis(self._with_ends(points) + self._levels)
        low, high = min(values), max(values)
        if is_log:
            least = min(value for value in values if value > 0)
            return decade_around(nice_below(least / 1.15), nice_above(high * 1.15), 10)
        if self.data.panel.scale == "percent":
            return (10 * math.floor(low / 10) if low < 0 else 0,
                    10 * math.ceil(high / 10) if high > 100 else 100)
        ends = [[float(end) for end in side if end != "NA"]
                for side in ([point.low for point in points], [point.high for point in points])]
        top = max([high, *ends[1]])
        if top > 1.6 * high and high > 0:
            top = 1.6 * high
        bottom = 0
        if low < 0:
            bottom = min([low, *(end for end in ends[0] if end > -top)]) * 1.05
        return bottom, top * 1.05 if top > 0 else 1


def pushed_apart(shares, gap):
    """Places from 0 to 1, at least a gap apart, near those given."""
    order = sorted(range(len(shares)), key=shares.__getitem__)
    places = list(shares)
    for before, after in zip(order, order[1:]):
        places[after] = max(places[after], places[before] + gap)
    top = 1.0
    for place in reversed(order):
        places[place] = min(places[place], top)
        top = places[place] - gap
    return places


# ---- drawing -------------------------------------------------------------------------------------

def read_colours():
    """What has which colour in every picture: by the first key's value."""
    with open(os.path.join(PROGRAMS, "colours.tsv"), encoding="utf-8") as stream:
        return dict(line.rstrip("\n").split("\t") for line in stream
                    if not line.startswith("#") and "\t" in line)


def head_of(label, tables):
    """A result's line in a picture's head: its name and where it is from."""
    def first(key):
        return next((table.metadata[key][0] for table in tables if key in table.metadata), "")

    ranks, nodes, library = first("ranks"), first("nodes"), first("mpi_library")
    text = label
    if ranks:
        text += f": {ranks} process{'' if ranks == '1' else 'es'}"
        text += f" on {nodes} node{'' if nodes == '1' else 's'}" if nodes else ""
    library = library.replace(" Version:", "").split(",")[0].rstrip(" ")
    return text + (f", {library}" if library else "")


class Drawing(typing.NamedTuple):
    """Where pictures go, as what, how many of a group at most (None: all), and whether gnuplot's data goes there,
    too."""

    folder: str
    formats: tuple
    most: typing.Optional[int] = None
    with_data: bool = False


def text_of(panel, rows, threshold):
    """What gnuplot gets of a panel."""
    setting = pictures.Key("setting", "%", optional=True)
    return PanelText(PanelData(panel._replace(series=(*panel.series, setting)), rows),
                     read_colours(), threshold)


def groups_of(tables):
    """The kinds of results by their entries' kinds: all sweeps of overlap share their pictures."""
    groups = {}
    for kind in tables.kinds():
        groups.setdefault(benchmarks.entry_of(kind).kind, []).append(kind)
    return groups


def draw_group(tables, group, kinds, drawing, say):
    """Draws the pictures of a group of kinds; returns pairs of those that were drawn and their paths, and whether
    all were. `say` gets a line about each that can't be."""
    drawn, good = [], True
    of_side = {side: [table for kind in kinds for table in tables.of(side, kind)] for side in tables.sides}
    rows = {side: [row for table in several for row in table.rows] for side, several in of_side.items() if several}
    if len(rows) < len(tables.sides):
        say(f"{group}: not in the base")
    threshold = threshold_of(of_side[NEW])
    for picture in pictures.pictures_of(group, rows[NEW]):
        texts = {panel.name: text_of(panel, rows, threshold) for panel in picture.panels}
        for text in texts.values():
            for column in text.data.no_column:
                say(f"{picture.name}: no column {column}")
        empty = [name for name, text in texts.items() if text.settings["rows"] == 0]
        if empty:
            say(f"{picture.name}: nothing to draw (no values in column of '{empty[0]}')")
            continue
        heads = {side: head_of(tables.labels[side], of_side[side]) for side in rows}
        for made, error in draw(picture, texts, heads, drawing):
            if error:
                say(f"gnuplot could not draw {os.path.basename(made)}: {error}")
                good = False
            else:
                drawn.append((picture, made))
        if drawing.most is not None and len(drawn) >= drawing.most:
            break
    return drawn, good


def draw(picture, texts, heads, drawing):
    """Draws a picture in each format: pairs of its path and what gnuplot said if it failed."""
    with tempfile.TemporaryDirectory() as work:
        for name, text in texts.items():
            for ending, content in ((".tsv", text.table), (".set", settings_text(text.settings))):
                with open(os.path.join(work, name + ending), "w", encoding="utf-8") as stream:
                    stream.write(content)
                if drawing.with_data:
                    replace_file(os.path.join(drawing.folder, f"{picture.name}.{name}{ending}"), content)
        head = {"folder": quoted("plots"), "names": len(heads), "body": 49 + 19 * len(heads),
                "title_text": quoted(picture.title), "tables": quoted(" ".join(texts)),
                **{f"{side}_name": quoted(text) for side, text in heads.items()}}
        with open(os.path.join(work, "names.set"), "w", encoding="utf-8") as stream:
            stream.write(settings_text(head))
        os.symlink(PROGRAMS, os.path.join(work, "plots"))
        for form in drawing.formats:
            yield draw_format(work, picture, form, drawing.folder)


def draw_format(work, picture, form, folder):
    made = os.path.join(folder, f"{picture.name}.{form}")
    done = subprocess.run(
        ["gnuplot", "-e", f"format = '{form}'; output = 'picture.{form}'", "names.set",
         f"plots/{picture.program}.gp"], cwd=work, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    drawn = os.path.join(work, f"picture.{form}")
    if done.returncode != 0 or not os.path.exists(drawn) or not os.path.getsize(drawn):
        return made, done.stdout.decode("utf-8", "replace").strip() or "no output"
    with open(drawn, "rb") as stream:
        content = stream.read()
    replace_file(made, shorter_svg(content.decode("utf-8", "replace")) if form == "svg" else content)
    return made, ""


# What gnuplot's SVG says in more words than needed: pairs of a pattern and what stands for it. It names curves by
# its own commands, which browsers show.
SHORTER = [(re.compile(pattern, re.S), instead) for pattern, instead in (
    (r"<\?xml.*?\?>|<!DOCTYPE.*?>|<title>.*?</title>|<desc>.*?</desc>|<filter.*?</filter>", ""),
    (r' (stroke-width="1\.00"|stroke-linecap="butt"|stroke-linejoin="miter"|class="gridline")', ""),
    (r' font-family="Helvetica"', ""), (r"<svg", '<svg font-family="Helvetica"'),
    (r"rgb\( *(\d+), *(\d+), *(\d+)\)", lambda found: "#%02x%02x%02x" % tuple(map(int, found.groups()))),
    (r"(?<= d=)'.*?'|(?<=transform=)(\"|').*?\1", lambda found: shorter_numbers(found.group())),
    (r"\s+", " "), (r" ?([<>]) ?", r"\1"), (r"<g[^<>]*><text></text></g>", ""),
    (r"(<g[^<>]*></g>)+", ""), (r"(<g[^<>]*></g>)+", ""))]


def shorter_svg(text):
    """The picture that gnuplot made, in half of its bytes."""
    for pattern, instead in SHORTER:
        text = pattern.sub(instead, text)
    return text


def shorter_numbers(text):
    """With one decimal, and none where that is 0."""
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found.group()):.1f}".replace(".0", ""), text)


def main(words):
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... RESULTS [BASE_RESULTS]",
        """Draws the results of the benchmarks with gnuplot, one picture a benchmark or
more. With two results the second is the base, drawn dashed and paler,
or grey. RESULTS is a folder of .tsv files, or one file. Prints the names of the
pictures.""")
    made.add_argument("--output", metavar="FOLDER", help="where the pictures go; default: "
                      "RESULTS/pictures, or beside the file")
    made.add_argument("--format", choices=("svg", "png", "svg,png", "png,svg"),
                      metavar="svg,png", default="svg,png",
                      help="default: svg,png")
    made.add_argument("--data", action="store_true", help="leave gnuplot's data, PICTURE.NAME.tsv "
                      "and PICTURE.NAME.set, in the output folder, too")
    options = made.parse_with_results(words, 2)
    tables = read_tables(PROGRAM, options.paths)
    if shutil.which("gnuplot") is None:
        complain(PROGRAM, "no gnuplot: install it (Debian: gnuplot-nox)")
        return command.EXIT_FAILED
    first = options.paths[0]
    folder = command.beside(first, options.output, os.path.join(first, "pictures")
                            if os.path.isdir(first) else os.path.dirname(first) or ".")
    if os.path.isdir(first) and os.path.islink(folder) and not options.output:
        raise UsageError(f"'{folder:.{PATH_SHOWN}}' is a link, which is not followed: use --output")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        raise UsageError(f"--output: cannot make the folder '{folder:.{PATH_SHOWN}}': use one "
                         "where you may write") from None
    drawing = Drawing(folder, tuple(options.format.split(",")), with_data=options.data)
    status = command.EXIT_DONE
    for group, kinds in groups_of(tables).items():
        try:
            drawn, good = draw_group(tables, group, kinds, drawing, lambda text: complain(PROGRAM, text))
        except OSError as error:
            raise UsageError(f"--output: cannot write to '{folder:.{PATH_SHOWN}}': "
                             f"{error.strerror}: use a folder where you may write") from None
        for _, path in drawn:
            print(path)
        if not good:
            status = command.EXIT_FAILED
    return status
