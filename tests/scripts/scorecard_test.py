"""The scorecard: each line on results that were made by hand, where the line is known, and where there must be none or
one that is not clear."""

import contextlib
import io
import os
import re
import unittest.mock

from case import Case, each
from commcost import page
from commcost.compare import row_changes
from commcost.report import report_page
from commcost.report.report import text_main
from commcost.result import intervals, tables
from commcost.result.intervals import Measured
from commcost.scorecard import card_text, fact_lines, scorecard
from commcost.system import script
from made_results import (GAIN, HALO, MONITOR, MPI_OVERHEAD, OVERLAP, PINGPONG, RATE, REPORT, REPORT_ROWS, SYNC,
                          gain_cells, tsv)

EACH = (1, 0.99, 1.01, 1, 1.005, 0.995)  # what six launches make of a value
OVERLAPS = [*GAIN[:4], "method", "local", "partitions", *GAIN[4:]]
SIZES = (8, 1024, 65536, 1 << 20)


class CardCase(Case):
    def card(self, *results, launches=6, metadata=None):
        """The Scorecard of results: each a benchmark, its columns, and rows as dictionaries, of which each launch has a
        bit more or less; or a list of rows a launch."""
        for path in self.folder.glob("*.tsv"):
            path.unlink()
        for place, (benchmark, columns, rows) in enumerate(results):
            if isinstance(rows[0], dict):
                rows = [[scaled(row, EACH[run % len(EACH)]) for row in rows] for run in range(launches)]
            cells = [[run, *(row.get(column, "NA") for column in columns)]
                     for run, launch in enumerate(rows) for row in launch]
            (self.folder / f"{place}.tsv").write_text(tsv(
                benchmark, ["run", *columns], cells,
                metadata=metadata or {"hosts": "vm: 0-1", "mpi_device": "ch4:ucx"}))
        return scorecard.card_of(tables.Tables([str(self.folder)]))

    def said(self, *results, **how):
        """All of its lines, in words."""
        return [" | ".join(line[:5]) for part in self.card(*results, **how).parts for line in part.lines]


def scaled(row, factor):
    """A row whose floating-point numbers are a factor larger."""
    return {name: cell * factor if isinstance(cell, float) else cell for name, cell in row.items()}


# ---- what is sure, and how values are shown ------------------------------------------------------

class Values(Case):
    def test_above(self):
        assert intervals.is_above(Measured(60, 55, 64, 6), 50)
        assert intervals.is_above(Measured(60, 55, 99, 6), 50)      # a late launch beyond it
        assert not intervals.is_above(Measured(60, 54, 64, 6), 50)  # so near that chance may have made it
        assert not intervals.is_above(Measured(60, 58, 62, 1), 50)
        assert intervals.is_below(Measured(40, 1, 45, 7), 50)
        assert not intervals.is_below(Measured(40, 39, 46, 7), 50)

    @each("found, units, words, ends", [
        ((0.35, 0.34, 0.36, 6), fact_lines.TIME_US, "0.35 µs", "0.34 – 0.36"),
        ((14.5, 14.4, 14.7, 6), fact_lines.TIME_US, "14.5 µs", "14.4 – 14.7"),
        ((2345, 2200, 2400, 6), fact_lines.TIME_US, "2.3 ms", "2.2 – 2.4"),
        ((0.042, 0.041, 0.043, 6), fact_lines.TIME_US, "42 ns", "41 – 43"),
        ((2.5, 0.4, 4100, 6), fact_lines.TIME_US, "2.5 µs", "0.4 – 4100"),       # a disturbed machine
        ((-0.522, -5.76, 4.27, 6), fact_lines.TIME_US, "< 5 µs", ""),          # noise may have made it
        ((0.03, -0.01, 0.087, 6), fact_lines.TIME_US, "< 0.1 µs", ""),
        ((-0.03, -0.04, -0.02, 6), fact_lines.TIME_US, "< 50 ns", ""),
        ((0.5, -0.5, 1, 6), fact_lines.TIME_US, "< 1 µs", ""),
        ((0.0, None, None, 1), fact_lines.TIME_US, "0 ns", ""),
        ((250, 240, 260, 6), fact_lines.TIME_NS, "0.25 µs", "0.24 – 0.26"),
        ((2e12, 1.9e12, 2.1e12, 6), fact_lines.TIME_US, "2e+06 s", "1.9e+06 – 2.1e+06"),
        ((1.5e-6, 1.4e-6, 1.6e-6, 6), fact_lines.SHARE, "1.5e-06 %", "1.4e-06 – 1.6e-06"),
        ((9318.4, 9011.2, 9523.2, 6), fact_lines.SPEED_MBS, "9.1 GB/s", "8.8 – 9.3"),
        ((2000, 1900, 2100, 6), fact_lines.SPEED_MBS, "2.0 GB/s", "1.9 – 2.1"),
        ((5, 4.9, 5.1, 6), fact_lines.SPEED_MBS, "5.0 MB/s", "4.9 – 5.1"),
        ((2e9, 1.9e9, 2.1e9, 6), fact_lines.RATE, "2.0 G", "1.9 – 2.1"),
        ((5.9e6, 5.7e6, 6e6, 6), fact_lines.RATE, "5.9 M", "5.7 – 6.0"),
        ((2e3, 1.9e3, 2.1e3, 6), fact_lines.RATE, "2.0 k", "1.9 – 2.1"),
        ((5, 4.9, 5.1, 6), fact_lines.RATE, "5.0", "4.9 – 5.1"),
        ((1.9, None, None, 1), fact_lines.SHARE, "1.9 %", "")])
    def test_shown(self, found, units, words, ends):
        found = Measured(*found)
        assert fact_lines.typical(found, units) == words
        assert fact_lines.ranged(found, [found.low, found.high] if ends or found.low else [1], units) == ends

    def test_names(self):
        assert fact_lines.size_text(8) == "8 bytes"
        assert fact_lines.size_text(65536) == "64 KiB"
        assert fact_lines.size_text(float("inf")) == "? bytes"


# ---- what it costs -------------------------------------------------------------------------------

def single(pattern, sync, **by_doubles):
    return [{"latency_us": value, "bwidth_mbs": 8 * int(count[1:]) / value / 1.048576, "arrangement": "single",
             "pattern": pattern, "sync": sync, "count": 1, "blksize": int(count[1:]), "stride": 1, "ndata": int(count[1:])}
            for count, value in by_doubles.items()]


def swaps(box, **methods):
    return [{"method": method, "sync": "none", "dims": "2x1x1", "local": box, "ndata": 600, "latency_us": value}
            for method, value in methods.items()]


