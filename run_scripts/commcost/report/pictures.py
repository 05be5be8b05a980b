# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a benchmark's rows: axes, and the keys that distinguish lines and dots."""

import re
import typing

from commcost.result import benchmarks
from commcost.result.row_labels import Key, further


class Panel(typing.NamedTuple):
    """A panel of a picture: lines over x, or without x rows of dots."""

    name: str            # of its table
    title: str           # of the axis of the measured values
    y: str               # column of the measured values
    series: tuple = ()   # Keys in the label of a line or row
    pages: tuple = ()    # Keys that distinguish panels (rows only)
    x: str = ""
    x_title: str = "size (bytes)"
    x_factor: float = 1
    y_factor: float = 1
    keep: dict = {}      # by column, the values to keep, if any row has one
    first: dict = {}     # by column, the values whose series are taken first
    scale: str = ""      # "percent"; "gain": percent, may be negative; "": logarithmic from log_from on
    log_from: float = 50  # ratio of the greatest to the least value
    most: int = 10       # max series
    order: int = 0       # 1: series with the largest values are taken first; -1: with the smallest
    threshold: str = ""  # key of the metadata; lines are drawn at 0 and at plus and minus its value


class Picture(typing.NamedTuple):
    """A picture: its file name, its title, and its panels, either any number with lines or one with dots."""

    name: str
    title: str
    panels: tuple

    @property
    def program(self):
        """Returns the name of the gnuplot program in run_scripts/plots."""
        return "lines" if self.panels[0].x else "dots"


def count_distinct(rows, column):
    return len({row.get(column, "NA") for row in rows})


# Further keys that distinguish an operation's rows.
WAYS = (Key("form", optional=True), Key("method", optional=True), Key("partitions", "% partitions", True),
        Key("test_calls", "MPI_Test: %", True))
# Lines that are preferred if there are too many.
_COMMON = {"form": ("nonblocking",), "test_calls": ("0",),
           "collective": ("iallreduce", "ibcast", "ialltoall", "iallgather", "ireduce", "isend", "irecv", "put")}


def overlap_pictures(kind, rows):
    """Returns pictures of the gain of non-blocking calls, if the blocking call was measured, and of the overlap: dots
    at the size that takes the cutoff time, lines over sizes."""
    if kind == "overlap":
        ending, keys, more = "", (Key("collective"), Key("local", "box %", True), *WAYS), {"most": 40}
    else:
        ending, keys, more = "_sizes", (Key("collective"), *WAYS), {"x": "size_bytes", "first": _COMMON, "most": 8}
    gain = Picture(f"overlap_gain{ending}", "Gain of non-blocking calls, with enough work", (
        Panel("gain", "gain (% of the blocking call's time)", "gain_pct", keys, scale="gain", threshold="threshold",
              **more),))
    overlap = Picture(f"overlap{ending}", "Overlap", (
        Panel("overlap", "overlap (% of the operation's own time)", "overlap_pct", keys, scale="percent", **more),))
    return [gain, overlap] if any(row.get("gain_pct", "NA") != "NA" for row in rows) else [overlap]


def rate_pictures(kind, rows):
    title = "Message rate" if kind == "msgrate" else "Rate of MPI_Put and MPI_Get"
    keys = (Key("pattern"),) if kind == "msgrate" else (
        Key("transfer"), Key("synchronisation"), Key("pattern"), Key("threads", "% threads", True))
    keys += (Key("cache_size", "flush %", True), Key("job_size", "% ranks", True))
    if count_distinct(rows, "nbytes") > 3:
        keys += (Key("nmsgs", "% messages", True), Key("npeers", "% peers", True))
        panel = Panel("rate", "messages per second and rank", "rate_per_s", keys, x="nbytes", log_from=20)
    else:
        panel = Panel("rate", "million messages per second and rank, sent and received", "rate_per_s", keys,
                      (Key("nbytes", "messages of % bytes"), Key("nmsgs", "% to each peer"),
                       Key("npeers", "peers: %")), y_factor=1e-6, most=40)
    flushed = any(row.get("cache_size") not in ("0", "NA", None) for row in rows)
    return [Picture(kind, title + (", cold caches" if flushed else ""), (panel,))]


def pingpong_pictures(_, rows):
    series = (Key("pattern"), Key("sync", optional=True))
    shared, single = {"x_factor": 8, "log_from": 20}, {"arrangement": ("single",)}
    whole = {"keep": {"pattern": ("put", "get", "MPI Send"), **single}, "x": "blksize", **shared}
    made = [Picture("pingpong", "Latency and bandwidth, synchronisation included", (
        Panel("latency", "latency (µs)", "latency_us", series, **whole),
        Panel("bandwidth", "bandwidth (MB/s; MB = 2^20 bytes)", "bwidth_mbs", series, **whole)))]
    if any(row.get("pattern") in ("many put", "many get") for row in rows):
        pieces = {"pattern": ("many put", "many get", "strided many put", "strided many get"), "sync": ("all",),
                  **single}
        made.append(Picture("pingpong_pieces", "The largest transfer in pieces", (
            Panel("pieces", "latency of all pieces (µs)", "latency_us", series, x="blksize",
                  x_title="size of a piece (bytes)", keep=pieces, **shared),)))
    return made


