# SPDX-License-Identifier: BSD-3-Clause
"""Values of each launch, read from files made here: launches, left-out files, refusals,
bad bytes, and files of 1 GB."""

import os
import random
import resource
import shutil
import subprocess
import sys
import threading
import time
import unittest

from case import Case, call, each, full
from commcost.result import tables
from commcost.result.launches import Launches
from commcost.result.result_reader import LINE_MAX, Result, ResultError
from commcost.words import parsed_number

HEAD = ("# benchmark: bench\n"
        "# columns: name=key size=key time_us=less rate_per_s=more note=info status=info\n"
        "name\tsize\ttime_us\trate_per_s\tnote\tstatus\n")
MERGED_HEAD = ("# benchmark: bench\n# columns: run=key name=key size=key time_us=less\n"
               "run\tname\tsize\ttime_us\n")
SECOND = "# benchmark: bench\n# schema: 2\n# columns: name=key us=less\nname\tus\n"
WITH_STATUS = ("# benchmark: bench\n# schema: 2\n# columns: name=key us=less status=info\n"
               "name\tus\tstatus\n")
BASE, NEW = 0, 1


class Files:
    """Writes files, and adds them to Launches."""

    def __init__(self, folder):
        self.folder, self.count, self.launches = folder, 0, Launches()

    def write(self, text):
        self.count += 1
        path = self.folder / f"{self.count}.tsv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def add(self, side, text):
        self.launches.add(side, self.write(text))

    def finish(self):
        self.launches.finish()
        return list(self.launches.series.values())

    def refused(self, text):
        path = self.write(text)
        try:
            Launches().add(BASE, path)
        except ResultError as error:
            assert path in str(error)
            return str(error)
        raise AssertionError(path + " was not refused")


class ResultsCase(Case):
    def setUp(self):
        super().setUp()
        self.files = Files(self.folder)


class Results(ResultsCase):
    @each("text, rows", [
        (HEAD + "put\t8\t1.5\t2e6\tx\tok\n", [["put", "8", "1.5", "2e6", "x", "ok"]]),
        ("# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n1   0.25\n2   0.5\n",
         [["1", "0.25"], ["2", "0.5"]])])
    def test_pipe(self, text, rows):
        """Which can be read only once, and whose first piece may have no metadata: bench_compare <(zcat base.tsv.gz) ..."""
        def write():
            with open(other, "wb", buffering=0) as stream:
                stream.write(b"\n")
                time.sleep(0.1)  # the reader may wait for the first piece alone
                stream.write(text.encode())
        end, other = os.pipe()
        writer = threading.Thread(target=write)
        writer.start()
        with Result(f"/dev/fd/{end}") as result:
            assert list(result.rows()) == rows
        writer.join()
        os.close(end)


# ---- launches ------------------------------------------------------------------------------------

