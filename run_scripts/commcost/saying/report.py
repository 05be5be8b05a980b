"""report.sh and report_text.sh: what results say, on one page.

First the scorecard (scorecard.py), then warnings, the machine, the comparison with a base, and for each
benchmark how to read it, its pictures and its table.
"""

import os
import re
import shutil
import sys
import tempfile
import typing

from commcost import command
from commcost.command import complain
from commcost.drawing import pictures, plot
from commcost.reading import benchmarks
from commcost.reading.launches import read_launches, status_rank
from commcost.reading.results import ResultError, is_number
from commcost.reading.tables import BASE, NEW, in_number_order, median_text, read_tables, rows_by_key
from commcost.running import folder
from commcost.saying import compare, page, scorecard, vary
from commcost.saying.page import Closed, Column, Figure, Grid, Item, Items, Page, Section, Tags, Text
from commcost.words import counted, decimals, listed, six_digits

LONG_TABLE = 30     # rows, from which on it is closed
MANY_CHANGES = 60
NAMES_SHOWN = 12    # results that a warning names
VALUES_SHOWN = 4    # of a key of the metadata

# Keys of the metadata, and what they are called.
MACHINE = {
    "processor": "processor", "processors": "logical processors", "cores": "cores",
    "kernel": "system", "nodes": "nodes", "ranks": "processes",
    "ranks_per_node": "processes per node", "hosts": "hosts: processes", "binding": "binding",
    "mpi_library": "MPI library", "mpi_built_with": "built with", "mpi_device": "MPI device",
    "mpi_standard": "MPI standard", "mpi_abi": "standard ABI of MPI",
    "thread_level": "thread level", "mpi_variable": "MPI variables set", "compiler": "compiler",
    "compiler_flags": "compiler flags", "program": "program", "version": "commcost version",
    "commit": "commcost commit", "clock": "clock", "job_id": "job", "date": "measured"}

FOOTER = """Status of a row: ok; budget: the time was up before the interval was as narrow as asked;
max-size: no size took the cutoff time; no-knee: the time was up before the overhead showed; FAIL:
wrong data. Values are in the units that the headings give; MB is 2^20 bytes, a double 8 bytes, NA a
value that does not exist. Made by commcost; the .tsv files of the results have all columns."""


# ---- in short ------------------------------------------------------------------------------------

def short_section(card):
    """The scorecard as tables."""
    parts = [Text(card.title)]
    for part in card.parts:
        columns = [Column(part.heading, "what"), Column("", "since"), Column("typical", "typical"),
                   Column("launches", "launches"), Column("", "note")]
        parts.append(Grid(columns, [page.Row([line.what, line.since, line.typical, line.launches, line.note])
                                    for line in part.lines], "scorecard"))
    parts.append(Items([Item(text) for text in card.mind], "mind"))
    if not card.parts:
        parts.append(Text("These results have no rows that answer one of its questions: see the tables."))
    return Section("short", "Scorecard", parts)


# ---- warnings and notes --------------------------------------------------------------------------

class Cause:
    """Remarks that differ in numbers only."""

    def __init__(self):
        self.texts, self.results = [], {}

    def item(self):
        """Shows the text with the largest percentage, or the first."""
        def largest(text):
            return max(map(float, re.findall(r"([0-9]+(?:\.[0-9]+)?) %", text)), default=0.0)
        others = len(self.texts) - 1
        also = f" (and {others} like it, with other numbers)" if others else ""
        names = [name + (f" ({count} times)" if count > 1 else "")
                 for name, count in self.results.items()]
        return Item(max(self.texts, key=largest) + also, listed(names, NAMES_SHOWN + 1))


def remarks_of(table, kind):
    """The texts of a file's remarks of a kind, and what is wrong with it."""
    texts = [re.sub("^run [0-9]+: ", "", remark.text) for remark in table.remarks
             if remark.kind == kind]
    if kind == "warning":
        texts += ["wrong data: rows with status FAIL" for row in table.rows
                  if row.get("status") == "FAIL"]
        if table.is_cut_off:
            texts.append("the result was cut off (no # end: at its end): rows are missing, and "
                         "the last one may be broken")
    return texts


