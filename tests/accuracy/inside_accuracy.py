"""Does the monitor know how long a program is inside MPI, and in which calls?

A program that knows nothing of the monitor spends known times in known calls (tests/monitor/inside.c)
on the model MPI. What calls of each function take must be within 1 % of the truth; all rows together
must be the total, and the total what a timer around every call sees (tests/monitor/every_call.py).
"""

import pytest

from accuracy import Target
from mpi_run import number, read, read_tsv, run_raw

TARGET = Target(0.01)
RANKS = 2
TIMES = 100
MESSAGE_US, TEST_US, SYNC_US, COLLECTIVE_US, WORK_US = 200, 20, 50, 100, 300

# What each rank spends in the calls of an operation, in us a time: half of a wait for two messages;
# work hides others. The test that completes a receive takes its time. A put has the flush that
# completes it.
TRUTH_US = {"MPI_Isend": MESSAGE_US / 2, "MPI_Irecv": MESSAGE_US / 2 + TEST_US,
            "MPI_Send_init": MESSAGE_US / 2, "MPI_Recv_init": MESSAGE_US / 2,
            "MPI_Put": MESSAGE_US + SYNC_US}
# What each rank computes between post and wait, in us a time: of three exchanges two have work, of
# which a test that finds nothing is no part.
COMPUTED_US = {"MPI_Isend": 2 * WORK_US, "MPI_Irecv": 2 * WORK_US, "MPI_Send_init": 0,
               "MPI_Recv_init": 0, "MPI_Put": 0, "MPI_Allreduce": 0}
TIMES_OF = {"MPI_Isend": 3, "MPI_Irecv": 3}
# What a call takes besides, which the monitor sees as the program does: the model's own work.
BESIDES_US = 1.0


@pytest.fixture
def launch(launcher, built, tmp_path):
    """Runs a program under the monitor and the timer below it: the report's rows, and the timer's
    calls and seconds by function, of all ranks."""
    def run(program, *libraries, words="all", **environment):
        report, timer = tmp_path / "report.tsv", tmp_path / "timer"
        report.unlink(missing_ok=True)
        preloaded = [built("monitor/libmpirtmon.so"), built("tests/monitor/libeverycall.so"),
                     *libraries]
        done = run_raw(launcher, RANKS, [built(program[0]), *program[1:]], {
            "MPIRT_MONITOR": f"{words},output={report}", "EVERY_CALL": str(timer),
            "LD_PRELOAD": ":".join(preloaded), **environment})
        assert done.returncode == 0, done.stderr
        seen = {}
        for rank in range(RANKS):
            for line in read(f"{timer}.{rank}").splitlines():
                name, calls, ns, _ = line.split()
                before = seen.get(name, (0, 0.0))
                seen[name] = (before[0] + int(calls), before[1] + int(ns) * 1e-9)
        return read_tsv(read(report)), seen
    return run


def of_kind(rows, kind):
    return [row for row in rows if row["kind"] == kind and row["rank"] == "NA"]


def seconds_in(rows):
    return sum(number(row["in_calls_s"]) for row in rows)


def check_sums(rows, seen):
    """All rows are the total, and each rank's total is a part of it. Returns by how much the total
    differs from what the timer saw."""
    total, = of_kind(rows, "total")
    every = seconds_in(row for kind in ("pttopt", "coll", "calls") for row in of_kind(rows, kind))
    assert every == pytest.approx(number(total["in_calls_s"]), abs=1e-6)
    ranks = [row for row in rows if row["kind"] == "total" and row["rank"] != "NA"]
    assert [row["rank"] for row in ranks] == [str(rank) for rank in range(RANKS)]
    assert seconds_in(ranks) == pytest.approx(number(total["in_calls_s"]), abs=1e-6)
    slowest = max(ranks, key=lambda row: number(row["in_calls_s"]))
    assert total["slowest_s"] == slowest["in_calls_s"]
    assert total["slowest_rank"] == slowest["rank"]
    timed_s = sum(seconds for _, seconds in seen.values())
    return number(total["in_calls_s"]) / timed_s - 1


def error_of(row, truth_us):
    """By how much a call's time differs from the truth, beyond the model's own work."""
    error_us = number(row["in_calls_s"]) * 1e6 / (RANKS * TIMES) - truth_us
    return max(0.0, abs(error_us) - BESIDES_US) / truth_us


def check_size(row, whole, completed):
    """Messages of 8 bytes only: this row is the operation's."""
    assert (row["size_bytes"], row["completed"]) == ("8", str(completed))
    assert row["bytes"] == str(8 * completed)
    for column in ("total_s", "in_calls_s"):
        assert number(row[column]) == pytest.approx(number(whole[column]), rel=1e-6, abs=1e-6)