class Costs(CardCase):
    def test_messages(self):
        said = self.said(("pingpong", PINGPONG, single("MPI Send", "none", n1=0.35, n131072=110.0) +
                          single("put", "all", n1=1.0, n131072=500.0) + single("put", "images", n1=1.4, n131072=100.0)))
        assert said == ["Message of 8 bytes, one way | 0.350 µs |  | 0.346 – 0.353 | ",
                        "Bandwidth, messages of 1 MiB | 8.88 GB/s |  | 8.79 – 8.97 | ",
                        "Put of 8 bytes with a barrier | 1.00 µs |  | 0.99 – 1.01 | ",
                        "MPI_Put instead of send | yes | at 1 MiB |  | saves 9 %",
                        "MPI_Put instead of send | no | at 8 bytes |  | takes up to 2.9 times as long"]
        small = self.said(("pingpong", PINGPONG, single("MPI Send", "none", n1=0.35, n64=0.5)))
        assert [line.split(" | ")[0] for line in small] == ["Message of 8 bytes, one way"]
        said = self.said(("pingpong", PINGPONG, single("MPI Send", "none", n8192=8.0) +
                          single("put", "images", n1=0.4)))
        assert said[1:] == ["Bandwidth, messages of 64 KiB | 7.63 GB/s |  | 7.55 – 7.71 | ",
                            "Put of 8 bytes with a notification | 0.400 µs |  | 0.396 – 0.404 | "], said

    def test_host_overhead(self):
        rows = [{"direction": direction, "pair": 0, "msgsize": size, "overhead": own, "avail(%)": free}
                for direction, size, own, free in (("send", 8, 0.25, 10), ("send", 65536, 3.0, 95), ("recv", 8, 0.5, 5),
                                                   ("recv", 65536, 70.0, 2))]
        self.assertEqual(self.said(("mpi_overhead", MPI_OVERHEAD, rows)), [
            "Processor time of a send, 8 bytes | 0.250 µs |  | 0.247 – 0.253 | ",
            "Processor time of a send, 64 KiB | 3.00 µs |  | 2.97 – 3.03 | ",
            "Processor time of a receive, 8 bytes | 0.500 µs |  | 0.495 – 0.505 | ",
            "Processor time of a receive, 64 KiB | 70.0 µs |  | 69.3 – 70.7 | ",
            "Work during a send | yes | at 64 KiB |  | 95 % of the time is free for work",
            "Work during a receive | no |  |  | less than 10 % can be hidden"])

    def test_host_overhead_below_noise(self):
        """A time below 0 is none."""
        rows = [{"direction": "send", "pair": 0, "msgsize": size, "overhead": own, "avail(%)": "NA"}
                for size, own in ((8, -0.36), (64, 0.36))]
        self.assertEqual(self.said(("mpi_overhead", MPI_OVERHEAD, rows), launches=1), [
            "Processor time of a send, 8 bytes | not clear |  |  | ",
            "Processor time of a send, 64 bytes | 0.36 µs |  |  | "])

    def test_host_overhead_without_a_knee(self):
        """A launch that didn't find it has no value. Where none did, that is said, and not only of larger messages what
        they take; where some did, of how many launches the value is."""
        def row(size, overhead):
            found = {"overhead": overhead, "status": "ok"} if overhead else {"status": "no-knee"}
            return {"direction": "send", "pair": 0, "msgsize": size, **found}
        rows = [[row(8, 0), row(1024, 0.3), row(65536, 3.0 if run < 4 else 0)] for run in range(6)]
        self.assertEqual(self.said(("mpi_overhead", MPI_OVERHEAD, rows)), [
            "Processor time of a send, 8 bytes | not clear |  |  | no launch found it",
            "Processor time of a send, 64 KiB | 3.00 µs |  | 3.00 – 3.00 | only 4 of 6 launches found it"])
        line = self.card(("mpi_overhead", MPI_OVERHEAD, rows)).parts[0].lines[0]
        assert line.remark == "no launch found it: give mpi_overhead more --max-time"

    def test_message_rate(self):
        rows = [{"pattern": pattern, "rate_per_s": rate, "nbytes": size, "job_size": 2, "npeers": peers, "nmsgs": 128,
                 "cache_size": cache, "ppn": 1}
                for pattern, rate, size, peers, cache in (
                    ("pre-post", 3e6, 8, 1, 9), ("all-start", 2e6, 8, 1, 9), ("pre-post", 9e6, 4096, 1, 9),
                    ("pair-based", 5e6, 8, 6, 9), ("pre-post", 7e6, 8, 1, 0), ("all-start", 6.99e6, 8, 1, 0))]
        self.assertEqual(self.said(("msgrate", RATE, rows)), [
            "Messages a second, caches flushed, 8 bytes | 3.00 M |  | 2.97 – 3.03 | best: pre-post; next: all-start, 2.00 M",
            "Messages a second, warm caches, 8 bytes | 7.00 M |  | 6.93 – 7.07 | best: pre-post or all-start"])

    def test_barrier_and_collectives(self):
        sync = [{"sync": name, "ranks": 4, "sync_us": value} for name, value in (("ring", 1.0), ("MPI barrier", 1.5))]
        said = self.said(("syncbench", SYNC, sync), ("overlap_ibcast", OVERLAPS, by_size(4 * [50.0], "ibcast")))
        assert said[:2] == ["Barrier of 4 processes | 1.50 µs |  | 1.48 – 1.52 | ",
                            "Broadcast of 8 bytes | 100 µs |  | 99 – 101 | "]
        assert not self.said(("syncbench", SYNC, sync[:1]))

    def test_collective_comes_first(self):
        """Its rows say what blocking calls take, as programs usually call them."""
        rows = [{"operation": name, "type": "double", "op": "sum", "in_place": in_place, "root": 0, "size_bytes": size,
                 "time_us": value} for name, in_place, size, value in (
                     ("barrier", "no", "NA", 2.0), ("allreduce", "yes", 8, 3.0), ("allreduce", "no", 64, 4.0),
                     ("allreduce", "no", 1024, 1.0), ("bcast", "no", 8, 5.0))]
        sync = [{"sync": "MPI barrier", "ranks": 4, "sync_us": 1.5}]
        said = self.said(("syncbench", SYNC, sync), ("collective", list(rows[0]), rows),
                         ("overlap_ibcast", OVERLAPS, by_size(4 * [50.0], "ibcast")), metadata={"ranks": "4"})
        assert said[:3] == ["Barrier of 4 processes | 2.00 µs |  | 1.98 – 2.02 | ",
                            "Allreduce of 64 bytes | 4.00 µs |  | 3.96 – 4.04 | ",
                            "Broadcast of 8 bytes | 5.00 µs |  | 4.95 – 5.05 | "], said

    def test_halo(self):
        rows = (swaps("10x10x10", persistent=4.0, packed=6.0) + swaps("99x99x99", put=90.0) +
                swaps("50x50x50", persistent=40.0, packed=40.5, types=41.0))
        self.assertEqual(self.said(("halo", HALO, rows)), [
            "Halo of 10 x 10 x 10 | 4.00 µs |  | 3.96 – 4.04 | best: persistent; next: packed, 6.00 µs",
            "Halo of 99 x 99 x 99 | 90.0 µs |  | 89.1 – 90.9 | put",
            "Halo of 50 x 50 x 50 | 40.0 µs |  | 39.6 – 40.4 | best: persistent or packed"])
        few = self.said(("halo", HALO, rows), launches=2)
        assert few[0] == "Halo of 10 x 10 x 10 | 3.98 µs |  | 3.96 – 4.00 | best: persistent or packed"
        assert few[2] == "Halo of 50 x 50 x 50 | 39.8 µs |  | 39.6 – 40.0 | no clear best of 3 ways"
        launches = [[dict(row, sync="all", latency_us="NA" if run > 3 and row["method"] == "put" else row["latency_us"])
                     for row in swaps("10x10x10", put=4.0, persistent=6.0)] for run in range(6)]
        assert self.said(("halo", HALO, launches)) == [
            "Halo of 10 x 10 x 10 | 4.00 µs |  | 4.00 – 4.00 | best: put (all) or persistent (all); "
            "only 4 of 6 launches found it"]
        rows = [gain_cells(4800, 100.0, exposed, collective="halo", method=method, local="10x10x10", form=form)
                for method, form, exposed in (("packed", "nonblocking", 5.0), ("persistent", "persistent", 4.0))]
        assert self.said(("overlap_halo", OVERLAPS, rows))[0] == (
            "Halo of 10 x 10 x 10, exposed under work | 4.00 µs |  | 3.96 – 4.04 | best: persistent; next: packed, 5.00 µs")

    def test_many_boxes(self):
        rows = [row for n in range(10, 60, 10) for row in swaps(f"{n}x{n}x{n}", put=float(n))]
        said = self.said(("halo", HALO, rows))
        assert [line[:12] for line in said] == ["Halo of 10 x", "Halo of 30 x", "Halo of 50 x"]

    def test_monitor(self):
        """A call, not a row, which may be of several."""
        rows = [{"call": call, "mode": mode, "added_ns": value} for call, mode, value in (
            ("MPI_Send", "on", 40.0), ("MPI_Isend MPI_Wait", "on", 90.0), ("8 MPI_Irecv MPI_Waitall", "on", 99.0),
            ("MPI_Send", "off", 99.0))]
        self.assertEqual(self.said(("monitor_overhead", MONITOR, rows)), [
            "Monitoring, added to a call at most | 45.0 ns |  | 44.5 – 45.5 | MPI_Isend MPI_Wait"])

    def test_nothing_of_values_that_do_not_exist(self):
        """Nor of wrong data."""
        rows = [{"method": "put", "local": "10x10x10", "dims": "2x1x1", "latency_us": "NA", "status": "budget"},
                {"method": "get", "local": "10x10x10", "dims": "2x1x1", "latency_us": 3.0, "status": "FAIL"}]
        assert not self.said(("halo", HALO, rows))


