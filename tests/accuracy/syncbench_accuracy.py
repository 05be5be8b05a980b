#!/usr/bin/env python3
"""Does syncbench find the known cost of a synchronisation?

Runs it on the model MPI, where a synchronisation takes a known time. The error of a
row is the median over launches; it must be within 2 % or 0.1 us, after one repeat.
With --full: every case.
"""

import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from bounds import Bounds  # noqa: E402
from mpi_run import Launcher, number, run_on_model  # noqa: E402

TARGET, TARGET_US = 0.02, 0.1

# The operations of the model that a synchronisation is made of. lock_all+flush has no
# known truth: the real calls wait for the other rank, which serves them when it has
# spent its own modelled time.
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

# In an acquisition of the queue lock a rank that finds nobody makes two swaps, one when it
# enters and one when it leaves. With two ranks that contend without a pause, from one handing
# over to the next: the one that was handed the lock leaves before the other one can have
# come back; that finds nobody, swaps to leave, finds that the first one has come back, swaps
# to put it back, and hands over, which it has to wait for all of. That is four swaps for two
# acquisitions. What a swap returns decides what comes next, so data has to move.
QUEUE = "critical"

BYTES = {"allreduce": "1", "get": "8", "fetch_and_op": "8"}  # of others: none


def true_us(row, truths):
    """The sum of its parts: each one's duration and what it costs the host more.
    Messages overlap: the last one posted counts, and the wait for all."""
    total = 0.0
    for name in PARTS[row["sync"]]:
        size = BYTES.get(name, "0")
        truth, = (truth for truth in truths if truth["operation"] == name and
                  truth["bytes"] in (size, "NA"))
        total += number(truth["duration_us"])
        if name not in ("get", "fetch_and_op"):  # their wait is the flush's
            total += number(truth["extra_us"])
        if name == "isend":
            posted, = (truth for truth in truths
                       if truth["operation"] == "irecv")
            total += number(posted["host_us"])
    return total


def measure(case, options):
    """One launch: found and true time of each row, in us."""
    types, duration_us = case
    model = {"MODEL_SYNC_COLL": 1, "MODEL_BARRIER_US": duration_us,
             "MODEL_DURATION_US": duration_us, "MODEL_P2P": 1, "MODEL_RMA": 1,
             "MODEL_LATENCY_US": duration_us, "MODEL_SYNC_US": duration_us}
    arguments = [f"--types={types}", "--max-time=0.3", f"--start={options.start}"]
    if types == QUEUE:
        model["MODEL_DATA"] = 1
        arguments.append("--delay=0")
    _, rows, truths = run_on_model(options.launcher, 2,
                                   [options.program, *arguments], model,
                                   options.model)
    return [(number(row["sync_us"]), true_us(row, truths)) for row in rows]


def run_case(case, options):
    """Prints the errors of the case; the largest one in units of what is
    allowed."""
    launches = [measure(case, options) for _ in range(options.runs)]
    found_us = statistics.median(found for launch in launches
                                 for found, _ in launch)
    error_us = statistics.median(found - true for launch in launches
                                 for found, true in launch)
    allowed_us = options.bounds.wider() * max(TARGET_US, TARGET * found_us)
    print(f"{case[0]} of {case[1]} us: found {found_us:.3f}, error "
          f"{error_us:+.3f} us ({error_us / found_us:+.2%})"
          f"{'' if abs(error_us) <= allowed_us else '  TOO FAR'}", flush=True)
    return abs(error_us) / allowed_us


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="syncbench")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("--full", action="store_true", help="every case")
    parser.add_argument("--runs", type=int, default=3, help="launches a case")
    parser.add_argument("--start", default="barrier", help="barrier or window")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    options.bounds = Bounds()
    cases = [(types, duration_us) for duration_us in (2, 10, 100)
             for types in PARTS if options.full or types in
             ("MPI barrier", "sync all", "pairwise", "fence", "lock", QUEUE)]
    worst = 0.0
    for case in cases:
        error = run_case(case, options)
        if error > 1:
            error = run_case(case, options)
        worst = max(worst, error)
    print(f"largest error: {worst:.2f} of what is allowed, {TARGET:.0%} or "
          f"{TARGET_US} us")
    return 1 if worst > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
