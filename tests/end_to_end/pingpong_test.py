#!/usr/bin/env python3
"""pingpong as a user runs it: usage errors, columns, the rows that were asked
for, data checks."""

import argparse
import os
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mounts import with_small_fs  # noqa: E402
from mpi_run import (  # noqa: E402
    Launcher, UsageTest, number, read_tsv, run, run_and_dump, run_raw,
    total_error)

COLUMNS = """arrangement pattern sync count blksize stride ndata nextent nrep
    time_s latency_us latency_lo_us latency_hi_us latency_p99_us latency_max_us
    bwidth_mbs check samples status slowest_rank""".split()
PUTS = ["put", "subput", "simple subput", "all put", "many put", "sub manyput",
        "many subput", "strided put", "strided subput", "strided many put"]
PATTERNS = (PUTS + [name.replace("put", "get") for name in PUTS] +
            ["MPI Send"])
QUICK = ["--max-ndata=64", "--max-stride=8", "--samples=3", "--warmup=0"]

OPTIONS = None


def rows_of(*arguments, ranks=2):
    return run(OPTIONS.launcher, ranks, [OPTIONS.program] + list(arguments))[1]


class Usage(UsageTest):
    """One line on stderr that names the option, exit 2, no output."""

    def refused(self, arguments, named, ranks=2):
        done = run_raw(OPTIONS.launcher, ranks, [OPTIONS.program] + arguments)
        self.assert_refused(done, "pingpong", named)

    def test_usage(self):
        self.refused([], "at least 2 processes", ranks=1)
        self.refused(["--arrangements=multiple,crossing"], "--arrangements")
        for option, values in (("--patterns", ("puts", "", "put,,get")),
                               ("--arrangements", ("double", "")),
                               ("--coarray-sync", ("none", "x")),
                               ("--start", ("window",)),
                               ("--max-ndata", ("3", "0", "-1", "x", "2G")),
                               ("--max-stride", ("3", "0", "x")),
                               ("--max-blocks", ("3", "-1", "x"))):
            # Open MPI's launcher takes seconds to end a job that failed.
            for value in values[:1 if OPTIONS.launcher.is_openmpi else None]:
                self.refused([f"{option}={value}"], option)