# ---- noise and links -----------------------------------------------------------------------------

NOISE = ("scope host ranks source about operation grain_us stops_per_s stop_us stopped_pct "
         "period_ms slowdown_pct predicted_pct status").split()
JOB = {"scope": "job", "stopped_pct": 1.5, "status": "ok"}
SOURCE = {"scope": "source", "ranks": "0-1", "source": "periodic", "about": "4ms:16us", "stops_per_s": 250.0,
          "stop_us": 17.0, "stopped_pct": 1.4, "period_ms": 4}
LINKS = "scope a b nbytes time_us verdict status".split()


def link(scope, verdict, nbytes=8, a="NA", b="NA"):
    return {"scope": scope, "a": a, "b": b, "nbytes": nbytes, "time_us": 2, "verdict": verdict, "status": "ok"}


class NoiseAndLinks(CardCase):
    def test_noise(self):
        """Two clocks of the same ranks stay two."""
        rows = [JOB, SOURCE, {**SOURCE, "about": "10ms:16us", "period_ms": 10, "stopped_pct": 0.2},
                {**SOURCE, "ranks": "1", "source": "irregular", "about": "66us", "period_ms": "NA", "stops_per_s": 30.0,
                 "stop_us": 100.0, "stopped_pct": 0.3},
                {"scope": "collective", "operation": "barrier", "grain_us": 0, "predicted_pct": 2.0},
                {"scope": "collective", "operation": "allreduce", "grain_us": 100, "predicted_pct": 3.0,
                 "slowdown_pct": 4.0}]
        self.assertEqual(self.said(("noise", NOISE, rows)), [
            "Time lost to interruptions | 1.50 % |  | 1.48 – 1.52 | ",
            "Interruptions every 4 ms, ranks 0-1 | 17.0 µs |  | 16.8 – 17.2 | 1.40 % of the time",
            "Interruptions 30 a second, rank 1 | 100 µs |  | 99 – 101 | 0.300 % of the time",
            "Interruptions every 10 ms, ranks 0-1 | 17.0 µs |  | 16.8 – 17.2 | 0.200 % of the time",
            "Slowdown, allreduce after 100 µs of work | 3.00 % |  | 2.97 – 3.03 | predicted from interruptions"])

    def test_three_sources(self):
        """Those that take most of the time."""
        rows = [JOB, {"scope": "host", "ranks": "0-1"}, *(
            {**SOURCE, "about": f"{period}ms", "period_ms": period, "stopped_pct": period / 100}
            for period in (4, 10, 20, 40))]
        assert [line.split(",")[0] for line in self.said(("noise", NOISE, rows))] == [
            "Time lost to interruptions | 1.50 % |  | 1.48 – 1.52 | known causes take 0.74 %",
            "Interruptions every 40 ms", "Interruptions every 20 ms", "Interruptions every 10 ms"]

    @each("ranks, stopped_pct, todo", [(2, 1.5, "try with a processor left free"), (1, 1.5, ""), (2, 1.005, ""),
                                       (None, 1.5, "")])
    def test_what_to_do_about_noise(self, ranks, stopped_pct, todo):
        """Where each processor has a rank, and much is lost for sure."""
        metadata = {"processors": 2, **({"ranks_per_node": ranks} if ranks else {})}
        card = self.card(("noise", NOISE, [{**JOB, "stopped_pct": stopped_pct}]), metadata=metadata)
        assert card.parts[0].lines[0].todo == todo

    @each("launches, lines, note", [(3, 2, ""), (2, 1, "no single cause stands out"), (0, 1, "no single cause stands out")])
    def test_sources_of_some_launches(self, launches, lines, note):
        """What fewer than half of six launches name says little of the next one."""
        said = self.said(("noise", NOISE, [[JOB] + [SOURCE] * (run < launches) for run in range(6)]))
        assert len(said) == lines
        assert said[0].endswith(f" | {note}")

    def test_sources_that_launches_write_in_another_way(self):
        """Each launch misses some ranks, finds a length on either side of a power of two, and a period to
        its own digits; one has it in two rows. Other ranks' clock, and one of another period, are others."""
        launches = []
        for launch in range(6):
            rows = [JOB, {"scope": "host", "ranks": "0-63", "stopped_pct": 1.5}]
            for period, length, ranks in (
                    (4 + 0.001 * launch, 15.9 + 0.2 * launch, f"0-{20 + launch},{30 + launch}-63"),
                    (9, 16, "0-1"), (4, 16, "25-26")):
                if period != 9 and ranks != "25-26" or launch < 2 and period == 9 or launch == 5 and ranks == "25-26":
                    rows.append({**SOURCE, "ranks": ranks, "stop_us": length, "stopped_pct": 0.4, "period_ms": period,
                                 "about": f"{period:.2g}ms:{8.19 if length < 16.4 else 16.4}us"})
            launches.append(rows)
        said = self.said(("noise", NOISE, launches))
        assert len(said) == 2
        assert said[0].endswith(" | known causes take 0.34 %")
        self.assertRegex(said[1], r"^Interruptions every 4 ms, ranks 0-2\d,3\d-63 \| 16\.\d µs")

    @each("rows, said", [
        ([link("whole", "even"), link("node", "even", a="n1")], ["Nodes and links | all alike |  |  | "]),
        ([link("whole", "out of line"), link("node", "slow", a="n1"), link("node", "even", a="n2"),
          link("pair", "slow out", 1 << 20, "n2", "n3"), link("pair", "slow in", 1 << 20, "n4", "n5")],
         ["Node n1 | slow |  |  | messages of 8 bytes, in 6 of 6 launches",
          "Link from n2 to n3 | slow |  |  | messages of 1 MiB, in 6 of 6 launches",
          "Link from n5 to n4 | slow |  |  | messages of 1 MiB, in 6 of 6 launches"]),
        ([link("whole", "two groups, out of line"), link("node", "even", a="n1")],
         ["Links between two groups of nodes | differ |  |  | messages of 8 bytes, in 6 of 6 launches"]),
        ([link("whole", "two groups"), link("rank", "slow", a="vm:1"), link("rank", "even", a="vm:2")],
         ["Links between two groups of processes | differ |  |  | messages of 8 bytes, in 6 of 6 launches",
          "Process vm:1 | slow |  |  | messages of 8 bytes, in 6 of 6 launches"]),
        # Suspects that weren't timed again have no verdict, nor has the whole.
        ([link("whole", "NA"), link("node", "NA", a="n1"), link("whole", "even", 1 << 20)],
         ["Nodes and links | not clear |  |  | suspects were not timed again"]),
        # Too few nodes for a verdict.
        ([link("whole", "NA"), link("node", "NA", a="n1")], [])])
    def test_links(self, rows, said):
        assert self.said(("linkmap", LINKS, rows)) == said
        for line in self.card(("linkmap", LINKS, rows)).parts[0].lines if said else ():
            assert line.todo == {"Node": "leave it out (linkmap --exclude)", "Link": "look at the switches' ports between them",
                                 "Links": "keep a job's nodes in one group"}.get(line.what.split()[0], "") * (
                                     "process" not in line.what)

    @each("named, line", [
        (1, "Nodes and links | not clear |  |  | launches name others each time"),
        (5, "Link of n2 and n3 | slow |  |  | messages of 8 bytes, in 5 of 10 launches")])
    def test_links_that_some_launches_name(self, named, line):
        """A pair has a row in the launches that name it, and so few say nothing of the next one."""
        launches = [[link("whole", "out of line" if i < named else "even"), link("node", "even", a="n1")] +
                    ([link("pair", "slow", a="n2", b="n3")] if i < named else []) for i in range(10)]
        assert self.said(("linkmap", LINKS, launches)) == [line]


