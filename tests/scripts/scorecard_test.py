# SPDX-License-Identifier: BSD-3-Clause
"""The scorecard on results that are made by hand: forms of values, lines that random machines (tests/virtual) don't
have, and the whole, as text and on the page."""

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
from commcost.scorecard import card_table, card_text, fact_lines, scorecard
from commcost.system import script
from made_results import (GAIN, HALO, MONITOR, MPI_OVERHEAD, OVERLAP, PINGPONG, RATE, REPORT, REPORT_ROWS, SYNC,
                          gain_cells, tsv)

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EACH = (1, 0.99, 1.01, 1, 1.005, 0.995)  # factors of six launches
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

    def lines(self, *results, **how):
        """All of its lines, in words."""
        return [" | ".join(line[:2] + (line.spread, line.remark.replace(fact_lines.NO_BREAK, " "))).rstrip(" |")
                for part in self.card(*results, **how).parts for line in part.lines]


def scaled(row, factor):
    """A row whose floating-point numbers are a factor larger."""
    return {name: cell * factor if isinstance(cell, float) else cell for name, cell in row.items()}


class Guidelines(CardCase):
    COLUMNS = ["operation", "size_bytes", "alternative", "slower_pct"]

    def test_worst(self):
        """The worst size and alternative of an operation, as times; not those that launches don't agree on."""
        rows = [{"operation": operation, "size_bytes": size, "alternative": other, "slower_pct": slower}
                for operation, size, other, slower in (
                    ("bcast", 65536, "twice the data", 40.0), ("bcast", 65536, "scatter+allgather", 210.0),
                    ("bcast", 8, "scatter+allgather", -60.0), ("reduce", 1024, "allreduce", 800.0),
                    ("scan", 8, "twice the data", 4.0))]
        assert self.lines(("collective", self.COLUMNS, rows)) == [
            "MPI_Reduce, 1 KiB | 9.00 × | 8.92–9.08 | the time of MPI_Allreduce: run_scripts/tune.sh --operations=reduce "
            "--sizes=1K",
            "MPI_Bcast, 64 KiB | 3.10 × | 3.08–3.12 | the time of MPI_Scatter + MPI_Allgather: "
            "run_scripts/tune.sh --operations=bcast --sizes=64K"]
        launches = [[dict(rows[1], slower_pct=slower)] for slower in (210.0, 0.0, 3.0, 190.0, 220.0, 200.0)]
        assert self.lines(("collective", self.COLUMNS, launches)) == []


# ---- costs ---------------------------------------------------------------------------------------