class Memory(unittest.TestCase):
    """Where coarrays don't fit into /dev/shm, a default size shrinks and one that
    was asked for is refused; what would do does."""

    def test_small_shm(self):
        quick = [OPTIONS.program, "--patterns=put,all put,strided many put",
                 "--coarray-sync=images", "--max-blocks=16",
                 "--samples=1", "--warmup=0"]
        for mebibytes, arguments in ((64, ["--full"]), (12, [])):
            small = OPTIONS.launcher.behind(
                with_small_fs("/dev/shm", mebibytes << 10))
            done = run_raw(small, 2, quick + arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            largest = max(int(row["ndata"]) for row in read_tsv(done.stdout))
            self.assertLess(largest, (4 << 20) if arguments else (256 << 10))
            self.assertGreater(8 * 8 * largest, mebibytes << 17)
            self.assertIn(f"# max-ndata: {largest}\n", done.stdout)
            self.assertIn(f"# note: at most {largest} values: more do not fit",
                          done.stdout)
            done = run_raw(small, 2, quick + arguments +
                           [f"--max-ndata={2 * largest}"])
            self.assertEqual((done.returncode, done.stdout), (2, ""),
                             done.stderr)
            self.assertIn(f"use --max-ndata={largest} or less", done.stderr)
            rows = run(small, 2, quick + arguments +
                       [f"--max-ndata={largest}"])[1]
            self.assertEqual(max(int(row["ndata"]) for row in rows), largest)


class Metadata(unittest.TestCase):
    """Parameters are the numbers in force, where they were not given, too."""

    def parameters(self, ranks, *arguments):
        done = run_raw(OPTIONS.launcher, ranks, [
            OPTIONS.program, "--patterns=MPI Send", "--samples=1", "--warmup=0",
            "--arrangements=single", *arguments])
        self.assertEqual(done.returncode, 0, done.stderr)
        return [re.search(f"^# {name}: (.*)$", done.stdout, re.M).group(1)
                for name in ("max-ndata", "max-stride", "max-blocks")]

    def test_parameters(self):
        self.assertEqual(self.parameters(2, "--max-ndata=2K"),
                         ["2048", "128", "2048"])
        self.assertEqual(self.parameters(2, "--max-blocks=8"),
                         ["262144", "128", "8"])
        self.assertEqual(self.parameters(2, "--full"),
                         ["4194304", "128", "4194304"])
        if len(os.sched_getaffinity(0)) < 8:
            self.assertEqual(self.parameters(8), ["262144", "128", "512"])
            self.assertEqual(self.parameters(8, "--max-ndata=64"),
                             ["64", "128", "64"])


class Rows(unittest.TestCase):
    """The rows that were asked for, and what they must agree on."""

    def test_all_patterns(self):
        rows, samples = run_and_dump(OPTIONS.launcher, 2,
                                     [OPTIONS.program] + QUICK)
        self.assertEqual(list(rows[0]), COLUMNS)
        expected = [(pattern, sync) for pattern in PATTERNS
                    for sync in (["none"] if pattern == "MPI Send"
                                 else ["all", "images"])]
        found = [(row["pattern"], row["sync"]) for row in rows]
        self.assertEqual(list(dict.fromkeys(found)), expected)
        for row, values_ns in zip(rows, samples):
            count, blksize, stride, ndata, nextent = (
                int(row[name]) for name in ("count", "blksize", "stride",
                                            "ndata", "nextent"))
            self.assertEqual(ndata, count * blksize)
            self.assertEqual(nextent, (count - 1) * stride + blksize)
            latency_s = number(row["latency_us"]) * 1e-6
            self.assertAlmostEqual(number(row["bwidth_mbs"]) * latency_s,
                                   8 * ndata / 1048576,
                                   delta=0.01 * 8 * ndata / 1048576)
            self.assertLess(total_error(row, values_ns), 1.0, row)
            # The clock's cost, which is in the samples alone.
            batch = int(row["nrep"]) // 3
            self.assertLessEqual(number(row["latency_us"]),
                                 sorted(values_ns)[1] / 2e3 + 0.001)
            self.assertGreater(number(row["latency_us"]),
                               (sorted(values_ns)[1] - 1e3 / batch) / 2e3 -
                               0.001)
            self.assertEqual((row["samples"], row["check"]), ("3", "off"))

    def test_choices(self):
        rows = rows_of("--patterns=mpi-send,put", "--coarray-sync=images",
                       "--arrangements=single", *QUICK)
        self.assertEqual({(row["pattern"], row["sync"]) for row in rows},
                         {("put", "images"), ("MPI Send", "none")})
        self.assertEqual([row["ndata"] for row in rows], ["1", "8", "64"] * 2)
        rows = rows_of("--patterns=put", "--coarray-sync=all", "--full", *QUICK)
        self.assertEqual([row["ndata"] for row in rows],
                         ["1", "2", "4", "8", "16", "32", "64"])

    def test_arrangements(self):
        arguments = ["--patterns=put,MPI Send", "--max-ndata=1", "--samples=2",
                     "--warmup=0"]
        rows = rows_of(*arguments, ranks=4)
        self.assertEqual(list(dict.fromkeys(row["arrangement"]
                                            for row in rows)),
                         ["single", "multiple", "crossing"])
        done = run_raw(OPTIONS.launcher, 3, [OPTIONS.program] + arguments)
        self.assertEqual({row["arrangement"] for row in read_tsv(done.stdout)},
                         {"single"})
        for name in ("multiple", "crossing"):
            self.assertIn(f"# note: no {name}: it needs an even number",
                          done.stdout)


class Time(unittest.TestCase):
    """With more ranks than processors and no time at all every row is there, from
    one sample at the least, and soon."""

    def test_oversubscribed(self):
        start_s = time.monotonic()
        rows = rows_of("--patterns=put,all get,many put,strided get,MPI Send",
                       "--max-time=0.001", "--max-ndata=8", ranks=8)
        # On two processors half of it goes into the synchronisations.
        self.assertLess(time.monotonic() - start_s, 15.0)
        found = [(row["arrangement"], row["pattern"], row["sync"], row["count"],
                  row["blksize"]) for row in rows]
        expected = [(arrangement, pattern, sync, count, blksize)
                    for arrangement in ("single", "multiple", "crossing")
                    for pattern, shapes in (
                        ("put", (("1", "1"), ("1", "8"))),
                        ("many put", (("1", "8"), ("8", "1"))),
                        ("strided get", (("1", "1"),)),
                        ("all get", (("1", "1"), ("1", "8"))),
                        ("MPI Send", (("1", "1"), ("1", "8"))))
                    for sync in (["none"] if pattern == "MPI Send"
                                 else ["all", "images"])
                    for count, blksize in shapes]
        self.assertEqual(sorted(found), sorted(expected))
        for row in rows:
            samples = int(row["samples"])
            self.assertGreaterEqual(samples, 1, row)
            self.assertIn(row["status"], ("ok", "budget"))
            self.assertGreater(number(row["latency_us"]), 0.0, row)
            if samples < 6:
                self.assertEqual((row["latency_lo_us"], row["latency_hi_us"],
                                  row["status"]), ("NA", "NA", "budget"))

    def test_full(self):
        """The complete sweep gives a row its time, of hundreds."""
        line = OPTIONS.launcher.line(2, {}, [
            OPTIONS.program, "--full", "--no-header", "--max-ndata=64",
            "--min-samples=1M", "--max-samples=1M"])
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL) as process:
            next(process.stdout)
            start_s = time.monotonic()
            row = next(process.stdout)
            seconds = time.monotonic() - start_s
            process.terminate()
        self.assertEqual(row.split("\t")[-2:-1], ["budget"])
        self.assertGreater(seconds, 0.9)
        self.assertLess(seconds, 3.0)

    def test_blocks(self):
        rows = rows_of("--patterns=many put,strided many get,put",
                       "--coarray-sync=images", "--max-blocks=8", *QUICK)
        self.assertEqual([(row["count"], row["ndata"]) for row in rows
                          if row["pattern"] != "put"],
                         [("1", "64"), ("8", "64")] * 2)
        self.assertEqual([row["ndata"] for row in rows
                          if row["pattern"] == "put"], ["1", "8", "64"])


