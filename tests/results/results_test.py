"""What each launch found, read from files made here: launches, what is left out, what is refused,
bad bytes, and files of 1 GB."""

import os
import random
import resource
import subprocess
import sys
import threading
import time

from case import Case, call, each, full
from commcost.reading.launches import Launches
from commcost.reading.results import LINE_MAX, Result, ResultError, parsed_number

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
        """Which can be read only once, and whose first piece may say nothing: bench_compare <(zcat base.tsv.gz) ..."""
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
        assert [self.files.launches.values(one, side) for one in series for side in (BASE, NEW)] == [
            ([1.5, 1.25], 2, 0), ([], 0, 0), ([2e6, 1e6], 2, 0), ([], 0, 0),
            ([3], 1, 0), ([4], 1, 0),
            ([], 1, 0), ([5], 1, 0),  # NA: the launch has the row, but no value
            ([], 0, 0), ([], 1, 1), ([], 0, 0), ([], 1, 1)]
        assert [self.files.launches.count(side) for side in (BASE, NEW)] == [2, 1]
        assert self.files.launches.warnings == []

    def test_runs_of_a_file(self):
        self.files.add(BASE, MERGED_HEAD + "1\tput\t8\t1\n2\tput\t8\t2\n1\tput\t64\t9\na b\tput\t8\t3\n")
        series = self.files.finish()
        assert self.files.launches.count(BASE) == 3
        assert [self.files.launches.values(one, BASE).values for one in series] == [[1, 2, 3], [9]]

    def test_a_launch_counts_once(self):
        """The same launch by itself and among others; the same run twice in two files; two runs of one
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

    def test_other_benchmarks_and_keys_are_apart(self):
        self.files.add(BASE, HEAD + "a\t8\t5\t1\tx\tok\n")
        for name in ("bench", "other"):
            self.files.add(NEW, f"# benchmark: {name}\n# columns: name=key time_us=less\nname\ttime_us\n"
                           "a\t5\n")
        assert len({one.schema for one in self.files.finish()}) == 3

    def test_parts_of_a_result(self):
        text = (HEAD.replace("# columns", "# ranks: 2\n# mpi_variable: A=1\n# mpi_variable: B=2\n"
                             "# note: n: 1\n# columns", 1) +
                "a\t8\t5\t1\tx\tok\n# warning: w\nb\t8\t5\t1\tx\tok\n# end: 2 rows, exit 0\n")
        with Result(self.files.write(text)) as result:
            assert (result.benchmark, result.value("ranks"), result.value("none")) == (
                "bench", "2", None)
            assert result.metadata["mpi_variable"] == ["A=1", "B=2"]
            assert result.keys == ["name", "size"]
            assert result.quantities() == [(2, "time_us", False), (3, "rate_per_s", True)]
            assert [cells[0] for cells in result.rows()] == ["a", "b"]
            assert result.remarks == [("note", "n: 1"), ("warning", "w")]
            assert result.end == (2, 0)

    def test_without_metadata(self):
        path = self.files.write("name\ttime_us\na\t5\n")
        with Result(path, needs_metadata=False) as result:
            assert (result.header, result.roles, list(result.rows())) == (
                ["name", "time_us"], {}, [["a", "5"]])


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
        ("# schema: 7\n", "schema '7'"), (HEAD + "a\t8\t1\t1\tx\to\0k\n", "a byte of 0")])
    def test_damage_is_named(self, text, named):
        assert named in self.files.refused(text)

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
    """A result of so many launches with as many rows each as the size needs."""
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