# ---- a monitored program -------------------------------------------------------------------------

INSIDE = "kind comm operation ranks members rank size_bytes in_calls_s waited_s last_rank".split()


class Monitored(CardCase):
    def test_time_inside_mpi(self):
        rows = [{"kind": kind, "operation": name, "in_calls_s": value, **more} for kind, name, value, more in (
            ("pttopt", "MPI_Irecv", 0.5, {"comm": "grid"}), ("pttopt", "MPI_Isend", 0.1, {"comm": "grid"}),
            ("coll", "MPI_Allreduce", 0.3, {"comm": "grid", "waited_s": 0.25, "last_rank": 1}),
            ("calls", "other MPI", 0.9, {}), ("calls", "MPI_Test", 0.05, {}),
            ("sizes", "MPI_Irecv", 0.5, {"comm": "grid", "size_bytes": 8}), ("total", "MPI", 1.85, {}),
            ("total", "MPI", 1.5, {"rank": 0}))]
        self.assertEqual(self.said(("mpirtmon", INSIDE, rows), launches=1), [
            "Inside MPI, all processes together | 1.9 s |  |  | ", "other MPI | 900 ms |  |  | ",
            "MPI_Irecv on grid | 500 ms |  |  | ", "MPI_Allreduce on grid | 300 ms |  |  | ",
            "MPI_Isend on grid | 100 ms |  |  | ",
            "Waiting for late processes in MPI_Allreduce on grid | 250 ms |  |  | rank 1 came last most often"])

    def test_reports_without_it(self):
        rows = [dict(zip(REPORT, row)) for row in REPORT_ROWS]
        self.assertEqual(self.said(("mpirtmon", REPORT, rows), launches=1), [
            "MPI_Irecv on grid, from start to completion | 21 ms |  |  | ",
            "MPI_Allreduce on grid, from start to completion | 1.1 ms |  |  | "])


# ---- does it pay? --------------------------------------------------------------------------------

def by_size(exposed_us, collective="iallreduce", **cells):
    """Rows of all SIZES, of blocking calls of 100 us."""
    return [gain_cells(size, 100.0, value, collective=collective, **{"overlap_pct": 50, **cells})
            for size, value in zip(SIZES, exposed_us)]


