"""What is to know of each benchmark: what tells its rows apart, what they measure, how to read it,
and its pictures.

A file's kind is its benchmark, but for overlap: `overlap` is of the size that takes the cutoff
time, `overlap_COLLECTIVE_sweep` of many sizes.
"""

import re
import typing

# The units of columns whose names have none.
UNITS = {"overhead": "us", "elements": "elements"}

_SUFFIXES = {"ns": "ns", "us": "us", "s": "s", "bytes": "bytes", "pct": "%", "mbs": "MB/s"}


def unit_of(quantity):
    """The unit of a column, by its name; empty if none is known."""
    if quantity in UNITS:
        return UNITS[quantity]
    if quantity.endswith("_per_s"):
        return "1/s"
    if quantity.endswith("(%)"):
        return "%"
    return _SUFFIXES.get(re.sub(".*_", "", quantity), "") if "_" in quantity else ""


def kind_of(result, first):
    """The kind of a results.Result by its benchmark's name (None without metadata), its columns,
    and the cells of its first row by column; None if it is of no benchmark."""
    name, header = result.benchmark, result.header
    if name is not None and is_foreign(name):
        BENCHMARKS[name] = foreign_entry(name, result, BENCHMARKS.get(name))
    if "collective" in header and "model" in header and first:
        collective = re.sub("[^A-Za-z0-9_]", "_", first["collective"])
        is_sweep = first["model"] == "data" and first.get("elements") != "NA"
        return f"overlap_{collective}_sweep" if is_sweep else "overlap"
    if name is not None:
        return name if name in BENCHMARKS else None
    for columns, kind in ((("avail(%)",), "mpi_overhead"),
                          (("rate_per_s", "synchronisation"), "msgrate_rma"),
                          (("rate_per_s",), "msgrate"), (("arrangement",), "pingpong"),
                          (("sync_us", "neighbours"), "syncbench"), (("method", "local"), "halo"),
                          (("added_ns",), "monitor_overhead")):
        if all(column in header for column in columns):
            return kind
    return None


def in_order(kinds):
    """Kinds in the order in which they are shown."""
    order = list(BENCHMARKS)
    return sorted(kinds, key=lambda kind: (order.index(entry_of(kind).kind), kind))


def entry_of(kind):
    """The Benchmark of a kind."""
    return BENCHMARKS[kind if kind in BENCHMARKS else "overlap_sweep"]


def keys_of(kind, rows):
    """What tells a kind's rows apart, pairs of a column and its heading: what its entry says, and
    the setting where a suite varied some."""
    varied = any("setting" in row for row in rows)
    return ((("setting", "setting"),) if varied else ()) + tuple(entry_of(kind).keys)


def collective_of(kind):
    """The collective of a kind overlap_COLLECTIVE_sweep."""
    return kind[len("overlap_"):-len("_sweep")]


# ---- what an entry is made of --------------------------------------------------------------------

class Quantity(typing.NamedTuple):
    """A column that was measured, its heading in tables, and the columns of its interval. An
    optional one is left out of a table where it has no values."""

    column: str
    heading: str
    low: str = ""
    high: str = ""
    optional: bool = False


class Key(typing.NamedTuple):
    """A column that tells lines, rows or panels of a picture apart; % in the text is its value. An
    optional one is left out of a label where it tells nothing apart."""

    column: str
    text: str = "%"
    optional: bool = False


class Panel(typing.NamedTuple):
    """A panel of a picture: lines over x, or without it rows of dots.

    name       of its table; the picture's program has it
    y, lo, hi  columns
    series     Keys that make the label of a line or row
    pages      Keys that tell panels apart (rows only)
    keep       by column the values that rows must have one of, if any row has
    prefer     (column, value): only rows with this value, or if none has with the first
    scale      "percent"; "gain": percent that may be below 0; or "": logarithmic where the largest
               value is log_from times the least
    gap        least distance of two labels, as a share of the panel's height
    most       the max number of series
    largest    a column: series with its largest numbers are taken first
    smallest   the same with its smallest
    threshold  key of the metadata: lines are drawn at 0 and, where it is known, at its number above
               and below
    """

    name: str
    y: str
    lo: str = ""
    hi: str = ""
    series: tuple = ()
    pages: tuple = ()
    x: str = ""
    x_factor: float = 1
    y_factor: float = 1
    keep: dict = {}
    prefer: tuple = ()
    scale: str = ""
    log_from: float = 50
    gap: float = 0.06
    most: int = 10
    largest: str = ""
    smallest: str = ""
    threshold: str = ""


