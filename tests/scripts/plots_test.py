# SPDX-License-Identifier: BSD-3-Clause
"""plot.sh and report.sh on results that are made by hand: gnuplot's data tables, the pictures and the page have exactly
the values of the TSV files."""

import os
import re
import shutil
import statistics
import struct
import sys
import xml.dom.minidom

from case import Case, call, each
from made_results import (ALL, GAIN, HALO_ROWS, LINKMAP, MPI_OVERHEAD, MPI_OVERHEAD_ROWS, OVERLAP, PINGPONG,
                          PINGPONG_ROWS, RATE, RATE_ROWS, SYNC, SYNC_ROWS, SWEEP_ROWS, MadeResults, gain_cells,
                          linkmap_row, text_of, tsv)
from pretended_suite import SCRIPTS

from commcost.report.question_sections import QUESTIONS
from commcost.result.benchmarks import BENCHMARKS

# By picture its tables and the titles of its axes.
PICTURES = {
    "overlap": (["overlap"], ["overlap (% of the operation’s own time)"]),
    "overlap_sizes": (["overlap"], ["overlap (% of the operation’s own time)", "size (bytes)"]),
    "mpi_overhead": (["overhead", "available"],
                     ["host overhead (µs)", "CPU availability (% of an iteration)", "size (bytes)"]),
    "msgrate": (["rate"], ["million messages per second and rank, sent and received"]),
    "msgrate_rma": (["rate"], ["million messages per second and rank, sent and received"]),
    "pingpong": (["latency", "bandwidth"], ["latency (µs)", "bandwidth (MB/s; MB = 2^20 bytes)", "size (bytes)"]),
    "pingpong_pieces": (["pieces"], ["latency of all pieces (µs)", "size of a piece (bytes)"]),
    "syncbench": (["sync"], ["time (µs)"]), "halo": (["halo"], ["time (µs)"]),
    "linkmap_time": (["nodes"], ["latency (µs)"]),
    "linkmap_out": (["nodes"], ["bandwidth out of the node (MB/s; MB = 2^20 bytes)"]),
    "linkmap_in": (["nodes"], ["bandwidth into the node (MB/s; MB = 2^20 bytes)"]),
    "monitor_overhead": (["added"], ["added time (ns)"]),
    "mpirtmon": (["operations"], ["time of all calls of all ranks (s)"]),
}


class PlotsCase(Case):
    """A folder of hand-made results."""

    def setUp(self):
        super().setUp()
        self.results = MadeResults(self.folder)


def launches(columns, rows, changes):
    """The rows of several launches with a first column run; changes are pairs of a column and a
    function of value and launch."""
    result = []
    for run in range(1, 4):
        for row in rows:
            cells = dict(zip(columns, row))
            for column, change in changes.items():
                if cells[column] != "NA":
                    cells[column] = change(cells[column], run)
            result.append([run] + [cells[column] for column in columns])
    return ["run"] + columns, result


def svg_texts(svg):
    document = xml.dom.minidom.parseString(svg)
    return [text_of(node) for node in document.getElementsByTagName("text")]


class Usage(PlotsCase):
    @each("script", ["plot.sh", "report.sh"])
    def test_usage(self, script):
        result = self.results.add("result", "syncbench")
        for arguments, named in (([], ""), (["--nonsense", result], ""), ([result] * 2, "--base="),
                                 (["nowhere"], "nowhere"), (["--format=pdf", result], "")):
            done = self.results.script(script, *arguments, status=2)
            assert done.stdout == ""
            assert re.search(rf"^{re.escape(script)}: [^\n]+\n$", done.stderr)
            assert named in done.stderr
        assert "Usage: " + script in self.results.script(script, "--help").stdout

    def test_nothing_to_draw(self):
        (self.results.folder / "empty").mkdir()
        for script in ("plot.sh", "report.sh"):
            assert "no results" in self.results.script(script, "empty", status=2).stderr
        self.results.write("other", "x", "not\ta\tresult\n1\t2\t3\n")
        assert "no results" in self.results.script("plot.sh", "other", status=2).stderr
        self.results.add("other", "syncbench")
        assert "other/x.tsv: line 1: no '# columns:' before the first row: write the result with" in self.results.script(
            "plot.sh", "other").stderr

    def test_default_places(self):
        path = self.results.add("result", "syncbench")
        self.results.script("plot.sh", "result")
        self.results.script("report.sh", "result")
        self.results.script("plot.sh", "result/syncbench.tsv")
        for name in ("pictures/syncbench.svg", "pictures/syncbench.png", "report.html",
                     "syncbench.svg"):
            assert os.path.exists(os.path.join(path, name)), name

    def test_pipe(self):
        """There is nothing beside it to put a picture or page."""
        self.results.add("new", "halo")
        for name, output in (("plot.sh", "made"), ("report.sh", "made.html")):
            for option, status in (("", 2), (f"--output={output}", 0)):
                done = call(["sh", "-c", f"cat new/halo.tsv | sh '{SCRIPTS}/{name}' /dev/stdin {option}"],
                            cwd=self.results.folder)
                assert done.returncode == status, done.stderr
                assert status == 0 or done.stderr.endswith("use --output\n")
        assert os.path.exists(self.results.folder / "made.html")
        # A device is not replaced.
        self.results.script("report.sh", "--output=/dev/null", "new")
        assert not os.path.isfile("/dev/null")

    def test_names_among_options(self):
        for name in ("new", "old"):
            self.results.add(name, "halo")
        self.results.script("report.sh", "new", "--output=made.html", "--base=old")
        assert self.results.script("report.sh", "new", "--outptu=made.html", status=2).stderr == (
            "report.sh: --outptu: no such option: see --help\n")
        assert "\nhalo\told\t" in self.results.script("summarize.sh", "new", "--wide", "old").stdout

    def test_failed_launches(self):
        """Those of a suite's record that weren't measured again."""
        path = self.results.folder / self.results.add("new", "halo")
        (path / "suite").mkdir()
        (path / "suite/launches.tsv").write_text(
            "run\tname\tstart\tseconds\texit\tresult\n1\tring@2\tx\t3\t1\tfailed\n"
            "2\tring@2\tx\t3\t1\tfailed\n1\thalo\tx\t3\t1\tfailed\n1\thalo\tx\t3\t0\tdone\n")
        shown = Html(self.results, "new").text_of("warnings")
        assert "ring@2: 2 launches failed and are missing here" in shown
        assert "halo: " not in shown


