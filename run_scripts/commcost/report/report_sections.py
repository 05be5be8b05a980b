"""Sections of the page around the benchmarks: scorecard, warnings, machine."""

import re

from commcost import command, page
from commcost.compare import best_setting
from commcost.page import Closed, Column, Grid, Items, Mark, Section, Text
from commcost.report import question_matrices
from commcost.result.tables import BASE
from commcost.scorecard import card_table
from commcost.suite import suite_folder
from commcost.words import counted, listed

NAMES_SHOWN = 12    # results that a warning names
VALUES_SHOWN = 4    # of a key of the metadata
# Keys of the metadata, and what they are called.
MACHINE = {
    "processor": "processor", "processors": "logical processors", "cores": "cores",
    "kernel": "system", "nodes": "nodes", "ranks": "ranks",
    "ranks_per_node": "ranks per node", "hosts": "hosts: ranks", "binding": "binding",
    "mpi_library": "MPI library", "mpi_built_with": "built with", "mpi_device": "MPI device",
    "mpi_standard": "MPI standard", "mpi_abi": "standard ABI of MPI",
    "thread_level": "thread level", "mpi_variable": "MPI variables set", "compiler": "compiler",
    "compiler_flags": "compiler flags", "program": "program", "version": "commcost version",
    "commit": "commcost commit", "clock": "clock", "job_id": "job", "date": "measured"}


def card_sections(card):
    sections = [Section(f"card{place}", part.heading, [card_grid(part)], "card")
                for place, part in enumerate(card.parts, 1)]
    return sections + ([Section("caveats", card_table.CAVEATS, [Items(card.caveats, "warnings")], "card")]
                       if card.caveats else [])


def card_grid(part):
    """One fact a row, without columns that are empty in all."""
    has_ranges = any(line.spread for line in part.lines)
    median, spread, note = card_table.COLUMNS if has_ranges else ("", "", "")
    columns = {
        Column("", "label"): [Mark(line.label, "", "".join(line.rows[:1])) for line in part.lines],
        Column("", "sizes"): [line.sizes for line in part.lines],
        Column(median, "value"): [
            Mark(line.value, " ".join(["value", *question_matrices.LETTERS.get(line.value, ())[1:]]))
            for line in part.lines],
        Column(spread, "range"): [Mark(line.spread, "value") for line in part.lines],
        Column(note, "note"): [line.remark for line in part.lines]}
    return page.grid_of({column: cells for column, cells in columns.items() if any(map(str, cells))}, "facts")


def remarks_of(table, kind):
    """The texts of a file's remarks of a kind, and its own defects."""
    texts = [re.sub("^run [0-9]+: ", "", remark.text) for remark in table.remarks if remark.kind == kind]
    if kind == "warning":
        texts += ["wrong data: rows with status FAIL" for row in table.rows if row.get("status") == "FAIL"]
        texts += ["the result was cut off (no # end: line): rows are missing, and the last one may be broken"
                  ] if table.is_cut_off else []
    return texts


def causes(tables, kind):
    """Items: all remarks of a kind, those that differ in numbers only as one."""
    found = {}
    for table in tables.tables:
        name = table.name + (" (base)" if table.side == BASE else "")
        for text in remarks_of(table, kind):
            texts, results = found.setdefault(re.sub(r"[0-9]+(\.[0-9]+)?", "0", text), ({}, {}))
            texts[text] = max(map(float, re.findall(r"([0-9]+(?:\.[0-9]+)?) %", text)), default=0.0)
            results[name] = results.get(name, 0) + 1
    return [cause_of(*cause) for cause in found.values()]


def cause_of(texts, results):
    """The Item of texts with their largest percentages, of which it shows the first with the largest, and how often
    results have one."""
    also = f" (and {len(texts) - 1} like it with other numbers)" if len(texts) > 1 else ""
    names = [name + (f" ({count} times)" if count > 1 else "") for name, count in results.items()]
    return f"{max(texts, key=texts.get)}{also}\n{listed(names, NAMES_SHOWN + 1)}"


def failed_launches(path):
    """Items about launches of a suite's folder that have no result, a program each, in a setting if some are varied."""
    failed, settings = {}, suite_folder.Folder(path).settings()
    for (run, name), result in suite_folder.Folder(path).last_results().items():
        if result == "failed":
            failed.setdefault(name, []).append(run)
    called = {name: f"{name} ({settings[name]})" if name in settings else name for name in failed}
    return [f"{called[name]}: {counted(len(runs), 'launch', 'launches')} failed and "
            f"{'is' if len(runs) == 1 else 'are'} missing here\nruns/{runs[0]}/{name}.log has the reason"
            for name, runs in failed.items()]


def warnings_section(paths, tables, pictures_note):
    items = [item for path in paths for item in failed_launches(path)]
    items += causes(tables, "warning") + tables.left + list(filter(None, [pictures_note]))
    return Section("warnings", f"Warnings: {len(items)}" if items else "Warnings",
                   [Items(items, "warnings") if items else Text("No warnings.")])


def values_of(tables, side, key):
    """The values of a key of a side's metadata, up to VALUES_SHOWN; without variables that were varied, of which the
    metadata have the first setting's."""
    values = dict.fromkeys(value for table in tables.of(side)
                           for value in table.metadata.get(key, ()) if value not in ("", "NA"))
    if key == "mpi_variable":
        settings = {row.get(best_setting.SETTING, "") for table in tables.of(side) for row in table.rows}
        values = [value for value in values if not any(f" {value} " in f" {setting} " for setting in settings)]
    if key == "date":
        values.update(dict.fromkeys(date for table in tables.of(side) for date in table.metadata.get("last_date", ())))
        dates = sorted(value.replace("T", " ", 1) for value in values)
        return " to ".join(dict.fromkeys(dates[:1] + dates[-1:]))
    if key != "mpi_variable" and len(values) > VALUES_SHOWN:
        values = [*list(values)[:VALUES_SHOWN], "..."]
    return command.plain("; ".join(values))


def machine_section(tables):
    both = len(tables.sides) > 1
    heads = [tables.labels[side] + (" (base)" if side == BASE else "") for side in tables.sides] if both else [""]
    rows = []
    for key, heading in MACHINE.items():
        found = [values_of(tables, side, key) for side in tables.sides]
        differs = both and found[0] != found[1] and key != "date"
        rows += [page.Row([heading, *found], kind="differs" if differs else "")] if any(found) else []
    parts = [Grid([Column("", "key"), *map(Column, heads, tables.sides)], rows, "machine")]
    parts += [Text("Differences are marked.", small=True)] if both else []
    notes = causes(tables, "note")
    if notes:
        parts.append(Closed("notes", f"Notes of the programs: {len(notes)}", [Items(notes, "notes")]))
    return Section("machine", "Machine and runs", parts)