class HeatMap(typing.NamedTuple):
    """A panel of a picture: a square of cells, one for each two names.

    name         of its table; the picture's program has it
    ends         the columns of a row's two names
    there, back  the columns of what goes from the first to the second, and of the way back
    keep         as a Panel's
    most         the max number of names
    """

    name: str
    ends: tuple
    there: str
    back: str
    keep: dict = {}
    most: int = 512


class Picture(typing.NamedTuple):
    """A picture: its file's name, its program in run_scripts/plots, what it shows in words, and
    variables for the program."""

    name: str
    program: str
    caption: str
    panels: tuple
    variables: dict = {}


class Benchmark(typing.NamedTuple):
    """A benchmark, as reports show it. `pictures` makes its Pictures of a kind and its rows, which
    are cells by column. `words` are columns whose cells are words: pairs of a column and its
    heading."""

    kind: str
    heading: str
    text: str
    keys: tuple        # (column, heading)
    quantities: tuple  # Quantity
    pictures: typing.Callable
    words: tuple = ()


def time_of(name, heading, unit="us", optional=False):
    """The Quantity of a column NAME_UNIT with its interval."""
    return Quantity(f"{name}_{unit}", heading, f"{name}_lo_{unit}", f"{name}_hi_{unit}", optional)


def count_distinct(rows, column):
    return len({row.get(column, "NA") for row in rows})


# ---- pictures ------------------------------------------------------------------------------------

GAIN_TITLE = "What going non-blocking gains, with plenty of work"

# What else tells an operation's rows apart.
_WAYS = (Key("form", optional=True), Key("method", optional=True),
         Key("partitions", "% partitions", True))
_TESTS = Key("test_calls", "tests: %", True)
_GAIN = ("gain_pct", "gain_lo_pct", "gain_hi_pct")


def has_numbers(rows, column):
    return any(row.get(column, "NA") != "NA" for row in rows)


def overlap_pictures(_, rows):
    def picture(name, caption, title, quantity_title, panel):
        return Picture(name, "overlap", caption, (panel,), {
            "title_of": title, "quantity_title": quantity_title, "table_of": panel.name})

    series = (Key("collective"), *_WAYS, Key("local", "box %", True), _TESTS)
    made = [picture("overlap", "overlap of each operation", "Work that fits under each operation",
                    "overlap (% of the operation's own time)",
                    Panel("overlap", "overlap_pct", "overlap_lo_pct", "overlap_hi_pct", series,
                          scale="percent", most=40))]
    if has_numbers(rows, "gain_pct"):
        made.append(picture("overlap_gain", "gain of each non-blocking operation", GAIN_TITLE,
                            "gain (% of the blocking call's time)",
                            Panel("gain", *_GAIN, series, scale="gain", most=40,
                                  threshold="threshold")))
    return made


