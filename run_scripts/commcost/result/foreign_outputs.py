# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of other benchmarks as results: OSU Micro-Benchmarks (5 to 7), Intel MPI Benchmarks, and Sandia's msgrate and
mpi_overhead. With them old runs can be compared and drawn.

Their methods differ from ours, so their benchmarks have separate names (osu_..., imb, smb_...), and are compared only
with themselves. Blocking collectives have the keys of our `collective`, operation and bytes of a block.
"""

import re

from commcost.words import number_text

HEAD = 1 << 20  # bytes that must identify a file
# Columns that are not compared: those that depend on the amount of work, and ends of ranges.
_INFO = re.compile("min|max|compute|overall|ovrl|init|test|wait|cpu|iterations|repetitions|defects|valid|p[0-9]+_tail")
_NUMBER = r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
_WHOLE = "[0-9]{1,18}"
# Launchers' labels before each line: [1,0]<stdout>:, [0] and 0: with a blank.
_LABEL = r"\[[^\]\s]*[0-9]\](?:<std(?:out|err)>)?:? ?|[0-9]+: "
# Names of our metadata, which settings of other programs must not get.
_OURS = ("benchmark", "columns", "schema", "run", "status", "program", "note", "warning", "end")


class ForeignError(Exception):
    """An error in another program's output: one line, without the file's name."""

    def __init__(self, text, number=None):
        super().__init__(text if number is None else f"line {number}: {text}")


def is_foreign(head):
    """True if a file that begins with these bytes is a known output."""
    return _title_of(head.decode("utf-8", "replace")) is not None


def translated(text):
    """Converts an output to our format. ForeignError if it is broken."""
    title = _title_of(text)
    output = _READERS[title.lastgroup]()
    label = f"(?:{_LABEL})?" if title.group("label") else ""
    *lines, last = text.lstrip("\ufeff").split("\n")
    for number, line in enumerate(lines, 1):
        output.take(number, re.sub(f"^{label}", "", line.rstrip()))
    if last.strip() and not last.startswith("#"):
        output.remarks.append(f"warning: line {len(lines) + 1} was cut off and doesn't count")
    return output.text()



_UNITS = ((r"[(\[]us(?:ec)?[)\]]", "_us"), (r"[(\[]%[)\]]", "_pct"), (r"[(\[]?mb(?:ytes)?/s(?:ec)?[)\]]?", "_mbs"),
          (r"(?:messages|msgs?)/s(?:ec)?", "messages_per_s"))
_HAS_UNIT = r"[(\[](?:us|usec|%|B|MB/s|MB/sec)[)\]]$|/s$"
_NAMES = {"mbs": "rate_mbs", "latency_us": "avg_latency_us",  # its name since OSU 7.4
          "size": "size_bytes", "size_b": "size_bytes", "bytes": "size_bytes"}


def _word(text):
    """Converts a text to a name of lower-case letters, digits and _."""
    return re.sub("[^a-z0-9]+", "_", text.lower()).strip("_")


def _named(heading):
    name = heading.lower()
    for pattern, unit in _UNITS:
        name = re.sub(pattern, unit, name)
    name = _NAMES.get(_word(name), _word(name))
    if name in ("size_bytes", "group"):
        return name, "key"
    if _INFO.search(name) or not name.endswith(("_us", "_mbs", "_per_s", "_pct")):
        return name, "info"
    return name, "less" if name.endswith("_us") else "more"


# Names of collectives that differ from MPI's.
_OPERATIONS = {"broadcast": "bcast", "all_to_all_personalized_exchange": "alltoall",
               "all_to_allv_personalized_exchange": "alltoallv", "all_to_allw_personalized_exchange": "alltoallw",
               **{name: name for name in (
                   "allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast gather gatherv reduce "
                   "reduce_scatter reduce_scatter_block scatter scatterv").split()}}


# Words in OSU's titles of tests on a device.
_DEVICES = "cuda|managed|openacc|rocm|sycl"


def _looks_like_row(line):
    return re.match(r"\s*[0-9.]", line) is not None



class _Output:
    """Rows with unique keys. A setting common to all rows becomes metadata, any other one a key."""

    keys = ()  # columns that are always present
    name = program = None

    def __init__(self):
        self.remarks = []  # "note: ..." and "warning: ..."
        self.columns = []  # names and roles in the current table
        self._titled, self._settings, self._rows, self._roles = False, {}, {}, {}

    def begin(self, number, name, program):
        if self._titled:
            raise ForeignError("a second title: use one launch per file (csplit divides it: docs/compare.md)", number)
        self.name, self.program, self._titled = name, program.rstrip(), True

    def set(self, name, value):
        if _word(name) not in _OURS:
            self._settings = {**self._settings, _word(name): value}

    def cells(self, number, line):
        """Splits a line of the current table into (name, role, cell). Keys are integers, other cells are numbers."""
        row = [(name, role, cell) for (name, role), cell in zip(self.columns, line.split())]
        if not len(self.columns) == len(row) == len(line.split()) or not all(
                re.fullmatch("[A-Za-z-]+" if name == "validation" else _WHOLE if role == "key" else _NUMBER, cell)
                for name, role, cell in row):
            raise ForeignError(f"'{line.strip():.60}' is no row of the columns "
                               f"{', '.join(name for name, _ in self.columns):.120}", number)
        return row

    def add(self, number, row):
        keys = {name: cell for name, role, cell in row if role == "key"}
        cells = {name: cell for name, role, cell in row if role != "key"}
        there = self._rows.setdefault((tuple(self._settings.items()), tuple(keys.items())), {})
        if any(name in there for name in cells):
            row_keys = ", ".join(f"{name} {value}" for name, value in keys.items())
            raise ForeignError(f"a second row of {row_keys:.120}: use one launch per file", number)
        there.update(cells)
        self._roles.update((name, role) for name, role, _ in row)
        if "validation" in cells or "defects" in cells:
            wrong = cells.get("validation", "").lower() == "fail" or float(cells.get("defects", 0)) > 0
            there["status"] = "FAIL" if wrong else "ok"
            self._roles["status"] = "info"

    def text(self):
        if not self._rows:
            raise ForeignError("no rows under known headings")
        settings, keys = zip(*((dict(settings), dict(keys)) for settings, keys in self._rows))
        fixed = {name: value for name, value in settings[0].items()
                 if all(others.get(name) == value for others in settings)}
        names = dict.fromkeys([name for row in settings for name in row if name not in fixed] + list(self.keys) +
                              [name for row in keys for name in row], "key")
        roles = {**names, **self._roles, **names}
        lines = [f"# benchmark: {self.name}", f"# program: {self.program}",
                 *(f"# {name}: {value}" for name, value in fixed.items()), *(f"# {text}" for text in self.remarks),
                 "# columns: " + " ".join(f"{name}={role}" for name, role in roles.items()), "\t".join(roles)]
        for of_row, of_keys, cells in zip(settings, keys, self._rows.values()):
            row = {"status": "ok", **of_row, **cells, **of_keys}
            lines.append("\t".join(row.get(name, "NA") for name in roles))
        return "\n".join(lines) + "\n"


class _Osu(_Output):
    """OSU Micro-Benchmarks: a title, settings, headings and rows. Headings are repeated for each data type. With
    several windows, headings are their numbers."""

    title = r"#? ?(?:OSU|OMB)(-\w+)? (\S.* Test)(?: v([0-9]\S*))?\s*$"
    keys = ("size_bytes",)
    _of_windows, _operation = "rate_mbs", None

    def take(self, number, line):
        found = re.match(self.title, line)
        columns = self._headings(line)
        if found or self.name and re.match(r"# ?\S.* Test v[0-9]\S*$", line):
            suffix, title, version = found.groups("") if found else ("", "", "")
            name = _word(suffix + " " + re.sub("^mpi[-_ ]?| test$", "", title.lower()))
            # A prefix may name a device. Non-blocking and neighbourhood collectives are different operations.
            found = re.fullmatch(rf"((?!non_|neighborhood_)[a-z]+_)??({'|'.join(_OPERATIONS)})_latency", name)
            self._operation = _OPERATIONS[found.group(2)] if found else None
            name = f"{found.group(1) or ''}collective" if found else name
            self.begin(number, f"osu_{name}", f"OSU Micro-Benchmarks {version}")
            if "memory" not in self._settings:  # collectives have no such line
                self.set("memory", "NA" if re.search(f"(^|_)({_DEVICES})_", name) else "host:host")
        elif self.name and columns:
            if self._rows and columns != self.columns:
                raise ForeignError("other columns under the same title", number)
            self.columns = columns
        elif line.startswith("#"):
            self._take_comment(line)
        elif self.columns and _looks_like_row(line):
            self._take_row(number, line)

    def _headings(self, line):
        """Returns the columns that a line names, or none if it isn't a heading."""
        names = re.split(r"\s{2,}|(?<=\))\s+|\s+(?=P[0-9]+ Tail )", line.strip("# \t"))
        if self._settings.get("window_size") == "varied" and re.match(r"#(?:\s+[0-9]+)+$", line):
            return [("size_bytes", "key"), *((name, "window") for name in line[1:].split())]
        if all(re.match("[A-Za-z]", name) for name in names) and (
                _named(names[0])[0] == "size_bytes" or any(re.search(_HAS_UNIT, name) for name in names)):
            return [_named(name) for name in names]
        return []

    def _take_comment(self, line):
        # Buffers of point-to-point tests or memory of one-sided tests: HOST (H), DEVICE (D), MANAGED (M). The sender or
        # origin comes first, as in our --memory=device:host.
        places = re.findall(r"(?:Buffer|Memory) on (\S+(?: \S+)*?)(?: \(\w+\))?(?= and |\.?$)", line)
        found = [("memory", ":".join(map(_word, places)))] if places else []
        found += re.findall(r"^# (Number of [A-Za-z ]+): ([0-9]+)", line)
        if self.name and not found:
            found = (re.findall(r"\[ *([^:\]]+): *([^\]]+?) *\]", line) or
                     re.findall(r"^# ([A-Za-z ]+): (.+?)\.?$", line))
        for name, value in found:
            self.set(name, value)
        self._of_windows = "messages_per_s" if line.startswith("# Message Rate") else "rate_mbs"

    def _take_row(self, number, line):
        row = self.cells(number, line)
        windows = [(name, cell) for name, role, cell in row if role == "window"]
        for window, cell in windows:
            self.add(number, [row[0], ("window", "key", window), (self._of_windows, "more", cell)])
        if not windows:
            self.add(number, row if self._operation is None else self._collective_row(row))

    def _collective_row(self, row):
        """Returns the row with our keys. Sizes of reduce_scatter are the sum of an unknown number of blocks, so they
        keep their name."""
        is_total = self._operation.startswith("reduce_scatter")
        return [("operation", "key", self._operation), *(
            ("total_bytes", *cell) if is_total and name == "size_bytes" else (name, *cell) for name, *cell in row)]


