"""Are p99 and max those of single repetitions?

Runs pingpong, halo and syncbench on the model MPI, where an operation takes a known time, and a few
of them, chosen by chance, a known time longer. So many are that more than one repetition in a
hundred has one, and less than one two: then the 99th percentile is the known time of a repetition
with a late operation, and the maximum no less. A batch has many repetitions, and its mean is far
from that. Without late operations p99 must be less than half way there, or what was found wouldn't
be theirs. Errors are in shares of what an operation is late by.
"""

import typing

import pytest

import pingpong_accuracy
import syncbench_accuracy
from accuracy import cases
from mpi_run import number

DURATION_US, LATE_US = 1, 10
TOLERANCE = 0.2


class Case(typing.NamedTuple):
    """A program with its options, the model's variables, the column, what it makes of a
    repetition's time, the share of operations that are late, and how to tell a repetition's time
    from a row and the model's report."""

    __test__ = False
    program: str
    options: list
    model: dict
    column: str
    share: float
    late_share: float
    true_us: typing.Callable

    def __str__(self):
        return f"{self.program} {' '.join(self.options)}: {self.late_share:.0%} late"


def half_us(row, truths):
    """A half of a repetition of pingpong."""
    return pingpong_accuracy.half_us(row, truths, DURATION_US, 0)


def swap_us(_, truths):
    """A swap of halo's, of one operation."""
    swap, = (truth for truth in truths if truth["operation"] == "neighbor_alltoallw")
    return number(swap["duration_us"]) + number(swap["extra_us"])


SWAP = ["--methods=neighbor_alltoallw", "--local=2"]
CASES = [
    # Two messages: 4 % of repetitions have a late one, 0.04 % two.
    Case("pingpong/pingpong", ["--patterns=MPI Send", "--max-ndata=1"],
         {"MODEL_P2P": 1, "MODEL_LATENCY_US": DURATION_US}, "latency", 0.5, 0.02, half_us),
    Case("halo/halo", SWAP, {"MODEL_DURATION_US": DURATION_US}, "latency", 1.0, 0.04, swap_us),
    Case("halo/halo", SWAP + ["--start=window"], {"MODEL_DURATION_US": DURATION_US}, "latency",
         1.0, 0.04, swap_us),
    Case("syncbench/syncbench", ["--types=MPI barrier"],
         {"MODEL_SYNC_COLL": 1, "MODEL_BARRIER_US": DURATION_US}, "sync", 1.0, 0.04,
         syncbench_accuracy.true_us),
]


def measure(case, late_share, on_model):
    """One launch: of p99 and max, by how much they are more than the known time of a repetition
    without a late operation, in shares of what one adds."""
    (row,), truths = on_model(case.program, "--max-time=0.3", *case.options, **case.model,
                              MODEL_LATE_SHARE=late_share, MODEL_LATE_US=LATE_US)
    true_us = case.true_us(row, truths)
    return [(number(row[f"{case.column}_{end}_us"]) - true_us) / (case.share * LATE_US)
            for end in ("p99", "max")]


@pytest.mark.parametrize("case", cases(CASES, quick=CASES[:2] + CASES[3:]))
def test_p99_and_max(case, accuracy, on_model):
    def launch():
        p99, most = measure(case, case.late_share, on_model)
        without, _ = measure(case, 0, on_model)
        return {"p99": p99, "max": most, "p99, none late": without, "p99's error": p99 - 1,
                "max too small": min(most - 1, 0.0), "none late, too large": max(without, 0.0)}

    def text(found):
        return (f"p99 {found['p99']:.2f}, max {found['max']:.2f} of what they are late by; none "
                f"late: p99 {found['p99, none late']:.2f}")

    accuracy.check(str(case), launch, text=text, fixed={
        "p99's error": TOLERANCE, "max too small": TOLERANCE, "none late, too large": 0.5})
