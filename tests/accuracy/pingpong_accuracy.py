#!/usr/bin/env python3
"""Does pingpong find the known latency and bandwidth?

Runs it on the model MPI, where a transfer of so many bytes takes a known time.
A half of a repetition is then known: the posts of its transfers, the last one's
time, and what completing them costs; the notification of the partner, or the
barrier, is real and small against that. The error of a row is the median over
launches; it fails beyond 2 % or 0.1 us, after one repeat. With --full: every case.
"""

import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from bounds import Bounds  # noqa: E402
from mpi_run import Launcher, number, run_on_model  # noqa: E402

TARGET, TARGET_US = 0.02, 0.1


def half_us(row, truths, latency_us, byte_ns):
    """The true time of a half of a repetition."""
    strided_at_once = (row["pattern"].startswith("strided") and
                       "many" not in row["pattern"])
    transfers = 1 if strided_at_once else int(row["count"])
    size = 8 * int(row["ndata"]) // transfers
    if row["pattern"] == "MPI Send":
        cost = {truth["operation"]: truth for truth in truths
                if truth["bytes"] == str(size)}
        extra = statistics.mean(number(cost[name]["extra_us"])
                                for name in ("send", "recv"))
        return latency_us + size * byte_ns * 1e-3 + extra
    operation = "get" if row["pattern"].endswith("get") else "put"
    posted, = (truth for truth in truths if truth["operation"] == operation
               and truth["bytes"] == str(size))
    flush, = (truth for truth in truths
              if truth["operation"] == "win_flush_all")
    return ((transfers - 1) * number(posted["host_us"]) + latency_us +
            size * byte_ns * 1e-3 + number(flush["extra_us"]))


def measure(case, options):
    """One launch: the relative errors of the latency and of the bandwidth, by
    row."""
    arguments, latency_us, byte_ns = case
    two_sided = "MPI Send" in " ".join(arguments)
    model = {"MODEL_P2P": int(two_sided), "MODEL_RMA": 1,
             "MODEL_LATENCY_US": latency_us, "MODEL_PER_BYTE_NS": byte_ns}
    _, rows, truths = run_on_model(
        options.launcher, 2, [options.program, "--max-time=0.1",
                              "--max-ndata=64", "--max-stride=4"] + arguments,
        model, options.model)
    errors = {}
    for row in rows:
        true_us = half_us(row, truths, latency_us, byte_ns)
        true_mbs = 8 * int(row["ndata"]) / 1048576 / (true_us * 1e-6)
        errors[" ".join(row[key] for key in ("pattern", "sync", "count",
                                             "blksize", "stride"))] = max(
            number(row["latency_us"]) / true_us - 1,
            number(row["bwidth_mbs"]) / true_mbs - 1, key=abs)
    return errors


def run_case(case, options):
    """Prints the largest error of the case's rows."""
    launches = [measure(case, options) for _ in range(options.runs)]
    errors = {name: statistics.median(launch[name] for launch in launches)
              for name in launches[0]}
    name = max(errors, key=lambda name: abs(errors[name]))
    allowed = options.bounds.wider() * max(TARGET, TARGET_US / case[1])
    print(f"{' '.join(case[0])} latency {case[1]} us, {case[2]} ns a byte: "
          f"{len(errors)} rows, largest error {errors[name]:+.2%} ({name})"
          f"{'' if abs(errors[name]) <= allowed else '  TOO FAR'}", flush=True)
    return abs(errors[name]) / allowed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="pingpong")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("--full", action="store_true", help="every case")
    parser.add_argument("--runs", type=int, default=3, help="launches a case")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    options.bounds = Bounds()
    patterns = [[f"--patterns={kind},sub{kind},simple sub{kind},all {kind},"
                 f"many {kind},sub many{kind},many sub{kind},strided {kind},"
                 f"strided sub{kind},strided many {kind}"]
                for kind in ("put", "get")] + [["--patterns=MPI Send"]]
    cases = [(arguments, latency_us, byte_ns) for arguments in patterns
             for latency_us, byte_ns in ((200, 100), (200, 1000), (1000, 0))]
    if not options.full:
        cases = cases[::2]
    # Times of which a batch has many. The notifications of puts and gets are real and
    # no longer small there.
    cases += [(["--patterns=MPI Send", "--max-ndata=1"], latency_us, 0)
              for latency_us in (2, 10)]
    worst = {}
    for case in cases:
        worst[str(case)] = run_case(case, options)
        if worst[str(case)] > 1:
            worst[str(case)] = run_case(case, options)
    print(f"largest error: {max(worst.values()):.2f} of what is allowed, "
          f"{TARGET:.0%} or {TARGET_US} us")
    return 1 if max(worst.values()) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
