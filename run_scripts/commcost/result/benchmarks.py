"""What is to know of each benchmark: what tells its rows apart, what they measure, and how to read it.

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
# What has a column of these is of this kind, where there are no metadata.
_BY_COLUMNS = ((("avail(%)",), "mpi_overhead"), (("rate_per_s", "synchronisation"), "msgrate_rma"),
               (("rate_per_s",), "msgrate"), (("arrangement",), "pingpong"), (("sync_us", "neighbours"), "syncbench"),
               (("own_us", "skew_us"), "collective"), (("method", "local"), "halo"),
               (("added_ns",), "monitor_overhead"))
# Of any benchmark: what a suite varied; with --memory and --buffers=new where buffers lie, and whether MPI knows them.
SETTING = "setting"
COMMON_KEYS = ((SETTING, SETTING), ("memory", "memory"), ("buffers", "buffers"))
USUAL = {"memory": ("NA", "host"), "buffers": ("NA", "reused")}  # what programs have that say nothing of it
FOREIGN = "(osu|smb)_[a-z0-9_]+|imb"  # how other programs' benchmarks are called (foreign.py)


def unit_of(quantity):
    """The unit of a column, by its name; empty if none is known."""
    if quantity in ("overhead", "elements"):
        return {"overhead": "us", "elements": "elements"}[quantity]
    if quantity.endswith(("_per_s", "(%)")):
        return "1/s" if quantity.endswith("_per_s") else "%"
    return _SUFFIXES.get(re.sub(".*_", "", quantity), "") if "_" in quantity else ""


def is_foreign(benchmark):
    """Whether a benchmark of this name is another program's."""
    return re.fullmatch(FOREIGN, benchmark) is not None


def kind_of(result, first):
    """The kind of a results.Result by its benchmark's name (None without metadata), its columns,
    and the cells of its first row by column; None if it is of no benchmark."""
    name, header = result.benchmark, result.header
    if name is not None and is_foreign(name):
        BENCHMARKS[name] = foreign_entry(name, result, BENCHMARKS.get(name))
    if "collective" in header and "model" in header and first:
        collective = re.sub("[^A-Za-z0-9_]", "_", first["collective"])
        # The other model finds the size, and so has no such key.
        is_sweep = first["model"] == "data" and first.get("size_bytes") != "0"
        return f"overlap_{collective}_sweep" if is_sweep else "overlap"
    if name is not None:
        return name if name in BENCHMARKS else None
    return next((kind for columns, kind in _BY_COLUMNS if all(column in header for column in columns)), None)


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


def quantity_of(kind, column):
    """The Quantity of a kind's column."""
    return next(quantity for quantity in entry_of(kind).quantities if quantity.column == column)


def keys_of(kind, names):
    """The keys that tell a kind's rows apart, pairs of a column and its heading: of COMMON_KEYS those that are among
    the names, what its entry says, and the others of these names, which files say are keys."""
    listed = dict(entry_of(kind).keys)
    common = [key for key in COMMON_KEYS if key[0] in names]
    others = dict.fromkeys(name for name in names if name not in (*listed, *dict(COMMON_KEYS), *entry_of(kind).same))
    return (*common, *((name, name) for name in others), *listed.items())


def known_keys(kind):
    """The keys that questions about a kind know."""
    return [*dict(entry_of(kind).keys), *entry_of(kind).same]


def usual_keys(kind, header):
    """Those of a file that doesn't say itself what its keys are."""
    return [name for name in (*dict(COMMON_KEYS), *dict(entry_of(kind).keys)) if name in header]


class Quantity(typing.NamedTuple):
    """A column that was measured, its heading in tables, and the columns of its interval. An
    optional one is left out of a table where it has no values."""

    column: str
    heading: str
    low: str = ""
    high: str = ""
    optional: bool = False


class Benchmark(typing.NamedTuple):
    """A benchmark, as reports show it. `words` are columns whose cells are words: pairs of a column and
    its heading. `program` is whose benchmark it is, where it isn't ours."""

    kind: str
    heading: str
    text: str
    keys: tuple        # (column, heading)
    quantities: tuple  # Quantity
    words: tuple = ()
    program: str = ""
    same: tuple = ()   # further keys, which are the same in rows with the same keys


def columns(text):
    """Pairs of a column and its heading: of `a, b = heading` a's is its name."""
    pairs = [part.partition("=") for part in text.replace("\n", " ").split(",")]
    return tuple((column.strip(), heading.strip() or column.strip()) for column, _, heading in pairs)


def quantities(text):
    """The Quantities of such a text: after a column's name + (it has an interval: NAME_lo_UNIT and NAME_hi_UNIT)
    and ? (it is optional)."""
    made = []
    for marked, heading in columns(text):
        column = marked.rstrip("+?")
        # The ends have a unit where mpi_overhead's column has none.
        with_unit = {"overhead": "overhead_us", "avail(%)": "avail_pct"}.get(column, column)
        ends = [re.sub("_(per_s|[a-z]+)$", rf"_{end}_\1", with_unit) if "+" in marked else "" for end in ("lo", "hi")]
        made.append(Quantity(column, heading, *ends, "?" in marked))
    return tuple(made)


def foreign_entry(name, result, before):
    """The Benchmark of another program, made of what a result says of its columns, and of those of the entry
    before, if not None: files of one program have other columns."""
    keys = [(column, column) for column in result.keys]
    measured = [Quantity(column, column, optional=True) for _, column, _ in result.quantities()]
    if before is not None:
        keys, measured = dict.fromkeys([*before.keys, *keys]), dict.fromkeys([*before.quantities, *measured])
    return Benchmark(name, f"Another program: {name}",
                     "What another program printed. Its methods are others than ours: compare it with itself only.",
                     tuple(keys), tuple(measured), program=result.value("program") or "another program")


def read_list():
    """The Benchmarks of benchmarks.ini by kind."""
    listed = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    with open(os.path.join(SCRIPTS, "benchmarks.ini"), encoding="utf-8") as stream:
        listed.read_file(stream)
    return {kind: Benchmark(kind, entry["heading"], entry["text"], columns(entry["keys"]),
                            quantities(entry["quantities"]), columns(entry["words"]) if "words" in entry else (),
                            same=tuple(entry.get("same", "").split()))
            for kind, entry in listed.items() if kind != "DEFAULT"}


BENCHMARKS = read_list()
