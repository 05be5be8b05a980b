#!/usr/bin/env python3
"""Which of the known defects the MPI library has, by the smallest programs that show them, and whether the benchmarks
say the same.

A library whose version is named below may have been mended by a distribution: that is said, and no failure. A failure
is what nothing of ours knows of: a defect of a library that counts as right, a benchmark that says nothing, or
something else, than its reproducer.

usage: defects_test.py --source FOLDER --reproducers FOLDER --neighbor-order FILE --binaries FOLDER --library VERSION
       -- MPIRUN...
"""

import argparse
import os
import re
import subprocess
import sys
import unittest
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import mpi_run  # noqa: E402

OPTIONS = None
LIMIT_S = 5
PROCESSORS = len(os.sched_getaffinity(0))
NO_FUNCTION = 77

# How libraries call themselves, whose defects are known.
LIBRARIES = {"MPICH 4.0.2": r"MPICH Version: 4\.0\.2\b", "Open MPI 4.1.4": r"Open MPI v4\.1\.4\b"}
MPICH, OPENMPI = LIBRARIES

# `known`: the libraries that have it; `by_chance`: not in each of its runs.
Defect = namedtuple("Defect", "program arguments ranks known by_chance")
DEFECTS = [
    Defect("isendrecv", ["status"], 1, [MPICH], False),
    Defect("isendrecv", ["nobody"], 1, [MPICH], False),
    Defect("isendrecv", ["replace"], 1, [MPICH], False),
    Defect("spawn", [], 1, [MPICH], False),
    Defect("small_window", ["allocate"], 2, [MPICH], False),
    Defect("small_window", ["create"], 2, [MPICH], False),
    Defect("neighbor_order", ["1", "1", "2"], 2, [MPICH], False),
    Defect("allreduce_nothing", [], 2, [MPICH, OPENMPI], False),
    Defect("waitall_fails", [], 2, [], False),
    Defect("waitall_fails", ["multiple"], 2, [OPENMPI], False),
    Defect("flush_nobody", [], 2, [OPENMPI], False),
    Defect("tools_variables", [], 1, [OPENMPI], False),
    Defect("windows_at_once", [], 4, [OPENMPI], True),
]


def library_name():
    """The library as it is called here; None if it is another one."""
    for name, pattern in LIBRARIES.items():
        if re.search(pattern, OPTIONS.library):
            return name
    return None


def reproduce(defect):
    """Whether the library has it, and how that shows; None, and why, where it has no such function."""
    path = OPTIONS.neighbor_order if defect.program == "neighbor_order" else \
        os.path.join(OPTIONS.reproducers, defect.program)
    line = OPTIONS.launcher.line(defect.ranks, {}, [path, *defect.arguments])
    try:
        # The launcher ends its processes when it is asked to.
        done = subprocess.run(["timeout", "-k", "1", str(LIMIT_S), *line], capture_output=True, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise mpi_run.Failed(f"{line}: {error}") from error
    if done.returncode in (124, 137):
        return True, f"no end in {LIMIT_S} s"
    if done.returncode == NO_FUNCTION:
        return None, "no such function"
    if done.returncode == 0:
        return False, "right"
    ours = [text for text in done.stdout.splitlines() if text and not text.startswith(("=", "YOUR", "This", "Please"))]
    return True, f"exit status {done.returncode}" + (f": {ours[-1]}" if done.returncode == 1 and ours else "")


def notes(program, *arguments):
    done = mpi_run.run_raw(OPTIONS.launcher, 2, [os.path.join(OPTIONS.binaries, program), *arguments])
    if done.returncode != 0:
        raise mpi_run.Failed(f"{done.args}: exit status {done.returncode}\n{done.stderr}")
    return [line for line in done.stdout.splitlines() if line.startswith("# note:")]


class Defects(unittest.TestCase):

    def test_library(self):
        name = library_name()
        print(f"\n{OPTIONS.library}: {'known' if name else 'not known, so nothing is expected of it'}")
        for defect in DEFECTS:
            words = " ".join([defect.program, *defect.arguments])
            expected = name in defect.known
            # A library that polls takes minutes with more ranks than processors.
            has, how = (None, f"not tried with less than {defect.ranks} processors") \
                if not expected and defect.ranks > PROCESSORS else reproduce(defect)
            remark = ""
            if has is False and expected and not defect.by_chance:
                remark = " (mended here: what is said of this version doesn't hold for this build of it)"
            print(f"  {'unknown' if has is None else 'present' if has else 'absent':9} {words}: {how}{remark}",
                  flush=True)
            with self.subTest(defect=words):
                self.assertFalse(has and name is not None and not expected,
                                 f"{words}: {name} counts as right: {how}")

    def test_notes(self):
        """What the benchmarks find out for themselves, and say."""
        for program, arguments, text, defect in (
                ("halo/halo", ["--dims=1x1x2", "--local=2", "--methods=neighbor_alltoallw", "--max-time=0.01"],
                 "# note: neighbor_alltoallw: this MPI library brings faces to the wrong side", "neighbor_order"),
                ("syncbench/syncbench", ["--types=allreduce 0 bytes", "--max-time=0.5"],
                 "# note: allreduce 0 bytes: no synchronisation in this MPI library", "allreduce_nothing")):
            with self.subTest(program=program):
                has, how = reproduce(next(row for row in DEFECTS if row.program == defect))
                said = [note for note in notes(program, *arguments) if note.startswith(text)]
                self.assertEqual(len(said), 1 if has else 0, how)

    def test_comments(self):
        """Each reproducer names the libraries that have the defect, and something refers to it."""
        files = subprocess.run(["git", "-C", OPTIONS.source, "grep", "-lE", r"(mpi_defects|end_to_end)/\w+\.c"],
                               capture_output=True, text=True, check=False).stdout.split()
        texts = ""
        for name in files:
            with open(os.path.join(OPTIONS.source, name), encoding="utf-8") as stream:
                texts += stream.read()
        for defect in DEFECTS:
            folder = "end_to_end" if defect.program == "neighbor_order" else "mpi_defects"
            path = f"{folder}/{defect.program}.c"
            with self.subTest(program=path):
                with open(os.path.join(OPTIONS.source, "tests", path), encoding="utf-8") as stream:
                    comment = stream.read().split("*/")[0]
                for library in defect.known:
                    self.assertIn(library, comment)
                self.assertIn(path, texts)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    for name in ("source", "reproducers", "neighbor-order", "binaries", "library"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("mpirun", nargs="+")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = mpi_run.Launcher(OPTIONS.mpirun)
    unittest.main(argv=[sys.argv[0]], verbosity=2)


if __name__ == "__main__":
    main()
