#!/usr/bin/env python3
"""msgrate and msgrate_rma as a user runs them: usage errors, columns, the
specification's options, data checks."""

import argparse
import os
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import (  # noqa: E402
    Launcher, UsageTest, number, read_tsv, run, run_raw)

COMMON = """job_size npeers niters nmsgs nbytes cache_size ppn rate_per_s
    rate_lo_per_s rate_hi_per_s total_rate_per_s iter_us iter_lo_us iter_hi_us
    iter_p99_us iter_max_us samples status slowest_rank""".split()
PATTERNS = ["single direction", "pair-based", "pre-post", "all-start"]
SYNCS = ["fence", "lock", "pscw", "flush"]

OPTIONS = None


def launch(program, *arguments, ranks=2, environment=None):
    return run_raw(OPTIONS.launcher, ranks,
                   [os.path.join(OPTIONS.binaries, program)] + list(arguments),
                   environment)


def rows_of(program, *arguments, ranks=2):
    return run(OPTIONS.launcher, ranks,
               [os.path.join(OPTIONS.binaries, program)] + list(arguments))[1]


class Usage(UsageTest):
    """One line on stderr that names the option, exit 2, no output."""

    def refused(self, program, arguments, named, ranks=2):
        done = launch(program, *arguments, ranks=ranks)
        self.assert_refused(done, program, named)

    def test_peers(self):
        self.refused("msgrate", [],
                     "6 peers need at least 7 processes, got 4: use -p 3 or "
                     "more processes", ranks=4)
        for program in ("msgrate", "msgrate_rma"):
            self.refused(program, ["-p", "2"], "use -p 1 or more processes")
            self.refused(program, ["-p", "1"], "at least 2 processes", ranks=1)
        self.refused("msgrate", ["-p", "2", "-n", "2"], "--ppn", ranks=4)

    def test_values(self):
        for option, values in (
                ("-p", ("0", "-1", "x", "", "1.5", "99999999999")),
                ("-i", ("0", "-5", "x", "")),
                ("-m", ("0", "-1", "x", "3G")),
                ("-s", ("-1", "x", "", "2G", "1:", "4:2", "99999999999G")),
                ("-n", ("0", "-1", "x"))):
            # Open MPI's launcher takes seconds to end a job that failed.
            for value in values[:1 if OPTIONS.launcher.is_openmpi else None]:
                self.refused("msgrate", ["-p", "1", option, value], option)
        for value in ("x", "", "-1", "LLC", "8EB"):
            self.refused("msgrate", ["-p", "1", "--cache=" + value], "--cache")
        for arguments in (["-t", "0"], ["-t", "2000"], ["-r", "x"],
                          ["-u", "take"], ["-t", "3", "-m", "2"]):
            self.refused("msgrate_rma", ["-p", "1"] + arguments, "-")

    def test_too_much(self):
        """Products that overflow, or don't fit into memory."""
        for arguments in (["-m", "1G", "-s", "1G"], ["-m", "1G", "-s", "8"],
                          ["-m", "2147483647", "-s", "2147483647"],
                          ["-m", "1024", "-s", "1G"],
                          ["--cache=4096G", "-m", "1"]):
            self.refused("msgrate", ["-p", "1"] + arguments, "use")
            self.refused("msgrate_rma", ["-p", "1"] + arguments, "use")

    def test_help(self):
        for program in ("msgrate", "msgrate_rma"):
            done = launch(program, "--help")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("Usage:"), 1)
            for name in ("-p, --peers", "-i, --iterations", "-m, --messages",
                         "-s, --size", "-c, --cache", "-n, --ppn"):
                self.assertIn(name, done.stdout)