class Tables(PlotsCase):
    """gnuplot's input."""

    def test_one_launch(self):
        self.results.add("result", "mpi_overhead")
        self.results.plot("result")
        assert self.results.table("mpi_overhead.overhead") == [
            ["new||send|0|0.042|0.041|0.043|1|1", "new||send|8|0.045|0.044|0.046|1|1",
             "new||send|1048576|0.261|0.25|0.271|1|1"],
            ["new||recv|0|0.18|0.17|0.19|1|2", "new||recv|1048576|73.5|73|74|1|2"]]
        assert self.results.setting("mpi_overhead.overhead", "missing") == "1"
        assert self.results.table("mpi_overhead.available", 3, 4, 5, 6)[1] == ["0|-2.3|-5|0",
                                                                               "1048576|-0.1|-1|1"]

    def test_order_and_line_ends(self):
        self.results.write("result", "a", tsv(*ALL["mpi_overhead"]))
        self.results.plot("result")
        expected = self.results.read("mpi_overhead.overhead.tsv")
        columns = ["extra"] + MPI_OVERHEAD[::-1]
        rows = [["7"] + row[::-1] for row in sorted(MPI_OVERHEAD_ROWS, key=lambda row: -row[2])]
        self.results.write("other", "b", tsv("mpi_overhead", columns, rows, line_end="\r\n"))
        self.results.plot("other")
        assert self.results.read("mpi_overhead.overhead.tsv") == expected

    def test_launches(self):
        columns, rows = launches(SYNC, SYNC_ROWS, {
            "sync_us": lambda value, run: value * (1, 100, 1.5)[run - 1]})
        rows = [row for row in rows if not (row[0] == 3 and row[1] == "ring" and row[2] == 4)]
        self.results.write("result", "syncbench", tsv("syncbench", columns, rows))
        self.results.plot("result")
        assert self.results.table("syncbench.sync") == [
            ["new||sync all|1|1.5|1.0|100.0|3|1", "new||ring, 2 neighbours|2|0.75|0.5|50.0|3|2",
             "new||ring, 4 neighbours|3|40.4|0.8|80.0|2|3", "new||a<&>b|4|2.25|1.5|150.0|3|4"]]

    def test_two_results(self):
        self.results.add("result", "syncbench", rows=SYNC_ROWS[:2])
        self.results.add("base", "syncbench", rows=SYNC_ROWS[1:3])
        self.results.plot("result", "--base=base")
        assert self.results.table("syncbench.sync", 0, 2, 3, 4) == [
            ["new|sync all|1|1.0", "new|ring, 2 neighbours|2|0.5"],
            ["base|ring, 2 neighbours|2|0.5", "base|ring, 4 neighbours|3|0.8"]]
        assert [self.results.setting("syncbench.sync", f"dot_text[{i}]") for i in (1, 2, 3)] == [
            "'1.00 (none)'", "'0.500 (0.500)'", "'none (0.800)'"]

    def test_pingpong(self):
        self.results.add("result", "pingpong")
        self.results.plot("result")
        assert self.results.table("pingpong.latency", 2, 3, 4, 5, 6) == [
            ["put + barrier|8|2|1.0|4", "put + barrier|32768|16|8.0|32"],
            ["put + notification|8|1|0.5|2", "put + notification|32768|8|4.0|16"],
            ["get|8|3|1.5|6", "get|32768|24|12.0|48"],
            ["MPI_Send|8|0.5|0.25|1.0", "MPI_Send|32768|4.0|2.0|8.0"]]
        assert self.results.table("pingpong_pieces.pieces", 2, 3, 4)[0] == [
            "many put|8|64.0", "many put|512|1.0", "many put|32768|0.015625"]

    def test_wrong_data_is_not_drawn(self):
        self.results.add("result", "syncbench", rows=[[*row[:-1], "FAIL" if row[0] == "ring" else "ok"]
                                                      for row in SYNC_ROWS])
        self.results.plot("result")
        assert self.results.table("syncbench.sync", 2)[0] == ["sync all", "a<&>b"]

    def test_scaled_rates_and_panels(self):
        self.results.add("result", *ALL)
        self.results.plot("result")
        panel = "messages of 8 bytes, 128 to each peer, peers: 1"
        assert self.results.table("msgrate.rate", 1, 2, 3, 4, 5, 6)[0] == [
            panel + "|single direction|1|6.4718153|6.2964029|6.7343371",
            panel + "|pre-post|2|5.9022805|5.8163222|5.9780865"]
        methods = (("put + barrier", 1.5), ("put + notification", 1.25), ("persistent", 1.0))
        assert self.results.table("halo.halo", 1, 2, 3, 4) == [
            [f"box of {n}x{n}x{n} doubles|{label}|{i + 1}|{n * factor}"
             for i, (label, factor) in enumerate(methods)] for n in (10, 50)]
        assert self.results.table("overlap.overlap", 2, 3, 4)[0] == ["iallreduce|1|50.5",
                                                                     "ibarrier|2|0"]
        assert self.results.table("overlap_sizes.overlap", 3, 4, 5, 6)[0] == [
            "8|0|0|100", "512|30.12|0|100", "16384|100|0|100"]
        assert self.results.table("monitor_overhead.added", 1, 2, 3, 4) == [
            ["monitor off|MPI_Send|1|1.32"], ["monitor on|MPI_Send|1|32.8"]]
        assert self.results.table("mpirtmon.operations", 1, 2, 3, 4) == [
            ["pttopt operations|MPI_Isend|1|0.002", "pttopt operations|MPI_Irecv|2|0.021"],
            ["coll operations|MPI_Allreduce|1|0.0011"]]

    def test_slowest_nodes_come_first(self):
        self.results.add("result", "linkmap")
        self.results.plot("result")
        assert self.results.table("linkmap_time.nodes", 1, 2, 3, 4, 5, 6)[0] == [
            f"messages of 8 bytes|{name}|{row}|{time}|{time / 2}|{time * 2}"
            for row, (name, time) in enumerate((("n2", 3.0), ("n0", 2.5), ("n1", 2.0)), 1)]
        assert self.results.table("linkmap_out.nodes", 2, 4)[0] == ["n1|8000", "n2|8500", "n0|9000"]
        # Rows of another size have no time, and aren't missing.
        assert self.results.setting("linkmap_time.nodes", "missing") == "0"

    def test_sizes_in_their_order(self):
        """Nodes are sorted by their times, panels aren't."""
        rows = [linkmap_row("node", (f"n{i}", "NA"), size, time * (1 + i))
                for size, time in ((8, 2.0), (64, 5.0), (1024, 9.0)) for i in range(2)]
        self.results.write("result", "linkmap", tsv("linkmap", LINKMAP, rows))
        self.results.plot("result")
        texts = svg_texts(self.results.read("linkmap_time.svg"))
        panels = [text for text in texts if text.startswith("messages of ")]
        assert panels == [f"messages of {size} bytes" for size in (8, 64, 1024)]

    def test_axes(self):
        """Logarithmic where the range asks for it, 0 on a size axis apart."""
        self.results.add("result", *ALL)
        self.results.plot("result")
        for name, key, value in (("mpi_overhead.overhead", "logarithmic", "1"),
                                 ("mpi_overhead.overhead", "x_zero", "2"),
                                 ("mpi_overhead.available", "logarithmic", "0"),
                                 ("mpi_overhead.available", "y_to", "100"),
                                 ("mpi_overhead.available", "y_from", "-10"),
                                 ("pingpong.latency", "x_zero", "0"),
                                 ("syncbench.sync", "panel_log[1]", "0"),
                                 ("syncbench.sync", "panel_from[1]", "0")):
            assert self.results.setting(name, key) == value, (name, key)

    def test_many_sizes_become_lines(self):
        self.results.add("result", "msgrate",
                         rows=[row[:5] + [2 ** i] + row[6:] for i in range(5) for row in RATE_ROWS])
        sizes = (10, 20, 40, 80, 160)
        self.results.add("result", "halo", rows=[["put", "all", "2x1x1", f"{n}x{n}x{n}", 6 * n * n, n, n,
                                                  n, 1, "off", "ok"] for n in sizes])
        self.results.plot("result")
        assert self.results.table("msgrate.rate", 2, 3)[1] == [f"pre-post|{2 ** i}" for i in range(5)]
        assert self.results.table("halo.halo", 3)[0] == [str(48 * n * n) for n in sizes]
        assert "messages per second and rank" in svg_texts(self.results.read("msgrate.svg"))


