#!/usr/bin/env python3
"""mpi_overhead as a user runs it: usage errors, columns, the specification's
options, data checks."""

import argparse
import collections
import os
import re
import statistics
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import (  # noqa: E402
    Launcher, UsageTest, number, read_tsv, run, run_on_model, run_raw)

COLUMNS = """direction pair msgsize iterations iter_t work_t overhead base_t
    avail(%) overhead_lo_us overhead_hi_us transfer_us avail_base_pct
    transfer_lo_us transfer_hi_us avail_lo_pct avail_hi_pct samples status""".split()

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
            self.check_share(row, "avail(%)", "transfer_us")
            self.check_share(row, "avail_base_pct", "base_t")

    def check_share(self, row, available, whole):
        """The availability is 100 (1 - overhead / whole), as exactly as three decimals
        of both allow."""
        overhead, whole = number(row["overhead"]), number(row[whole])
        rounding = 0.05 + 0.0005 * (1 + abs(overhead) / whole) / whole * 100
        self.assertAlmostEqual(number(row[available]), 100 * (1 - overhead / whole),
                               delta=1.01 * rounding)

    def test_threshold_of_the_specification(self):
        for size, iterations in (("8", "1000"), ("64K", "100"), ("8M", "10")):
            row, = rows_of("-b", "1.05", "-m", size)
            self.assertEqual(row["iterations"], iterations)
            self.check_share(row, "avail(%)", "base_t")
            self.assertEqual(row["avail_base_pct"], row["avail(%)"])
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
                           [OPTIONS.program, "-b", "50", "-t", "20", "-i", "1000",
                            *more])
            row, = read_tsv(done.stdout)
            self.assertEqual((row["status"], row["overhead"]), ("no-knee", "NA"))
            self.assertRegex(done.stdout, "# note: row 1: base_t .* lower --bthresh")
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

    def test_no_header(self):
        done = run_raw(OPTIONS.launcher, 2,
                       [OPTIONS.program, "-n", "--max-time=0.05"])
        self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)

    def test_no_knee(self):
        # Not nearly enough time to get beyond a message of 64 MiB.
        done = run_raw(OPTIONS.launcher, 2,
                       [OPTIONS.program, "-m", "8,64M", "--max-time=0.01"])
        row = read_tsv(done.stdout)[1]
        self.assertEqual((row["status"], row["overhead"], row["avail_base_pct"]),
                         ("no-knee", "NA", "NA"))
        self.assertIn("# note: row 2: no amount of work", done.stdout)

    def test_all_pairs(self):
        rows = rows_of("--all-pairs", "--max-time=0.1", ranks=4)
        self.assertEqual([row["pair"] for row in rows], ["0", "1"])
        rows = rows_of("--max-time=0.1", ranks=4)
        self.assertEqual([row["pair"] for row in rows], ["0"])


