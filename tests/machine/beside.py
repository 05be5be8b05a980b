# SPDX-License-Identifier: BSD-3-Clause
"""Compares what programs of this project measure with bare measurements beside them, by sequential
tests (sequential.py): within one process, or over many short launches, each of which is a pair, since
where a launch has its memory changes times by some percent.

    python3 beside.py --build=FOLDER --mpirun="mpirun.mpich" TEST
"""

import csv
import itertools
import math
import os
import re
import sys
import typing

from programs import Programs, arguments, in_time
from sequential import EXIT_STATUS, Target, judge, within

SECONDS = 9  # that a test may take by default

BELOW = Target(0.0, 0.8)
# A call under the monitor takes at most twice as long. A poll that is monitored takes longer by at most twice two
# readings of the clock: the readings, and some 150 instructions, which take as long where the clock is quick.
TWICE = Target(0.0, 2.0)
AT_LEAST = Target(0.8, math.inf)


class Test(typing.NamedTuple):
    """Where pairs come from, the target of each row, and what the test may take."""

    source: typing.Callable  # of the programs
    targets: dict
    seconds: float = SECONDS


# ---- sources -------------------------------------------------------------------------------------

def in_process(part, program="in_process"):
    """The pairs that one process prints, line by line."""
    def source(programs):
        for line in programs.lines(1, program, part):
            name, ours, bare = line.rstrip("\n").split("\t")
            yield {name: (float(ours), float(bare))}
    return source


def rows_of(text):
    """The rows of a table, comments left out."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def launches(program, *options, **variables):
    """Pairs of columns ours_us and bare_us, from one launch after the other. In every other one the
    bare loop goes first (tests/machine/bare.h)."""
    def source(programs):
        for number in itertools.count():
            text = programs.run(2, program, *options, environment={"BARE_FIRST": number % 2, **variables})[0]
            yield {row["name"]: (float(row["ours_us"]), float(row["bare_us"]))
                   for row in rows_of(text)}
    return source


BARE_OPTIONS = ["--max-time=0.1", "--visits=4"]

# Wrappers note the time that they take without interruptions, which a median of few samples has.
SAMPLES_MIN = 60

# Wrappers that take a known time, about this, and twice that inside of a snapshot.
KNOWN = {"KNOWN_NS": 500}


def known_times(programs):
    """How much longer calls take inside of a snapshot: by monitor_overhead, and by the wrappers."""
    while True:
        text, errors = programs.run(1, "monitor_overhead_known", "--columns=all", "--max-time=0.03", environment=KNOWN)
        known_ns = float(re.search(r"known: (\S+) ns", errors).group(1))
        rows = rows_of(text)
        yield {off["call"]: (float(on["added_ns"]) - float(off["added_ns"]),
                             known_ns * calls_in(off["call"]))
               for off, on in zip(rows[::2], rows[1::2])
               if min(int(off["samples"]), int(on["samples"])) >= SAMPLES_MIN}


# Operations of the model, and the columns that are compared.
OPERATIONS = {
    "overlap": ("overlap", "overlap_iallreduce", ["--data-driven", "--min-num-elts=1024",
                                                  "--max-num-elts=1024"],
                {"MODEL_DURATION_US": 200, "MODEL_FRACTION": 0.5, "MODEL_POST_US": 5},
                {"overlap of MPI_Iallreduce": "overlap_pct"}),
    "overhead": ("mpi_overhead", "mpi_overhead", [],
                 {"MODEL_LATENCY_US": 100, "MODEL_POST_US": 10, "MODEL_WAIT_US": 4},
                 {"host overhead of a message": "overhead", "its transfer time": "transfer_us"}),
}


def model(operation):
    """Times of the model's operations in real time, and in virtual time."""
    folder, program, options, variables, columns = OPERATIONS[operation]
    options = [*options, "--max-time=0.3", "--columns=all"]

    def source(programs):
        ours = os.path.join(programs.build, folder, program)
        library = os.path.join(programs.build, "tests", "machine", "libmodel.so")
        (virtual,) = rows_of(programs.run_line(
            ["env", *(f"{name}={of}" for name, of in variables.items()),
             os.path.join(programs.build, "tests", "virtual", program), *options])[0])
        while True:
            text = programs.run(2, ours, *options, environment={**variables, "LD_PRELOAD": library})[0]
            (real,) = rows_of(text)
            yield {name: (float(real[column]), float(virtual[column]))
                   for name, column in columns.items() if real[column] != "NA"}
    return source