class OfLaunches(ResultsCase):
    def test_values(self):
        self.files.add(BASE, HEAD + "put\t8\t1.5\t2e6\tx\tok\nput\t64\t3\tNA\tx\tok\n")
        self.files.add(BASE, HEAD + "put\t8\t1.25\t1e6\tx\tok\n")
        self.files.add(NEW, HEAD + "put\t64\t4\t5\tx\tok\nget\t8\t1\t1\tx\tFAIL\n")
        series = self.files.finish()
        assert [(one.schema.benchmark, one.schema.keys, one.keys, one.quantity, one.more)
                for one in series[:3]] == [
            ("bench", ("name", "size"), ("put", "8"), "time_us", False),
            ("bench", ("name", "size"), ("put", "8"), "rate_per_s", True),
            ("bench", ("name", "size"), ("put", "64"), "time_us", False)]
        found = [self.files.launches.values(one, side) for one in series for side in (BASE, NEW)]
        assert [(of_side.values, of_side.launches, of_side.failed) for of_side in found] == [
            ([1.5, 1.25], 2, 0), ([], 0, 0), ([2e6, 1e6], 2, 0), ([], 0, 0),
            ([3], 1, 0), ([4], 1, 0),
            ([], 1, 0), ([5], 1, 0),  # NA: the launch has the row, but no value
            ([], 0, 0), ([], 1, 1), ([], 0, 0), ([], 1, 1)]
        assert [self.files.launches.count(side) for side in (BASE, NEW)] == [2, 1]
        assert self.files.launches.warnings == []

    def test_texts_in_quotes(self):
        """As programs write those that look like dates."""
        self.files.add(BASE, HEAD + '"2-3"\t8\t1.5\tNA\tx\tok\n')
        assert {one.keys for one in self.files.finish()} == {("2-3", "8")}

    def test_runs_of_a_file(self):
        self.files.add(BASE, MERGED_HEAD + "1\tput\t8\t1\n2\tput\t8\t2\n1\tput\t64\t9\na b\tput\t8\t3\n")
        series = self.files.finish()
        assert self.files.launches.count(BASE) == 3
        assert [self.files.launches.values(one, BASE).values for one in series] == [[1, 2, 3], [9]]

    def test_a_launch_counts_once(self):
        """The same launch alone and among others; the same run twice in two files; two runs of one
        file that happen to be equal are two."""
        for _ in range(2):
            self.files.add(BASE, MERGED_HEAD + "1\tput\t8\t1\n2\tput\t8\t1\n")
        self.files.add(BASE, MERGED_HEAD.replace("run=key ", "").replace("run\t", "") + "put\t8\t1\n")
        self.files.add(NEW, MERGED_HEAD + "1\tput\t8\t1\n")
        one, = self.files.finish()
        assert [self.files.launches.values(one, side).values for side in (BASE, NEW)] == [[1, 1], [1]]
        assert len(self.files.launches.warnings) == 1

    def test_repeated_rows_are_one_value(self):
        self.files.add(BASE, HEAD + "a\t8\t5\t1\tx\tok\na\t8\t1\tNA\tx\tok\na\t8\t2\tNA\tx\tok\n")
        time, rate = self.files.finish()
        assert self.files.launches.values(time, BASE).values == [2]
        assert self.files.launches.values(rate, BASE).values == [1]

    def test_incomplete_does_not_count(self):
        """A launch without its end, or that ended for another reason than a wrong row, doesn't count,
        whether or not rows are missing."""
        whole = [SECOND + "a\t1\nb\t2\n# end: 2 rows, exit 0\n", SECOND + "a\t3\n# end: 1 row, exit 0",
                 WITH_STATUS + "a\t3\tok\nb\t3\tFAIL\n# end: 2 rows, exit 1\n"]
        broken = [SECOND + "a\t1\nb\t2\n", SECOND + "a\t4\n# end: 1 row, exit 0\nb\t2\n",
                  SECOND + "a\t5\n# end: \n", SECOND,
                  SECOND + "a\t6\n# warning: interrupted by SIGTERM\n# end: 1 row, exit 1\n",
                  SECOND + "a\t1\n# end: 1 row, exit 1\n",
                  WITH_STATUS + "a\t1\tok\n# end: 1 row, exit 1\n"]
        for text in whole:
            self.files.add(BASE, text)
        for text in broken:
            self.files.add(NEW, text)
        series = self.files.finish()
        assert self.files.launches.count(BASE) == 3
        assert self.files.launches.count(NEW) == 0
        assert self.files.launches.values(series[0], BASE).values == [1, 3, 3]
        assert self.files.launches.values(series[0], NEW).launches == 0

    def test_without_columns(self):
        """A result of ours without keys is refused, by all that reads results."""
        path = self.files.write("# benchmark: halo\nname\ttime_us\na\t5\n")
        for reads in (Result, lambda path: tables.Tables([path]), lambda path: Launches().add(0, path)):
            with self.assertRaises(ResultError) as error:
                reads(path)
            assert str(error.exception) == (f"{path}: line 2: no '# columns:' before the first row: write the result "
                                            "without --no-header and --no-metadata")


# ---- short results -------------------------------------------------------------------------------

