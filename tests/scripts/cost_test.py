# SPDX-License-Identifier: BSD-3-Clause
"""cost.sh on a monitor's report and results that were made by hand, where every number is known."""

import json
import os
import subprocess

from case import Case, Near, each, within
from commands import command
from commcost.cost import call_ways
from commcost.result import intervals, rank_hosts
from made_results import GAIN, SYNC, gain_cells, gain_roles, tsv
from mpi_run import number, read_tsv
from schemas import violations

REPORT = ("kind comm operation ranks calls completed bytes members rank slowest_s slowest_rank "
          "in_calls_s computed_s size_bytes waited_s waited_lo_s waited_hi_s last_calls last_rank "
          "callers computed_after_s joinable neighbours least_waited_s in_waits_s waited_files_s").split()
KEYS = ("kind", "comm", "operation", "ranks", "members", "rank", "size_bytes")
SECONDS = 10.0  # of the run


def calls(kind, operation, **cells):
    """A row of a report of 2 processes: sums over both."""
    made = dict.fromkeys(REPORT, "NA")
    made.update(kind=kind, operation=operation, comm="grid", members="0-1", ranks=2, callers=2, waited_files_s=0.0)
    made.update(cells)
    if kind == "sizes":
        made.update({name: made[name] if made[name] != "NA" else 0
                     for name in ("computed_s", "computed_after_s", "joinable")})
    made["completed"] = made["calls"]
    return made


def sized(operation, times, size, in_calls_s, **cells):
    """A row of kind sizes: each of 2 processes makes `times` calls."""
    return calls("sizes", operation, calls=2 * times, bytes=2 * times * size, size_bytes=size,
                 in_calls_s=in_calls_s, **cells)


def total(in_calls_s, slowest_s):
    return calls("total", "MPI", comm="NA", members="NA", ranks="NA", callers="NA",
                 in_calls_s=in_calls_s, slowest_s=slowest_s, slowest_rank=1)


class Made:
    """A report and a folder of results."""

    def __init__(self, folder):
        self.folder = folder
        self.report = str(folder / "report.tsv")
        self.results = folder / "results"
        self.results.mkdir()

    def write_report(self, *rows, columns=REPORT, end=True, **metadata):
        roles = " ".join(f"{name}={'key' if name in KEYS else 'info'}" for name in columns)
        text = tsv("mpirtmon", columns, [[row[name] for name in columns] for row in rows],
                   metadata={"schema": 2, "snapshot_s": SECONDS, "command": "./a.out", **metadata,
                             "columns": roles})
        with open(self.report, "w", encoding="utf-8") as stream:
            stream.write(text + (f"# end: {len(rows)} rows, exit 0\n" if end else ""))

    def write_results(self, collective, *rows, ranks=2, name=None, **metadata):
        """Rows of an overlap program, by gain_cells."""
        text = tsv(f"overlap_{collective}", GAIN,
                   [[{**row, "collective": collective}[column] for column in GAIN] for row in rows],
                   metadata={"ranks": ranks, "columns": gain_roles(GAIN), **metadata})
        (self.results / f"{name or collective}.tsv").write_text(text)

    def write_rates(self, *rates):
        """Pairs of bytes and messages a second, sent and received, with warm caches; with cold ones
        and in other patterns fewer."""
        columns = ("pattern", "nbytes", "cache_size", "rate_per_s", "rate_lo_per_s", "rate_hi_per_s",
                   "lost_pct", "status")
        rows = [(pattern, nbytes, cache, *[rate / slower] * 3, 0.0, "ok") for nbytes, rate in rates
                for pattern, cache, slower in (("all-start", 0, 1), ("all-start", 4096, 3),
                                               ("pair-based", 0, 2))]
        roles = " ".join(f"{name}={'key' if name in columns[:3] else 'info'}" for name in columns)
        (self.results / "msgrate.tsv").write_text(
            tsv("msgrate", columns, rows, metadata={"ranks": 2, "columns": roles}))

    def start(self, *words, locale="C.UTF-8"):
        return command("cost", *words, self.report, self.results, environment={**os.environ, "LC_ALL": locale})

    def table(self, *words):
        """Returns the rows of the table, and the whole output."""
        done = self.start("--format=tsv", *words)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return read_tsv(done.stdout), done.stdout

    def text(self, *words):
        """Returns the output, in one line."""
        done = self.start(*words)
        assert done.returncode == 0, done.stderr
        return " ".join(done.stdout.split())


def of_kind(rows, kind):
    return [row for row in rows if row["kind"] == kind]


def saving(rows, change):
    """(saved, lo, hi) of a change, None where it isn't proposed."""
    found = [row for row in rows if row["change"] == change]
    assert len(found) <= 1
    return tuple(number(found[0][name]) for name in ("saved_s", "saved_lo_s", "saved_hi_s")) \
        if found else None


def words_of(rows, change):
    """The text of a change that is proposed."""
    row, = (row for row in rows if row["change"] == change)
    return row["text"]


class CostCase(Case):
    def setUp(self):
        super().setUp()
        self.made = Made(self.folder)

    def cost(self):
        """The only row of kind cost."""
        row, = of_kind(self.made.table()[0], "cost")
        return row

    def machine_us(self, *names):
        """Returns the cost of calls on the machine, by these columns."""
        return {tuple(row[name] for name in names) if len(names) > 1 else row[names[0]]: row["machine_us"]
                for row in of_kind(self.made.table()[0], "cost")}

    def uncovered(self):
        return [row["text"] for row in of_kind(self.made.table()[0], "uncovered")]


# ---- what calls cost -----------------------------------------------------------------------------

def point(size, time_us):
    return gain_cells(size, time_us, time_us / 2, 0)


class Written(CostCase):
    def test_output_is_no_input(self):
        """Neither the report nor a result is replaced (others: tests/programs/input/scripts_test.py)."""
        self.made.write_report(total(3.0, 1.8))
        self.made.write_results("iallreduce", gain_cells(8, 20, 15))
        for path in (self.made.report, self.made.results / "iallreduce.tsv"):
            with open(path, encoding="utf-8") as stream:
                before = stream.read()
            os.symlink(path, self.folder / "link")
            for name in (path, self.folder / "link"):
                done = self.made.start(f"--output={name}")
                assert done.returncode == 2 and "is an input" in done.stderr, done.stderr
            os.remove(self.folder / "link")
            with open(path, encoding="utf-8") as stream:
                assert stream.read() == before


