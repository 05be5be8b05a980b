"""Reading results: the one reader that comparison, summary, pictures and report share.

A result is what a benchmark writes (docs/output.md): metadata, one header row, rows, and an end line. It says itself
what its columns are (`# columns:`), so nothing here knows a benchmark. On the terminal programs write a short result,
whose head and columns are a part of that. What other benchmarks print is read as if they wrote results, too
(foreign_outputs.py). Files may hold anything; what is no result is refused with a ResultError, one line that names the file and
the place. Results are read line by line, so their size doesn't matter.
"""

import hashlib
import io
import itertools
import os
import re
import typing

from commcost.command import UsageError, note_input, plain
from commcost.result import foreign_outputs
from commcost.words import listed, parsed_number

SCHEMA = 2         # the newest output schema that this module reads
LINE_MAX = 1 << 20  # bytes; a longer line is refused
COLUMNS_MAX = 256
NAME_MAX = 127     # letters of a column's name
SHOWN = 120        # letters of a name or cell that an error shows
PATH_SHOWN = 200
NAMES_SHOWN = 4
ROLES = ("key", "less", "more", "info")

_NOT_KNOWN = ("no output that is known (no title of OSU's, Intel's or Sandia's benchmarks in the first "
              f"{foreign_outputs.HEAD >> 20} MiB)")
_ONE_LAUNCH = "one launch a file, or a column 'run' that tells them apart"

# What a short head has in one line, by the keys of full metadata.
SHORT_HEAD = {
    "program": re.compile(r"(?P<benchmark>\S+) (?P<version>\S+) \(commcost\), (?P<date>\S+)"),
    "layout": re.compile(r"(?P<ranks>[0-9]+) ranks? on (?P<nodes>[0-9]+) nodes?\b"
                         r".*?(?:; binding: (?P<binding>.*))?")}
# How `# columns:` in a short head calls roles (keys by two names, the second one in older results), and how it says that
# there are none.
SHORT_ROLES = {"keys": "key", "rows are told apart by": "key", "less is better": "less", "more is better": "more"}
NO_ROLES = "not compared"
GOES_ON = "#   "            # begins a line that continues the one before, in a short result

_OVERLAP = {"collective", "model", "overlap_pct"}
# Keys that results of a later version have: the name, the column that it follows, what it is in older ones, and
# columns that tell which results it is of.
ADDED = (("form", "model", "nonblocking", _OVERLAP), ("test_calls", "form", "0", _OVERLAP),
         ("size_bytes", "rank", "NA", {"kind", "comm", "operation", "members", "rank"}))


class ResultError(UsageError):
    """What is wrong with a result: one line for its user."""


class Remark(typing.NamedTuple):
    """A `# note:` or `# warning:` line."""

    kind: str  # "note" or "warning"
    text: str


class End(typing.NamedTuple):
    """What the end line says: the number of rows that were written, and the exit status."""

    rows: int
    status: int


