"""What other benchmarks print, as results: OSU Micro-Benchmarks (5 to 7), Intel MPI Benchmarks, and
Sandia's msgrate and mpi_overhead, so that an archive of old runs can be compared and drawn.

Their rows are never those of our programs, whose methods are others: the benchmarks' names differ
(osu_..., imb, smb_...), and so rows of one program are compared only with its own.
"""

import re

HEAD = 1 << 20  # bytes, in which a file shows what it is
# Columns that are no results of their own: what depends on how much work was asked for, and ends of
# ranges.
_INFO = re.compile("min|max|compute|overall|ovrl|init|test|wait|cpu|iterations|repetitions|"
                   "defects|valid|p[0-9]+_tail")
_NUMBER = r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
# What launchers put before each line: [1,0]<stdout>:, [0] and 0: with a blank.
_LABEL = r"\[[^\]\s]*[0-9]\](?:<std(?:out|err)>)?:? ?|[0-9]+: "
# Metadata that say what a result is: no setting of another program is called so.
_OURS = ("benchmark", "columns", "schema", "run", "status", "program", "note", "warning", "end")


class ForeignError(Exception):
    """What is wrong with such an output: one line, without the file's name."""

    def __init__(self, text, number=None):
        super().__init__(text if number is None else f"line {number}: {text}")


def is_foreign(head):
    """Whether the first bytes of a file are those of an output that is known."""
    return _title_of(head.decode("utf-8", "replace")) is not None


def translated(text):
    """An output as a result in our own form; ForeignError for what is broken."""
    title = _title_of(text)
    output = _READERS[title.lastgroup]()
    label = f"(?:{_LABEL})?" if title.group("label") else ""
    *lines, last = text.lstrip("\ufeff").split("\n")
    for number, line in enumerate(lines, 1):
        output.take(number, re.sub(f"^{label}", "", line.rstrip()))
    if last.strip() and not last.startswith("#"):
        output.remarks.append(f"warning: line {len(lines) + 1} was cut off and doesn't count")
    return output.text()


# ---- columns -------------------------------------------------------------------------------------

_UNITS = ((r"[(\[]us(?:ec)?[)\]]", "_us"), (r"[(\[]%[)\]]", "_pct"), (r"[(\[]?mb(?:ytes)?/s(?:ec)?[)\]]?", "_mbs"),
          (r"(?:messages|msgs?)/s(?:ec)?", "messages_per_s"))
_HAS_UNIT = r"[(\[](?:us|usec|%|B|MB/s|MB/sec)[)\]]$|/s$"
_NAMES = {"mbs": "rate_mbs", "latency_us": "avg_latency_us",  # its name since OSU 7.4
          "size": "size_bytes", "size_b": "size_bytes", "bytes": "size_bytes"}


def _word(text):
    """A text as a name: small letters, digits and _."""
    return re.sub("[^a-z0-9]+", "_", text.lower()).strip("_")


def _named(heading):
    """A column's name and role by its heading."""
    name = heading.lower()
    for pattern, unit in _UNITS:
        name = re.sub(pattern, unit, name)
    name = _NAMES.get(_word(name), _word(name))
    if name in ("size_bytes", "group"):
        return name, "key"
    if _INFO.search(name):
        return name, "info"
    if name.endswith("_us"):
        return name, "less"
    return name, "more" if name.endswith(("_mbs", "_per_s", "_pct")) else "info"


def _cell_pattern(name, role):
    if name == "validation":
        return "[A-Za-z-]+"
    return "[0-9]+" if role == "key" else _NUMBER


def _cells(number, line, columns):
    """The cells of a row: as many as the table has columns, keys whole numbers, others numbers."""
    cells = line.split()
    if len(cells) != len(columns) or not all(
            re.fullmatch(_cell_pattern(*column), cell) for column, cell in zip(columns, cells)):
        raise ForeignError(f"'{line.strip():.60}' is no row of the columns "
                           f"{', '.join(name for name, _ in columns):.120}", number)
    return cells


def _looks_like_row(line):
    return re.match(r"\s*[0-9.]", line) is not None


# ---- what is read of an output -------------------------------------------------------------------

