#!/usr/bin/env python3
"""plot.sh and report.sh on hand-made results: gnuplot's data tables, the pictures
and the page say exactly what the TSV files say."""

import os
import re
import shutil
import statistics
import struct
import subprocess
import tempfile
import unittest
import xml.dom.minidom

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                       "run_scripts")
METADATA = {"ranks": 2, "nodes": 1, "mpi_library": "MPICH Version: 4.0.2",
            "processor": "A <fast> & \"big\" one", "cores": 2,
            "date": "2026-01-02T03:04:05+0000"}

# What each benchmark writes: the columns that are read and some that are not, in an
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
MONITOR = ("call mode direct_ns monitored_ns added_ns added_lo_ns added_hi_ns "
           "status").split()
MONITOR_ROWS = [["MPI_Send", "off", 47.5, 48.7, 1.32, 1.27, 1.34, "ok"],
                ["MPI_Send", "on", 47.3, 80.1, 32.8, 32.7, 33.4, "ok"]]

ALL = {"overlap_iallreduce": ("overlap_iallreduce", OVERLAP, OVERLAP_ROWS),
       "overlap_ibarrier": ("overlap_ibarrier", OVERLAP, BARRIER_ROWS),
       "overlap_iallreduce_sweep": ("overlap_iallreduce", OVERLAP, SWEEP_ROWS),
       "mpi_overhead": ("mpi_overhead", MPI_OVERHEAD, MPI_OVERHEAD_ROWS),
       "msgrate": ("msgrate", RATE, RATE_ROWS),
       "msgrate_rma": ("msgrate_rma", RMA, RMA_ROWS),
       "pingpong": ("pingpong", PINGPONG, PINGPONG_ROWS),
       "syncbench": ("syncbench", SYNC, SYNC_ROWS),
       "halo": ("halo", HALO, HALO_ROWS),
       "monitor_overhead": ("monitor_overhead", MONITOR, MONITOR_ROWS)}

# picture: its tables, axis titles, and labels of lines or rows.
PICTURES = {
    "overlap": (["overlap"], ["overlap (% of the operation's own time)"],
                ["iallreduce", "ibarrier", "50.5"]),
    "overlap_iallreduce_sweep": (
        ["overlap", "time"],
        ["overlap (%)", "time without work (µs)", "size (bytes)"],
        ["iallreduce", "8", "8K"]),
    "mpi_overhead": (["overhead", "available"],
                     ["host overhead (µs)", "available (% of transfer)",
                      "message size (bytes)"], ["send", "recv", "0", "8", "256K"]),
    "msgrate": (["rate"], ["million messages a second and process, sent and received"],
                ["single direction", "pre-post", "6.47"]),
    "msgrate_rma": (["rate"],
                    ["million messages a second and process, sent and received"],
                    ["put, fence, single direction", "put, flush, pre-post"]),
    "pingpong_latency": (["pingpong"], ["latency (µs)", "data (bytes)"],
                         ["put, all", "put, images", "get", "MPI Send", "8", "32K"]),
    "pingpong_bandwidth": (["pingpong"],
                           ["bandwidth (MB/s; MB = 2^20 bytes)", "data (bytes)"],
                           ["put, all", "MPI Send"]),
    "pingpong_pieces": (["pingpong"],
                        ["time for all pieces (µs)", "size of a piece (bytes)"],
                        ["many put"]),
    "syncbench": (["sync"], ["time of one synchronisation (µs)"],
                  ["sync all", "ring, 2 neighbours", "ring, 4 neighbours", "a<&>b"]),
    "halo": (["halo"], ["time of a swap (µs)"],
             ["put, all", "put, images", "persistent",
              "box of 10x10x10 doubles, 600 values sent"]),
    "monitor_overhead": (["added"], ["added (ns)"],
                         ["MPI_Send", "monitor off", "monitor on"]),
}


def tsv(benchmark, columns, rows, remarks=(), metadata=None, line_end="\n"):
    lines = [f"# benchmark: {benchmark}"] if benchmark else []
    lines += [f"# {key}: {value}"
              for key, value in dict(METADATA, **(metadata or {})).items()]
    lines.append("\t".join(columns))
    lines += [f"# {remark}" for remark in remarks]
    lines += ["\t".join(str(cell) for cell in row) for row in rows]
    return line_end.join(lines) + line_end