class Pictures(PlotsCase):
    def test_every_benchmark_in_both_formats(self):
        self.results.add("a & <b>'s \"c\"", *ALL)
        assert self.results.plot("a & <b>'s \"c\"", formats="svg,png") == ""
        head = "a & <b>’s \"c\": 2 ranks on 1 node, MPICH 4.0.2, one launch"
        for name, (tables, titles) in PICTURES.items():
            svg = self.results.read(name + ".svg")
            texts = svg_texts(svg)
            assert set(titles) <= set(texts), name
            assert any(text.startswith(head) for text in texts), (name, texts)
            for table in tables:
                assert self.results.table(f"{name}.{table}")
            root = xml.dom.minidom.parseString(svg).documentElement
            png = (self.results.pictures / (name + ".png")).read_bytes()[:24]
            assert png[:8] == b"\x89PNG\r\n\x1a\n", name
            assert struct.unpack(">II", png[16:24]) == (int(root.getAttribute("width")),
                                                        int(root.getAttribute("height"))), name
        assert {path.stem for path in self.results.pictures.glob("*.svg")} == set(PICTURES)

    def test_two_results(self):
        self.results.add("new one", *ALL)
        self.results.add("old one", *ALL)
        os.remove(self.results.folder / "old one/halo.tsv")
        assert "halo: not in the base" in self.results.plot("new one", "--base=old one")
        for name in PICTURES:
            svg = self.results.read(name + ".svg")
            heads = [text for text in svg_texts(svg)
                     if text.startswith(("new one: 2 ranks", "old one: 2 ranks"))]
            without_base = name == "halo"
            assert len(heads) == (1 if without_base else 2), name
            # The head's sample, and the base's lines.
            lines = svg.count("stroke-dasharray")
            if "x_from" in self.results.read(f"{name}.{PICTURES[name][0][0]}.set"):
                assert lines > 1, name
            else:
                assert lines == 0, name
                assert (self.results.drawn(name + ".svg", 13) > 1) == (not without_base), name

    def test_zero_and_below_on_logarithmic_axes(self):
        rows = [list(row) for row in MPI_OVERHEAD_ROWS]
        rows[0][4] = -0.01
        rows[2][4] = 0
        self.results.add("result", "mpi_overhead", rows=rows)
        rows = [list(row) for row in SYNC_ROWS]
        rows[0][5] = -0.5
        rows[1][5] = 900
        self.results.add("result", "syncbench", rows=rows)
        self.results.plot("result")
        note = "Open triangles at the end of a logarithmic axis: values of 0 or less ({})."
        assert note.format(2) in svg_texts(self.results.read("mpi_overhead.svg"))
        assert note.format(1) in svg_texts(self.results.read("syncbench.svg"))
        assert "-0.500" in svg_texts(self.results.read("syncbench.svg"))
        assert self.results.setting("mpi_overhead.overhead", "logarithmic") == "1"
        assert self.results.table("mpi_overhead.overhead", 4)[0][0] == "-0.01"
        assert self.results.drawn("mpi_overhead.svg", 10) == 2
        assert self.results.drawn("syncbench.svg", 10) == 1

    def test_notes_in_the_picture(self):
        self.results.add("result", "syncbench",
                         rows=[[f"s{i}", 1, 2, 1, 1, "NA" if i == 3 else i, 0.1, 1e6, "ok"]
                               for i in range(1, 71)])
        self.results.plot("result")
        texts = svg_texts(self.results.read("syncbench.svg"))
        for text in ("Bars: the interval of one launch. Launches differ by more.",
                     "A bar that touches the frame continues beyond it.",
                     "Not drawn: 1 row without a value (NA).",
                     "Not drawn: 9 more, in the table."):
            assert text in texts

    def test_few_rows(self):
        for rows in (SWEEP_ROWS[:1], SWEEP_ROWS[1:2]):
            self.results.write("result", "x", tsv("overlap_iallreduce", OVERLAP, rows))
            assert self.results.plot("result") == ""
            assert len(self.results.table("overlap_sizes.overlap")) == 1
        self.results.write("result", "x", tsv("syncbench", SYNC, []))
        assert "nothing to draw" in self.results.plot("result")
        self.results.write("result", "x", tsv("syncbench", SYNC[:-4], [SYNC_ROWS[0][:-4]]))
        assert "no column sync_us" in self.results.plot("result")

    def test_labels_keep_apart(self):
        """Labels at the ends of lines that end together."""
        for change in (lambda n: n, lambda n: 2048 / n):
            self.results.add("result", "pingpong",
                             rows=[["single", pattern, "all", 1, n, 1, n, n, change(n), "NA", "NA", 1,
                                    "ok"] for pattern in ("put", "get", "MPI Send") for n in (1, 1024)])
            self.results.plot("result")
            places = sorted(float(self.results.setting("pingpong.latency", f"label_at[{i}]"))
                            for i in (1, 2, 3))
            for lower, upper in zip(places, places[1:]):
                assert upper - lower >= 0.0599
            assert places[0] >= 0
            assert places[-1] <= 1