def sweep_pictures(kind, rows):
    name = collective_of(kind)
    series = (Key("collective"), *_WAYS, _TESTS)
    made = [Picture(kind, "overlap_sweep", f"overlap and time of {name} over size", (
        Panel("overlap", "overlap_pct", "overlap_lo_pct", "overlap_hi_pct", series,
              x="size_bytes", scale="percent"),
        Panel("time", "ref_us", "ref_lo_us", "ref_hi_us", series, x="size_bytes", log_from=20)),
        {"collective": name})]
    if has_numbers(rows, "gain_pct"):
        made.append(Picture(
            f"overlap_{name}_gain", "over_sizes", f"gain of {name} over size",
            (Panel("gain", *_GAIN, series, x="size_bytes", scale="gain", threshold="threshold"),),
            {"tables": "gain", "title_of": f"{name}: {GAIN_TITLE[0].lower()}{GAIN_TITLE[1:]}",
             "quantity_title": "gain (% of the blocking call's time)",
             "size_title": "size (bytes)"}))
    calls = {row.get("test_calls", "NA") for row in rows if row.get("exposed_us", "NA") != "NA"}
    calls = sorted((text for text in calls if text.isdigit()), key=int)
    if len(calls) > 2:
        made.append(Picture(
            f"overlap_{name}_tests", "over_sizes",
            f"exposed time of {name} over calls of MPI_Test",
            (Panel("tests", "exposed_us", "exposed_lo_us", "exposed_hi_us",
                   (Key("size_bytes", "% bytes"), *_WAYS), x="test_calls",
                   keep={"test_calls": tuple(calls)}, log_from=20, largest="size_bytes"),),
            {"tables": "tests",
             "title_of": f"{name}: what stays exposed, by calls of MPI_Test during the work",
             "quantity_title": "exposed time (µs)",
             "size_title": "calls of MPI_Test in an operation"}))
    return made


def overhead_pictures(_, __):
    series = (Key("direction"), Key("pair", "pair %", optional=True))
    return [Picture("mpi_overhead", "mpi_overhead",
                    "host overhead and availability over message size", (
                        Panel("overhead", "overhead", "overhead_lo_us", "overhead_hi_us", series,
                              x="msgsize", log_from=20, gap=0.065),
                        Panel("available", "avail(%)", "avail_lo_pct", "avail_hi_pct", series,
                              x="msgsize", scale="percent", gap=0.085)))]


def rate_pictures(kind, rows):
    flush, ranks = Key("cache_size", "flush %", True), Key("job_size", "% ranks", True)
    if kind == "msgrate":
        title, caption = "How fast messages go", "message rate by pattern"
        series = (Key("pattern"), flush, ranks)
    else:
        title = "How fast MPI_Put and MPI_Get go"
        caption = "rate of one-sided transfers by pattern and synchronisation"
        series = (Key("transfer"), Key("synchronisation"), Key("pattern"),
                  Key("threads", "% threads", True), flush, ranks)
    rate = ("rate", "rate_per_s", "rate_lo_per_s", "rate_hi_per_s")
    flushed = any(row.get("cache_size") not in ("0", "NA", None) for row in rows)
    over_sizes = count_distinct(rows, "nbytes") > 3
    if over_sizes:
        series += (Key("nmsgs", "% messages", True), Key("npeers", "% peers", True))
        panel = Panel(*rate, series, x="nbytes", log_from=20)
    else:
        panel = Panel(*rate, series, (Key("nbytes", "messages of % bytes"),
                                      Key("nmsgs", "% to each peer"), Key("npeers", "peers: %")),
                      y_factor=1e-6, most=40)
    return [Picture(kind, "msgrate", caption, (panel,),
                    {"title_of": title + (", after the caches were flushed" if flushed else ""),
                     "over_sizes": int(over_sizes)})]


def pingpong_pictures(_, rows):
    def picture(name, caption, title, quantity_title, size_title, panel):
        return Picture(f"pingpong_{name}", "pingpong", caption, (panel,),
                       {"title_of": title, "quantity_title": quantity_title,
                        "size_title": size_title})

    latency = ("pingpong", "latency_us", "latency_lo_us", "latency_hi_us")
    series = (Key("pattern"), Key("sync", optional=True))
    single = ("arrangement", "single")
    whole = {"pattern": ("put", "get", "MPI Send")}
    pieces = {"pattern": ("many put", "many get", "strided many put", "strided many get"),
              "sync": ("all",)}
    made = [
        picture("latency", "latency over size", "What a transfer takes, synchronisation included",
                "latency (µs)", "data (bytes)",
                Panel(*latency, series, x="ndata", x_factor=8, keep=whole, prefer=single,
                      log_from=20)),
        picture("bandwidth", "bandwidth over size",
                "The bandwidth of a transfer, synchronisation included",
                "bandwidth (MB/s; MB = 2^20 bytes)", "data (bytes)",
                Panel("pingpong", "bwidth_mbs", series=series, x="ndata", x_factor=8, keep=whole,
                      prefer=single, log_from=20))]
    if any(row.get("pattern") in ("many put", "many get") for row in rows):
        made.append(picture(
            "pieces", "time of a transfer in pieces", "The largest transfer, cut into pieces",
            "time for all pieces (µs)", "size of a piece (bytes)",
            Panel(*latency, series, x="blksize", x_factor=8, keep=pieces, prefer=single,
                  log_from=20)))
    return made


