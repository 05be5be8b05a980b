# SPDX-License-Identifier: BSD-3-Clause
"""plot.sh: draws results with gnuplot, whose programs are in run_scripts/plots.

gnuplot gets the table and the settings of each panel (picture_panels.py).
"""

import os
import re
import shutil
import subprocess
import tempfile
import typing

from commcost import command
from commcost.command import Failure, UsageError, complain, write_to
from commcost.report import pictures
from commcost.report.picture_panels import PanelText, quoted, settings_text
from commcost.result import benchmarks
from commcost.result.result_reader import PATH_SHOWN
from commcost.result.tables import NEW, read_tables, threshold_of
from commcost.scorecard.card_title import head_of
from commcost.system import SCRIPTS, lines_of

PROGRAM = "plot.sh"
PROGRAMS = os.path.join(SCRIPTS, "plots")


class Drawing(typing.NamedTuple):
    """Drawing options: folder, formats, max pictures of a group (None for all), and if gnuplot's data is kept."""

    folder: str
    formats: tuple
    most: typing.Optional[int] = None
    with_data: bool = False


def groups_of(tables):
    """Returns the kinds of results by their entries' kinds: all sweeps of overlap share their pictures."""
    groups = {}
    for kind in tables.kinds():
        groups.setdefault(benchmarks.entry_of(kind).kind, []).append(kind)
    return groups


def draw_group(tables, group, kinds, drawing, warn):
    """Draws the pictures of a group of kinds. Returns pairs of a drawn picture and its path, and False if one could not
    be drawn. `warn` gets a line about it."""
    drawn, good = [], True
    of_side = {side: [table for kind in kinds for table in tables.of(side, kind)] for side in tables.sides}
    rows = {side: [row for table in several for row in table.rows] for side, several in of_side.items() if several}
    if len(rows) < len(tables.sides):
        warn(f"{group}: not in the base")
    # Colours that are the same in all pictures, by value of the first key.
    lines = [line for line in lines_of(os.path.join(PROGRAMS, "colours.tsv")) if not line.startswith("#")]
    colours = dict(line.split("\t") for line in lines if "\t" in line)
    setting = pictures.Key("setting", "%", optional=True)
    names = dict.fromkeys(name for kind in kinds for name in tables.further_keys(kind))
    for picture in pictures.pictures_of(group, rows[NEW], names):
        # Short results lack columns.
        there = tuple(panel for panel in picture.panels if any(panel.y in row for row in rows[NEW]))
        picture = picture._replace(panels=there or picture.panels)
        texts = {panel.name: PanelText(
            panel._replace(series=(*panel.series, setting)), rows, colours,
            threshold_of(of_side[NEW])) for panel in picture.panels}
        for text in texts.values():
            for column in text.no_column:
                warn(f"{picture.name}: no column {column}")
        empty = [name for name, text in texts.items() if text.settings["rows"] == 0]
        if empty:
            warn(f"{picture.name}: nothing to draw (no values in column of '{empty[0]}')")
            continue
        heads = {side: head_of(tables.labels[side], of_side[side]) for side in rows}
        for made, error in draw(picture, texts, heads, drawing):
            if error:
                warn(f"gnuplot could not draw {os.path.basename(made)}: {error}")
                good = False
            else:
                drawn.append((picture, made))
        if drawing.most is not None and len(drawn) >= drawing.most:
            break
    return drawn, good


def draw(picture, texts, heads, drawing):
    """Draws a picture in each format. Yields pairs of its path and gnuplot's error message, "" on success."""
    with tempfile.TemporaryDirectory() as work:
        for name, text in texts.items():
            for ending, content in ((".tsv", text.table), (".set", settings_text(text.settings))):
                with open(os.path.join(work, name + ending), "w", encoding="utf-8") as stream:
                    stream.write(content)
                if drawing.with_data:
                    write_to(os.path.join(drawing.folder, f"{picture.name}.{name}{ending}"), content, False)
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
    if form == "svg":  # half the bytes
        content = content.decode("utf-8", "replace")
        for pattern, instead in SHORTER:
            content = pattern.sub(instead, content)
    write_to(made, content, False)
    return made, ""


# Shorter forms of parts of gnuplot's SVG: pairs of a pattern and its replacement. Also removes names of curves, which
# are gnuplot commands that browsers would show.
SHORTER = [(re.compile(pattern, re.S), instead) for pattern, instead in (
    (r"<\?xml.*?\?>|<!DOCTYPE.*?>|<title>.*?</title>|<desc>.*?</desc>|<filter.*?</filter>", ""),
    (r' (stroke-width="1\.00"|stroke-linecap="butt"|stroke-linejoin="miter"|class="gridline")', ""),
    (r' font-family="Helvetica"', ""), (r"<svg", '<svg font-family="Helvetica"'),
    (r"rgb\( *(\d+), *(\d+), *(\d+)\)", lambda found: "#%02x%02x%02x" % tuple(map(int, found.groups()))),
    # Numbers with one decimal, or none if it is 0.
    (r"(?<= d=)'.*?'|(?<=transform=)(\"|').*?\1", lambda found: re.sub(
        r"\d+\.\d+", lambda number: f"{float(number.group()):.1f}".replace(".0", ""), found.group())),
    (r"\s+", " "), (r" ?([<>]) ?", r"\1"), (r"<g[^<>]*><text></text></g>", ""),
    (r"(<g[^<>]*></g>)+", ""), (r"(<g[^<>]*></g>)+", ""))]


def main(words):
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... [--base=BASE_RESULTS] RESULTS",
        """Draws the results of the benchmarks with gnuplot, at least one picture per benchmark.
A base is drawn dashed and paler, or grey. RESULTS is a folder
of .tsv files, or one file. Prints the names of the pictures.""")
    made.add_argument("--output", metavar="FOLDER", help="where the pictures go; default: "
                      "RESULTS/pictures, or beside the file")
    made.add_argument("--format", choices=("svg", "png", "svg,png", "png,svg"), metavar="svg,png", default="svg,png",
                      help="default: svg,png")
    made.add_argument("--data", action="store_true", help="keep gnuplot's data, PICTURE.NAME.tsv "
                      "and PICTURE.NAME.set, in the output folder")
    options = made.parse_with_base(words)
    tables = read_tables(PROGRAM, options.paths)
    if shutil.which("gnuplot") is None:
        raise Failure("no gnuplot: install it (Debian: gnuplot-nox)")
    first = options.paths[0]
    folder = command.output_path(first, options.output, os.path.join(first, "pictures")
                                 if os.path.isdir(first) else os.path.dirname(first) or ".")
    if os.path.isdir(first) and os.path.islink(folder) and not options.output:
        raise UsageError(f"'{folder:.{PATH_SHOWN}}' is a link, which is not followed: use --output")
    os.makedirs(folder, exist_ok=True)
    drawing = Drawing(folder, tuple(options.format.split(",")), with_data=options.data)
    status = command.EXIT_DONE
    for group, kinds in groups_of(tables).items():
        drawn, good = draw_group(tables, group, kinds, drawing, lambda text: complain(PROGRAM, text))
        for _, path in drawn:
            print(path)
        if not good:
            status = command.EXIT_FAILED
    return status
