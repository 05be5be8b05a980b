#!/usr/bin/env python3
"""mpi_overhead as a user runs it: usage errors, columns, the specification's
options, data checks."""

import argparse
import collections
import os
import statistics
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import (  # noqa: E402
    Launcher, UsageTest, number, read_tsv, run, run_on_model, run_raw)

COLUMNS = """direction pair msgsize iterations iter_t work_t overhead base_t
    avail(%) overhead_lo_us overhead_hi_us transfer_us transfer_lo_us
    transfer_hi_us avail_lo_pct avail_hi_pct samples status""".split()

OPTIONS = None


def rows_of(*arguments, ranks=2):
    return run(OPTIONS.launcher, ranks, [OPTIONS.program] + list(arguments))[1]


class Usage(UsageTest):
    """One line on stderr that names the option, exit 2, no output."""

    def refused(self, arguments, named, ranks=2):
        done = run_raw(OPTIONS.launcher, ranks, [OPTIONS.program] + arguments)
        self.assert_refused(done, "mpi_overhead", named)

    def test_usage(self):
        for value in ("-1", "x", "", "1:", "4:2", "1025G", "99999999999G", "1,,2"):
            self.refused(["--msgsize=" + value], "--msgsize")
        for value in ("0", "-5", "x"):
            self.refused(["-i", value], "-i")
        for value in ("0.99", "0", "-1", "nan"):
            self.refused(["-t", value], "-t")
        for value in ("0.99", "x", "", "-1"):
            self.refused(["--bthresh=" + value], "--bthresh")
        self.refused([], "even number", ranks=1)
        self.refused([], "even number", ranks=3)

    def test_usage_is_printed(self):
        for option in ("-q", "--usage", "--help"):
            done = run_raw(OPTIONS.launcher, 2, [OPTIONS.program, option])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("Usage:"), 1)
            for name in ("-r, --recv", "-i, --iterations", "-m, --msgsize",
                         "-t, --thresh", "-b, --bthresh", "-n, --nohdr",
                         "-v, --verbose"):
                self.assertIn(name, done.stdout)