def sync_pictures(_, __):
    panel = Panel("sync", "sync_us", "sync_lo_us", "sync_hi_us",
                  (Key("sync"), Key("neighbours", "% neighbours", True),
                   Key("ranks", "% ranks", True)), most=60)
    return [Picture("syncbench", "syncbench", "time of a synchronisation by kind", (panel,))]


def halo_pictures(_, rows):
    latency = ("halo", "latency_us", "latency_lo_us", "latency_hi_us")
    method = (Key("method"), Key("sync", optional=True))
    over_sizes = count_distinct(rows, "local") > 4
    if over_sizes:
        panel = Panel(*latency, method + (Key("dims", optional=True),), x="ndata", x_factor=8,
                      most=12)
    else:
        panel = Panel(*latency, method, (Key("local", "box of % doubles"),
                                         Key("dims", "% processes", True),
                                         Key("ndata", "% values sent")), most=20)
    return [Picture("halo", "halo", "time of a halo swap by method and size", (panel,),
                    {"over_sizes": int(over_sizes)})]


# Of a node's links: its columns' names, the unit, the title, and whether the slowest is the largest.
_LINK_QUANTITIES = (("time", "us", "half of a round trip (µs)", True),
                    ("out", "mbs", "bandwidth out of the node (MB/s; MB = 2^20 bytes)", False),
                    ("in", "mbs", "bandwidth into the node (MB/s; MB = 2^20 bytes)", False))


def link_pictures(_, rows):
    """What the links of each node take, the slowest first; and of each pair where all have a row."""
    made = []
    nodes = [row for row in rows if row.get("scope") in ("node", "rank")]
    what = "ranks" if any(row["scope"] == "rank" for row in nodes) else "nodes"
    for name, unit, title, slow_is_large in _LINK_QUANTITIES:
        column = f"{name}_{unit}"
        sizes = sizes_with(nodes, column)
        if sizes:
            made.append(Picture(
                f"linkmap_{name}", "linkmap", f"links of each node: {title}",
                (Panel("nodes", column, f"{name}_lo_{unit}", f"{name}_hi_{unit}", (Key("a"),),
                       (Key("nbytes", "messages of % bytes"),),
                       keep={"scope": ("node", "rank"), "nbytes": sizes}, most=60,
                       **{"largest" if slow_is_large else "smallest": column}),),
                {"quantity_title": title}))
    for size in sizes_with([row for row in rows if row.get("scope") == "pair"], "nbytes"):
        of_size = [row for row in rows if row.get("nbytes") == size]
        if has_all_pairs(of_size):
            is_time = has_numbers(of_size, "time_us")
            there, back = ("time_us", "time_us") if is_time else ("out_mbs", "in_mbs")
            made.append(Picture(
                f"linkmap_{size}", "linkmap_pairs", f"links between all {what}, {size} bytes",
                (HeatMap("pairs", ("a", "b"), there, back,
                         {"scope": ("pair",), "nbytes": (size,)}),),
                {"title_of": f"Links between all {what}, messages of {size} bytes",
                 "quantity_title": ("half of a round trip (µs)" if is_time else
                                    "bandwidth (MB/s; MB = 2^20 bytes)"),
                 "slow_is_low": int(not is_time)}))
    return made


