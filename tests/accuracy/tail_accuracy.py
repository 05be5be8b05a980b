#!/usr/bin/env python3
"""Are p99 and max those of single repetitions?

Runs pingpong, halo and syncbench on the model MPI, where an operation takes a known
time, and a few of them, chosen by chance, a known time longer. So many are that more
than one repetition in a hundred has one, and less than one two: then the 99th percentile
is the known time of a repetition with a late operation, and the maximum no less. A batch
has many repetitions, and its mean is far from that. Without late operations p99 must be
less than half way there, or what was found wouldn't be theirs. The error is a median over
launches, in shares of what an operation is late by; what fails is tried once more.
"""

import argparse
import os
import statistics
import sys
from typing import Callable, NamedTuple

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pingpong_accuracy  # noqa: E402
import syncbench_accuracy  # noqa: E402
from mpi_run import Launcher, number, run_on_model  # noqa: E402

DURATION_US, LATE_US = 1, 10
TOLERANCE = 0.2
LAUNCHES = 3


class Case(NamedTuple):
    """A program's arguments, the model's variables, the column, what it makes of a
    repetition's time, and how to tell that from a row and the model's report."""
    program: str
    arguments: list
    model: dict
    column: str
    share: float
    late_share: float
    true_us: Callable


def half_us(row, truths):
    """A half of a repetition of pingpong."""
    return pingpong_accuracy.half_us(row, truths, DURATION_US, 0)


def swap_us(_, truths):
    """A swap of halo's, of one operation."""
    swap, = (truth for truth in truths
             if truth["operation"] == "neighbor_alltoallw")
    return number(swap["duration_us"]) + number(swap["extra_us"])


CASES = [
    # Two messages: 4 % of repetitions have a late one, 0.04 % two.
    Case("pingpong/pingpong", ["--patterns=MPI Send", "--max-ndata=1"],
         {"MODEL_P2P": 1, "MODEL_LATENCY_US": DURATION_US}, "latency", 0.5, 0.02,
         half_us),
    Case("halo/halo", ["--methods=neighbor_alltoallw", "--local=2"],
         {"MODEL_DURATION_US": DURATION_US}, "latency", 1.0, 0.04,
         swap_us),
    Case("halo/halo", ["--methods=neighbor_alltoallw", "--local=2", "--start=window"],
         {"MODEL_DURATION_US": DURATION_US}, "latency", 1.0, 0.04,
         swap_us),
    Case("syncbench/syncbench", ["--types=MPI barrier"],
         {"MODEL_SYNC_COLL": 1, "MODEL_BARRIER_US": DURATION_US}, "sync", 1.0, 0.04,
         syncbench_accuracy.true_us),
]


def measure(case, late_share, options):
    """One launch: of p99 and max, by how much they are more than the known time of a
    repetition without a late operation, in shares of what one adds."""
    model = dict(case.model, MODEL_LATE_SHARE=late_share, MODEL_LATE_US=LATE_US)
    _, rows, truths = run_on_model(
        options.launcher, 2,
        [os.path.join(options.binaries, case.program), "--max-time=0.3",
         *case.arguments], model, options.model)
    row, = rows
    true_us = case.true_us(row, truths)
    return [(number(row[f"{case.column}_{end}_us"]) - true_us) /
            (case.share * LATE_US) for end in ("p99", "max")]


def trial(case, options):
    """True if p99 and max are as they must be."""
    p99, most = (statistics.median(column) for column in zip(
        *(measure(case, case.late_share, options) for _ in range(LAUNCHES))))
    without = statistics.median(measure(case, 0, options)[0]
                                for _ in range(LAUNCHES))
    good = (abs(p99 - 1) <= TOLERANCE and most >= 1 - TOLERANCE and without < 0.5)
    print(f"{case.program} {' '.join(case.arguments)}: {case.late_share:.0%} of the "
          f"operations late: p99 {p99:.2f}, max {most:.2f} of what they are late by; "
          f"none late: p99 {without:.2f}{'' if good else '  WRONG'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", required=True, help="the build's folder")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    wrong = [case for case in CASES
             if not (trial(case, options) or trial(case, options))]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