def causes(tables, kind):
    """The Causes of all remarks of a kind."""
    found = {}
    for table in tables.tables:
        name = table.name + (" (base)" if table.side == BASE else "")
        for text in remarks_of(table, kind):
            shape = re.sub(r"[0-9]+(\.[0-9]+)?", "0", text)
            cause = found.setdefault(shape, Cause())
            if text not in cause.texts:
                cause.texts.append(text)
            cause.results[name] = cause.results.get(name, 0) + 1
    return list(found.values())


def failed_launches(path):
    """Items about launches of a suite's folder that have no result, a program each."""
    failed = {}
    for (run, name), result in folder.Folder(path).last_results().items():
        if result == "failed":
            failed.setdefault(name, []).append(run)
    return [Item(f"{name}: {counted(len(runs), 'launch', 'launches')} failed and "
                 f"{'is' if len(runs) == 1 else 'are'} missing here",
                 f"runs/{runs[0]}/{name}.log says more") for name, runs in failed.items()]


def warnings_section(paths, tables, pictures_note):
    items = [item for path in paths for item in failed_launches(path)]
    items += [cause.item() for cause in causes(tables, "warning")]
    items += [Item(text) for text in tables.left]
    parts = [Items(items, "warnings") if items else Text("No warnings.")]
    if pictures_note:
        parts.append(Text(pictures_note))
    heading = f"Warnings: {len(items)}" if items else "Warnings"
    return Section("warnings", heading, parts, "warnings-box" + ("" if items else " none"))


# ---- the machine ---------------------------------------------------------------------------------

def said_of(tables, side, key):
    """What a side's metadata say of a key: all different values, up to VALUES_SHOWN."""
    values = dict.fromkeys(value for table in tables.of(side)
                           for value in table.metadata.get(key, ()) if value not in ("", "NA"))
    if key == "date":
        values.update(dict.fromkeys(value for table in tables.of(side)
                                    for value in table.metadata.get("last_date", ())))
        dates = sorted(value.replace("T", " ", 1) for value in values)
        return " to ".join(dict.fromkeys(dates[:1] + dates[-1:]))
    if key != "mpi_variable" and len(values) > VALUES_SHOWN:
        values = [*list(values)[:VALUES_SHOWN], "..."]
    return command.plain("; ".join(values))


def machine_section(tables):
    both = len(tables.sides) > 1
    columns = [Column("", "key"), *(Column(tables.labels[side] + (" (base)" if side == BASE else ""),
                                           side) for side in tables.sides)]
    rows = []
    for key, heading in MACHINE.items():
        said = [said_of(tables, side, key) for side in tables.sides]
        if any(said):
            differs = both and said[0] != said[1] and key != "date"
            rows.append(page.Row([heading, *said], kind="differs" if differs else ""))
    parts = [Grid(columns if both else columns[:1] + [Column("", NEW)], rows, "machine")]
    if both:
        parts.append(Text("What differs between the two is marked.", small=True))
    notes = [cause.item() for cause in causes(tables, "note")]
    if notes:
        parts.append(Closed(f"Notes of the programs: {len(notes)}", [Items(notes, "notes")]))
    return Section("machine", "Machine and runs", parts)


# ---- the comparison ------------------------------------------------------------------------------

GRADES = {compare.SLOWER: 1, compare.FAILED: 1, compare.MISSING: 2, compare.ADDED: 2,
          compare.FASTER: 3}
UNCHANGED = 4


class Comparison(typing.NamedTuple):
    """A result against its base."""

    changes: list
    remarks: list
    refused: str  # why nothing can be compared, or ""


def comparison_of(paths):
    """The Comparison of a result, the first path, and its base."""
    try:
        launches = compare.read_all(([paths[1]], [paths[0]]))
        refused, named = compare.differences(launches)
        if refused:
            raise ResultError(refused[0])
        changes = compare.compare(launches, compare.Limits(0.01, 5.0, 0.95))
    except ResultError as error:
        return Comparison([], [], str(error))
    return Comparison(changes, launches.warnings + [
        f"{text}: differences may come from that" for text in named] +
        compare.missing_altogether(changes), "")