def sizes_with(rows, column):
    """The message sizes of rows that have numbers in a column, in their order. Pictures are called by them."""
    return tuple(dict.fromkeys(row["nbytes"] for row in rows
                               if row.get(column, "NA") != "NA" and row["nbytes"].isdigit()))


def has_all_pairs(rows):
    """Whether the rows of a size have every pair of nodes."""
    nodes = len({row["a"] for row in rows if row.get("scope") in ("node", "rank")})
    pairs = len({(row["a"], row["b"]) for row in rows if row.get("scope") == "pair"})
    return 1 < nodes and pairs == nodes * (nodes - 1) // 2


def monitor_pictures(_, __):
    panel = Panel("added", "added_ns", "added_lo_ns", "added_hi_ns", (Key("call"),),
                  (Key("mode", "monitor %"),), most=60)
    return [Picture("monitor_overhead", "monitor_overhead", "added time by call", (panel,))]


def monitor_report_pictures(_, __):
    panel = Panel("operations", "total_s",
                  series=(Key("operation"), Key("comm", optional=True),
                          Key("members", "ranks %", True), Key("rank", "rank %", True)),
                  pages=(Key("kind", "% operations"),), keep={"kind": ("pttopt", "coll")}, most=60)
    return [Picture("mpirtmon", "mpirtmon", "time of all calls by operation", (panel,))]


# ---- other programs' outputs ---------------------------------------------------------------------

FOREIGN = "(osu|smb)_[a-z0-9_]+|imb"  # how their benchmarks are called (foreign.py)
_SIZES = ("size_bytes", "nbytes", "msgsize")


def is_foreign(benchmark):
    """Whether a benchmark of this name is another program's."""
    return re.fullmatch(FOREIGN, benchmark) is not None


def foreign_entry(name, result, before):
    """An entry made of what a result says of its columns, and of those of the entry before, if not
    None: files of one program have other columns."""
    keys, quantities = result.keys, [Quantity(column, column, optional=True)
                                     for _, column, _ in result.quantities()]
    if before is not None:
        keys = list(dict.fromkeys([column for column, _ in before.keys] + keys))
        quantities = list(dict.fromkeys([*before.quantities, *quantities]))
    size = next((column for column in _SIZES if column in keys), None)
    series = tuple(Key(column, "%" if column in ("test", "pattern") else column + " %", place > 0)
                   for place, column in enumerate(keys) if column != size)

    def pictures(kind, _):
        title = {"title_of": f"{kind}: {result.value('program') or 'another program'}",
                 "size_title": "size (bytes)"}
        return [Picture(f"{kind}_{re.sub('[^a-z0-9]+', '_', quantity.column)}", "over_sizes",
                        f"{quantity.column} over size",
                        (Panel("sizes", quantity.column, series=series or (Key("size_bytes", kind),),
                               x=size, log_from=20),),
                        {**title, "quantity_title": quantity.column})
                for quantity in quantities] if size else []

    return Benchmark(name, f"Another program: {name}",
                     "What another program printed. Its methods are others than ours: compare it "
                     "with itself only.",
                     tuple((column, column) for column in keys), tuple(quantities), pictures)


# ---- the benchmarks ------------------------------------------------------------------------------

_OVERLAP = """Overlap is the share of an operation's own time in which the processor can do other
work between starting the operation and waiting for it, without making it take longer. 0 % means
that nothing is gained by starting early."""

_GAINS = """ Where the blocking call was measured, too, the gain is what a program saves that calls
the non-blocking operation and has plenty of work for it: the blocking call's time less what stays
exposed, that is the operation with the work less the work alone. Above 0 it pays to go non-blocking,
below 0 it loses."""

_OVERLAP_KEYS = (("form", "form"), ("test_calls", "calls of MPI_Test"), ("method", "method"),
                 ("local", "box"), ("partitions", "partitions"))