class Rows(unittest.TestCase):
    """The rows that were asked for, and what they must agree on."""

    def test_columns(self):
        rows = rows_of("msgrate", "-p", "1", "-i", "5", "-m", "16", "-s",
                       "0,8", "-c", "64K")
        self.assertEqual(list(rows[0]), ["pattern"] + COMMON)
        self.assertEqual([(row["nbytes"], row["pattern"]) for row in rows],
                         [(size, pattern) for size in ("0", "8")
                          for pattern in PATTERNS])
        for row in rows:
            self.assertEqual(
                [row[name] for name in ("job_size", "npeers", "niters", "nmsgs",
                                        "cache_size", "ppn", "samples")],
                ["2", "1", "5", "16", "65536", "1", "5"])

    def test_rate_is_messages_over_time(self):
        for ranks, peers in ((2, 1), (3, 2)):
            for row in rows_of("msgrate", "-p", str(peers), "-i", "9", "-m",
                               "50", "-c", "0", ranks=ranks):
                single = row["pattern"] == PATTERNS[0]
                messages = 50 if single else 2 * peers * 50
                rate = number(row["rate_per_s"])
                self.assertAlmostEqual(rate * number(row["iter_us"]) * 1e-6,
                                       messages, delta=0.002 * messages)
                # An odd job's last rank rests where there are pairs.
                part = ranks // 2 * 2 if single else ranks
                self.assertAlmostEqual(number(row["total_rate_per_s"]) / rate,
                                       part, delta=1e-3)
                if row["rate_lo_per_s"] != "NA":
                    self.assertLessEqual(number(row["rate_lo_per_s"]), rate)
                    self.assertGreaterEqual(number(row["rate_hi_per_s"]), rate)

    def test_machine_readable(self):
        done = launch("msgrate", "-p", "1", "-o", "-i", "4", "-m", "8", "-s",
                      "1,2", "-c", "1K")
        self.assertEqual(done.returncode, 0, done.stderr)
        aligned = launch("msgrate", "-p", "1", "-o", "-i", "4", "-m", "8", "-c",
                         "1K", "--format=table")
        self.assertEqual(aligned.stdout.splitlines()[-1].count("\t"), 10)
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual([line[:7] for line in lines],
                         [["2", "1", "4", "8", "1", "1024", "1"],
                          ["2", "1", "4", "8", "2", "1024", "1"]])
        for line in lines:
            self.assertEqual(len(line), 11)
            for rate in line[7:]:
                self.assertGreater(float(rate), 1000.0)

    def test_cache(self):
        done = launch("msgrate", "-p", "1", "-i", "1", "--warmup=0", "-c", "llc")
        if "doesn't say how large" in done.stderr:
            self.skipTest(done.stderr)
        self.assertNotIn("may keep some", done.stdout)
        size = read_tsv(done.stdout)[0]["cache_size"]
        self.assertGreater(int(size), 1 << 18)
        # It is half as much again as the cache has.
        smaller = str(int(size) * 2 // 3 - 8)
        done = launch("msgrate", "-p", "1", "-i", "1", "--warmup=0", "-c", smaller)
        self.assertIn("# warning: the flush, ", done.stdout)
        done = launch("msgrate", "-p", "1", "-i", "1", "--warmup=0", "-c", "0")
        self.assertIn("# note: the caches are not flushed", done.stdout)
        done = launch("msgrate", "-p", "1", "-i", "1", "--warmup=0")
        self.assertEqual(read_tsv(done.stdout)[0]["cache_size"], "16777216")

    def test_flush_is_before_the_time(self):
        """Every iteration has one, of at least 5 ms, and no time has it. That
        it makes caches cold has tests of its own."""
        for program, patterns in (("msgrate", 4), ("msgrate_rma", 8)):
            start_s = time.monotonic()
            rows = rows_of(program, "-p", "1", "-i", "10", "--warmup=0", "-c",
                           "64M")
            self.assertGreater(time.monotonic() - start_s,
                               10 * patterns * 5e-3, program)
            for row in rows:
                self.assertLess(number(row["iter_us"]), 4000.0, program)

    def test_oversubscription_warns(self):
        done = launch("msgrate", "-p", "1", "-i", "3", "-c", "0",
                      ranks=(os.cpu_count() or 1) + 1)
        self.assertIn("# warning: ", done.stdout)

    def test_dumped_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "samples")
            launch("msgrate", "-p", "1", "-o", "-i", "3", "--dump-samples=" +
                   path)
            with open(path, encoding="utf-8") as stream:
                rows = read_tsv(stream.read())
        self.assertEqual([(row["quantity"], row["sample"]) for row in rows],
                         [(pattern, str(i)) for pattern in PATTERNS
                          for i in (1, 2, 3)])

    def test_one_sided(self):
        rows = rows_of("msgrate_rma", "-p", "1", "-i", "5", "-m", "16",
                       "-c", "64K", "-u", "get")
        self.assertEqual(list(rows[0]), ["pattern", "synchronisation",
                                         "transfer", "threads"] + COMMON)
        self.assertEqual([(row["pattern"], row["synchronisation"])
                          for row in rows],
                         [(pattern, sync) for pattern in
                          ("single direction", "pre-post") for sync in SYNCS])
        self.assertEqual({row["transfer"] for row in rows}, {"get"})
        for sync in SYNCS:
            rows = rows_of("msgrate_rma", "-p", "1", "-i", "2", "-c", "0",
                           "-r", sync, "-t", "2")
            self.assertEqual({row["synchronisation"] for row in rows}, {sync})
            self.assertEqual({row["threads"] for row in rows}, {"2"})