def comparison_section(comparison):
    """What changed from the base, slower rows first, the largest change first."""
    if comparison.refused:
        return Section("comparison", "Comparison",
                       [Text(f"Nothing can be compared: {comparison.refused}.")])
    changes, remarks = comparison.changes, comparison.remarks
    parts = [Text("Each row of both results against each other, as bench_compare does: the change "
                  "from the base with its interval, and how likely so large a difference is by "
                  "chance (p).")]
    if remarks:
        parts.append(Items([Item(text) for text in remarks], "warnings"))
    graded = sorted(changes, key=lambda change: (GRADES.get(change.verdict, UNCHANGED),
                                                 -abs(change.change_pct or 0)))
    counts = {}
    for change in graded:
        counts[change.verdict] = counts.get(change.verdict, 0) + 1
    parts.append(Tags([(f"{verdict}: {count}", f"grade{GRADES.get(verdict, UNCHANGED)}")
                       for verdict, count in counts.items()]))
    changed = [change for change in graded if change.verdict in GRADES]
    same = [change for change in graded if change.verdict not in GRADES]
    if changed:
        grid = grid_of_changes(changed)
        parts.append(Closed(f"What changed: {len(changed)} rows", [grid])
                     if len(changed) > MANY_CHANGES else grid)
    if same:
        parts.append(Closed(f"Same, or can't tell: {counted(len(same), 'row')}",
                            [grid_of_changes(same)]))
    return Section("comparison", "Comparison", parts)


def grid_of_changes(changes):
    columns = [Column("benchmark", "benchmark"), Column("row", "row"),
               Column("quantity", "quantity"), Column("base", "base", True),
               Column("new", "new", True), Column("change", "change", True),
               Column("range", "change range", True, "range"), Column("p", "p", True),
               Column("verdict", "verdict")]

    def cells(change):
        unit, low, high = "" if change.points else " %", None, None
        if change.interval is not None:
            low, high = change.interval.low, change.interval.high
        schema = change.series.schema
        return [schema.benchmark,
                ", ".join(scorecard.named_keys(zip(schema.keys, change.series.keys))),
                change.series.quantity, six_digits(change.base), six_digits(change.new),
                "NA" if change.change_pct is None else f"{change.change_pct:+.1f}{unit}",
                "NA" if low is None else f"{low:+.1f} to {high:+.1f}{unit}",
                "NA" if change.corrected_p is None else f"{change.corrected_p:.2g}", change.verdict]

    return Grid(columns, [page.Row(list(map(command.plain, cells(change))),
                                   kind=f"grade{GRADES.get(change.verdict, UNCHANGED)}")
                          for change in changes], "rows compare")


# ---- settings that were varied -------------------------------------------------------------------

def best_settings(path, tables):
    """The vary.Best of all rows; none where nothing was varied or results have no metadata."""
    if not any(vary.SETTING in row for table in tables.of(NEW) for row in table.rows[:1]):
        return []
    try:
        return vary.best_settings(read_launches([path]))
    except ResultError:
        return []


def settings_section(best):
    """Which setting is best, row by row."""
    columns = [Column("benchmark", "benchmark"), Column("row", "row"),
               Column("quantity", "quantity"), Column("best", "best"),
               Column("first ahead of second by (%, or points)", "gain", True), Column("p", "p", True),
               *(Column(name, f"setting {name}", True) for name in
                 dict.fromkeys(name for row in best for name in row.medians))]
    rows = [page.Row([row.schema.benchmark,
                      ", ".join(f"{name} {value}" for name, value in
                                zip(row.schema.keys, row.keys)),
                      row.quantity, row.name if row.sure else "can't tell",
                      decimals(row.gain_pct, 1), f"{row.p:.3g}",
                      *(six_digits(row.medians.get(column.heading)) for column in columns[6:])],
                     kind="grade3" if row.sure else "") for row in best]
    sure = sum(row.sure for row in best)
    parts = [Text("The median of each setting over its launches. A setting is called best if it is "
                  "better than each other one: by the rank-sum test over launches, corrected for "
                  f"all rows (p at most {vary.ALPHA:g}).")]
    grid = Grid(columns, rows, "rows")
    parts.append(Closed(f"{sure} of {counted(len(best), 'row')} have a best setting", [grid],
                        is_open=len(best) <= LONG_TABLE))
    return Section("settings", "Settings", parts)


# ---- a benchmark ---------------------------------------------------------------------------------

