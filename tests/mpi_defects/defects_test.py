#!/usr/bin/env python3
"""Which of the known defects the MPI library has, by the smallest programs that show them, and whether the benchmarks
say the same.

A library whose version is named below may have been mended by a distribution: that is said, and no failure. A failure
is what nothing of ours knows of: a defect of a library that counts as right, a benchmark that says nothing, or
something else, than its reproducer.

usage: defects_test.py --source FOLDER --reproducers FOLDER --neighbor-order FILE --binaries FOLDER --library VERSION
       [--full] -- MPIRUN...
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

# How a defect shows: the reproducer says so and exits with 1, doesn't end, or is ended by a signal.
WRONG, HANGS, CRASHES, OTHERWISE = "wrong", "hangs", "crashes", "shows otherwise"

# `known`: the libraries that have it; `by_chance`: not in each of its runs; `gib`: memory that it needs.
Defect = namedtuple("Defect", "program arguments ranks shows known by_chance gib", defaults=(False, 0))
DEFECTS = [
    Defect("isendrecv", ["status"], 1, [WRONG], [MPICH]),
    Defect("isendrecv", ["nobody"], 1, [HANGS, CRASHES], [MPICH]),
    Defect("isendrecv", ["replace"], 1, [WRONG, CRASHES], [MPICH]),
    Defect("spawn", [], 1, [WRONG], [MPICH]),
    Defect("small_window", ["allocate"], 2, [WRONG], [MPICH]),
    Defect("small_window", ["create"], 2, [WRONG], [MPICH]),
    Defect("neighbor_order", ["1", "1", "2"], 2, [WRONG], [MPICH]),
    Defect("allreduce_nothing", [], 2, [WRONG], [MPICH, OPENMPI]),
    Defect("compare_and_swap", [], 2, [CRASHES], [OPENMPI]),
    Defect("waitall_fails", [], 2, [HANGS], []),
    Defect("waitall_fails", ["multiple"], 2, [HANGS], [OPENMPI]),
    Defect("flush_nobody", [], 2, [CRASHES], [OPENMPI]),
    Defect("tools_variables", [], 1, [CRASHES], [OPENMPI]),
    Defect("windows_at_once", [], 4, [WRONG], [OPENMPI], by_chance=True),
    Defect("large_ibcast", [], 2, [WRONG], [MPICH], gib=6),
    Defect("large_ibcast", ["blocking"], 2, [WRONG], [], gib=6),
]


def library_name():
    """The library as it is called here; None if it is another one."""
    for name, pattern in LIBRARIES.items():
        if re.search(pattern, OPTIONS.library):
            return name
    return None


def memory_gib():
    """What is free."""
    with open("/proc/meminfo", encoding="ascii") as stream:
        return int(re.search(r"MemAvailable: +([0-9]+) kB", stream.read()).group(1)) / (1 << 20)


def reproduce(defect):
    """How it shows (False: the library is right; None: that can't be tried), and more of it in words."""
    path = OPTIONS.neighbor_order if defect.program == "neighbor_order" else \
        os.path.join(OPTIONS.reproducers, defect.program)
    if defect.gib and not (OPTIONS.full and memory_gib() >= defect.gib):
        return None, f"tried with --full and {defect.gib} GiB of memory"
    line = OPTIONS.launcher.line(defect.ranks, {}, [path, *defect.arguments])
    try:
        # The launcher ends its processes when it is asked to.
        limit_s = 4 * LIMIT_S if defect.gib else LIMIT_S
        done = subprocess.run(["timeout", "-k", "1", str(limit_s), *line], capture_output=True, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise mpi_run.Failed(f"{line}: {error}") from error
    if done.returncode == NO_FUNCTION:
        return None, "no such function"
    if done.returncode == 0:
        return False, "right"
    if done.returncode in (124, 137, -9):  # the last: timeout ended by its own SIGKILL
        return HANGS, f"no end in {limit_s} s"
    if done.returncode > 128 or done.returncode < 0:
        return CRASHES, f"exit status {done.returncode}"
    ours = [text for text in done.stdout.splitlines() if text and not text.startswith(("=", "YOUR", "This", "Please"))]
    return (WRONG if done.returncode == 1 else OTHERWISE,
            f"exit status {done.returncode}" + (f": {ours[-1]}" if ours else ""))


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
                self.assertFalse(has and expected and has not in defect.shows,
                                 f"{words}: {has}, which isn't how {name}'s defect shows: {how}")

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
    parser.add_argument("--full", action="store_true", help="what needs much memory, too")
    parser.add_argument("mpirun", nargs="+")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = mpi_run.Launcher(OPTIONS.mpirun)
    unittest.main(argv=[sys.argv[0]], verbosity=2)


if __name__ == "__main__":
    main()