def test_on_the_model(launch, model, accuracy):
    def errors():
        rows, seen = launch(
            ["tests/monitor/inside", TIMES, WORK_US], model, MODEL_P2P=1, MODEL_RMA=1, MODEL_COLL=1,
            MODEL_SYNC_COLL=1, MODEL_FRACTION=1, MODEL_LATENCY_US=MESSAGE_US, MODEL_TEST_US=TEST_US,
            MODEL_SYNC_US=SYNC_US, MODEL_BARRIER_US=COLLECTIVE_US)
        found = {"total": check_sums(rows, seen)}
        pair = {row["operation"]: row for row in rows
                if row["comm"] == "pair" and row["kind"] in ("pttopt", "coll")}
        for name, truth_us in TRUTH_US.items():
            found[name] = error_of(pair[name], truth_us)
        # A rank that comes early waits for the other one, too: what the timer saw.
        found["MPI_Allreduce"] = (number(pair["MPI_Allreduce"]["in_calls_s"]) /
                                  seen["MPI_Allreduce"][1] - 1)
        calls = {row["operation"]: row for row in of_kind(rows, "calls")}
        # A test that finds nothing, and a flush of nothing: those that do are in what they complete.
        for name, comm in (("MPI_Test", "NA"), ("MPI_Win_flush", "pair")):
            assert (calls[name]["comm"], calls[name]["calls"]) == (comm, str(RANKS * TIMES))
            assert seen[name][0] == 2 * RANKS * TIMES
        assert "MPI_Waitall" not in calls
        found["tests"] = error_of(calls["MPI_Test"], TEST_US)
        sizes = {row["operation"]: row for row in rows
                 if row["comm"] == "pair" and row["kind"] == "sizes"}
        for name, truth_us in COMPUTED_US.items():
            check_size(sizes[name], pair[name], RANKS * TIMES * TIMES_OF.get(name, 1))
            error_us = number(sizes[name]["computed_s"]) * 1e6 / (RANKS * TIMES) - truth_us
            found[f"{name} computed"] = max(0.0, abs(error_us) - BESIDES_US) / max(1.0, truth_us)
        return found
    names = ["total", "tests", "MPI_Allreduce", *TRUTH_US,
             *(f"{name} computed" for name in COMPUTED_US)]
    accuracy.check("inside MPI", errors, fixed=dict.fromkeys(names, TARGET.share))


# Of tests/monitor/around.c: calls a time that could have been part of others, and computation after
# calls in parts of the work, of all ranks together.
JOINABLE = {"MPI_Irecv": 0, "MPI_Ssend": 2, "MPI_Send": 2, "MPI_Recv": 0, "MPI_Allreduce": 4,
            "MPI_Allgather": 0, "MPI_Barrier": 0, "MPI_Put": 2}
AFTER = {"MPI_Irecv": 2, "MPI_Allreduce": 2, "MPI_Send": 0, "MPI_Barrier": 0, "MPI_Put": 0}


def test_around_calls(launch, accuracy):
    """What is computed after calls; what could have been part of another call, and who called."""
    def errors():
        rows, _ = launch(["tests/monitor/around", TIMES, WORK_US])
        sizes = {row["operation"]: row for row in rows
                 if row["comm"] == "pair" and row["kind"] == "sizes" and row["calls"] != "0"}
        for name, count in JOINABLE.items():
            joinable = int(sizes[name]["joinable"])
            # Collectives only where nobody was stopped between them.
            assert joinable <= TIMES * count
            assert joinable >= TIMES * count * (0.9 if name == "MPI_Allreduce" else 1)
            assert sizes[name]["callers"] == ("1" if name == "MPI_Put" else "2")
        whole = {row["operation"]: row for row in rows
                 if row["comm"] == "pair" and row["kind"] == "pttopt"}
        assert {name: row["neighbours"] for name, row in whole.items()} == {
            "MPI_Ssend": "1", "MPI_Send": "1", "MPI_Put": "1", "MPI_Rput": "1", "MPI_Irecv": "NA",
            "MPI_Recv": "NA"}
        assert {name: row["callers"] for name, row in whole.items() if row["callers"] != "2"} == {
            "MPI_Put": "1", "MPI_Rput": "1"}
        flushes = {row["operation"]: (int(row["calls"]), int(row["joinable"]))
                   for row in of_kind(rows, "calls") if "flush" in row["operation"]}
        assert flushes == {"MPI_Win_flush": (3 * TIMES, TIMES), "MPI_Win_flush_all": (2 * TIMES, 0)}
        return {name: max(0.0, abs(number(sizes[name]["computed_after_s"]) * 1e6 / TIMES
                                   - WORK_US * parts) - RANKS * BESIDES_US) / WORK_US
                for name, parts in AFTER.items()}
    accuracy.check("computed after calls", errors, fixed=dict.fromkeys(AFTER, TARGET.share))


def test_a_program_of_many_calls(launch, accuracy):
    """A stencil: 16 calls a step."""
    def errors():
        rows, seen = launch(["tests/monitor/stencil", 1000, 200])
        return {"total": check_sums(rows, seen)}
    accuracy.check("a stencil's time inside MPI", errors, fixed={"total": TARGET.share})


@pytest.mark.parametrize("words, kinds", [
    ("calls", {"calls", "total"}), ("pttopt", {"pttopt"}), ("sizes", {"sizes"}),
    ("coll,calls", {"coll", "calls", "total"})])
def test_words(launch, words, kinds):
    rows, _ = launch(["tests/monitor/stencil", 50, 2], words=words)
    assert {row["kind"] for row in rows} == kinds
    for row in rows:
        assert row["in_calls_s"] != "NA"
    # Whatever else was asked for, the total is all.
    if "calls" in words:
        assert number(of_kind(rows, "total")[0]["in_calls_s"]) > 0


@pytest.mark.parametrize("words", ["calls", "calls,per-rank"])
def test_each_rank_has_one_total(launch, words):
    rows, _ = launch(["tests/monitor/stencil", 50, 2], words=words)
    assert [row["rank"] for row in rows if row["kind"] == "total"] == ["NA", "0", "1"]
