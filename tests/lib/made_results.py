# SPDX-License-Identifier: BSD-3-Clause
"""Results that are made by hand, and what plot.sh and report.sh make of them."""

import os
import re

from commands import command
from mpi_run import call
from pretended_suite import SCRIPTS

METADATA = {"ranks": 2, "nodes": 1, "mpi_library": "MPICH Version: 4.0.2",
            "processor": "A <fast> & \"big\" one", "cores": 2,
            "date": "2026-01-02T03:04:05+0000"}

# Results of each benchmark: the columns that are read and some that are not, in an
# order of their own, and rows.
MPI_OVERHEAD = ("direction pair msgsize iterations overhead avail(%) overhead_lo_us "
                "overhead_hi_us transfer_us transfer_lo_us transfer_hi_us avail_lo_pct "
                "avail_hi_pct samples status").split()
MPI_OVERHEAD_ROWS = [
    ["send", 0, 0, 9, 0.042, 45.8, 0.041, 0.043, 0.078, 0.07, 0.08, 44, 47, 9, "ok"],
    ["recv", 0, 0, 9, 0.18, -2.3, 0.17, 0.19, 0.176, 0.17, 0.18, -5, 0, 9, "ok"],
    ["send", 0, 8, 9, 0.045, 42.6, 0.044, 0.046, 0.078, 0.07, 0.08, 41, 43, 9, "ok"],
    ["recv", 0, 8, 9, "NA", "NA", "NA", "NA", 0.1, 0.1, 0.1, "NA", "NA", 9,
     "no-knee"],
    ["send", 0, 1048576, 9, 0.261, 99.6, 0.25, 0.271, 70.7, 70, 71, 99, 100, 9,
     "budget"],
    ["recv", 0, 1048576, 9, 73.5, -0.1, 73, 74, 73.4, 73, 74, -1, 1, 9, "ok"]]
SYNC = "sync neighbours ranks ref_us loop_us sync_us sync_lo_us sync_hi_us status".split()
SYNC_ROWS = [["sync all", 3, 4, 0.1, 1.1, 1.0, 0.9, 1.2, "ok"],
             ["ring", 2, 4, 0.1, 0.6, 0.5, "NA", "NA", "budget"],
             ["ring", 4, 4, 0.1, 0.9, 0.8, 0.7, 0.9, "ok"],
             ["a<&>b", "NA", 4, 0.1, 1.6, 1.5, 1.4, 1.6, "ok"]]
HALO = ("method sync dims local ndata latency_us latency_lo_us latency_hi_us bwidth_mbs "
        "check status").split()
HALO_ROWS = [[method, sync, "2x1x1", f"{n}x{n}x{n}", 6 * n * n, n * factor,
              n * factor * 0.9, n * factor * 1.1, 100, "off", "ok"]
             for method, sync, factor in (("put", "all", 1.5), ("put", "images", 1.25),
                                          ("persistent", "none", 1.0))
             for n in (10, 50)]
RATE = ("pattern job_size npeers niters nmsgs nbytes cache_size ppn rate_per_s "
        "rate_lo_per_s rate_hi_per_s total_rate_per_s iter_us iter_lo_us iter_hi_us "
        "status").split()
RATE_ROWS = [["single direction", 2, 1, 9, 128, 8, 16777216, 1, 6471815.3, 6296402.9,
              6734337.1, 12943630.6, 20, 19, 21, "ok"],
             ["pre-post", 2, 1, 9, 128, 8, 16777216, 1, 5902280.5, 5816322.2,
              5978086.5, 11804561, 40, 39, 41, "budget"]]
RMA = ["pattern", "synchronisation", "transfer", "threads"] + RATE[1:]
RMA_ROWS = [[row[0], sync, "put", 1] + row[1:]
            for sync in ("fence", "flush") for row in RATE_ROWS]
PINGPONG = ("arrangement pattern sync count blksize stride ndata nextent latency_us "
            "latency_lo_us latency_hi_us bwidth_mbs status").split()