def launches(columns, rows, changes):
    """The rows of several launches with a first column run; changes are pairs of a
    column and a function of value and launch."""
    result = []
    for run in range(1, 4):
        for row in rows:
            cells = dict(zip(columns, row))
            for column, change in changes.items():
                if cells[column] != "NA":
                    cells[column] = change(cells[column], run)
            result.append([run] + [cells[column] for column in columns])
    return ["run"] + columns, result


def read_table(text):
    """gnuplot's data: a list of blocks, each of rows."""
    blocks = [[]]
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line:
            blocks[-1].append(line.split("\t"))
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def svg_texts(svg):
    document = xml.dom.minidom.parseString(svg)
    return ["".join(part.data for part in walk_text(node)).strip()
            for node in document.getElementsByTagName("text")]


def walk_text(node):
    for child in node.childNodes:
        if child.nodeType == child.TEXT_NODE:
            yield child
        else:
            yield from walk_text(child)


def text_of(node):
    return "".join(part.data for part in walk_text(node)).strip()


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="commcost plots & <test> ")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, result, name, text):
        path = os.path.join(self.folder, result)
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, name + ".tsv"), "w", newline="",
                  encoding="utf-8") as file:
            file.write(text)
        return path

    def write_all(self, result):
        for name, contents in ALL.items():
            path = self.write(result, name, tsv(*contents))
        return path

    def script(self, name, *arguments, status=0, environment=None):
        done = subprocess.run(["sh", os.path.join(SCRIPTS, name), *arguments],
                              capture_output=True, text=True, cwd=self.folder,
                              env=dict(os.environ, **(environment or {})))
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done

    def plot(self, *results, formats="svg", status=0):
        """Standard error; pictures and data are in self.pictures."""
        self.pictures = os.path.join(self.folder, "pictures")
        done = self.script("plot.sh", "--data", f"--format={formats}",
                           f"--output={self.pictures}", *results, status=status)
        return done.stderr

    def read(self, name):
        with open(os.path.join(self.pictures, name), encoding="utf-8") as file:
            return file.read()

    def table(self, name):
        return read_table(self.read(name + ".tsv"))

    def drawn(self, name, symbol):
        """How many points of a pointtype; the SVG file counts them from 0."""
        return len(re.findall(rf"href='#gpPt{symbol - 1}' transform='translate",
                              self.read(name)))

    def setting(self, name, key):
        return re.search(rf"^{re.escape(key)} = (.*)$", self.read(name + ".set"),
                         re.M).group(1)


class Usage(Scripts):
    def refused(self, script, *arguments):
        done = self.script(script, *arguments, status=2)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, rf"^{re.escape(script)}: [^\n]+\n$")
        return done.stderr

    def test_usage(self):
        result = self.write("result", "syncbench", tsv("syncbench", SYNC, SYNC_ROWS))
        for script in ("plot.sh", "report.sh"):
            self.refused(script)
            self.refused(script, "--nonsense", result)
            self.refused(script, result, result, result)
            self.assertIn("nowhere", self.refused(script, "nowhere"))
            self.assertIn("usage: " + script,
                          self.script(script, "--help").stdout)
        self.refused("plot.sh", "--format=pdf", result)

    def test_nothing_to_draw(self):
        os.makedirs(os.path.join(self.folder, "empty"))
        for script in ("plot.sh", "report.sh"):
            self.assertIn("no results",
                          self.script(script, "empty", status=1).stderr)
        self.write("other", "x", "not\ta\tresult\n1\t2\t3\n")
        self.assertIn("left out", self.script("plot.sh", "other", status=1).stderr)

    def test_default_places(self):
        path = self.write("result", "syncbench", tsv("syncbench", SYNC, SYNC_ROWS))
        self.script("plot.sh", "result")
        self.script("report.sh", "result")
        self.script("plot.sh", "result/syncbench.tsv")
        for name in ("pictures/syncbench.svg", "pictures/syncbench.png", "report.html",
                     "syncbench.svg"):
            self.assertTrue(os.path.exists(os.path.join(path, name)), name)

    def test_single_launches_in_folders(self):
        for run in ("1", "2"):
            self.write(os.path.join("result", "runs", run), "syncbench",
                       tsv("syncbench", SYNC, SYNC_ROWS))
        self.plot("result")
        self.assertEqual([row[7] for row in self.table("syncbench.sync")[0]], ["2"] * 4)


