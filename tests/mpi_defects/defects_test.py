"""Which of the known defects the MPI library has, by the smallest programs that show them, and
whether the benchmarks say the same.

A library whose version is named below may have been mended by a distribution: that is said, and no
failure. A failure is what nothing of ours knows of: a defect of a library that counts as right, a
benchmark that says nothing, or something else, than its reproducer."""

import os
import re
import signal
import subprocess
from typing import NamedTuple

from case import Case, each
from mpi_run import WHOLE, Failed, available_gib, read, run_raw

LIMIT_S = 5
PROCESSORS = len(os.sched_getaffinity(0))
NO_FUNCTION = 77
FATAL = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)

# How libraries call themselves, whose defects are known.
LIBRARIES = {"MPICH 4.0.2": r"MPICH Version:\s+4\.0\.2\b", "Open MPI 4.1.4": r"Open MPI v4\.1\.4\b"}
MPICH, OPENMPI = LIBRARIES

# How a defect shows: the reproducer says so and exits with 1, doesn't end, or is ended by a signal.
WRONG, HANGS, CRASHES, OTHERWISE = "wrong", "hangs", "crashes", "shows otherwise"


class Defect(NamedTuple):
    """How it shows, and where."""

    __test__ = False
    program: str
    arguments: list
    ranks: int
    shows: list
    known: list  # the libraries that have it
    by_chance: bool = False  # not in each of its runs
    gib: int = 0  # memory that it needs

    def __str__(self):
        return " ".join([self.program, *self.arguments])

    @property
    def folder(self):
        """Of the reproducer."""
        return "tests/programs" if self.program == "neighbor_order" else "tests/mpi_defects"


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
    Defect("reduce_in_place", [], 2, [CRASHES], [MPICH]),
    Defect("large_ibcast", [], 2, [WRONG], [MPICH], gib=6),
    Defect("large_ibcast", ["blocking"], 2, [WRONG], [], gib=6),
]


class Defects(Case):
    def comments(self, program, *options):
        """The comments in the result of a benchmark."""
        done = run_raw(self.launcher, 2, [self.built(program), *options, *WHOLE])
        assert done.returncode == 0, f"{done.args}: {done.stderr}"
        return [line for line in done.stdout.splitlines() if line.startswith("# ")]

    def reproduce(self, defect):
        """Tries a defect: how it shows (False: the library is right; None: that can't be tried), and
        more of it in words."""
        path = self.built(f"{defect.folder}/{defect.program}")
        if defect.gib and not (self.full and available_gib() >= defect.gib):
            return None, f"tried with --full and {defect.gib} GiB of memory"
        line = self.launcher.line(defect.ranks, {}, [path, *defect.arguments])
        # The launcher ends its processes when it is asked to.
        limit_s = 4 * LIMIT_S if defect.gib else LIMIT_S
        try:
            done = subprocess.run(["timeout", "-k", "1", str(limit_s), *line], capture_output=True,
                                  text=True, errors="replace", stdin=subprocess.DEVNULL,
                                  check=False)
        except OSError as error:
            raise Failed(f"{line}: {error}") from error
        if done.returncode == NO_FUNCTION:
            return None, "no such function"
        if done.returncode == 0:
            return False, "right"
        if done.returncode in (124, 137, -9):  # the last: timeout ended by its own SIGKILL
            return HANGS, f"no end in {limit_s} s"
        # Of several ranks hydra's own status is the signal of the first that died.
        if done.returncode > 128 or done.returncode < 0 or done.returncode in FATAL:
            return CRASHES, f"exit status {done.returncode}"
        ours = [text for text in done.stdout.splitlines()
                if text and not text.startswith(("=", "YOUR", "This", "Please"))]
        return (WRONG if done.returncode == 1 else OTHERWISE,
                f"exit status {done.returncode}" + (f": {ours[-1]}" if ours else ""))

    def test_library(self):
        library = next(line for line in self.comments("halo/halo", "--local=2", "--methods=persistent",
                                                      "--samples=1")
                       if line.startswith("# mpi_library: "))[len("# mpi_library: "):]
        name = next((name for name in LIBRARIES if re.search(LIBRARIES[name], library)), None)
        print(f"{library}: {'known' if name else 'not known, so nothing is expected of it'}")
        failures = []
        for defect in DEFECTS:
            expected = name in defect.known
            # A library that polls takes minutes with more ranks than processors.
            has, how = (None, f"not tried with less than {defect.ranks} processors") \
                if not expected and defect.ranks > PROCESSORS else self.reproduce(defect)
            remark = ""
            if has is False and expected and not defect.by_chance:
                remark = (" (mended here: what is said of this version doesn't hold for this build "
                          "of it)")
            present = "unknown" if has is None else "present" if has else "absent"
            print(f"  {present:9} {defect}: {how}{remark}")
            if has and name is not None and not expected:
                failures.append(f"{defect}: {name} counts as right: {how}")
            if has and expected and has not in defect.shows:
                failures.append(f"{defect}: {has}, which isn't how {name}'s defect shows: {how}")
        assert failures == []

    @each("program, options, text, reproducer", [
        ("halo/halo", ["--dims=1x1x2", "--local=2", "--methods=neighbor_alltoallw", "--max-time=0.01"],
         "# note: neighbor_alltoallw: this MPI library mixes up opposite faces",
         "neighbor_order"),
        ("syncbench/syncbench", ["--types=allreduce 0 bytes", "--max-time=0.5"],
         "# note: allreduce 0 bytes: no synchronisation in this MPI library", "allreduce_nothing")])
    def test_notes(self, program, options, text, reproducer):
        """What the benchmarks find out for themselves, and say."""
        has, how = self.reproduce(next(row for row in DEFECTS if row.program == reproducer))
        said = [line for line in self.comments(program, *options) if line.startswith(text)]
        assert len(said) == (1 if has else 0), how

    def test_comments(self):
        """Each reproducer names the libraries that have the defect, and something refers to it."""
        files = subprocess.run(["git", "-C", self.source, "grep", "-lE", r"(mpi_defects|end_to_end)/\w+\.c"],
                               capture_output=True, text=True, check=False).stdout.split()
        texts = "".join(read(os.path.join(self.source, name)) for name in files)
        for defect in DEFECTS:
            path = f"{defect.folder}/{defect.program}.c"
            comment = read(os.path.join(self.source, path)).split("*/")[0]
            for library in defect.known:
                assert library in comment, path
            assert path[len("tests/"):] in texts, path