class _Output:
    """Rows, each key once. A setting that is the same for all rows becomes metadata, any other a
    key."""

    keys = ()  # columns that a result always has

    def __init__(self):
        self.name, self.program, self._titled = None, None, False
        self.remarks = []  # "note: ..." and "warning: ..."
        self._settings, self._rows, self._roles = {}, {}, {}

    def begin(self, number, name, program):
        """The title was met, at a line."""
        if self._titled:
            raise ForeignError("a second title: one launch a file (csplit divides it, see docs/compare.md)", number)
        self.name, self.program, self._titled = name, program, True

    def set(self, name, value):
        """A setting of the rows that follow."""
        if _word(name) not in _OURS:
            self._settings = {**self._settings, _word(name): value}

    def add(self, number, keys, cells, roles):
        """A row, or further columns of one: its keys and its other cells by name, and these' roles."""
        row = self._rows.setdefault((tuple(self._settings.items()), tuple(keys.items())), {})
        if any(name in row for name in cells):
            said = ", ".join(f"{name} {value}" for name, value in keys.items())
            raise ForeignError(f"a second row of {said:.120}: one launch a file", number)
        row.update(cells)
        self._roles.update(roles)
        wrong = cells.get("validation", "").lower() == "fail" or float(cells.get("defects", 0)) > 0
        if "validation" in cells or "defects" in cells:
            row["status"] = "FAIL" if wrong else "ok"
            self._roles["status"] = "info"

    def text(self):
        """All that was read, as a result of ours."""
        if not self._rows:
            raise ForeignError("no rows under headings that are known")
        settings, keys = zip(*((dict(settings), dict(keys)) for settings, keys in self._rows))
        fixed = {name: value for name, value in settings[0].items()
                 if all(others.get(name) == value for others in settings)}
        names = dict.fromkeys([name for row in settings for name in row if name not in fixed] + list(self.keys) +
                              [name for row in keys for name in row], "key")
        roles = {**self._roles, **names}
        columns = [*names, *(name for name in self._roles if name not in names)]
        lines = [f"# benchmark: {self.name}", f"# program: {self.program}",
                 *(f"# {name}: {value}" for name, value in fixed.items()), *(f"# {text}" for text in self.remarks),
                 "# columns: " + " ".join(f"{name}={roles[name]}" for name in columns), "\t".join(columns)]
        for of_row, of_keys, cells in zip(settings, keys, self._rows.values()):
            row = {"status": "ok", **of_row, **cells, **of_keys}
            lines.append("\t".join(row.get(name, "NA") for name in columns))
        return "\n".join(lines) + "\n"


# ---- OSU Micro-Benchmarks ------------------------------------------------------------------------

class _Osu(_Output):
    """One table a file: a title, settings, headings, rows. With several data types there are
    headings again for each; with several windows their numbers are the headings."""

    title = r"#? ?(?:OSU|OMB)(-\w+)? (\S.* Test)(?: v([0-9]\S*))?\s*$"
    keys = ("size_bytes",)

    def __init__(self):
        super().__init__()
        self._columns, self._used = [], False  # of the table in hand; whether it has rows
        self._of_windows = "rate_mbs"

    def take(self, number, line):
        found = re.match(self.title, line)
        columns = self._headings(line)
        if found or self.name and re.match(r"# ?\S.* Test v[0-9]\S*$", line):
            self._begin(number, *(found.groups("") if found else ("", "", "")))
        elif self.name and columns:
            if self._used and columns != self._columns:
                raise ForeignError("other columns under the same title", number)
            self._columns = columns
        elif line.startswith("#"):
            self._take_comment(line)
        elif self._columns and _looks_like_row(line):
            self._take_row(number, line)

    def _begin(self, number, suffix, title, version):
        name = _word(suffix + " " + re.sub("^mpi[-_ ]?| test$", "", title.lower()))
        self.begin(number, f"osu_{name}", f"OSU Micro-Benchmarks {version}".rstrip())

    def _headings(self, line):
        """The columns that a line names; none of another line."""
        names = re.split(r"\s{2,}|(?<=\))\s+|\s+(?=P[0-9]+ Tail )", line.strip("# \t"))
        if self._settings.get("window_size") == "varied" and re.match(r"#(?:\s+[0-9]+)+$", line):
            return [("size_bytes", "key"), *((name, "window") for name in line[1:].split())]
        if all(re.match("[A-Za-z]", name) for name in names) and (
                _named(names[0])[0] == "size_bytes" or any(re.search(_HAS_UNIT, name) for name in names)):
            return [_named(name) for name in names]
        return []

    def _take_comment(self, line):
        found = re.findall(r"(Send Buffer|Receive Buffer) on (\S+ \(\w+\))", line)
        found += re.findall(r"^# (Number of [A-Za-z ]+): ([0-9]+)", line)
        if self.name and not found:
            found = (re.findall(r"\[ *([^:\]]+): *([^\]]+?) *\]", line) or
                     re.findall(r"^# ([A-Za-z ]+): (.+?)\.?$", line))
        for name, value in found:
            self.set(name, value)
        self._of_windows = "messages_per_s" if line.startswith("# Message Rate") else "rate_mbs"

    def _take_row(self, number, line):
        row = list(zip(self._columns, _cells(number, line, self._columns)))
        keys = {name: cell for (name, role), cell in row if role == "key"}
        for (window, role), cell in row:
            if role == "window":
                self.add(number, {**keys, "window": window}, {self._of_windows: cell}, {self._of_windows: "more"})
        if "window" not in dict(self._columns).values():
            self.add(number, keys, {name: cell for (name, role), cell in row if role != "key"}, dict(self._columns))
        self._used = True


