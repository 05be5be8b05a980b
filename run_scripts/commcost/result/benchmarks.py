# SPDX-License-Identifier: BSD-3-Clause
"""Titles and headings of each benchmark.

A file's kind is its benchmark, except for overlap: `overlap` has one size, which takes --cutoff-time,
`overlap_COLLECTIVE_sweep` many sizes. `guidelines` and `collective_align` are results of collective, `protocols` of
pingpong. Results define keys, quantities and, by name, units (unit_of). benchmarks.ini defines headings and the columns
shown on a page.
"""

import configparser
import os
import re
import typing

from commcost.result import call_sites
from commcost.system import SCRIPTS

_SUFFIXES = {"ns": "ns", "us": "us", "s": "s", "bytes": "bytes", "pct": "%", "mbs": "MB/s"}
# Keys of any benchmark: a suite's setting; with --memory, --buffers=new and --align the location of buffers.
SETTING = "setting"
FIRST_KEYS = (SETTING, "memory", "buffers", "align")
# Values without these options.
USUAL = {"memory": ("NA", "host"), "buffers": ("NA", "reused"), "align": ("NA", "malloc")}
FOREIGN = "(osu|smb)_[a-z0-9_]+|imb"  # names of other programs' benchmarks (foreign_outputs.py)


def unit_of(quantity):
    """Returns the unit of a column from its name, or "" if unknown."""
    if quantity in ("overhead", "elements"):
        return {"overhead": "us", "elements": "elements"}[quantity]
    if quantity.endswith(("_per_s", "(%)")):
        return "1/s" if quantity.endswith("_per_s") else "%"
    return _SUFFIXES.get(re.sub(".*_", "", quantity), "") if "_" in quantity else ""


def ends_of(quantity):
    """Returns the columns of a quantity's interval: NAME_lo_UNIT and NAME_hi_UNIT."""
    # Columns of mpi_overhead have no unit, their intervals have one.
    with_unit = {"overhead": "overhead_us", "avail(%)": "avail_pct"}.get(quantity, quantity)
    return [re.sub("_(per_s|[a-z]+)$", rf"_{end}_\1", with_unit) for end in ("lo", "hi")]


def is_foreign(benchmark):
    return re.fullmatch(FOREIGN, benchmark) is not None


def kind_of(result, first):
    """Returns the kind of a Result from its benchmark and its first row, or None if no benchmark has that name."""
    name, header = result.benchmark, result.header
    if is_foreign(name):
        BENCHMARKS[name] = foreign_entry(name, result, BENCHMARKS.get(name))
    if "collective" in header and "model" in header and first:
        collective = re.sub("[^A-Za-z0-9_]", "_", first["collective"])
        # Rows of the other model have no key size_bytes, since the program finds the size.
        is_sweep = first["model"] == "data" and first.get("size_bytes") != "0"
        return f"overlap_{collective}_sweep" if is_sweep else "overlap"
    if name == "collective" and "alternative" in header:
        return "guidelines"
    if "," in (result.value("align") or "") and f"{name}_align" in BENCHMARKS:
        return f"{name}_align"
    if name == "pingpong" and "piece" in header:
        return "protocols"
    return name if name in BENCHMARKS else None


def name_lines(result, rows):
    """Replaces the call sites in the rows of a monitor's report by source lines."""
    if result.benchmark == "mpirtmon":
        call_sites.name_lines(rows, result.value("date") or "")


def sorted_kinds(kinds):
    order = list(BENCHMARKS)
    return sorted(kinds, key=lambda kind: (order.index(entry_of(kind).kind), kind))


def entry_of(kind):
    return BENCHMARKS[kind if kind in BENCHMARKS else "overlap_sweep"]


def is_overlap(kind):
    return entry_of(kind).kind in ("overlap", "overlap_sweep")


def headings_of(kind, keys):
    """Returns headings of the columns that name a kind's rows: FIRST_KEYS, further keys, and those of
    benchmarks.ini."""
    entry = entry_of(kind)
    others = [name for name in keys if name not in (*entry.names, *entry.hidden, *FIRST_KEYS)]
    return {**{name: name for name in (*filter(keys.__contains__, FIRST_KEYS), *others)}, **entry.names}


class Value(typing.NamedTuple):
    """A column of a table, with its interval if it has a range. Optional columns are omitted if they have no values."""

    column: str
    heading: str
    has_range: bool = False
    optional: bool = False


class Benchmark(typing.NamedTuple):
    """A benchmark in reports. `names` has the headings of columns that identify a row, `words` those of columns with
    text. `program` is the name of another program's benchmark."""

    kind: str
    heading: str
    text: str
    names: dict
    values: tuple
    words: dict = {}
    program: str = ""
    hidden: tuple = ()  # keys not shown


def columns(text):
    """Parses headings by column from a text like `a, b = heading`, in which the heading of a is its name."""
    pairs = [part.partition("=") for part in text.replace("\n", " ").split(",")]
    return {column.strip(): heading.strip() or column.strip() for column, _, heading in pairs}


def values(text):
    """Parses Values from such a text, in which + after a name means a range, ? optional."""
    return tuple(Value(marked.rstrip("+?"), heading, "+" in marked, "?" in marked)
                 for marked, heading in columns(text).items())


def foreign_entry(name, result, before):
    """Returns the Benchmark of another program, with a result's columns and those of the entry `before`, since files of
    one program may have different columns."""
    names = {column: column for column in result.keys}
    shown = tuple(Value(column, column, optional=True) for _, column, _ in result.quantities())
    if before is not None:
        names, shown = {**before.names, **names}, tuple(dict.fromkeys([*before.values, *shown]))
    return Benchmark(name, f"Another program: {name}",
                     "The output of another program. Its methods differ from ours: compare it with itself only.",
                     names, shown, program=result.value("program") or "another program")


def read_list():
    listed = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    with open(os.path.join(SCRIPTS, "benchmarks.ini"), encoding="utf-8") as stream:
        listed.read_file(stream)
    return {kind: Benchmark(kind, entry["heading"], entry["text"], columns(entry["names"]), values(entry["values"]),
                            columns(entry["words"]) if "words" in entry else {},
                            hidden=tuple(entry.get("hidden", "").split()))
            for kind, entry in listed.items() if kind != "DEFAULT"}


BENCHMARKS = read_list()