class WhatCallsCost(CostCase):
    def test_cost_of_a_collective(self):
        """40,000 calls of 20 us: 0.8 s; 0.5 s waiting; the rest is unexplained."""
        self.made.write_report(
            calls("coll", "MPI_Allreduce", calls=80000, bytes=640000, in_calls_s=3.0, waited_s=1.0,
                  waited_lo_s=0.9, waited_hi_s=1.1, last_calls=2048, last_rank=1),
            sized("MPI_Allreduce", 40000, 8, 3.0), total(3.0, 1.8))
        self.made.write_results("iallreduce", gain_cells(8, 20, 15))
        row = self.cost()
        found = {name: number(row[name]) for name in (
            "calls", "in_calls_s", "machine_us", "machine_lo_us", "machine_hi_us", "machine_s", "waited_s",
            "waited_lo_s", "unexplained_s")}
        assert found == Near({"calls": 40000, "in_calls_s": 1.5, "machine_us": 20, "machine_lo_us": 19.5,
                              "machine_hi_us": 20.5, "machine_s": 0.8, "waited_s": 0.5, "waited_lo_s": 0.45,
                              "unexplained_s": 0.2})
        assert row["rests_on"] == "overlap_iallreduce (size_bytes=8)"

    @each("size, cost_us", [
        (1024, 100), (2048, 200), (1536, 150), (1025, 100 + 100 / 1024), (8192, 300)])
    def test_between_measured_sizes(self, size, cost_us):
        self.made.write_report(sized("MPI_Allreduce", 10, size, 1.0))
        self.made.write_results("iallreduce", point(1024, 100), point(2048, 200), point(8192, 300))
        assert number(self.cost()["machine_us"]) == within(cost_us, 0.001)

    @each("place, size, cost_us", [
        ("node", 8192, 2 + 7.168), ("node", 32768, 100 - 65.536), ("node", 2048, 2 + 1.024), ("node", 65528, 100 - 0.016),
        ("net", 8192, 2 + 98 * 7168 / 64512)])
    def test_on_either_side_of_a_protocol_switch(self, place, size, cost_us):
        """By the measured size on the same side, and the time per byte there. Without a curve of the place linear."""
        self.made.write_report(sized("MPI_Send", 10, size, 1.0))
        self.made.write_results("isend", point(1024, 2), point(65536, 100), nodes=1)
        columns = ("operation", "place", "piece", "from_bytes", "to_bytes", "latency_us", "byte_ns", "status")
        rows = [("send", place, 1, 8, 16384, 1, 1, "ok"), ("send", place, 2, 16392, 65536, 4, 2, "ok")]
        roles = " ".join(f"{name}={'key' if name in columns[:3] else 'info'}" for name in columns)
        (self.made.results / "protocols.tsv").write_text(
            tsv("pingpong", columns, rows, metadata={"ranks": 2, "nodes": 1, "columns": roles}))
        assert number(self.cost()["machine_us"]) == within(cost_us, 0.001)

    @each("size", [1023, 8193, 0])
    def test_never_beyond_them(self, size):
        self.made.write_report(sized("MPI_Alltoall", 10, size, 1.0))
        self.made.write_results("ialltoall", point(1024, 100), point(8192, 300))
        assert self.cost()["machine_us"] == "NA"
        missing, = self.uncovered()
        assert missing.startswith("mpirun -np 2 overlap/overlap_ialltoall --sizes=" if size else
                                  "MPI_Alltoall: no benchmark measures 0 bytes")

    def test_less_than_an_element(self):
        """The benchmarks' elements have 8 bytes: what is smaller costs as much."""
        self.made.write_report(sized("MPI_Allreduce", 10, 4, 1.0))
        self.made.write_results("iallreduce", point(8, 100))
        assert number(self.cost()["machine_us"]) == 100

    def test_other_numbers_of_processes(self):
        """A collective of 4 isn't covered by one of 2; a message is."""
        self.made.write_report(
            sized("MPI_Allreduce", 10, 8, 1.0, ranks=4, callers=4),
            sized("MPI_Sendrecv", 10, 8, 1.0, ranks=4, callers=4))
        self.made.write_results("iallreduce", point(8, 100))
        self.made.write_results("sendrecv", point(8, 50))
        assert self.machine_us("operation") == {"MPI_Allreduce": "NA", "MPI_Sendrecv": "50.000"}
        assert self.uncovered() == [
            f"mpirun -np 4 overlap/overlap_iallreduce --sizes=8:8 --output={self.made.results}/overlap_iallreduce_4.tsv"]
        self.made.write_results("iallreduce", point(8, 300), ranks=4, name="four")
        assert self.machine_us("operation")["MPI_Allreduce"] == "300.000"

    @each("function, size, us", [("MPI_Barrier", 0, 1.5), ("MPI_Win_fence", 0, 2.5), ("MPI_Allreduce", 0, 3.5),
                                 ("MPI_Allreduce", 8, 100)])
    def test_calls_without_data_by_syncbench(self, function, size, us):
        self.made.write_report(sized(function, 10, size, 1.0))
        self.made.write_results("iallreduce", point(8, 100))
        (self.made.results / "syncbench.tsv").write_text(tsv(
            "syncbench", SYNC, [[name, 1, ranks, 0, 0, time_us, time_us, time_us, "ok"] for name, ranks, time_us in (
                ("MPI barrier", 2, 1.5), ("fence", 4, 9.5), ("fence", 2, 2.5), ("allreduce 0 bytes", 4, 9.5),
                ("allreduce 0 bytes", 2, 3.5), ("allreduce 1 byte", 2, 4.5))]))
        assert number(self.cost()["machine_us"]) == us
        assert self.uncovered() == []

    def test_start_and_wait(self):
        """Of 1.29 s a process is 0.09 s in starts; a blocking call has no wait. An earlier report doesn't tell."""
        rows = [sized("MPI_Isend", 100, 4 << 20, 2.58, in_waits_s=2.4), sized("MPI_Allreduce", 100, 8, 0.5, in_waits_s=0.0),
                total(3.08, 2.0)]
        self.made.write_results("isend", *(gain_cells(size, 13000, 100, 0) for size in (8, 8 << 20)))
        self.made.write_report(*rows)
        assert {row["operation"]: row["in_waits_s"] for row in of_kind(self.made.table()[0], "cost")} == {
            "MPI_Isend": "1.200000000", "MPI_Allreduce": "0.000000000"}
        text = self.made.text()
        assert "calls times in MPI in waits each undisturbed other" in text.replace("waiting ", "")
        assert "MPI_Isend of 4MiB 100 1.29 1.20 100" in text
        assert "MPI_Allreduce of 8 bytes 100 0.250 Seconds, means over the ranks" in text
        self.made.write_report(*rows, columns=[name for name in REPORT if name != "in_waits_s"])
        assert "MPI_Isend of 4MiB 100 1.29 100" in self.made.text()

    def test_exchanges(self):
        """Sends and receives of the same number are exchanges: each has half of the cost."""
        self.made.write_report(sized("MPI_Isend", 100, 64, 0.1), sized("MPI_Irecv", 100, 64, 0.5),
                               sized("MPI_Isend", 7, 1024, 0.1), sized("MPI_Irecv", 100, 1024, 0.5))
        self.made.write_results("sendrecv", gain_cells(64, 60, 10, ref_us=50, ref_lo_us=49, ref_hi_us=51))
        self.made.write_results("irecv", gain_cells(1024, 80, 10, ref_us=40, ref_lo_us=40, ref_hi_us=40))
        assert self.machine_us("operation", "size_bytes") == {
            ("MPI_Isend", "64"): "25.000", ("MPI_Irecv", "64"): "25.000",
            ("MPI_Isend", "1024"): "NA", ("MPI_Irecv", "1024"): "40.000"}

    def test_blocking_calls_by_collective(self):
        """Where collective has the size and the number of processes its time counts, of doubles by root 0 that aren't in
        place; elsewhere blocking_us."""
        columns = "operation type op in_place root size_bytes time_us time_lo_us time_hi_us lost_pct status".split()
        roles = " ".join(f"{name}={'key' if place < 6 else 'less' if name == 'time_us' else 'info'}"
                         for place, name in enumerate(columns))
        rows = [["allreduce", "double", "sum", "no", "NA", size, *3 * [time_us], 0, "ok"] for size, time_us in
                ((8, 60), (64, 116))]
        rows += [["allreduce", *others, 8, *3 * [1], 0, "ok"] for others in (
            ("int", "sum", "no", "NA"), ("double", "max", "no", "NA"), ("double", "sum", "yes", "NA"))]
        rows += [["bcast", "double", "NA", "no", root, 8, *3 * [time_us], 0, "ok"] for root, time_us in
                 ((0, 7), (1, 1), ("rotate", 1))]
        for ranks in (2, 4):
            (self.made.results / f"collective{ranks}.tsv").write_text(
                tsv("collective", columns, rows if ranks == 2 else rows[:1], metadata={"ranks": ranks, "columns": roles}))
        self.made.write_report(*(sized(function, 10, size, 0.1) for function, size in (
            ("MPI_Allreduce", 8), ("MPI_Allreduce", 36), ("MPI_Allreduce", 512), ("MPI_Bcast", 8))))
        self.made.write_results("iallreduce", point(8, 100), point(1024, 200))
        assert self.machine_us("operation", "size_bytes") == {
            ("MPI_Allreduce", "8"): "60.000", ("MPI_Allreduce", "36"): "88.000",
            ("MPI_Allreduce", "512"): "149.606", ("MPI_Bcast", "8"): "7.000"}

    def test_who_only_sends_exchanges_nothing(self):
        self.made.write_report(sized("MPI_Isend", 50, 64, 0.1, callers=1), sized("MPI_Irecv", 50, 64, 0.5, callers=1))
        self.made.write_results("sendrecv", point(64, 60))
        assert self.machine_us("operation") == {"MPI_Isend": "NA", "MPI_Irecv": "NA"}

    @each("function, operation, column, form", [
        ("MPI_Allreduce", "iallreduce", "blocking_us", "nonblocking"),
        ("MPI_Iallreduce", "iallreduce", "ref_us", "nonblocking"),
        ("MPI_Allreduce_init", "iallreduce", "ref_us", "persistent"),
        ("MPI_Ireduce_scatter", "ireduce_scatter", "ref_us", "nonblocking"),
        ("MPI_Scatter", "iscatter", "blocking_us", "nonblocking"),
        ("MPI_Send", "isend", "blocking_us", "nonblocking"),
        ("MPI_Send_init", "isend", "ref_us", "nonblocking"),
        ("MPI_Put", "put", "blocking_us", "nonblocking"),
        ("MPI_Rget", "get", "ref_us", "nonblocking"),
        *((name, None, None, None) for name in ("MPI_Comm_split", "MPI_Init", "MPI_Ibsend", "other MPI"))])
    def test_which_rows(self, function, operation, column, form):
        expected = operation and call_ways.Way(operation, column, form)
        assert call_ways.way_of(function) == expected


