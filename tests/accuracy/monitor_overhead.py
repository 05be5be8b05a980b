#!/usr/bin/env python3
"""Does monitor_overhead find what a monitor adds, and is what ours adds little?

First with wrappers in the monitor's place that add a known time to each call while a
snapshot is active: that is how much more a row must find in it than outside of it,
within 3 % or half a reading of the clock a call, since by readings it is known. Wrappers
that only call must add at most that half a reading a call.

Then with the monitor. Such a reading, timed beside it, is the measure of what is little
there, too: a call may take half of one while the monitor is off, for then it has
nothing to time; a non-blocking message and its wait take ten with everything on. One
repeat is allowed.
"""

import argparse
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from bounds import Bounds  # noqa: E402
from mpi_run import (  # noqa: E402
    Failed, Launcher, number, read_tsv, run_raw)

KNOWN_NS, LAUNCHES = (50, 500), 3
TARGET = 0.03
CALL_READINGS, MESSAGE_READINGS = 0.5, 10.0
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


def run_known(about_ns, options):
    """For each row of mode "off" its name, calls, and ns added in it and in the row of
    mode "on"; how much longer the wrappers of the latter took, and a reading of the
    clock, in ns."""
    rows, said = run_program(options.known, options, {"KNOWN_NS": about_ns})
    pairs = [(off["call"], calls_in(off), number(off["added_ns"]),
              number(on["added_ns"])) for off, on in zip(rows[::2], rows[1::2])]
    known = re.search(r"known: (\S+) ns, reading: (\S+) ns", said)
    return pairs, float(known.group(1)), float(known.group(2))


def verdict(what, errors, options):
    """Prints the largest of errors, which are pairs of a number in units of what is
    allowed on a quiet machine, and a text; True if it is within the bound."""
    error, text = max(errors)
    bound = options.bounds.wider()
    print(f"{what}: {error:.2f} of what is allowed ({text})"
          f"{'' if error <= bound else '  TOO FAR'}", flush=True)
    return error <= bound


def check_empty(options):
    """Wrappers that only call."""
    pairs, _, reading_ns = run_known(0, options)
    return verdict("nothing", [
        (abs(added_ns) / (calls * CALL_READINGS * reading_ns), f"{name}: {added_ns:.1f} ns")
        for name, calls, *both in pairs for added_ns in both], options)


def check_known(about_ns, options):
    """By the medians over launches of each row's error."""
    errors_ns, calls = {}, {}
    for _ in range(LAUNCHES):
        pairs, known_ns, reading_ns = run_known(about_ns, options)
        for name, calls[name], off_ns, on_ns in pairs:
            errors_ns.setdefault(name, []).append(
                on_ns - off_ns - calls[name] * known_ns)
    medians_ns = {name: statistics.median(errors)
                  for name, errors in errors_ns.items()}
    return verdict(f"{about_ns} ns a call", [
        (abs(error_ns) /
         (calls[name] * max(TARGET * about_ns, CALL_READINGS * reading_ns)),
         f"{name}: {error_ns:+.1f} ns in {calls[name]} calls")
        for name, error_ns in medians_ns.items()], options)


def check_monitor(options):
    _, _, reading_ns = run_known(0, options)
    errors = []
    for row in run_program(options.program, options)[0]:
        added_ns, calls = number(row["added_ns"]), calls_in(row)
        bound_ns = None
        if row["mode"] == "off":
            bound_ns = CALL_READINGS * reading_ns * calls
        elif row["call"] in MESSAGES:
            bound_ns = MESSAGE_READINGS * reading_ns
        print(f"{row['call']:36s} {row['mode']:4s} {added_ns:7.1f} ns",
              "" if bound_ns is None else f"of {bound_ns:.1f}", flush=True)
        if bound_ns is not None:
            errors.append((added_ns / bound_ns, f"{row['call']} {row['mode']}"))
    return verdict(f"the monitor, by a reading of {reading_ns:.1f} ns", errors,
                   options)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--known", required=True)
    parser.add_argument("launcher", nargs="+")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    options.bounds = Bounds()
    good = all([check_empty(options) or check_empty(options),
                *(check_known(ns, options) or check_known(ns, options)
                  for ns in KNOWN_NS),
                check_monitor(options) or check_monitor(options)])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
