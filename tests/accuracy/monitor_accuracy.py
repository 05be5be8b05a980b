#!/usr/bin/env python3
"""Does the monitor find the known times, counts and bytes?

A program that makes each kind of operation a known number of times runs, unchanged,
under the monitor on the model MPI, where each operation takes a known time: total and
mean must be within 1 % of what was set (the median of three launches, one repeat
allowed), counts and bytes exact, in every launch.
"""

import argparse
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import (  # noqa: E402
    Failed, Launcher, number, read_tsv, run_on_model, widening)

TARGET = 0.01
LAUNCHES = 3
RANKS = 2

# Operation: its bytes, as a multiple of the bytes of a message and over all ranks,
# and what it takes by itself besides a message's or collective's time.
MESSAGES = {"MPI_Irecv": 2, "MPI_Isend": 2, "MPI_Issend": 2, "MPI_Send": 2,
            "MPI_Recv": 2, "MPI_Sendrecv": 4, "MPI_Send_init": 2, "MPI_Rput": 2}
FLUSHED = {"MPI_Put": 2, "MPI_Get": 2}
COLLECTIVES = {"MPI_Ibarrier": 0, "MPI_Ibcast": 1, "MPI_Iallreduce": 2,
               "MPI_Ialltoall": 2, "MPI_Neighbor_allgather": 1}
SYNCHRONISING = {"MPI_Barrier": 0, "MPI_Allreduce": 2}
SENT = ("MPI_Isend", "MPI_Issend", "MPI_Send", "MPI_Sendrecv", "MPI_Send_init",
        "MPI_Rput", "MPI_Put", "MPI_Get")

# Times, bytes, and the model's parameters: latency and duration, post, wait.
CASES = [(200, 8, 20.0, 0.0, 0.0), (50, 1024, 200.0, 0.0, 0.0),
         (100, 131072, 50.0, 2.0, 3.0)]
FULL_CASES = CASES + [(500, 8, 5.0, 0.0, 0.0), (20, 65536, 1000.0, 10.0, 10.0)]


def truth(case):
    """Each operation's mean time in us, and its bytes."""
    times, size, long_us, _, wait_us = case
    known = {}
    for names, own_us in ((MESSAGES, wait_us), (FLUSHED, wait_us + 1.0),
                          (COLLECTIVES, wait_us), (SYNCHRONISING, wait_us)):
        for name, share in names.items():
            known[name] = (long_us + own_us, share * times * size)
    return known


def report_of(case, options):
    """One launch's report, as rows."""
    times, size, long_us, post_us, wait_us = case
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "monitor.tsv")
        model = {"MODEL_COLL": 1, "MODEL_SYNC_COLL": 1, "MODEL_P2P": 1,
                 "MODEL_RMA": 1, "MODEL_FRACTION": 1, "MODEL_SYNC_US": 1,
                 "MODEL_DURATION_US": long_us, "MODEL_BARRIER_US": long_us,
                 "MODEL_LATENCY_US": long_us, "MODEL_POST_US": post_us,
                 "MODEL_WAIT_US": wait_us,
                 "MPIRT_MONITOR": f"all,large=1K,output={report}"}
        run_on_model(options.launcher, RANKS, [options.program, times, size],
                     model, f"{options.monitor}:{options.model}")
        with open(report, encoding="utf-8") as stream:
            return read_tsv(stream.read())


def check_counts(rows, case):
    """Counts and bytes of the ring's rows, exactly."""
    times, size, *_ = case
    found = {row["operation"]: row for row in rows
             if row["comm"] == "ring" and row["kind"] in ("pttopt", "coll")}
    for name, (_, size_all) in truth(case).items():
        row = found[name]
        seen = tuple(int(row[key]) for key in ("calls", "completed", "timeouts",
                                               "bytes", "ranks"))
        if seen != (RANKS * times, RANKS * times, 0, size_all, RANKS):
            raise Failed(f"{name}: calls, completed, timeouts, bytes, ranks are "
                         f"{seen}")
    sizes, = (row for row in rows
              if row["comm"] == "ring" and row["kind"] == "workload")
    sent = len(SENT) * RANKS * times
    large = size >= 1024
    seen = tuple(int(sizes[key]) for key in ("small", "large", "small_bytes",
                                             "large_bytes"))
    if seen != ((0, sent, 0, sent * size) if large else
                (sent, 0, sent * size, 0)):
        raise Failed(f"small and large messages and their bytes are {seen}")


def errors_of(case, options):
    """One launch: the relative error of each operation's mean and total time."""
    rows = report_of(case, options)
    check_counts(rows, case)
    errors = {}
    for row in rows:
        known = truth(case).get(row["operation"])
        if row["comm"] != "ring" or known is None:
            continue
        total_s = known[0] * 1e-6 * RANKS * case[0]
        errors[row["operation"]] = max(
            number(row["mean_us"]) / known[0] - 1,
            number(row["total_s"]) / total_s - 1, key=abs)
    return errors


def worst_of(case, options):
    """The largest median error of an operation over launches, with its name."""
    launches = [errors_of(case, options) for _ in range(LAUNCHES)]
    return max(((statistics.median(launch[name] for launch in launches), name)
                for name in launches[0]), key=lambda pair: abs(pair[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--monitor", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("launcher", nargs="+")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    bound = TARGET * widening()
    failed, largest = False, 0.0
    for case in FULL_CASES if options.full else CASES:
        error, name = worst_of(case, options)
        if abs(error) > bound:
            error, name = worst_of(case, options)
        largest = max(largest, abs(error))
        failed = failed or abs(error) > bound
        print(f"{case[2]:6g} us, post {case[3]:g}, wait {case[4]:g}, "
              f"{case[1]:6d} bytes: {100 * error:+.2f} % ({name})"
              f"{'  FAILED' if abs(error) > bound else ''}", flush=True)
    print(f"largest error {100 * largest:.2f} %, bound {100 * bound:g} %")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