class Gains(PlotsCase):
    """Pictures and tables of what going non-blocking gains."""

    @staticmethod
    def add(results, name, rows, threshold=2):
        metadata = {"threshold": threshold} if threshold is not None else {}
        results.write("result", name, tsv("overlap_iallreduce", GAIN,
                                          [[row[column] for column in GAIN] for row in rows],
                                          metadata=metadata))

    def test_over_size(self):
        """A line a form; rows without a value are counted."""
        self.add(self.results, "x", [gain_cells(8, 10, 20), gain_cells(1024, 100, 50),
                                     gain_cells(8, 10, 5, form="persistent"),
                                     gain_cells(1024, None, 50, form="persistent")])
        self.results.plot("result")
        assert self.results.table("overlap_gain_sizes.gain") == [
            ["new||iallreduce, nonblocking|8|-100.0|-105.0|-95.0|1|1",
             "new||iallreduce, nonblocking|1024|50.0|49.5|50.5|1|1"],
            ["new||iallreduce, persistent|8|50.0|45.0|55.0|1|2"]]
        texts = svg_texts(self.results.read("overlap_gain_sizes.svg"))
        assert {"Gain of non-blocking calls, with enough work",
                "gain (% of the blocking call’s time)", "size (bytes)",
                "Not drawn: 1 row without a value (NA)."} <= set(texts)

    @each("threshold, lines", [
        (2, ["0", "-2", "2"]), ("2.5 %", ["0", "-2.5", "2.5"]), (None, ["0"]), (0, ["0"]),
        (500, ["0"])])
    def test_lines(self, threshold, lines):
        """At 0, and at the threshold where it is known."""
        rows = [gain_cells(8, 10, 9, model=model) for model in ("data", "time")]
        self.add(self.results, "x", rows[:1], threshold)
        self.add(self.results, "y", rows[1:], threshold)
        assert self.results.plot("result") == ""
        for name in ("overlap_gain_sizes.gain", "overlap_gain.gain"):
            assert self.results.setting(name, "levels") == str(len(lines))
            assert [self.results.setting(name, f"level[{place}]")
                    for place in range(1, len(lines) + 1)] == lines

    @each("exposed_us, axis, beyond", [
        (9.9, ("-10", "10"), 0), (13, ("-40", "10"), 0), (1, ("-10", "100"), 0),
        (30, ("-100", "10"), 1)])
    def test_axis(self, exposed_us, axis, beyond):
        """0 is on it; what is more than twice as slow is off it."""
        self.add(self.results, "x", [gain_cells(8, 10, exposed_us)])
        self.add(self.results, "y", [gain_cells(8, 10, exposed_us, model="time")])
        self.results.plot("result")
        name = "overlap_gain_sizes.gain"
        assert (self.results.setting(name, "y_from"), self.results.setting(name, "y_to")) == axis
        assert self.results.setting("overlap_gain.gain", "panel_from[1]") == axis[0]
        assert self.results.setting("overlap_gain.gain", "panel_to[1]") == axis[1]
        for picture in ("overlap_gain_sizes", "overlap_gain"):
            assert self.results.setting(f"{picture}.gain", "beyond") == str(beyond)
            assert self.results.drawn(f"{picture}.svg", 10) == beyond

    def test_operations(self):
        """A row of dots each, time-driven."""
        self.add(self.results, "x", [gain_cells(8, 10, 5, model="time")])
        self.add(self.results, "y", [
            gain_cells(8, 10, exposed_us, model="time", collective="ibcast", form=form, test_calls=calls)
            for form, calls, exposed_us in (("nonblocking", 0, 9), ("persistent", 0, 8), ("nonblocking", 4, 7))])
        self.results.plot("result")
        labels = ("iallreduce", "ibcast, nonblocking, no MPI_Test", "ibcast, persistent, no MPI_Test",
                  "ibcast, nonblocking, MPI_Test: 4")
        assert self.results.table("overlap_gain.gain", 2, 4) == [[
            f"{label}|{gain}" for label, gain in zip(labels, ("50.0", "10.0", "20.0", "30.0"))]]
        assert self.results.table("overlap.overlap", 2, 4) == [[f"{label}|50" for label in labels]]

    def test_many_operations(self):
        """Common ones are drawn, those that are called usually first."""
        names = [f"i{letter}" for letter in "abcdefgh"] + ["isend", "iallreduce"]
        self.add(self.results, "x", [gain_cells(8, 10, 5, collective=name, form=form)
                                     for name in names for form in ("persistent", "nonblocking")])
        self.results.plot("result")
        blocks = self.results.table("overlap_gain_sizes.gain", 2)
        assert [block[0] for block in blocks][:3] == ["iallreduce, nonblocking", "isend, nonblocking",
                                                      "ia, nonblocking"]
        assert len(blocks) == 8
        assert self.results.setting("overlap_gain_sizes.gain", "left_out") == "12"

    def test_halo(self):
        """A line for each method."""
        columns = GAIN[:4] + ["method", "local"] + GAIN[4:]
        rows = [gain_cells(48 * edge * edge, 10, exposed_us, collective="halo", method=method,
                           local=f"{edge}x{edge}x{edge}")
                for edge in (10, 50) for method, exposed_us in (("packed", 5), ("persistent", 4))]
        self.results.write("result", "x", tsv("overlap_halo", columns,
                                              [[row[column] for column in columns] for row in rows]))
        self.results.plot("result")
        assert self.results.table("overlap_gain_sizes.gain", 2, 3, 4) == [
            ["halo, packed|4800|50.0", "halo, packed|120000|50.0"],
            ["halo, persistent|4800|60.0", "halo, persistent|120000|60.0"]]


