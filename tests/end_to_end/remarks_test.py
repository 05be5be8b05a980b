#!/usr/bin/env python3
"""--no-metadata and --no-header in every program: nothing but header row and rows, or
rows, where the result goes; notes, warnings and verbose output on stderr."""

import argparse
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import Launcher, read, run_raw  # noqa: E402

# A short run of each, and a remark that it makes.
RUNS = {
    "overlap/overlap_iallreduce": (
        ["--data-driven", "--max-num-elts=1", "--samples=5", "--warmup=1", "--debug"],
        "debug: trial: "),
    "overlap/overlap_ibarrier": (["--samples=5", "--warmup=1", "--verbose"],
                                 "verbose: 0 elements: phase 1: "),
    "mpi_overhead/mpi_overhead": (["--verbose", "--max-time=0.05"],
                                  "verbose: Message size is 8 bytes"),
    "msgrate/msgrate": (["-p", "1", "-i", "2", "-c", "0"],
                        "note: the caches are not flushed"),
    "msgrate/msgrate_rma": (["-p", "1", "-i", "2", "-c", "0"],
                            "note: the caches are not flushed"),
    "pingpong/pingpong": (["--patterns=MPI Send", "--max-ndata=1", "--samples=2"],
                          "note: no crossing: "),
    "syncbench/syncbench": (["--types=MPI barrier", "--samples=2"],
                            "note: delay of "),
    "halo/halo": (["--local=4", "--methods=shared window", "--samples=2"],
                  "note: shared window: "),
    "monitor/monitor_overhead": (["--max-time=0.01"], "warning: oversubscribed: "),
}
# Ranks of this one share a processor, since it has few other remarks.
ON_ONE_PROCESSOR = "monitor/monitor_overhead"
WORDS = ("note: ", "warning: ", "verbose: ", "debug: ")

OPTIONS = None


def is_header(line):
    """Rows have numbers in them; no column's name begins with one."""
    return not any(word[:1].isdigit() for word in line.split())


class Remarks(unittest.TestCase):
    def launch(self, program, *options):
        """The lines of stdout, and the program's own on stderr."""
        words = [os.path.join(OPTIONS.binaries, program), *RUNS[program][0], *options]
        if program == ON_ONE_PROCESSOR:
            words[:0] = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        done = run_raw(OPTIONS.launcher, 2, words)
        self.assertEqual(done.returncode, 0, done.stderr)
        name = os.path.basename(program) + ": "
        return done.stdout.splitlines(), [
            line[len(name):] for line in done.stderr.splitlines()
            if line.startswith(name)]

    def check_remarks(self, program, lines, said):
        """All on stderr, from rank 0 only; no line of the result is a comment."""
        self.assertEqual([line for line in lines if line.startswith("#")], [])
        for line in said:
            self.assertTrue(line.startswith(WORDS), line)
        count = sum(line.startswith(RUNS[program][1]) for line in said)
        self.assertGreater(count, 0, said)
        if not program.startswith("overlap"):  # which says it more than once
            self.assertEqual(count, 1, said)

    def check(self, program):
        lines, said = self.launch(program)
        self.assertEqual(said, [])
        self.assertTrue(any(line.startswith("# " + RUNS[program][1])
                            for line in lines), lines)
        self.assertRegex(lines[-1], "^# end: ")
        header, *rows = [line for line in lines if not line.startswith("#")]
        lines, said = self.launch(program, "--no-metadata")
        self.check_remarks(program, lines, said)
        self.assertEqual(lines[0], header)
        self.assertEqual(len(lines), 1 + len(rows))
        lines, said = self.launch(program, "--no-header")
        self.check_remarks(program, lines, said)
        self.assertEqual(len(lines), len(rows))
        self.assertFalse(is_header(lines[0]))

    def test_programs(self):
        for program in RUNS:
            with self.subTest(program=program):
                self.check(program)

    def test_both(self):
        lines, said = self.launch("halo/halo", "--no-header", "--no-metadata")
        self.check_remarks("halo/halo", lines, said)
        self.assertEqual(len(lines), 1)
        self.assertFalse(is_header(lines[0]))

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result")
            lines, said = self.launch("halo/halo", "--no-metadata", "--output=" + path)
            self.assertEqual(lines, [])
            lines = read(path).splitlines()
        self.check_remarks("halo/halo", lines, said)
        self.assertEqual([is_header(line) for line in lines], [True, False])

    def test_table(self):
        for option, headers in (("--no-metadata", [True, False]), ("--no-header", [False])):
            lines, said = self.launch("halo/halo", "--format=table", option)
            self.check_remarks("halo/halo", lines, said)
            self.assertEqual([is_header(line) for line in lines], headers)
            self.assertNotIn("\t", "".join(lines))

    def test_specified_options(self):
        """Those that are the same as --no-header, and -o, which has no header, either."""
        for program, option in (("mpi_overhead/mpi_overhead", "-n"),
                                ("mpi_overhead/mpi_overhead", "--nohdr"),
                                ("msgrate/msgrate", "-o")):
            for more in ([], ["--no-metadata"]):
                lines, said = self.launch(program, option, *more)
                self.check_remarks(program, lines, said)
                self.assertEqual(len(lines), 1)
                self.assertFalse(is_header(lines[0]))


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", required=True, help="the build's folder")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