class Data(unittest.TestCase):
    """--check: right data passes, in every job and with threads; wrong data
    fails."""

    def check(self, program, arguments, ranks, environment=None, wrong=False):
        done = launch(program, "--check", "-i", "4", "-c", "4K", *arguments,
                      ranks=ranks, environment=environment)
        statuses = [row["status"] for row in read_tsv(done.stdout)]
        with self.subTest(program=program, arguments=arguments, ranks=ranks):
            self.assertEqual(done.returncode, 1 if wrong else 0,
                             done.stdout[-1500:] + done.stderr)
            self.assertTrue(statuses)
            if wrong:
                self.assertEqual(set(statuses), {"FAIL"})
            else:
                self.assertNotIn("FAIL", statuses)

    def test_right(self):
        jobs = [(2, 1, "0,1,100,5K"), (3, 2, "5")]
        # A library that polls takes seconds for what this one does at once.
        if OPTIONS.launcher.is_openmpi:
            jobs += [(3, 1, "0,1,5K"), (4, 3, "0,1,5K"), (5, 3, "0,1,5K"),
                     (7, 6, "0,1,5K")]
        for ranks, peers, sizes in jobs:
            for program in (["msgrate"], ["msgrate_rma", "-u", "put"],
                            ["msgrate_rma", "-u", "get"]):
                self.check(program[0], program[1:] +
                           ["-p", str(peers), "-m", "9", "-s", sizes], ranks)

    def test_right_with_strides(self):
        self.check("msgrate", ["-p", "1", "-n", "2", "-m", "5"], 3)
        self.check("msgrate_rma", ["-p", "1", "-n", "2", "-m", "5"], 3)
        if OPTIONS.launcher.is_openmpi:
            self.check("msgrate", ["-p", "2", "-n", "2", "-m", "5"], 5)
            self.check("msgrate_rma", ["-p", "2", "-n", "2", "-m", "5"], 5)

    def test_right_with_threads(self):
        for transfer in ("put", "get"):
            self.check("msgrate_rma", ["-p", "1", "-u", transfer, "-t", "3",
                                       "-m", "20"], 2)

    def test_wrong(self):
        """Every 7th message has a wrong byte."""
        done = launch("msgrate", "-p", "1", "-i", "2", "-o", "--check",
                      environment={"LD_PRELOAD": OPTIONS.model, "MODEL_P2P": 1,
                                   "MODEL_CORRUPT": 1})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        environment = {"LD_PRELOAD": OPTIONS.model, "MODEL_P2P": 1,
                       "MODEL_RMA": 1, "MODEL_DATA": 1, "MODEL_CORRUPT": 1,
                       "MODEL_CORRUPT_EVERY": 7}
        for size in ("1", "64"):
            for program in (["msgrate"], ["msgrate_rma", "-u", "put"],
                            ["msgrate_rma", "-u", "get"]):
                self.check(program[0], program[1:] +
                           ["-p", "1", "-m", "16", "-s", size], 2, environment,
                           wrong=True)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", required=True, help="folder of msgrate")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