class _Imb(_Output):
    """Intel MPI Benchmarks: many tables per file, each with its test and processes."""

    title = r"#[ \t]*Intel ?\(R\) MPI Benchmark[^,\n]*,"
    # Start of a table in an output without a title: the test and, on the next line, its processes. Headings alone don't
    # identify the program.
    of_a_test = (rf"#[ \t]*Benchmarking[ \t]+\S[^\n]*\n(?:{_LABEL})?"
                 r"#[ \t]*\(? *(?:#?processes = [0-9]|[0-9]+ groups of [0-9])")
    headings = r"[ \t]*(?:Group +)?#(?:bytes|repetitions) "
    keys = ("operation", "test", "processes", "size_bytes")
    name, program = "imb", "Intel MPI Benchmarks"
    _SETTINGS = (("datatype", r"# MPI_Datatype\s*:\s*(\S+)"),
                 ("reduction_datatype", r"# MPI_Datatype for reductions\s*:\s*(\S+)"),
                 ("mpi_op", r"# MPI_Op\s*:\s*(\S+)"), ("mpi_standard", r"# MPI Version\s*:\s*(\S+)"),
                 ("thread_level", r"# MPI Thread Environment\s*:\s*(\S+)"))
    _PLACES = (("groups", rf"#\s*\( *({_WHOLE}) groups of"), ("threads", rf"#.*processes = .*threads: ({_WHOLE})"),
               ("processes", rf"#\s*\(? *(?:[0-9]+ groups of|#?processes =) ({_WHOLE})\b"))
    _place = {"test": "NA", "processes": "NA"}
    _calls = False  # True if the next comment is the calling sequence
    _year = 0       # of the version, from 2018 on

    def take(self, number, line):
        if re.match(self.title, line):
            version = re.search(r" (?:V|v)?([0-9]\S*?)(?: Update [0-9]+)?,", line)
            self.begin(number, self.name, f"Intel MPI Benchmarks {version.group(1) if version else ''}")
            self._year = int(re.match("[0-9]{1,9}", version.group(1)).group()) if version else 0
        elif re.match(self.headings, line):
            self.columns = [_named(name) for name in line.split()]
        elif line.startswith("#"):
            self._take_comment(line)
        elif self.columns and _looks_like_row(line):
            left_out = re.match(r"\s*(?:[0-9]+\s+)+(time-out|out-of-mem|int-overflow)\b", line)
            if left_out:
                self.remarks.append(f"note: line {number}: the program left out a size of {self._place['test']}: "
                                    f"{left_out.group(1)}")
            else:
                place = [(name, "key", value) for name, value in self._place.items()]
                self.add(number, place + self._collective_row(self.cells(number, line)))

    def _collective_row(self, row):
        """Returns the row with our operation or NA. Up to 2018, sizes of Reduce_scatter are the sum of all blocks."""
        operation, processes = _OPERATIONS.get(self._place["test"].lower(), "NA"), self._place["processes"]
        if operation == "reduce_scatter" and self._year < 2019 and re.fullmatch("0*[1-9][0-9]*", processes):
            row = [(name, role, number_text(int(cell) / int(processes)) if name == "size_bytes" else cell)
                   for name, role, cell in row]
        return [("operation", "key", operation), *row]

    def _take_comment(self, line):
        if self._calls and line.strip("# "):
            self.set("calling_sequence", line.strip("# "))
            for kind in re.findall(r" -mem_alloc_type[ =](\w+)", line):
                self.set("memory", kind)
            self._calls = False
        self._calls |= "Calling sequence was" in line
        for test in re.findall(r"^#\s*Benchmarking\s+(.*\S)", line):
            self._place, self.columns = {"test": test, "processes": "NA"}, []
        for mode in re.findall(r"^#\s*MODE:\s+(\S+)", line):
            test = self._place["test"].split(" (")[0]
            self._place = {**self._place, "test": f"{test} ({mode.lower()})"}
        self._place = {**self._place, **{name: value for name, pattern in self._PLACES
                                         for value in re.findall("^" + pattern, line)}}
        for name, pattern in self._SETTINGS:
            for value in re.findall("^" + pattern, line):
                self.set(name, value)


