"""What other benchmarks print, as results: OSU Micro-Benchmarks (5 to 7), Intel MPI Benchmarks, and
Sandia's msgrate and mpi_overhead, so that an archive of old runs can be compared and drawn.

Their rows are never those of our programs, whose methods are others: the benchmarks' names differ
(osu_..., imb, smb_...), and so rows of one program are compared only with its own.
"""

import re

HEAD = 1 << 16  # bytes, in which a file shows what it is
# Columns that are no results of their own: what depends on how much work was asked for, and ends of
# ranges.
_INFO = re.compile("min|max|compute|overall|ovrl|init|test|wait|cpu|iterations|repetitions|"
                   "defects|valid|p50|p90|p99|tail")


class ForeignError(Exception):
    """What is wrong with such an output: one line, without the file's name."""


def is_foreign(head):
    """Whether the first bytes of a file are those of an output that is known."""
    return _reader_of(head.decode("utf-8", "replace")) is not None


def translated(text):
    """An output as a result in our own form; ForeignError for what is broken."""
    name, metadata, roles, rows = _reader_of(text)(text.splitlines())
    if not rows:
        raise ForeignError("no rows: the program ended before it had any")
    columns = " ".join(f"{column}={role}" for column, role in roles.items())
    lines = [f"# benchmark: {name}", *(f"# {key}: {value}" for key, value in metadata.items()),
             f"# columns: {columns}", "\t".join(roles)]
    lines += ["\t".join(row.get(column, "NA") for column in roles) for row in rows]
    return "\n".join(lines) + "\n"


def _reader_of(text):
    for pattern, reader in ((r"(?m)^# ?(?:OSU|OMB) .* v[0-9.]+\s*$", _read_osu),
                            (r"(?m)^#.*Intel ?\(R\) MPI Benchmark", _read_imb),
                            (r"(?m)^job size: +[0-9]+\s*$", _read_msgrate),
                            (r"(?m)^(?:[0-9]+ ){7}(?:[0-9]+\.[0-9]+ ){4}\s*$", _read_msgrate_line),
                            (r"(?m)^msgsize iterations +iter_t +work_t +overhead +base_t",
                             _read_overhead)):
        if re.search(pattern, text):
            return reader
    return None


# ---- columns -------------------------------------------------------------------------------------

_UNITS = ((r"[(\[]us(?:ec)?[)\]]", "_us"), (r"[(\[]%[)\]]", "_pct"), (r"[(\[]?mb(?:ytes)?/s(?:ec)?[)\]]?", "_mbs"),
          (r"(?:messages|msgs?)/s(?:ec)?", "messages_per_s"))


def _named(heading):
    """A column's name and role by its heading."""
    name = heading.strip().lstrip("#").lower()
    if name in ("size", "bytes"):
        return "size_bytes", "key"
    if name in ("test", "group", "processes", "pattern"):
        return name, "key"
    for pattern, unit in _UNITS:
        name = re.sub(pattern, unit, name)
    name = re.sub("[^a-z0-9]+", "_", name).strip("_")
    name = {"mbs": "rate_mbs"}.get(name, name)
    if _INFO.search(name):
        return name, "info"
    if name.endswith("_us"):
        return name, "less"
    return name, "more" if name.endswith(("_mbs", "_per_s", "_pct")) else "info"


def _cells(line, count):
    cells = line.split()
    if len(cells) < count:
        raise ForeignError(f"'{line.strip():.60}' has {len(cells)} cells, where {count} columns "
                           "are named")
    return cells


def _is_row(line):
    return re.match(r"\s*[0-9.]", line) is not None


# ---- OSU Micro-Benchmarks ------------------------------------------------------------------------

def _read_osu(lines):
    """One table a file: a title, settings, and as the last comment before the rows the columns."""
    title, metadata, headings, rows = None, {}, None, []
    for line in lines:
        found = re.match(r"# ?(?:OSU|OMB) (.*) v([0-9.]+)\s*$", line)
        if found:
            if title is not None:
                raise ForeignError("a second table begins: one a file")
            title, metadata["version"] = found.groups()
        elif title is None:
            continue
        elif line.startswith("#"):
            setting = re.findall(r"\[ *([^:\]]+): *([^\]]+?) *\]", line) or re.findall(
                r"^# ([A-Za-z ]+): (.+?)\.?$", line)
            for key, value in setting:
                metadata[re.sub("[^a-z0-9]+", "_", key.lower())] = value
            headings = headings if setting else re.split(r"\s{2,}", line.lstrip("# ").strip())
        elif _is_row(line) and headings:
            columns = [_named(heading) for heading in headings]
            rows.append((columns, _cells(line, len(columns))))
    roles = {"size_bytes": "key"} if rows and ("size_bytes", "key") not in rows[0][0] else {}
    roles.update(pair for columns, _ in rows for pair in columns)
    name = "osu_" + re.sub("[^a-z0-9]+", "_", re.sub("^mpi_? ?| test$", "", (title or "").lower()))
    return name.rstrip("_"), metadata, roles, [
        {column: cell for (column, _), cell in zip(columns, cells)} for columns, cells in rows]


