"""Do ranks that start together measure the truth, and a late barrier not show?

On the model MPI, with --start=window, overlap, syncbench and halo must find what they find with a
barrier, within the same targets. And where a library lets ranks out of a barrier at different
times, an operation that takes a known time from the first start to the last end must take that with
a window, and be seen to take more with a barrier.
"""

import pytest

import halo_accuracy
import overlap_accuracy
import syncbench_accuracy
from accuracy import cases
from mpi_run import number, read_tsv

LATE_US, OPERATION_US = 20, 50
LATE_TARGET_US = 0.5
OVERLAP = [overlap_accuracy.Case("iallreduce", 200, 0.5), overlap_accuracy.Case("ibcast", 20, 0.25),
           overlap_accuracy.Case("ialltoallv", 5, 0.75)]
SYNCBENCH = [syncbench_accuracy.Case("MPI barrier", 10), syncbench_accuracy.Case("MPI barrier", 2),
             syncbench_accuracy.Case("sync all", 10), syncbench_accuracy.Case("pairwise", 100),
             syncbench_accuracy.Case("lock", 10)]
HALO = [halo_accuracy.Case("isend/irecv types", "10x20x30", 50, 10),
        halo_accuracy.Case("put,get", "10x20x30", 50, 10)]


@pytest.mark.parametrize("case", cases(OVERLAP, quick=OVERLAP[:1]))
def test_overlap(case, accuracy, on_model):
    accuracy.judge(overlap_accuracy.measure(case, accuracy, on_model, start="window")[0])


@pytest.mark.parametrize("case", cases(SYNCBENCH, quick=SYNCBENCH[:1]))
def test_syncbench(case, accuracy, on_model):
    syncbench_accuracy.check(case, accuracy, on_model, start="window")


@pytest.mark.parametrize("case", cases(HALO, quick=HALO[:1]))
def test_halo(case, accuracy, on_model):
    accuracy.check(str(case), lambda: halo_accuracy.errors(case, on_model, start="window"),
                   halo_accuracy.TARGET.share)


@pytest.mark.parametrize("start, expected_us",
                         [("window", OPERATION_US), ("barrier", OPERATION_US + LATE_US)])
def test_late_barrier(start, expected_us, accuracy, late_barrier):
    def launch():
        row, = read_tsv(late_barrier(LATE_US, OPERATION_US, f"--start={start}"))
        return {"found": number(row["ref_us"]), "error": number(row["ref_us"]) - expected_us}

    accuracy.check(f"{OPERATION_US} us from first start to last end, one rank {LATE_US} us late "
                   f"out of the barrier, --start={start}", launch, {"error": LATE_TARGET_US},
                   text=lambda us: f"found {us['found']:.3f} us, should be {expected_us} us")