# ---- what would save time ------------------------------------------------------------------------------

def stencil(made, after_s, in_calls_s=(0.1, 0.5), **cells):
    """1000 exchanges of 300 us, of which 60 can't be hidden; in calls 0.3 s a process."""
    made.write_report(sized("MPI_Isend", 1000, 64, in_calls_s[0], **cells),
                      sized("MPI_Irecv", 1000, 64, in_calls_s[1], computed_after_s=after_s))
    made.write_results("sendrecv", gain_cells(64, 320, 60, 0, ref_us=300, ref_lo_us=300,
                                              ref_hi_us=300))


class WhatWouldSaveTime(CostCase):
    @each("times, last_calls, least_s, expected", [
        # A rank that is always last: nobody would wait if all had as much to do. Of one that is last in half of the
        # calls nothing is its fault.
        (1000, 1000, "NA", (2.0, 1.9, 2.1)), (1000, 750, "NA", (1.0, 0.95, 2.1)), (1000, 500, "NA", None),
        (1000, 400, "NA", None),
        # Whoever is last in however many calls: what both wait alike is nobody's fault.
        (1000, 500, 0.0, (2.0, 1.9, 2.1)), (1000, 500, 1.0, (1.0, 0.95, 2.1)), (1000, 500, 2.0, None),
        # Processes are late alternately, and one happens to be so once more than others.
        (1000, 500, 1.9, None), (1000000, 500000, 1.9, None), (1000000, 500000, 1.8, (0.2, 0.19, 2.1)),
        # One call, or few, may have any process last.
        (1, 0, 0.0, None), (8, 4, 0.0, None), (10, 5, 0.0, (2.0, 1.9, 2.1))])
    def test_balance(self, times, last_calls, least_s, expected):
        """Each of two processes waits 2 s on average."""
        self.made.write_report(
            calls("coll", "MPI_Alltoall", calls=2 * times, bytes=16 * times, in_calls_s=5.0, waited_s=4.0,
                  waited_lo_s=3.8, waited_hi_s=4.2, last_calls=last_calls, last_rank=1, least_waited_s=least_s),
            sized("MPI_Alltoall", times, 8, 5.0))
        self.made.write_results("ialltoall", point(8, 100))
        rows, _ = self.made.table()
        assert saving(rows, "balance") == (None if expected is None else Near(expected))
        if last_calls == 750:
            assert words_of(rows, "balance") == (
                "Balance the load before MPI_Alltoall. Give rank 1 less work: it comes last in 75.0 % of the calls. "
                "A rank waits 2.00 s for late ranks, on average.")

    def test_uneven_work(self):
        """Rank 1 is 3 s in MPI and rank 0 is 1 s: all others wait for that, wherever they do."""
        own = [calls("total", "MPI", comm="NA", members="NA", ranks="NA", callers="NA", rank=rank,
                     in_calls_s=in_s) for rank, in_s in ((0, 1.0), (1, 3.0))]
        rows = [sized("MPI_Isend", 1000, 64, 1.0), total(4.0, 3.0)]
        self.made.write_results("sendrecv", point(64, 100))
        self.made.write_report(*rows, *own)
        assert "Load imbalance: 1.00 s, 10.0 % of the run; rank 0 works most\n" in self.made.table()[1]
        self.made.write_report(*rows, *(dict(row, in_calls_s=2.0) for row in own))
        assert "imbalance" not in self.made.text()

    def test_files(self):
        """Rank 0 comes late to barriers from files: that is no work that could be spread. What else it is late for is."""
        rows = [calls("calls", name, comm="NA", members="NA", ranks="NA", calls=40, in_calls_s=in_s, bytes=size)
                for name, in_s, size in (("MPI_File_write_at_all", 8.0, 40 << 20), ("MPI_File_sync", 2.0, 0),
                                         ("MPI_Init", 0.4, "NA"), ("MPI_Finalize", 0.2, "NA"))]
        self.made.write_results("ibarrier", point(8, 1))
        for files_s, saved in ((1.0, None), (0.5, (0.25, 0.225, 0.275)), ("NA", None)):
            self.made.write_report(
                *rows, calls("coll", "MPI_Barrier", calls=2000, bytes=0, in_calls_s=1.1, waited_s=1.0, waited_lo_s=0.9,
                             waited_hi_s=1.1, last_calls=1000, last_rank=0, least_waited_s=0.0, waited_files_s=files_s),
                sized("MPI_Barrier", 1000, 0, 1.1), total(11.7, 6.0))
            found = saving(self.made.table()[0], "balance")
            assert found == (None if saved is None else Near(saved)), found
            text = self.made.text()
            assert ("the report has no waiting for file operations" in text) == (files_s == "NA")
            assert f"Waiting for file operations {'0.500' if files_s == 1 else '0.250'}" in text or files_s == "NA"
            assert ("Waiting for late ranks" in text) == (files_s != 1)
            assert "File operations 5.00 50.0 % most in MPI_File_write_at_all" in text
            assert "MPI startup and shutdown 0.300 3.00 % most in MPI_Init" in text
            assert "MPI_File_write_at_all of 1MiB 20 4.00" in text

    def test_results_that_say_little(self):
        """Where the system took the processors; and a report of the monitor's as results."""
        self.made.write_report(sized("MPI_Allreduce", 1000, 8, 1.0), total(1.0, 0.5))
        self.made.write_results("iallreduce", dict(point(8, 100), lost_pct=6.0), point(64, 100))
        assert ("# warning: 1 of 1 result lost more than 5 % of the time to interruptions: rerun the benchmarks on a quiet "
                "machine\n") in self.made.table()[1]
        self.made.write_results("iallreduce", dict(point(8, 100), lost_pct=4.0), point(64, 100))
        assert "interruptions" not in self.made.text()
        os.rename(self.made.report, self.made.results / "iallreduce.tsv")
        self.made.write_report(sized("MPI_Allreduce", 1000, 8, 1.0), total(1.0, 0.5))
        assert ("# warning: no results of an overlap program, collective, syncbench or msgrate: use a results folder of "
                "run_suite.sh\n") in self.made.table()[1]

    def test_balance_where_the_root_waits(self):
        """Of 8 ranks the root waits 0.8 s for one: 7/8 of that is saved."""
        self.made.write_report(calls("coll", "MPI_Reduce", calls=8000, bytes=64000, in_calls_s=1.0, ranks=8,
                                     callers=8, waited_s=0.8, waited_lo_s=0.8, waited_hi_s=0.8, last_calls=1000,
                                     last_rank=5, least_waited_s=0.0))
        self.made.write_results("ireduce", point(8, 1))
        assert saving(self.made.table()[0], "balance") == Near((0.7, 0.7, 0.7))

    def test_alike_communicators_share_what_was_waited(self):
        """Two of one name: 1.8 s of 22 s in calls."""
        self.made.write_report(*(calls("coll", "MPI_Allreduce", calls=2, bytes=16, in_calls_s=in_s,
                                       waited_s=waited, waited_lo_s=waited, waited_hi_s=waited, last_calls=0,
                                       last_rank=1) for in_s, waited in ((2.0, 1.8), (20.0, 0.0))),
                               sized("MPI_Allreduce", 1, 8, 20.0))
        self.made.write_results("ibcast", point(8, 1))
        row, = of_kind(self.made.table()[0], "cost")
        assert number(row["waited_s"]) == Near(1.8 / 2 * 20 / 22)

    @each("after_s, in_calls_s, expected", [
        (2.0, (0.1, 0.5), (0.24, 0.24, 0.24)),
        (0.4, (0.1, 0.5), (0.2, 0.2, 0.2)),  # there is too little to compute
        # Partners come late: 0.9 s in calls where 0.3 are the messages' own: at most all of it, at least what is known.
        (9.0, (0.3, 1.5), (0.24, 0.24, 0.84))])
    def test_hide_messages(self, after_s, in_calls_s, expected):
        stencil(self.made, after_s, in_calls_s)
        rows, _ = self.made.table()
        assert saving(rows, "hide") == Near(expected)
        assert words_of(rows, "hide") == (
            "Overlap MPI_Isend and MPI_Irecv of 64 bytes with work. Start them before work that doesn't need the data, "
            f"and complete them after it. Each takes {500 * sum(in_calls_s):.0f} µs in MPI, of which 60.0 µs can't "
            "be hidden. The program works 0 µs between start and wait. "
            f"The program works {500 * after_s:.0f} µs after it.")

    @each("after_s, hidden_s", [(9.0, 0.3), (0.4, 0.2), (0.0, None)])
    def test_hide_collectives(self, after_s, hidden_s):
        """Of 50 us each all but 20 us, as far as either rank has work after them."""
        self.made.write_report(sized("MPI_Allreduce", 10000, 64, 1.0, computed_after_s=after_s))
        self.made.write_results("iallreduce", gain_cells(64, 50, 20, 0))
        found = saving(self.made.table()[0], "hide")
        assert found is None if hidden_s is None else found == Near((hidden_s, hidden_s, hidden_s))

    def test_hide_collectives_that_are_started(self):
        """Behind 80 of 530 us of work there are 450."""
        self.made.write_report(sized("MPI_Iallreduce", 10000, 64, 1.0, computed_after_s=9.0, computed_s=1.6))
        self.made.write_results("iallreduce", gain_cells(64, 50, 20, 0, ref_us=50, ref_lo_us=50, ref_hi_us=50))
        rows, _ = self.made.table()
        assert saving(rows, "hide") == Near((0.3, 0.3, 0.3))
        assert words_of(rows, "hide") == (
            "Overlap MPI_Iallreduce of 64 bytes with work. Call MPI_Wait after work that doesn't need the result. Each takes "
            "50.0 µs in MPI, of which 20.0 µs can't be hidden. "
            "The program works 80.0 µs between start and wait. The program works 450 µs after it.")

    def test_hide_puts(self):
        """Their flush can come after work."""
        self.made.write_report(sized("MPI_Put", 10000, 64, 1.0, computed_after_s=9.0))
        self.made.write_results("put", gain_cells(64, 50, 20, 0))
        rows, _ = self.made.table()
        assert saving(rows, "hide") == Near((0.3, 0.3, 0.3))
        assert words_of(rows, "hide").startswith(
            "Overlap MPI_Put of 64 bytes with work. Flush after work that doesn't need the data. Each takes 50.0 µs")

    def test_what_the_next_run_shows(self):
        """Where the system takes 1 % of 10 s in stops of 4 ms, 25 of them, a run has 5 more or less."""
        self.made.write_report(sized("MPI_Sendrecv", 1000, 64, 1.0, computed_after_s=9.0))
        self.made.write_results("sendrecv", gain_cells(64, 500, 100, 0, lost_pct=1))
        assert saving(self.made.table()[0], "hide") == Near((0.4, 0.36, 0.44))

    def test_nothing_is_left_to_hide(self):
        stencil(self.made, after_s=2.0, in_calls_s=(0.05, 0.07))
        assert saving(self.made.table()[0], "hide") is None
        assert "No change is certain to save 1 % of the run." in self.made.text()
        assert "No change is certain to save 2.5 % of the run" in self.made.text("--min-saving=2.5%")

    def test_merge_collectives(self):
        """Two of three allreduces of 8 bytes follow another one: 300 of 20 us become 100 of 24 us."""
        self.made.write_report(sized("MPI_Allreduce", 300000, 8, 12.0, joinable=400000))
        self.made.write_results("iallreduce", gain_cells(8, 20, 20, 0), gain_cells(32, 26, 26, 0))
        rows, _ = self.made.table()
        assert saving(rows, "merge-collectives") == Near((3.6, 3.6, 3.6))
        assert words_of(rows, "merge-collectives") == (
            "Merge 3 MPI_Allreduce of 8 bytes into one of 24 bytes. Only possible if none of them needs the result of "
            "another. 3.00 calls follow each other within 1 µs, on average.")

    def test_a_launch_that_is_slower_is_so_at_all_sizes(self):
        """Of 8 and 16 bytes 10 and 12 us, or 20 and 24: the ratio is 1.2 in both."""
        self.made.write_report(sized("MPI_Allreduce", 100000, 8, 2.0, joinable=100000))
        for launch, factor in (("a", 1), ("b", 2)):
            self.made.write_results("iallreduce", gain_cells(8, 10 * factor, 10, 0),
                                    gain_cells(16, 12 * factor, 10, 0), name=launch, date=launch)
        # 1 s in calls; the machine's 1 to 2 s allow that: 40 % of it.
        assert saving(self.made.table()[0], "merge-collectives") == Near((0.4, 0.4, 0.8))

    def test_merge_messages(self):
        """Groups of four of 64 bytes, of which one of 256 would take 30 us. They are 100 us in calls, but
        what they take beyond their own cost is waiting for partners, which packing doesn't mend."""
        self.made.write_report(sized("MPI_Isend", 40000, 64, 1.0, joinable=60000),
                               sized("MPI_Irecv", 40000, 64, 1.0))
        self.made.write_results("sendrecv",
                                *(gain_cells(size, 40, 5, 0, ref_us=us, ref_lo_us=us, ref_hi_us=us)
                                  for size, us in ((64, 24), (256, 30))))
        # By the benchmarks a group takes 24 us and three times the 5 us that nothing hides.
        rows, _ = self.made.table("--min-saving=0")
        assert saving(rows, "merge-messages") == Near((0.09, 0.09, 0.7))
        assert words_of(rows, "merge-messages") == (
            "Pack 4 MPI_Isend of 64 bytes into one of 256 bytes. 4.00 messages go to the same rank before it "
            "answers, on average. The saving excludes the time to pack them.")
        assert self.uncovered() == [
            f"mpirun -np 2 msgrate/msgrate --peers=1 --cache=0 --sizes=64:64 --output={self.made.results}/msgrate_2.tsv"]
        # Where many go, one comes 20 us after the other: 10 sent and 10 received in 200 us.
        self.made.write_rates((8, 1e6), (64, 1e5))
        assert saving(self.made.table()[0], "merge-messages") == Near((0.54, 0.54, 0.7))
        # A time below the part that can't be hidden counts for nothing.
        self.made.write_rates((64, 1e6))
        assert saving(self.made.table("--min-saving=0")[0], "merge-messages") == Near((0.09, 0.09, 0.7))

    def test_merged_messages_may_differ_in_size(self):
        """A header of 8 bytes comes before each message of 56: two become one of 64."""
        self.made.write_report(sized("MPI_Isend", 10000, 8, 1.0), sized("MPI_Irecv", 10000, 8, 1.0),
                               sized("MPI_Isend", 10000, 56, 1.0, joinable=20000),
                               sized("MPI_Irecv", 10000, 56, 1.0))
        self.made.write_results("sendrecv", *(
            gain_cells(size, 60, 40, 0, ref_us=50, ref_lo_us=50, ref_hi_us=50) for size in (8, 64)))
        rows, text = self.made.table()
        # 10000 times 50 and 40 us, less 50.
        assert saving(rows, "merge-messages")[0] == Near(0.4)
        assert "2.00 messages go to the same rank before it answers" in text

    def test_drop_flushes(self):
        """The idle ones, of one rank. Other calls of windows stay."""
        self.made.write_report(calls("calls", "MPI_Win_flush", calls=1250, in_calls_s=0.625, callers=1, joinable=1000),
                               calls("calls", "MPI_Win_flush_all", calls=1000, in_calls_s=0.5, joinable=0),
                               calls("calls", "MPI_Win_lock", calls=1000, in_calls_s=0.5, joinable=500))
        self.made.write_results("put", point(8, 100))
        rows, _ = self.made.table()
        assert saving(rows, "drop-flushes") == Near((0.5, 0.49998, 0.50002))
        assert len(of_kind(rows, "saving")) == 1

    def test_persistent(self):
        self.made.write_report(sized("MPI_Iallreduce", 10000, 8, 0.8))
        rows = [gain_cells(8, 50, 50, 0, form=form, ref_us=us, ref_lo_us=us, ref_hi_us=us)
                for form, us in (("nonblocking", 40), ("persistent", 10))]
        self.made.write_results("iallreduce", *rows)
        rows, _ = self.made.table()
        assert saving(rows, "persistent") == Near((0.3, 0.3, 0.3))
        assert words_of(rows, "persistent") == (
            "Use persistent requests for MPI_Iallreduce of 8 bytes. Call MPI_Allreduce_init once, and MPI_Start each time. "
            "A persistent request takes 25.0 % of the time.")
        assert {row["rests_on"] for row in of_kind(rows, "saving") if row["change"] == "persistent"} == {
            "overlap_iallreduce (size_bytes=8); overlap_iallreduce (form=persistent size_bytes=8)"}