class Tables(Scripts):
    """What gnuplot gets."""

    def test_one_launch(self):
        self.write("result", "mpi_overhead", tsv(*ALL["mpi_overhead"]))
        self.plot("result")
        self.assertEqual(self.table("mpi_overhead.overhead"), [
            [["new", "", "send", "0", "0.042", "0.041", "0.043", "1", "1"],
             ["new", "", "send", "8", "0.045", "0.044", "0.046", "1", "1"],
             ["new", "", "send", "1048576", "0.261", "0.25", "0.271", "1", "1"]],
            [["new", "", "recv", "0", "0.18", "0.17", "0.19", "1", "2"],
             ["new", "", "recv", "1048576", "73.5", "73", "74", "1", "2"]]])
        self.assertEqual(self.setting("mpi_overhead.overhead", "missing"), "1")
        self.assertEqual(
            [row[3:7] for row in self.table("mpi_overhead.available")[1]],
            [["0", "-2.3", "-5", "0"], ["1048576", "-0.1", "-1", "1"]])

    def test_order_line_ends_and_no_metadata(self):
        self.write("result", "a", tsv(*ALL["mpi_overhead"]))
        self.plot("result")
        expected = self.read("mpi_overhead.overhead.tsv")
        columns = ["extra"] + MPI_OVERHEAD[::-1]
        rows = [["7"] + row[::-1] for row in
                sorted(MPI_OVERHEAD_ROWS, key=lambda row: -row[2])]
        self.write("other", "b", tsv(None, columns, rows, line_end="\r\n"))
        self.plot("other")
        self.assertEqual(self.read("mpi_overhead.overhead.tsv"), expected)

    def test_launches(self):
        columns, rows = launches(SYNC, SYNC_ROWS, {
            "sync_us": lambda value, run: value * (1, 100, 1.5)[run - 1]})
        rows = [row for row in rows
                if not (row[0] == 3 and row[1] == "ring" and row[2] == 4)]
        self.write("result", "syncbench", tsv("syncbench", columns, rows))
        self.plot("result")
        self.assertEqual(self.table("syncbench.sync"), [
            [["new", "", "sync all", "1", "1.5", "1.0", "100.0", "3", "1"],
             ["new", "", "ring, 2 neighbours", "2", "0.75", "0.5", "50.0", "3", "2"],
             ["new", "", "ring, 4 neighbours", "3", "40.4", "0.8", "80.0", "2", "3"],
             ["new", "", "a<&>b", "4", "2.25", "1.5", "150.0", "3", "4"]]])

    def test_two_results(self):
        self.write("result", "syncbench", tsv("syncbench", SYNC, SYNC_ROWS[:2]))
        self.write("base", "syncbench", tsv("syncbench", SYNC, SYNC_ROWS[1:3]))
        self.plot("result", "base")
        blocks = [[row[0:1] + row[2:5] for row in block]
                  for block in self.table("syncbench.sync")]
        self.assertEqual(blocks, [
            [["new", "sync all", "1", "1.0"],
             ["new", "ring, 2 neighbours", "2", "0.5"]],
            [["base", "ring, 2 neighbours", "2", "0.5"],
             ["base", "ring, 4 neighbours", "3", "0.8"]]])
        self.assertEqual(
            [self.setting("syncbench.sync", f"dot_text[{i}]") for i in (1, 2, 3)],
            ["'1.00 (none)'", "'0.500 (0.500)'", "'none (0.800)'"])

    def test_pingpong(self):
        self.write("result", "pingpong", tsv(*ALL["pingpong"]))
        self.plot("result")
        self.assertEqual(
            [(block[0][2], [row[3:7] for row in block])
             for block in self.table("pingpong_latency.pingpong")],
            [("put, all", [["8", "2", "1.0", "4"], ["32768", "16", "8.0", "32"]]),
             ("put, images", [["8", "1", "0.5", "2"], ["32768", "8", "4.0", "16"]]),
             ("get", [["8", "3", "1.5", "6"], ["32768", "24", "12.0", "48"]]),
             ("MPI Send", [["8", "0.5", "0.25", "1.0"],
                           ["32768", "4.0", "2.0", "8.0"]])])
        self.assertEqual(
            [row[2:5] for row in self.table("pingpong_pieces.pingpong")[0]],
            [["many put", "8", "64.0"], ["many put", "512", "1.0"],
             ["many put", "32768", "0.015625"]])
        self.assertIn("Not drawn: multiple; the table has it.",
                      svg_texts(self.read("pingpong_latency.svg")))

    def test_scaled_rates_and_panels(self):
        self.write_all("result")
        self.plot("result")
        self.assertEqual([row[1:7] for row in self.table("msgrate.rate")[0]], [
            ["messages of 8 bytes, 128 to each peer, peers: 1", "single direction", "1",
             "6.4718153", "6.2964029", "6.7343371"],
            ["messages of 8 bytes, 128 to each peer, peers: 1", "pre-post", "2",
             "5.9022805", "5.8163222", "5.9780865"]])
        self.assertEqual([[row[1:5] for row in block]
                          for block in self.table("halo.halo")], [
            [[f"box of {n}x{n}x{n} doubles, {6 * n * n} values sent", label, str(i + 1),
              str(n * factor)]
             for i, (label, factor) in enumerate((("put, all", 1.5),
                                                  ("put, images", 1.25),
                                                  ("persistent", 1.0)))]
            for n in (10, 50)])
        self.assertEqual([row[2:5] for row in self.table("overlap.overlap")[0]],
                         [["iallreduce", "1", "50.5"], ["ibarrier", "2", "0"]])
        self.assertEqual(
            [row[3:7] for row in self.table("overlap_iallreduce_sweep.overlap")[0]],
            [["8", "0", "0", "100"], ["512", "30.12", "0", "100"],
             ["16384", "100", "0", "100"]])
        self.assertEqual([[row[1:5] for row in block]
                          for block in self.table("monitor_overhead.added")],
                         [[["monitor off", "MPI_Send", "1", "1.32"]],
                          [["monitor on", "MPI_Send", "1", "32.8"]]])

    def test_axes(self):
        """Logarithmic where the range asks for it, 0 on a size axis apart."""
        self.write_all("result")
        self.plot("result")
        for name, key, value in (
                ("mpi_overhead.overhead", "logarithmic", "1"),
                ("mpi_overhead.overhead", "x_zero", "2"),
                ("mpi_overhead.available", "logarithmic", "0"),
                ("mpi_overhead.available", "y_to", "100"),
                ("mpi_overhead.available", "y_from", "-10"),
                ("pingpong_latency.pingpong", "x_zero", "0"),
                ("syncbench.sync", "panel_log[1]", "0"),
                ("syncbench.sync", "panel_from[1]", "0")):
            self.assertEqual(self.setting(name, key), value, (name, key))

    def test_many_sizes_become_lines(self):
        rows = [row[:5] + [2 ** i] + row[6:] for i in range(5) for row in RATE_ROWS]
        self.write("result", "msgrate", tsv("msgrate", RATE, rows))
        rows = [["put", "all", "2x1x1", f"{n}x{n}x{n}", 6 * n * n, n, n, n, 1, "off",
                 "ok"] for n in (10, 20, 40, 80, 160)]
        self.write("result", "halo", tsv("halo", HALO, rows))
        self.plot("result")
        self.assertEqual([row[2:4] for row in self.table("msgrate.rate")[1]],
                         [["pre-post", str(2 ** i)] for i in range(5)])
        self.assertEqual([row[3] for row in self.table("halo.halo")[0]],
                         [str(48 * n * n) for n in (10, 20, 40, 80, 160)])
        self.assertIn("message size (bytes)", svg_texts(self.read("msgrate.svg")))


