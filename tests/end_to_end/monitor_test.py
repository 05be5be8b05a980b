#!/usr/bin/env python3
"""The monitor from the outside: programs that know nothing of it.

The counts of the programs under tests/examples are known, so their reports are
checked number by number; times only for being there and consistent.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import Launcher, number, read_tsv, run_raw  # noqa: E402
from run_tests import run_tests  # noqa: E402

COLUMNS = """kind comm operation ranks calls completed timeouts total_s mean_us
    max_us max_rank bytes small large small_per_s large_per_s small_bytes
    large_bytes members rank slowest_s slowest_rank""".split()
OPTIONS = None


def run_monitored(words, program, ranks=2, environment=None):
    """The finished process, and its report as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.tsv")
        done = run_raw(OPTIONS.launcher, ranks, program,
                       {"LD_PRELOAD": OPTIONS.monitor,
                        "MPIRT_MONITOR": f"{words},output={path}",
                        **(environment or {})})
        try:
            with open(path, encoding="utf-8") as stream:
                return done, stream.read()
        except FileNotFoundError:
            return done, ""


def counts_of(rows, kind, comm="grid"):
    """Calls, completed and bytes by operation, of all ranks together."""
    return {row["operation"]: tuple(int(row[key]) for key in
                                    ("calls", "completed", "bytes"))
            for row in rows if row["kind"] == kind and row["comm"] == comm and
            row["rank"] == "NA"}


