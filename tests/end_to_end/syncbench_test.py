#!/usr/bin/env python3
"""syncbench as a user runs it: usage errors, columns, the rows that were asked for,
the specified formula, and synchronisations that don't synchronise."""

import argparse
import csv
import os
import statistics
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import (  # noqa: E402
    Launcher, UsageTest, number, read_tsv, run, run_raw)
from run_tests import run_tests  # noqa: E402

COLUMNS = """sync neighbours ranks inner outer ref_us ref_sd_us loop_us loop_sd_us
    sync_us sync_lo_us sync_hi_us sync_p99_us sync_max_us outliers check samples
    status slowest_rank""".split()
ANYWHERE = ["sync all", "MPI barrier", "pairwise", "lock", "critical", "ibarrier",
            "allreduce 0 bytes", "allreduce 1 byte", "fence", "PSCW",
            "lock_all+flush"]
QUICK = ["--samples=3", "--inner=8", "--warmup=0"]

OPTIONS = None


def rows_of(*arguments, ranks=2):
    return run(OPTIONS.launcher, ranks, [OPTIONS.program] + list(arguments))[1]


class Usage(UsageTest):
    """One line on stderr that names the option, exit 2, no output."""

    def refused(self, arguments, named, ranks=2):
        done = run_raw(OPTIONS.launcher, ranks, [OPTIONS.program] + arguments)
        self.assert_refused(done, "syncbench", named)

    def test_usage(self):
        self.refused([], "at least 2 processes", ranks=1)
        self.refused(["--types=ring,3d grid"], "--types: 3D grid needs")
        self.refused(["--outer=5", "--samples=7"], "--outer: 5")
        for option, values in (("--types", ("barriers", "", "lock,,fence")),
                               ("--delay", ("", "x", "-1", "1e3", "2048G")),
                               ("--inner", ("0", "-1")),
                               ("--outer", ("0", "x")),
                               ("--max-neighbours", ("0", "1", "1M")),
                               ("--seed", ("-1", "x")),
                               ("--start", ("window,barrier", ""))):
            # Open MPI's launcher takes seconds to end a job that failed.
            for value in values[:1 if OPTIONS.launcher.is_openmpi else None]:
                self.refused([f"{option}={value}"], option)