class Costs(CardCase):
    def test_above(self):
        assert intervals.is_above(Measured(60, 55, 64, 6), 50)
        assert intervals.is_above(Measured(60, 55, 99, 6), 50)      # a late launch
        assert not intervals.is_above(Measured(60, 54, 64, 6), 50)  # so near that chance may have made it
        assert not intervals.is_above(Measured(60, 58, 62, 1), 50)
        assert intervals.is_below(Measured(40, 1, 45, 7), 50)
        assert not intervals.is_below(Measured(40, 39, 46, 7), 50)

    @each("found, units, words, ends", [
        ((0.35, 0.34, 0.36, 6), fact_lines.TIME_US, "0.35 µs", "0.34–0.36"),
        ((2345, 2200, 2400, 6), fact_lines.TIME_US, "2.3 ms", "2.2–2.4"),
        ((0.042, 0.041, 0.043, 6), fact_lines.TIME_US, "42 ns", "41–43"),
        ((2.5, 0.4, 4100, 6), fact_lines.TIME_US, "2.5 µs", "0.4–4100"),       # a disturbed machine
        ((-0.522, -5.76, 4.27, 6), fact_lines.TIME_US, "< 5 µs", ""),          # noise may have made it
        ((0.03, -0.01, 0.087, 6), fact_lines.TIME_US, "< 0.1 µs", ""),
        ((-0.01, -0.015, -0.005, 6), fact_lines.TIME_US, "< 20 ns", ""),
        ((0.0, None, None, 1), fact_lines.TIME_US, "0 ns", ""),
        ((250, 240, 260, 6), fact_lines.TIME_NS, "0.25 µs", "0.24–0.26"),
        ((2e12, 1.9e12, 2.1e12, 6), fact_lines.TIME_US, "2e+06 s", "1.9e+06–2.1e+06"),
        ((1.5e-6, 1.4e-6, 1.6e-6, 6), fact_lines.SHARE, "1.5e-06 %", "1.4e-06–1.6e-06"),
        ((9318.4, 9011.2, 9523.2, 6), fact_lines.SPEED_MBS, "9.1 GB/s", "8.8–9.3"),
        ((5, 4.9, 5.1, 6), fact_lines.SPEED_MBS, "5.0 MB/s", "4.9–5.1"),
        ((2e9, 1.9e9, 2.1e9, 6), fact_lines.RATE, "2.0 G/s", "1.9–2.1"),
        ((5.9e6, 5.7e6, 6e6, 6), fact_lines.RATE, "5.9 M/s", "5.7–6.0"),
        ((2e3, 1.9e3, 2.1e3, 6), fact_lines.RATE, "2.0 k/s", "1.9–2.1"),
        ((5, 4.9, 5.1, 6), fact_lines.RATE, "5.0 /s", "4.9–5.1"),
        ((1.9, None, None, 1), fact_lines.SHARE, "1.9 %", "")])
    def test_shown(self, found, units, words, ends):
        found = Measured(*found)
        assert fact_lines.value_text(found, units) == words
        assert fact_lines.range_text(found, [found.low, found.high] if ends or found.low else [1], units) == ends
        assert fact_lines.size_text(float("inf")) == "? bytes"

    def test_messages(self):
        """Small messages have no bandwidth."""
        small = self.lines(("pingpong", PINGPONG, single("MPI Send", "none", n1=0.35, n64=0.5)))
        assert small == ["Latency, 8 bytes | 0.350 µs | 0.346–0.353"]
        lines = self.lines(("pingpong", PINGPONG, single("MPI Send", "none", n8192=8.0) +
                            single("put", "all", n1=0.5) + single("put", "images", n1=0.4)))
        assert lines[1:] == ["Bandwidth, 64 KiB | 7.63 GB/s | 7.55–7.71",
                             "MPI_Put + notification, 8 bytes | 0.400 µs | 0.396–0.404"], lines

    def test_host_overhead(self):
        """A time below 0 is none. A launch that found no knee has no value."""
        rows = [{"direction": "send", "pair": 0, "msgsize": size, "overhead": own, "avail(%)": "NA"}
                for size, own in ((8, -0.36), (64, 0.36))]
        self.assertEqual(self.lines(("mpi_overhead", MPI_OVERHEAD, rows), launches=1), [
            "Host overhead of MPI_Isend, 8 bytes | not clear", "Host overhead of MPI_Isend, 64 bytes | 0.36 µs"])

        def row(size, overhead):
            found = {"overhead": overhead, "status": "ok"} if overhead else {"status": "no-knee"}
            return {"direction": "send", "pair": 0, "msgsize": size, **found}
        rows = [[row(8, 0), row(1024, 0.3), row(65536, 3.0 if run < 4 else 0)] for run in range(6)]
        self.assertEqual(self.lines(("mpi_overhead", MPI_OVERHEAD, rows)), [
            "Host overhead of MPI_Isend, 8 bytes | not clear |  | no launch found it: raise mpi_overhead's --max-time",
            "Host overhead of MPI_Isend, 64 KiB | 3.00 µs | 3.00–3.00 | from 4 of 6 launches"])

    def test_message_rate(self):
        rows = [{"pattern": pattern, "rate_per_s": rate, "nbytes": size, "job_size": 2, "npeers": peers, "nmsgs": 128,
                 "cache_size": cache, "ppn": 1}
                for pattern, rate, size, peers, cache in (
                    ("pre-post", 3e6, 8, 1, 9), ("all-start", 2e6, 8, 1, 9), ("pre-post", 9e6, 4096, 1, 9),
                    ("pair-based", 5e6, 8, 6, 9), ("pre-post", 7e6, 8, 1, 0), ("all-start", 6.99e6, 8, 1, 0))]
        self.assertEqual(self.lines(("msgrate", RATE, rows)), [
            "Message rate, cold caches, 8 bytes | 3.00 M/s | 2.97–3.03 | fastest: pre-post",
            "Message rate, cold caches, 8 bytes, next best | 2.00 M/s | 1.98–2.02 | all-start",
            "Message rate, warm caches, 8 bytes | 7.00 M/s | 6.93–7.07 | fastest: pre-post or all-start"])

    def test_collective_comes_first(self):
        """Its rows have blocking calls as programs usually call them; without it syncbench and overlap count."""
        rows = [{"operation": name, "type": "double", "op": "sum", "in_place": in_place, "root": 0, "size_bytes": size,
                 "time_us": value} for name, in_place, size, value in (
                     ("barrier", "no", "NA", 2.0), ("allreduce", "yes", 8, 3.0), ("allreduce", "no", 64, 4.0),
                     ("allreduce", "no", 1024, 1.0), ("bcast", "no", 8, 5.0))]
        sync = ("syncbench", SYNC, [{"sync": name, "ranks": 4, "sync_us": value}
                                    for name, value in (("ring", 1.0), ("MPI barrier", 1.5))])
        assert self.lines(sync, ("collective", list(rows[0]), rows), metadata={"ranks": "4"}) == [
            "Barrier, 4 ranks | 2.00 µs | 1.98–2.02", "Allreduce, 64 bytes | 4.00 µs | 3.96–4.04",
            "Broadcast, 8 bytes | 5.00 µs | 4.95–5.05"]
        assert self.lines(sync, ("overlap_ibcast", OVERLAPS, by_size(4 * [50.0], "ibcast")))[:2] == [
            "Barrier, 4 ranks | 1.50 µs | 1.48–1.52", "Broadcast, 8 bytes | 100 µs | 99–101"]

    def test_halo(self):
        rows = (exchanges("10x10x10", persistent=4.0, packed=6.0) + exchanges("99x99x99", put=90.0) +
                exchanges("50x50x50", persistent=40.0, packed=40.5, types=41.0))
        self.assertEqual(self.lines(("halo", HALO, rows)), [
            "Halo exchange, 10 × 10 × 10 | 4.00 µs | 3.96–4.04 | fastest: persistent",
            "Halo exchange, 10 × 10 × 10, next best | 6.00 µs | 5.94–6.06 | packed",
            "Halo exchange, 99 × 99 × 99 | 90.0 µs | 89.1–90.9 | put",
            "Halo exchange, 50 × 50 × 50 | 40.0 µs | 39.6–40.4 | fastest: persistent or packed"])
        few = self.lines(("halo", HALO, rows), launches=2)
        assert few[0] == "Halo exchange, 10 × 10 × 10 | 3.98 µs | 3.96–4.00 | fastest: persistent or packed"
        assert few[2] == "Halo exchange, 50 × 50 × 50 | 39.8 µs | 39.6–40.0 | persistent; no method clearly best"
        launches = [[dict(row, sync="all", latency_us="NA" if run > 3 and row["method"] == "put" else row["latency_us"])
                     for row in exchanges("10x10x10", put=4.0, persistent=6.0)] for run in range(6)]
        assert self.lines(("halo", HALO, launches)) == [
            "Halo exchange, 10 × 10 × 10 | 4.00 µs | 4.00–4.00 | fastest: put + barrier or persistent + barrier; "
            "from 4 of 6 launches"]
        rows = [gain_cells(4800, 100.0, exposed, collective="halo", method=method, local="10x10x10", form=form)
                for method, form, exposed in (("packed", "nonblocking", 5.0), ("persistent", "persistent", 4.0))]
        assert self.lines(("overlap_halo", OVERLAPS, rows))[0] == (
            "Exposed halo exchange, 10 × 10 × 10 | 4.00 µs | 3.96–4.04 | fastest: persistent")
        rows = [row for n in range(10, 60, 10) for row in exchanges(f"{n}x{n}x{n}", put=float(n))]
        assert [line[:17] for line in self.lines(("halo", HALO, rows))] == [
            f"Halo exchange, {n}" for n in (10, 30, 50)]

    def test_monitor(self):
        """The overhead of a call: rows may be of several."""
        rows = [{"call": call, "mode": mode, "added_ns": value} for call, mode, value in (
            ("MPI_Send", "on", 40.0), ("MPI_Isend MPI_Wait", "on", 90.0), ("8 MPI_Irecv MPI_Waitall", "on", 99.0),
            ("MPI_Send", "off", 99.0))]
        self.assertEqual(self.lines(("monitor_overhead", MONITOR, rows)), [
            "Monitoring overhead of a call, at most | 45.0 ns | 44.5–45.5 | MPI_Isend MPI_Wait"])

    def test_no_value(self):
        """Neither NA nor wrong data make a line."""
        rows = [{"method": "put", "local": "10x10x10", "dims": "2x1x1", "latency_us": "NA", "status": "budget"},
                {"method": "get", "local": "10x10x10", "dims": "2x1x1", "latency_us": 3.0, "status": "FAIL"}]
        assert not self.lines(("halo", HALO, rows))


