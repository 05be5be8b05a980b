# SPDX-License-Identifier: BSD-3-Clause
"""Results and accounts as JSON. Numbers that are unknown are null."""

import json

from commcost import __version__
from commcost.command import plain
from commcost.result.result_reader import Result
from commcost.words import parsed_number


def text_of(schema, content):
    """Returns the text of an object, with the name of its schema (a file in docs/)."""
    return as_json({"schema": schema, "version": __version__, **content})


def as_json(content):
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def cell_of(cell):
    if cell == "NA":
        return None
    value = parsed_number(cell)
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return plain(cell)
    return int(cell) if cell.lstrip("-").isdigit() else value


def report_of(path):
    """Returns a result or a monitor's report as JSON, by docs/report.schema.json."""
    with Result(path) as result:
        rows = [{name: cell_of(cell) for name, cell in zip(result.header, cells)} for cells in result.rows()]
    return text_of("report.schema.json", {
        "benchmark": result.benchmark, "complete": result.end is not None and result.cut_line is None,
        "metadata": result.metadata, "rows": rows,
        "remarks": [{"kind": remark.kind, "text": remark.text} for remark in result.remarks]})