PINGPONG_ROWS = (
    [["single", pattern, sync, 1, n, 1, n, n, time, time * 0.5, time * 2, n * 8 / time,
      "ok"]
     for pattern, sync, factor in (("put", "all", 2), ("put", "images", 1),
                                   ("get", "all", 3), ("MPI Send", "none", 0.5))
     for n, time in ((1, factor), (4096, 8 * factor))] +
    [["single", "many put", "all", 4096 // n, n, n, 4096, 4096, 64 / n, "NA", "NA", 5,
      "ok"] for n in (1, 64, 4096)] +
    [["multiple", "put", "all", 1, 1, 1, 1, 1, 99, 98, 100, 1, "ok"]])
OVERLAP = ("collective model elements size_bytes ref_us work_us overlap_pct "
           "overlap_lo_pct overlap_hi_pct ref_lo_us ref_hi_us status").split()
OVERLAP_ROWS = [["iallreduce", "time", 131072, 1048576, 1024.5, 512, 50.5, 49, 52, 1000,
                 1050, "ok"]]
BARRIER_ROWS = [["ibarrier", "data", "NA", 0, 0.8, 0.2, 0, 0, 12, 0.7, 0.9, "ok"]]
SWEEP_ROWS = [["iallreduce", "data", n, 8 * n, 0.5 * n, 1, overlap, 0, 100, 0.4 * n,
               0.6 * n, "ok"] for n, overlap in ((1, 0), (64, 30.12), (2048, 100))]
# The columns of overlap_* since it also measures the blocking call.
GAIN = ("collective model form test_calls elements size_bytes ref_us ref_sd_us work_us total_us "
        "overlap_pct overlap_lo_pct overlap_hi_pct blocking_us blocking_lo_us blocking_hi_us "
        "exposed_us exposed_lo_us exposed_hi_us gain_us gain_lo_us gain_hi_us gain_pct gain_lo_pct "
        "gain_hi_pct verdict best_test_calls ref_lo_us ref_hi_us lost_pct status").split()
GAIN_ROLES = {**dict.fromkeys(("collective", "model", "form", "test_calls", "method", "local",
                               "partitions", "elements", "size_bytes"), "key"),
              **dict.fromkeys(("ref_us", "blocking_us", "exposed_us"), "less"),
              "overlap_pct": "more"}
MONITOR = ("call mode direct_ns monitored_ns added_ns added_lo_ns added_hi_ns "
           "status").split()
MONITOR_ROWS = [["MPI_Send", "off", 47.5, 48.7, 1.32, 1.27, 1.34, "ok"],
                ["MPI_Send", "on", 47.3, 80.1, 32.8, 32.7, 33.4, "ok"]]

LINKMAP = ("scope a b nbytes time_us time_lo_us time_hi_us out_mbs out_lo_mbs out_hi_mbs in_mbs "
           "in_lo_mbs in_hi_mbs alone_pct verdict group status").split()


def linkmap_row(scope, ends, size, *values, verdict="even"):
    """A time, or the bandwidths out and in."""
    cells = [cell for value in values for cell in (value, value * 0.5, value * 2)]
    cells = [*cells, *["NA"] * 6] if len(values) == 1 else ["NA", "NA", "NA", *cells]
    return [scope, *ends, size, *cells, "NA", verdict, "NA", "ok"]


# Three nodes, with a row for each pair of 8 bytes; of 1 MiB for one that is out of line.
LINKMAP_ROWS = [
    linkmap_row("whole", ("NA", "NA"), 8, 2.0),
    *(linkmap_row("node", (f"n{i}", "NA"), 8, time) for i, time in enumerate((2.5, 2.0, 3.0))),
    linkmap_row("pair", ("n0", "n1"), 8, 2.0), linkmap_row("pair", ("n0", "n2"), 8, 4.0),
    linkmap_row("pair", ("n1", "n2"), 8, 2.25),
    linkmap_row("whole", ("NA", "NA"), 1048576, 9000, 9100, verdict="out of line"),
    *(linkmap_row("node", (f"n{i}", "NA"), 1048576, out, 9100) for i, out in enumerate((9000, 8000, 8500))),
    linkmap_row("pair", ("n0", "n2"), 1048576, 4000, 9100, verdict="slow out")]