class Html:
    """The page that report.sh makes of results."""

    def __init__(self, results, *names, environment=None):
        path = results.folder / "page.html"
        self.said = results.script("report.sh", f"--output={path}", *names,
                                   environment=environment).stderr
        self.text = path.read_text(encoding="utf-8")
        assert self.text.startswith("<!DOCTYPE html>\n")
        self.document = xml.dom.minidom.parseString(self.text.split("\n", 1)[1].encode())

    def part(self, name):
        """A section, or what is closed in one."""
        return next(node for tag in ("section", "details") for node in self.document.getElementsByTagName(tag)
                    if node.getAttribute("id") == name)

    def text_of(self, name):
        return text_of(self.part(name))

    @staticmethod
    def cells_of(part):
        """The texts of the first table of a part, without its heading."""
        rows = part.getElementsByTagName("tbody")[0].getElementsByTagName("tr")
        return [list(map(text_of, row.childNodes)) for row in rows]

    def rows_of(self, part, *columns):
        """Rows as dictionaries by data-column, of the last table of a part; with columns, as tuples
        of their cells."""
        head, *rows = (row.childNodes for row in part.getElementsByTagName("table")[-1].getElementsByTagName("tr"))
        head = [cell.getAttribute("data-column") for cell in head]
        for cells in rows:
            assert len(cells) == len(head)
            for name, cell in zip(head, cells):
                assert cell.tagName == "td" or not re.fullmatch(r"-?[0-9.]+", text_of(cell)), name
        rows = [dict(zip(head, map(text_of, cells))) for cells in rows]
        return [tuple(row[name] for name in columns) for row in rows] if columns else rows