def range_of(row, quantity):
    """The lowest and the highest launch, or the interval of one."""
    texts = in_number_order(row.texts(quantity.column))
    if len(texts) > 1:
        return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"
    if not quantity.low or not texts:
        return ""
    cells = next(cells for cells in row.launches if cells.get(quantity.column) == texts[0])
    low, high = (cells.get(column, "NA") for column in (quantity.low, quantity.high))
    return "NA" if low == high == "NA" else f"{low} to {high}"


def middle_of(row, quantity, side):
    texts = row.texts(quantity.column, side)
    if texts:
        return median_text(texts)
    return row.of(side)[0].get(quantity.column, "NA") if row.of(side) else "none"


def status_of(row):
    statuses = {cells.get("status", "NA") for cells in row.launches}
    return ", ".join(sorted(statuses, key=status_rank)) or "only in the base"


def words_of(row, column):
    """The words that launches have in a column, of several how many have which; "" for none."""
    words = [cells[column] for cells in row.launches if cells.get(column, "NA") != "NA"]
    if len(set(words)) < 2:
        return words[0] if words else ""
    return ", ".join(f"{word} ({words.count(word)})" for word in sorted(set(words)))


def table_of(tables, kind):
    """The parts that show a kind's rows."""
    rows, entry = rows_by_key(tables, kind), benchmarks.entry_of(kind)
    if not rows:
        return [Text("No rows.")]
    most = max(len(row.launches) for row in rows)
    has_base = any(row.base for row in rows)
    columns, cells, everywhere = [], [[] for _ in rows], []

    def add(column, texts):
        columns.append(column)
        for of_row, text in zip(cells, texts):
            of_row.append(text)

    for place, (name, heading) in enumerate(
            benchmarks.keys_of(kind, [row.keys for row in rows])):
        values = [row.keys[name] for row in rows]
        if len(set(values)) == 1 and not (len(rows) == 1 and place == 0):
            everywhere += [f"{heading} {values[0]}"] if values[0] != "NA" else []
        else:
            is_numeric = all(is_number(value) or value == "NA" for value in values)
            add(Column(heading, name, is_numeric), values)
    for quantity in entry.quantities:
        if quantity.optional and not any(row.texts(quantity.column, side) for row in rows
                                         for side in (NEW, BASE)):
            continue
        add(Column(quantity.heading, quantity.column, True),
            [middle_of(row, quantity, NEW) for row in rows])
        ranges = [range_of(row, quantity) for row in rows]
        if quantity.low or any(" to " in text for text in ranges):
            add(Column("range", f"{quantity.column} range", True, "range"), ranges)
        if has_base:
            add(Column("base", f"{quantity.column} base", True, "base"),
                [middle_of(row, quantity, BASE) for row in rows])
    for name, heading in entry.words:
        texts = [words_of(row, name) for row in rows]
        if any(texts):
            add(Column(heading, name), texts)
    if most > 1:
        add(Column("launches", "launches", True), [len(row.launches) for row in rows])
    if any("status" in cells for row in rows for cells in row.launches + row.base):
        add(Column("status", "status"), list(map(status_of, rows)))

    parts = [Text(f"In all rows: {', '.join(everywhere)}.", small=True)] if everywhere else []
    parts.append(Text(
        f"Values are medians over {most} launches; ranges are from the lowest launch to the "
        "highest." if most > 1 else
        "One launch; ranges are its intervals. Launches differ by more.", small=True))
    grid = Grid(columns, [
        page.Row(of_row, row.identity, "fail" if "FAIL" in status_of(row) else "")
        for of_row, row in zip(cells, rows)])
    parts.append(Closed(f"Table: {len(rows)} rows", [grid]) if len(rows) > LONG_TABLE else grid)
    return parts


def kind_parts(tables, kind, paths):
    figures = [Figure(paths[picture.name], picture.name, picture.caption)
               for picture in pictures.pictures_of(kind, tables.cells(NEW, kind)) if picture.name in paths]
    return figures + table_of(tables, kind)


