"""Does the monitor know what ranks wait for each other?

A program in which ranks come late by times that it draws at random (tests/monitor/late.c) knows what
each rank waited in each of three collectives. The monitor, which sees times in calls only, must be
within 2 % of that or 1 us a call, or, where it kept some of the calls only, two standard errors; its
interval must hold the truth; and it must name the rank that came last most often. Both bounds are
wider by what the program itself saw of ranks that were stopped within calls.
"""

import random

import pytest

from mpi_run import number, read, read_tsv, run_raw

RANKS = 2


@pytest.fixture
def late(launcher, built, tmp_path, say):
    """Runs the program with a seed of its own: what it knows by function and rank, and the report."""
    def run(calls, max_us):
        report = tmp_path / "report.tsv"
        report.unlink(missing_ok=True)
        seed = random.randrange(1 << 30)
        say(f"seed {seed}")
        done = run_raw(launcher, RANKS, [built("tests/monitor/late"), calls, max_us, seed], {
            "MPIRT_MONITOR": f"coll,per-rank,output={report}",
            "LD_PRELOAD": built("monitor/libmpirtmon.so")})
        assert done.returncode == 0, done.stderr
        known = {}
        for line in done.stdout.splitlines():
            name, rank, waited_s, last, stopped_s = line.split()
            known[name, rank] = (float(waited_s), int(last), float(stopped_s))
        return known, [row for row in read_tsv(read(report)) if row["comm"] == "team"]
    return run


# Calls, and the max time by which ranks differ: the last case has more calls than are kept.
@pytest.mark.parametrize("calls, max_us", [(200, 200), (1000, 20), (20000, 5)])
def test_waiting(late, say, calls, max_us):
    for attempt in range(2):
        far, outside, whole = [], [], 0
        known, rows = late(calls, max_us)
        for row in rows:
            key = row["operation"], row["rank"]
            if key not in known:
                continue
            whole += 1
            truth_s, _, stopped_s = known[key]
            found_s, lo_s, hi_s = (number(row[f"waited{end}_s"]) for end in ("", "_lo", "_hi"))
            # An interval has two standard errors on either side, and what calls take by themselves.
            allowed_s = max(0.02 * truth_s, 1e-6 * calls, hi_s - found_s if calls > 4096 else 0)
            say(f"{key}: {found_s:.6f} s ({lo_s:.6f} to {hi_s:.6f}), truth {truth_s:.6f}, "
                f"stopped {stopped_s:.6f}")
            if abs(found_s - truth_s) > allowed_s + stopped_s:
                far.append(key)
            if not lo_s - stopped_s <= truth_s <= hi_s + stopped_s:
                outside.append(key)
        assert whole == 3 * RANKS
        # One in twenty may be outside.
        if not far and len(outside) <= 1:
            break
    assert (far, len(outside) <= 1) == ([], True)
    for row in rows:
        if row["rank"] != "NA" or (row["operation"], "0") not in known:
            continue
        last = {rank: known[row["operation"], str(rank)][1] for rank in range(RANKS)}
        assert int(row["last_rank"]) == max(last, key=last.get)
        parts_s = sum(number(own["waited_s"]) for own in rows
                      if own["operation"] == row["operation"] and own["rank"] != "NA")
        assert number(row["waited_s"]) == pytest.approx(parts_s, abs=1e-8)


def test_only_where_ranks_wait(late):
    """Not in what doesn't synchronise."""
    _, rows = late(20, 10)
    waiting = {row["operation"] for row in rows if row["waited_s"] != "NA"}
    assert waiting == {"MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall"}
    assert {row["operation"] for row in rows} > waiting
