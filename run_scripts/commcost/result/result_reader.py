# SPDX-License-Identifier: BSD-3-Clause
"""The reader of results.

A result is the output of a benchmark (docs/output.md): metadata, one header row, rows, and an end line. It defines its
columns (`# columns:`), so the reader doesn't depend on benchmarks. On a terminal, programs print a short result with
part of the head and columns. Outputs of other benchmarks are converted (foreign_outputs). Anything else is refused with
a ResultError that names the file and the line. Results are read line by line, so they may have any size.
"""

import hashlib
import io
import itertools
import os
import re
import typing

from commcost.command import UsageError, protect_input, plain
from commcost.result import foreign_outputs
from commcost.words import listed, parsed_number

SCHEMA = 2         # the newest output schema that this module reads
LINE_MAX = 1 << 20  # bytes; a longer line is refused
COLUMNS_MAX = 256
NAME_MAX = 127     # characters of a column's name
SHOWN = 120        # characters of a name or cell in an error
PATH_SHOWN = 200
NAMES_SHOWN = 4
ROLES = ("key", "less", "more", "info")

_NOT_KNOWN = "unknown output: no title of OSU's, Intel's or Sandia's benchmarks"
_ONE_LAUNCH = "use one launch per file, or a column 'run'"

# Keys of full metadata that a line of a short head combines.
SHORT_HEAD = {
    "program": re.compile(r"(?P<benchmark>\S+) (?P<version>\S+) \(commcost\), (?P<date>\S+)"),
    "layout": re.compile(r"(?P<ranks>[0-9]+) ranks? on (?P<nodes>[0-9]+) nodes?\b"
                         r".*?(?:; binding: (?P<binding>.*))?")}
# Roles by their name in a short head. Older results use the second name of keys.
SHORT_ROLES = {"keys": "key", "rows are told apart by": "key", "less is better": "less", "more is better": "more"}
NO_ROLES = "not compared"
CONTINUES = "#   "            # begins a continuation line in a short result

_OVERLAP = {"collective", "model", "overlap_pct"}
# Keys that older results lack: name, preceding column, value in older results, and columns that identify such results.
ADDED = (("form", "model", "nonblocking", _OVERLAP), ("test_calls", "form", "0", _OVERLAP),
         ("size_bytes", "rank", "NA", {"kind", "comm", "operation", "members", "rank"}))


class ResultError(UsageError):
    """An error in a result: one line for its user."""


class Remark(typing.NamedTuple):
    """A `# note:` or `# warning:` line."""

    kind: str  # "note" or "warning"
    text: str


class End(typing.NamedTuple):
    """The end line: the number of rows written, and the exit status."""

    rows: int
    status: int


