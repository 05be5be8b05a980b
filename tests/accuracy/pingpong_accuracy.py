"""Does pingpong find the known latency and bandwidth?

Runs it on the model MPI, where a transfer of a given number of bytes takes a known time. A half of
a repetition is then known: the posts of its transfers, the last one's time, and what completing
them costs; the notification of the partner, or the barrier, is real and small against that.
"""

import statistics
import typing

import pytest

from accuracy import Target, cases
from mpi_run import number

TARGET = Target(0.02, us=0.1)


class Case(typing.NamedTuple):
    __test__ = False
    kind: str  # of patterns
    latency_us: int
    byte_ns: int
    options: tuple = ()

    def __str__(self):
        return " ".join([self.kind, *self.options,
                         f"latency {self.latency_us} us, {self.byte_ns} ns a byte"])


PATTERNS = {kind: f"{kind},sub{kind},simple sub{kind},all {kind},many {kind},sub many{kind},"
                  f"many sub{kind},strided {kind},strided sub{kind},strided many {kind}"
            for kind in ("put", "get")}
CASES = [Case(kind, latency_us, byte_ns) for kind in ("put", "get", "MPI Send")
         for latency_us, byte_ns in ((200, 100), (200, 1000), (1000, 0))]
# Times of which a batch has many. The notifications of puts and gets are real and no longer small
# there.
SHORT = [Case("MPI Send", latency_us, 0, ("--max-ndata=1",)) for latency_us in (2, 10)]


def half_us(row, truths, latency_us, byte_ns):
    """The true time of a half of a repetition."""
    strided_at_once = row["pattern"].startswith("strided") and "many" not in row["pattern"]
    transfers = 1 if strided_at_once else int(row["count"])
    size = 8 * int(row["ndata"]) // transfers
    if row["pattern"] == "MPI Send":
        cost = {truth["operation"]: truth for truth in truths if truth["bytes"] == str(size)}
        extra = statistics.mean(number(cost[name]["extra_us"]) for name in ("send", "recv"))
        return latency_us + size * byte_ns * 1e-3 + extra
    operation = "get" if row["pattern"].endswith("get") else "put"
    posted, = (truth for truth in truths
               if truth["operation"] == operation and truth["bytes"] == str(size))
    flush, = (truth for truth in truths if truth["operation"] == "win_flush_all")
    return ((transfers - 1) * number(posted["host_us"]) + latency_us + size * byte_ns * 1e-3 +
            number(flush["extra_us"]))


def errors(case, on_model, max_ndata):
    """One launch: the relative errors of the latency or of the bandwidth, by row."""
    rows, truths = on_model(
        "pingpong/pingpong", "--max-time=0.05", f"--max-ndata={max_ndata}", "--max-stride=4",
        f"--patterns={PATTERNS.get(case.kind, case.kind)}", *case.options,
        MODEL_P2P=int(case.kind == "MPI Send"), MODEL_RMA=1, MODEL_LATENCY_US=case.latency_us,
        MODEL_PER_BYTE_NS=case.byte_ns)
    found = {}
    for row in rows:
        true_us = half_us(row, truths, case.latency_us, case.byte_ns)
        true_mbs = 8 * int(row["ndata"]) / 1048576 / (true_us * 1e-6)
        name = " ".join(row[key] for key in ("pattern", "sync", "count", "blksize", "stride"))
        found[name] = max(number(row["latency_us"]) / true_us - 1,
                          number(row["bwidth_mbs"]) / true_mbs - 1, key=abs)
    return found


@pytest.mark.parametrize("case", cases(CASES + SHORT, quick=CASES[::4] + SHORT))
def test_latency_and_bandwidth(case, accuracy, on_model, full):
    accuracy.check(str(case), lambda: errors(case, on_model, 64 if full else 16),
                   TARGET.share_of(case.latency_us))
