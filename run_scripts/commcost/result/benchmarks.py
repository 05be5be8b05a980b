"""Titles and headings of each benchmark, for people.

A file's kind is its benchmark, but for overlap: `overlap` is of the size that takes the cutoff time,
`overlap_COLLECTIVE_sweep` of many sizes. Results say which columns are keys and quantities, and by their names in which
unit (unit_of); what people call them, and which of them a page shows, only run_scripts/benchmarks.ini knows.
"""

import configparser
import os
import re
import typing

from commcost.system import SCRIPTS

_SUFFIXES = {"ns": "ns", "us": "us", "s": "s", "bytes": "bytes", "pct": "%", "mbs": "MB/s"}
# Of any benchmark: what a suite varied; with --memory and --buffers=new where buffers lie, and whether MPI knows them.
SETTING = "setting"
FIRST_KEYS = (SETTING, "memory", "buffers")
USUAL = {"memory": ("NA", "host"), "buffers": ("NA", "reused")}  # what programs have that say nothing of it
FOREIGN = "(osu|smb)_[a-z0-9_]+|imb"  # how other programs' benchmarks are called (foreign_outputs.py)


def unit_of(quantity):
    """The unit of a column, by its name; empty if none is known."""
    if quantity in ("overhead", "elements"):
        return {"overhead": "us", "elements": "elements"}[quantity]
    if quantity.endswith(("_per_s", "(%)")):
        return "1/s" if quantity.endswith("_per_s") else "%"
    return _SUFFIXES.get(re.sub(".*_", "", quantity), "") if "_" in quantity else ""


def ends_of(quantity):
    """The columns of a quantity's interval: NAME_lo_UNIT and NAME_hi_UNIT."""
    # The ends have a unit where mpi_overhead's column has none.
    with_unit = {"overhead": "overhead_us", "avail(%)": "avail_pct"}.get(quantity, quantity)
    return [re.sub("_(per_s|[a-z]+)$", rf"_{end}_\1", with_unit) for end in ("lo", "hi")]


def is_foreign(benchmark):
    """True if a benchmark of this name is another program's."""
    return re.fullmatch(FOREIGN, benchmark) is not None


def kind_of(result, first):
    """The kind of a Result by its benchmark's name and the cells of its first row by column; None if it is of no
    benchmark."""
    name, header = result.benchmark, result.header
    if is_foreign(name):
        BENCHMARKS[name] = foreign_entry(name, result, BENCHMARKS.get(name))
    if "collective" in header and "model" in header and first:
        collective = re.sub("[^A-Za-z0-9_]", "_", first["collective"])
        # The other model finds the size, and so has no such key.
        is_sweep = first["model"] == "data" and first.get("size_bytes") != "0"
        return f"overlap_{collective}_sweep" if is_sweep else "overlap"
    return name if name in BENCHMARKS else None


def in_order(kinds):
    """Kinds in the order in which they are shown."""
    order = list(BENCHMARKS)
    return sorted(kinds, key=lambda kind: (order.index(entry_of(kind).kind), kind))


def entry_of(kind):
    """The Benchmark of a kind."""
    return BENCHMARKS[kind if kind in BENCHMARKS else "overlap_sweep"]


def is_overlap(kind):
    """True if it is of the overlap programs."""
    return entry_of(kind).kind in ("overlap", "overlap_sweep")


def headings_of(kind, keys):
    """The headings of the columns that name a kind's rows, by column: of FIRST_KEYS those that are among the keys, other
    keys without a heading, and those with one."""
    entry = entry_of(kind)
    others = [name for name in keys if name not in (*entry.names, *entry.hidden, *FIRST_KEYS)]
    return {**{name: name for name in (*filter(keys.__contains__, FIRST_KEYS), *others)}, **entry.names}


class Value(typing.NamedTuple):
    """A column that a table shows. With a range, its interval stands beside it. An optional one is left out where it has
    no values."""

    column: str
    heading: str
    has_range: bool = False
    optional: bool = False


class Benchmark(typing.NamedTuple):
    """A benchmark, as reports show it. `names` and `words` are headings by column: of what names a row, and of cells that
    are words. `program` is whose benchmark it is, where it isn't ours."""

    kind: str
    heading: str
    text: str
    names: dict
    values: tuple
    words: dict = {}
    program: str = ""
    hidden: tuple = ()  # keys that aren't shown


def columns(text):
    """Headings by column: of `a, b = heading` a's is its name."""
    pairs = [part.partition("=") for part in text.replace("\n", " ").split(",")]
    return {column.strip(): heading.strip() or column.strip() for column, _, heading in pairs}


def values(text):
    """The Values of such a text: after a column's name + (it has a range) and ? (it is optional)."""
    return tuple(Value(marked.rstrip("+?"), heading, "+" in marked, "?" in marked)
                 for marked, heading in columns(text).items())


def foreign_entry(name, result, before):
    """The Benchmark of another program, made of what a result says of its columns, and of those of the entry
    before, if not None: files of one program have other columns."""
    names = {column: column for column in result.keys}
    shown = tuple(Value(column, column, optional=True) for _, column, _ in result.quantities())
    if before is not None:
        names, shown = {**before.names, **names}, tuple(dict.fromkeys([*before.values, *shown]))
    return Benchmark(name, f"Another program: {name}",
                     "What another program printed. Its methods are others than ours: compare it with itself only.",
                     names, shown, program=result.value("program") or "another program")


def read_list():
    """The Benchmarks of benchmarks.ini by kind."""
    listed = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    with open(os.path.join(SCRIPTS, "benchmarks.ini"), encoding="utf-8") as stream:
        listed.read_file(stream)
    return {kind: Benchmark(kind, entry["heading"], entry["text"], columns(entry["names"]), values(entry["values"]),
                            columns(entry["words"]) if "words" in entry else {},
                            hidden=tuple(entry.get("hidden", "").split()))
            for kind, entry in listed.items() if kind != "DEFAULT"}


BENCHMARKS = read_list()