# ---- Intel MPI Benchmarks ------------------------------------------------------------------------

class _Imb(_Output):
    """Many tables a file, each with its test and processes."""

    title = r"#[ \t]*Intel ?\(R\) MPI Benchmark[^,\n]*,"
    headings = r"[ \t]*(?:Group +)?#(?:bytes|repetitions) "
    keys = ("test", "processes", "size_bytes")
    _SETTINGS = (("datatype", r"# MPI_Datatype\s*:\s*(\S+)"),
                 ("reduction_datatype", r"# MPI_Datatype for reductions\s*:\s*(\S+)"),
                 ("mpi_op", r"# MPI_Op\s*:\s*(\S+)"), ("mpi_standard", r"# MPI Version\s*:\s*(\S+)"),
                 ("thread_level", r"# MPI Thread Environment\s*:\s*(\S+)"))
    _PLACES = (("groups", r"#\s*\( *([0-9]+) groups of"), ("processes", r"#\s*\( *[0-9]+ groups of ([0-9]+) processes"),
               ("processes", r"#\s*\(? *#?processes = ([0-9]+)"), ("threads", r"#.*processes = .*threads: ([0-9]+)"))

    def __init__(self):
        super().__init__()
        self.name, self.program = "imb", "Intel MPI Benchmarks"
        self._place, self._columns = {"test": "NA", "processes": "NA"}, []
        self._calls = False  # whether the next comment is the calling sequence

    def take(self, number, line):
        if re.match(self.title, line):
            version = re.search(r" (?:V|v)?([0-9]\S*?)(?: Update [0-9]+)?,", line)
            self.begin(number, "imb", f"Intel MPI Benchmarks {version.group(1) if version else ''}".rstrip())
        elif re.match(self.headings, line):
            self._columns = [_named(name) for name in line.split()]
        elif line.startswith("#"):
            self._take_comment(line)
        elif self._columns and _looks_like_row(line):
            self._take_row(number, line)

    def _take_comment(self, line):
        if self._calls and line.strip("# "):
            self.set("calling_sequence", line.strip("# "))
            self._calls = False
        self._calls |= "Calling sequence was" in line
        found = re.match(r"#\s*Benchmarking\s+(.*\S)", line)
        if found:
            self._place, self._columns = {"test": found.group(1), "processes": "NA"}, []
        found = re.match(r"#\s*MODE:\s+(\S+)", line)
        if found:
            test = self._place["test"].split(" (")[0]
            self._place["test"] = f"{test} ({found.group(1).lower()})"
        self._place.update((name, found.group(1)) for name, pattern in self._PLACES
                           for found in [re.match(pattern, line)] if found)
        for name, pattern in self._SETTINGS:
            found = re.match(pattern, line)
            if found:
                self.set(name, found.group(1))

    def _take_row(self, number, line):
        left_out = re.match(r"(?:\s*[0-9]+)+\s+(time-out|out-of-mem|int-overflow)\b", line)
        if left_out:
            self.remarks.append(f"note: line {number}: the program left out a size of {self._place['test']}: "
                                f"{left_out.group(1)}")
            return
        row = list(zip(self._columns, _cells(number, line, self._columns)))
        keys = {name: cell for (name, role), cell in row if role == "key"}
        self.add(number, {**self._place, **keys}, {name: cell for (name, role), cell in row if role != "key"},
                 dict(self._columns))