class Stencil(unittest.TestCase):
    """A stencil of 200 x 100 points on two ranks, 30 steps."""

    STEPS = 30

    def monitored(self, words, ranks=2):
        done, report = run_monitored(words, [OPTIONS.stencil, 200, self.STEPS],
                                     ranks)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout,
                         "after 30 steps the largest change is 0.808221\n")
        return report

    def test_counts(self):
        rows = read_tsv(self.monitored("all"))
        self.assertEqual(list(rows[0]), COLUMNS)
        # Two ranks, one above the other: each has one neighbour in four.
        edge = 200 * 8 * 2 * self.STEPS
        calls = 2 * 4 * self.STEPS
        self.assertEqual(counts_of(rows, "pttopt"), {
            "MPI_Isend": (calls, calls, edge), "MPI_Irecv": (calls, calls, edge)})
        self.assertEqual(counts_of(rows, "coll"), {
            "MPI_Allreduce": (6, 6, 6 * 8), "MPI_Comm_free": (2, 2, 0)})
        self.assertEqual(counts_of(rows, "coll", "MPI_COMM_WORLD"),
                         {"MPI_Cart_create": (2, 2, 0)})
        self.assertEqual(counts_of(rows, "comm"), {
            "point-to-point": (2 * calls, 2 * calls, 2 * edge),
            "collective": (8, 8, 48)})
        load, = (row for row in rows if row["kind"] == "workload")
        self.assertEqual((load["small"], load["large"], load["small_bytes"]),
                         (str(2 * self.STEPS), "0", str(edge)))
        self.assertEqual({row["ranks"] for row in rows if row["comm"] == "grid"},
                         {"2"})
        self.assertEqual({row["members"] for row in rows
                          if row["comm"] == "grid"}, {"0-1"})

    def test_flags_choose_the_rows(self):
        for word, kinds in (("pttopt", {"pttopt"}), ("coll", {"coll"}),
                            ("comm", {"comm"}), ("other", {"other"}),
                            ("msgsize", {"workload"}), ("traffic", {"workload"}),
                            ("pttopt,comm", {"pttopt", "comm"})):
            rows = read_tsv(self.monitored(word))
            self.assertEqual({row["kind"] for row in rows}, kinds, word)
        sizes = read_tsv(self.monitored("msgsize,large=1K"))
        self.assertEqual((sizes[0]["small"], sizes[0]["large"],
                          sizes[0]["small_per_s"]),
                         ("0", str(2 * self.STEPS), "NA"))
        load = read_tsv(self.monitored("traffic"))[0]
        self.assertEqual(load["small"], "NA")
        self.assertGreater(number(load["small_per_s"]), 0)

    def test_ranks(self):
        """The rows of each rank add up to those of all, on three."""
        rows = read_tsv(self.monitored("all,per-rank", ranks=3))
        together = {(row["kind"], row["comm"], row["operation"]): row
                    for row in rows if row["rank"] == "NA"}
        for key, row in together.items():
            if key[0] not in ("pttopt", "coll"):
                continue
            own = [other for other in rows if other["rank"] != "NA" and
                   (other["kind"], other["comm"], other["operation"]) == key]
            self.assertEqual([other["rank"] for other in own], ["0", "1", "2"])
            for column in ("calls", "completed", "timeouts", "bytes"):
                self.assertEqual(int(row[column]),
                                 sum(int(other[column]) for other in own))
            for column, greatest, rank in (
                    ("max_us", "max_us", "max_rank"),
                    ("total_s", "slowest_s", "slowest_rank")):
                self.assertEqual(number(row[greatest]),
                                 max(number(other[column]) for other in own))
                self.assertEqual(
                    number(own[int(row[rank])][column]), number(row[greatest]))
            self.assertAlmostEqual(
                number(row["total_s"]),
                sum(number(other["total_s"]) for other in own), delta=2e-8)

    def test_pandas(self):
        report = self.monitored("all")
        # Debian's pandas is for Debian's Python, whichever comes first.
        code = ("import io, sys, pandas; t = pandas.read_csv(sys.stdin, "
                "sep='\\t', comment='#'); print(len(t), t.calls.sum())")
        rows = read_tsv(report)
        done = subprocess.run(["/usr/bin/python3", "-c", code], input=report,
                              capture_output=True, text=True, check=True)
        self.assertEqual(
            [float(word) for word in done.stdout.split()],
            [len(rows), sum(number(row["calls"]) for row in rows
                            if row["calls"] != "NA")])

    def test_metadata(self):
        report = self.monitored("all,timeout=1ms,large=2K")
        head = [line for line in report.splitlines() if line.startswith("# ")]
        for text in ("# benchmark: mpirtmon", "# ranks: 2", "stencil 200 30"):
            self.assertTrue(any(text in line for line in head), text)

    def test_services(self):
        """A process that computes, against what the system says of it in the
        end."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done, report = run_monitored("other", [OPTIONS.stencil, 1500, 150], 1)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(done.returncode, 0)
        rows = {row["operation"]: row for row in read_tsv(report)}
        for name, used_s in (("user_time", after.ru_utime - before.ru_utime),
                             ("system_time", after.ru_stime - before.ru_stime)):
            self.assertLessEqual(number(rows[name]["total_s"]), used_s + 0.01)
        # Without the start and the end of MPI.
        self.assertGreater(number(rows["user_time"]["total_s"]),
                           0.7 * (after.ru_utime - before.ru_utime))
        self.assertGreater(int(rows["minor_page_faults"]["calls"]), 5000)

    def test_default_output(self):
        done = run_raw(OPTIONS.launcher, 2, [OPTIONS.stencil, 200, self.STEPS],
                       {"LD_PRELOAD": OPTIONS.monitor, "MPIRT_MONITOR": "coll"})
        self.assertEqual(done.returncode, 0)
        self.assertEqual(counts_of(read_tsv(done.stderr), "coll")["MPI_Allreduce"],
                         (6, 6, 48))

    def test_loaded_only(self):
        done = run_raw(OPTIONS.launcher, 2, [OPTIONS.stencil, 200, self.STEPS],
                       {"LD_PRELOAD": OPTIONS.monitor})
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Usage(unittest.TestCase):
    """Wrong words end the job in MPI_Init, with one line."""

    def test_wrong_words(self):
        for words, named in (
                ("pttop", "pttop"), ("large=", "large"), ("large=x", "large"),
                ("timeout=5", "timeout"), ("timeout=-1us", "timeout"),
                ("pttopt,,coll", "MPIRT_MONITOR"),
                ("output=/no/such/folder/x", "/no/such/folder/x"),
                ("a" * 10000, "MPIRT_MONITOR")):
            done = run_raw(OPTIONS.launcher, 2, [OPTIONS.stencil, 50, 1],
                           {"LD_PRELOAD": OPTIONS.monitor,
                            "MPIRT_MONITOR": words})
            with self.subTest(words=words[:60]):
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                ours = [line for line in done.stderr.splitlines()
                        if line.startswith("mpirtmon: ")]
                self.assertEqual(len(ours), 1, done.stderr)
                self.assertIn(named, ours[0])


class Launch(unittest.TestCase):
    """What goes wrong around a program is said."""

    def test_empty_variable(self):
        done = run_raw(OPTIONS.launcher, 2, [OPTIONS.stencil, 50, 1],
                       {"LD_PRELOAD": OPTIONS.monitor, "MPIRT_MONITOR": ""})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_abort(self):
        """What an aborted program leaves says that it is no report."""
        done, report = run_monitored("all", [OPTIONS.script])
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len(report.splitlines()), 1)
        self.assertTrue(report.startswith("# note: no report"), report)

    def test_lost_report(self):
        done = run_raw(OPTIONS.launcher, 2, [OPTIONS.stencil, 50, 1],
                       {"LD_PRELOAD": OPTIONS.monitor,
                        "MPIRT_MONITOR": "all,output=/dev/full"})
        self.assertIn("mpirtmon: /dev/full: the report could not be written",
                      done.stderr)

    def test_alone(self):
        """Started by another library's mpirun, each process is a job."""
        if OPTIONS.launcher.is_openmpi:
            self.skipTest("its mpirun sets the variable that counts")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.tsv")
            done = subprocess.run(
                [OPTIONS.stencil, "50", "1"], check=False,
                env={**os.environ, "LD_PRELOAD": OPTIONS.monitor,
                     "OMPI_COMM_WORLD_SIZE": "2",
                     "MPIRT_MONITOR": f"all,output={path}"})
            self.assertEqual(done.returncode, 0)
            with open(path, encoding="utf-8") as stream:
                self.assertIn("# warning: 2 processes were started, but each is "
                              "a job of its own", stream.read())

    def test_other_library(self):
        """A library that says that it is another one stands in for it."""
        if OPTIONS.launcher.is_openmpi:
            self.skipTest("the stand-in is for MPICH")
        done = run_raw(OPTIONS.launcher, 2, [OPTIONS.stencil, 50, 1],
                       {"LD_PRELOAD": f"{OPTIONS.monitor}:{OPTIONS.other_mpi}",
                        "MPIRT_MONITOR": "all"})
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertIn("mpirtmon: this library was built for MPICH, the program "
                      "uses another MPI: Open MPI", done.stderr)