class Pictures(Scripts):
    def test_every_benchmark_in_both_formats(self):
        self.write_all("a & <b>'s \"c\"")
        self.assertEqual(self.plot("a & <b>'s \"c\"", formats="svg,png"), "")
        for name, (tables, titles, labels) in PICTURES.items():
            with self.subTest(picture=name):
                svg = self.read(name + ".svg")
                texts = svg_texts(svg)
                for text in titles + labels:
                    self.assertIn(text, texts)
                self.assertTrue([text for text in texts if text.startswith(
                    "a & <b>’s \"c\": 2 processes on 1 node, MPICH 4.0.2, one launch")],
                    texts)
                for table in tables:
                    self.assertTrue(self.table(f"{name}.{table}"))
                root = xml.dom.minidom.parseString(svg).documentElement
                with open(os.path.join(self.pictures, name + ".png"), "rb") as file:
                    head = file.read(24)
                self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
                self.assertEqual(struct.unpack(">II", head[16:24]),
                                 (int(root.getAttribute("width")),
                                  int(root.getAttribute("height"))))
        drawn = [name[:-4] for name in os.listdir(self.pictures)
                 if name.endswith(".svg")]
        self.assertEqual(sorted(drawn), sorted(PICTURES))

    def test_two_results(self):
        self.write_all("new one")
        self.write_all("old one")
        os.remove(os.path.join(self.folder, "old one", "halo.tsv"))
        self.assertIn("halo: not in the base", self.plot("new one", "old one"))
        for name in PICTURES:
            svg = self.read(name + ".svg")
            heads = [text for text in svg_texts(svg)
                     if text.startswith(("new one: 2 processes", "old one: 2 processes"))]
            self.assertEqual(len(heads), 1 if name == "halo" else 2, name)
            # The head's sample, and the base's lines.
            lines = svg.count("stroke-dasharray")
            if "x_from" in self.read(f"{name}.{PICTURES[name][0][0]}.set"):
                self.assertGreater(lines, 1, name)
            else:
                self.assertEqual(lines, 0, name)
                self.assertEqual(self.drawn(name + ".svg", 13) > 1, name != "halo", name)

    def test_zero_and_below_on_logarithmic_axes(self):
        rows = [list(row) for row in MPI_OVERHEAD_ROWS]
        rows[0][4] = -0.01
        rows[2][4] = 0
        self.write("result", "mpi_overhead", tsv("mpi_overhead", MPI_OVERHEAD, rows))
        rows = [list(row) for row in SYNC_ROWS]
        rows[0][5] = -0.5
        rows[1][5] = 900
        self.write("result", "syncbench", tsv("syncbench", SYNC, rows))
        self.plot("result")
        note = "Triangles at the end of a logarithmic axis: 0 or less, which it can't show ({})."
        self.assertIn(note.format(2), svg_texts(self.read("mpi_overhead.svg")))
        self.assertIn(note.format(1), svg_texts(self.read("syncbench.svg")))
        self.assertIn("-0.500", svg_texts(self.read("syncbench.svg")))
        self.assertEqual(self.setting("mpi_overhead.overhead", "logarithmic"), "1")
        self.assertEqual(self.table("mpi_overhead.overhead")[0][0][4], "-0.01")
        self.assertEqual(self.drawn("mpi_overhead.svg", 10), 2)
        self.assertEqual(self.drawn("syncbench.svg", 10), 1)

    def test_notes_in_the_picture(self):
        rows = [["s%d" % i, 1, 2, 1, 1, "NA" if i == 3 else i, 0.1, 1e6, "ok"]
                for i in range(1, 71)]
        self.write("result", "syncbench", tsv("syncbench", SYNC, rows))
        self.plot("result")
        texts = svg_texts(self.read("syncbench.svg"))
        for text in ("Bars: the interval of one launch. Launches differ by more. "
                     "At the edge: cut.",
                     "Not drawn, for they have no value (NA): 1 row.",
                     "Not drawn, to keep this legible: 9 more; the table has them."):
            self.assertIn(text, texts)

    def test_few_rows(self):
        for rows in (SWEEP_ROWS[:1], SWEEP_ROWS[1:2]):
            self.write("result", "x", tsv("overlap_iallreduce", OVERLAP, rows))
            self.assertEqual(self.plot("result"), "")
            self.assertEqual(len(self.table("overlap_iallreduce_sweep.time")), 1)
        self.write("result", "x", tsv("syncbench", SYNC, []))
        self.assertIn("nothing to draw", self.plot("result"))
        self.write("result", "x", tsv("syncbench", SYNC[:-4], [SYNC_ROWS[0][:-4]]))
        self.assertIn("no column sync_us", self.plot("result"))

    def test_labels_keep_apart(self):
        """Labels at the ends of lines that end together."""
        for change in (lambda n: n, lambda n: 2048 / n):
            rows = [["single", pattern, "all", 1, n, 1, n, n, change(n), "NA", "NA", 1,
                     "ok"] for pattern in ("put", "get", "MPI Send") for n in (1, 1024)]
            self.write("result", "pingpong", tsv("pingpong", PINGPONG, rows))
            self.plot("result")
            places = sorted(float(self.setting("pingpong_latency.pingpong",
                                               f"label_at[{i}]")) for i in (1, 2, 3))
            for lower, upper in zip(places, places[1:]):
                self.assertGreaterEqual(upper - lower, 0.0599)
            self.assertGreaterEqual(places[0], 0)
            self.assertLessEqual(places[-1], 1)


