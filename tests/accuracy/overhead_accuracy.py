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
import typing

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from bounds import Bounds  # noqa: E402
from mpi_run import Launcher, number, run_on_model  # noqa: E402

# Targets: a share of the truth, or so many microseconds if that is more.
OVERHEAD_SHARE, OVERHEAD_US = 0.03, 0.05
TRANSFER_SHARE, TRANSFER_US = 0.02, 0.1



class Case(typing.NamedTuple):
    post_us: int  # MODEL_POST_US
    wait_us: int  # MODEL_WAIT_US
    direction: str
    verbose: bool = False


# What is written with --verbose must not show in the figures.
VERBOSE_CASES = [Case(1, 0, "send", verbose=True), Case(5, 4, "recv", verbose=True)]
# The smallest overhead is the hardest, so both directions of it are among the few of
# the quick run.
ALL_CASES = [Case(post_us, wait_us, direction) for post_us in (1, 2, 5, 10)
             for wait_us in (0, 4) for direction in ("send", "recv")] + VERBOSE_CASES
QUICK_CASES = [Case(1, 0, "send"), Case(1, 0, "recv"), Case(2, 4, "recv"),
               Case(5, 0, "send"), Case(10, 0, "recv"),
               Case(10, 4, "send")] + VERBOSE_CASES


def measure(case, options):
    """One launch: what was found less the truth, for both quantities, and the
    truths."""
    latency_us = 10 * case.post_us
    model = {"MODEL_P2P": 1, "MODEL_FRACTION": 1, "MODEL_POST_US": case.post_us,
             "MODEL_WAIT_US": case.wait_us, "MODEL_LATENCY_US": latency_us}
    program = ([options.program] + (["--recv"] if case.direction == "recv" else []) +
               (["--verbose"] if case.verbose else []))
    _, rows, truths = run_on_model(options.launcher, 2, program, model,
                                   options.model)
    # Receiving, there are tokens of no bytes, too.
    message = ("irecv" if case.direction == "recv" else "isend", rows[0]["msgsize"])
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
    print(f"{case.direction} o={case.post_us} us w={case.wait_us} us"
          f"{', verbose' if case.verbose else ''}: overhead "
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
