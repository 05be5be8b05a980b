# SPDX-License-Identifier: BSD-3-Clause
"""pingpong as a user runs it: wrong usage, the rows that were asked for, data checks."""

import os
import re

from case import Case, each, in_full
from mounts import with_small_fs
from mpi_run import (WHOLE, assert_checked, assert_of_samples, assert_without_time, read_tsv, run, run_and_dump, run_raw)

PUTS = ["put", "subput", "simple subput", "all put", "many put", "sub manyput", "many subput",
        "strided put", "strided subput", "strided many put"]
PATTERNS = PUTS + [name.replace("put", "get") for name in PUTS] + ["MPI Send"]
QUICK = ["--max-ndata=64", "--max-stride=8", "--samples=3", "--warmup=0"]
PROGRAM = "pingpong/pingpong"


def distinct(rows, *names):
    """These cells of the rows, each combination once, in the order of the first rows."""
    return list(dict.fromkeys(tuple(row[name] for name in names) for row in rows))


def sizes(rows):
    return [row["ndata"] for row in rows]


# ---- usage ---------------------------------------------------------------------------------------

class Usage(Case):
    def test_arrangements_of_two_ranks(self):
        self.refused(PROGRAM, "--arrangements=multiple,crossing", named="--arrangements")

    @each("options, reason", [
        (["--sizes=12"], "12 bytes are no whole number of doubles: use a multiple of 8"),
        (["--sizes=8", "--max-ndata=8"], "--sizes replaces --min-ndata and --max-ndata: use one of them"),
        (["--sizes=8", "--patterns=put,many put"], "many put isn't in one piece"),
        (["--sizes=8:1024G"], "use smaller sizes"),
        (["--sizes=" + ",".join(str(8 * i) for i in range(1, 43))], "42 sizes are too many: use at most 41")])
    def test_sizes(self, options, reason):
        assert reason in self.refused(PROGRAM, *options, named="--sizes")

    @each("mebibytes, options, default", [(64, ["--full"], 4 << 20),
                                          (12, [], 256 << 10)])
    def test_small_shm(self, mebibytes, options, default):
        """Where coarrays don't fit into /dev/shm, a default size shrinks and one that was asked for is
        refused; what would do does."""
        small = self.launcher.behind(with_small_fs("/dev/shm", mebibytes << 10))
        words = [self.built(PROGRAM), "--patterns=put,all put,strided many put", "--coarray-sync=images",
                 "--max-blocks=16", "--samples=1", "--warmup=0", *options]
        done = run_raw(small, 2, [*words, *WHOLE])
        assert done.returncode == 0, done.stderr
        largest = max(map(int, sizes(read_tsv(done.stdout))))
        assert largest < default
        assert 8 * 8 * largest > mebibytes << 17
        assert f"# max-ndata: {largest}\n" in done.stdout
        assert f"# note: at most {largest} values: more do not fit" in done.stdout
        done = run_raw(small, 2, [*words, f"--max-ndata={2 * largest}"])
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert f"use --max-ndata={largest} or less" in done.stderr
        rows = run(small, 2, [*words, f"--max-ndata={largest}"])[1]
        assert max(map(int, sizes(rows))) == largest


# ---- rows ----------------------------------------------------------------------------------------