def single(pattern, sync, **by_doubles):
    """Rows of pingpong by their numbers of doubles."""
    return [{"latency_us": value, "bwidth_mbs": 8 * int(count[1:]) / value / 1.048576, "arrangement": "single",
             "pattern": pattern, "sync": sync, "count": 1, "stride": 1, "blksize": int(count[1:]),
             "ndata": int(count[1:])}
            for count, value in by_doubles.items()]


def exchanges(box, **methods):
    """Rows of halo by method."""
    return [{"method": method, "sync": "none", "dims": "2x1x1", "local": box, "ndata": 600, "latency_us": value}
            for method, value in methods.items()]


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
        self.assertEqual(self.lines(("noise", NOISE, rows)), [
            "Time lost to interruptions | 1.50 % | 1.48–1.52",
            "Length of interruptions every 4 ms, ranks 0–1 | 17.0 µs | 16.8–17.2 | 1.40 % of the time",
            "Length of interruptions 30 a second, rank 1 | 100 µs | 99–101 | 0.300 % of the time",
            "Length of interruptions every 10 ms, ranks 0–1 | 17.0 µs | 16.8–17.2 | 0.200 % of the time",
            "Slowdown of allreduce + 100 µs of work | 3.00 % | 2.97–3.03 | predicted from interruptions"])

    def test_three_sources(self):
        """Those that take most of the time, and that they explain less than half of the lost time."""
        rows = [JOB, {"scope": "host", "ranks": "0-1"}, *(
            {**SOURCE, "about": f"{period}ms", "period_ms": period, "stopped_pct": period / 100}
            for period in (4, 10, 20, 40))]
        assert [line.split(",")[0] for line in self.lines(("noise", NOISE, rows))] == [
            "Time lost to interruptions | 1.50 % | 1.48–1.52 | known causes take 0.74 %", *(
                f"Length of interruptions every {period} ms" for period in (40, 20, 10))]

    @each("launches, lines, note", [(3, 2, ""), (2, 1, "no single cause"), (0, 1, "no single cause")])
    def test_sources_of_some_launches(self, launches, lines, note):
        """Sources that fewer than half of the launches found aren't shown."""
        card = self.card(("noise", NOISE, [[JOB] + [SOURCE] * (run < launches) for run in range(6)]))
        assert (len(card.parts[0].lines), card.parts[0].lines[0].note) == (lines, note)

    @each("ranks, stopped_pct, remedy", [(2, 1.5, "try leaving a processor free"), (1, 1.5, ""), (2, 1.005, ""),
                                         (None, 1.5, "")])
    def test_remedy(self, ranks, stopped_pct, remedy):
        """Where each processor has a rank, and much is lost for sure."""
        metadata = {"processors": 2, **({"ranks_per_node": ranks} if ranks else {})}
        card = self.card(("noise", NOISE, [{**JOB, "stopped_pct": stopped_pct}]), metadata=metadata)
        assert card.parts[0].lines[0].remedy == remedy

    def test_sources_that_differ_by_launch(self):
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
        lines = self.lines(("noise", NOISE, launches))
        assert len(lines) == 2
        assert lines[0].endswith(" | known causes take 0.34 %")  # on 54 of 64 ranks
        self.assertRegex(lines[1], r"^Length of interruptions every 4 ms, ranks 0–2\d,3\d–63 \| 16\.\d µs")

    @each("rows, expected", [
        ([link("whole", "out of line"), link("node", "slow", a="n1"), link("node", "even", a="n2"),
          link("pair", "slow out", 1 << 20, "n2", "n3"), link("pair", "slow in", 1 << 20, "n4", "n5")],
         ["Node n1 | slow |  | 8 bytes messages, in 6 of 6 launches: leave it out (linkmap --exclude)",
          "Link from n2 to n3 | slow |  | 1 MiB messages, in 6 of 6 launches: look at the switch ports between them",
          "Link from n5 to n4 | slow |  | 1 MiB messages, in 6 of 6 launches: look at the switch ports between them"]),
        ([link("whole", "two groups, out of line"), link("node", "even", a="n1")],
         ["Links between two groups of nodes | differ |  | 8 bytes messages, in 6 of 6 launches: "
          "keep a job in one group"]),
        ([link("whole", "two groups"), link("rank", "slow", a="vm:1"), link("rank", "even", a="vm:2")],
         ["Links between two groups of ranks | differ |  | 8 bytes messages, in 6 of 6 launches",
          "Rank vm:1 | slow |  | 8 bytes messages, in 6 of 6 launches"]),
        # Suspects that weren't timed again have no verdict, nor has the whole.
        ([link("whole", "NA"), link("node", "NA", a="n1"), link("whole", "even", 1 << 20)],
         ["Nodes and links | not clear |  | suspects were not timed again"]),
        # Too few nodes for a verdict.
        ([link("whole", "NA"), link("node", "NA", a="n1")], [])])
    def test_links(self, rows, expected):
        self.assertEqual(self.lines(("linkmap", LINKS, rows)), expected)

    @each("named, line", [
        (1, "Nodes and links | not clear |  | launches name different ones"),
        (5, "Link of n2 and n3 | slow |  | 8 bytes messages, in 5 of 10 launches: "
            "look at the switch ports between them")])
    def test_links_that_some_launches_name(self, named, line):
        """A pair has a row in the launches that name it."""
        launches = [[link("whole", "out of line" if i < named else "even"), link("node", "even", a="n1")] +
                    ([link("pair", "slow", a="n2", b="n3")] if i < named else []) for i in range(10)]
        assert self.lines(("linkmap", LINKS, launches)) == [line]


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
        self.assertEqual(self.lines(("mpirtmon", INSIDE, rows), launches=1), [
            "Inside MPI, all ranks together | 1.9 s", "other MPI | 900 ms", "MPI_Irecv on grid | 500 ms",
            "MPI_Allreduce on grid | 300 ms", "MPI_Isend on grid | 100 ms",
            "Waiting for late ranks in MPI_Allreduce on grid | 250 ms |  | rank 1 came last most often"])
        rows = [dict(zip(REPORT, row)) for row in REPORT_ROWS]
        self.assertEqual(self.lines(("mpirtmon", REPORT, rows), launches=1), [
            "MPI_Irecv on grid, from start to completion | 21 ms",
            "MPI_Allreduce on grid, from start to completion | 1.1 ms"])