class DoesItPay(CardCase):
    def paid(self, rows, launches=6, **how):
        """The lines of "Does it pay?", of results whose launches differ in nothing."""
        files = {}
        for row in rows:
            files.setdefault((row["collective"], row["model"]), []).append(row)
        card = self.card(*((f"overlap_{name}", OVERLAPS, launches * [several])
                           for (name, _), several in files.items()), **how)
        return [" | ".join((line.what, line.since, line.typical, line.note)) for part in card.parts
                if part.heading == "Does it pay?" for line in part.lines]

    @each("case", [
        (4 * [50.0], " | yes | saves 50 %"),
        ((150.0, 150.0, 50.0, 20.0), "from 64 KiB | yes | saves 50 to 80 %", "to 1 KiB | no | costs up to 50 %"),
        ((50.0, 150.0, 150.0, 150.0), "at 8 bytes | yes | saves 50 %", "from 1 KiB | no | costs up to 50 %"),
        ((50.0, 150.0, 30.0, 40.0), "from 64 KiB | yes | saves 60 to 70 %", "at 1 KiB | no | costs up to 50 %"),
        ((150.0, 50.0, 40.0, 150.0), "1 KiB – 64 KiB | yes | saves 50 to 60 %", "at 1 MiB | no | costs up to 50 %"),
        ((100.0, 100.0, 50.0, 20.0), "from 64 KiB | yes | saves 50 to 80 %"),
        ((150.0, 150.0, 100.0, 120.0), " | no | costs up to 50 %"),
        ((100.0, 100.0, 350.0, 100.0), " | no | takes up to 3.5 times as long"),
        ((100.0, 100.0, 7749.0, 100.0), " | no | takes up to 77 times as long"),
        ((100.0, 100.0, 12300.0, 100.0), " | no | takes up to 123 times as long"),
        ((100.0, 101.0, 99.0, 100.0), " | even | makes no difference")])
    def test_sizes(self, case):
        """What pays and what loses; of many sizes one alone may be chance."""
        exposed_us, *said = case
        assert self.paid(by_size(exposed_us)) == [f"Non-blocking allreduce | {line}" for line in said]

    def test_one_size_of_many(self):
        rows = [gain_cells(8 << place, 100.0, 150.0 if place else 50.0) for place in range(8)]
        assert self.paid(rows) == ["Non-blocking allreduce | from 16 bytes | no | costs up to 50 %"]
        rows = [gain_cells(8 << place, 100.0, 150.0 if place > 1 else 50.0) for place in range(8)]
        assert self.paid(rows)[0] == "Non-blocking allreduce | to 16 bytes | yes | saves 50 %"

    def test_why(self):
        self.assertEqual(self.paid(by_size(4 * [120.0], overlap_pct=4)), [
            "Non-blocking allreduce |  | no | less than 10 % can be hidden"])

    @each("others_us, said", [
        ((106.0, 105.5, 124.0, 105.0, 122.0, 118.0), "saves nothing"),
        ((110.0, 111.0, 110.5, 111.0, 109.0, 110.0), "costs up to 10 %")])
    def test_even_or_loses(self, others_us, said):
        """What surely isn't quicker is no gain, and only what surely costs more has a number."""
        launches = [[gain_cells(8, 100.0, 100.0 + run / 10), gain_cells(1024, 100.0, other_us)]
                    for run, other_us in enumerate(others_us)]
        (line,) = self.card(("overlap_iallreduce", OVERLAPS, launches)).parts[-1].lines
        assert line[:5] == ("Non-blocking allreduce", "no", "", "", said)
        assert line.todo == "keep it blocking"

    @each("exposed_us", [(50.0, 97.0, 99.0, 101.0, 98.0, 97.5), (97.9, 97.8, 97.7, 97.5, 97.6, 97.4)])
    def test_not_clear(self, exposed_us):
        """Of which some lose or gain nothing; or all so near to the threshold that chance may have made it."""
        launches = [[gain_cells(8, 100.0, value)] for value in exposed_us]
        (line,) = self.card(("overlap_iallreduce", OVERLAPS, launches)).parts[-1].lines
        assert line[:5] == ("Non-blocking allreduce", "not clear", "", "", "launches disagree")

    @each("threshold, answer", [(2, "yes"), (None, "yes"), (20, "even")])
    def test_threshold(self, threshold, answer):
        (line,) = self.paid([gain_cells(8, 100.0, 90.0)], metadata={"threshold": threshold} if threshold else None)
        assert line.startswith(f"Non-blocking allreduce | at 8 bytes | {answer} |")

    def test_few_launches(self):
        """Never an answer, and what gives one."""
        assert self.paid(by_size(4 * [5.0]), launches=5) == [
            "Non-blocking allreduce |  | not clear | needs more launches"]
        card = self.card(("overlap_iallreduce", OVERLAPS, 5 * [by_size(4 * [5.0])]))
        assert card.mind == ["More launches may decide what is not clear:\n" + script("run_suite.sh") + " --runs=6"]
        (self.folder / "suite").mkdir()
        (self.folder / "suite" / "plan.tsv").write_text("run\tname\tcommand\n")
        card = scorecard.card_of(tables.Tables([str(self.folder)]))
        assert card.mind == [
            f"More launches may decide what is not clear:\n{script('run_suite.sh')} --resume={self.folder} --runs=6"]
        assert not self.card(("overlap_iallreduce", OVERLAPS, 6 * [by_size(4 * [5.0])])).mind
        # Of launches that disagree twice as many, up to twelve.
        for launches, runs in ((7, ["--runs=14"]), (12, [])):
            card = self.card(("overlap_iallreduce", OVERLAPS, [
                [gain_cells(8, 100.0, 70.0 if run % 2 else 120.0)] for run in range(launches)]))
            assert [text.split()[-1] for text in card.mind] == runs

    def test_alike_share_a_line(self):
        rows = [row for name, gain in (("iallreduce", 50.0), ("ibcast", 40.0), ("iscan", 150.0), ("isend", 30.0))
                for row in by_size(4 * [gain], name)]
        assert self.paid(rows) == ["Non-blocking allreduce, broadcast and send |  | yes | saves 50 to 70 %",
                                   "Non-blocking scan |  | no | costs up to 50 %"]

    def test_many_share_lines_whatever_the_sizes(self):
        rows = [row for place in range(16) for row in by_size(
            (150.0, *(3 * [50.0 if place % 2 else 150.0])) if place % 3 else 4 * [50.0], f"iop{place}")]
        rows += [row for place in range(12) for row in by_size(4 * [90.0 - place], "partitioned", partitions=place)]
        rows += [row for place in range(14) for row in by_size(
            [50.0 if place & (1 << bit) else 150.0 for bit in range(4)], "halo", method=f"m{place}",
            local=f"{place}x1x1")]
        said = self.paid(rows)
        assert len(said) < 12
        assert " | at some sizes | yes | " in said[0]

    @each("cells, name", [
        ({"collective": "isend"}, "Non-blocking send"), ({"collective": "put"}, "Non-blocking put"),
        ({"collective": "sendrecv"}, "Non-blocking send with receive"),
        ({"collective": "ineighbor_alltoall"}, "Non-blocking neighbor alltoall"),
        ({"form": "persistent"}, "Non-blocking allreduce"), ({"test_calls": 4}, "Non-blocking allreduce"),
        ({"collective": "partitioned", "partitions": 8}, "Message in partitions: 8")])
    def test_names(self, cells, name):
        assert self.paid([gain_cells(1024, 100.0, 50.0, **cells)]) == [f"{name} | at 1 KiB | yes | saves 50 %"]

    def test_halo(self):
        rows = [gain_cells(48 * n ** 2, 100.0, 50.0, collective="halo", method=method, local=f"{n}x{n}x{n}")
                for method in ("isend/irecv packed", "persistent") for n in (10, 50)]
        assert self.paid(rows) == ["Non-blocking halo by packed and persistent |  | yes | saves 50 %"]

    def test_time_driven(self):
        """Of what was measured over sizes, the size that takes a millisecond says nothing more."""
        rows = [gain_cells(1 << 20, 1000.0, 400.0, model="time", elements=131072),
                gain_cells(0, 4.0, 2.0, collective="ibarrier", model="time", elements="NA")]
        assert self.paid(rows) == ["Non-blocking allreduce | at 1 MiB | yes | saves 60 %",
                                   "Non-blocking barrier |  | yes | saves 50 %"]
        assert self.paid(rows[:1] + by_size(4 * [150.0])) == ["Non-blocking allreduce |  | no | costs up to 50 %"]

    @each("overlap_pct, said", [(95, " | yes | 95 % of the time is free for work"), (30, " | partly | 30 % of the time is free for work"),
                                (3, " | no | less than 10 % can be hidden")])
    def test_without_blocking_calls(self, overlap_pct, said):
        """What can be hidden, of older results, too."""
        rows = [gain_cells(size, None, 50, overlap_pct=overlap_pct) for size in SIZES]
        assert self.paid(rows) == [f"Non-blocking allreduce | {said}"]
        old = [dict(collective="iallreduce", model="data", elements=size, size_bytes=8 * size, ref_us=10,
                    overlap_pct=overlap_pct) for size in (1, 1024)]
        (line,) = self.said(("overlap_iallreduce", OVERLAP, 6 * [old]))
        assert said.split(" | ")[1] in line

    def test_usual_rows_decide(self):
        """Without calls of MPI_Test, and nonblocking, where it was measured so."""
        rows = [gain_cells(8, 100.0, 150.0), gain_cells(8, 100.0, 50.0, form="persistent"),
                gain_cells(8, 100.0, 40.0, test_calls=4)]
        self.assertEqual(self.paid(rows), [
            "MPI_Test during allreduce | at 8 bytes | yes | saves 110 % with 4 calls",
            "Persistent requests for allreduce | at 8 bytes | yes | saves 100 %",
            "Non-blocking allreduce | at 8 bytes | no | costs up to 50 %"])

    @each("value, cells, todo", [
        (50.0, {}, "work before MPI_Wait"), (150.0, {}, "keep it blocking"), (100.0, {}, ""),
        (150.0, {"collective": "halo", "local": "1x1x1"}, "work after the swap"),
        (50.0, {"collective": "partitioned", "partitions": 2}, "use them")])
    def test_todo(self, value, cells, todo):
        """Nothing where it makes no difference, or where the blocking call wasn't measured."""
        columns = (f"overlap_{cells.get('collective', 'iallreduce')}", OVERLAPS)
        (line,) = self.card((*columns, 6 * [[gain_cells(8, 100.0, value, **cells)]])).parts[-1].lines
        assert line.todo == todo
        for launches, overlap_pct in ((6, 3), (2, 95)):
            rows = launches * [[gain_cells(8, None, value, overlap_pct=overlap_pct, **cells)]]
            (line,) = self.card((*columns, rows)).parts[-1].lines
            assert line.todo == ""

    def test_todo_of_other_questions(self):
        """For each answer that something follows from."""
        def cells(size, exposed_us, **more):
            return gain_cells(size, 100.0, exposed_us, local=f"{size}x1x1" if "method" in more else "NA", **more)

        halo = {"collective": "halo", "method": "isend/irecv packed"}
        files = [(f"overlap_{name}", OVERLAPS, 6 * [rows]) for name, rows in (
            ("halo", [cells(8, 50.0, **halo), cells(8, 70.0, test_calls=4, **halo)]),
            ("partitioned", [cells(8, 150.0, collective="partitioned", partitions=2)]),
            ("iallreduce", [cells(8, 80.0), cells(8, 20.0, form="persistent")]),
            ("ibcast", [cells(8, 80.0, collective="ibcast"), cells(8, 95.0, form="persistent", collective="ibcast")]))]
        puts = single("MPI Send", "none", n1=1.0, n8=2.0) + single("put", "all", n1=2.0, n8=1.0)
        lines = self.card(("pingpong", PINGPONG, puts), *files).parts[-1].lines
        assert {(line.what, line.typical): line.todo for line in lines} == {
            ("Non-blocking halo by packed", "yes"): "work before MPI_Wait",
            ("MPI_Test during halo by packed", "no"): "don't call it",
            ("Message in partitions: 2", "no"): "send it whole",
            ("Non-blocking allreduce and broadcast", "yes"): "work before MPI_Wait",
            ("Persistent requests for allreduce", "yes"): "use them",
            ("Persistent requests for broadcast", "no"): "use new ones",
            ("MPI_Put instead of send", "yes"): "use MPI_Put", ("MPI_Put instead of send", "no"): "use MPI_Send"}

    def test_mpi_test_with_several_numbers(self):
        rows = [gain_cells(size, 100.0, value, test_calls=calls) for size, of_size in (
            (8, {0: 80.0, 4: 20.0, 16: 90.0}), (1024, {0: 80.0, 4: 90.0, 16: 20.0}))
                for calls, value in of_size.items()]
        assert "MPI_Test during allreduce |  | yes | saves 60 % with 4, 16 calls" in self.paid(rows)

    @each("exposed_us, said", [
        ({0: 80.0, 1: 60.0, 4: 20.0, 16: 30.0}, "yes | saves 60 % with 4 calls"),
        ({0: 80.0, 1: 20.0}, "yes | saves 60 % with 1 call"),
        ({0: 80.0, "auto": 20.0}, "yes | saves 60 % with 7 calls"),
        ({0: 20.0, 4: 30.0, 16: 60.0}, "no | costs up to 10 %"), ({0: 20.0, 4: 21.0}, "even | makes no difference")])
    def test_mpi_test(self, exposed_us, said):
        rows = [gain_cells(8, 100.0, value, test_calls=calls, best_test_calls=7 if calls == "auto" else "NA")
                for calls, value in exposed_us.items()]
        assert f"MPI_Test during allreduce | at 8 bytes | {said}" in self.paid(rows)
        assert not [line for line in self.paid(rows[:1]) if "MPI_Test" in line]
        assert not [line for line in self.paid(rows[1:]) if "MPI_Test" in line]

    def test_mpi_test_that_surely_helps(self):
        """Rather than a number of calls that may help more, or not at all."""
        launches = [[gain_cells(8, 100.0, 80.0), gain_cells(8, 100.0, 70.0, test_calls=1),
                     gain_cells(8, 100.0, noisy, test_calls=16)] for noisy in (40.0, 95.0, 60.0, 90.0, 65.0, 55.0)]
        lines = self.card(("overlap_iallreduce", OVERLAPS, launches)).parts[-1].lines
        assert [line.note for line in lines if line.what.startswith("MPI_Test")] == ["saves 10 % with 1 call"]

    def test_persistent(self):
        rows = by_size((50.0, 51.0, 50.0, 90.0), form="persistent") + by_size(4 * [80.0])
        assert "Persistent requests for allreduce | to 64 KiB | yes | saves 29 to 30 %" in self.paid(rows)
        assert not [line for line in self.paid(rows[:4]) if "Persistent" in line]
        # What differs between launches hides nothing, what does within a launch hides all.
        for of_run, word in ((lambda run: (50.0 + 20 * run, 60.0 + 20 * run), "yes"),
                             (lambda run: (50.0 + 20 * (run % 2), 60.0), "not clear")):
            launches = [[gain_cells(8, 100.0, usual), gain_cells(8, 100.0, persistent, form="persistent")]
                        for persistent, usual in map(of_run, range(6))]
            lines = self.card(("overlap_iallreduce", OVERLAPS, launches)).parts[-1].lines
            assert ("Persistent requests for allreduce", word) in [line[:2] for line in lines]
        # Other calls of MPI_Test are not alike.
        rows = [gain_cells(8, 100.0, 50.0, test_calls=4), gain_cells(8, 100.0, 50.0, form="persistent")]
        assert not [line for line in self.paid(rows) if "Persistent" in line]