class Rows(unittest.TestCase):
    """The rows that were asked for, and what they must agree on."""

    def test_columns_and_sizes(self):
        done = run_raw(OPTIONS.launcher, 2,
                       [OPTIONS.program, "--both", "-m", "0,8,1K:2K",
                        "--max-time=0.1"])
        rows = read_tsv(done.stdout)
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual([(row["msgsize"], row["direction"]) for row in rows],
                         [(size, direction)
                          for size in ("0", "8", "1024", "2048")
                          for direction in ("send", "recv")])
        for row in rows:
            self.assertAlmostEqual(number(row["iter_t"]) -
                                   number(row["work_t"]),
                                   number(row["overhead"]), delta=0.5)

    def test_threshold_of_the_specification(self):
        for size, iterations in (("8", "1000"), ("64K", "100"), ("8M", "10")):
            row, = rows_of("-b", "1.05", "-m", size)
            self.assertEqual(row["iterations"], iterations)
            share = number(row["overhead"]) / number(row["base_t"])
            self.assertAlmostEqual(number(row["avail(%)"]), 100 * (1 - share),
                                   delta=max(1.0, abs(share)))
        row, = rows_of("-b", "1.05", "-i", "50", "-r")
        self.assertEqual((row["iterations"], row["direction"]),
                         ("50", "recv"))

    def test_number_of_iterations(self):
        """A given one runs in full, however long that takes; with means there are the
        specification's. --samples beats both. Loops are of a 25th."""
        row, = rows_of("-i", "1500", "-m", "4M")
        self.assertEqual((row["iterations"], row["status"]), ("1500", "ok"))
        row, = rows_of("-i", "1500", "-m", "4M", "--max-time=0.1")
        self.assertLess(int(row["iterations"]), 1500)
        for size, iterations in (("8", "1000"), ("64K", "100"), ("8M", "10")):
            row, = rows_of("--estimator=mean", "-m", size)
            self.assertEqual(row["iterations"], iterations)
        for number_given in ("--estimator=mean", "--iterations=1500"):
            row, = rows_of(number_given, "--samples=7")
            self.assertEqual(row["samples"], "7")

    def test_no_knee_ends(self):
        """With a base threshold that the average never leaves behind."""
        for more in ([], ["--samples=7"]):
            start_s = time.monotonic()
            done = run_raw(OPTIONS.launcher, 2,
                           [OPTIONS.program, "-b", "50", "-t", "20", "-i", "100",
                            *more])
            row, = read_tsv(done.stdout)
            self.assertEqual((row["status"], row["overhead"]), ("no-knee", "NA"))
            self.assertRegex(done.stdout, "# note: base_t .* lower --bthresh")
            self.assertLess(time.monotonic() - start_s, 30)

    def test_search_of_the_specification_runs_in_full(self):
        """About 20 amounts of work, each 100 messages of 1 ms: 2 s and more."""
        model = {"LD_PRELOAD": OPTIONS.model, "MODEL_P2P": 1,
                 "MODEL_LATENCY_US": 1000}
        for more, status in (([], "ok"), (["-i", "100"], "ok"),
                             (["--max-time=0.3"], "no-knee")):
            done = run_raw(OPTIONS.launcher, 2, [
                OPTIONS.program, "-b", "1.02", "-m", "64K", *more], model)
            row, = read_tsv(done.stdout)
            with self.subTest(more=more):
                self.assertEqual((row["status"], row["iterations"]),
                                 (status, "100"))
                self.assertEqual("--max-time gives it more" in done.stdout,
                                 status == "no-knee")
                found = number(row["iter_t"]) > 1.5 * number(row["base_t"])
                self.assertEqual(found, status == "ok")

    def test_samples(self):
        """Of loops without and with work, with and without messages; by the
        specification the last loop's two."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "samples.tsv")
            for more, quantities, count in (
                    ([], {"base", "empty", "iter", "work"}, 7),
                    (["-b", "1.05"], {"iter", "work"}, 1)):
                rows_of("-m", "64K", "--samples=7", "--dump-samples=" + path, *more)
                with open(path, encoding="utf-8") as stream:
                    found = collections.Counter(
                        row["quantity"] for row in read_tsv(stream.read()))
                self.assertEqual(found, {name: count for name in quantities})

    def test_stops_beyond_the_threshold(self):
        for threshold in (1.5, 4.0):
            row, = rows_of("-b", "1.05", "-t", str(threshold), "-m", "64K")
            ratio = number(row["iter_t"]) / number(row["base_t"])
            self.assertGreater(ratio, threshold)

    def test_verbose(self):
        done = run_raw(OPTIONS.launcher, 2,
                       [OPTIONS.program, "-v", "-b", "1.02", "-m", "8"])
        for text in ("Calculating send overhead", "Message size is 8 bytes",
                     "Iterations are being calculated automatically",
                     "Overhead comparison threshold is 1.500000 (50.0%)",
                     "Base time comparison threshold is 1.020000 (2.0%)",
                     "Timing resolution is", "mpi_overhead: done"):
            self.assertIn("# verbose: " + text, done.stdout)

    def test_no_header(self):
        done = run_raw(OPTIONS.launcher, 2,
                       [OPTIONS.program, "-n", "--max-time=0.05"])
        self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)

    def test_no_knee(self):
        # Not nearly enough time to get beyond a message of 64 MiB.
        done = run_raw(OPTIONS.launcher, 2,
                       [OPTIONS.program, "-m", "8,64M", "--max-time=0.01"])
        row = read_tsv(done.stdout)[1]
        self.assertEqual((row["status"], row["overhead"]), ("no-knee", "NA"))
        self.assertIn("# note: row 2: no amount of work", done.stdout)

    def test_all_pairs(self):
        rows = rows_of("--all-pairs", "--max-time=0.1", ranks=4)
        self.assertEqual([row["pair"] for row in rows], ["0", "1"])
        rows = rows_of("--max-time=0.1", ranks=4)
        self.assertEqual([row["pair"] for row in rows], ["0"])


class Token(unittest.TestCase):
    """The partner's part of the barrier stays out of the wait for a message."""

    def test_receiving_small_messages(self):
        # It costs something, and no more than the whole transfer; where nearly
        # all of that is overhead, what is left for noise is little.
        launches = [rows_of("--both", "-m", "0,8,1K,64K", "--max-time=0.2")
                    for _ in range(5)]
        for rows in zip(*launches):
            overhead, transfer = (
                statistics.median(number(row[name]) for row in rows)
                for name in ("overhead", "transfer_us"))
            with self.subTest(msgsize=rows[0]["msgsize"],
                              direction=rows[0]["direction"]):
                self.assertGreaterEqual(overhead, -0.01)
                self.assertLessEqual(overhead, 1.02 * transfer + 0.02)

    def test_by_fit_only(self):
        for arguments, token in ((["--recv"], True), ([], True),
                                 (["-b", "1.05"], False),
                                 (["--recv", "-b", "1.05"], False)):
            _, _, truths = run_on_model(
                OPTIONS.launcher, 2,
                [OPTIONS.program, "--max-time=0.1"] + arguments,
                {"MODEL_P2P": 1}, OPTIONS.model)
            sent = [row["bytes"] for row in truths
                    if row["operation"] == "send"]
            self.assertEqual(sent, ["0"] if token else [], arguments)


class Data(unittest.TestCase):
    """--check: right data passes, wrong data fails, in both directions."""

    def check(self, model, *arguments):
        """Exit status and the statuses of the rows."""
        environment = {"LD_PRELOAD": OPTIONS.model, "MODEL_P2P": 1,
                       "MODEL_FRACTION": 1, **model}
        done = run_raw(OPTIONS.launcher, 2,
                       [OPTIONS.program, "--check", "--both",
                        "--max-time=0.1"] + list(arguments), environment)
        return done.returncode, [row["status"] for row in read_tsv(done.stdout)]

    def test_data(self):
        code, statuses = self.check({"MODEL_DATA": 1}, "-m", "1,8,253,100K")
        self.assertEqual(code, 0)
        self.assertEqual(len(statuses), 8)
        self.assertNotIn("FAIL", statuses)
        found = self.check({"MODEL_DATA": 1, "MODEL_CORRUPT": 1},
                           "-m", "1,8,253,100K")
        self.assertEqual(found, (1, 8 * ["FAIL"]))

    def test_no_data(self):
        found = self.check({"MODEL_DATA": 0}, "-m", "1,8,100K")
        self.assertEqual(found, (1, 6 * ["FAIL"]))

    def test_every_message_is_verified(self):
        # 1007 iterations: no loop's last message is a fiftieth one.
        for arguments in ([], ["-b", "1.05", "-i", "1007"]):
            found = self.check({"MODEL_DATA": 1, "MODEL_CORRUPT": 1,
                                "MODEL_CORRUPT_EVERY": 50},
                               "-m", "1,8,100K", *arguments)
            self.assertEqual(found, (1, 6 * ["FAIL"]), arguments)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="mpi_overhead")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