_OVERLAP_QUANTITIES = (time_of("ref", "time without work (µs)"),
                       time_of("overlap", "overlap (%)", "pct"),
                       time_of("blocking", "blocking call (µs)", optional=True),
                       time_of("exposed", "exposed (µs)", optional=True),
                       time_of("gain", "gain (%)", "pct", optional=True),
                       Quantity("best_test_calls", "best number of tests", optional=True))

_OVERLAP_WORDS = (("verdict", "verdict"),)

_RATE_QUANTITIES = (time_of("rate", "rate (1/s)", "per_s"),
                    Quantity("total_rate_per_s", "of all processes (1/s)"),
                    time_of("iter", "iteration (µs)"))

_RATE_KEYS = (("job_size", "processes"), ("npeers", "peers"), ("nmsgs", "messages to each"),
              ("nbytes", "size (bytes)"), ("cache_size", "flush (bytes)"), ("ppn", "peers apart"))

BENCHMARKS = {entry.kind: entry for entry in (
    Benchmark(
        "overlap", "Work that fits under each operation",
        _OVERLAP + """ Each operation is measured at the size from which it takes about a
millisecond, or at the largest (status max-size); a barrier has no size. More is better.""" +
        _GAINS,
        (("collective", "operation"), ("model", "model"), *_OVERLAP_KEYS),
        (Quantity("size_bytes", "size (bytes)"), *_OVERLAP_QUANTITIES), overlap_pictures,
        _OVERLAP_WORDS),
    Benchmark(
        "overlap_sweep", "Overlap over sizes",
        _OVERLAP + """ Above the overlap (more is better), below the time of the operation without
work (less is better).""" + _GAINS,
        (("collective", "operation"), *_OVERLAP_KEYS, ("size_bytes", "size (bytes)")),
        _OVERLAP_QUANTITIES, sweep_pictures, _OVERLAP_WORDS),
    Benchmark(
        "mpi_overhead", "What a message takes of the processor",
        """The host overhead is the time for which sending or receiving a message keeps the
processor busy (less is better); what is available is the rest of the transfer time, free for other
work (more is better). For small messages on one node read the availability as a lower bound.""",
        (("direction", "direction"), ("pair", "pair"), ("msgsize", "size (bytes)")),
        (Quantity("overhead", "overhead (µs)", "overhead_lo_us", "overhead_hi_us"),
         time_of("transfer", "transfer (µs)"),
         Quantity("avail(%)", "available (%)", "avail_lo_pct", "avail_hi_pct")),
        overhead_pictures),
    Benchmark(
        "msgrate", "How fast messages go",
        """Messages that a process sends and receives in a second, after a computation has emptied
its caches of MPI, in four patterns of real programs. More is better. Small loops with warm caches
show several times as much.""",
        (("pattern", "pattern"), *_RATE_KEYS), _RATE_QUANTITIES, rate_pictures),
    Benchmark(
        "msgrate_rma", "How fast MPI_Put and MPI_Get go",
        """The same with one-sided transfers, by synchronisation. All synchronisation is in the
time, so few messages show what it costs. More is better.""",
        (("pattern", "pattern"), ("synchronisation", "synchronisation"), ("transfer", "transfer"),
         ("threads", "threads"), *_RATE_KEYS), _RATE_QUANTITIES, rate_pictures),
    Benchmark(
        "pingpong", "What a transfer takes",
        """Latency is the time of a transfer one way (less is better), bandwidth the data over it
(more is better). A put or get counts until both sides know of it: with all by a barrier, with
images by a notification of the partner alone; MPI Send needs neither.""",
        (("arrangement", "arrangement"), ("pattern", "pattern"), ("sync", "synchronisation"),
         ("count", "blocks"), ("blksize", "doubles in a block"), ("stride", "stride"),
         ("ndata", "doubles")),
        (time_of("latency", "latency (µs)"), Quantity("bwidth_mbs", "bandwidth (MB/s)")),
        pingpong_pictures),
    Benchmark(
        "syncbench", "What synchronisation costs",
        """What one synchronisation takes beyond the work it separates. Sync all and barriers make
everyone wait for everyone, pairs, rings and grids only neighbours; for lock and critical it is an
acquisition with all processes contending. Less is better.""",
        (("sync", "synchronisation"), ("neighbours", "neighbours"), ("ranks", "processes")),
        (time_of("sync", "time (µs)"), Quantity("ref_us", "delay (µs)"),
         Quantity("loop_us", "delay and synchronisation (µs)")), sync_pictures),
    Benchmark(
        "halo", "What a halo swap takes",
        """The time in which each process swaps the six faces of its box with its neighbours, by
the way they are carried. Less is better. Compare methods within one box.""",
        (("method", "method"), ("sync", "synchronisation"), ("dims", "processes"),
         ("local", "box"), ("ndata", "doubles sent")),
        (time_of("latency", "time (µs)"), Quantity("bwidth_mbs", "bandwidth (MB/s)")),
        halo_pictures),
    Benchmark(
        "linkmap", "Which node or link is slow",
        """What a message takes between every two nodes, of all links together, of each node, and of
the pairs that are out of line: half of a round trip of small ones (less is better), the bandwidth
each way of large ones (more is better). A node or pair that is slow takes longer than all others
explain, in company and alone.""",
        (("scope", "of"), ("a", "node"), ("b", "other node"), ("nbytes", "size (bytes)")),
        (time_of("time", "time (µs)", optional=True),
         time_of("out", "out (MB/s)", "mbs", optional=True),
         time_of("in", "in (MB/s)", "mbs", optional=True),
         Quantity("alone_pct", "longer alone (%)", optional=True)),
        link_pictures, (("verdict", "verdict"), ("group", "group"))),
    Benchmark(
        "noise", "What stops processes, and what that costs",
        """How often and for how long the processes of the job, of each host or each by itself are
stopped by whatever else their processors do; where that comes from; and what steps of work and an
operation take, how much of that is lost to stops, and how much by the stops of all processes
together. Less is better.""",
        (("scope", "of"), ("host", "host"), ("ranks", "processes"), ("source", "source"), ("about", "about"),
         ("operation", "operation"), ("grain_us", "work (µs)")),
        (time_of("stops", "stops a second", "per_s", optional=True),
         time_of("stop", "length (µs)", optional=True),
         time_of("stopped", "stopped (%)", "pct", optional=True),
         time_of("period", "period (ms)", "ms", optional=True),
         time_of("step", "step (µs)", optional=True),
         time_of("slowdown", "slowdown (%)", "pct", optional=True),
         time_of("predicted", "predicted (%)", "pct", optional=True)),
        lambda _, __: []),
    Benchmark(
        "monitor_overhead", "What monitoring adds to a call",
        """The nanoseconds that libmpirtmon adds to a call while it is only loaded (off) and with
everything monitored (on). Less is better.""",
        (("call", "calls"), ("mode", "monitor")),
        (Quantity("direct_ns", "without (ns)"), Quantity("monitored_ns", "with (ns)"),
         time_of("added", "added (ns)", "ns")), monitor_pictures),
    Benchmark(
        "mpirtmon", "What MPI did in the program",
        """A monitor's report of a program. The time of an operation is from its start to its
completion, summed over calls and processes: work that is done meanwhile is in it, too. Of a
communicator (kind comm) it is the longest span of a process, from the first start to the last
end. The time in calls is what the program was inside of MPI for, and waiting the part of it in
which other processes had not come yet.""",
        (("kind", "kind"), ("comm", "communicator"), ("operation", "operation"),
         ("ranks", "processes"), ("members", "ranks"), ("rank", "rank"),
         ("size_bytes", "from (bytes)")),
        (Quantity("calls", "calls"), Quantity("total_s", "time (s)"),
         Quantity("in_calls_s", "in calls (s)", optional=True),
         time_of("waited", "waiting (s)", "s", optional=True),
         Quantity("mean_us", "mean (µs)"), Quantity("max_us", "max (µs)"),
         Quantity("timeouts", "timeouts"), Quantity("bytes", "bytes")),
        monitor_report_pictures))}