# ---- the whole -----------------------------------------------------------------------------------

PAGE = """\
## What it costs

|  | typical | launches |  |
| --- | --- | --- | --- |
| Message of 8 bytes, one way | 0.500 µs | 0.495 – 0.505 |  |
| Bandwidth, messages of 1 MiB | 8.88 GB/s | 8.79 – 8.97 |  |
| Processor time of a send, 8 bytes | 0.250 µs | 0.247 – 0.253 |  |
| Processor time of a send, 64 KiB | 3.00 µs | 2.97 – 3.03 |  |
| Messages a second, warm caches, 8 bytes | 3.00 M | 2.97 – 3.03 | all-start |
| Barrier of 4 processes | 1.50 µs | 1.48 – 1.52 |  |
| Allreduce of 8 bytes | 100 µs | 100 – 100 |  |
| Halo of 10 x 10 x 10 | 4.00 µs | 3.96 – 4.04 | persistent |
| Put of 8 bytes with a barrier | 1.00 µs | 0.99 – 1.01 |  |
| Time lost to interruptions | 1.50 % | 1.48 – 1.52 | no single cause stands out |
| Slowdown, barrier after 100 µs of work | 2.00 % | 1.98 – 2.02 | predicted from interruptions |
| Monitoring, added to a call at most | 40.0 ns | 39.6 – 40.4 | MPI_Send |

## Does it pay?

|  |  |  |  |
| --- | --- | --- | --- |
| Non-blocking allreduce | 1 KiB – 64 KiB | yes | saves 50 to 80 %: work before MPI_Wait |
| Work during a send | at 64 KiB | yes | 95 % of the time is free for work |
| MPI_Put instead of send | at 1 MiB | yes | saves 50 %: use MPI_Put |
| Non-blocking allreduce | at 8 bytes | no | costs up to 50 %: keep it blocking |
| MPI_Put instead of send | at 8 bytes | no | takes up to 2.0 times as long: use MPI_Send |

## Mind

- 1 row has wrong data (status FAIL), first: halo (method packed, dims 2x1x1, local 10x10x10, ndata 600). Try another \
version of the MPI library.

## Does non-blocking pay?

| operation / bytes | 8 | 1K | 64K | 1M |
| --- | ---: | ---: | ---: | ---: |
| iallreduce | L -50 | P 50 | P 80 | E |

P: pays with plenty of work; E: even; L: loses; ?: not clear: launches disagree, or are fewer than 6. Numbers: the \
gain in percent of the blocking call's time.

## How fast are messages?

| way / bytes | 8 | 1M |
| --- | ---: | ---: |
| MPI Send | 0.500 | 110 |
| put | L 1.00 | P 55.0 |

Times in µs. P: pays, is quicker than MPI_Send; E: even; L: loses; ?: not clear: launches disagree, or are fewer than \
6. all: with a barrier; images: with a notification.

## What does a message take of the processor?

| message / bytes | 8 | 64K |
| --- | ---: | ---: |
| send (µs) | 0.250 | 3.00 |
| send: free (%) | 10.0 | 95.0 |

The time for which a message keeps the processor busy, and the share of the transfer's time that is free for other \
work. ?: not clear.

## How many messages go in a second?

| pattern / bytes | 8 |
| --- | ---: |
| all-start, warm caches | 3.00 |

Millions of messages that a process sends and receives in a second.

## What does synchronisation cost?

| synchronisation | 4 processes |
| --- | ---: |
| MPI barrier | 1.50 |
| ring | P 1.00 |

Times in µs. P: pays, is quicker than MPI_Barrier; E: even; L: loses; ?: not clear: launches disagree, or are fewer \
than 6.

## Which halo swap is quickest?

| way / box | 10x10x10 |
| --- | ---: |
| persistent | 4.00 |

Times in µs.

## What disturbs?

| operation: slower by % | after 100 µs of work |
| --- | ---: |
| barrier | 3.00 |

By how many percent a step of work and an operation takes longer than undisturbed.

## What does monitoring cost?

| calls | monitor on |
| --- | ---: |
| MPI_Send | 40.0 |

Nanoseconds that monitoring adds.

"""


