# SPDX-License-Identifier: BSD-3-Clause
"""Programs on a wire of known speed, beside the wire itself. Two hosts, made of network
namespaces (tests/machine/testbed), at 1 Gbit/s. Nothing may be quicker than a raw TCP exchange of the same
shape through the same filter. How much longer it takes is up to the MPI library, which polls where
TCP sleeps: beside it is a bare loop of the same calls. All are measured alternately; a pair of launches
is a pair of the sequential test (sequential.py).

    python3 wire.py --build=FOLDER --mpirun="mpirun.mpich" TEST
"""

import itertools
import math
import os
import subprocess
import sys
import typing
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

from beside import rows_of  # noqa: E402
from launchers import TESTBED, Testbed  # noqa: E402
from programs import NOT_JUDGED, Programs, arguments, in_time  # noqa: E402
from sequential import EXIT_STATUS, Target, judge, within  # noqa: E402

SECONDS = 12  # that a test may take
PORT, BYTES = 5201, 1 << 20
TCP_EXCHANGE = [sys.executable, os.path.join(os.path.dirname(TESTBED), "tcp_exchange.py")]


class Wire:
    """The two hosts, with tcp_exchange's server on the second one."""

    def __init__(self, programs, name, mpirun):
        self.programs, self.mpirun = programs, mpirun
        self.testbed = Testbed(name)
        programs.also_stop = self.testbed.close
        # pylint: disable=consider-using-with
        self.server = subprocess.Popen(self.on(2, *TCP_EXCHANGE, "server", PORT),
                                       stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.programs.stop()
        self.testbed.close()  # ends the server, too
        self.server.wait()

    def built(self, name):
        return os.path.join(os.path.abspath(self.programs.build), name)

    def on(self, host, *words):
        """The command on a host."""
        return [str(word) for word in (TESTBED, "exec", self.testbed.name, host, *words)]

    def raw_us(self, pattern, repetitions=6):
        """The time of 1 MiB, one way or both ways at once, by TCP."""
        text, _ = self.programs.run_line(self.on(
            1, *TCP_EXCHANGE, "client", Testbed.hosts[1], PORT, BYTES, repetitions, pattern))
        return float(text)

    def rows(self, program, *options, **environment):
        """Rows of a program as a job of both hosts."""
        text, _ = self.programs.run_line(
            [TESTBED, "run", "-q", "--in", self.testbed.name, "--mpirun", self.mpirun, "--",
             self.built(program), *map(str, options), "--columns=all"], env=dict(os.environ, **environment))
        return rows_of(text)


def beside(wire, program, *options, **environment):
    """By row what a benchmark finds, and the bare loop, both in one launch."""
    return {row["name"]: (float(row["ours_us"]), float(row["bare_us"]))
            for row in wire.rows(f"tests/machine/{program}", "--visits=2", *options,
                                 BARE_REPETITIONS="1", **environment)}


def messages(wire, number):
    """1 MiB there and back."""
    found = beside(wire, "pingpong_bare", "--max-time=0.3", BARE_COUNT=str(BYTES // 8),
                   BARE_FIRST=str(number % 2))
    raw_us = 2 * wire.raw_us("pingpong")
    return {**found, **{f"{name}, raw": (pair[0], raw_us) for name, pair in found.items()}}


def swaps(wire, number):
    """A halo swap of which two faces go to the other host."""
    return beside(wire, "halo_bare", "--max-time=0.2", BARE_ROW="2", BARE_FIRST=str(number % 2))


def in_turn(ours, bare, number):
    """Returns both results; the second one is called first if the number is odd."""
    if number % 2 == 0:
        return ours(), bare()
    found = bare()
    return ours(), found


def overhead(wire, number):
    """The transfer time of 1 MiB, and half of a bare ping-pong."""
    def ours():
        return {row["direction"]: float(row["transfer_us"]) for row in wire.rows(
            "mpi_overhead/mpi_overhead", "--both", "-m", BYTES, "--max-time=0.2")}

    def bare():
        return beside(wire, "pingpong_bare", "--max-time=0.2", BARE_COUNT=str(BYTES // 8),
                      BARE_ROW="1")["MPI Send"][1] / 2

    found, bare_us = in_turn(ours, bare, number)
    return {name: (us, bare_us) for name, us in found.items()}


def exposed(wire, number):
    """The part of an all-reduce of 1 MiB that work doesn't hide. Messages are only announced before the
    rank is back in MPI: all that TCP takes, except what the filter's bucket gathers."""
    def ours():
        row, = wire.rows("overlap/overlap_iallreduce", "--data-driven", "--max-time=0.5",
                         f"--min-num-elts={BYTES // 8}", f"--max-num-elts={BYTES // 8}",
                         UCX_RNDV_THRESH="1k",
                         MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM="sched_recursive_doubling")
        return row

    row, raw_us = in_turn(ours, lambda: wire.raw_us("both"), number)
    if row["overlap_pct"] == "NA":
        return {}
    return {"exposed": (float(row["ref_us"]) * (1 - float(row["overlap_pct"]) / 100), raw_us)}


class Test(typing.NamedTuple):
    """A source of pairs, by row, of a wire and a number of pairs; and the target of each row."""

    pairs: typing.Callable
    targets: dict


NOT_QUICKER = Target(0.95, math.inf)

TESTS = {
    "pingpong": Test(messages, {"MPI Send": within(0.05), "MPI Send, raw": NOT_QUICKER,
                                "put": within(0.05), "put, raw": NOT_QUICKER}),
    "overhead": Test(overhead, dict.fromkeys(["send", "recv"], within(0.05))),
    "overlap": Test(exposed, {"exposed": Target(0.9, math.inf)}),
    "halo": Test(swaps, {"isend/irecv types": within(0.05)}),
}


def main():
    options = arguments(__doc__, TESTS, lambda _: SECONDS)
    test = TESTS[options.test]
    try:
        with Programs(options) as programs, \
                Wire(programs, options.test, options.mpirun) as wire:
            verdict = judge(in_time(test.pairs(wire, number) for number in itertools.count()),
                            test.targets, options.seconds)
    except unittest.SkipTest as reason:
        print(reason)
        return NOT_JUDGED
    return EXIT_STATUS[verdict]


if __name__ == "__main__":
    sys.exit(main())