class Fortran(unittest.TestCase):
    """Fortran through MPICH's C functions; where it can't be seen, that is said."""

    def test_ring(self):
        if OPTIONS.ring is None:
            self.skipTest("no Fortran compiler for this MPI library")
        done, report = run_monitored("pttopt,coll", [OPTIONS.ring])
        self.assertEqual((done.returncode, done.stdout.split()[-1]), (0, "1"))
        if OPTIONS.launcher.is_openmpi:
            self.assertEqual(report, "")
            self.assertIn("nothing was monitored", done.stderr)
            return
        rows = read_tsv(report)
        self.assertEqual(counts_of(rows, "pttopt", "MPI_COMM_WORLD"), {
            "MPI_Sendrecv": (20, 20, 160), "MPI_Isend": (10, 10, 40),
            "MPI_Irecv": (10, 10, 40)})
        self.assertEqual(counts_of(rows, "coll", "MPI_COMM_WORLD"),
                         {"MPI_Allreduce": (6, 6, 24)})


class Benchmarks(unittest.TestCase):
    """Every program of the collection runs unchanged under the monitor."""

    def runs(self, *program):
        name = os.path.basename(program[0])
        done, report = run_monitored(
            "all", [os.path.join(OPTIONS.binaries, program[0]),
                    *program[1:], "--max-time=0.02", "--check"])
        with self.subTest(program=name):
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(len(read_tsv(done.stdout)), 0)
            rows = read_tsv(report)
            self.assertTrue(rows, name)
            self.assertNotIn("could not be followed", report)
            for row in rows:
                if row["kind"] in ("pttopt", "coll"):
                    self.assertLessEqual(int(row["completed"]),
                                         int(row["calls"]), row)
                    self.assertNotEqual(row["comm"], "(other communicators)")

    def test_overlap(self):
        folder = os.path.join(OPTIONS.binaries, "overlap")
        for program in sorted(os.listdir(folder)):
            if program.startswith("overlap_"):
                self.runs(f"overlap/{program}", "--max-num-elts=64")

    def test_others(self):
        self.runs("mpi_overhead/mpi_overhead", "--msgsize=8,64K", "--both")
        self.runs("msgrate/msgrate", "-p", "1")
        self.runs("msgrate/msgrate_rma", "-p", "1")
        self.runs("pingpong/pingpong", "--max-ndata=64", "--max-stride=4")
        self.runs("syncbench/syncbench")
        self.runs("halo/halo", "--local=5",
                  "--methods=put,get,isend/irecv types,isend/irecv packed,"
                  "persistent,shared window")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--monitor", required=True)
    parser.add_argument("--stencil", required=True)
    parser.add_argument("--script", required=True, help="monitor_script")
    parser.add_argument("--other-mpi", required=True)
    parser.add_argument("--ring")
    parser.add_argument("--binaries", required=True)
    parser.add_argument("tests", help="a class of this file")
    parser.add_argument("launcher", nargs="+")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    run_tests([OPTIONS.tests])


if __name__ == "__main__":
    main()
