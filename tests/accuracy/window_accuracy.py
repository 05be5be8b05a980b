#!/usr/bin/env python3
"""Do ranks that start together measure the truth, and a late barrier not show?

On the model MPI, with --start=window, overlap, syncbench and halo must find what
they find with a barrier, within the same targets. And where a library lets ranks out
of a barrier at different times, an operation that takes a known time from the first
start to the last end must take that with a window, and be seen to take more with a
barrier. Errors are medians over launches, after one repeat. With --full: more cases.
"""

import argparse
import os
import statistics
import sys
import tempfile
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import halo_accuracy  # noqa: E402
import overlap_accuracy  # noqa: E402
import syncbench_accuracy  # noqa: E402
from bounds import Bounds  # noqa: E402
from mpi_run import Launcher, number, run  # noqa: E402

LATE_US, OPERATION_US = 20, 50
LATE_TARGET_US = 0.5
SKEWED = os.path.join("overlap", "overlap_ibarrier")


def on_model(options):
    """Yields for each case what it is, and its error in units of what is
    allowed."""
    model = SimpleNamespace(launcher=options.launcher, model=options.model,
                            bounds=options.bounds, runs=options.runs,
                            start="window")
    model.binaries = os.path.join(options.binaries, "overlap")
    for collective, duration_us, fraction in (
            [("iallreduce", 200, 0.5)] if not options.full else
            [("iallreduce", 200, 0.5), ("ibcast", 20, 0.25),
             ("ialltoallv", 5, 0.75)]):
        case = overlap_accuracy.Case(
            collective, duration_us, fraction,
            target=overlap_accuracy.TARGETS[duration_us])
        overlap_accuracy.run_case(case, model)
        yield str(case), abs(case.error()) / case.allowed
    model.program = os.path.join(options.binaries, "syncbench", "syncbench")
    for case in ([("MPI barrier", 10)] if not options.full else
                 [("MPI barrier", 2), ("sync all", 10), ("pairwise", 100),
                  ("lock", 10)]):
        error = syncbench_accuracy.run_case(case, model)
        if not error <= 1:
            error = syncbench_accuracy.run_case(case, model)
        yield str(case), error
    model.program = os.path.join(options.binaries, "halo", "halo")
    for methods in ["put,get"] + (["isend/irecv types"] if options.full else []):
        case = (methods, "10x20x30", 50, 10)
        error = halo_accuracy.run_case(case, model)
        if not error <= 1:
            error = halo_accuracy.run_case(case, model)
        yield str(case), error


def skewed_us(start, late_us, options):
    """What the operation takes, by the median over launches."""
    times = []
    for _ in range(options.runs):
        with tempfile.NamedTemporaryFile() as shared:
            shared.truncate(4096)
            _, rows = run(options.launcher, 2,
                          [os.path.join(options.binaries, SKEWED),
                           f"--start={start}", "--max-time=0.2"],
                          {"LD_PRELOAD": options.late, "LATE_US": late_us,
                           "OPERATION_US": OPERATION_US,
                           "LATE_SHARED": shared.name})
        times.append(number(rows[0]["ref_us"]))
    return statistics.median(times)


def skewed(options):
    """The same, where ranks leave a barrier at different times."""
    for start, late_us, expected_us in (
            ("window", LATE_US, OPERATION_US),
            ("barrier", LATE_US, OPERATION_US + LATE_US)):
        for _ in range(2):
            found_us = skewed_us(start, late_us, options)
            allowed_us = options.bounds.wider() * LATE_TARGET_US
            if abs(found_us - expected_us) <= allowed_us:
                break
        what = (f"{OPERATION_US} us from first start to last end, one rank "
                f"{late_us} us late out of the barrier, --start={start}")
        print(f"{what}: found {found_us:.3f} us, should be {expected_us} us",
              flush=True)
        yield what, abs(found_us - expected_us) / allowed_us


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", required=True, help="the build's folder")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("--late", required=True, help="liblate_barrier.so")
    parser.add_argument("--full", action="store_true", help="more cases")
    parser.add_argument("--runs", type=int, default=3, help="launches a case")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    options.bounds = Bounds()
    wrong = [what for what, error in [*on_model(options), *skewed(options)]
             if not error <= 1]
    for what in wrong:
        print("FAILED: " + what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