REPORT = ("kind comm operation ranks calls completed timeouts total_s mean_us max_us bytes members "
          "rank").split()
REPORT_ROWS = [["pttopt", "grid", "MPI_Isend", 2, 1600, 1600, 0, 0.002, 1.3, 84.5, 3200, "0-1", "NA"],
               ["pttopt", "grid", "MPI_Irecv", 2, 1600, 1600, 10, 0.021, 13, 1386, 3200, "0-1", "NA"],
               ["coll", "grid", "MPI_Allreduce", 2, 40, 40, 0, 0.0011, 28, 426, 320, "0-1", "NA"],
               ["comm", "grid", "collective", 2, 40, 40, 0, 0.25, "NA", "NA", 320, "0-1", "NA"],
               ["other", "NA", "user_time", "NA", "NA", "NA", "NA", 0.57, "NA", "NA", "NA", "NA",
                "NA"]]

ALL = {"overlap_iallreduce": ("overlap_iallreduce", OVERLAP, OVERLAP_ROWS),
       "overlap_ibarrier": ("overlap_ibarrier", OVERLAP, BARRIER_ROWS),
       "overlap_iallreduce_sweep": ("overlap_iallreduce", OVERLAP, SWEEP_ROWS),
       "mpi_overhead": ("mpi_overhead", MPI_OVERHEAD, MPI_OVERHEAD_ROWS),
       "msgrate": ("msgrate", RATE, RATE_ROWS),
       "msgrate_rma": ("msgrate_rma", RMA, RMA_ROWS),
       "pingpong": ("pingpong", PINGPONG, PINGPONG_ROWS),
       "syncbench": ("syncbench", SYNC, SYNC_ROWS),
       "halo": ("halo", HALO, HALO_ROWS),
       "linkmap": ("linkmap", LINKMAP, LINKMAP_ROWS),
       "monitor_overhead": ("monitor_overhead", MONITOR, MONITOR_ROWS),
       "mpirtmon": ("mpirtmon", REPORT, REPORT_ROWS)}



# Columns with the same role in all results that have them; all others are info.
KEYS = set("""
    run setting collective model form test_calls method local partitions elements direction pair msgsize pattern job_size
    npeers nmsgs nbytes cache_size ppn synchronisation transfer threads arrangement sync count blksize stride neighbours
    ranks dims call mode scope a b kind comm operation members rank host source about grain_us type op in_place root
    memory buffers alternative""".split())
LESS = set("overhead transfer_us latency_us sync_us ref_us blocking_us exposed_us added_ns time_us stop_us".split())
MORE = set("overlap_pct rate_per_s out_mbs in_mbs".split())


def roles_of(columns):
    """The line `# columns:`. A size is a result where the time-driven model finds it, else a key."""
    return " ".join(f"{name}=" + ("key" if name in KEYS or name == "size_bytes" else "less" if name in LESS else
                                  "more" if name in MORE else "info") for name in columns)


def tsv(benchmark, columns, rows, remarks=(), metadata=None, line_end="\n"):
    """The text of a result; without a benchmark one without the metadata that name it."""
    lines = [f"# benchmark: {benchmark}"] if benchmark else []
    said = {**METADATA, **({"columns": roles_of(columns)} if benchmark else {}), **(metadata or {})}
    lines += [f"# {key}: {value}" for key, value in said.items()]
    lines.append("\t".join(columns))
    lines += [f"# {remark}" for remark in remarks]
    lines += ["\t".join(str(cell) for cell in row) for row in rows]
    return line_end.join(lines) + line_end