class Page(Scripts):
    def page(self, *results, environment=None):
        path = os.path.join(self.folder, "page.html")
        done = self.script("report.sh", f"--output={path}", *results,
                           environment=dict({"BENCH_COMPARE": "/nonexistent"},
                                            **(environment or {})))
        with open(path, encoding="utf-8") as file:
            self.html = file.read()
        self.assertTrue(self.html.startswith("<!DOCTYPE html>\n"))
        self.document = xml.dom.minidom.parseString(
            self.html.replace("<!DOCTYPE html>\n", "", 1).encode())
        return done

    def part(self, name):
        return next(node for node in self.document.getElementsByTagName("section")
                    if node.getAttribute("id") == name)

    def table_of(self, part):
        """Rows as dictionaries by data-column, of the last table of a part."""
        table = part.getElementsByTagName("table")[-1]
        head = [cell.getAttribute("data-column")
                for cell in table.getElementsByTagName("th")]
        rows = []
        for row in table.getElementsByTagName("tr")[1:]:
            cells = row.getElementsByTagName("td")
            self.assertEqual(len(cells), len(head))
            for name, cell in zip(head, cells):
                text = text_of(cell)
                if re.fullmatch(r"-?[0-9.]+", text):
                    self.assertIn("number", cell.getAttribute("class"), name)
            rows.append(dict(zip(head, map(text_of, cells))))
        return rows

    def test_self_contained(self):
        self.write_all("new & <x>")
        self.page("new & <x>")
        self.assertEqual(text_of(self.document.getElementsByTagName("h1")[0]),
                         "What communication costs: new & <x>")
        names = [node.getAttribute("id") for node in
                 self.document.getElementsByTagName("*") if node.getAttribute("id")]
        self.assertEqual(len(names), len(set(names)))
        for node in self.document.getElementsByTagName("*"):
            self.assertNotIn(node.tagName, ("script", "link", "img", "iframe"))
            for attribute in ("href", "xlink:href", "src"):
                value = node.getAttribute(attribute)
                self.assertTrue(value == "" or value[1:] in names, value)
            self.assertNotIn("url(", node.getAttribute("style"))
        self.assertEqual(len(self.document.getElementsByTagName("svg")), len(PICTURES))
        for link in self.document.getElementsByTagName("nav")[0] \
                .getElementsByTagName("a"):
            self.part(link.getAttribute("href")[1:])
        self.assertIn('A <fast> & "big" one', text_of(self.part("machine")))
        self.assertIn("2026-01-02 03:04:05+0000", text_of(self.part("machine")))

    def test_every_value_of_one_launch(self):
        self.write_all("new")
        self.page("new")
        for name, (_, columns, rows) in ALL.items():
            if name.startswith("overlap"):
                continue
            shown = self.table_of(self.part(name))
            self.assertEqual(len(shown), len(rows), name)
            for row, cells in zip(rows, shown):
                values = dict(zip(columns, map(str, row)))
                for column, text in cells.items():
                    if column.endswith(" range"):
                        low, high = self.ends(column.split()[0])
                        expected = f"{values[low]} to {values[high]}"
                        if values[low] == "NA":
                            expected = "NA"
                        if values[column.split()[0]] == "NA":
                            expected = ""
                    else:
                        expected = values[column]
                    self.assertEqual(text, expected, (name, row, column))
        shown = self.table_of(self.part("overlap"))
        self.assertEqual([(row["collective"], row["overlap_pct"], row["ref_us"],
                           row["size_bytes"]) for row in shown],
                         [("iallreduce", "50.5", "1024.5", "1048576"),
                          ("ibarrier", "0", "0.8", "0")])
        shown = self.table_of(self.part("overlap_sweeps"))
        self.assertEqual([(row["size_bytes"], row["overlap_pct"],
                           row["overlap_pct range"]) for row in shown],
                         [("8", "0", "0 to 100"), ("512", "30.12", "0 to 100"),
                          ("16384", "100", "0 to 100")])

    @staticmethod
    def ends(column):
        if column == "overhead":
            return "overhead_lo_us", "overhead_hi_us"
        if column == "avail(%)":
            return "avail_lo_pct", "avail_hi_pct"
        stem, unit = re.fullmatch(r"(.*?)((?:_per)?_[a-z]+)", column).groups()
        return f"{stem}_lo{unit}", f"{stem}_hi{unit}"

    def test_medians_of_launches_and_base(self):
        columns, rows = launches(MPI_OVERHEAD, MPI_OVERHEAD_ROWS, {
            "overhead": lambda value, run: round(value * (3, 1, 3)[run - 1], 3),
            "status": lambda value, run: "budget" if run == 2 else value})
        self.write("new", "mpi_overhead", tsv("mpi_overhead", columns, rows))
        self.write("old", "mpi_overhead", tsv(*ALL["mpi_overhead"]))
        self.page("new", "old")
        shown = self.table_of(self.part("mpi_overhead"))
        self.assertEqual(len(shown), len(MPI_OVERHEAD_ROWS))
        for row, cells in zip(MPI_OVERHEAD_ROWS, shown):
            found = [r[columns.index("overhead")] for r in rows
                     if r[1:4] == row[:3]]
            if "NA" in found:
                expected = ("NA", "")
            else:
                expected = (str(statistics.median(found)),
                            f"{min(found)} to {max(found)}")
            self.assertEqual((cells["overhead"], cells["overhead range"]), expected)
            self.assertEqual(cells["overhead base"], str(row[4]))
            self.assertEqual(cells["launches"], "3")
            self.assertEqual(sorted(cells["status"].split(", ")),
                             sorted({row[-1], "budget"}))
        self.assertIn("bench_compare was not found", text_of(self.part("comparison")))

    def test_long_tables_are_closed(self):
        rows = [["single", "put", "all", 1, n, 1, n, n, n, n, n, 1, "ok"]
                for n in range(1, 741)]
        self.write("new", "pingpong", tsv("pingpong", PINGPONG, rows))
        self.page("new")
        details = self.part("pingpong").getElementsByTagName("details")[0]
        self.assertEqual(text_of(details.getElementsByTagName("summary")[0]),
                         "Table: 740 rows")
        self.assertFalse(details.hasAttribute("open"))
        self.assertEqual([row["ndata"] for row in self.table_of(details)],
                         [str(n) for n in range(1, 741)])

    def test_warnings(self):
        for i in range(40):
            self.write("new", f"sync{i}", tsv("syncbench", SYNC, SYNC_ROWS, remarks=[
                f"warning: the rate <drifted> by {i}.5 %", "note: a & b",
                f"warning: run {i}: only once & for all"]))
        rows = [list(row) for row in HALO_ROWS]
        rows[0][-1] = "FAIL"
        self.write("new", "halo", tsv("halo", HALO, rows))
        self.page("new")
        part = self.part("warnings")
        shown = [text_of(item) for item in part.getElementsByTagName("li")]
        self.assertEqual(len(shown), 3, shown)
        self.assertTrue([text for text in shown if text.startswith("wrong data: ")
                         and text.endswith("halo")], shown)
        self.assertTrue([text for text in shown if "<drifted> by 0.5 %" in text and
                         "39 other numbers" in text and "28 more" in text], shown)
        self.assertTrue([text for text in shown
                         if text.startswith("only once & for all")], shown)
        self.assertLess(self.html.index("only once"), self.html.index("<nav>"))
        self.assertIn("a & b", text_of(self.part("machine")))
        self.write("quiet", "halo", tsv(*ALL["halo"]))
        self.page("quiet", "new")
        self.assertIn("sync0 (base)", text_of(self.part("warnings")))
        self.page("quiet")
        self.assertIn("No warnings", text_of(self.part("warnings")))

    def test_cut_off(self):
        """A result of schema 2 whose last line isn't its end."""
        whole = "# schema: 2\n" + tsv(*ALL["halo"]) + "# end: 9 rows, exit 0\n"
        for text, cut_off in ((whole, False), (whole + "# note: x\n", True),
                              (whole[:-60], True), (whole.replace("2", "1", 1)[:-60], False)):
            # Another one follows it.
            self.write("new", "halo", text)
            self.write("new", "zzz", whole)
            self.page("new")
            shown = text_of(self.part("warnings"))
            self.assertEqual("was cut off" in shown, cut_off, shown)
            self.assertEqual("halo" in shown, cut_off, shown)
            self.assertNotIn("zzz", shown)

    def test_without_gnuplot(self):
        tools = os.path.join(self.folder, "tools")
        os.makedirs(tools)
        for tool in ("sh awk sed grep cat cp mkdir mktemp rm basename dirname tr "
                     "env").split():
            os.symlink(shutil.which(tool), os.path.join(tools, tool))
        self.write_all("new")
        done = self.page("new", environment={"PATH": tools})
        self.assertIn("no gnuplot", done.stderr)
        self.assertIn("gnuplot is not installed", text_of(self.part("warnings")))
        self.assertEqual(self.document.getElementsByTagName("svg").length, 0)
        self.assertEqual(len(self.table_of(self.part("syncbench"))), len(SYNC_ROWS))
        self.assertIn("gnuplot-nox", self.script(
            "plot.sh", "new", status=1, environment={"PATH": tools}).stderr)

    def test_comparison(self):
        self.write("new", "syncbench", tsv("syncbench", SYNC, SYNC_ROWS))
        self.write("old", "syncbench", tsv("syncbench", SYNC, SYNC_ROWS))
        table = "\n".join(["# warning: <few> launches",
            "benchmark\tkeys\tquantity\tbase\tnew\tchange_pct\tchange_lo_pct\t"
            "change_hi_pct\tp_value\tverdict"] + [
            f"syncbench\t{key}\tsync_us\t1\t2\t{change}\t1\t2\t0.001\t{verdict}"
            for key, change, verdict in (
                ("a", 1.5, "same"), ("b", -30, "faster"), ("c", 12, "slower"),
                ("d<&>", 100, "slower"), ("e", 50, "can't tell"),
                ("f", "NA", "missing"))]) + "\n"
        compare = os.path.join(self.folder, "compare")
        with open(compare, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n[ \"$1 $2\" = 'old new' ] || exit 2\n"
                       f"cat <<'END'\n{table}END\nexit 1\n")
        os.chmod(compare, 0o755)
        self.page("new", "old", environment={"BENCH_COMPARE": compare})
        part = self.part("comparison")
        changed, others = part.getElementsByTagName("table")
        keys = [[text_of(row.getElementsByTagName("td")[1])
                 for row in rows.getElementsByTagName("tr")[1:]]
                for rows in (changed, others)]
        self.assertEqual(keys, [["d<&>", "c", "f", "b"], ["e", "a"]])
        verdicts = [text_of(node) for node in part.getElementsByTagName("span")]
        self.assertEqual(verdicts[0], "slower: 2")
        self.assertEqual(sorted(verdicts), ["can't tell: 1", "faster: 1", "missing: 1",
                                            "same: 1", "slower: 2"])
        self.assertIn("<few> launches", text_of(part))


if __name__ == "__main__":
    unittest.main()
