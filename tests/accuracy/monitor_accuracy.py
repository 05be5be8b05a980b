"""Does the monitor find the known times, counts and bytes?

A program that makes each kind of operation a known number of times runs, unchanged, under the
monitor on the model MPI, where each operation takes a known time: total and mean must be within 1 %
of what was set, counts and bytes exact, in every launch. Where the machine itself adds to times,
which is in means, they must be within 1 % of what the program saw.
"""

import typing

import pytest

from accuracy import Target, cases
from mpi_run import number, read, read_tsv, run_raw

TARGET = Target(0.01)
# What the program sees besides an operation: most of the monitor's own work, and a reading of the
# clock.
AROUND_US = 0.08
RANKS = 2

# Operation: its bytes, as a multiple of the bytes of a message and over all ranks, and what it
# takes by itself besides a message's or collective's time.
MESSAGES = {"MPI_Irecv": 2, "MPI_Isend": 2, "MPI_Issend": 2, "MPI_Send": 2, "MPI_Recv": 2,
            "MPI_Sendrecv": 4, "MPI_Send_init": 2, "MPI_Rput": 2}
FLUSHED = {"MPI_Put": 2, "MPI_Get": 2}
COLLECTIVES = {"MPI_Ibarrier": 0, "MPI_Ibcast": 1, "MPI_Iallreduce": 2, "MPI_Ialltoall": 2,
               "MPI_Neighbor_allgather": 1}
SYNCHRONISING = {"MPI_Barrier": 0, "MPI_Allreduce": 2}
SENT = ("MPI_Isend", "MPI_Issend", "MPI_Send", "MPI_Sendrecv", "MPI_Send_init", "MPI_Rput",
        "MPI_Put", "MPI_Get")


class Case(typing.NamedTuple):
    __test__ = False
    times: int
    size: int
    long_us: float  # latency and duration
    post_us: float = 0.0
    wait_us: float = 0.0

    def __str__(self):
        return (f"{self.long_us:g} us, post {self.post_us:g}, wait {self.wait_us:g}, "
                f"{self.size} bytes")


CASES = [Case(200, 8, 20.0), Case(50, 1024, 200.0), Case(100, 4096, 50.0, 2.0, 3.0)]
FULL_CASES = CASES + [Case(500, 8, 5.0), Case(20, 16384, 1000.0, 10.0, 10.0)]


def truth(case):
    """Each operation's mean time in us, and its bytes."""
    known = {}
    for names, own_us in ((MESSAGES, 0.0), (FLUSHED, 1.0), (COLLECTIVES, 0.0),
                          (SYNCHRONISING, 0.0)):
        for name, share in names.items():
            known[name] = (case.long_us + case.wait_us + own_us, share * case.times * case.size)
    # Two messages: one is posted after the other, and each is waited for.
    known["MPI_Sendrecv"] = (case.long_us + case.post_us + 2 * case.wait_us,
                             known["MPI_Sendrecv"][1])
    return known


@pytest.fixture
def report_of(launcher, built, model, tmp_path):
    """One launch's report, as rows, and the mean time in us of each operation as the program saw
    it."""
    report = tmp_path / "monitor.tsv"

    def launch(case):
        report.unlink(missing_ok=True)
        done = run_raw(
            launcher, RANKS, [built("tests/monitor/monitor_script"), case.times, case.size],
            {"MODEL_COLL": 1, "MODEL_SYNC_COLL": 1, "MODEL_P2P": 1, "MODEL_RMA": 1,
             "MODEL_FRACTION": 1, "MODEL_SYNC_US": 1, "MODEL_DURATION_US": case.long_us,
             "MODEL_BARRIER_US": case.long_us, "MODEL_LATENCY_US": case.long_us,
             "MODEL_POST_US": case.post_us, "MODEL_WAIT_US": case.wait_us,
             "MPIRT_MONITOR": f"all,large=1K,output={report}",
             "LD_PRELOAD": f"{built('monitor/libmpirtmon.so')}:{model}"})
        assert done.returncode == 0, done.stderr
        seen_us = {}
        for line in done.stdout.splitlines():
            name, seconds = line.split()
            seen_us[name] = seen_us.get(name, 0.0) + float(seconds) * 1e6 / (RANKS * case.times)
        return read_tsv(read(report)), seen_us
    return launch


def check_counts(rows, case):
    """Counts and bytes of the ring's rows, exactly."""
    found = {row["operation"]: row for row in rows
             if row["comm"] == "ring" and row["kind"] in ("pttopt", "coll")}
    calls = RANKS * case.times
    for name, (_, size_all) in truth(case).items():
        seen = [int(found[name][key]) for key in ("calls", "completed", "timeouts", "bytes",
                                                  "ranks")]
        assert seen == [calls, calls, 0, size_all, RANKS], name
    sizes, = (row for row in rows if row["comm"] == "ring" and row["kind"] == "workload")
    small, large = [len(SENT) * calls, len(SENT) * calls * case.size], [0, 0]
    if case.size >= 1024:
        small, large = large, small
    assert [int(sizes[key]) for key in ("small", "small_bytes")] == small
    assert [int(sizes[key]) for key in ("large", "large_bytes")] == large


def errors(case, report_of):
    """One launch: for each operation the relative errors of its mean or total time against what was
    set, and of its mean against what the program saw."""
    rows, seen_us = report_of(case)
    check_counts(rows, case)
    known, found = truth(case), {}
    for row in rows:
        name = row["operation"]
        if row["comm"] != "ring" or name not in known:
            continue
        mean_us, known_us = number(row["mean_us"]), known[name][0]
        total_s = known_us * 1e-6 * RANKS * case.times
        around = mean_us / seen_us[name] - 1
        found[name] = max(mean_us / known_us - 1, number(row["total_s"]) / total_s - 1, key=abs)
        found[f"{name} seen"] = (min(around + AROUND_US / seen_us[name], 0) if around < 0
                                 else around)
    return found


@pytest.mark.parametrize("case", cases(FULL_CASES, quick=CASES))
def test_times_and_counts(case, accuracy, report_of, say):
    result = accuracy.measure(str(case), lambda: errors(case, report_of),
                              fixed=dict.fromkeys(truth(case), TARGET.share))
    if result.far():
        seen = {name: abs(result.medians[f"{name} seen"]) for name in result.far()}
        say(f"{case}: the machine adds to times; within {max(seen.values()):.2%} of what the "
            "program saw")
        result = result._replace(shares={name: error / TARGET.share
                                         for name, error in seen.items()})
    accuracy.judge(result)
