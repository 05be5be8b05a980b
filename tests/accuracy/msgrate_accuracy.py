"""Do msgrate and msgrate_rma find the known rate?

Runs them on the model MPI, where messages of one direction start a known gap apart, in jobs of two
ranks and one peer. An iteration of n messages is then known: the gaps between them, the transfer of
the last one, what its wait or synchronisation costs, and the posts of receives, where they come
before the sends or after them. One-sided iterations have many messages: the real fence and wait are
called too, and what they take without waiting for the other rank isn't known.
"""

import typing

import pytest

from accuracy import Target, cases
from mpi_run import number

TARGET = Target(0.02)  # of the true rate
MESSAGES = {"msgrate": 128, "msgrate_rma": 1024}  # of an iteration
LATENCY_US = 10
WAITING = ("win_fence", "win_wait")  # for another rank
ONE_DIRECTION = "single direction"


class Case(typing.NamedTuple):
    __test__ = False
    gap_us: float
    sync_us: int = 0
    transfer: str = ""  # none: two-sided
    sync: str = ""

    def program(self):
        return "msgrate_rma" if self.transfer else "msgrate"

    def __str__(self):
        return (" ".join(filter(None, [self.program(), self.transfer, self.sync])) +
                f" gap {self.gap_us} us, synchronisation {self.sync_us} us")


TWO_SIDED = [Case(gap_us) for gap_us in (0.5, 1, 5)]
ONE_SIDED = [Case(gap_us, sync_us, transfer, sync)
             for sync in ("fence", "lock", "pscw", "flush") for transfer in ("put", "get")
             for gap_us in (0.5, 1, 5) for sync_us in (0, 5)]


class Truth:
    """What the model says of the operations of a launch."""

    __test__ = False

    def __init__(self, rows, gap_us):
        self.rows = {row["operation"]: row for row in rows}
        self.gap_us = gap_us

    def cost(self, operation, column):
        return number(self.rows[operation][column])

    def stream_us(self, operation, messages):
        """From the first post to the end of the last transfer."""
        spacing_us = max(self.cost(operation, "host_us"), self.gap_us)
        return (messages - 1) * spacing_us + LATENCY_US

    def two_sided_us(self, pattern):
        us = self.stream_us("isend", MESSAGES["msgrate"]) + self.cost("isend", "extra_us")
        if pattern != ONE_DIRECTION:
            us += MESSAGES["msgrate"] * self.cost("irecv", "host_us")
        return us

    def synchronisation_us(self, *operations):
        return sum(self.cost(operation, "duration_us") +
                   (0 if operation in WAITING else self.cost(operation, "extra_us"))
                   for operation in operations)

    def one_sided_us(self, pattern, sync, transfer):
        calls = {"fence": ["win_fence"], "lock": ["win_lock", "win_unlock"],
                 "pscw": ["win_start", "win_complete"], "flush": ["win_flush"]}[sync]
        if pattern == ONE_DIRECTION and sync == "fence":
            calls = calls * 2
        if pattern != ONE_DIRECTION and sync == "pscw":
            calls = calls + ["win_wait", "win_post"]
        if pattern != ONE_DIRECTION and sync == "flush":
            calls = ["win_flush_all"]
        return (self.stream_us(transfer, MESSAGES["msgrate_rma"]) +
                self.synchronisation_us(*calls))

    def iteration_us(self, row):
        """The true time of an iteration of this row."""
        if "transfer" not in row:
            return self.two_sided_us(row["pattern"])
        return self.one_sided_us(row["pattern"], row["synchronisation"], row["transfer"])


def errors(case, on_model):
    """One launch: the relative error of every row's rate, by the row's name."""
    program = case.program()
    rows, truths = on_model(
        f"msgrate/{program}", "-p", "1", "-c", "0", "-m", MESSAGES[program], "--max-time=0.3",
        *(["-u", case.transfer, "-r", case.sync] if case.transfer else []), MODEL_P2P=1,
        MODEL_RMA=1, MODEL_GAP_US=case.gap_us, MODEL_LATENCY_US=LATENCY_US,
        MODEL_SYNC_US=case.sync_us)
    truth = Truth(truths, case.gap_us)
    found = {}
    for row in rows:
        messages = MESSAGES[program] * (1 if row["pattern"] == ONE_DIRECTION else 2)
        name = " ".join(row[key] for key in ("pattern", "synchronisation", "transfer")
                        if key in row)
        found[name] = number(row["rate_per_s"]) * truth.iteration_us(row) * 1e-6 / messages - 1
    return found


@pytest.mark.parametrize("case", cases(TWO_SIDED + ONE_SIDED, quick=TWO_SIDED[::2] + ONE_SIDED[2::7]))
def test_rate(case, accuracy, on_model):
    accuracy.check(str(case), lambda: errors(case, on_model), TARGET.share)