class Data(unittest.TestCase):
    """--check: right data passes in every pattern; wrong data fails in every
    pattern."""

    def check(self, environment, ranks, wrong, *arguments):
        done = run_raw(OPTIONS.launcher, ranks, [OPTIONS.program, "--check"] +
                       list(arguments), environment)
        rows = read_tsv(done.stdout)
        self.assertEqual(done.returncode, 1 if wrong else 0,
                         done.stdout[-1500:] + done.stderr)
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(row["check"], "FAIL" if wrong else "ok", row)
            # A sample is a repetition then.
            self.assertEqual(row["nrep"], row["samples"])

    def test_right(self):
        self.check(None, 2, False, *QUICK)
        self.check(None, 4, False, "--max-ndata=8", "--max-stride=2",
                   "--samples=1", "--warmup=0")

    def test_wrong(self):
        for patterns, two_sided in ((",".join(PATTERNS[:20]), 0),
                                    ("MPI Send", 1)):
            self.check({"LD_PRELOAD": OPTIONS.model, "MODEL_RMA": 1,
                        "MODEL_P2P": two_sided, "MODEL_CORRUPT": 1,
                        "MODEL_CORRUPT_EVERY": 2}, 2, True,
                       "--patterns=" + patterns, *QUICK)

    def test_excess(self):
        """What runs past the data, or moves its gaps, is wrong. An all put is not
        here: there is nothing behind it."""
        self.check({"LD_PRELOAD": OPTIONS.excess}, 2, True, "--patterns=" +
                   ",".join(name for name in PATTERNS
                            if not name.startswith("all")), *QUICK)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="pingpong")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("--excess", required=True, help="libexcessdata.so")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