# ---- gains ---------------------------------------------------------------------------------------

def by_size(exposed_us, collective="iallreduce", **cells):
    """Rows of all SIZES, of blocking calls of 100 us."""
    return [gain_cells(size, 100.0, value, collective=collective, **{"overlap_pct": 50, **cells})
            for size, value in zip(SIZES, exposed_us)]


class Gains(CardCase):
    def gains(self, rows, launches=6, **how):
        """The lines about gains, of results whose launches differ in nothing."""
        files = {}
        for row in rows:
            files.setdefault((row["collective"], row["model"]), []).append(row)
        card = self.card(*((f"overlap_{name}", OVERLAPS, launches * [several])
                           for (name, _), several in files.items()), **how)
        return [" | ".join((line.label, line.sizes, line.value, line.note)) for part in card.parts
                if part.heading == card_table.GAINS for line in part.lines]

    @each("case", [
        (4 * [50.0], "all sizes | yes | saves 50 %"),
        ((150.0, 150.0, 50.0, 20.0), "from 64 KiB | yes | saves 50–80 %", "to 1 KiB | no | up to 50 % more time"),
        ((50.0, 150.0, 30.0, 40.0), "8 bytes, from 64 KiB | yes | saves 50–70 %", "1 KiB | no | up to 50 % more time"),
        ((150.0, 50.0, 40.0, 150.0), "1 KiB–64 KiB | yes | saves 50–60 %", "8 bytes, 1 MiB | no | up to 50 % more time"),
        ((100.0, 100.0, 50.0, 20.0), "from 64 KiB | yes | saves 50–80 %"),
        ((100.0, 100.0, 350.0, 100.0), "all sizes | no | up to 3.5 × the time"),
        ((100.0, 100.0, 12300.0, 100.0), "all sizes | no | up to 123 × the time"),
        ((100.0, 101.0, 99.0, 100.0), "all sizes | no | no difference")])
    def test_sizes(self, case):
        """A gain and a loss have a line each."""
        exposed_us, *expected = case
        assert self.gains(by_size(exposed_us)) == [f"MPI_Iallreduce | {line}" for line in expected]

    def test_one_size_of_many(self):
        """May be chance."""
        rows = [gain_cells(8 << place, 100.0, 150.0 if place else 50.0) for place in range(8)]
        assert self.gains(rows) == ["MPI_Iallreduce | from 16 bytes | no | up to 50 % more time"]
        rows = [gain_cells(8 << place, 100.0, 150.0 if place > 1 else 50.0) for place in range(8)]
        assert self.gains(rows)[0] == "MPI_Iallreduce | to 16 bytes | yes | saves 50 %"

    @each("others_us, note", [((106.0, 105.5, 124.0, 105.0, 122.0, 118.0), "saves nothing"),
                              ((110.0, 111.0, 110.5, 111.0, 109.0, 110.0), "up to 10 % more time")])
    def test_even_or_loses(self, others_us, note):
        """A size that surely isn't faster gains nothing, and only a sure loss has a number."""
        launches = [[gain_cells(8, 100.0, 100.0 + run / 10), gain_cells(1024, 100.0, other_us)]
                    for run, other_us in enumerate(others_us)]
        (line,) = self.card(("overlap_iallreduce", OVERLAPS, launches)).parts[-1].lines
        assert line[:5] == ("MPI_Iallreduce", "no", "all sizes", "", note)

    def test_little_to_hide(self):
        """The reason, where no size loses."""
        assert self.gains(by_size(4 * [100.0], overlap_pct=4)) == ["MPI_Iallreduce | all sizes | no | hides less than 10 %"]

    @each("exposed_us", [(50.0, 97.0, 99.0, 101.0, 98.0, 97.5), (97.9, 97.8, 97.7, 97.5, 97.6, 97.4)])
    def test_not_clear(self, exposed_us):
        """Some launches lose or gain nothing; or all are so near to the threshold that chance may have made it."""
        launches = [[gain_cells(8, 100.0, value)] for value in exposed_us]
        (line,) = self.card(("overlap_iallreduce", OVERLAPS, launches)).parts[-1].lines
        assert line[:5] == ("MPI_Iallreduce", "not clear", "8 bytes", "", "launches disagree")

    @each("threshold, answer", [(2, "yes | saves 10 %"), (None, "yes | saves 10 %"), (20, "no | no difference")])
    def test_threshold(self, threshold, answer):
        (line,) = self.gains([gain_cells(8, 100.0, 90.0)], metadata={"threshold": threshold} if threshold else None)
        assert line == f"MPI_Iallreduce | 8 bytes | {answer}"

    def test_few_launches(self):
        """No answer, and the command for more launches, with its duration if a suite knows it."""
        assert self.gains(by_size(4 * [5.0]), launches=5) == [
            "MPI_Iallreduce | all sizes | not clear | needs more launches"]
        card = self.card(("overlap_iallreduce", OVERLAPS, 5 * [by_size(4 * [5.0])]))
        assert card.caveats == ["To settle \"not clear\":\n" + script("run_suite.sh") + " --runs=6"]
        (self.folder / "suite").mkdir()
        (self.folder / "suite" / "plan.tsv").write_text("run\tname\tcommand\n")
        (self.folder / "suite/launches.tsv").write_text("run\tname\tstart\tseconds\texit\tresult\n" + "".join(
            f"{run}\tx\tx\t100\t0\tdone\n" for run in range(5)))
        card = scorecard.card_of(tables.Tables([str(self.folder)]))
        assert card.caveats == [
            f"To settle \"not clear\" (100 s):\n{script('run_suite.sh')} --resume={self.folder} --runs=6"]
        assert not self.card(("overlap_iallreduce", OVERLAPS, 6 * [by_size(4 * [5.0])])).caveats
        # Disagreeing launches are doubled, up to twelve.
        for launches, runs in ((7, ["--runs=14"]), (12, [])):
            card = self.card(("overlap_iallreduce", OVERLAPS, [
                [gain_cells(8, 100.0, 70.0 if run % 2 else 120.0)] for run in range(launches)]))
            assert [text.split()[-1] for text in card.caveats] == runs

    def test_shared_lines(self):
        """Calls with the same answer share one; if there are many lines, whatever the sizes."""
        rows = [row for name, gain in (("iallreduce", 50.0), ("ibcast", 40.0), ("iscan", 150.0))
                for row in by_size(4 * [gain], name)]
        assert self.gains(rows) == ["MPI_Iallreduce, MPI_Ibcast | all sizes | yes | saves 50–60 %",
                                    "MPI_Iscan | all sizes | no | up to 50 % more time"]
        rows = [row for place in range(16) for row in by_size(
            (150.0, *(3 * [50.0 if place % 2 else 150.0])) if place % 3 else 4 * [50.0], f"iop{place}")]
        rows += [row for place in range(12) for row in by_size(4 * [90.0 - place], "partitioned", partitions=place)]
        rows += [row for place in range(14) for row in by_size(
            [50.0 if place & (1 << bit) else 150.0 for bit in range(4)], "halo", method=f"m{place}",
            local=f"{place}x1x1")]
        lines = self.gains(rows)
        assert len(lines) < 12
        assert " | some sizes | yes | " in lines[0]

    @each("cells, label", [
        ({"collective": "isend"}, "MPI_Isend + work + MPI_Wait"),
        ({"collective": "isend", "form": "persistent"}, "MPI_Send_init + work + MPI_Wait"),
        ({"collective": "put"}, "MPI_Rput + work + MPI_Wait"),
        ({"collective": "sendrecv"}, "MPI_Isend + MPI_Irecv + work + MPI_Wait"),
        ({"collective": "ineighbor_alltoall"}, "MPI_Ineighbor_alltoall"),
        ({"form": "persistent"}, "MPI_Allreduce_init"), ({"test_calls": 4}, "MPI_Iallreduce"),
        ({"collective": "partitioned", "partitions": 8}, "MPI_Psend_init with 8 partitions")])
    def test_labels(self, cells, label):
        assert self.gains([gain_cells(1024, 100.0, 50.0, **cells)]) == [f"{label} | 1 KiB | yes | saves 50 %"]

    def test_halo(self):
        rows = [gain_cells(48 * n ** 2, 100.0, 50.0, collective="halo", method=method, local=f"{n}x{n}x{n}")
                for method in ("isend/irecv packed", "persistent") for n in (10, 50)]
        assert self.gains(rows) == ["Non-blocking halo exchange, packed, persistent | all sizes | yes | saves 50 %"]
        assert self.gains(rows[:1])[0].split(" | ")[1] == "10 × 10 × 10"

    def test_put(self):
        rows = single("MPI Send", "none", n1=0.5, n131072=110.0) + single("put", "all", n1=1.0, n131072=27.5)
        self.assertEqual([line for line in self.lines(("pingpong", PINGPONG, rows)) if "vs." in line], [
            "Put + barrier vs. MPI_Send | yes |  | saves 75 %",
            "Put + barrier vs. MPI_Send | no |  | up to 2.0 × the time"])

    def test_time_driven(self):
        """Counts only without rows over sizes."""
        rows = [gain_cells(1 << 20, 1000.0, 400.0, model="time", elements=131072),
                gain_cells(0, 4.0, 2.0, collective="ibarrier", model="time", elements="NA")]
        assert self.gains(rows) == ["MPI_Iallreduce | 1 MiB | yes | saves 60 %", "MPI_Ibarrier |  | yes | saves 50 %"]
        assert self.gains(rows[:1] + by_size(4 * [150.0])) == [
            "MPI_Iallreduce | all sizes | no | up to 50 % more time"]

    @each("overlap_pct, answer", [(95, "yes | hides 95 %"), (30, "partly | hides 30 %"),
                                  (3, "no | hides less than 10 %")])
    def test_without_blocking_calls(self, overlap_pct, answer):
        """The share that can be hidden, of older results, too."""
        rows = [gain_cells(size, None, 50, overlap_pct=overlap_pct) for size in SIZES]
        assert self.gains(rows) == [f"MPI_Iallreduce | all sizes | {answer}"]
        old = [dict(collective="iallreduce", model="data", elements=size, size_bytes=8 * size, ref_us=10,
                    overlap_pct=overlap_pct) for size in (1, 1024)]
        (line,) = self.lines(("overlap_iallreduce", OVERLAP, 6 * [old]))
        assert answer.split(" | ")[0] in line

    def test_usual_rows_decide(self):
        """Without calls of MPI_Test, and non-blocking, if there are such rows."""
        rows = [gain_cells(8, 100.0, 150.0), gain_cells(8, 100.0, 50.0, form="persistent"),
                gain_cells(8, 100.0, 40.0, test_calls=4)]
        self.assertEqual(self.gains(rows), [
            "MPI_Test during MPI_Iallreduce | 8 bytes | yes | saves 110 % with 4 calls",
            "MPI_Allreduce_init instead of new requests | 8 bytes | yes | saves 100 %",
            "MPI_Iallreduce | 8 bytes | no | up to 50 % more time"])

    @each("exposed_us, answer", [
        ({0: 80.0, 1: 60.0, 4: 20.0, 16: 30.0}, "yes | saves 60 % with 4 calls"),
        ({0: 80.0, 1: 20.0}, "yes | saves 60 % with 1 call"),
        ({0: 80.0, "auto": 20.0}, "yes | saves 60 % with 7 calls"),
        ({0: 20.0, 4: 30.0, 16: 60.0}, "no | up to 10 % more time"), ({0: 20.0, 4: 21.0}, "no | no difference")])
    def test_mpi_test(self, exposed_us, answer):
        rows = [gain_cells(8, 100.0, value, test_calls=calls, best_test_calls=7 if calls == "auto" else "NA")
                for calls, value in exposed_us.items()]
        assert f"MPI_Test during MPI_Iallreduce | 8 bytes | {answer}" in self.gains(rows)
        assert not [line for part in (rows[:1], rows[1:]) for line in self.gains(part) if "MPI_Test" in line]

    def test_mpi_test_with_several_numbers(self):
        rows = [gain_cells(size, 100.0, value, test_calls=calls) for size, of_size in (
            (8, {0: 80.0, 4: 20.0, 16: 90.0}), (1024, {0: 80.0, 4: 90.0, 16: 20.0}))
                for calls, value in of_size.items()]
        assert "MPI_Test during MPI_Iallreduce | all sizes | yes | saves 60 % with 4, 16 calls" in self.gains(rows)

    def test_mpi_test_that_surely_helps(self):
        """Rather than a number of calls that may help more, or not at all."""
        launches = [[gain_cells(8, 100.0, 80.0), gain_cells(8, 100.0, 70.0, test_calls=1),
                     gain_cells(8, 100.0, noisy, test_calls=16)] for noisy in (40.0, 95.0, 60.0, 90.0, 65.0, 55.0)]
        lines = self.card(("overlap_iallreduce", OVERLAPS, launches)).parts[-1].lines
        assert [line.note for line in lines if line.label.startswith("MPI_Test")] == ["saves 10 % with 1 call"]

    def test_persistent(self):
        label = "MPI_Allreduce_init instead of new requests"
        rows = by_size((50.0, 51.0, 50.0, 90.0), form="persistent") + by_size(4 * [80.0])
        assert f"{label} | to 64 KiB | yes | saves 29–30 %" in self.gains(rows)
        # A difference between launches hides nothing, one within a launch hides all.
        for of_run, answer in ((lambda run: (50.0 + 20 * run, 60.0 + 20 * run), "yes"),
                               (lambda run: (50.0 + 20 * (run % 2), 60.0), "not clear")):
            launches = [[gain_cells(8, 100.0, usual), gain_cells(8, 100.0, persistent, form="persistent")]
                        for persistent, usual in map(of_run, range(6))]
            lines = self.card(("overlap_iallreduce", OVERLAPS, launches)).parts[-1].lines
            assert (label, answer) in [line[:2] for line in lines]
        # Rows with calls of MPI_Test don't count.
        for usual, persistent in ({"test_calls": 4}, {}), ({}, {"test_calls": 4}):
            rows = [gain_cells(8, 100.0, 50.0, **usual), gain_cells(8, 100.0, 50.0, form="persistent", **persistent)]
            assert not [line for line in self.gains(rows) if label in line]