class Result:
    """A result that is open for reading. The head is read at once, the rows by rows(). `remarks`, `end` and `cut_line`
    are complete after the rows.

    path       as given
    head       the comments before the header row, unchanged
    metadata   values by key, in the order of the file
    benchmark  the benchmark's name
    roles      the columns' roles by name, from `# columns:`; info for other columns of a short result
    is_short   True if it has a short head
    header     the names in the header row, and added keys that older results lack (ADDED)
    keys       the names of the key columns, except `run`
    is_merged  True if the file holds several launches, with a column `run`
    has_end    True if complete files have an end line, which schema 1 lacks
    remarks    notes and warnings so far
    end        the End of the last line, or None
    cut_line   the number of a truncated last line, or None
    is_foreign True if another benchmark wrote it; remarks are then the reader's
    digest     after the rows: equal for copies, files of the same bytes with date and hosts; for outputs of other
               benchmarks, which lack these, equal for the same file only
    """

    def __init__(self, path, as_written=False):
        """Opens the result and reads its head. With `as_written` header and rows have no ADDED keys."""
        self.path = path
        self.head, self.metadata, self.roles, self.remarks = [], {}, {}, []
        self.header, self.keys, self._added = [], [], []  # (index, value) of cells that rows lack
        self.end = self.cut_line = self.digest = self._kept = None
        self._number, self._whole, self.is_foreign, self.is_short = 0, True, False, False
        self._hash = hashlib.blake2b(digest_size=16)
        try:
            self._stream = open(path, "rb")
            protect_input(self._stream)
        except OSError as error:
            raise self._unreadable(error) from None
        try:
            self._pieces = self._open()
            self._read_head()
            if not as_written:
                self._add_keys()
        except BaseException:
            self._stream.close()
            raise
        self.benchmark = self.value("benchmark")
        self.has_end = int(self.value("schema") or 1) >= 2
        self.is_merged = "run" in self.header and self.roles.get("run") == "key"

    def _unreadable(self, error):
        hint = "it is a folder" if isinstance(error, IsADirectoryError) else (
            f"{error.strerror}: use a result or a folder of results")
        return ResultError(f"cannot read '{self.path:.{PATH_SHOWN}}': {hint}")

    def _open(self):
        """Returns the lines of the file, converted if it is foreign."""
        # A pipe can't be read twice, and is slow. The first piece ends at the end of a line.
        try:
            head = self._stream.read(foreign_outputs.HEAD) + self._stream.readline(LINE_MAX + 1)
            self.is_foreign = foreign_outputs.is_foreign(head)
            if not self.is_foreign:
                return itertools.chain(io.BytesIO(head), iter(lambda: self._stream.readline(LINE_MAX + 1), b""))
            file = os.fstat(self._stream.fileno())
            self.digest = f"{file.st_dev}:{file.st_ino}"
            content = head + self._stream.read()
            return io.BytesIO(foreign_outputs.translated(content.decode("utf-8", "replace")).encode())
        except OSError as error:
            raise self._unreadable(error) from None
        except foreign_outputs.ForeignError as error:
            raise ResultError(f"{self.path:.{PATH_SHOWN}}: {error}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()
        self._pieces = ()

    def value(self, key):
        """Returns the first value of a key of the metadata, or None."""
        return self.metadata.get(key, [None])[0]

    def place(self, name):
        """Returns the index of a column's cell in a row, or None."""
        return self.header.index(name) if name in self.header else None

    def quantities(self):
        """Returns (index of the cell, name, True if more is better) of each quantity."""
        return [(place, name, self.roles[name] == "more") for place, name in enumerate(self.header)
                if self.roles.get(name) in ("less", "more")]

    def refuse(self, text):
        """Raises an error about the current line. Converted files have no line numbers."""
        line = "" if self.is_foreign else f"line {self._number}: "
        raise ResultError(f"{self.path:.{PATH_SHOWN}}: {line}{text}")

    def keep(self):
        """Reads all rows, so that rows() can be called several times."""
        self._kept = [(self._number, cells) for cells in self.rows()]

    def rows(self):
        """Yields the rows, lists of cells. Called once, unless the rows are kept."""
        if self._kept is None:
            yield from self._read_rows()
        for self._number, cells in self._kept or ():
            yield cells

    def _read_rows(self):
        count = len(self.header) - len(self._added)
        for line in self._lines():
            if line.startswith("#"):
                self._take_comment(line)
                continue
            if not line:
                continue
            self.end = None
            # Texts that look like dates are quoted.
            cells = line.replace('"', "").split("\t")
            if not self._whole and (len(cells) != count or self.has_end):
                self.cut_line = self._number
                continue
            if len(cells) != count:
                self.refuse(f"{len(cells)} cells, the header row has {count}")
            for place, value in self._added:
                cells.insert(place, value)
            yield cells
        self.digest = self.digest or self._hash.hexdigest()


    def _lines(self):
        """Yields the lines without line ends, and joins continuation lines. `_number` and `_whole` belong to the
        current line, or to the next one."""
        held = None  # a comment that may continue
        for line in itertools.chain(self._lines_of_file(), [None]):
            if held is not None and line is not None and line.startswith(CONTINUES):
                held += " " + line[len(CONTINUES):]
                continue
            if held is not None:
                yield held
            held = line if self.is_short and line is not None and line.startswith("#") else None
            if held is None and line is not None:
                yield line

    def _lines_of_file(self):
        try:
            for line in self._pieces:
                self._number += 1
                self._hash.update(line)
                self._whole = line.endswith(b"\n")
                if b"\0" in line:
                    self.refuse("a byte of 0: this is no result")
                if len(line) > LINE_MAX + self._whole:
                    self.refuse("longer than 1 MiB: this is no result")
                if self._number == 1 and line.startswith(b"\xef\xbb\xbf"):
                    line = line[3:]
                # Bytes that aren't UTF-8 stay distinct.
                yield line.rstrip(b"\n").rstrip(b"\r").decode("utf-8", "surrogateescape")
        except OSError as error:
            raise self._unreadable(error) from None


    def _read_head(self):
        for line in self._lines():
            if line.startswith("#"):
                self.head.append(line)
                self._take_head_comment(line)
            elif line:
                self._take_header(line)
                return
        raise ResultError(f"{self.path:.{PATH_SHOWN}}: no header row: this is no result, or an empty one")

    def _take_head_comment(self, line):
        found = re.match("# ([^ :]+): (.*)$", line)
        if not found:
            return
        key, value = found.groups()
        if key in ("note", "warning"):
            self.remarks.append(Remark(key, value))
            return
        short = SHORT_HEAD[key].fullmatch(value) if key in SHORT_HEAD else None
        if short and key == "program":
            self.is_short, self.metadata["schema"] = True, [str(SCHEMA)]
        for name, text in (short.groupdict() if short and self.is_short else {key: value}).items():
            if text is not None:
                self._take_metadata(name, text)

    def _take_metadata(self, key, value):
        if key in ("columns", "benchmark") and key in self.metadata:
            self.refuse(f"a second '# {key}:': {_ONE_LAUNCH}")
        self.metadata.setdefault(key, []).append(value)
        if key == "columns":
            self._take_columns(value)
        if key == "schema" and not (re.fullmatch("[0-9]{1,9}", value) and 1 <= int(value) <= SCHEMA):
            self.refuse(f"output schema '{value:.{SHOWN}}', known up to {SCHEMA}: use the results' commcost version")

    def _take_columns(self, text):
        for word in self._words_of(text) if self.is_short else text.split():
            name, _, role = word.rpartition("=")
            if not name or role not in ROLES:
                self.refuse(f"'{word:.{SHOWN}}' in '# columns:' isn't a name with '=key', '=less', '=more' or '=info'")
            if len(name) > NAME_MAX:
                self.refuse(f"the column '{name:.{SHOWN}}' has too long a name")
            if name in self.roles:
                self.refuse(f"'# columns:' has '{name:.{SHOWN}}' twice")
            self.roles[name] = role
            if len(self.roles) > COLUMNS_MAX:
                self.refuse(f"more than {COLUMNS_MAX} columns")

    def _words_of(self, text):
        """Returns the columns of a short head in the form of `# columns:` of a full head."""
        parts = [part.partition(": ") for part in text.split("; ") if text != NO_ROLES]
        for role, _, _ in parts:
            if role not in SHORT_ROLES:
                self.refuse(f"'{role:.{SHOWN}}' in '# columns:' is none of {listed(SHORT_ROLES, len(SHORT_ROLES))}")
        return [f"{name}={SHORT_ROLES[role]}" for role, _, names in parts for name in names.split(", ")]

    def _take_header(self, line):
        for key in ("columns", "benchmark"):
            if key not in self.metadata:
                self.refuse(f"no '# {key}:' before the first row: " + (
                    "write the result without --no-header and --no-metadata"
                    if "\t" in line else _NOT_KNOWN))
        self.header = line.split("\t")
        for place, name in enumerate(self.header):
            if name not in self.roles and not self.is_short:
                self.refuse(f"'{name:.{SHOWN}}' in the header row isn't in '# columns:'")
            if name in self.header[:place]:
                self.refuse(f"the header row has '{name:.{SHOWN}}' twice")
        for name, role in self.roles.items():
            if role == "key" and name not in self.header:
                self.refuse(f"the header row lacks the key '{name:.{SHOWN}}'")
        self.keys = [name for name, role in self.roles.items() if role == "key" and name != "run"]

    def _add_keys(self):
        """Adds the keys that older results lack, or to a short result the keys of `# all_rows:`."""
        all_rows = (self.value("all_rows") or "") if self.is_short else ""
        shared = [part.partition("=") for part in all_rows.split("; ") if part]
        if not all(name and equals and len(name) <= NAME_MAX for name, equals, _ in shared):
            self.refuse(f"'{all_rows:.{SHOWN}}' in '# all_rows:' isn't a list of 'name=value'")
        for name, after, value, of in [(name, None, value, set()) for name, _, value in reversed(shared)] or ADDED:
            if name in self.header or not of <= set(self.header):
                continue
            place = self.header.index(after) + 1 if after else 0
            self._added.append((place, value))
            self.roles[name] = "key"
            self.keys.insert(sum(key in self.header[:place] for key in self.keys), name)
            self.header.insert(place, name)

    def _take_comment(self, line):
        found = re.match("# (note|warning|end|columns|benchmark): (.*)$", line)
        kind, text = found.groups() if found else ("", "")
        if kind in ("columns", "benchmark"):
            self.refuse(f"a second result begins: {_ONE_LAUNCH}")
        if kind in ("note", "warning"):
            self.remarks.append(Remark(kind, text))
        found = re.match("([0-9]{1,18}) rows?(?:, exit ([0-9]{1,9}))?", text) if kind == "end" else None
        self.end = End(int(found.group(1)), int(found.group(2) or 0)) if found else None


class KeptResults:
    """Results that are read once for several readers."""

    def __init__(self):
        self._kept = {}

    def opened(self, path):
        """Returns the Result, ready to be read again."""
        if path not in self._kept:
            with Result(path) as result:
                result.keep()
            self._kept[path] = result
        return self._kept[path]


def cell_text(text):
    """Returns the text as a cell. A ' before certain characters keeps spreadsheets from evaluating it as a formula."""
    text = plain(text)
    return "'" + text if text.startswith(("=", "+", "-", "@")) and parsed_number(text) is None else text


# From best to worst. An unknown status is worse than ok.
STATUSES = ("ok", "budget", "max-size", "no-knee", "FAIL")


def status_rank(status):
    return STATUSES.index(status) if status in STATUSES else 1


def worst_status(statuses):
    return max(statuses, key=status_rank)
