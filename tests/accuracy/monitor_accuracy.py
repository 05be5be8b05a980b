#!/usr/bin/env python3
"""Does the monitor find the known times, counts and bytes?

A program that makes each kind of operation a known number of times runs, unchanged,
under the monitor on the model MPI, where each operation takes a known time: total and
mean must be within 1 % of what was set (the median of three launches, one repeat
allowed), counts and bytes exact, in every launch. Where the machine itself adds to
times, which is in means, they must be within 1 % of what the program saw.
"""

import argparse
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import (  # noqa: E402
    Failed, Launcher, number, read_tsv, run_raw)

TARGET = 0.01
# What the program sees besides an operation: most of the monitor's own work, and a
# reading of the clock.
AROUND_US = 0.08
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
         (100, 4096, 50.0, 2.0, 3.0)]
FULL_CASES = CASES + [(500, 8, 5.0, 0.0, 0.0), (20, 16384, 1000.0, 10.0, 10.0)]


def truth(case):
    """Each operation's mean time in us, and its bytes."""
    times, size, long_us, post_us, wait_us = case
    known = {}
    for names, own_us in ((MESSAGES, wait_us), (FLUSHED, wait_us + 1.0),
                          (COLLECTIVES, wait_us), (SYNCHRONISING, wait_us)):
        for name, share in names.items():
            known[name] = (long_us + own_us, share * times * size)
    # Two messages: one is posted after the other, and each is waited for.
    known["MPI_Sendrecv"] = (long_us + post_us + 2 * wait_us,
                             known["MPI_Sendrecv"][1])
    return known


def report_of(case, options):
    """One launch's report, as rows, and the mean time in us of each operation as
    the program saw it."""
    times, size, long_us, post_us, wait_us = case
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "monitor.tsv")
        model = {"MODEL_COLL": 1, "MODEL_SYNC_COLL": 1, "MODEL_P2P": 1,
                 "MODEL_RMA": 1, "MODEL_FRACTION": 1, "MODEL_SYNC_US": 1,
                 "MODEL_DURATION_US": long_us, "MODEL_BARRIER_US": long_us,
                 "MODEL_LATENCY_US": long_us, "MODEL_POST_US": post_us,
                 "MODEL_WAIT_US": wait_us,
                 "MPIRT_MONITOR": f"all,large=1K,output={report}"}
        model["LD_PRELOAD"] = f"{options.monitor}:{options.model}"
        done = run_raw(options.launcher, RANKS, [options.program, times, size],
                       model)
        if done.returncode != 0:
            raise Failed(done.stderr)
        seen_us = {}
        for line in done.stdout.splitlines():
            name, seconds = line.split()
            seen_us[name] = (seen_us.get(name, 0.0) +
                             float(seconds) * 1e6 / (RANKS * times))
        with open(report, encoding="utf-8") as stream:
            return read_tsv(stream.read()), seen_us


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
    """One launch: for each operation the relative errors of its mean and total time
    against what was set, and of its mean against what the program saw."""
    rows, seen_us = report_of(case, options)
    check_counts(rows, case)
    errors = {}
    for row in rows:
        known = truth(case).get(row["operation"])
        if row["comm"] != "ring" or known is None:
            continue
        mean_us = number(row["mean_us"])
        total_s = known[0] * 1e-6 * RANKS * case[0]
        around = mean_us / seen_us[row["operation"]] - 1
        spare = AROUND_US / seen_us[row["operation"]]
        errors[row["operation"]] = (
            max(mean_us / known[0] - 1, number(row["total_s"]) / total_s - 1,
                key=abs),
            min(around + spare, 0) if around < 0 else around)
    return errors


def worst_of(case, options):
    """The operation with the largest error against what was set, that error, and the
    largest one of those that fail against what the program saw; each the median of
    the launches."""
    launches = [errors_of(case, options) for _ in range(LAUNCHES)]
    medians = {name: [statistics.median(launch[name][i] for launch in launches)
                      for i in (0, 1)] for name in launches[0]}
    name = max(medians, key=lambda name: abs(medians[name][0]))
    disturbed = [abs(seen) for known, seen in medians.values()
                 if abs(known) > TARGET]
    return name, medians[name][0], max(disturbed, default=0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--monitor", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("launcher", nargs="+")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    failed = False
    for case in FULL_CASES if options.full else CASES:
        name, error, seen = worst_of(case, options)
        if abs(error) > TARGET:
            name, error, seen = worst_of(case, options)
        failed = failed or seen > TARGET
        print(f"{case[2]:6g} us, post {case[3]:g}, wait {case[4]:g}, "
              f"{case[1]:6d} bytes: {100 * error:+.2f} % ({name})", end="")
        if abs(error) > TARGET:
            print(f": the machine adds to times; within {100 * seen:.2f} % of what "
                  f"the program saw{'  FAILED' if seen > TARGET else ''}", end="")
        print(flush=True)
    print(f"bound {100 * TARGET:g} %")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