class Whole(CardCase):
    def test_page(self):
        """It begins with the same lines; then each question has its numbers, with their answers."""
        halo = swaps("10x10x10", persistent=4.0, packed=6.0)
        halo[1]["status"] = "FAIL"
        own = {"direction": "send", "pair": 0}
        every = [
            ("halo", HALO, halo), ("overlap_iallreduce", OVERLAPS, 6 * [by_size((150.0, 50.0, 20.0, 100.0))]),
            ("pingpong", PINGPONG, single("MPI Send", "none", n1=0.5, n131072=110.0) +
             single("put", "all", n1=1.0, n131072=55.0)),
            ("mpi_overhead", MPI_OVERHEAD, [{**own, "msgsize": 8, "overhead": 0.25, "avail(%)": 10.0},
                                            {**own, "msgsize": 65536, "overhead": 3.0, "avail(%)": 95.0}]),
            ("msgrate", RATE, [{"pattern": "all-start", "rate_per_s": 3e6, "nbytes": 8, "job_size": 2, "npeers": 1,
                                "nmsgs": 128, "cache_size": 0, "ppn": 1}]),
            ("syncbench", SYNC, [{"sync": "ring", "ranks": 4, "sync_us": 1.0},
                                 {"sync": "MPI barrier", "ranks": 4, "sync_us": 1.5}]),
            ("noise", NOISE, [JOB, {"scope": "collective", "operation": "barrier", "grain_us": 100,
                                    "predicted_pct": 2.0, "slowdown_pct": 3.0}]),
            ("monitor_overhead", MONITOR, [{"call": "MPI_Send", "mode": "on", "added_ns": 40.0}])]
        title = self.card(*every).title
        made = report_page.Report([str(self.folder)], tables.Tables([str(self.folder)])).page({})
        text = made.as_markdown()
        before, _, after = text.partition("## What it costs")
        assert before == f"# What communication costs: {self.folder.name}\n\n{title}\n\n"
        self.assertEqual("## What it costs" + after.partition("## Warnings")[0], PAGE)
        rows = made.as_html().partition('<details id="syncbench">')[2].partition("</details>")[0]
        assert "<summary>What synchronisation costs: 2 rows</summary>" in rows
        assert ("In all rows: processes 4. Values are medians over 6 launches; ranges are from the lowest launch to the "
                "highest.</p>") in rows
        assert "<th>ring</th><td>1.0</td><td>0.99 to 1.01</td><td>NA</td><td>NA</td><td>6</td><th>NA</th></tr>" in rows

    def test_title(self):
        assert self.card(("halo", HALO, swaps("10x10x10", put=4.0))).title == (
            "commcost on vm: 2 processes on 1 node, MPICH 4.0.2 (ch4:ucx); 6 launches")
        # Hosts, and how long a suite's launches took.
        (self.folder / "suite").mkdir()
        (self.folder / "suite/launches.tsv").write_text("run\tname\tstart\tseconds\texit\tresult\n" + "".join(
            f"{run}\thalo\tx\t{seconds}\t0\tdone\n" for run, seconds in ((1, 120), (2, 5))))
        hosts = "; ".join(f"n{place}: {place}" for place in range(5))
        assert self.card(("halo", HALO, swaps("10x10x10", put=4.0)), metadata={"hosts": hosts}, launches=1).title == (
            "commcost on n0, n1 and 3 more: 2 processes on 1 node, MPICH 4.0.2; 1 launch, 2 min 5 s")

    def test_mind(self):
        rows = swaps("10x10x10", persistent=4.0, packed=6.0, put=9.0)
        rows[0]["status"] = "FAIL"
        for row, lost in zip(rows, (9.5, 23.0, 8.0)):
            row["lost_pct"] = lost
        columns = [*HALO, "lost_pct"]
        assert self.card(("halo", columns, rows)).mind == [
            "1 row has wrong data (status FAIL), first: halo (method persistent, dims 2x1x1, local 10x10x10, "
            "ndata 600). Try another version of the MPI library.",
            "1 of 3 rows lost more than 10 % of the time to interruptions: measure them again on a quieter machine."]
        rows[1]["status"] = "FAIL"
        assert self.card(("halo", columns, rows)).mind[0].startswith(
            "2 rows have wrong data (status FAIL), first: halo (")
        # One interruption in a short row of one launch of three says nothing.
        launches = [[dict(row, status="ok", lost_pct=23 if run == 0 else 1) for row in rows] for run in range(3)]
        assert not self.card(("halo", columns, launches)).mind

    def test_units_stay(self):
        """A line isn't broken between a number and its unit."""
        for length in range(60):
            rows = swaps("10x10x10", **{"shared window": 14.5, length * "x": 29.0})
            text = card_text.text_of(self.card(("halo", HALO, rows)))
            assert "29.0 µs" in text, text

    def test_launches_that_differ(self):
        def launches(*of_each):
            return [swaps("10x10x10", persistent=time_us, put=9.0) for time_us in of_each]
        said = ["In 1 of 2 rows launches differ by more than 2 times: measure anew without other programs, or on a physical machine."]
        for of_each, mind in (((4.0, 7.9, 6.0, 5.0, 5.0, 4.0), []), ((4.0, 8.1, 6.0, 5.0, 5.0, 4.0), said)):
            assert self.card(("halo", HALO, launches(*of_each))).mind == mind

    def test_text(self):
        """Aligned, within a terminal, and in ASCII where the locale has no more."""
        name = "a way with a name that is much longer than others have"
        rows = swaps("10x10x10", **{"shared window": 14.5, name: 29.0})
        card = self.card(("halo", HALO, rows), ("overlap_iallreduce", OVERLAPS, 6 * [by_size(4 * [5.0])]))
        text = card_text.text_of(card)
        assert text == """\
commcost on vm: 2 processes on 1 node, MPICH 4.0.2 (ch4:ucx); 6 launches

What it costs           typical  launches
  Allreduce of 8 bytes  100 µs   100 – 100
  Halo of 10 x 10 x 10  14.5 µs  14.4 – 14.6  best: shared window; next: a way with a name that is
                                              much longer than others have, 29.0 µs

Does it pay?
  Non-blocking allreduce  yes  saves 95 %: work before MPI_Wait
"""
        with unittest.mock.patch.dict(os.environ, {"LC_ALL": "C"}):
            assert page.readable(text).encode("ascii")
        with unittest.mock.patch.dict(os.environ, {"LC_ALL": "", "LC_CTYPE": "de_DE.utf8"}):
            assert page.readable(text) == text

    def test_all_names(self):
        """Of what shares a line stand in its column, however many, beside the answer and its reason."""
        text = card_text.text_of(self.card(*(
            (f"overlap_{name}", OVERLAPS, 6 * [by_size(4 * [50.0], name)])
            for name in ("iallreduce", "ibcast", "iscan", "isend", "ireduce_scatter_block", "ialltoall"))))
        assert text.endswith("""
Does it pay?
  Non-blocking allreduce, alltoall, broadcast,  yes  saves 50 %: work before MPI_Wait
    reduce scatter block, scan and send
"""), text

    @each("lost_pct, note", [((74, 1), "best: put; next: persistent, 9.00 µs; disturbed"), ((9, 74), "best: put; next: persistent, 9.00 µs")])
    def test_disturbed(self, lost_pct, note):
        """A line on rows most of whose time was lost says so; one on others doesn't."""
        rows = swaps("10x10x10", put=4.0, persistent=9.0)
        for row, lost in zip(rows, lost_pct):
            row["lost_pct"] = lost
        (line,) = self.card(("halo", [*HALO, "lost_pct"], rows)).parts[0].lines
        assert line.note == note

    def test_disturbed_answers(self):
        """More launches don't help there; where most of the sizes are quiet there is no note."""
        rows = [dict(row, lost_pct=74) for row in by_size(4 * [50.0])]
        for several, launches, said in ((rows, 6, ("yes", "saves 50 %; disturbed")), (rows, 5, ("not clear", "disturbed")),
                                        ([rows[0], *by_size(4 * [50.0])[1:]], 6, ("yes", "saves 50 %"))):
            line = self.card(("overlap_iallreduce", OVERLAPS, launches * [several])).parts[-1].lines[-1]
            assert (line.typical, line.note) == said

    def test_command(self):
        self.card(("halo", HALO, swaps("10x10x10", put=4.0)))
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            assert text_main(["--short", str(self.folder)]) == 0
        assert said.getvalue().startswith("commcost on vm: ")

    def test_what_changed(self):
        rows = [{"sync": name, "neighbours": "NA", "ranks": 2, "sync_us": value, "status": "ok"}
                for name, value in (("ring", 10.0), ("MPI barrier", 5.0))]
        roles = {"columns": "run=key sync=key neighbours=key ranks=key sync_us=less status=info"}
        new, base = self.folder / "new", self.folder / "base"
        for folder, factor in ((new, 2), (base, 1)):
            folder.mkdir()
            columns = ["run", "sync", "neighbours", "ranks", "sync_us", "status"]
            cells = [[run, *(row[column] * (factor * EACH[run % 6] if row["sync"] == "ring" else EACH[run % 6])
                             if column == "sync_us" else row[column] for column in columns[1:])]
                     for run in range(10) for row in rows]
            (folder / "s.tsv").write_text(tsv("syncbench", columns, cells, metadata=roles) + "# end: 20 rows, exit 0\n")
        changes = row_changes.compare_sides(([str(base)], [str(new)]), row_changes.Limits(0.01, 5, 0.95)).changes
        lines = scorecard.card_of(tables.Tables([str(new), str(base)]), (), changes).parts[0].lines
        assert [line[:2] for line in lines] == [("Slower", "1 of 2 rows"), ("Same", "1 of 2 rows")]
        assert lines[0].note == "by +100 % at most: syncbench sync_us (sync ring, ranks 2)"
        assert row_changes.SLOWER.capitalize() == lines[0].what
        # The page has the row: twice the median of 10 µs, and p of 2 of 184,756 ways, times two rows.
        text = report_page.Report([str(new), str(base)], tables.Tables([str(new), str(base)])).page({}).as_markdown()
        row, = re.findall(r"\| syncbench \|.*\| slower \|", text)
        assert row == ("| syncbench | sync ring, ranks 2 | sync_us | 10.0000 | 20.0000 | +100.0 % | +98.0 to +102.0 % | "
                       "2.2e-05 | slower |"), row