def calls_in(text):
    """How many calls a repetition makes: "8 MPI_Irecv 8 MPI_Isend MPI_Waitall" is 17."""
    return sum(int(times or 1) for times in re.findall(r"(?:(\d+) )?MPI_", text))


# ---- tests ---------------------------------------------------------------------------------------

KNOWN_CALLS = ["MPI_Isend MPI_Wait", "MPI_Irecv MPI_Wait", "MPI_Send", "MPI_Recv",
               "8 MPI_Irecv 8 MPI_Isend MPI_Waitall", "MPI_Start MPI_Wait", "MPI_Test", "MPI_Put",
               "MPI_Put MPI_Win_flush", "MPI_Barrier", "MPI_Allreduce", "MPI_Iallreduce MPI_Wait"]

# Two loops of the same readings were once found to differ by 10 % on a processor: where code lies in memory, and what
# interrupts it, matters to something so short. What is measured wrongly is wrong by a reading, or by half of one.
READING = within(0.15)

# A rank that only polls computes at most 1 % of the time: interruptions between two calls count as computation.
POLLS_INSIDE = {name: within(0.01) for name in (
    "time in calls of MPI_Test", "time in calls of MPI_Testsome of 1,000", "not computed while MPI_Test polls")}

TESTS = {
    "clock": Test(in_process("clock"), dict.fromkeys(["clock_gettime", "MPI_Wtime"], READING)),
    "tsc": Test(in_process("tsc"), {"time stamp counter": READING}),
    "work": Test(in_process("work"), {
        **{f"{us} us at once and in halves": within(0.01) for us in (2, 20, 200, 600)},
        "20 us as calibrated": within(0.01)}),
    "stops": Test(in_process("stops"), {"share of time lost": within(0.03)}),
    "l2": Test(in_process("l2"), {"after a flush and missing the level-2 cache": AT_LEAST,
                                  "warm and missing the level-2 cache": BELOW}),
    "llc": Test(in_process("llc"), {"after a flush of all caches and from memory": AT_LEAST,
                                    "warm and from memory": BELOW}),
    "copy": Test(in_process("copy"), {"copies of 1 MiB": within(0.02)}),
    "write": Test(in_process("write"), {"after flush and memset and after a flush": BELOW}),
    "pingpong": Test(launches("pingpong_bare", *BARE_OPTIONS),
                     {"MPI Send": within(0.02), "put": within(0.05)}),
    "syncbench": Test(launches("syncbench_bare", *BARE_OPTIONS),
                      {"MPI barrier between delays": within(0.05)}),
    "collective": Test(launches("collective_bare", "--max-time=0.04", "--visits=4"), dict.fromkeys(
        [f"{call} of {size}" for call in ("bcast", "allreduce", "alltoall") for size in ("4 KiB", "64 KiB")],
        within(0.05)), seconds=20),
    "halo": Test(launches("halo_bare", *BARE_OPTIONS),
                 dict.fromkeys(["shared window", "isend/irecv types"], within(0.05))),
    "msgrate": Test(launches("msgrate_bare", *BARE_OPTIONS), dict.fromkeys(
        ["single direction", "pair-based", "pre-post", "all-start"], within(0.02))),
    "model_overlap": Test(model("overlap"), {"overlap of MPI_Iallreduce": within(0.02)}),
    "model_overhead": Test(model("overhead"), {"host overhead of a message": within(0.03),
                                               "its transfer time": within(0.02)}),
    "monitor_pingpong": Test(launches("monitor_pingpong"),
                             {"ping-pong, the monitor off": within(0.02)}),
    "monitor_polls": Test(in_process("single", "monitor_polls"), {
        "what MPI_Test takes more": TWICE, "MPI_Waitany of 2,000 requests": TWICE,
        **POLLS_INSIDE}),
    "monitor_polls_multiple": Test(in_process("multiple", "monitor_polls"), {
        "MPI_Waitany of 2,000 requests": TWICE, **POLLS_INSIDE}),
    "monitor_overhead": Test(known_times, dict.fromkeys(KNOWN_CALLS, within(0.05))),
}


def main():
    options = arguments(__doc__, TESTS, lambda name: TESTS[name].seconds)
    test = TESTS[options.test]
    with Programs(options) as programs:
        verdict = judge(in_time(test.source(programs)), test.targets, options.seconds)
    return EXIT_STATUS[verdict]


if __name__ == "__main__":
    sys.exit(main())