def kind_sections(tables, paths):
    """A Section for each kind, all sweeps in one; `paths` of pictures by name."""
    kinds = tables.kinds()
    sweeps = [kind for kind in kinds if kind.endswith("_sweep")]
    made = []
    for kind in kinds:
        entry = benchmarks.entry_of(kind)
        parts = [Text(entry.text.replace("\n", " "))]
        if kind not in sweeps:
            made.append(Section(kind, entry.heading,
                                parts + kind_parts(tables, kind, paths)))
        elif kind == sweeps[0]:
            parts += [Closed(benchmarks.collective_of(sweep),
                             kind_parts(tables, sweep, paths), "sweep", sweep == sweeps[0])
                      for sweep in sweeps]
            made.append(Section("overlap_sweeps", entry.heading, parts))
    return made


# ---- the page ------------------------------------------------------------------------------------

def draw_pictures(tables, folder, say):
    """Draws all pictures: their paths by name, and what is to be said where that failed."""
    if shutil.which("gnuplot") is None:
        say("no gnuplot: a page without pictures")
        return {}, "There are no pictures: gnuplot is not installed here (Debian: gnuplot-nox)."
    paths, note = {}, ""
    for kind in tables.kinds():
        drawn, good = plot.draw_kind(tables, kind, plot.Drawing(folder, ("svg",)), say)
        paths.update((os.path.basename(path)[:-len(".svg")], path) for path in drawn)
        note = note if good else "Some pictures could not be drawn."
    return paths, note


def page_of(paths, tables, drawn, pictures_note=""):
    """The Page of a result, or of two."""
    title = f"What communication costs: {tables.labels[NEW]}"
    if BASE in tables.labels:
        title += f" against {tables.labels[BASE]}"
    best = best_settings(paths[0], tables)
    comparison = comparison_of(paths) if len(paths) > 1 else None
    sections = [short_section(scorecard.card_of(tables, best, comparison.changes if comparison else ())),
                warnings_section(paths, tables, pictures_note), machine_section(tables)]
    if comparison is not None:
        sections.append(comparison_section(comparison))
    if best:
        sections.append(settings_section(best))
    return Page(title, sections + kind_sections(tables, drawn), FOOTER.replace("\n", " "),
                first_listed=2)


def main(words):
    program = "report.sh"
    made = command.Parser(
        program, f"{program} [OPTION]... RESULTS [BASE_RESULTS]",
        """Makes one HTML page of a results folder, or of one file: what the results say in
a few sentences, warnings, the machine, and for each benchmark how to read it,
its picture and its table. With a second folder, the base, pictures and tables
show both, and what changed comes first. The page is one file that needs no
script and no network.""")
    made.add_argument("--output", metavar="FILE", help="default: RESULTS/report.html, or beside "
                      "the file")
    options = made.parse_with_results(words, 2)
    tables = read_tables(program, options.paths)
    first = options.paths[0]
    output = command.beside(first, options.output, path_beside(first, "html"))
    with tempfile.TemporaryDirectory() as folder:
        drawn, note = draw_pictures(tables, folder, lambda text: complain(program, text))
        text = page.html_of_page(page_of(options.paths, tables, drawn, note))
    if not command.write_to(output, text, bool(options.output), program):
        return command.EXIT_FAILED
    print(output)
    return command.EXIT_DONE


def path_beside(result, ending):
    """Where a report goes by default."""
    return (os.path.join(result, "report." + ending) if os.path.isdir(result) else
            re.sub(r"\.tsv$", "", result) + "." + ending)


def text_main(words):
    program = "report_text.sh"
    made = command.Parser(
        program, f"{program} [OPTION]... RESULTS",
        """Writes the same report as report.sh as Markdown, without pictures: to stdout.""")
    made.add_argument("--beside", action="store_true", help="to RESULTS/report.md, or beside the file")
    made.add_argument("--short", action="store_true", help="only the scorecard, as plain text")
    options = made.parse_with_results(words, 1)
    first = options.paths[0]
    tables = read_tables(program, options.paths)
    if options.short:
        card = scorecard.card_of(tables, best_settings(first, tables))
        text = scorecard.readable(scorecard.text_of(card))
    else:
        text = page.markdown_of_page(page_of(options.paths, tables, {}))
    if not options.beside:
        sys.stdout.write(text)
    elif not command.write_to(command.beside(first, None, path_beside(first, "md")), text, False, program):
        return command.EXIT_FAILED
    return command.EXIT_DONE
