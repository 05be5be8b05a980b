"""Which pictures show a benchmark's rows: what is on each axis, what tells lines and dots apart."""

import re
import typing

from commcost.reading import benchmarks


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


def count_distinct(rows, column):
    return len({row.get(column, "NA") for row in rows})


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
    name = benchmarks.collective_of(kind)
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


def foreign_pictures(kind, _):
    """Each quantity of another program's benchmark over sizes."""
    entry = benchmarks.entry_of(kind)
    keys = [column for column, _ in entry.keys]
    size = next((column for column in ("size_bytes", "nbytes", "msgsize") if column in keys), None)
    series = tuple(Key(column, "%" if column in ("test", "pattern") else column + " %", place > 0)
                   for place, column in enumerate(keys) if column != size)
    return [Picture(f"{kind}_{re.sub('[^a-z0-9]+', '_', quantity.column)}", "over_sizes",
                    f"{quantity.column} over size",
                    (Panel("sizes", quantity.column, series=series or (Key("size_bytes", kind),),
                           x=size, log_from=20),),
                    {"title_of": f"{kind}: {entry.program}", "size_title": "size (bytes)",
                     "quantity_title": quantity.column})
            for quantity in entry.quantities] if size else []


PICTURES = {"overlap": overlap_pictures, "overlap_sweep": sweep_pictures, "mpi_overhead": overhead_pictures,
            "msgrate": rate_pictures, "msgrate_rma": rate_pictures, "pingpong": pingpong_pictures,
            "syncbench": sync_pictures, "halo": halo_pictures, "linkmap": link_pictures,
            "monitor_overhead": monitor_pictures, "mpirtmon": monitor_report_pictures}


def pictures_of(kind, rows):
    """The Pictures of a kind of results and its rows, which are cells by column; none where it has none."""
    entry = benchmarks.entry_of(kind)
    make = foreign_pictures if entry.program else PICTURES.get(entry.kind)
    return make(kind, rows) if make else []