# ---- another machine -----------------------------------------------------------------------------

class AnotherMachine(CostCase):
    def test_what_if(self):
        """Of 100 us at 2048 bytes 60 are latency, what the smallest size takes: with half of it and
        twice the bandwidth 50 are left."""
        self.made.write_report(sized("MPI_Allreduce", 10000, 2048, 3.0), total(3.0, 1.5))
        self.made.write_results("iallreduce", point(8, 60), point(2048, 100))
        text = self.made.text("--what-if=latency=-50%,bandwidth=x2")
        assert "Saved by the other machine 0.500 5.00 % latency=-50%,bandwidth=x2" in text
        assert "Saved by the other machine 0.300 3.00 % latency=-50%" in self.made.text("--what-if=latency=-50%")
        assert "Added by the other machine 0.600 6.00 % latency=+100%" in self.made.text("--what-if=latency=+100%")

    @each("words", ["speed=x2", "latency", "latency=2", "latency=-200%", "bandwidth=x0", "latency=-20%;bandwidth=x2",
                    ""])
    def test_what_if_of_no_machine(self, words):
        stencil(self.made, 1.0)
        done = self.made.start(f"--what-if={words}")
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
        assert (f"'{words}': {words} is out of range: use x0.01 to x100\n" in done.stderr or
                f"'{words}': use changes like latency=-20%,bandwidth=x2\n" in done.stderr), done.stderr