class Result:
    """A result that is open for reading. The head is read at once, the rows by `rows()`; what
    stands among and after the rows (`remarks`, `end`, `cut_line`) is known after these.

    path       as given
    head       the comments before the header row, as they are
    metadata   each key's values, in the order of the file
    benchmark  the benchmark's name
    roles      the columns' roles by name, as `# columns:` has them. A short result's others are info
    is_short   whether it has a short head
    header     the header row's names, and those that it lacks (ADDED)
    keys       the names of the columns that tell rows apart, but for `run`
    is_merged  whether the file holds several launches, told apart by the column `run`
    has_end    whether a complete file ends with an end line, which schema 1 doesn't have
    remarks    notes and warnings so far
    end        the End that the last line states, or None
    cut_line   the number of a last line that was cut off and left out, or None
    is_foreign whether another benchmark wrote it: its remarks are this reader's, about what it lacks
    digest     after the rows: the same for copies: files of the same bytes, which say when and where they
               were measured; what another benchmark wrote doesn't, so there only the same file is the same
    """

    def __init__(self, path, as_written=False):
        """With `as_written` the header and the rows have only what the file has."""
        self.path = path
        self.head, self.metadata, self.roles, self.remarks = [], {}, {}, []
        self.header, self.keys, self._added = [], [], []  # (index, value) of cells that rows lack
        self.end = self.cut_line = self.digest = self._kept = None
        self._number, self._whole, self.is_foreign, self.is_short = 0, True, False, False
        self._hash = hashlib.blake2b(digest_size=16)
        try:
            self._stream = open(path, "rb")
            note_input(self._stream)
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
            f"{error.strerror}: name a result or a folder of results")
        return ResultError(f"cannot read '{self.path:.{PATH_SHOWN}}': {hint}")

    def _open(self):
        """The lines of the file, or of what it says in our own form."""
        # It may be a pipe, which can't be read twice, and is slow. The first piece ends with a line.
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
        """The first value of a key of the metadata, or None."""
        return self.metadata.get(key, [None])[0]

    def place(self, name):
        """The index of a column's cell in a row, or None."""
        return self.header.index(name) if name in self.header else None

    def quantities(self):
        """(index of the cell, name, whether more is better) of each column that is a result."""
        return [(place, name, self.roles[name] == "more") for place, name in enumerate(self.header)
                if self.roles.get(name) in ("less", "more")]

    def refuse(self, text):
        """Raises the error about the line in hand, which is no line of a file that was translated."""
        line = "" if self.is_foreign else f"line {self._number}: "
        raise ResultError(f"{self.path:.{PATH_SHOWN}}: {line}{text}")

    def keep(self):
        """Reads the rows, for any number of calls of rows()."""
        self._kept = [(self._number, cells) for cells in self.rows()]

    def rows(self):
        """The rows, as lists of cells, as many as the header row has. To be called once, unless they are kept."""
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
            # In quotes are texts that look like dates.
            cells = line.replace('"', "").split("\t")
            if not self._whole and (len(cells) != count or self.has_end):
                self.cut_line = self._number
                continue
            if len(cells) != count:
                self.refuse(f"{len(cells)} cells, where the header row has {count}")
            for place, value in self._added:
                cells.insert(place, value)
            yield cells
        self.digest = self.digest or self._hash.hexdigest()

    # ---- lines -----------------------------------------------------------------------------------

    def _lines(self):
        """The lines, without their ends; `_number` and `_whole` are those of the line in hand, or of the
        next one. What is continued is one line."""
        held = None  # a comment that may go on
        for line in itertools.chain(self._lines_of_file(), [None]):
            if held is not None and line is not None and line.startswith(GOES_ON):
                held += " " + line[len(GOES_ON):]
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
                # What isn't UTF-8 stays what it is, so that other texts don't become equal.
                yield line.rstrip(b"\n").rstrip(b"\r").decode("utf-8", "surrogateescape")
        except OSError as error:
            raise self._unreadable(error) from None

    # ---- the head --------------------------------------------------------------------------------

    def _read_head(self):
        for line in self._lines():
            if line.startswith("#"):
                self.head.append(line)
                self._take_head_comment(line)
            elif line:
                self._take_header(line)
                return
        raise ResultError(f"{self.path:.{PATH_SHOWN}}: no header row: the program ended before it "
                          "had a result, or this is none")

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
        for said, text in (short.groupdict() if short and self.is_short else {key: value}).items():
            if text is not None:
                self._take_metadata(said, text)

    def _take_metadata(self, key, value):
        if key in ("columns", "benchmark") and key in self.metadata:
            self.refuse(f"a second '# {key}:': {_ONE_LAUNCH}")
        self.metadata.setdefault(key, []).append(value)
        if key == "columns":
            self._take_columns(value)
        if key == "schema" and not (re.fullmatch("[0-9]{1,9}", value) and 1 <= int(value) <= SCHEMA):
            self.refuse(f"output schema '{value:.{SHOWN}}': this program reads up to {SCHEMA}: "
                        "use the one that belongs to the results")

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
        """What a short head says of the columns, as a full one does."""
        parts = [part.partition(": ") for part in text.split("; ") if text != NO_ROLES]
        for said, _, _ in parts:
            if said not in SHORT_ROLES:
                self.refuse(f"'{said:.{SHOWN}}' in '# columns:' is none of {listed(SHORT_ROLES, len(SHORT_ROLES))}")
        return [f"{name}={SHORT_ROLES[said]}" for said, _, names in parts for name in names.split(", ")]

    def _take_header(self, line):
        for key in ("columns", "benchmark"):
            if key not in self.metadata:
                self.refuse(f"no '# {key}:' before the first row: " + (
                    "write the result with its metadata, without --no-header and --no-metadata"
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
        """Takes in the keys that only results of later versions have; in a short result those that its head has for
        all rows."""
        said = (self.value("all_rows") or "") if self.is_short else ""
        shared = [part.partition("=") for part in said.split("; ") if part]
        if not all(name and equals and len(name) <= NAME_MAX for name, equals, _ in shared):
            self.refuse(f"'{said:.{SHOWN}}' in '# all_rows:' isn't a list of 'name=value'")
        for name, after, value, of in [(name, None, value, set()) for name, _, value in reversed(shared)] or ADDED:
            if name in self.header or not of <= set(self.header):
                continue
            place = self.header.index(after) + 1 if after else 0
            self._added.append((place, value))
            self.roles[name] = "key"
            self.keys.insert(sum(key in self.header[:place] for key in self.keys), name)
            self.header.insert(place, name)

    def _take_comment(self, line):
        """A comment among or after the rows."""
        found = re.match("# (note|warning|end|columns|benchmark): (.*)$", line)
        kind, text = found.groups() if found else ("", "")
        if kind in ("columns", "benchmark"):
            self.refuse(f"a second result begins: {_ONE_LAUNCH}")
        if kind in ("note", "warning"):
            self.remarks.append(Remark(kind, text))
        found = re.match("([0-9]{1,18}) rows?(?:, exit ([0-9]{1,9}))?", text) if kind == "end" else None
        self.end = End(int(found.group(1)), int(found.group(2) or 0)) if found else None


class KeptResults:
    """Results that are read once and kept, for several readers."""

    def __init__(self):
        self._kept = {}

    def opened(self, path):
        """The Result, as one that is open for reading."""
        if path not in self._kept:
            with Result(path) as result:
                result.keep()
            self._kept[path] = result
        return self._kept[path]


def cell_text(text):
    """The text as a cell. Spreadsheets take what begins with one of these signs and is no number for a
    formula: a ' before it makes it a text."""
    text = plain(text)
    return "'" + text if text.startswith(("=", "+", "-", "@")) and parsed_number(text) is None else text


# From the best to the worst; a status that isn't here is worse than ok.
STATUSES = ("ok", "budget", "max-size", "no-knee", "FAIL")


def status_rank(status):
    """The place of a status in their order, from the best to the worst."""
    return STATUSES.index(status) if status in STATUSES else 1


def worst_status(statuses):
    """The first of the worst ones."""
    return max(statuses, key=status_rank)
