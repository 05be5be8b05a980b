#!/usr/bin/env python3
"""Does mpi_overhead find the known answer?

Runs it on the model MPI, where the host overhead of a message is known: what
the post costs (h) and what the wait costs beyond the transfer (x). Where the
barrier that ends an iteration is modelled, too, base_t is known, and with it the
availability over base_t. The error of a case is the median over its launches; it fails if that is beyond its
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
    barrier_us: int = 0  # MODEL_BARRIER_US; 0: the real one


# What is written with --verbose must not show in the figures.
VERBOSE_CASES = [Case(1, 0, "send", verbose=True), Case(5, 4, "recv", verbose=True)]
# A barrier as long as the message: over base_t the overhead is half of what it is over
# the transfer time.
BASE_CASES = [Case(5, 0, "send", barrier_us=50), Case(10, 4, "recv", barrier_us=100)]
# The smallest overhead is the hardest, so both directions of it are among the few of
# the quick run.
ALL_CASES = [Case(post_us, wait_us, direction) for post_us in (1, 2, 5, 10)
             for wait_us in (0, 4) for direction in ("send", "recv")]
ALL_CASES += VERBOSE_CASES + BASE_CASES
QUICK_CASES = [Case(1, 0, "send"), Case(1, 0, "recv"), Case(2, 4, "recv"),
               Case(5, 0, "send"), Case(10, 0, "recv"),
               Case(10, 4, "send")] + VERBOSE_CASES + BASE_CASES


def base_us(case, transfer_us):
    """base_t where the barrier is modelled, less what that costs itself, some 0.1 us: the
    report has, in one, what ranks wait in it that come first."""
    return transfer_us + case.barrier_us + case.wait_us


def measure(case, options):
    """One launch: what was found less the truth, for overhead, transfer time and
    availability over base_t, and the truths."""
    latency_us = 10 * case.post_us
    model = {"MODEL_P2P": 1, "MODEL_FRACTION": 1, "MODEL_POST_US": case.post_us,
             "MODEL_WAIT_US": case.wait_us, "MODEL_LATENCY_US": latency_us}
    if case.barrier_us > 0:
        model.update(MODEL_SYNC_COLL=1, MODEL_BARRIER_US=case.barrier_us)
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
    available_pct = 100 * (1 - overhead_us / base_us(case, transfer_us))
    return (number(rows[0]["overhead"]) - overhead_us,
            number(rows[0]["transfer_us"]) - transfer_us,
            number(rows[0]["avail_base_pct"]) - available_pct,
            overhead_us, transfer_us, available_pct)


def allowed_pct(case, overhead_us, transfer_us):
    """How far the availability over base_t may be off: what the targets of overhead and
    transfer time make of it."""
    base = base_us(case, transfer_us)
    overhead_off = max(OVERHEAD_SHARE * overhead_us, OVERHEAD_US) / base
    base_off = max(TRANSFER_SHARE * base, TRANSFER_US) / base
    return 100 * (overhead_off + overhead_us / base * base_off)


def run_case(case, options):
    """Prints the case's errors; True if they are within the targets."""
    launches = [measure(case, options) for _ in range(options.runs)]
    overhead, transfer, available, overhead_us, transfer_us, available_pct = (
        statistics.median(values) for values in zip(*launches))
    wider = options.bounds.wider()
    good = (abs(overhead) <= wider * max(OVERHEAD_SHARE * overhead_us,
                                         OVERHEAD_US) and
            abs(transfer) <= wider * max(TRANSFER_SHARE * transfer_us,
                                         TRANSFER_US) and
            (case.barrier_us == 0 or
             abs(available) <= wider * allowed_pct(case, overhead_us, transfer_us)))
    print(f"{case.direction} o={case.post_us} us w={case.wait_us} us"
          f"{', verbose' if case.verbose else ''}: overhead "
          f"{overhead_us:.3f} us, error {overhead:+.3f} us "
          f"({overhead / overhead_us:+.1%}); transfer {transfer_us:.3f} us, "
          f"error {transfer:+.3f} us" +
          (f"; available of base_t with a barrier of {case.barrier_us} us "
           f"{available_pct:.2f} %, error {available:+.2f} points"
           if case.barrier_us > 0 else "") +
          ("" if good else "  TOO FAR"), flush=True)
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