# ---- forms ---------------------------------------------------------------------------------------

PAGE = """\
Communication cost of ./a.out
=============================

10.0 s, 2 ranks on 1 node.

Where the time went
-------------------
time                                 s        range  of the run
In MPI, mean of 2 ranks           2.11                   21.1 %
In MPI, slowest rank              2.50                   25.0 %  rank 1
Waiting for late ranks           0.500  0.450–0.550      5.00 %  most in MPI_Allreduce
Undisturbed cost of calls        0.500  0.490–0.510      5.00 %  of measured calls
Rest: late messages, contention  0.500                   5.00 %
Calls not measured               0.300                   3.00 %  commands below

Savings
-------
change                                          s        range  of the run
Remove 1000 calls of MPI_Win_flush          0.500  0.500–0.500      5.00 %
Overlap MPI_Allreduce of 8 bytes with work  0.300  0.280–0.860      3.00 %

Savings of changes to the same calls don't add up.

Remedies
--------
Remove 1000 calls of MPI_Win_flush:

- They complete nothing: no operation on their target since the last flush.
- Evidence: the monitor's report alone.

Overlap MPI_Allreduce of 8 bytes with work:

- Call MPI_Iallreduce before work that doesn't need the result, and MPI_Wait after it.
- Each takes 50.0 µs in MPI, of which 20.0 µs can't be hidden.
- The program works 450 µs after it.
- Evidence: overlap_iallreduce (size_bytes=8).

Calls
-----
calls                     times  in MPI  in waits  each  undisturbed  waiting  other
MPI_Allreduce of 8 bytes  10000    1.50            50.0        0.500    0.500  0.500
MPI_Win_flush              1250   0.625
MPI_Bcast of 1KiB          1000   0.200
MPI_Comm_dup                  2   0.100

Seconds, means over the ranks that made such calls. In waits: the part of "in MPI" in the calls that
complete them. Each: undisturbed cost of a call in µs. Calls below 0.1 % of the time in MPI aren't
shown.

Not measured
------------
- 0.200 s in MPI_Bcast: run
  mpirun -np 2 overlap/overlap_ibcast --sizes=1024:1024 --output=RESULTS/overlap_ibcast_2.tsv
- 0.100 s in MPI_Comm_dup: no benchmark measures it

Run the commands in the build folder, with the program's binding.

Caveats
-------
- the processor differs: A <fast> & "big" one in the results, Another one in the report

cost.sh --format=tsv prints calls and savings as a table, --format=json all of this.
"""


class Forms(CostCase):
    def test_whole_page(self):
        """Each number follows from the report and the results: of 1.5 s in MPI_Allreduce 10,000 calls of 50 µs and
        0.5 s of waiting leave 0.5 s; 30 of 50 µs can be hidden; four of five flushes are idle."""
        self.made.write_report(
            calls("coll", "MPI_Allreduce", calls=20000, bytes=160000, in_calls_s=3.0, waited_s=1.0, waited_lo_s=0.9,
                  waited_hi_s=1.1, last_calls=900, last_rank=1),
            sized("MPI_Allreduce", 10000, 8, 3.0, computed_after_s=9.0), sized("MPI_Bcast", 1000, 1024, 0.4),
            sized("MPI_Comm_dup", 2, 0, 0.2),
            calls("calls", "MPI_Win_flush", calls=1250, in_calls_s=0.625, callers=1, joinable=1000),
            total(4.225, 2.5), nodes=1, processor="Another one")
        self.made.write_results("iallreduce", gain_cells(8, 50, 20, 1))
        self.assertEqual(self.made.start().stdout, PAGE.replace("RESULTS", str(self.made.results)))
        rows, said = self.made.table()
        assert said.splitlines()[-1] == f"# end: {len(rows)} rows, exit 0"
        assert "# run_s: 10.000000000\n# inside_mpi_s: 4.225000000\n# slowest_rank_s: 2.500000000\n" in said
        savings, uncovered = of_kind(rows, "saving"), of_kind(rows, "uncovered")
        assert [(row["change"], row["saved_pct"]) for row in savings] == [("drop-flushes", "5.000"), ("hide", "3.000")]
        assert [row["in_calls_s"] for row in uncovered] == ["0.200000000", "0.100000000"]
        assert {tuple(row[key] for key in ("comm", "members", "ranks")) for row in rows if row not in uncovered} == {
            ("grid", "0-1", "2")}

    def test_calls_that_overlap(self):
        """10,000 calls of 100 µs, for which a process was inside MPI for 0.5 s."""
        self.made.write_report(sized("MPI_Allreduce", 10000, 8, 1.0), total(1.0, 0.5))
        self.made.write_results("iallreduce", point(8, 100))
        said = self.made.table()[1]
        assert "# note: Undisturbed cost of calls: 1.00 s, 10.0 % of the run; from the benchmarks\n" in said
        assert "# note: Saved by overlapping calls: -0.500 s, -5.00 % of the run; or by back-to-back calls\n" in said

    def test_html(self):
        stencil(self.made, after_s=2.0)
        done = self.made.start("--format=html", f"--output={self.made.folder}/out")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        text = (self.made.folder / "out").read_text(encoding="utf-8")
        assert "<h2>Savings</h2>" in text and "Overlap MPI_Isend and MPI_Irecv of 64 bytes with work" in text

    def test_calls_that_take_little(self):
        """Calls of 0.05 % of the time are in the table only."""
        self.made.write_report(sized("MPI_Allreduce", 1000, 8, 1.0), sized("MPI_Bcast", 1, 8, 0.0005), total(1.0, 0.5))
        self.made.write_results("iallreduce", point(8, 100))
        text = self.made.text()
        assert "MPI_Allreduce of 8 bytes" in text and "MPI_Bcast" not in text
        assert [row["operation"] for row in of_kind(self.made.table()[0], "cost")] == ["MPI_Allreduce", "MPI_Bcast"]

    def test_lines(self):
        """A line of a terminal each, whatever the names."""
        self.made.write_report(
            *(sized("MPI_Neighbor_alltoallw", 300000, 8000, 2.0, joinable=400000, computed_after_s=3.0,
                    comm=name * 40) for name in "ab"),
            calls("coll", "MPI_Neighbor_alltoallw", calls=2000000, bytes=16000, in_calls_s=4.0, waited_s=2.0,
                  waited_lo_s=0.00123, waited_hi_s=3.0, last_calls=1000000, last_rank=1), total(4.0, 2.0),
            command="x" * 200)
        self.made.write_results("ineighbor_alltoallw", gain_cells(8000, 3, 1), gain_cells(32000, 3.5, 1))
        done = self.made.start("--what-if=latency=-20.25%,bandwidth=x2.125")
        lines = done.stdout.splitlines()
        assert {"Where the time went", "Savings", "Remedies", "Calls"} < set(lines)
        assert max(map(len, lines)) <= 100, max(lines, key=len)
        assert "–" in done.stdout
        assert max(self.made.start(locale="POSIX").stdout) <= "~"