class _Msgrate(_Output):
    """Sandia's msgrate: lines `name: value` of settings and four rates, or with -o a line of seven and four."""

    title = r"job size: +[0-9]+\s*$"
    whole = r"(?:[0-9]+ ){7}(?:[0-9]+\.[0-9]+ ?){4}\s*$"  # one launch
    settings = ("job_size", "npeers", "niters", "nmsgs", "nbytes", "cache_size", "ppn")
    patterns = ("single direction", "pair-based", "pre-post", "all-start")
    name, program = "smb_msgrate", "Sandia Micro-Benchmarks"

    def __init__(self):
        super().__init__()
        self._values = {}

    def take(self, number, line):
        found = re.match(rf" *([a-z][a-z -]*?): +({_NUMBER})\s*$", line)
        name, value = found.groups() if found else ("", "")
        if re.match(self.whole, line):
            self.columns = [*((one, "key") for one in self.settings), *((one, "more") for one in self.patterns)]
        if self.columns and _looks_like_row(line):
            self._values = {one: cell for one, _, cell in self.cells(number, line)}
            for pattern in self.patterns:
                self._add_rate(number, pattern, self._values[pattern])
        elif name in self.patterns:
            self._add_rate(number, name, value)
        else:
            self._values = {**({} if name == "job size" else self._values), name.replace(" ", "_"): value}

    def _add_rate(self, number, pattern, rate):
        settings = [(name, "info" if name == "niters" else "key", self._values.get(name, "NA"))
                    for name in self.settings]
        self.add(number, [("pattern", "key", pattern), *settings, ("rate_per_s", "more", rate)])