SHORT_HEAD = """\
# program: {} 0.1.0 (commcost), 2026-11-26T20:51:19+0000
# command: build/syncbench/syncbench
# mpi_library: MPICH Version: 4.0.2
# layout: {} on 1 node (vm), 2 processors; binding: each rank: 0-1
# intervals: 95 % confidence, for this launch; other launches differ by more
"""
SHORT = SHORT_HEAD.format("syncbench", "2 ranks") + """\
# columns: keys: sync, neighbours; less is better: sync_us
sync\tneighbours\tsync_us\tsync_lo_us\tsync_hi_us\tstatus
MPI barrier\tNA\t0.622\t0.616\t0.630\tok
# note: a long remark that doesn't fit into one hundred characters is wrapped at a blank, and
#   continues in a line that begins with three blanks
pairs\t1\t0.5\t0.4\t0.6\tok
# end: 2 rows, exit 0
"""
FULL = """\
# benchmark: syncbench
# schema: 2
# compiler: gcc
# ranks: {0}
# columns: sync=key neighbours=key ranks=key ref_us=less sync_us=less sync_lo_us=info status=info
sync\tneighbours\tranks\tref_us\tsync_us\tsync_lo_us\tstatus
MPI barrier\tNA\t{0}\t9\t0.7\t0.6\tok
# end: 1 row, exit 0
"""
SHORT_OVERLAP = SHORT_HEAD.format("overlap_iallreduce", "2 ranks") + """\
# all_rows: {}
# columns: {}less is better: ref_us; more is better: overlap_pct
size_bytes\tref_us\toverlap_pct\tstatus
64\t1.5\t20\tok
# end: 1 row, exit 0
"""