def halo_pictures(_, rows):
    method, latency = (Key("method"), Key("sync", optional=True)), ("halo", "time (µs)", "latency_us")
    if count_distinct(rows, "local") > 4:
        panel = Panel(*latency, method + (Key("dims", optional=True),), x="ndata", x_factor=8,
                      x_title="data sent (bytes)", most=12)
    else:
        panel = Panel(*latency, method, (Key("local", "box of % doubles"), Key("dims", "% ranks", True),
                                         Key("ndata", "% values sent", True)), most=20)
    return [Picture("halo", "Halo exchange", (panel,))]


def collective_pictures(_, rows):
    """Returns pictures with one line per operation, of the whole time and of the ranks' own times."""
    keys = (Key("operation"), Key("type", optional=True), Key("op", optional=True), Key("root", "root %", True),
            Key("in_place", "in place: %", True))
    common = {"operation": ("allreduce", "alltoall", "bcast", "reduce", "allgather", "gather", "scatter")}
    more = {"x": "size_bytes", "first": common, "most": 8, "log_from": 20}
    return [Picture("collective", "Blocking collectives", (
        Panel("time", "first start to last end (µs)", "time_us", keys, **more),
        Panel("own", "mean of the ranks' times (µs)", "own_us", keys, **more)))] if any(
            row.get("size_bytes", "0") != "0" for row in rows) else []


def link_pictures(_, rows):
    """Returns pictures of times and bandwidths of each node's links, the slowest first."""
    made = []
    nodes = [row for row in rows if row.get("scope") in ("node", "rank")]
    for column, title in (("time_us", "latency (µs)"),
                          ("out_mbs", "bandwidth out of the node (MB/s; MB = 2^20 bytes)"),
                          ("in_mbs", "bandwidth into the node (MB/s; MB = 2^20 bytes)")):
        sizes = tuple(dict.fromkeys(row.get("nbytes", "NA") for row in nodes if row.get(column, "NA") != "NA"))
        if sizes:
            made.append(Picture(f"linkmap_{column.split('_')[0]}", "Links of each node, the slowest first", (
                Panel("nodes", title, column, (Key("a"),), (Key("nbytes", "messages of % bytes"),),
                      keep={"scope": ("node", "rank"), "nbytes": sizes}, most=60,
                      order=1 if column == "time_us" else -1),)))
    return made


def foreign_pictures(kind, _):
    """Returns a picture of each quantity of another program's benchmark over sizes."""
    entry = benchmarks.entry_of(kind)
    keys = list(entry.names)
    size = next((column for column in ("size_bytes", "nbytes", "msgsize") if column in keys), None)
    series = tuple(Key(column, "%" if column in ("test", "pattern") else column + " %", place > 0)
                   for place, column in enumerate(keys) if column != size)
    return [Picture(f"{kind}_{re.sub('[^a-z0-9]+', '_', value.column)}", f"{kind}: {entry.program}",
                    (Panel("sizes", value.column, value.column, series or (Key("size_bytes", kind),), x=size,
                           log_from=20),)) for value in entry.values] if size else []


# By kind (benchmarks.Benchmark): Pictures, or a function of the kind and the rows that returns them.
PICTURES = {
    "overlap": overlap_pictures, "overlap_sweep": overlap_pictures, "msgrate": rate_pictures,
    "msgrate_rma": rate_pictures, "pingpong": pingpong_pictures, "halo": halo_pictures, "linkmap": link_pictures,
    "mpi_overhead": (Picture("mpi_overhead", "Host overhead and CPU availability", (
        Panel("overhead", "host overhead (µs)", "overhead", (Key("direction"), Key("pair", "pair %", True)),
              x="msgsize", log_from=20),
        Panel("available", "CPU availability (% of an iteration)", "avail(%)",
              (Key("direction"), Key("pair", "pair %", True)), x="msgsize", scale="percent"))),),
    "collective": collective_pictures,
    "syncbench": (Picture("syncbench", "Synchronisation", (
        Panel("sync", "time (µs)", "sync_us",
              (Key("sync"), Key("neighbours", "% neighbours", True), Key("ranks", "% ranks", True)), most=60),)),),
    "monitor_overhead": (Picture("monitor_overhead", "Monitoring overhead of a call", (
        Panel("added", "added time (ns)", "added_ns", (Key("call"),), (Key("mode", "monitor %"),), most=60),)),),
    "mpirtmon": (Picture("mpirtmon", "Operations of the program, from start to completion", (
        Panel("operations", "time of all calls of all ranks (s)", "total_s",
              (Key("operation"), Key("comm", optional=True), Key("members", "ranks %", True),
               Key("rank", "rank %", True)),
              (Key("kind", "% operations"),), keep={"kind": ("pttopt", "coll")}, most=60),)),)}


def pictures_of(kind, rows, names=("memory", "buffers")):
    """Returns the Pictures, if any, of a kind, its rows (cells by column), and names of `further` keys."""
    made = foreign_pictures if benchmarks.entry_of(kind).program else PICTURES.get(kind, ())
    return [picture._replace(panels=tuple(panel._replace(series=panel.series + further(names))
                                          for panel in picture.panels))
            for picture in (made(kind, rows) if callable(made) else made)]
