"""Writing tables, as the benchmarks do (docs/output.md)."""

import datetime
import math
import os
import subprocess
import sys
import typing

from commcost import __version__
from commcost.command import UsageError, complain, plain
from commcost.results import SCHEMA


class Column(typing.NamedTuple):
    """A column of a table: its name, its role (key, less, more, info), and its cell of a row."""

    name: str
    role: str
    cell: typing.Callable


def decimals(value, count):
    """A number with so many decimals; NA for None."""
    return "NA" if value is None else f"{value:.{count}f}"


def six_digits(value):
    """A number with six digits that count; NA for None."""
    if value is None:
        return "NA"
    if value == 0:
        return "0"
    if not 1e-6 <= abs(value) < 1e15:
        return f"{value:.5e}"
    return f"{value:.{max(0, 5 - math.floor(math.log10(abs(value))))}f}"


def commit():
    """The commit of the source tree that this file is in; NA where it is installed."""
    if not os.path.exists(os.path.join(os.path.dirname(__file__), "../../CMakeLists.txt")):
        return "NA"
    try:
        done = subprocess.run(["git", "-C", os.path.dirname(__file__), "rev-parse", "--short=12",
                               "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False, universal_newlines=True)
    except OSError:
        return "NA"
    return done.stdout.strip() or "NA"


def replace_file(path, text):
    """A file gets this text, whole or not at all; what is there and no file (a pipe, a device) is
    written to."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
        return
    new = path + ".new"
    try:
        with open(new, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
        os.replace(new, path)
    except OSError:
        if os.path.exists(new):
            os.remove(new)
        raise


class Output:
    """A result of `program`, to a file or to stdout: the metadata, one header row, rows, remarks,
    an end line. With `rows_only` the metadata and the header row are left out, and remarks go to
    stderr. UsageError where the file can't be written."""

    def __init__(self, program, path, table=False, rows_only=False):
        self.program, self._table, self._rows_only = program, table, rows_only
        self._lines, self._aligned, self._columns, self._rows = [], [], [], 0
        try:
            self._stream = sys.stdout if path is None else open(path, "w", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--output: cannot write '{path:.200}': {error.strerror}: use a file "
                             "that can be written") from None

    def begin(self, columns, metadata, words):
        """Writes the metadata, after what every result has, and the header row."""
        self._columns = columns
        date = datetime.datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S%z")
        for key, value in [("benchmark", self.program), ("version", __version__),
                           ("commit", commit()), ("schema", SCHEMA), ("date", date),
                           ("command", " ".join([self.program, *words])), *metadata]:
            self._comment(f"{key}: {value}")
        roles = " ".join(f"{column.name}={column.role}" for column in columns)
        self._comment(f"columns: {roles}")
        if not self._rows_only:
            self._line([column.name for column in columns])

    def row(self, row):
        self._rows += 1
        self._line([plain(str(column.cell(row))).replace("#", " ") or "NA"
                    for column in self._columns])

    def remark(self, kind, text):
        """`# KIND: TEXT`."""
        if self._rows_only:
            complain(self.program, f"{kind}: {text}")
        else:
            self._comment(f"{kind}: {text}")

    def end(self, status):
        """Writes the end line, and all that is left. False if anything was lost."""
        self._comment(f"end: {self._rows} row{'' if self._rows == 1 else 's'}, exit {status}")
        try:
            self._flush_table()
            self._stream.writelines(self._lines)
            self._stream.flush()
            if self._stream is not sys.stdout:
                self._stream.close()
        except OSError:
            return False
        return True

    def _comment(self, text):
        if not self._rows_only:
            self._flush_table()
            self._lines.append(f"# {plain(text)}\n")

    def _line(self, cells):
        if self._table:
            self._aligned.append(cells)
        else:
            self._lines.append("\t".join(cells) + "\n")

    def _flush_table(self):
        """Aligns the rows so far."""
        widths = [max(map(len, cells)) for cells in zip(*self._aligned)]
        for cells in self._aligned:
            padded = (cell.rjust(width) for cell, width in zip(cells, widths))
            self._lines.append("  ".join(padded).rstrip() + "\n")
        self._aligned = []
