"""What is to know of each benchmark: what tells its rows apart, what they measure, and how to read it.

A file's kind is its benchmark, but for overlap: `overlap` is of the size that takes the cutoff
time, `overlap_COLLECTIVE_sweep` of many sizes. Results say which columns are keys and quantities, and by
their names in which unit (unit_of); what people call them, and which of them a page shows, only this list
knows.
"""

import re
import typing

_SUFFIXES = {"ns": "ns", "us": "us", "s": "s", "bytes": "bytes", "pct": "%", "mbs": "MB/s"}
# What has a column of these is of this kind, where there are no metadata.
_BY_COLUMNS = ((("avail(%)",), "mpi_overhead"), (("rate_per_s", "synchronisation"), "msgrate_rma"),
               (("rate_per_s",), "msgrate"), (("arrangement",), "pingpong"), (("sync_us", "neighbours"), "syncbench"),
               (("method", "local"), "halo"), (("added_ns",), "monitor_overhead"))
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
    if "collective" in header and ("model" in header or result.is_short) and first:
        collective = re.sub("[^A-Za-z0-9_]", "_", first["collective"])
        # The other model finds the size, and so has no such key.
        is_sweep = (first["model"] == "data" and first.get("elements") != "NA" if "model" in header else
                    "key" in (result.roles.get("elements"), result.roles.get("size_bytes")))
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


def quantity_of(kind, column):
    """The Quantity of a kind's column."""
    return next(quantity for quantity in entry_of(kind).quantities if quantity.column == column)


def keys_of(kind, rows):
    """What tells a kind's rows apart, pairs of a column and its heading: what its entry says, and
    the setting where a suite varied some."""
    varied = any("setting" in row for row in rows)
    return ((("setting", "setting"),) if varied else ()) + tuple(entry_of(kind).keys)


# ---- what an entry is made of --------------------------------------------------------------------

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


def columns(text):
    """Pairs of a column and its heading: of `a, b = heading` a's is its name."""
    pairs = [part.partition("=") for part in text.split(",")]
    return tuple((column.strip(), heading.strip() or column.strip()) for column, _, heading in pairs)


def quantities(text):
    """The Quantities of such a text: after a column's name + (it has an interval: NAME_lo_UNIT and NAME_hi_UNIT)
    and ? (it is optional)."""
    made = []
    for marked, heading in columns(text):
        column = marked.rstrip("+?")
        ends = [re.sub("_(per_s|[a-z]+)$", rf"_{end}_\1", column) if "+" in marked else "" for end in ("lo", "hi")]
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
                     "What another program printed. Its methods are others than ours: compare it "
                     "with itself only.",
                     tuple(keys), tuple(measured), program=result.value("program") or "another program")


# ---- the benchmarks ------------------------------------------------------------------------------

_OVERLAP = """Overlap is the share of an operation's own time in which the processor can do other
work between starting the operation and waiting for it, without making it take longer. 0 % means
that nothing is gained by starting early."""

_GAINS = """ Where the blocking call was measured, too, the gain is what a program saves that calls
the non-blocking operation and has plenty of work for it: the blocking call's time less what stays
exposed, that is the operation with the work less the work alone. Above 0 it pays to go non-blocking,
below 0 it loses."""

_OVERLAP_KEYS = "form, test_calls = calls of MPI_Test, method, local = box, partitions"
_OVERLAP_QUANTITIES = """ref_us+ = time without work (µs), overlap_pct+ = overlap (%), blocking_us+? = blocking call (µs),
    exposed_us+? = exposed (µs), gain_pct+? = gain (%), best_test_calls? = best number of tests"""
_RATE_KEYS = """job_size = processes, npeers = peers, nmsgs = messages to each, nbytes = size (bytes),
    cache_size = flush (bytes), ppn = peers apart"""
_RATES = quantities("rate_per_s+ = rate (1/s), total_rate_per_s = of all processes (1/s), iter_us+ = iteration (µs)")

