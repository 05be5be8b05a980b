#!/usr/bin/env python3
"""Does monitor_overhead find what a monitor adds, and is what ours adds little?

First with wrappers that add a known time to each call in the monitor's place: that
time, for each call of a row, must be found within 3 % or 5 ns a call (about half a
reading of the clock, by which that time is known). Then with the
monitor: at most 5 ns a call while it is off, and at most 100 ns for a non-blocking
message and its wait with everything on. One repeat is allowed.
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import (  # noqa: E402
    Failed, Launcher, number, read_tsv, run_raw, widening)

KNOWN_NS = (0, 50, 500)
TARGET, TARGET_NS = 0.03, 5.0
OFF_NS, ON_NS = 5.0, 100.0
MESSAGES = ("MPI_Isend MPI_Wait", "MPI_Irecv MPI_Wait", "MPI_Start MPI_Wait")


def calls_in(row):
    """How many calls a repetition makes: "8 MPI_Irecv 8 MPI_Isend MPI_Waitall" is
    17."""
    return sum(int(times or 1) for times in
               re.findall(r"(?:(\d+) )?MPI_", row["call"]))


def run_program(program, options, environment=None):
    """The rows, and what stands on stderr."""
    done = run_raw(options.launcher, 1, [program, "--max-time=0.2"], environment)
    if done.returncode != 0:
        raise Failed(done.stderr)
    return read_tsv(done.stdout), done.stderr


def check_known(options, about_ns):
    """Prints the largest error over rows, in shares of what is allowed."""
    worst = (0.0, "")
    rows, said = run_program(options.known, options, {"KNOWN_NS": about_ns})
    known_ns = float(re.search(r"known: (\S+) ns", said).group(1))
    for row in rows:
        calls = calls_in(row)
        error_ns = number(row["added_ns"]) - calls * known_ns
        allowed_ns = calls * max(TARGET * known_ns, TARGET_NS)
        worst = max(worst, (abs(error_ns) / allowed_ns,
                            f"{row['call']}: {row['added_ns']} ns of "
                            f"{calls} x {known_ns:.1f} ns"))
    print(f"known {known_ns:5.1f} ns: {worst[0]:.2f} of what is allowed "
          f"({worst[1]})", flush=True)
    return worst[0] <= options.wider


def check_monitor(options):
    good = True
    for row in run_program(options.program, options)[0]:
        added_ns, calls = number(row["added_ns"]), calls_in(row)
        bound_ns = None
        if row["mode"] == "off":
            bound_ns = OFF_NS * calls
        elif row["call"] in MESSAGES:
            bound_ns = ON_NS
        fails = bound_ns is not None and added_ns > bound_ns * options.wider
        good = good and not fails
        print(f"{row['call']:36s} {row['mode']:4s} {added_ns:7.1f} ns",
              "" if bound_ns is None else f"of {bound_ns:g}",
              "FAILED" if fails else "", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--known", required=True)
    parser.add_argument("launcher", nargs="+")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    options.wider = widening()
    good = all([check_known(options, ns) or check_known(options, ns)
                for ns in KNOWN_NS])
    good = (check_monitor(options) or check_monitor(options)) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
