# SPDX-License-Identifier: BSD-3-Clause
"""Sections of the page around the benchmarks: scorecard, warnings, machine."""

from commcost import command, page
from commcost.compare import best_setting
from commcost.page import Closed, Column, Grid, Items, Mark, Section, Text
from commcost.report import question_matrices
from commcost.result.tables import BASE
from commcost.scorecard import card_table, program_warnings

VALUES_SHOWN = 4    # per key of the metadata
# Names of keys of the metadata.
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
    """Returns a Grid with one fact per row, without empty columns."""
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


def warnings_section(tables, pictures_note):
    items = program_warnings.warnings_of(tables) + list(filter(None, [pictures_note]))
    return Section("warnings", f"Warnings: {len(items)}" if items else "Warnings",
                   [Items(items, "warnings") if items else Text("No warnings.")])


def values_of(tables, side, key):
    """Returns up to VALUES_SHOWN values of a key of a side's metadata. Leaves out varied variables, since metadata only
    have the first setting's values."""
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
    notes = program_warnings.causes(tables, "note")
    if notes:
        parts.append(Closed("notes", f"Notes of the programs: {len(notes)}", [Items(notes, "notes")]))
    return Section("machine", "Machine and runs", parts)