# ---- the whole -----------------------------------------------------------------------------------

# The sections of a page, and a row of each.
SECTIONS = {
    "Costs": "| Latency, 8 bytes | 0.500 µs | 0.495–0.505 |  |",
    "Worth it?": "| MPI_Iallreduce | 1 KiB–64 KiB | yes | saves 50–80\u00a0% |",
    "Caveats": "- 1 result has wrong data, first halo (method packed, dims 2x1x1, local 10x10x10, ndata 600): try "
               "another version of the MPI library",
    "Overlap: gain of non-blocking calls": "| iallreduce | S -50 | F 50 | F 80 | E |",
    "Latency and bandwidth": "| put | S 1.00 | F 55.0 |",
    "Host overhead and CPU availability": "| send: host overhead (µs) | 0.250 | 3.00 |",
    "Message rate": "| all-start, warm caches | 3.00 |", "Synchronisation": "| ring | F 1.00 |",
    "Halo exchange": "| persistent | 4.00 |", "Noise": "| barrier | 3.00 |",
    "Monitoring overhead": "| MPI_Send | 40.0 |",
    "Warnings: 1": "- wrong data: rows with status FAIL (0 (6 times))",
    "Machine and runs": "| cores | 2 |"}


class Whole(CardCase):
    def test_page(self):
        """The scorecard's lines, then a section for each question, with its numbers and answers."""
        halo = exchanges("10x10x10", persistent=4.0, packed=6.0)
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
        before, *sections = made.as_markdown().split("## ")
        assert before == f"# Communication costs: {self.folder.name}\n\n{title}\n\n"
        self.assertEqual([section.partition("\n")[0] for section in sections], list(SECTIONS))
        for section, row in zip(sections, SECTIONS.values()):
            assert row in section.split("\n"), section
        rows = made.as_html().partition('<details id="syncbench">')[2].partition("</details>")[0]
        assert "<summary>Synchronisation: 2 rows</summary>" in rows
        assert "In all rows: ranks 4. Values are medians over 6 launches, ranges min–max.</p>" in rows
        assert "<th>ring</th><td>1.0</td><td>0.99 to 1.01</td><td>NA</td><td>NA</td><td>6</td><th>NA</th></tr>" in rows

    def test_rows_of_few_launches(self):
        launches = [exchanges("10x10x10", put=4.0, **({"get": 5.0} if run == 0 else {})) for run in range(6)]
        self.card(("halo", HALO, launches))
        text = report_page.Report([str(self.folder)], tables.Tables([str(self.folder)])).page({}).as_html()
        assert "medians over the launches in column launches, ranges min–max. One launch: its interval." in text

    def test_title(self):
        assert self.card(("halo", HALO, exchanges("10x10x10", put=4.0))).title == (
            "commcost on vm: 2 ranks on 1 node, MPICH 4.0.2 (ch4:ucx), 6 launches, 2026-01-02")
        hosts = "; ".join(f"n{place}: {place}" for place in range(5))
        card = self.card(("halo", HALO, exchanges("10x10x10", put=4.0)), metadata={"hosts": hosts}, launches=1)
        assert card.title == (
            "commcost on n0, n1 and 3 more: 2 ranks on 1 node, MPICH 4.0.2, 1 launch, 2026-01-02")

    def test_caveats(self):
        rows = exchanges("10x10x10", persistent=4.0, packed=6.0, put=9.0)
        rows[0]["status"] = "FAIL"
        for row, lost in zip(rows, (9.5, 23.0, 8.0)):
            row["lost_pct"] = lost
        columns = [*HALO, "lost_pct"]
        assert self.card(("halo", columns, rows)).caveats == [
            "1 result has wrong data, first halo (method persistent, dims 2x1x1, local 10x10x10, ndata 600): "
            "try another version of the MPI library",
            "1 of 3 results lost more than 10 % of the time to interruptions: rerun on a quiet machine",
            "1 warning: see \"Warnings\" on the page of report.sh"]
        # One interruption in a short row of one launch of three counts for nothing.
        launches = [[dict(row, status="ok", lost_pct=23 if run == 0 else 1) for row in rows] for run in range(3)]
        assert not self.card(("halo", columns, launches)).caveats
        for most, caveats in ((7.9, []), (8.1, [
                "1 of 2 results vary more than 2 × between launches: rerun on a quiet machine"])):
            launches = [exchanges("10x10x10", persistent=time_us, put=9.0)
                        for time_us in (4.0, most, 6.0, 5.0, 5.0, 4.0)]
            assert self.card(("halo", HALO, launches)).caveats == caveats

    def test_text(self):
        """Columns are aligned, within a terminal, and in ASCII if the locale has no more. No number loses its unit."""
        rows = exchanges("10x10x10", **{"shared window": 14.5, "a method with a name that is longer than others": 29.0})
        card = self.card(("halo", HALO, rows), *(
            (f"overlap_{name}", OVERLAPS, 6 * [by_size(4 * [50.0], name)])
            for name in ("iallreduce", "iscan", "ireduce_scatter_block", "ialltoall")))
        text = card_text.text_of(card)
        self.assertEqual(text, """\
commcost on vm: 2 ranks on 1 node, MPICH 4.0.2 (ch4:ucx), 6 launches, 2026-01-02

Costs                                     median   range      note
  Allreduce, 8 bytes                      100 µs   100–100
  Halo exchange, 10 × 10 × 10             14.5 µs  14.4–14.6  fastest: shared window
  Halo exchange, 10 × 10 × 10, next best  29.0 µs  28.7–29.3  a method with a name that is longer
                                                              than others

Worth it?
  MPI_Iallreduce, MPI_Ialltoall,          all sizes  yes  saves 50 %
    MPI_Ireduce_scatter_block, MPI_Iscan
""")
        with unittest.mock.patch.dict(os.environ, {"LC_ALL": "C"}):
            assert page.readable(text).encode("ascii")
        with unittest.mock.patch.dict(os.environ, {"LC_ALL": "", "LC_CTYPE": "de_DE.utf8"}):
            assert page.readable(text) == text
        assert fact_lines.Line("", "yes", note="saves 50 %").remark == "saves 50\u00a0%"

    def test_disturbed(self):
        """A line on rows most of whose time was lost has a note. More launches don't help there."""
        rows = exchanges("10x10x10", put=4.0, persistent=9.0)
        for row, lost in zip(rows, (74, 1)):
            row["lost_pct"] = lost
        lines = self.card(("halo", [*HALO, "lost_pct"], rows)).parts[0].lines
        assert [line.note for line in lines] == ["fastest: put; disturbed", "persistent"]
        rows = [dict(row, lost_pct=74) for row in by_size(4 * [50.0])]
        for several, launches, answer in ((rows, 6, ("yes", "saves 50 %; disturbed")),
                                          (rows, 5, ("not clear", "disturbed")),
                                          ([rows[0], *by_size(4 * [50.0])[1:]], 6, ("yes", "saves 50 %"))):
            card = self.card(("overlap_iallreduce", OVERLAPS, launches * [several]))
            line = card.parts[-1].lines[-1]
            assert (line.value, line.note) == answer
            assert not [text for text in card.caveats if "--runs" in text]

    def test_command(self):
        self.card(("halo", HALO, exchanges("10x10x10", put=4.0)))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert text_main(["--short", str(self.folder)]) == 0
        assert printed.getvalue().startswith("commcost on vm: ")

    def test_changes(self):
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
        assert [line[:2] for line in lines] == [("Slower", "1 of 2 results"), ("Same", "1 of 2 results")]
        assert lines[0].note == "at most +100 %: syncbench sync_us (sync ring, ranks 2)"
        assert row_changes.SLOWER.capitalize() == lines[0].label
        # The page has the row: twice the median of 10 µs, and p of 2 of 184,756 ways, times two rows.
        text = report_page.Report([str(new), str(base)], tables.Tables([str(new), str(base)])).page({}).as_markdown()
        row, = re.findall(r"\| syncbench \|.*\| slower \|", text)
        assert row == ("| syncbench | sync ring, ranks 2 | sync_us | 10.0000 | 20.0000 | +100.0 % | "
                       "+98.0 to +102.0 % | 2.2e-05 | slower |"), row


