# SPDX-License-Identifier: BSD-3-Clause
"""Tables as text, in the benchmarks' format (docs/output.md)."""

from commcost import __version__
from commcost.command import complain, plain
from commcost.result.result_reader import SCHEMA, cell_text
from commcost.system import IS_TREE, TOP, now, command_output


def commit():
    """Returns the commit of the source tree, or NA if the scripts are installed."""
    return IS_TREE and command_output("git", "-C", TOP, "rev-parse", "--short=12", "HEAD").strip() or "NA"


class Output:
    """A result of `program`: metadata, header row, rows, remarks, end line. Without columns it has tables for readers
    instead. With `rows_only` it has no metadata and no header row, and remarks go to stderr."""

    def __init__(self, program, rows_only=False):
        self.program, self._rows_only = program, rows_only
        self._lines, self._columns, self._rows = [], [], 0

    def begin(self, columns, metadata, words):
        """Writes the metadata and the header row. `columns` are pairs of a name and a role (key, less, more, info)."""
        self._columns = [name for name, _ in columns]
        for key, value in [("benchmark", self.program), ("version", __version__),
                           ("commit", commit()), ("schema", SCHEMA), ("date", now()),
                           ("command", " ".join([self.program, *words])), *metadata]:
            self._comment(f"{key}: {value}")
        names = list(map(cell_text, self._columns))
        roles = " ".join(f"{name}={role}" for name, (_, role) in zip(names, columns))
        if columns:
            self._comment(f"columns: {roles}")
        if columns and not self._rows_only:
            self._lines.append("\t".join(names) + "\n")

    def row(self, cells):
        """Writes a row from cells by column, NA for missing ones."""
        self._rows += 1
        cells = [cell_text(str(cells.get(name, "NA"))).replace("#", " ") or "NA" for name in self._columns]
        self._lines.append("\t".join(cells) + "\n")

    def table(self, grid):
        self._rows += len(grid.rows)
        self._lines += [line.replace("#", " ") + "\n" for line in grid.as_text()[self._rows_only:-1]]

    def remark(self, kind, text):
        if self._rows_only:
            complain(self.program, f"{kind}: {text}")
        else:
            self._comment(f"{kind}: {text}")

    def text(self, status):
        self._comment(f"end: {self._rows} row{'' if self._rows == 1 else 's'}, exit {status}")
        return "".join(self._lines)

    def _comment(self, text):
        if not self._rows_only:
            self._lines.append(f"# {plain(text)}\n")