class Rows(Case):
    @each("ranks, options, expected", [
        (2, ["--max-ndata=2K"], ["2048", "128", "2048"]),
        (2, ["--max-blocks=8"], ["262144", "128", "8"]),
        (2, [], ["262144", "128", "4096"]), (2, ["--full"], ["4194304", "128", "4194304"]),
        (8, ["--max-ndata=64"], ["64", "128", "64"])])
    def test_parameters(self, ranks, options, expected):
        """The metadata have the numbers in force, where they were not given, too."""
        if ranks <= len(os.sched_getaffinity(0)) and ranks > 2:
            self.skipTest("a processor for each rank: nothing is less then")
        done = self.start(PROGRAM, "--patterns=MPI Send", "--samples=1", "--warmup=0", "--arrangements=single",
                            *options, ranks=ranks)
        assert done.returncode == 0, done.stderr
        assert [re.search(f"(?m)^# {name}: (.*)$", done.stdout).group(1)
                for name in ("max-ndata", "max-stride", "max-blocks")] == expected

    def test_sizes(self):
        """--sizes, in bytes, once each in their order; patterns in one piece alone, also of exactly the data's size."""
        rows = self.rows_of(PROGRAM, "--sizes=24,8,8,1K:2K", "--coarray-sync=images", "--samples=1", "--warmup=0",
                            "--check")
        assert distinct(rows, "ndata") == [("3",), ("1",), ("128",), ("256",)]
        assert distinct(rows, "pattern") == [(name,) for name in PATTERNS
                                             if not any(word in name for word in ("many", "strided"))]
        assert all(row["count"] == "1" and row["check"] == "ok" for row in rows)

    def test_all_patterns(self):
        rows, samples = run_and_dump(self.launcher, 2, [self.built(PROGRAM), *QUICK])
        assert distinct(rows, "pattern", "sync") == [
            (pattern, sync) for pattern in PATTERNS
            for sync in (["none"] if pattern == "MPI Send" else ["all", "images"])]
        for row, samples_ns in zip(rows, samples):
            count, blksize, stride, ndata, nextent = (
                int(row[name]) for name in ("count", "blksize", "stride", "ndata", "nextent"))
            assert ndata == count * blksize
            assert nextent == (count - 1) * stride + blksize
            assert_of_samples(row, samples_ns, ndata, latencies=2)

    def test_choices(self):
        rows = self.rows_of(PROGRAM, "--patterns=mpi-send,put", "--coarray-sync=images", "--arrangements=single",
                              *QUICK)
        assert sorted(distinct(rows, "pattern", "sync")) == [("MPI Send", "none"), ("put", "images")]
        assert sizes(rows) == ["1", "8", "64"] * 2
        rows = self.rows_of(PROGRAM, "--patterns=put", "--coarray-sync=all", "--full", *QUICK)
        assert sizes(rows) == ["1", "2", "4", "8", "16", "32", "64"]

    def test_arrangements(self):
        options = ["--patterns=put,MPI Send", "--max-ndata=1", "--samples=2", "--warmup=0"]
        assert distinct(self.rows_of(PROGRAM, *options, ranks=4), "arrangement") == [
            ("single",), ("multiple",), ("crossing",)]
        done = self.start(PROGRAM, *options, ranks=3)
        assert distinct(read_tsv(done.stdout), "arrangement") == [("single",)]
        for name in ("multiple", "crossing"):
            assert f"# note: no arrangement {name}: it needs an even number" in done.stdout

    def test_blocks(self):
        rows = self.rows_of(PROGRAM, "--patterns=many put,strided many get,put", "--coarray-sync=images",
                              "--max-blocks=8", *QUICK)
        assert [(row["count"], row["ndata"]) for row in rows if row["pattern"] != "put"] == [
            ("1", "64"), ("8", "64")] * 2
        assert sizes(row for row in rows if row["pattern"] == "put") == ["1", "8", "64"]


# ---- time ----------------------------------------------------------------------------------------

class Time(Case):
    def test_no_time(self):
        """Every row is there, from one sample or more."""
        rows = self.rows_of(PROGRAM, "--max-ndata=8", "--patterns=put,all get,many put,strided get,MPI Send",
                            "--max-time=0.001", ranks=4)
        line = [("1", "1"), ("1", "8")]
        shapes = {"put": line, "many put": [("1", "8"), ("8", "1")], "strided get": line[:1],
                  "all get": line, "MPI Send": line}
        assert sorted((row["arrangement"], row["pattern"], row["sync"], row["count"], row["blksize"])
                      for row in rows) == sorted(
            (arrangement, pattern, sync, count, blksize)
            for arrangement in ("single", "multiple", "crossing") for pattern in shapes
            for sync in (["none"] if pattern == "MPI Send" else ["all", "images"])
            for count, blksize in shapes[pattern])
        for row in rows:
            assert_without_time(row)

    def test_time_of_full(self):
        """The complete sweep gives a row its time, of hundreds."""
        row, = self.rows_of(PROGRAM, "--full", "--patterns=MPI Send", "--arrangements=single", "--max-ndata=1",
                            "--min-samples=1M", "--max-samples=1M", "--visits=1", MODEL_LATENCY_US=100)
        assert row["status"] == "budget"
        assert 0.9 < float(row["time_s"]) < 1.1


# ---- data ----------------------------------------------------------------------------------------

class Data(Case):
    @each("ranks, options", [
        (2, QUICK),
        *in_full((4, ["--max-ndata=4", "--max-stride=2", "--samples=1", "--warmup=0"]))])
    def test_right_data(self, ranks, options):
        assert_checked(self.start(PROGRAM, "--check", *options, ranks=ranks), wrong=False)

    @each("patterns, two_sided", [(PATTERNS[:20], 0), (["MPI Send"], 1)])
    def test_wrong_data(self, patterns, two_sided):
        """Every second message of each pattern is wrong."""
        assert_checked(self.start(PROGRAM, "--check", "--patterns=" + ",".join(patterns), *QUICK, MODEL_P2P=two_sided,
                                  MODEL_CORRUPT=1, MODEL_CORRUPT_EVERY=2), wrong=True)

    def test_excess_data(self):
        """Data past the end, or in the gaps, is wrong. An all put is not here: there is
        nothing behind it."""
        patterns = ",".join(name for name in PATTERNS if not name.startswith("all"))
        environment = {"LD_PRELOAD": self.built("tests/programs/libexcessdata.so")}
        assert_checked(self.start(PROGRAM, "--check", "--patterns=" + patterns, *QUICK, **environment),
                       wrong=True)