class Matrices(PlotsCase):
    """The matrix of each question, of launches whose answers are known."""

    def add(self, name, benchmark, columns, rows_of_run, runs=6):
        rows = [[run, *row] for run in range(1, runs + 1) for row in rows_of_run(run)]
        self.results.write("new", name, tsv(benchmark, ["run", *columns], rows))

    def shown(self, question):
        page = Html(self.results, "new")
        return page.cells_of(page.part(question)), page

    def add_gains(self, runs):
        exposed_us = {8: lambda run: 5 + run / 100, 64: lambda run: 10 + run / 1000, 1024: lambda run: 13,
                      8192: lambda run: 8 + 4 * (run % 2)}
        for name, columns in (("iallreduce", GAIN), ("ibcast", GAIN)):
            self.add(name, f"overlap_{name}", columns, lambda run: [
                [cells[column] for column in columns] for cells in (
                    gain_cells(size, 10, exposed_us[size](run), collective=name) for size in exposed_us
                    if name == "iallreduce" or size < 100)], runs)

    def test_gains(self):
        self.add_gains(6)
        rows, page = self.shown("nonblocking")
        assert rows == [["iallreduce", "F 50", "E", "S -30", "?"], ["ibcast", "F 50", "E", "", ""]]
        cells = page.part("nonblocking").getElementsByTagName("tbody")[0].getElementsByTagName("tr")[0].childNodes
        assert [cell.getAttribute("class") for cell in cells] == ["", "pays", "even", "loses", "unclear"]
        # Each leads to its row.
        link = cells[3].getElementsByTagName("a")[0].getAttribute("href")[1:]
        row = next(node for node in page.document.getElementsByTagName("tr") if node.getAttribute("id") == link)
        assert "1024" in map(text_of, row.childNodes)

    def test_few_launches(self):
        self.add_gains(5)
        page = Html(self.results, "new")
        assert "Gains are not clear with fewer than 6 launches." in page.text_of("nonblocking")
        tables = page.part("nonblocking").getElementsByTagName("table")
        assert len(tables) == 1  # the rows

    def test_settings(self):
        """Where they vary there is no matrix: its cells would have one of them."""
        self.add("x", "syncbench", ["setting", *SYNC], lambda run: [
            [name, *row] for name in ("A=0", "A=1") for row in SYNC_ROWS])
        page = Html(self.results, "new")
        assert len(page.part("synchronisation").getElementsByTagName("table")) == 1  # the rows

    def test_what_tells_rows_apart(self):
        """Is in their names."""
        self.add("x", "msgrate", RATE, lambda run: [[*row[:1], ranks, *row[2:]] for row in RATE_ROWS for ranks in (2, 4)])
        rows, _ = self.shown("rates")
        assert [row[0] for row in rows] == [f"{row[0]}, {ranks} ranks, cold caches" for row in RATE_ROWS
                                            for ranks in (2, 4)]

    def test_many_sizes(self):
        """Marks have no numbers."""
        self.add("x", "overlap_iallreduce", GAIN, lambda run: [
            [cells[column] for column in GAIN] for cells in (gain_cells(8 << place, 10, 5) for place in range(11))])
        rows, _ = self.shown("nonblocking")
        assert rows == [["iallreduce", *["F"] * 11]]

    def test_what_noise_hides(self):
        """A time below 0 without an interval; one with 0 in its interval; shares beyond 0 and 100 %."""
        both = {"direction": "send", "pair": 0}
        self.add("x", "mpi_overhead", MPI_OVERHEAD, lambda run: [
            [cells.get(column, "NA") for column in MPI_OVERHEAD] for cells in (
                {**both, "msgsize": 8, "overhead": -36, "avail(%)": -500},
                {**both, "msgsize": 64, "overhead": 0.2, "overhead_lo_us": -0.1, "overhead_hi_us": 0.4, "avail(%)": 120})], 1)
        rows, _ = self.shown("host_overhead")
        assert rows == [["send: host overhead (µs)", "?", "< 0.5"], ["send: CPU availability (%)", "0", "100"]]

    def test_times_against_a_usual_way(self):
        times = {("put", "all"): lambda run: 2 + run / 1000, ("put", "images"): lambda run: 1.01 + run / 1000,
                 ("get", "all"): lambda run: 0.5 + run / 1000, ("get", "images"): lambda run: run / 3,
                 ("MPI Send", "none"): lambda run: 1 + run / 1000}
        self.add("x", "pingpong", PINGPONG, lambda run: [
            ["single", *way, 1, 1, 1, 1, 1, time(run), 0.1, 9, 1, "ok"] for way, time in times.items()])
        rows, page = self.shown("messages")
        assert "Times in µs. Against MPI_Send: F faster, E even, S slower, ? not clear" in page.text_of("messages")
        assert "N not" not in page.text_of("messages")
        assert rows == [["MPI_Send", "1.00"], ["put + barrier", "S 2.00"], ["put + notification", "E 1.01"],
                        ["get + barrier", "F 0.504"], ["get + notification", "? 1.2"]]

    def test_even_or_loses(self):
        """A letter of its own, which the legend has where it occurs."""
        times = {"put": lambda run: 1.04 + run / 20, "MPI Send": lambda run: 1}
        self.add("x", "pingpong", PINGPONG, lambda run: [
            ["single", way, "none", 1, 1, 1, 1, 1, time(run), 0.1, 9, 1, "ok"] for way, time in times.items()])
        rows, page = self.shown("messages")
        assert "S slower, N not faster, perhaps slower, ? not clear" in page.text_of("messages")
        assert rows[1][0] == "put" and rows[1][1].startswith("N "), rows

    def test_only_the_usual_way(self):
        """There is nothing to compare it with."""
        self.results.add("new", "pingpong", rows=[row for row in PINGPONG_ROWS if row[1] == "MPI Send"])
        rows, page = self.shown("messages")
        assert rows == [["MPI_Send", "0.50", "4.0"]]
        assert "Against" not in page.text_of("messages")

    def test_numbers(self):
        """Without letters; every other column where there are many, and what may be noise is no number."""
        self.add("x", "mpi_overhead", MPI_OVERHEAD, lambda run: [
            ["send", 0, 1 << place, 9, (run - 3) / 10 if place == 11 else 2 + run / 1000, 80 + run / 100,
             *[1] * 7, 9, "ok"] for place in range(12)])
        page = Html(self.results, "new")
        table = page.part("host_overhead").getElementsByTagName("table")[0]
        assert [text_of(cell) for cell in table.getElementsByTagName("tr")[0].childNodes] == [
            "message / bytes", "2", "8", "32", "128", "512", "2K"]
        assert page.cells_of(page.part("host_overhead")) == [
            ["send: host overhead (µs)", *["2.00"] * 5, "< 0.5"],
            ["send: CPU availability (%)", *["80.0"] * 6]]


def ends_of_interval(column):
    """The columns that have the interval of a column."""
    if column == "overhead":
        return "overhead_lo_us", "overhead_hi_us"
    if column == "avail(%)":
        return "avail_lo_pct", "avail_hi_pct"
    stem, unit = re.fullmatch(r"(.*?)((?:_per)?_[a-z]+)", column).groups()
    return f"{stem}_lo{unit}", f"{stem}_hi{unit}"


def sync_result(rows, columns=SYNC, **metadata):
    """A result of syncbench that can be compared."""
    roles = {"run": "key", "sync": "key", "neighbours": "key", "ranks": "key", "sync_us": "less"}
    return tsv("syncbench", columns, rows, metadata={
        "columns": " ".join(f"{name}={roles.get(name, 'info')}" for name in columns), **metadata})