class Rows(unittest.TestCase):
    """The rows that were asked for, and what they must agree on."""

    def test_two_ranks(self):
        done = run_raw(OPTIONS.launcher, 2, [OPTIONS.program] + QUICK)
        rows = read_tsv(done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual([row["sync"] for row in rows], ANYWHERE)
        for name in ("random", "ring", "3D grid"):
            self.assertIn(f"# note: no {name}: it needs", done.stdout)
        for row in rows:
            self.assertEqual((row["ranks"], row["inner"], row["outer"],
                              row["samples"], row["status"], row["check"]),
                             ("2", "8", "3", "3", "ok", "off"))
            self.assertEqual(row["neighbours"],
                             {"lock": "NA", "critical": "NA",
                              "lock_all+flush": "0"}.get(row["sync"], "1"))

    def test_window(self):
        """The metadata say which start it was; no row is lost where starts are
        missed, and a warning says so."""
        quick = [OPTIONS.program, *QUICK, "--types=sync all,MPI barrier"]
        barrier = run_raw(OPTIONS.launcher, 2, quick).stdout
        self.assertIn("# start: barrier\n", barrier)
        self.assertNotIn("global_clock", barrier)
        for ranks in (2, 4):
            done = run_raw(OPTIONS.launcher, ranks, quick + ["--start=window"])
            self.assertEqual(done.returncode, 0, done.stderr)
            for line in ("# start: window\n", "# global_clock: rank 0's",
                         "# global_clock_error_us: "):
                self.assertIn(line, done.stdout)
            self.assertRegex(done.stdout, "# note: in [0-9]+ of [0-9]+ rounds a rank was late")
            oversubscribed = "# warning: oversubscribed" in done.stdout
            self.assertEqual("a rank started late" in done.stdout,
                             oversubscribed)
            self.assertEqual([(row["sync"], row["samples"])
                              for row in read_tsv(done.stdout)],
                             [("sync all", "3"), ("MPI barrier", "3")])

    def test_rings_and_grid(self):
        arguments = ["--types=random,ring,3D grid", "--samples=2", "--inner=1",
                     "--warmup=0"]
        rows = rows_of(*arguments, ranks=8)
        self.assertEqual([(row["sync"], row["neighbours"]) for row in rows],
                         [(name, str(n)) for name in ("random", "ring")
                          for n in (2, 4, 6)] + [("3D grid", "3")])
        rows = rows_of(*arguments, "--max-neighbours=5", ranks=8)
        self.assertEqual([row["neighbours"] for row in rows],
                         ["2", "4", "2", "4", "3"])

    def test_seed(self):
        done = run_raw(OPTIONS.launcher, 2, [OPTIONS.program, "--types=lock",
                                             "--seed=99"] + QUICK)
        self.assertIn("random neighbours from seed 99", done.stdout)
        self.assertIn("# seed: 99", done.stdout)

    def test_turns_are_shared(self):
        """The repetitions of a lock are divided among the ranks."""
        row, = rows_of("--types=lock", "--inner=7", "--samples=2")
        self.assertEqual(row["inner"], "6")

    def test_delay(self):
        """A delay is in the loop and in the reference, not in the result; where
        ranks take turns it is inside: two ranks' delays don't overlap."""
        for name in ("MPI barrier", "lock"):
            short, = rows_of(f"--types={name}", "--delay=0", "--samples=50")
            long, = rows_of(f"--types={name}", "--delay=20K", "--samples=50")
            self.assertLess(number(short["ref_us"]), 0.05)
            self.assertGreater(number(long["ref_us"]), 5)
            self.assertAlmostEqual(
                number(long["loop_us"]) - number(long["ref_us"]),
                number(short["loop_us"]), delta=0.3 * number(long["ref_us"]))


class Mean(unittest.TestCase):
    """--estimator=mean is the specification's formula, from the samples."""

    def test_formula(self):
        with tempfile.TemporaryDirectory() as folder:
            dump = os.path.join(folder, "samples.tsv")
            row, = rows_of("--estimator=mean", "--types=MPI barrier",
                           f"--dump-samples={dump}")
            with open(dump, encoding="utf-8") as stream:
                samples = list(csv.DictReader(stream, delimiter="\t"))
        loop, reference = (
            [float(sample["value_ns"]) / 1e3 for sample in samples
             if sample["quantity"] == name] for name in ("loop", "reference"))
        self.assertEqual((row["inner"], row["outer"], len(loop)),
                         ("200", "100", 100))
        mean = statistics.mean(loop) - statistics.mean(reference)
        sds = statistics.stdev(loop), statistics.stdev(reference)
        # The file has a tenth of a nanosecond.
        for name, value in (("sync_us", mean), ("loop_sd_us", sds[0]),
                            ("ref_sd_us", sds[1]),
                            ("sync_lo_us", mean - 1.96 * sum(sds)),
                            ("sync_hi_us", mean + 1.96 * sum(sds))):
            self.assertAlmostEqual(number(row[name]), value, delta=0.0005,
                                   msg=name)
        self.assertEqual(int(row["outliers"]),
                         sum(abs(value - statistics.mean(loop)) > 3 * sds[0]
                             for value in loop))

    def test_counts(self):
        row, = rows_of("--estimator=mean", "--types=pairwise", "--outer=7",
                       "--inner=30")
        self.assertEqual((row["inner"], row["outer"]), ("30", "7"))


class Checked(unittest.TestCase):
    """--check says the same of all rows."""

    def check(self, ranks, expected, arguments, environment=None):
        done = run_raw(OPTIONS.launcher, ranks,
                       [OPTIONS.program, "--check"] + arguments, environment)
        rows = read_tsv(done.stdout)
        self.assertTrue(rows, done.stderr)
        for row in rows:
            verdict = ("NA" if row["sync"] in ("lock_all+flush",
                                               "allreduce 0 bytes")
                       else expected)
            self.assertEqual(row["check"], verdict, row)
        self.assertEqual(done.returncode, 1 if expected == "FAIL" else 0)


class Check(Checked):
    """What synchronises passes, what doesn't fails."""

    def test_right(self):
        self.check(2, "ok", QUICK)

    def test_lazy(self):
        for function, types in (("barrier", "sync all,MPI barrier"),
                                ("ibarrier", "ibarrier"),
                                ("allreduce", "allreduce 1 byte"),
                                ("fence", "fence"), ("pscw", "PSCW"),
                                ("images", "pairwise"),
                                ("lock", "lock"), ("atomics", "critical")):
            with self.subTest(function=function):
                self.check(2, "FAIL", [f"--types={types}"] + QUICK,
                           {"LD_PRELOAD": OPTIONS.lazy, "LAZY": function})

    def test_what_need_not_wait(self):
        """An allreduce of no bytes may let ranks out: a note says so, checked or
        not."""
        done = run_raw(OPTIONS.launcher, 2,
                       [OPTIONS.program, "--types=allreduce 0 bytes"] + QUICK,
                       {"LD_PRELOAD": OPTIONS.lazy, "LAZY": "allreduce"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# note: allreduce 0 bytes: no synchronisation",
                      done.stdout)


class Many(Checked):
    """More ranks than a machine may have processors: few repetitions."""

    def test_right(self):
        """Neighbours of rings and grids."""
        self.check(8, "ok", ["--types=random,ring,3D grid,pairwise,lock,critical",
                             "--max-neighbours=4", "--samples=1", "--inner=1",
                             "--warmup=0"])


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="syncbench")
    parser.add_argument("--lazy", required=True, help="liblazysync.so")
    parser.add_argument("--many", action="store_true",
                        help="the tests with many ranks, and only these")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    run_tests(["Many"] if OPTIONS.many else ["Usage", "Rows", "Mean", "Check"])


if __name__ == "__main__":
    main()