# ---- Sandia Micro-Benchmarks ---------------------------------------------------------------------

class _Smb(_Output):
    """A program of Sandia's. What a row is called, and its cells, become columns by role."""

    roles = {}

    def __init__(self):
        super().__init__()
        self.program = "Sandia Micro-Benchmarks"

    def add_row(self, number, row):
        keys = {name: cell for name, cell in row.items() if self.roles[name] == "key"}
        self.add(number, keys, {name: cell for name, cell in row.items() if name not in keys},
                 {name: role for name, role in self.roles.items() if role != "key"})


class _Msgrate(_Smb):
    """`name: value` lines: settings, then four rates."""

    title = r"job size: +[0-9]+\s*$"
    settings = ("job_size", "npeers", "niters", "nmsgs", "nbytes", "cache_size", "ppn")
    patterns = ("single direction", "pair-based", "pre-post", "all-start")
    roles = {"pattern": "key", **{name: "info" if name == "niters" else "key" for name in settings},
             "rate_per_s": "more"}
    keys = tuple(name for name, role in roles.items() if role == "key")

    def __init__(self):
        super().__init__()
        self.name, self._said = "smb_msgrate", {}

    def take(self, number, line):
        found = re.match(rf" *([a-z][a-z -]*?): +({_NUMBER})\s*$", line)
        name, value = found.groups() if found else ("", "")
        if name == "job size":
            self._said = {}
        if name in self.patterns:
            said = {setting: self._said.get(setting, "NA") for setting in self.settings}
            self.add_row(number, {"pattern": name, **said, "rate_per_s": value})
        else:
            self._said[name.replace(" ", "_")] = value


class _MsgrateLine(_Msgrate):
    """With -o: a line of seven settings and four rates a launch."""

    row = r"(?:[0-9]+ ){7}(?:[0-9]+\.[0-9]+ ?){4}\s*$"

    def take(self, number, line):
        if _looks_like_row(line):
            names = [(name, "key") for name in self.settings] + [(name, "more") for name in self.patterns]
            cells = _cells(number, line, names)
            for pattern, rate in zip(self.patterns, cells[len(self.settings):]):
                self.add_row(number, {"pattern": pattern, **dict(zip(self.settings, cells)), "rate_per_s": rate})


class _Overhead(_Smb):
    """A line a size. -v prints others before it, which don't count."""

    title = r"msgsize iterations +iter_t +work_t +overhead +base_t"
    roles = {"direction": "key", "msgsize": "key", "iterations": "info", "iter_t": "info", "work_t": "info",
             "overhead": "less", "base_t": "less", "avail(%)": "more"}

    def __init__(self):
        super().__init__()
        self.name, self._direction, self._in_table = "smb_mpi_overhead", "send", False

    def take(self, number, line):
        if "receive overhead" in line:
            self._direction = "recv"
        elif re.match(r"(msgsize|work) ", line):
            self._in_table = line.startswith("msgsize")
        elif self._in_table and _looks_like_row(line):
            columns = list(self.roles.items())[1:]
            row = dict(zip(list(self.roles)[1:], _cells(number, line, columns)))
            self.add_row(number, {"direction": self._direction, **row})


# ---- which program it is -------------------------------------------------------------------------

_READERS = {"osu": _Osu, "imb": _Imb, "imb_headings": _Imb, "msgrate": _Msgrate, "msgrate_line": _MsgrateLine,
            "overhead": _Overhead}
_TITLES = "|".join(f"(?P<{name}>{pattern})" for name, pattern in (
    ("osu", _Osu.title), ("imb", _Imb.title), ("imb_headings", _Imb.headings), ("msgrate", _Msgrate.title),
    ("msgrate_line", _MsgrateLine.row), ("overhead", _Overhead.title)))


def _title_of(text):
    """The first line that tells a program, a match whose last group is its name; None without one."""
    if re.search(r"(?m)^# columns: \S+=", text):  # a result of ours
        return None
    return re.search(f"(?m)^\ufeff?(?P<label>{_LABEL})?(?:{_TITLES})", text)