# ---- Intel MPI Benchmarks ------------------------------------------------------------------------

def _read_imb(lines):
    """Many tables a file, each with its test and processes."""
    metadata, rows = {}, []
    roles = {"test": "key", "processes": "key", "size_bytes": "key"}
    test, processes, headings = "NA", "NA", None
    for line in lines:
        for pattern, key in ((r"#\s*(?:IMB|Intel ?\(R\)).* (?:V|v)?([0-9][0-9.]*)(?: Update [0-9]+)?,",
                              "version"), (r"# MPI_Datatype\s*:\s*(\S+)", "datatype"),
                             (r"# MPI Version\s*:\s*(\S+)", "mpi_standard")):
            found = re.match(pattern, line)
            if found:
                metadata.setdefault(key, found.group(1))
        found = re.match(r"#\s*Benchmarking\s+(.*\S)", line)
        if found:
            test, processes, headings = found.group(1), "NA", None
        found = re.match(r"#\s*#?processes = ([0-9]+)", line)
        if found:
            processes = found.group(1)
        found = re.match(r"#\s*MODE:\s+(\S+)", line)
        if found:
            test = f"{test.split(' (')[0]} ({found.group(1).lower()})"
        if re.match(r"\s*(?:Group\s+)?#(?:bytes|repetitions)\s", line):
            headings = [_named(heading) for heading in line.split()]
            roles.update(pair for pair in headings if pair[0] not in roles)
        elif headings and _is_row(line) and "out-of-mem" not in line:
            cells = dict(zip((name for name, _ in headings), _cells(line, len(headings))))
            rows.append({"test": test, "processes": processes, **cells})
    return "imb", metadata, roles, rows


# ---- Sandia Micro-Benchmarks ---------------------------------------------------------------------

_MSGRATE = ("job_size", "npeers", "niters", "nmsgs", "nbytes", "cache_size", "ppn")
_PATTERNS = ("single direction", "pair-based", "pre-post", "all-start")
_MSGRATE_ROLES = {"pattern": "key", **{name: "info" if name == "niters" else "key"
                                       for name in _MSGRATE}, "rate_per_s": "more"}


def _msgrate_rows(settings, rates):
    return [{"pattern": pattern, **settings, "rate_per_s": rate} for pattern, rate in rates]


def _read_msgrate(lines):
    """`name: value` lines."""
    said = dict(re.findall(r"(?m)^ *([a-z][a-z -]*?): +([0-9.]+)\s*$", "\n".join(lines)))
    settings = {name: said.get(name.replace("_", " "), "NA") for name in _MSGRATE}
    rates = [(pattern, said[pattern]) for pattern in _PATTERNS if pattern in said]
    return "smb_msgrate", {}, _MSGRATE_ROLES, _msgrate_rows(settings, rates)


def _read_msgrate_line(lines):
    """With -o: a line of seven settings and four rates a launch."""
    rows = []
    for line in lines:
        if re.match(r"(?:[0-9]+ ){7}(?:[0-9]+\.[0-9]+ ){4}\s*$", line):
            cells = line.split()
            rows += _msgrate_rows(dict(zip(_MSGRATE, cells)), zip(_PATTERNS, cells[7:]))
    return "smb_msgrate", {}, _MSGRATE_ROLES, rows


def _read_overhead(lines):
    """A line a size. -v prints others before it, which don't count."""
    names = ("msgsize", "iterations", "iter_t", "work_t", "overhead", "base_t", "avail(%)")
    roles = dict(zip(("direction", *names),
                     ("key", "key", "info", "info", "info", "less", "less", "more")))
    receives = any("receive overhead" in line for line in lines)
    rows = [dict(zip(names, line.split()), direction="recv" if receives else "send")
            for line in lines if re.match(r"[0-9]+ +[0-9]+(?: +-?[0-9.]+){5}\s*$", line)]
    return "smb_mpi_overhead", {}, roles, rows