class Page(PlotsCase):
    def test_self_contained(self):
        self.results.add("new & <x>", *ALL)
        page = Html(self.results, "new & <x>")
        title = page.document.getElementsByTagName("h1")[0]
        assert text_of(title) == "Communication costs: new & <x>"
        nodes = page.document.getElementsByTagName("*")
        names = [node.getAttribute("id") for node in nodes if node.getAttribute("id")]
        assert len(names) == len(set(names))
        for node in nodes:
            assert node.tagName not in ("script", "link", "img", "iframe")
            for attribute in ("href", "xlink:href", "src"):
                value = node.getAttribute(attribute)
                assert value == "" or value[1:] in names, value
            assert "url(" not in node.getAttribute("style")
        for link in page.document.getElementsByTagName("nav")[0].getElementsByTagName("a"):
            page.part(link.getAttribute("href")[1:])
        assert 'A <fast> & "big" one' in page.text_of("machine")
        assert "2026-01-02 03:04:05+0000" in page.text_of("machine")

    def test_every_kind_of_result(self):
        """The tables of guidelines are in the section of collectives; each kind of result has a section."""
        columns = ["alternative", "operation", "size_bytes", "time_us", "time_lo_us", "time_hi_us", "alternative_us",
                   "slower_pct", "slower_lo_pct", "slower_hi_pct", "guideline"]
        rows = [["scatter+allgather", "bcast", size, 30, 29, 31, 10, 200, 190, 210, "violated"] for size in (8, 1024)]
        self.results.write("new", "guidelines", tsv("collective", columns, rows))
        page = Html(self.results, "new")
        found = page.rows_of(page.part("collectives"), "size_bytes", "time_us", "alternative_us", "slower_pct")
        assert found == [(size, "30", "10", "200") for size in ("8", "1024")]
        assert {kind for question in QUESTIONS for kind in question.groups} == set(BENCHMARKS)

    def test_size(self):
        """The size of a page of six launches with the rows of quickstart.sh --all."""
        for name, key, count in (("mpi_overhead", "msgsize", 46), ("pingpong", "ndata", 36), ("syncbench", "sync", 11),
                                 ("halo", "method", 27), ("msgrate", "nbytes", 68), ("monitor_overhead", "call", 26)):
            benchmark, columns, rows = ALL[name]
            several = [dict(zip(columns, rows[number % len(rows)])) for number in range(count)]
            for number, cells in enumerate(several):
                cells.update({column: 123.456 + number for column in columns if isinstance(cells[column], float)})
                cells[key] = number if isinstance(cells[key], int) else f"{cells[key]} {number}"
            self.results.write("new", name, tsv(benchmark, ["run", *columns], [
                [run, *(cells[column] for column in columns)] for run in range(1, 7) for cells in several]))
        for number in range(26):
            cells = [gain_cells(8 << place, 123.456, 61.234 + place, 4.321, collective=f"collective_{number}")
                     for place in range(18)]
            self.results.write("new", f"sweep{number}", tsv(f"overlap_{number}", ["run", *GAIN], [
                [run, *(row[column] for column in GAIN)] for run in range(1, 7) for row in cells]))
        page = Html(self.results, "new")
        assert len(page.document.getElementsByTagName("tr")) > 700
        shown = [node.getAttribute("aria-label") for node in page.document.getElementsByTagName("figure")]
        assert len(shown) == 7
        assert shown[0] == "Gain of non-blocking calls, with enough work"
        assert len(page.text.encode()) <= 600000, len(page.text.encode())
        text = self.results.script("report_text.sh", "new").stdout
        assert len(text.encode()) <= 20000, len(text.encode())

    def test_every_value_of_one_launch(self):
        self.results.add("new", *ALL)
        page = Html(self.results, "new")
        for name, (_, columns, rows) in ALL.items():
            if name.startswith("overlap"):
                continue
            shown = page.rows_of(page.part(name))
            assert len(shown) == len(rows), name
            summary = text_of(page.part(name).getElementsByTagName("summary")[0])
            assert re.search(f": {len(rows)} rows?$", summary), summary
            for row, cells in zip(rows, shown):
                values = dict(zip(columns, map(str, row)))
                for column, text in cells.items():
                    if column.endswith(" range"):
                        low, high = ends_of_interval(column.split()[0])
                        expected = f"{values[low]} to {values[high]}"
                        if values[low] == "NA":
                            expected = "NA"
                        if values[column.split()[0]] == "NA":
                            expected = ""
                    else:
                        expected = values[column]
                    assert text == expected, (name, row, column)
        shown = page.rows_of(page.part("overlap"), "collective", "overlap_pct", "ref_us",
                             "size_bytes")
        assert shown == [("iallreduce", "50.5", "1024.5", "1048576"), ("ibarrier", "0", "0.8", "0")]
        shown = page.rows_of(page.part("overlap_sweep"), "size_bytes", "overlap_pct",
                             "overlap_pct range")
        assert shown == [("8", "0", "0 to 100"), ("512", "30.12", "0 to 100"),
                         ("16384", "100", "0 to 100")]

    def test_medians_of_launches_and_base(self):
        columns, rows = launches(MPI_OVERHEAD, MPI_OVERHEAD_ROWS, {
            "overhead": lambda value, run: round(value * (3, 1, 3)[run - 1], 3),
            "status": lambda value, run: "budget" if run == 2 else value})
        self.results.write("new", "mpi_overhead", tsv("mpi_overhead", columns, rows))
        self.results.add("old", "mpi_overhead", metadata={"ranks": 4})
        page = Html(self.results, "new", "--base=old")
        shown = page.rows_of(page.part("mpi_overhead"))
        assert len(shown) == len(MPI_OVERHEAD_ROWS)
        for row, cells in zip(MPI_OVERHEAD_ROWS, shown):
            found = [r[columns.index("overhead")] for r in rows if r[1:4] == row[:3]]
            if "NA" in found:
                expected = ("NA", "")
            else:
                expected = (str(statistics.median(found)), f"{min(found)} to {max(found)}")
            assert (cells["overhead"], cells["overhead range"]) == expected
            assert cells["overhead base"] == str(row[4])
            assert cells["launches"] == "3"
            assert sorted(cells["status"].split(", ")) == sorted({row[-1], "budget"})
        assert "Nothing can be compared" in page.text_of("comparison")

    def test_warnings(self):
        for i in range(40):
            self.results.write("new", f"sync{i}", tsv("syncbench", SYNC, SYNC_ROWS, remarks=[
                f"warning: the rate <drifted> by {i}.5 %", "note: a & b", "note: this MPI mixes up opposite faces",
                f"warning: run {i}: only once & for all"]))
        self.results.add("new", "halo", rows=[HALO_ROWS[0][:-1] + ["FAIL"], *HALO_ROWS[1:]])
        page = Html(self.results, "new")
        shown = [text_of(item) for item in page.part("warnings").getElementsByTagName("li")]
        assert len(shown) == 4, shown
        assert any(re.fullmatch("(?s)wrong data: .*halo", text) for text in shown), shown
        assert any("<drifted> by 39.5 % (40 times, with different numbers)" in text and "28 more" in text
                   for text in shown), shown
        assert any("opposite faces (programs that use it get wrong data)" in text for text in shown), shown
        assert any(text.startswith("only once & for all") for text in shown), shown
        # They come after the answers, and before the machine.
        places = [page.text.index(f'<section id="{name}"') for name in
                  ("synchronisation", "halo_exchange", "warnings", "machine")]
        assert places == sorted(places)
        assert "a & b" in page.text_of("machine")
        self.results.add("quiet", "halo")
        assert "sync0 (base)" in Html(self.results, "quiet", "--base=new").text_of("warnings")
        assert "No warnings" in Html(self.results, "quiet").text_of("warnings")

    def test_cut_off(self):
        """A result of schema 2 whose last line isn't its end."""
        whole = "# schema: 2\n" + tsv(*ALL["halo"]) + "# end: 9 rows, exit 0\n"
        for text, cut_off in ((whole, False), (whole + "# note: x\n", True), (whole[:-60], True),
                              (whole.replace("2", "1", 1)[:-60], False)):
            # Another one follows it.
            self.results.write("new", "halo", text)
            self.results.write("new", "zzz", "# job_id: 1\n" + whole)
            shown = Html(self.results, "new").text_of("warnings")
            assert ("was cut off" in shown) == cut_off, shown
            assert ("halo" in shown) == cut_off, shown
            assert "zzz" not in shown

    def test_without_gnuplot(self):
        tools = self.results.folder / "tools"
        tools.mkdir()
        for tool in ("sh", "dirname"):
            (tools / tool).symlink_to(shutil.which(tool))
        (tools / "python3").symlink_to(sys.executable)
        self.results.add("new", *ALL)
        path = {"PATH": str(tools)}
        page = Html(self.results, "new", environment=path)
        assert "no gnuplot" in page.said
        assert "gnuplot is not installed" in page.text_of("warnings")
        assert page.document.getElementsByTagName("svg").length == 0
        assert len(page.rows_of(page.part("syncbench"))) == len(SYNC_ROWS)
        done = self.results.script("plot.sh", "new", status=1, environment=path)
        assert "gnuplot-nox" in done.stderr

    def test_comparison(self):
        """Ten launches a side: rows that got slower come first, the largest change first."""
        factors = {"sync all": 1.5, "ring": 1.1, "a<&>b": 0.5, "lost": 1}
        for name, changed in (("old", False), ("new", True)):
            rows = [[run, *row[:5], row[5] * (1 + run / 1000) *
                     (factors[row[0]] if changed else 1), *row[6:]]
                    for run in range(1, 11)
                    for row in [*SYNC_ROWS, ["lost", 1, 4, 0.1, 1.1, 1.0, 0.9, 1.2, "ok"]]
                    if not (changed and row[0] == "lost")]
            self.results.write(name, "syncbench", sync_result(rows, ["run", *SYNC], kernel=f"<{name}>"))
        page = Html(self.results, "new", "--base=old")
        part = page.part("comparison")
        changed, = part.getElementsByTagName("table")
        assert [row[1] for row in page.cells_of(part)] == ["sync sync all, neighbours 3, ranks 4", "sync ring, neighbours 4, ranks 4",
                        "sync ring, neighbours 2, ranks 4", "sync lost, neighbours 1, ranks 4",
                        "sync a<&>b, ranks 4"]
        assert [row[:2] for row in page.cells_of(page.part("card1"))] == [
            ["Slower", "3 of 5 results"], ["Faster", "1 of 5 results"], ["Missing", "1 of 5 results"]]
        assert text_of(changed).count("slower") == 3
        assert "kernel: <old> in" in text_of(part)

    def test_what_must_not_be_compared(self):
        for name, check in (("old", "no"), ("new", "yes")):
            self.results.write(name, "syncbench", sync_result(SYNC_ROWS, check=check))
        part = Html(self.results, "new", "--base=old").part("comparison")
        assert re.search("Nothing can be compared: .*--check=no.*--check=yes", text_of(part))
        assert not part.getElementsByTagName("table")

    def test_what_did_not_change(self):
        """It is in a closed part."""
        for name in ("old", "new"):
            self.results.write(name, "syncbench", sync_result(SYNC_ROWS))
        part = Html(self.results, "new", "--base=old").part("comparison")
        closed, = part.getElementsByTagName("details")
        assert text_of(closed.getElementsByTagName("summary")[0]) == "Same, or not clear: 4 rows"
        assert not closed.hasAttribute("open")