class _Overhead(_Output):
    """Sandia's mpi_overhead: one line per size. Further lines of -v are ignored."""

    title = r"msgsize iterations +iter_t +work_t +overhead +base_t"
    name, program = "smb_mpi_overhead", "Sandia Micro-Benchmarks"
    table = [("msgsize", "key"), ("iterations", "info"), ("iter_t", "info"), ("work_t", "info"), ("overhead", "less"),
             ("base_t", "less"), ("avail(%)", "more")]
    _direction = "send"

    def take(self, number, line):
        if "receive overhead" in line:
            self._direction = "recv"
        elif re.match(r"(msgsize|work) ", line):
            self.columns = self.table if line.startswith("msgsize") else []
        elif self.columns and _looks_like_row(line):
            self.add(number, [("direction", "key", self._direction), *self.cells(number, line)])



_READERS = {"osu": _Osu, "imb": _Imb, "msgrate": _Msgrate, "overhead": _Overhead}
_TITLES = "|".join(f"(?P<{name}>{pattern})" for name, pattern in (
    ("osu", _Osu.title), ("imb", f"{_Imb.title}|{_Imb.of_a_test}"), ("msgrate", f"{_Msgrate.title}|{_Msgrate.whole}"),
    ("overhead", _Overhead.title)))


def _title_of(text):
    """Finds the first line that identifies a program. Returns a match whose last group is the name, or None."""
    if re.search(r"(?m)^# columns: \S+=", text):  # one of our results
        return None
    return re.search(f"(?m)^\ufeff?(?P<label>{_LABEL})?(?:{_TITLES})", text)
