# SPDX-License-Identifier: BSD-3-Clause
"""bench_compare and summaries on launches that differ by a known spread: no false alarms, a
slowdown of 10 % is caught, and intervals over launches hold the median."""

import os
import random
import statistics
import subprocess
import typing

import virtual
from launches import TOP, Folder, Pool, Sides, summary
from commcost.compare import row_changes

A_SIDE, POOL = 10, 40
SPREADS = {"alike": {"MODEL_LAUNCH_SPREAD": 0.01},
           "different": {"MODEL_LAUNCH_SPREAD": 0.05, **virtual.CONDITIONS["cloud"]}}
MODEL = {"MODEL_DURATION_US": 50, "MODEL_BLOCKING_US": 45, "MODEL_LATENCY_US": 20,
         "MODEL_PER_BYTE_NS": 1, "MODEL_BARRIER_US": 30, "MODEL_SYNC_US": 10, "MODEL_GAP_US": 1,
         "MODEL_FRACTION": 0.5}
LIMITS = row_changes.Limits(0.01, 5, 0.95)
TEST_ALONE = LIMITS._replace(threshold_pct=0)
ALARMS, HOLDS, BETWEEN = 0.01, 0.95, 0.85  # rates


class Program(typing.NamedTuple):
    """A program with few rows; the rows of operations of `size` bytes, and what of these
    is told to be slower."""

    name: str
    options: tuple
    slow_bytes: int = 0
    key: str = ""
    value: str = ""
    slower: tuple = ()

    def is_slow(self, series):
        return dict(zip(series.schema.keys, series.keys)).get(self.key, "") == self.value


PROGRAMS = [
    Program("overlap_iallreduce", ("--data-driven", "--min-num-elts=64", "--max-num-elts=128",
                                   "--max-time=0.1"), 1024, "size_bytes", "1024",
            ("ref_us", "exposed_us")),
    Program("pingpong", ("--patterns=MPI Send", "--arrangements=single", "--max-ndata=4K",
                         "--max-time=0.02"), 4096, "ndata", "512", ("latency_us",)),
    Program("mpi_overhead", ("--msgsize=8,64K", "--max-time=0.05"), 65536, "msgsize", "65536",
            ("transfer_us",)),
    Program("syncbench", ("--types=sync all,MPI barrier,pairwise,fence", "--max-time=0.02"), 0,
            slower=("sync_us",)),
    Program("halo", ("--local=20", "--methods=put,get,isend/irecv types", "--max-time=0.02")),
    Program("msgrate", ("-p", "1", "-c", "0", "--max-time=0.02"))]


def speeds_of(launches, chance):
    """How many times as long launches take on a machine that gets slower or quicker by up to 30 %
    in their course, and for some launches in a row takes 10 to 50 % longer."""
    drift, slow, speeds = chance.uniform(-0.3, 0.3), 1.0, []
    for place in range(launches):
        if chance.random() < (0.3 if slow > 1 else 0.1):
            slow = chance.uniform(1.1, 1.5) if slow == 1 else 1.0
        speeds.append(slow * (1 + drift * place / launches))
    return speeds


class Compare(virtual.Test):
    def setUp(self):
        self.chance, self.calls = random.Random(1), virtual.by_tier(plain=30, run=200, full=500)
        self.folder = Folder(self)

    def pool(self, program, spread, name="usual", launches=POOL, **variables):
        return Pool(self.folder.launches(name + spread + program.name, program.name,
                                         *program.options, launches=launches,
                                         **{**MODEL, **SPREADS[spread], **variables}))

    def every(self, programs):
        pairs = [(program, spread) for spread in SPREADS for program in programs]
        return pairs[::virtual.by_tier(plain=9, run=3, full=1)]

    def test_no_false_alarm(self):
        """Launches of which nothing differs, drawn for each side; and taken alternately while the
        machine drifts and jumps."""
        for program, spread in self.every(PROGRAMS):
            pool = self.pool(program, spread)
            for limits in (LIMITS, TEST_ALONE):
                alarms, in_turn = 0, 0
                for _ in range(self.calls):
                    places = self.chance.sample(range(POOL), 2 * A_SIDE)
                    speeds = speeds_of(2 * A_SIDE, self.chance)
                    alarms += bool(Sides(pool.series, (
                        pool.side(places[:A_SIDE]), pool.side(places[A_SIDE:]))).changed(limits))
                    in_turn += bool(Sides(pool.series, (
                        pool.side(places[::2], speeds[::2]),
                        pool.side(places[1::2], speeds[1::2]))).changed(limits))
                what = "{} {}, threshold {} %: calls without a false alarm".format(
                    program.name, spread, limits.threshold_pct)
                with self.subTest(what):
                    self.mostly(self.calls - alarms, self.calls, 1 - ALARMS, what)
                    self.mostly(self.calls - in_turn, self.calls, 1 - ALARMS,
                                     what + " alternately")

    def test_slowdown(self):
        """10 % are named, and nothing else; by the command, too."""
        for program in [program for program in PROGRAMS if program.slower][
                ::virtual.by_tier(plain=4, run=2, full=1)]:
            pools = self.pool(program, "alike", launches=20), self.pool(
                program, "alike", "slow", 20, VIRTUAL_FIRST_LAUNCH=1000,
                MODEL_SLOW_BYTES=program.slow_bytes, MODEL_SLOW_SHARE=0.1)
            wanted = {(series.keys, series.quantity) for series in pools[0].series.values()
                      if program.is_slow(series) and series.quantity in program.slower}
            caught, alone = 0, 0
            for _ in range(self.calls):
                changed = Sides(pools[0].series, tuple(
                    pool.side(self.chance.sample(range(20), A_SIDE))
                    for pool in pools)).changed(LIMITS)
                caught += wanted <= {(change.series.keys, change.series.quantity)
                                     for change in changed if change.verdict == row_changes.SLOWER}
                alone += all(program.is_slow(change.series) for change in changed)
            with self.subTest(program.name):
                self.assertTrue(wanted)
                self.assertEqual(caught, self.calls)
                self.mostly(alone, self.calls, 1 - ALARMS, program.name + ": no other row")
                for sides, status in ((pools, 1), (2 * pools[:1], 0)):
                    done = subprocess.run(
                        [os.path.join(TOP, "run_scripts/bench_compare"), "--base",
                         *sides[0].folders[::2], "--new", *sides[1].folders[1::2]],
                        stdout=subprocess.PIPE, universal_newlines=True, check=False)
                    self.assertEqual(done.returncode, status, done.stdout)

    def test_summary(self):
        """Intervals over ten launches hold the median of all, and that of the ten between them as
        often as two samples of a distribution let them."""
        for program, spread in self.every(PROGRAMS[:4:3]):
            pool = self.pool(program, spread, launches=virtual.by_tier(plain=40, run=100, full=400))
            tens, held, between = 0, 0, 0
            for first in range(0, len(pool.folders), 2 * A_SIDE):
                both = [summary(pool.folders[first + side:first + 2 * A_SIDE:2])
                        for side in range(2)]
                key = next(iter(both[0]))
                everywhere = statistics.median(next(iter(pool.found.values())))
                (_, low, high), (other, _, _) = both[0][key], both[1][key]
                tens, held = tens + 1, held + (low <= everywhere <= high)
                between += low <= other <= high
            what = "{} {}: intervals that hold the median".format(program.name, spread)
            with self.subTest(what):
                self.mostly(held, tens, HOLDS, what)
                self.mostly(between, tens, BETWEEN, what + " of the launches between")


if __name__ == "__main__":
    virtual.main()
