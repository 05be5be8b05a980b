#!/usr/bin/env python3
"""Does mpi_overhead find the known answer?

Runs it on the model MPI, where the host overhead of a message is known: what
the post costs (h) and what the wait costs beyond the transfer (x). The
error of a case is the median over its launches; it fails if that is beyond its
target (DESIGN: accuracy), after one repeat. With --full: every case.
"""

import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from bounds import Bounds  # noqa: E402
from mpi_run import Launcher, number, run_on_model  # noqa: E402

# Targets: a share of the truth, or so many microseconds if that is more.
OVERHEAD_SHARE, OVERHEAD_US = 0.03, 0.05
TRANSFER_SHARE, TRANSFER_US = 0.02, 0.1

# A case: MODEL_POST_US, MODEL_WAIT_US, direction. The smallest overhead is the
# hardest, so both directions of it are among the few of the quick run.
ALL_CASES = [(post_us, wait_us, direction) for post_us in (1, 2, 5, 10)
             for wait_us in (0, 4) for direction in ("send", "recv")]
QUICK_CASES = [(1, 0, "send"), (1, 0, "recv"), (2, 4, "recv"),
               (5, 0, "send"), (10, 0, "recv"), (10, 4, "send")]


def measure(case, options):
    """One launch: what was found less the truth, for both quantities, and the
    truths."""
    post_us, wait_us, direction = case
    latency_us = 10 * post_us
    model = {"MODEL_P2P": 1, "MODEL_FRACTION": 1, "MODEL_POST_US": post_us,
             "MODEL_WAIT_US": wait_us, "MODEL_LATENCY_US": latency_us}
    program = [options.program] + (["--recv"] if direction == "recv" else [])
    _, rows, truths = run_on_model(options.launcher, 2, program, model,
                                   options.model)
    # Receiving, there are tokens of no bytes, too.
    message = ("irecv" if direction == "recv" else "isend", rows[0]["msgsize"])
    truth, = (row for row in truths
              if (row["operation"], row["bytes"]) == message)
    overhead_us = number(truth["host_us"]) + number(truth["extra_us"])
    transfer_us = latency_us + number(truth["extra_us"])
    return (number(rows[0]["overhead"]) - overhead_us,
            number(rows[0]["transfer_us"]) - transfer_us,
            overhead_us, transfer_us)


def run_case(case, options):
    """Prints the case's errors; True if they are within the targets."""
    launches = [measure(case, options) for _ in range(options.runs)]
    overhead, transfer, overhead_us, transfer_us = (
        statistics.median(values) for values in zip(*launches))
    wider = options.bounds.wider()
    good = (abs(overhead) <= wider * max(OVERHEAD_SHARE * overhead_us,
                                         OVERHEAD_US) and
            abs(transfer) <= wider * max(TRANSFER_SHARE * transfer_us,
                                         TRANSFER_US))
    print(f"{case[2]} o={case[0]} us w={case[1]} us: overhead "
          f"{overhead_us:.3f} us, error {overhead:+.3f} us "
          f"({overhead / overhead_us:+.1%}); transfer {transfer_us:.3f} us, "
          f"error {transfer:+.3f} us{'' if good else '  TOO FAR'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="mpi_overhead")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("--full", action="store_true", help="every case")
    parser.add_argument("--runs", type=int, default=3, help="launches a case")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    options.bounds = Bounds()
    cases = ALL_CASES if options.full else QUICK_CASES
    failed = [case for case in cases
              if not run_case(case, options) and not run_case(case, options)]
    for case in failed:
        print(f"FAILED: {case}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