class Verbose(unittest.TestCase):
    """-v: what the specification's program says, and its figure 1 as a table."""

    # Of a message of 1000 bytes; a token takes nothing.
    TRANSFER_US = 100.0
    MODEL = {"MODEL_P2P": 1, "MODEL_PER_BYTE_NS": TRANSFER_US}

    def measure(self, *arguments, ranks=2):
        """What was said before each row, its table (tuples of work, iter_t, work_t,
        base_t), and the rows."""
        done = run_raw(OPTIONS.launcher, ranks, [
            OPTIONS.program, "--verbose", *arguments],
                       {"LD_PRELOAD": OPTIONS.model, **self.MODEL})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# verbose: mpi_overhead: done\n", done.stdout)
        parts = done.stdout.split("# verbose: Calculating ")[1:]
        said = [["Calculating " + part.splitlines()[0]] + re.findall(
            "(?m)^# verbose: ([A-Z].*)$", part) for part in parts]
        head = r"(?m)^# verbose: work +iter_t +work_t +base_t$"
        tables = [re.findall(r"(?m)^# verbose: (\d+) +([\d.]+) +([\d.]+) +([\d.]+)$",
                             re.split(head, part)[1]) for part in parts]
        rows = read_tsv(done.stdout)
        self.assertEqual(len(parts), len(rows))
        return said, [[tuple(map(float, line)) for line in table]
                      for table in tables], rows

    def check_table(self, table, threshold):
        """The work doubles until iter_t, which is a transfer as long as the work fits,
        is beyond the threshold. work_t has no transfer in it. Returns the share of the
        last iter_t that is work."""
        works, iters, alone, bases = zip(*table)
        raised = [work for work in works if work > 0]
        self.assertEqual(raised, [raised[0] * 2 ** i for i in range(len(raised))])
        beyond = [iter_t > threshold * base_t for _, iter_t, _, base_t in table]
        self.assertEqual(beyond, (len(table) - 1) * [False] + [True])
        self.assertGreaterEqual(min(iters), self.TRANSFER_US)
        self.assertLess(alone[0], self.TRANSFER_US / 2)
        return alone[-1] / iters[-1]

    def test_threshold_of_the_specification(self):
        for more, direction, iterations in (
                ([], "send", "Iterations are being calculated automatically"),
                (["-r", "-i", "200"], "receive", "Number of iterations is 200")):
            (said,), (table,), (row,) = self.measure("-b", "1.05", "-m", "1000", *more)
            self.assertEqual(said[:5], [
                f"Calculating {direction} overhead", iterations,
                "Message size is 1000 bytes",
                "Overhead comparison threshold is 1.500000 (50.0%)",
                "Base time comparison threshold is 1.050000 (5.0%)"])
            self.assertRegex(said[5], r"^Timing resolution is \d+\.\d{3} uS$")
            self.assertEqual(said[6:], [
                f"Using {row['iterations']} iterations per work value"])
            self.assertGreater(self.check_table(table, 1.5), 0.8)
            self.assertEqual(table[0][0], 1)
            # base_t is the average of iter_t until that is beyond the base threshold.
            averaged = []
            for _, iter_t, _, _ in table:
                if averaged and iter_t > 1.05 * statistics.mean(averaged):
                    break
                averaged.append(iter_t)
            for i, (_, _, _, base_t) in enumerate(table):
                self.assertAlmostEqual(
                    base_t, statistics.mean(averaged[:i + 1]), delta=0.0011)
            # The last line is the result.
            self.assertEqual(table[-1][1:], tuple(
                number(row[name]) for name in ("iter_t", "work_t", "base_t")))

    def test_fit(self):
        for more, using in (
                ([], "Using as many iterations per work value as take 20 uS"),
                (["-i", "500"], "Using 20 iterations per work value")):
            said, tables, rows = self.measure("--both", "-m", "1000,2000", *more)
            self.assertEqual([lines[0] for lines in said],
                             2 * ["Calculating send overhead",
                                  "Calculating receive overhead"])
            self.assertEqual([lines[2] for lines in said],
                             [f"Message size is {row['msgsize']} bytes"
                              for row in rows])
            # A disturbance may pass for the knee in one of them.
            self.assertGreater(statistics.median(
                self.check_table(table, 1.5) for table in tables), 0.8)
            for lines, table in zip(said, tables):
                self.assertIn("threshold is found", lines[4])
                self.assertTrue(lines[6].startswith(using), lines[6])
                self.assertEqual(table[0][0], 0)
                self.assertEqual({base_t for _, _, _, base_t in table},
                                 {table[0][1]})

    def test_all_pairs(self):
        said, tables, _ = self.measure("--all-pairs", "-m", "1000", "-b", "1.05",
                                       "-i", "50", ranks=4)
        self.assertEqual([lines[1] for lines in said], ["Pair is 0", "Pair is 1"])
        self.assertEqual(len(tables), 2)

    def test_nothing_more_is_timed(self):
        """With and without -v the same loops run: for each amount of work 50 messages, a
        barrier after each and before the loop, and as many barriers without
        messages."""
        others = []
        for more in ([], ["-v"]):
            _, _, truths = run_on_model(
                OPTIONS.launcher, 2,
                [OPTIONS.program, "-b", "1.05", "-i", "50", "-m", "1000", *more],
                {**self.MODEL, "MODEL_SYNC_COLL": 1}, OPTIONS.model)
            counts = {row["operation"]: int(row["operations"]) for row in truths}
            amounts, rest = divmod(counts["isend"], 50)
            self.assertEqual(rest, 0)
            others.append(counts["barrier"] - 2 * 51 * amounts)
        self.assertEqual(others[0], others[1])


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