# ---- bad input -----------------------------------------------------------------------------------

EFFICIENCIES = {"parallel_eff_pct": 60.0, "load_balance_pct": 80.0, "communication_eff_pct": 75.0}
COLUMNS = REPORT + ["serialisation_eff_pct", "transfer_eff_pct", *EFFICIENCIES, "site", "peer"]


def with_all_columns(row, **cells):
    return {**dict.fromkeys(COLUMNS, "NA"), **row, **cells}


def site(function, place, in_calls_s, **cells):
    return with_all_columns(calls("site", function, calls=200, in_calls_s=in_calls_s, slowest_s=in_calls_s,
                                  slowest_rank=1, comm="NA", members="NA"), site=place, **cells)


def receives(rank, peer, messages, seconds):
    return with_all_columns(calls("peer", "receives", calls=messages, bytes=8 * messages, in_calls_s=seconds,
                                  comm="NA", members="NA", ranks="NA"), rank=rank, peer=peer)


class LinesAndPeers(CostCase):
    """Efficiencies, source lines and peers."""

    def setUp(self):
        super().setUp()
        self.made.write_report(*(with_all_columns(row) for row in (
            sized("MPI_Irecv", 100, 8, 4.0, in_waits_s=3.9),
            calls("total", "MPI", comm="NA", members="NA", ranks="NA", callers="NA", rank=0, in_calls_s=1.0))),
            with_all_columns(total(5.0, 4.0), **EFFICIENCIES),
            site("MPI_Waitall", "a.out+0x10", 3.9), site("MPI_Irecv", "a.out+0x20", 0.1),
            receives(1, 0, 100, 3.0), receives(2, 1, 100, 2.0), receives(0, 3, 10, 0.2), receives(3, 0, 10, 0.01),
            columns=COLUMNS, ranks=4)
        self.made.write_results("iallreduce", gain_cells(8, 20.0, 5.0))

    def test_page(self):
        text = self.made.text()
        for expected in (
                "Efficiency ---------- efficiency % Parallel efficiency 60.0 load balance × communication",
                "Communication efficiency 75.0 serialisation × transfer Serialisation and transfer are unknown",
                # Per rank of 4: 3.9 s and 0.1 s.
                "a.out+0x10 MPI_Waitall 0.975 9.75 % rank 1 for rank 0: 30.0 ms each"):
            self.assertIn(expected, text)
        # Rank 1 waits itself for rank 0, which hardly waits.
        self.assertIn("1 0 3.00 30.0 % 100 30000 2 1 2.00 20.0 % 100 20000 which waits for rank 0", text)
        # Without the cost of a receive, waiting isn't known.
        self.assertNotIn("Less work on the late ranks", text)
        self.assertLess(text.index("Parallel efficiency"), text.index("In MPI, mean"))

    def test_moved_waiting(self):
        """Of the time in receives, only that beyond their cost is waiting, which may move to other calls."""
        self.made.write_results("irecv", gain_cells(8, 20e3, 5, ref_us=10e3, ref_lo_us=10e3, ref_hi_us=10e3))
        # Beyond 10 ms a message: 2, 1 and 0.1 s, of 4 ranks. The mean in MPI is 1.25 s, the least 1 s.
        self.assertIn("saves at most 0.250 s of the run. It doesn't save the other 0.525 s of waiting", self.made.text())

    def test_where_a_change_saves(self):
        """The lines and pairs of ranks of the calls that it changes."""
        stencil(self.made, 2.0)
        self.made.write_report(
            *map(with_all_columns, (sized("MPI_Isend", 1000, 64, 0.1),
                                    sized("MPI_Irecv", 1000, 64, 0.5, computed_after_s=2.0))),
            site("MPI_Isend", "a.out+0x30", 0.06), site("MPI_Isend", "a.out+0x40", 0.04),
            receives(0, 1, 1000, 0.2), receives(1, 0, 1000, 0.3), {**receives(0, 1, 9, 0.05), "operation": "sends"},
            columns=COLUMNS)
        self.assertIn("- Lines: a.out+0x30 (0.03 s), a.out+0x40 (0.02 s). "
                      "- Most time: rank 1 with 0 (0.300 s), rank 0 with 1 (0.250 s).", self.made.text())

    def test_ranks_in_a_circle(self):
        self.made.write_report(with_all_columns(total(5.0, 4.0)), with_all_columns(sized("MPI_Irecv", 100, 8, 4.0)),
                               *(receives(rank, (rank + 1) % 3, 5, 1.0) for rank in range(3)), columns=COLUMNS, ranks=3)
        self.assertEqual(self.made.text().count("in a circle"), 3)

    def test_report_without_them(self):
        self.made.write_report(total(5.0, 4.0), sized("MPI_Irecv", 100, 8, 4.0))
        text = self.made.text()
        for heading in ("Efficiency", "By source line", "Who waits for whom"):
            self.assertNotIn(heading, text)

    def test_json(self):
        for command_name, words, name in (("cost", ["--format=json", self.made.report, self.made.results], "cost"),
                                          ("report", ["--format=json", self.made.report], "report")):
            done = command(command_name, *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(os.path.join(DOCS, name + ".schema.json"), encoding="utf-8") as stream:
                schema = json.load(stream)
            content = json.loads(done.stdout)
            self.assertEqual(list(violations(content, schema, schema, "")), [])
            # The check isn't blind: neither a missing nor another member is allowed.
            self.assertTrue(list(violations({**content, "more": 1}, schema, schema, "")))
            self.assertTrue(list(violations({key: content[key] for key in list(content)[1:]}, schema, schema, "")))
            if name == "cost":
                self.assertEqual(content["efficiencies"]["load_balance_pct"], 80.0)
                self.assertIsNone(content["efficiencies"]["transfer_eff_pct"])
                self.assertEqual([(wait["rank"], wait["peer"], wait["cause"]) for wait in content["waits"]][:2],
                                 [(1, 0, 0), (2, 1, 0)])
            else:
                self.assertEqual(content["rows"][-1]["peer"], 0)
                self.assertIsNone(content["rows"][-1]["size_bytes"])


class PeerMatrices(CostCase):
    """The matrices of report.sh."""

    def matrices(self, ranks, *rows, **metadata):
        self.made.write_report(with_all_columns(total(5.0, 4.0)), *rows, columns=COLUMNS, ranks=ranks, **metadata)
        done = command("report_text", self.made.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @staticmethod
    def pair(operation, rank, peer, volume, seconds):
        return {**receives(rank, peer, 1, seconds), "operation": operation, "bytes": volume}

    def test_who_sends_and_who_waits(self):
        text = self.matrices(3, self.pair("sends", 0, 1, 3 << 20, 0.5), self.pair("receives", 1, 0, 3 << 20, 2.5),
                             self.pair("puts", 0, 2, 1 << 20, 0.1), self.pair("gets", 1, 2, 2 << 20, 0.25))
        for line in ("| MiB from / to | 1 | 2 |", "| rank 0 | 3.00 | 1.00 |", "| rank 2 | 2.00 |  |",
                     "| waits (s) / for | 0 | 2 |", "| rank 1 | 2.50 | 0.250 |"):
            self.assertIn(line, text)

    def test_blocks_of_ranks(self):
        text = self.matrices(64, *(self.pair("sends", rank, 63, 10, 0.1) for rank in range(63)))
        self.assertIn("| bytes from / to | 60–63 |", text)
        self.assertIn("| rank 0–3 | 40 |", text)
        self.assertIn("| rank 60–63 | 30 |", text)

    def test_beside_linkmap(self):
        columns = ("scope", "a", "b", "nbytes", "time_us", "verdict")
        rows = [("pair", "n1", "n2", 8, 1.5, "even"), ("pair", "n1", "n2", 65536, 9, "even")]
        (self.made.folder / "linkmap.tsv").write_text(tsv("linkmap", columns, rows, metadata={
            "ranks": 2, "columns": "scope=key a=key b=key nbytes=key time_us=less verdict=info"}))
        text = self.matrices(4, self.pair("sends", 0, 2, 4096, 0.1), self.pair("sends", 3, 1, 1024, 0.1),
                             hosts="n[1-2]: 0-3", nodes=2)
        self.assertIn("| KiB from node / to | n1 | n2 |", text)
        self.assertIn("| n1 |  | 4.00, 1.50 µs |", text)
        self.assertIn("| n2 | 1.00, 1.50 µs |  |", text)


DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs")
class BadInput(CostCase):
    def test_a_report_without_sizes(self):
        """All other parts of the cost are reported."""
        self.made.write_report(
            calls("coll", "MPI_Alltoall", calls=2000, bytes=16000, in_calls_s=5.0, waited_s=4.0,
                  waited_lo_s=3.8, waited_hi_s=4.2, last_calls=1000, last_rank=1), total(5.0, 3.0))
        self.made.write_results("ialltoall", point(8, 100))
        rows, said = self.made.table()
        assert "# warning: the report has no sizes" in said
        assert saving(rows, "balance") == Near((2.0, 1.9, 2.1))
        assert of_kind(rows, "cost")[0]["in_calls_s"] == "2.500000000"

    def test_a_report_of_an_earlier_version(self):
        columns = [name for name in REPORT if name not in ("callers", "computed_after_s", "joinable",
                                                           "neighbours", "in_waits_s", "waited_files_s")]
        self.made.write_report(sized("MPI_Allreduce", 1000, 8, 1.0), columns=columns)
        self.made.write_results("iallreduce", point(8, 100))
        rows, said = self.made.table()
        assert "of an earlier version" in said
        assert of_kind(rows, "cost")[0]["in_waits_s"] == "NA"
        assert number(of_kind(rows, "cost")[0]["machine_s"]) == Near(0.1)

    def test_a_report_that_is_cut_off(self):
        self.made.write_report(sized("MPI_Allreduce", 1000, 8, 1.0), end=False)
        self.made.write_results("iallreduce", point(8, 100))
        _, said = self.made.table()
        assert "# warning: the report is cut off: calls are missing" in said

    @each("members, ranks, cost_us", [
        ("0-1", 2, 100), ("2-3", 2, 100), ("1-2", 2, 300), ("0-3/3", 2, 300), ("0,3", 2, 300), ("0-3", 4, 900),
        ("0,1,...", 2, 300)])
    def test_nodes_of_a_communicator(self, members, ranks, cost_us):
        """The cost of a communicator within a node differs from one across nodes, whatever the job has."""
        rows = [sized(function, 10, 8, 1.0, members=members, ranks=ranks, callers=ranks)
                for function in ("MPI_Allreduce", "MPI_Sendrecv")]
        self.made.write_report(*rows, ranks=4, nodes=2, hosts="node1: 0,1; node2: 2-3")
        for name, of, nodes, time_us in (("one", 2, 1, 100), ("two", 2, 2, 300), ("all", 4, 2, 900)):
            self.made.write_results("iallreduce", point(8, time_us), name=name, ranks=of, nodes=nodes)
            self.made.write_results("sendrecv", point(8, time_us), name=name + "_pair", ranks=of, nodes=nodes)
        found = self.machine_us("operation")
        assert {name: number(text) for name, text in found.items()} == {
            "MPI_Allreduce": cost_us, "MPI_Sendrecv": cost_us}

    def test_only_measured_on_other_nodes(self):
        """The command names the nodes that it needs."""
        for members, nodes, where in (("0-1", 2, ""), ("1-2", 1, "on 2 nodes: ")):
            self.made.write_report(sized("MPI_Allreduce", 10, 8, 1.0, members=members), ranks=4, nodes=2,
                                   hosts="node1: 0-1; node2: 2-3")
            self.made.write_results("iallreduce", point(8, 100), nodes=nodes)
            assert self.cost()["machine_us"] == "NA", members
            (words,) = self.uncovered()
            assert words.startswith(where + "mpirun -np 2 overlap/overlap_iallreduce"), words

    def test_hosts(self):
        """As common/job/hosts.h writes them."""
        for text, ranks in (
                ("node1: 0-3; node2: 4-7", [[0, 1, 2, 3], [4, 5, 6, 7]]),
                ("a: 0,2; b: 1", [[0, 2], [1]]), ("n[001-004].x: 0-7", [[0, 1], [2, 3], [4, 5], [6, 7]]),
                ("n[1-4]: 0-4/4, each next +1", [[i, i + 4] for i in range(4)]),
                ("n1: 0; n[2-5]: 1-8; z: 9,11-15/2", [[0], [1, 2], [3, 4], [5, 6], [7, 8], [9, 11, 13, 15]]),
                ("", None), ("NA", None), ("n: 0,1,...", None), ("n[1-9999999999]: 0-3, each next +1", None),
                ("n[1-999999999]: 0-3, each next +0", None), ("n: 0-1/0", None), ("n[1-2]: 0,3", None),
                ("n[5-1]: 0-3", None), ("n[1-9]: 0-3", None), ("n: 0-99999999999", None), ("n: 0-999999999", None),
                ("n[0-1]: 0-1, each next -5", None), ("n: " + 5000 * "9", None), ("n: \u0663", None)):
            with self.subTest(text):
                found = rank_hosts.hosts_of(text)
                assert (found and [[rank for part in host for rank in part] for host in found]) == ranks

    @each("key, value, remark", [
        ("mpi_library", "Open MPI v4.1.4", "the MPI library differs: MPICH Version: 4.0.2 in the results, "
         "Open MPI v4.1.4 in the report"),
        ("nodes", 3, "the number of nodes differs: 1 in the results, 3 in the report\n")])
    def test_another_machine(self, key, value, remark):
        self.made.write_report(sized("MPI_Allreduce", 1000, 8, 1.0), **{key: value})
        self.made.write_results("iallreduce", point(8, 100))
        assert remark in self.made.table()[1]
        # One of several that agrees is enough.
        self.made.write_results("iallreduce", point(8, 100), name="alike", **{key: value})
        assert remark not in self.made.table()[1]

    def test_many_hosts(self):
        """The largest machines' hosts take a moment."""
        hosts = rank_hosts.hosts_of("n[1-200000]: 0-3, each next +4")
        assert len(hosts) == 200000
        assert [rank_hosts.nodes_of(ranks, hosts) for ranks in ("0-799999/8", "0-3")] == [100000, 1]
        assert rank_hosts.nodes_of("0-1/0", hosts) is rank_hosts.nodes_of("0-9999999", hosts) is None

    def test_results_of_several_machines(self):
        """Those of the program's library count, in other rows the first ones, which is reported; never a mixture."""
        self.made.write_report(sized("MPI_Allreduce", 10, 8, 1.0), mpi_library="B")
        for library, time_us in (("A", 100), ("B", 300)):
            self.made.write_results("iallreduce", point(8, time_us), name=library, mpi_library=library)
        assert number(self.cost()["machine_us"]) == 300
        assert "differ in" not in self.made.table()[1]
        self.made.write_report(sized("MPI_Allreduce", 10, 8, 1.0), mpi_library="C")
        assert number(self.cost()["machine_us"]) == 100
        said = "results differ in mpi_library (A and B), the report has none: uses A"
        assert said in self.made.table()[1]

    def add_key(self, name, key, value):
        """Adds a key to the rows of a result."""
        path = self.made.results / f"{name}.tsv"
        path.write_text(path.read_text().replace("# columns: ", f"# columns: {key}=key ").replace(
            "\ncollective", f"\n{key}\tcollective").replace("\niallreduce", f"\n{value}\tiallreduce"))

    def test_rows_of_another_key(self):
        """Results with a key that no benchmark has: the first value counts, which is reported."""
        self.made.write_report(sized("MPI_Allreduce", 10, 8, 1.0))
        for tag, time_us in (("a", 100), ("b", 300)):
            self.made.write_results("iallreduce", point(8, time_us), name=tag)
            self.add_key(tag, "tag", tag)
        assert number(self.cost()["machine_us"]) == 100
        assert "results differ in tag (a and b), the report has none: uses a" in self.made.table()[1]

    @each("values, remark", [
        (("device",), "overlap_iallreduce_sweep was measured with memory device only"),
        (("device", "managed"), "results differ in memory (device and managed), the report has none: uses device"),
        (("device", "host"), None)])
    def test_rows_of_other_memory(self, values, remark):
        """Count if there are none of host memory, which is reported."""
        self.made.write_report(sized("MPI_Allreduce", 10, 8, 1.0))
        for path in self.made.results.iterdir():
            path.unlink()
        for memory in values:
            self.made.write_results("iallreduce", point(8, 300 if memory == "host" else 100), name=memory)
            self.add_key(memory, "memory", memory)
        assert number(self.cost()["machine_us"]) == (100 if remark else 300)
        text = self.made.table()[1]
        assert (remark or "") in text and ("measured with memory" in text or "differ in" in text) == bool(remark), text

    def test_rank_that_is_no_number(self):
        self.made.write_report(total(1.0, 1.0), {**total(0.5, "NA"), "rank": "x"})
        self.made.write_results("iallreduce", point(8, 100))
        assert "Load imbalance" not in self.made.text()

    def test_results_without_the_rows(self):
        """Each missing one by the command that measures it, all sizes in one."""
        self.made.write_report(sized("MPI_Allreduce", 1000, 8, 1.0), sized("MPI_Allreduce", 1000, 300, 1.0),
                               sized("MPI_Isend", 1000, 64, 0.5), sized("MPI_Irecv", 1000, 64, 0.5),
                               sized("MPI_Comm_dup", 1, 0, 0.5), sized("MPI_Bcast", 1, 0, 0.0001))
        (self.made.results / "syncbench.tsv").write_text(tsv(
            "syncbench", SYNC, [["MPI barrier", 1, 2, 0.1, 1.1, 1.5, 1.4, 1.6, "ok"]]))
        assert self.uncovered() == [
            f"mpirun -np 2 overlap/overlap_iallreduce --sizes=8:512 --output={self.made.results}/overlap_iallreduce_2.tsv",
            f"mpirun -np 2 overlap/overlap_sendrecv --sizes=64:64 --output={self.made.results}/overlap_sendrecv_2.tsv",
            "MPI_Comm_dup: no benchmark measures it"]

    @each("function, size, command", [
        ("MPI_Allreduce_init", 8, "overlap/overlap_iallreduce --sizes=8:8 --form=persistent "
         "--output=RESULTS/overlap_iallreduce_2_persistent.tsv"),
        *((name, 0, "syncbench/syncbench --output=RESULTS/syncbench_2.tsv")
          for name in ("MPI_Barrier", "MPI_Win_fence", "MPI_Allreduce")),
        ("MPI_Ibarrier", 0, "overlap/overlap_ibarrier --output=RESULTS/overlap_ibarrier_2.tsv")])
    def test_the_command_measures_what_is_missing(self, function, size, command):
        self.made.write_report(sized(function, 1000, size, 1.0))
        self.made.write_results("ibcast", point(8, 100))
        assert self.uncovered() == [f"mpirun -np 2 {command.replace('RESULTS', str(self.made.results))}"]

    def test_pasted_command(self):
        """A shell starts the program with these words, whatever the folder is called."""
        self.made.results = self.made.results.rename(self.folder / "it's my folder")
        self.made.write_report(sized("MPI_Bcast", 10, 8, 1.0))
        self.made.write_results("iallreduce", point(8, 100))
        (self.folder / "mpirun").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        (self.folder / "mpirun").chmod(0o755)
        done = subprocess.run(["sh", "-c", *self.uncovered()], env={"PATH": f"{self.folder}:{os.environ['PATH']}"},
                              stdout=subprocess.PIPE, universal_newlines=True, check=True)
        assert done.stdout.splitlines() == ["-np", "2", "overlap/overlap_ibcast", "--sizes=8:8",
                                            f"--output={self.made.results}/overlap_ibcast_2.tsv"]

    @each("function, why", [
        ("MPI_Psend_init", "overlap_partitioned measures it by partitions, which the report lacks"),
        ("MPI_Neighbor_alltoallw", "halo and overlap_halo measure it by boxes, which the report lacks"),
        ("MPI_Allgather", None)])
    def test_no_benchmark_is_denied(self, function, why):
        """No message denies a benchmark for a function that one measures."""
        self.made.write_report(sized(function, 1000, 0, 1.0))
        self.made.write_results("ibcast", point(8, 100))
        assert self.uncovered() == [f"{function}: {why or 'no benchmark measures 0 bytes'}"]

    def test_an_unknown_communicator(self):
        names = "MPI_Allreduce", "MPI_Isend"
        self.made.write_report(*(sized(name, 1000, 8, 1.0, ranks="NA", members="NA") for name in names))
        self.made.write_results("isend", point(8, 100))
        assert self.machine_us("operation") == dict.fromkeys(names, "NA")
        assert sorted(self.uncovered()) == [
            f"{name}: the report lacks its number of ranks or its size" for name in names]

    @each("words, named", [
        (["/no/such"], "3 results"), (["--nonsense"], "--nonsense"), (["--format=pdf"], "--format"),
        (["--min-saving=-1"], "--min-saving"), (["--output=/no/such/x", "--format=tsv"], "/no/such/x")])
    def test_usage(self, words, named):
        stencil(self.made, 1.0)
        done = self.made.start(*words)
        assert done.returncode == 2
        assert named in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr

    def test_what_is_no_report(self):
        self.made.write_report()
        self.made.write_results("iallreduce", point(8, 100))
        for report in (self.made.report, str(self.made.results / "iallreduce.tsv")):
            self.made.report = report
            done = self.made.start()
            assert (done.returncode, done.stdout) == (2, ""), done.stderr
            assert "MPIRT_MONITOR=all" in done.stderr
            assert len(done.stderr.splitlines()) == 1


# ---- intervals -----------------------------------------------------------------------------------

class Intervals(CostCase):
    def test_spans(self):
        one, other = intervals.Span(10, 9, 12), intervals.Span(4, 3, 6)
        assert one.plus(other) == (14, 12, 18)
        assert one.minus(other) == (6, 3, 9)
        assert one.times(2) == (20, 18, 24)
        assert one.at_most(other) == (4, 3, 12)
        assert one.at_most(intervals.Span(11, 10, 20)) == (10, 10, 20)
        assert one.at_most(intervals.exactly(9.5)) == (9.5, 9.5, 12)
        assert one.at_most(intervals.Span(8, 5, 10)) == (9, 9, 12)
        assert one.over(other) == (2.5, 1.5, 4)
        assert one.part(intervals.Span(0.5, 0, 1)) == (5, 0, 12)
        assert one.within(9.5, 11) == (10, 9.5, 11)