# ---- the example of docs/scorecard.md ------------------------------------------------------------

def any_of(templates):
    """A regular expression of texts with {fields}."""
    return "(?:" + "|".join(re.sub(r"\\\{.*?\\\}", ".+", re.escape(template)) for template in templates) + ")"


class Docs(Case):
    def test_example(self):
        """Its lines are those of the table, in the columns that the scorecard prints."""
        with open(os.path.join(TOP, "docs/scorecard.md"), encoding="utf-8") as stream:
            example = stream.read().split("## Output")[1].split("```\n")[1]
        assert max(map(len, example.splitlines())) <= page.WIDTH
        head, *lines = re.sub("\n {6,}", " ", example).splitlines()
        self.assertRegex(head, r"^commcost on .+: \d+ ranks on \d+ node.*, .+ \(.+\), \d+ launches, \d{4}-\d\d-\d\d$")
        costs = list(card_table.COST_LINES.values())
        labels = any_of(cost.label for cost in costs)
        note = any_of([cost.remedy for cost in costs if cost.remedy] + [getattr(card_table, name) for name in (
            "FASTEST NONE_FASTEST SOME_LAUNCHES NO_CAUSE OF_THE_TIME PREDICTED DISTURBED").split()])
        cost = (rf"{labels}  +(?:< )?[\d.]+ (?:ns|µs|ms|s|%|[kMG]?B?/s)(?:  +[\d.]+–[\d.]+)?"
                rf"(?:  +{note}(?:[;:] {note})*)?")
        following = any_of(card_table.NEXT_FASTEST.format(cost.label) for cost in costs if cost.way)
        cost = rf"(?:{cost}|{following}  .+–[\d.]+  +[a-z/ ]+)"
        texts = [getattr(card_table, name) for name in (
            "SAVES HIDES AVAILABLE EVEN_NOTE NO_NOTE MORE_TIME TIMES_AS_LONG DISAGREE TOO_FEW").split()]
        gain = rf"{any_of(card_table.GAIN_LINES.values())}  +\S.*  +(?:yes|partly|no|not clear)  +{any_of(texts)}"
        caveat = any_of(template.replace("\n", " ") for template in (
            card_table.WRONG_DATA, card_table.LOST_TIME, card_table.UNSTEADY, card_table.DECIDE,
            card_table.PROGRAM_WARNINGS))
        section, patterns = "", {"Costs": cost, "Worth": gain, "Caveats": caveat}
        for line in filter(None, lines):
            if line.startswith("  "):
                self.assertRegex(line.strip(), f"^{patterns[section]}$")
            else:
                section = line.split()[0].rstrip("?")
        assert section in ("Worth", "Caveats")