class ShortResults(ResultsCase):
    def test_parts(self):
        with Result(self.files.write(SHORT)) as result:
            assert {key: result.value(key) for key in result.metadata if key not in ("command", "intervals", "columns")} == {
                "schema": "2", "benchmark": "syncbench", "version": "0.1.0", "date": "2026-11-26T20:51:19+0000",
                "mpi_library": "MPICH Version: 4.0.2", "ranks": "2", "nodes": "1", "binding": "each rank: 0-1"}
            assert (result.is_short, result.has_end, result.keys) == (True, True, ["sync", "neighbours"])
            assert result.quantities() == [(2, "sync_us", False)]
            assert [cells[0] for cells in result.rows()] == ["MPI barrier", "pairs"]
            assert result.remarks == [("note", "a long remark that doesn't fit into one hundred characters is wrapped "
                                               "at a blank, and continues in a line that begins with three blanks")]
            assert result.end == (2, 0)

    def test_keys_of_all_rows(self):
        """They are the first cells."""
        text = SHORT.replace("# columns", "# all_rows: ranks=2; memory=host: one\n# columns")
        with Result(self.files.write(text)) as result:
            assert result.keys == result.header[:4] == ["ranks", "memory", "sync", "neighbours"]
            assert [cells[:3] for cells in result.rows()] == [["2", "host: one", "MPI barrier"], ["2", "host: one", "pairs"]]
        for wrong in ("ranks", "=2", "a=1; b"):
            with self.assertRaisesRegex(ResultError, "in '# all_rows:' isn't a list"):
                Result(self.files.write(text.replace("ranks=2; memory=host: one", wrong)))

    def test_columns_that_are_not_compared(self):
        head = SHORT[:SHORT.index("# columns")]
        with Result(self.files.write(head + "# columns: not compared\nstatus\nok\n")) as result:
            assert (result.keys, result.quantities(), list(result.rows())) == ([], [], [["ok"]])
        with self.assertRaisesRegex(ResultError, "'more' in '# columns:' is none of keys, rows are told apart by, less is"):
            Result(self.files.write(head + "# columns: more: status\nstatus\nok\n"))

    def test_only_short_results_are_wrapped(self):
        with Result(self.files.write(HEAD + "# note: n\n#   table\n")) as result:
            assert (list(result.rows()), result.remarks) == ([], [("note", "n")])

    def test_cut_off(self):
        self.files.add(BASE, SHORT[:SHORT.index("# end")])
        self.files.finish()
        assert self.files.launches.count(BASE) == 0
        assert "was cut off" in self.files.launches.warnings[0]

    def test_beside_a_full_one(self):
        """The keys and quantities that both have."""
        self.files.add(BASE, FULL.format(2))
        self.files.add(NEW, SHORT)
        series = self.files.finish()
        assert [(one.schema.keys, one.keys, one.quantity) for one in series] == [
            (("sync", "neighbours"), ("MPI barrier", "NA"), "sync_us"), (("sync", "neighbours"), ("pairs", "1"), "sync_us")]
        assert [self.files.launches.values(series[0], side).values for side in (BASE, NEW)] == [[0.7], [0.622]]
        note, = self.files.launches.notes
        assert note.endswith("2.tsv: short, so only common keys and columns count: write full results with --output=FILE")
        assert self.files.launches.warnings == []

    def test_rows_that_a_short_one_cannot_tell_apart(self):
        row = "MPI barrier\tNA\t4\t9\t0.7\t0.6\tok\n"
        self.files.add(BASE, FULL.format(2).replace("# end: 1 row", row + "# end: 2 rows"))
        self.files.add(NEW, SHORT)
        assert len(self.files.finish()) == 6
        warning, = self.files.launches.warnings
        self.assertRegex(warning, "2.tsv lacks keys by which rows of .*1.tsv differ: write it with --columns=all")
        done = call([f"{self.source}/run_scripts/bench_compare", "1.tsv", "2.tsv"], cwd=str(self.folder))
        assert done.returncode == 2
        assert "no row in common" in done.stderr and "2.tsv lacks keys by which rows" in done.stderr

    @each("model, columns, kind", [("data", "keys: size_bytes; ", "overlap_iallreduce_sweep"),
                                   ("time", "", "overlap")])
    def test_overlap(self, model, columns, kind):
        """Its operation and model are what all rows share."""
        path = self.files.write(SHORT_OVERLAP.format(f"collective=iallreduce; model={model}", columns))
        read = tables.Tables([path])
        assert read.kinds() == [kind]
        assert [row.median("overlap_pct") for row in read.rows(kind, collective="iallreduce")] == [20]

    @each("other, status, message", [
        (FULL.format(2), 3, "# note: new.tsv: short, so only common keys and columns count"),
        (FULL.format(4), 2, "base.tsv ran on 4 ranks, new.tsv on 2"), (SHORT, 3, "# note: base.tsv and new.tsv: short")])
    def test_compared(self, other, status, message):
        for name, text in (("base", other), ("new", SHORT.replace("0.622", "0.9"))):
            (self.folder / f"{name}.tsv").write_text(text)
        done = call([f"{self.source}/run_scripts/bench_compare", "base.tsv", "new.tsv"], cwd=str(self.folder))
        assert done.returncode == status, done.stderr
        assert message in done.stdout + done.stderr
        done = call([f"{self.source}/run_scripts/summarize.sh", "new.tsv"], cwd=str(self.folder))
        assert "syncbench\tMPI barrier\tNA\tsync_us\tus\t0.900000\t" in done.stdout
        assert "note: new.tsv: short" in done.stderr

    def test_page_of_two(self):
        new, base = self.files.write(SHORT), self.files.write(FULL.format(2))
        done = call([f"{self.source}/run_scripts/report.sh", "--output=page.html", f"--base={base}", new],
                    cwd=str(self.folder))
        assert done.returncode == 0, done.stderr
        assert "1.tsv: short, so only common keys and columns count" in (
            self.folder / "page.html").read_text(encoding="utf-8")

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_panels_without_a_column(self):
        """A short result of pingpong has no bandwidth."""
        path = self.files.write(SHORT_HEAD.format("pingpong", "2 ranks") + (
            "# all_rows: arrangement=single\n# columns: rows are told apart by: pattern, sync, count, blksize, stride; "
            "less is better: latency_us\npattern\tsync\tcount\tblksize\tstride\tlatency_us\tstatus\n"
            "MPI Send\tnone\t1\t1\t1\t0.5\tok\nMPI Send\tnone\t1\t8\t1\t0.6\tok\n# end: 2 rows, exit 0\n"))
        done = call([f"{self.source}/run_scripts/plot.sh", "--output=pictures", "--format=svg", path], cwd=str(self.folder))
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        done = call([f"{self.source}/run_scripts/report_text.sh", "--short", path], cwd=str(self.folder))
        assert "Latency, 8 bytes  0.50 µs" in done.stdout, done.stdout


# ---- what is refused -----------------------------------------------------------------------------

