"""Does halo find the known time of a swap?

Runs it on the model MPI, where a face of a given number of bytes takes a known time that needs the
processor, so that the times of all faces add up: to what a swap takes, with the posts of its
transfers, what completing them costs and, where faces are packed, the packing, which is measured by
itself. What is left, the synchronisation of two ranks, is real and small against that.
"""

import re
import statistics
import typing

import pytest

from accuracy import Target, cases
from mpi_run import number, run_raw

TARGET = Target(0.02)


class Case(typing.NamedTuple):
    __test__ = False
    methods: str
    local: str
    latency_us: int
    byte_ns: int

    def __str__(self):
        return (f"{self.methods} of {self.local}, latency {self.latency_us} us, {self.byte_ns} ns "
                "a byte")


# One kind of message a launch: what the model says of it is about all. Of larger boxes the packing
# differs from launch to launch, by what is left in caches after a wait: up to 0.1 ms with 50 values
# a side.
CASES = [Case(methods, local, latency_us, byte_ns)
         for methods, largest in (("put,get", "50x50x50"), ("isend/irecv types", "50x50x50"),
                                  ("persistent", "50x50x50"), ("neighbor_alltoallw", "50x50x50"),
                                  ("isend/irecv packed", "20x20x20"))
         for local, latency_us, byte_ns in (("10x10x10", 200, 0), ("10x20x30", 50, 10),
                                            (largest, 100, 1))]
QUICK = CASES[1::6] + CASES[5::6]  # each of the methods once


def faces_bytes(local):
    a, b, c = (int(extent) for extent in local.split("x"))
    return [8 * values for values in (b * c, b * c, a * c, a * c, a * b, a * b)]


@pytest.fixture
def packing_us(launcher, built):
    """What packing and unpacking take between a case's messages."""
    def measure(case):
        sizes = faces_bytes(case.local)
        pause_ns = 1000 * case.latency_us + case.byte_ns * sum(sizes) // len(sizes)
        box = [f"--{name}={extent}" for name, extent in zip("xyz", case.local.split("x"))]
        done = run_raw(launcher, 2, [built("tests/accuracy/halo_packing"), "--no-header",
                                     f"--pause={pause_ns}", *box])
        return float(re.search(r"unpacking: (\S+) us", done.stdout).group(1))
    return measure


def swap_us(row, truths, case, packing):
    """The true time of a swap."""
    def cost(operation, what, size=None):
        found = [number(truth[what]) for truth in truths if truth["operation"] == operation
                 and size in (None, int(truth["bytes"]))]
        return statistics.mean(found)

    sizes = faces_bytes(row["local"])
    transfers_us = sum(case.latency_us + size * case.byte_ns * 1e-3 for size in sizes)
    if row["method"] in ("put", "get"):
        return (transfers_us + sum(cost(row["method"], "host_us", size) for size in sizes) +
                2 * cost("win_flush_all", "extra_us"))
    if row["method"] == "neighbor_alltoallw":
        return (cost("neighbor_alltoallw", "duration_us", sum(sizes)) +
                cost("neighbor_alltoallw", "extra_us", sum(sizes)))
    posts = (("send_init", "recv_init") if row["method"] == "persistent" else ("isend", "irecv"))
    posts_us = sum(cost(operation, "host_us", size) for size in sizes for operation in posts)
    if row["method"] in ("isend/irecv types", "persistent"):
        return (2 * transfers_us + posts_us +
                statistics.mean(cost(operation, "extra_us", size)
                                for size in sizes for operation in posts))
    assert row["method"] == "isend/irecv packed"
    return (2 * transfers_us + posts_us +
            sum(cost("irecv", "extra_us", size) for size in sizes) +
            cost("isend", "extra_us", sizes[0]) + packing)


def errors(case, on_model, packing_us=None, start="barrier"):
    """One launch: the relative errors of time or bandwidth, by row."""
    one_sided = "put" in case.methods
    packing = packing_us(case) if "packed" in case.methods else 0
    rows, truths = on_model(
        "halo/halo", "--max-time=0.2", f"--methods={case.methods}", f"--local={case.local}",
        f"--start={start}", MODEL_RMA=int(one_sided), MODEL_P2P=int(not one_sided),
        MODEL_COLL=int("neighbor" in case.methods), MODEL_FRACTION=0,
        MODEL_DURATION_US=6 * case.latency_us, MODEL_LATENCY_US=case.latency_us,
        MODEL_PER_BYTE_NS=case.byte_ns)
    found = {}
    for row in rows:
        true_us = swap_us(row, truths, case, packing)
        true_mbs = sum(faces_bytes(case.local)) / 1048576 / (true_us * 1e-6)
        found[f"{row['method']} {row['sync']}"] = max(
            number(row["latency_us"]) / true_us - 1, number(row["bwidth_mbs"]) / true_mbs - 1,
            key=abs)
    return found


@pytest.mark.parametrize("case", cases(CASES, quick=QUICK))
def test_time_and_bandwidth(case, accuracy, on_model, packing_us):
    accuracy.check(str(case), lambda: errors(case, on_model, packing_us), TARGET.share)