def gain_cells(size_bytes, blocking_us, exposed_us, half_width_us=0.5, **cells):
    """A row of overlap_iallreduce by column: what isn't given is as in a data-driven run with
    defaults, and what follows from the times does. Without a blocking time it is that of
    --no-blocking."""
    made = dict.fromkeys(GAIN, "NA")
    made.update(collective="iallreduce", model="data", form="nonblocking", test_calls=0,
                elements=size_bytes // 8, size_bytes=size_bytes, ref_us=exposed_us,
                overlap_pct=50, overlap_lo_pct=49, overlap_hi_pct=51, lost_pct=0, status="ok")
    times = {"exposed": exposed_us}
    if blocking_us is not None:
        gain_us = blocking_us - exposed_us
        times["blocking"] = blocking_us
        for unit, factor in (("us", 1), ("pct", 100 / blocking_us)):
            made.update(zip((f"gain_{unit}", f"gain_lo_{unit}", f"gain_hi_{unit}"),
                            (round(factor * (gain_us + change), 4)
                             for change in (0, -half_width_us, half_width_us))))
        made["verdict"] = ("pays" if made["gain_lo_pct"] > 2 else
                           "loses" if made["gain_hi_pct"] < -2 else
                           "even" if made["gain_lo_pct"] >= -2 and made["gain_hi_pct"] <= 2 else
                           "not clear")
    for name, value in times.items():
        made.update({f"{name}_us": value, f"{name}_lo_us": value - half_width_us,
                     f"{name}_hi_us": value + half_width_us})
    return {**made, **cells}


def gain_roles(columns):
    """The line `# columns:` of overlap_* with these columns."""
    return " ".join(f"{name}={'key' if name == 'run' else GAIN_ROLES.get(name, 'info')}"
                    for name in columns)


def text_of(node):
    """All text in a node of an XML document."""
    def parts(node):
        for child in node.childNodes:
            if child.nodeType == child.TEXT_NODE:
                yield child.data
            else:
                yield from parts(child)
    return "".join(parts(node)).strip()


class MadeResults:
    """A folder of results, and the scripts that run in it."""

    __test__ = False

    def __init__(self, folder):
        self.folder = folder / "commcost plots & <test>"
        self.folder.mkdir()
        self.pictures = self.folder / "pictures"

    def write(self, result, name, text):
        path = self.folder / result
        path.mkdir(parents=True, exist_ok=True)
        with open(path / (name + ".tsv"), "w", newline="", encoding="utf-8") as file:
            file.write(text)
        return path

    def add(self, result, *names, rows=None, metadata=None):
        """Writes the results of that name, with their own rows or others."""
        for name in names:
            benchmark, columns, own = ALL[name]
            path = self.write(result, name, tsv(benchmark, columns, own if rows is None else rows,
                                                metadata=metadata))
        return str(path)

    def start(self, name, *arguments):
        return call(["sh", os.path.join(SCRIPTS, name), *arguments], cwd=str(self.folder), timeout=120,
                    encoding="utf-8", errors="replace")

    def script(self, name, *words, status=0, environment=None):
        """The same without a process of its own."""
        done = command(name[:-len(".sh")], *words, cwd=str(self.folder),
                       environment={**os.environ, **(environment or {})})
        assert done.returncode == status, done.stderr + done.stdout
        return done

    def plot(self, *results, formats="svg"):
        """Standard error; pictures and their data are for the methods that follow."""
        return self.script("plot.sh", "--data", f"--format={formats}",
                           f"--output={self.pictures}", *results).stderr

    def read(self, name):
        with open(self.pictures / name, encoding="utf-8") as file:
            return file.read()

    def table(self, name, *columns):
        """gnuplot's data: a list of blocks, each of rows, whose cells in these columns, or in all,
        have a | between them."""
        blocks = [[]]
        for line in self.read(name + ".tsv").splitlines():
            if line.startswith("#"):
                continue
            if line:
                cells = line.split("\t")
                blocks[-1].append("|".join([cells[i] for i in columns] if columns else cells))
            elif blocks[-1]:
                blocks.append([])
        return [block for block in blocks if block]

    def drawn(self, name, symbol):
        """How many points of a pointtype; the SVG file counts them from 0."""
        return len(re.findall(rf"href='#gpPt{symbol - 1}' transform='translate", self.read(name)))

    def setting(self, name, key):
        return re.search(rf"^{re.escape(key)} = (.*)$", self.read(name + ".set"), re.M).group(1)