BENCHMARKS = {entry.kind: entry for entry in (
    Benchmark(
        "overlap", "Work that fits under each operation",
        _OVERLAP + """ Each operation is measured at the size from which it takes about a
millisecond, or at the largest (status max-size); a barrier has no size. More is better.""" +
        _GAINS,
        columns(f"collective = operation, model, {_OVERLAP_KEYS}"),
        quantities(f"size_bytes = size (bytes), {_OVERLAP_QUANTITIES}")),
    Benchmark(
        "overlap_sweep", "Overlap over sizes",
        _OVERLAP + " More is better." + _GAINS,
        columns(f"collective = operation, {_OVERLAP_KEYS}, size_bytes = size (bytes)"),
        quantities(_OVERLAP_QUANTITIES)),
    Benchmark(
        "mpi_overhead", "What a message takes of the processor",
        """The host overhead is the time for which sending or receiving a message keeps the
processor busy (less is better); what is available is the rest of the transfer time, free for other
work (more is better). For small messages on one node read the availability as a lower bound.""",
        columns("direction, pair, msgsize = size (bytes)"),
        (Quantity("overhead", "overhead (µs)", "overhead_lo_us", "overhead_hi_us"),
         *quantities("transfer_us+ = transfer (µs)"),
         Quantity("avail(%)", "available (%)", "avail_lo_pct", "avail_hi_pct"))),
    Benchmark(
        "msgrate", "How fast messages go",
        """Messages that a process sends and receives in a second, after a computation has emptied
its caches of MPI, in four patterns of real programs. More is better. Small loops with warm caches
show several times as much.""",
        columns(f"pattern, {_RATE_KEYS}"), _RATES),
    Benchmark(
        "msgrate_rma", "How fast MPI_Put and MPI_Get go",
        """The same with one-sided transfers, by synchronisation. All synchronisation is in the
time, so few messages show what it costs. More is better.""",
        columns(f"pattern, synchronisation, transfer, threads, {_RATE_KEYS}"), _RATES),
    Benchmark(
        "pingpong", "What a transfer takes",
        """Latency is the time of a transfer one way (less is better), bandwidth the data over it
(more is better). A put or get counts until both sides know of it: with all by a barrier, with
images by a notification of the partner alone; MPI Send needs neither.""",
        columns("arrangement, pattern, sync = synchronisation, count = blocks, blksize = doubles in a block, stride, "
                "ndata = doubles"),
        quantities("latency_us+ = latency (µs), bwidth_mbs = bandwidth (MB/s)")),
    Benchmark(
        "syncbench", "What synchronisation costs",
        """What one synchronisation takes beyond the work it separates. Sync all and barriers make
everyone wait for everyone, pairs, rings and grids only neighbours; for lock and critical it is an
acquisition with all processes contending. Less is better.""",
        columns("sync = synchronisation, neighbours, ranks = processes"),
        quantities("sync_us+ = time (µs), ref_us = delay (µs), loop_us = delay and synchronisation (µs)")),
    Benchmark(
        "halo", "What a halo swap takes",
        """The time in which each process swaps the six faces of its box with its neighbours, by
the way they are carried. Less is better. Compare methods within one box.""",
        columns("method, sync = synchronisation, dims = processes, local = box, ndata = doubles sent"),
        quantities("latency_us+ = time (µs), bwidth_mbs = bandwidth (MB/s)")),
    Benchmark(
        "linkmap", "Which node or link is slow",
        """What a message takes between every two nodes, of all links together, of each node, and of
the pairs that are out of line: half of a round trip of small ones (less is better), the bandwidth
each way of large ones (more is better). A node or pair that is slow takes longer than all others
explain, in company and alone.""",
        columns("scope = of, a = node, b = other node, nbytes = size (bytes)"),
        quantities("time_us+? = time (µs), out_mbs+? = out (MB/s), in_mbs+? = in (MB/s), alone_pct? = longer alone (%)"),
        columns("verdict, group")),
    Benchmark(
        "noise", "What interrupts processes, and what that costs",
        """How often and for how long the processes of the job, of each host or each by itself are
stopped by whatever else their processors do; where that comes from; and what steps of work and an
operation take, how much of that is lost to stops, and how much by the stops of all processes
together. Less is better.""",
        columns("scope = of, host, ranks = processes, source, about, operation, grain_us = work (µs)"),
        quantities("""stops_per_s+? = stops a second, stop_us+? = length (µs), stopped_pct+? = stopped (%),
            period_ms+? = period (ms), step_us+? = step (µs), slowdown_pct+? = slowdown (%),
            predicted_pct+? = predicted (%)""")),
    Benchmark(
        "monitor_overhead", "What monitoring adds to a call",
        """The nanoseconds that libmpirtmon adds to a call while it is only loaded (off) and with
everything monitored (on). Less is better.""",
        columns("call = calls, mode = monitor"),
        quantities("direct_ns = without (ns), monitored_ns = with (ns), added_ns+ = added (ns)")),
    Benchmark(
        "mpirtmon", "What MPI did in the program",
        """A monitor's report of a program. The time of an operation is from its start to its
completion, summed over calls and processes: work that is done meanwhile is in it, too. Of a
communicator (kind comm) it is the longest span of a process, from the first start to the last
end. The time in calls is what the program was inside of MPI for, and waiting the part of it in
which other processes had not come yet.""",
        columns("kind, comm = communicator, operation, ranks = processes, members = ranks, rank, "
                "size_bytes = from (bytes)"),
        quantities("calls, total_s = time (s), in_calls_s? = in calls (s), waited_s+? = waiting (s), mean_us = mean (µs), "
                   "max_us = max (µs), timeouts, bytes")))}
