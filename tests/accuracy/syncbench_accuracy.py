"""Does syncbench find the known cost of a synchronisation?

Runs it on the model MPI, where a synchronisation takes a known time.
"""

import typing

import pytest

from accuracy import Target, cases
from mpi_run import number

TARGET = Target(0.02, us=0.1)

# The operations of the model that a synchronisation is made of. lock_all+flush has no known truth:
# the real calls wait for the other rank, which serves them when it has spent its own modelled time.
PARTS = {
    "MPI barrier": ["barrier"],
    "ibarrier": ["ibarrier"],
    "allreduce 1 byte": ["allreduce"],
    "sync all": ["win_flush_all", "barrier"],
    "fence": ["win_fence"],
    "PSCW": ["win_post", "win_start", "win_complete", "win_wait"],
    "pairwise": ["win_flush_all", "isend"],
    "lock": ["win_lock", "get", "win_flush", "win_unlock"],
    "critical": ["fetch_and_op", "win_flush"] * 2,
}

# In an acquisition of the queue lock a rank that finds nobody makes two swaps, one when it enters
# and one when it leaves. With two ranks that contend without a pause, from one handing over to the
# next: the one that was handed the lock leaves before the other one can have come back; that finds
# nobody, swaps to leave, finds that the first one has come back, swaps to put it back, and hands
# over, which it has to wait for all of. That is four swaps for two acquisitions. What a swap
# returns decides what comes next, so data has to move.
QUEUE = "critical"

BYTES = {"allreduce": "1", "get": "8", "fetch_and_op": "8"}  # of others: none


class Case(typing.NamedTuple):
    __test__ = False
    sync: str
    duration_us: int

    def __str__(self):
        return f"{self.sync} of {self.duration_us} us"


CASES = [Case(sync, duration_us) for duration_us in (2, 10, 100) for sync in PARTS]
QUICK = [case for case in CASES if case.sync == "MPI barrier" or (
    case.sync in ("sync all", "pairwise", "fence", "lock", QUEUE) and case.duration_us == 10)]


def true_us(row, truths):
    """The sum of its parts: each one's duration and what it costs the host more. Messages overlap:
    the last one posted counts, and the wait for all."""
    total = 0.0
    for name in PARTS[row["sync"]]:
        size = BYTES.get(name, "0")
        truth, = (truth for truth in truths
                  if truth["operation"] == name and truth["bytes"] in (size, "NA"))
        total += number(truth["duration_us"])
        if name not in ("get", "fetch_and_op"):  # their wait is the flush's
            total += number(truth["extra_us"])
        if name == "isend":
            posted, = (truth for truth in truths if truth["operation"] == "irecv")
            total += number(posted["host_us"])
    return total


def check(case, accuracy, on_model, start="barrier"):
    queue = case.sync == QUEUE

    def launch():
        (row,), truths = on_model(
            "syncbench/syncbench", f"--types={case.sync}", "--max-time=0.3", f"--start={start}",
            *(["--delay=0"] if queue else []), MODEL_SYNC_COLL=1, MODEL_P2P=1, MODEL_RMA=1,
            MODEL_DATA=int(queue), **{f"MODEL_{name}_US": case.duration_us
                                      for name in ("BARRIER", "DURATION", "LATENCY", "SYNC")})
        found_us = number(row["sync_us"])
        return {"found": found_us, "error": found_us - true_us(row, truths)}

    accuracy.check(str(case), launch, lambda us: {"error": TARGET.of(us["found"])},
                   text=lambda us: f"found {us['found']:.3f}, error {us['error']:+.3f} us "
                                   f"({us['error'] / us['found']:+.2%})")


@pytest.mark.parametrize("case", cases(CASES, QUICK))
def test_time(case, accuracy, on_model):
    check(case, accuracy, on_model)