class WhatIsRefused(ResultsCase):
    @each("text, named", [
        ("", "no header row"), ("x", "no '# columns:'"), (HEAD + "a\t8\n", "line 4: 2 cells"),
        (HEAD + "a\t8\tx\t1\tx\tok\n", "line 4: 'x' in the column time_us"),
        (HEAD + "a\t8\t\t1\tx\tok\n", "no number"), (HEAD + "a\t8\tnan\t1\tx\tok\n", "no number"),
        (HEAD + "a\t8\t0x10\t1\tx\tok\n", "no number"),
        (HEAD + "a\t8\t1\t1\tx\tok\n" + HEAD, "a second result"), ("# columns: a\n", "isn't a name"),
        ("# columns: a=key a=less\n", "twice"),
        ("# benchmark: x\n# columns: a=key b=less\nb\n1\n", "lacks the key 'a'"),
        ("# columns: a=key\na\n1\n", "no '# benchmark:'"), (HEAD.replace("\nname\t", "\nnone\t"), "'none' in the header"),
        (HEAD.replace("\nname\t", "\nsize\t"), "the header row has 'size' twice"),
        ("# columns: a=key\n# columns: a=key\n", "a second '# columns:'"),
        ("# benchmark: a\n# benchmark: a\n", "a second '# benchmark:'"), ("# columns: a=fewer\n", "'a=fewer'"),
        ("# columns: =less\n", "'=less'"), (f"# columns: {128 * 'x'}=key\n", "too long a name"),
        ("# columns: " + " ".join(f"c{i}=key" for i in range(257)) + "\n", "more than 256 columns"),
        ("# schema: 7\n", "schema '7'"), ("# schema: 0\n", "schema '0'"), ("# schema: \n", "schema ''"),
        (HEAD + "a\t8\t1\t1\tx\to\0k\n", "a byte of 0")])
    def test_damage_is_named(self, text, named):
        assert named in self.files.refused(text)

    def test_contrary_results(self):
        self.files.add(BASE, HEAD + "a\t8\t1\t1\tx\tok\n")
        with self.assertRaisesRegex(ResultError, "time_us: more is better in one"):
            self.files.add(NEW, HEAD.replace("time_us=less", "time_us=more") + "a\t8\t1\t1\tx\tok\n")

    @each("path", ["/nonexistent", "/dev/zero", "/dev/urandom", "/proc/self/mem"])
    def test_no_results(self, path):
        with self.assertRaises(ResultError):
            Launches().add(BASE, path)

    def test_long_lines(self):
        """A key of all that a line may have, and one letter more."""
        row = "\t8\t1\t1\tx\tok\n"
        key = "k" * (LINE_MAX - len(row) + 1)
        self.files.add(BASE, HEAD + key + row)
        assert "line 4: longer than" in self.files.refused(HEAD + key + "k" + row)

    @each("text, value", [
        ("1", 1), ("-1.5e-3", -0.0015), (".5", 0.5), ("+2.", 2), ("1e999", None), ("NA", None),
        ("inf", None), ("1_0", None), (" 1", None), ("1 ", None), ("", None), ("0x1", None),
        ("١", None)])
    def test_numbers(self, text, value):
        assert parsed_number(text) == value


# ---- large files ---------------------------------------------------------------------------------

ROW = "\t".join(["{run}", "iallreduce", "data", "{size}", "8388608", "{time:.3f}", "{time:.3f}"] +
                ["1234.567"] * 18 + ["6", "0.5", "30", "ok", "0"]) + "\n"
COLUMNS = ("run=key collective=key model=key elements=key size_bytes=info ref_us=less "
           "overlap_pct=more " + " ".join(f"c{i}=info" for i in range(18)) +
           " visits=info lost_pct=info samples=info status=info slowest_rank=info")


def write_large(path, size_bytes, launches):
    """Writes a result of several launches, of about this size."""
    chance = random.Random(1)
    with open(path, "w", encoding="ascii") as stream:
        stream.write(f"# benchmark: overlap_iallreduce\n# columns: {COLUMNS}\n" +
                     "\t".join(word.split("=")[0] for word in COLUMNS.split()) + "\n")
        row = 0
        while stream.tell() < size_bytes:
            stream.writelines(
                ROW.format(run=run, size=size, time=100 + chance.random())
                for size in range(row, row + 100) for run in range(launches))
            row += 100


class LargeFiles(ResultsCase):
    @full
    def test_memory(self):
        """A result of 1 GB is read within 200 MB."""
        path = self.folder / "large.tsv"
        write_large(path, 1e9, 200)
        limit = 200 * 2 ** 20
        done = call(
            [sys.executable, f"{self.source}/run_scripts/commcost", "summarize", path], stdout=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        path.unlink()
        assert done.returncode == 0, done.stderr[-2000:]
