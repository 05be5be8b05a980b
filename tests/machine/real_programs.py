# SPDX-License-Identifier: BSD-3-Clause
"""The time inside MPI by the monitor, in programs of others that run unchanged.

    solver   an example of this project's tests, with many short collectives
    lammps   molecular dynamics, and
    hpcc     the HPC Challenge benchmarks, as Debian packages them: linked with Open MPI

A timer around every call (tests/monitor/every_call.py) lies under the monitor and sees nearly the
same time. What it takes itself is in the monitor's time, too. So in every other launch a second such
timer takes the monitor's place: over the timer below, the monitor must see no more than that does,
and no less than the timer below. While everything is monitored, a program's results are the same as
without, and the report's rows add up to the total time inside MPI.

    python3 real_programs.py --build=FOLDER --mpirun="mpirun.openmpi" PROGRAM
"""

import itertools
import math
import os
import re
import sys
import tempfile
import typing

from beside import rows_of
from programs import NOT_JUDGED, Programs, arguments, in_time
from sequential import EXIT_STATUS, Target, judge

RANKS = 2
# The monitor takes less than such a timer, so it may see less, but not less than what there is.
TARGETS = {"monitor, over a timer in its place": Target(0.0, 1.02),
           "monitor, over the timer below": Target(0.98, math.inf)}
MELT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "monitor/melt.in")
HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
# Ranks that wait give up their processor, so that a launch on a busy machine ends in time.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": 1}


class Program(typing.NamedTuple):
    """A program, and how to read what it printed or wrote, as one text."""

    words: typing.Callable  # of the build's folder: its command
    inputs: typing.Callable  # the files that it reads where it runs, by name
    output: str  # the file that it writes; empty: stdout
    results: typing.Callable  # of the text: what doesn't depend on time
    seconds: int  # that the test may take


def melt_results(text):
    """Energies, temperature and pressure every 50 steps, and the atoms and neighbours of ranks."""
    return (re.findall(r"^ *\d+(?: +-?[\d.e+-]+){5} *$", text, re.M) +
            re.findall(r"^(?:Nlocal|Nghost|Neighs|Total #|Ave neighs|Neighbor list builds).*$",
                       text, re.M))


def hpcc_input():
    """Debian's example, with small matrices on a grid of all processes."""
    with open(HPCC_INPUT, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    for words, value in (("Ns", 500), ("Ps", 1), ("Qs", RANKS)):
        at, = (i for i, line in enumerate(lines[:13]) if line.split()[-1] == words)
        lines[at] = f"{value} {words}"
    return {"hpccinf.txt": "\n".join(lines) + "\n"}


def hpcc_results(text):
    """Its summary's rows "name=value" without times and rates."""
    times = re.compile(r"(?i)time|flops|GUPs|GBs|GBytes|usec|STREAM_(Copy|Scale|Add|Triad)")
    summary = re.findall(r"^(\w+)=(.*)$", text[text.index("Begin of Summary"):], re.M)
    return [row for row in summary if not times.search(row[0])]


PROGRAMS = {
    "solver": Program(lambda build: [f"{build}/tests/machine/solver", "2000", "8", "5", "2"],
                      dict, "", lambda text: [], 12),
    "lammps": Program(lambda build: ["/usr/bin/lmp", "-var", "steps", "200", "-in", MELT],
                      dict, "", melt_results, 40),
    "hpcc": Program(lambda build: ["/usr/bin/hpcc"], hpcc_input, "hpccoutf.txt", hpcc_results, 60),
}


class Launches:
    """Launches of a program in a folder of its own."""

    def __init__(self, programs, program, folder):
        self.programs, self.program, self.folder = programs, program, folder
        self.build = os.path.abspath(programs.build)
        for name, text in program.inputs().items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        self.plain = program.results(self.run())

    def run(self, *libraries, **variables):
        """Its text, with these libraries loaded before others."""
        preloaded = ":".join(os.path.join(self.build, library) for library in libraries)
        words = ["-C", self.folder, *self.program.words(self.build)]
        text, _ = self.programs.run(RANKS, "/usr/bin/env", *words, environment={
            **YIELD, **variables, **({"LD_PRELOAD": preloaded} if libraries else {})})
        if self.program.output:
            with open(os.path.join(self.folder, self.program.output), encoding="utf-8") as stream:
                text = stream.read()
            os.remove(os.path.join(self.folder, self.program.output))
        return text

    def timed_s(self, name):
        """The time inside MPI that a timer saw, of all ranks together."""
        total_s = 0.0
        for rank in range(RANKS):
            with open(f"{self.folder}/{name}.{rank}", encoding="utf-8") as stream:
                total_s += sum(int(line.split()[2]) * 1e-9 for line in stream)
        return total_s

    def monitored(self):
        """The monitor's time less its own, over that of the timer below."""
        report = os.path.join(self.folder, "report")
        text = self.run("monitor/libmpirtmon.so", "tests/monitor/libeverycall.so",
                        MPIRT_MONITOR=f"all,output={report}", EVERY_CALL=f"{self.folder}/inner")
        if self.program.results(text) != self.plain:
            raise SystemExit("FAILED: under the monitor the program's results are others")
        with open(report, encoding="utf-8") as stream:
            rows = [row for row in rows_of(stream.read()) if row["rank"] == "NA"]
        os.remove(report)
        total_s, parts_s = (sum(float(row["in_calls_s"]) for row in rows if row["kind"] in kinds)
                            for kinds in (["total"], ["pttopt", "coll", "calls"]))
        if abs(parts_s - total_s) > 0.01 * total_s:
            raise SystemExit(f"FAILED: the report's rows add up to {parts_s} s of {total_s} s")
        own_s = sum(float(row["in_calls_s"]) for row in rows if row["operation"] == "libmpirtmon")
        return (total_s - own_s) / self.timed_s("inner")

    def timed(self):
        """The time that a timer in its place saw, over the same."""
        self.run("tests/monitor/libeverycall_outer.so", "tests/monitor/libeverycall.so",
                 EVERY_CALL=f"{self.folder}/inner", EVERY_CALL_OUTER=f"{self.folder}/outer")
        return self.timed_s("outer") / self.timed_s("inner")

    def pairs(self):
        """Pairs of launches, alternately."""
        for number in itertools.count():
            launches = [self.monitored, self.timed]
            found = {launch: launch() for launch in launches[::1 if number % 2 == 0 else -1]}
            monitored, timed = (found[launch] for launch in launches)
            yield {"monitor, over a timer in its place": (monitored, timed),
                   "monitor, over the timer below": (monitored, 1.0)}


def main():
    options = arguments(__doc__, PROGRAMS, lambda name: PROGRAMS[name].seconds)
    program = PROGRAMS[options.test]
    path = program.words(os.path.abspath(options.build))[0]
    if not os.path.exists(path):
        print(f"Not judged: {path} is not there (Debian's package {options.test}).")
        return NOT_JUDGED
    with Programs(options) as programs, tempfile.TemporaryDirectory() as folder:
        def source():
            yield from Launches(programs, program, folder).pairs()
        verdict = judge(in_time(source()), TARGETS, options.seconds)
    return EXIT_STATUS[verdict]


if __name__ == "__main__":
    sys.exit(main())
